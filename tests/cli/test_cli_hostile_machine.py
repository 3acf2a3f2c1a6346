"""Full disks, too little memory, interruptions and bugs of ours."""

import errno
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import hostile
import numpy as np
import pytest
from hostile import QUICK, ROWS, done, refused, snapshot

from subspaces import KASP, cli

here = pytest.fixture(autouse=True)(hostile.empty_folder)
FULL = OSError(errno.ENOSPC, "No space left on device")
FIT = ["fit", "rows.npy", *QUICK, "--no-report", "--out"]


@pytest.fixture(autouse=True)
def rows(here):
    np.save("rows.npy", ROWS)


def failing(error, real, after=0, times=10**6):
    """A function that fails `times` times, from call number `after` on."""
    calls = []

    def function(*given, **options):
        calls.append(given)
        if after < len(calls) <= after + times:
            raise error
        return real(*given, **options)

    return function


class TestFullDisk:
    @pytest.mark.parametrize("out", ["run", "labels.npy", "labels.csv"])
    @pytest.mark.parametrize("call", ["replace", "fsync", "mkdir", "chmod", "link"])
    @pytest.mark.parametrize("after", range(4))
    @pytest.mark.parametrize("force", [False, True])
    def test_results_are_complete_or_kept(self, out, call, after, force, capsys, monkeypatch):
        if force:
            done([*FIT, out], capsys, out=out)
        before = snapshot(Path.cwd())
        with monkeypatch.context() as patch:
            patch.setattr(os, call, failing(FULL, getattr(os, call), after))
            code = cli.main([*FIT, out, "--force"])
        if code == 0:
            hostile.check_complete(Path(out))
            assert {name.split("/")[0] for name in snapshot(Path.cwd())} == {"rows.npy", out}
            return
        line = hostile.check_refused(FIT, code, before, capsys, "the disk is full: free some space", may_keep=True)
        # The first call writes the labels, or makes the folder for them.
        assert (hostile.kept_folder(line) is not None) == (after > 0)


class TestMemory:
    @pytest.mark.parametrize("error", [MemoryError("Unable to allocate 9 TiB for an array"), MemoryError()])
    def test_too_little_of_it_in_a_fit(self, error, capsys, monkeypatch):
        monkeypatch.setattr(KASP, "fit", failing(error, None))
        refused([*FIT, "run"], capsys, "there is not enough memory")


class TestThreads:
    """The calling thread does alone what it can; what needs another thread is refused."""

    @pytest.fixture(autouse=True)
    def no_more(self, monkeypatch):
        def start(self):
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr("threading.Thread.start", start)
        monkeypatch.setattr("subspaces._core.threads.n_threads", lambda: 2)
        monkeypatch.setattr("subspaces.self_expression.base.n_threads", lambda: 2)

    LINE = ("fit", "rows.npy", "-k", "2", "--no-report", "--out", "run")

    def test_a_fit_without_further_threads(self):
        assert cli.main([*self.LINE, "--method", "fls"]) == 0
        assert Path("run/labels.csv").exists()

    def test_too_few_of_them(self, capsys):
        refused([*self.LINE, "--method", "ssc"], capsys, "starts no more threads")


class TestBugs:
    """An exception that the library does not raise on purpose is a bug of ours, whatever its type."""

    ERRORS = (
        ValueError("operands could not be broadcast"),
        TypeError("unsupported operand"),
        KeyError("nowhere"),
        IndexError("out of range"),
        RecursionError("maximum recursion depth exceeded"),
        EOFError("no more"),
        OverflowError("too large"),
        ZeroDivisionError("division by zero"),
        np.linalg.LinAlgError("SVD did not converge"),
        OSError(errno.EIO, "Input/output error", "rows.npy"),
        BrokenPipeError(errno.EPIPE, "Broken pipe"),
        ImportError("No module named 'nothing'"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    )

    @pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
    def test_exit_code_70_and_a_traceback_file(self, error, capsys, monkeypatch):
        before = snapshot(Path.cwd())
        monkeypatch.setattr(KASP, "fit", failing(error, None))
        assert cli.main([*FIT, "run"]) == 70
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith(f"subspaces: internal error, {type(error).__name__}: ")
        assert "this is a bug in subspaces" in captured.err
        assert captured.err.count("\n") == 1
        assert snapshot(Path.cwd()) == before
        path = Path(re.search(r"the traceback is in (\S+)$", captured.err.strip())[1])
        content = path.read_text()
        assert "Traceback (most recent call last)" in content
        assert type(error).__name__ in content
        assert "'rows.npy'" in content  # the arguments of the command
        path.unlink()

    def test_without_a_place_for_the_file_the_line_says_how_to_see_it(self, capsys, monkeypatch):
        monkeypatch.setattr(KASP, "fit", failing(ValueError("bug"), None))
        monkeypatch.setattr(tempfile, "mkstemp", failing(FULL, None))
        assert cli.main([*FIT, "run"]) == 70
        assert "set SUBSPACES_DEBUG=1 to see the traceback" in capsys.readouterr().err

    def test_debugging_raises_it(self, monkeypatch):
        monkeypatch.setenv("SUBSPACES_DEBUG", "1")
        monkeypatch.setattr(KASP, "fit", failing(ValueError("bug"), None))
        with pytest.raises(ValueError, match="bug"):
            cli.main([*FIT, "run"])


@pytest.mark.parametrize("where", ["fit", "save"])
def test_an_interruption_leaves_nothing(where, capsys, monkeypatch):
    before = snapshot(Path.cwd())
    monkeypatch.setattr(KASP, where, failing(KeyboardInterrupt(), None))
    assert cli.main([*FIT, "run"]) == 130
    assert capsys.readouterr().err == "interrupted\n"
    assert snapshot(Path.cwd()) == before


@pytest.mark.parametrize("arguments", [["fit", "missing.csv"], ["predict", "rows.npy", "rows.npy"]], ids=" ".join)
def test_mistakes_in_a_process(arguments):
    before = snapshot(Path.cwd())
    finished = subprocess.run(
        [sys.executable, "-m", "subspaces", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])},
        timeout=60,
    )
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr.startswith("subspaces")
    assert finished.stderr.count("\n") == 1
    assert snapshot(Path.cwd()) == before
