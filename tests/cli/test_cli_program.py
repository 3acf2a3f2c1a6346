"""The program as a whole: help, options, exit codes, streams and signals."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from subspaces import cli
from subspaces._core.errors import InputError, MissingFileError, OutOfMemoryError, UserFileError

COMMANDS = ("fit", "predict", "choose", "compare", "report", "data", "info", "demo", "reproduce", "completion")


def in_bash(command, folder=None):
    """Result of a shell command, with pipes."""
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])}
    options = {"shell": True, "executable": "/bin/bash", "capture_output": True, "text": True}
    return subprocess.run(command, cwd=folder, env=environment, **options)


class TestHelp:
    def test_without_a_command(self, capsys):
        assert cli.main([]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        for command in COMMANDS:
            assert f"\n  {command} " in captured.out

    @pytest.mark.parametrize("command", COMMANDS)
    @pytest.mark.parametrize("option", ["-h", "--help"])
    def test_of_every_command(self, command, option, capsys):
        assert cli.main([command, option]) == 0
        assert f"Usage: subspaces {command} " in capsys.readouterr().out

    def test_it_names_exit_codes(self, capsys):
        assert cli.main(["--help"]) == 0
        text = " ".join(capsys.readouterr().out.split())
        for words in ("0 done", "70 an internal error", "130 interrupted", "143 terminated"):
            assert words in text

    def test_version(self, capsys):
        assert cli.main(["--version"]) == 0
        assert capsys.readouterr().out.startswith("subspaces ")

    def test_it_imports_nothing_slow(self):
        code = (
            "import sys\nfrom subspaces.cli import main\n"
            "for command in (['--help'], ['fit', '--help'], ['compare', '--help'], ['data', 'get', '--help'],\n"
            "                ['fit', 'rows.csv', '-k', 'x']):\n"
            "    main(command)\nprint(*sys.modules)"
        )
        finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        loaded = set(finished.stdout.splitlines()[-1].split())
        assert not loaded & {"numpy", "scipy", "sklearn", "rich", "PIL", "pandas", "threadpoolctl"}


class TestMistakesInWords:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["nothing"], "subspaces: unknown command 'nothing'; try subspaces --help"),
            (["fti"], "subspaces: unknown command 'fti' (did you mean fit?); try subspaces --help"),
            (["fitt"], "subspaces: unknown command 'fitt' (did you mean fit?); try subspaces --help"),
            (
                ["fit", "rows.npy", "--clustres", "3"],
                "subspaces fit: --clustres is not an option (did you mean --clusters?); try subspaces fit --help",
            ),
            (
                ["fit", "rows.npy", "--cluster", "3"],
                "subspaces fit: --cluster is not an option (did you mean --clusters?); try subspaces fit --help",
            ),
            (
                ["demo", "--see", "1"],
                "subspaces demo: --see is not an option (did you mean --seed?); try subspaces demo --help",
            ),
            (
                ["fit", "rows.npy", "--method", "fl"],
                "subspaces fit: --method: 'fl' is not one of fls, fls-paper, lbf, kflats, slbf, ssc, tsc, lsr, lrsc, "
                "sssc, landmark, nystrom, fourier, kasp (did you mean fls?); try subspaces fit --help",
            ),
            (["demo", "--seed", "x"], "subspaces demo: --seed: 'x' is not a whole number; try subspaces demo --help"),
            (
                ["fit", "rows.npy", "-k", "0"],
                "subspaces fit: -k: 0 must be at least 1; try subspaces fit --help",
            ),
            (["fit", "rows.npy", "-k"], "subspaces fit: option '-k' requires an argument; try subspaces fit --help"),
            (["predict", "run"], "subspaces predict: DATA is missing; try subspaces predict --help"),
            (["demo", "--one\nline"], "subspaces demo: --one line is not an option; try subspaces demo --help"),
        ],
    )
    def test_one_line_and_exit_code_2(self, arguments, message, capsys):
        assert cli.main(arguments) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err == f"{message}\n"

    def test_options_and_data_in_any_order(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        for name in ("a", "b"):
            np.save(f"{name}.npy", np.random.RandomState(0).standard_normal((20, 4)))
        words = ["fit", "-k", "2", "a.npy", "--method", "kasp", "b.npy", "--out", "labels.npy"]
        assert cli.main(words) == 0
        assert len(np.load("labels.npy")) == 40


class TestExitCodes:
    def fail(self, monkeypatch, error):
        from subspaces.cli.commands import info

        def failing():
            raise error

        monkeypatch.setattr(info, "_found", failing)
        return cli.main(["info"])

    @pytest.mark.parametrize(
        ("error", "message"),
        [
            (InputError("two\nlines"), "two lines"),
            (OutOfMemoryError("Unable to allocate 9 TiB"), "there is not enough memory (Unable to allocate 9 TiB): "),
            (UserFileError(28, "No space left on device", "run"), "run: the disk is full: free some space"),
            (MissingFileError(2, "No such file or directory", "rows.csv"), "rows.csv: no such file or directory"),
            (InputError("json=3 is wrong", parameter="json"), "--json 3 is wrong"),
            (InputError("n_landmarks=3 is wrong", parameter="n_landmarks"), "n_landmarks=3 is wrong"),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_errors_of_users_end_in_2(self, error, message, monkeypatch, capsys):
        assert self.fail(monkeypatch, error) == 2
        line = capsys.readouterr().err
        assert line.startswith(f"subspaces: {message}")
        assert line.count("\n") == 1

    def test_debugging_raises_them(self, monkeypatch):
        monkeypatch.setenv("SUBSPACES_DEBUG", "1")
        with pytest.raises(InputError, match="wrong"):
            self.fail(monkeypatch, InputError("wrong"))

    def test_a_parameter_that_was_set_is_named_by_its_option(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        np.save("rows.npy", np.random.RandomState(0).standard_normal((30, 4)))
        assert cli.main(["fit", "rows.npy", "-k", "2", "--set", "n_landmarks=0"]) == 2
        assert capsys.readouterr().err.startswith("subspaces: --set n_landmarks=0 must be ")
        assert cli.main(["fit", "rows.npy", "-k", "99"]) == 2
        assert capsys.readouterr().err.startswith("subspaces: -k 99 must be between 1 and 30")


class TestStreams:
    def test_a_reader_that_closes_stdout_is_not_an_error(self):
        finished = in_bash(f'"{sys.executable}" -m subspaces data list --json | head -c 5; echo "${{PIPESTATUS[0]}}"')
        assert finished.stdout.split()[-1] == "0"
        assert finished.stderr == ""

    def test_a_closed_stderr_does_not_stop_a_run(self, tmp_path):
        np.save(tmp_path / "rows.npy", np.random.RandomState(0).standard_normal((60, 5)))
        # The reader ends before the first line is written.
        finished = in_bash(
            f'("{sys.executable}" -m subspaces fit rows.npy -k 2 -v --no-report --out run 2>&1 >text; echo $? >code) '
            "| exec true",
            tmp_path,
        )
        assert finished.returncode == 0
        assert (tmp_path / "code").read_text() == "0\n"
        assert "2 clusters of 60 rows" in (tmp_path / "text").read_text()
        assert (tmp_path / "run" / "run.json").exists()

    @pytest.mark.parametrize(("where", "code"), [("/dev/full", 2), ("&-", 0)])
    def test_stdout_that_cannot_be_written(self, where, code):
        finished = in_bash(f'"{sys.executable}" -m subspaces data list >{where}')
        assert finished.returncode == code
        assert finished.stderr.count("\n") == (1 if code else 0)


@pytest.mark.parametrize(("number", "code", "line"), [(signal.SIGINT, 130, "interrupted\n"), (signal.SIGTERM, 143, "")])
def test_a_signal_leaves_nothing(number, code, line, tmp_path):
    np.save(tmp_path / "rows.npy", np.random.RandomState(0).standard_normal((30_000, 60)))
    words = ["fit", str(tmp_path / "rows.npy"), "-k", "5", "--out", str(tmp_path / "run")]
    with subprocess.Popen(
        [sys.executable, "-m", "subspaces", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        try:
            # It is at work once its hidden folder is there.
            until = time.monotonic() + 60
            while not any(path.name.startswith(".run.") for path in tmp_path.iterdir()):
                assert program.poll() is None
                assert time.monotonic() < until
                time.sleep(0.05)
            time.sleep(0.3)
            program.send_signal(number)
            out, err = program.communicate(timeout=60)
        finally:
            program.kill()
    assert program.returncode == code
    assert out == ""
    assert err == line
    assert [path.name for path in tmp_path.iterdir()] == ["rows.npy"]
