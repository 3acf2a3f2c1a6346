"""Full disks, little memory, interrupts: exit code 0, 2 or 130, one clear line, nothing half-written."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import hostile
import numpy as np
import pytest
from hostile import QUICK, ROWS, attempt, snapshot

from subspaces import cli

here = pytest.fixture(autouse=True)(hostile.empty_folder)


def failing(error, real, after=0, times=10**6):
    """A function that fails so many times from call number `after` on."""
    calls = []

    def function(*given, **options):
        calls.append(given)
        if after < len(calls) <= after + times:
            raise error
        return real(*given, **options)

    return function


class TestMachines:
    """Disks that are full, memory that is short, users who have enough of it."""

    @pytest.fixture(autouse=True)
    def rows(self, here):
        np.save("rows.npy", ROWS)

    FULL = OSError(errno.ENOSPC, "No space left on device")

    @pytest.mark.parametrize("out", ["run", "labels.npy", "labels.csv"])
    @pytest.mark.parametrize("call", ["replace", "fsync", "mkdir", "chmod"])
    @pytest.mark.parametrize("after", [0, 1, 2])
    def test_a_full_disk(self, out, call, after, capsys, monkeypatch):
        monkeypatch.setattr(os, call, failing(self.FULL, getattr(os, call), after))
        ended, _, told = attempt(["fit", "rows.npy", *QUICK, "--out", out, "--no-report"], capsys, out=out)
        assert ended == 0 or "disk is full" in told

    @pytest.mark.parametrize("at", range(6))
    def test_a_full_disk_keeps_the_old_results(self, at, capsys, monkeypatch):
        attempt(["fit", "rows.npy", *QUICK, "--out", "run", "--no-report"], capsys, out="run", code=0)
        before = snapshot(Path.cwd())
        monkeypatch.setattr(os, "replace", failing(self.FULL, os.replace, at, 1))
        assert cli.main(["fit", "rows.npy", *QUICK, "--out", "run", "--no-report", "--force"]) == 2
        assert "disk is full" in capsys.readouterr().err
        assert snapshot(Path.cwd()) == before

    @pytest.mark.parametrize(
        "error",
        [
            MemoryError("Unable to allocate 9 TiB for an array"),
            MemoryError(),
            OverflowError("too large"),
            FloatingPointError("overflow encountered"),
            ZeroDivisionError("division by zero"),
            np.linalg.LinAlgError("SVD did not converge"),
            OSError(errno.EIO, "Input/output error", "rows.npy"),
            OSError("of no number"),
            ImportError("No module named 'torch'"),
            UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
        ],
        ids=lambda error: type(error).__name__,
    )
    def test_errors_in_the_middle_of_it(self, error, capsys, monkeypatch):
        from subspaces import KASP

        monkeypatch.setattr(KASP, "fit", failing(error, None))
        attempt(["fit", "rows.npy", *QUICK, "--out", "run"], capsys, code=2)

    @pytest.mark.parametrize("where", ["fit", "save"])
    def test_an_interrupt(self, where, capsys, monkeypatch):
        from subspaces import KASP

        before = snapshot(Path.cwd())
        monkeypatch.setattr(KASP, where, failing(KeyboardInterrupt(), None))
        assert cli.main(["fit", "rows.npy", *QUICK, "--out", "run"]) == 130
        assert capsys.readouterr().err == "interrupted\n"
        assert snapshot(Path.cwd()) == before


class TestAsAProgram:
    """Some of the above in a process of its own, where nothing is in the way of a traceback."""

    @pytest.mark.parametrize(
        "arguments",
        [
            ["fit", "missing.csv"],
            ["fit", "rows.npy", "-k", "999"],
            ["fit", "rows.npy", "-k", "2", "--out", "missing/run"],
            ["predict", "rows.npy", "rows.npy"],
        ],
        ids=" ".join,
    )
    def test_mistakes(self, arguments):
        np.save("rows.npy", ROWS)
        before = snapshot(Path.cwd())
        source = str(Path(cli.__file__).parents[2])
        done = subprocess.run(
            [sys.executable, "-m", "subspaces", *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": source},
            timeout=60,
        )
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.startswith("subspaces")
        assert done.stderr.count("\n") == 1
        assert snapshot(Path.cwd()) == before
