"""The command line as a user meets it: words, exit codes, what goes where."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from subspaces import cli
from subspaces.metrics import clustering_accuracy
from subspaces.show import demo

# Programs are run in other folders, too.


def in_bash(command, folder=None):
    """What a line of the shell gives, pipes and all."""
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])}
    options = {"shell": True, "executable": "/bin/bash", "capture_output": True, "text": True}
    return subprocess.run(command, cwd=folder, env=environment, **options)


class TestDemo:
    @pytest.fixture(autouse=True)
    def small_data(self, monkeypatch):
        from subspaces.datasets import make_subspaces

        monkeypatch.setattr(
            demo,
            "make_subspaces",
            lambda dims, p, random_state: make_subspaces((2, 2), 6, points_per_subspace=40, random_state=0),
        )
        digits = demo.load_digits(return_X_y=True)
        monkeypatch.setattr(demo, "load_digits", lambda return_X_y: tuple(part[:200] for part in digits))

    def test_it_prints_a_table_and_draws(self, tmp_path, capsys):
        picture = tmp_path / "picture.png"
        assert cli.main(["demo", "--picture", str(picture)]) == 0
        captured = capsys.readouterr()
        for method in ("k-means", "spectral clustering", "FLS"):
            assert captured.out.count(method) == 2
            assert captured.err.count(method) == 2
        assert str(picture) in captured.out
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert list(tmp_path.iterdir()) == [picture]

    def test_a_failure_while_drawing_leaves_nothing(self, tmp_path, monkeypatch, capsys):
        from matplotlib.figure import Figure

        def full_disk(self, name, **options):
            raise OSError("No space left on device")

        monkeypatch.setattr(Figure, "savefig", full_disk)
        assert cli.main(["demo", "--picture", str(tmp_path / "picture.png")]) == 2
        assert "No space left" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []

    def test_interrupt(self, tmp_path, monkeypatch, capsys):
        def interrupt(*arguments, **options):
            raise KeyboardInterrupt

        monkeypatch.setattr(demo, "run", interrupt)
        assert cli.main(["demo", "--picture", str(tmp_path / "picture.png")]) == 130
        assert capsys.readouterr().err == "interrupted\n"


class TestMistakes:
    @pytest.mark.parametrize(
        ("picture", "message"), [("missing/picture.png", "does not exist"), ("picture.xyz", "must end in")]
    )
    def test_a_picture_that_cannot_be_written_is_refused_at_once(self, tmp_path, picture, message, monkeypatch, capsys):
        monkeypatch.setattr(demo, "run", lambda *arguments, **options: pytest.fail("work was done"))
        assert cli.main(["demo", "--picture", str(tmp_path / picture)]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], "COMMAND"),
            (["nothing"], "'nothing'"),
            (["demo", "--seed", "x"], "--seed: invalid int value: 'x'"),
            (["reproduce", "--draws", "x"], "--draws: invalid int value: 'x'"),
            (["reproduce", "--out", ""], "--out: the name is empty"),
            (["demo", "--one\nline"], "--one line"),
        ],
    )
    def test_words_that_cannot_be_read_are_told_in_one_line(self, arguments, message, capsys):
        with pytest.raises(SystemExit) as stop:
            cli.main(arguments)
        assert stop.value.code == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.startswith("subspaces")
        assert error.count("\n") == 1

    @pytest.mark.parametrize("seed", ["-1", str(2**32)])
    def test_seeds_out_of_range(self, seed, tmp_path, capsys):
        assert cli.main(["demo", "--seed", seed, "--picture", str(tmp_path / "picture.png")]) == 2
        assert f"--seed {seed} must be between" in capsys.readouterr().err


def run_program(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "subspaces", *arguments], capture_output=True, text=True, timeout=120, **options
    )


def test_module_runs_as_a_program():
    done = run_program("--version", check=True)
    assert done.stdout.startswith("subspaces ")


class TestHelp:
    HEAVY = ("numpy", "scipy", "sklearn", "rich", "PIL", "pandas", "threadpoolctl")

    def loaded(self, code):
        done = subprocess.run(
            [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
            capture_output=True,
            text=True,
            check=True,
        )
        return set(done.stdout.splitlines()[-1].split())

    def test_the_parser_needs_nothing_heavy(self):
        loaded = self.loaded("from subspaces.cli import _parser; _parser.parse(['fit', 'x.csv', '-k', '3'])")
        assert not loaded & set(self.HEAVY)

    def test_nor_does_help(self):
        code = "from subspaces.cli import main\nfor words in (['--help'], ['fit', '--help'], ['compare', '--help']):"
        code += "\n    try: main(words)\n    except SystemExit as stop: assert stop.code == 0"
        assert not self.loaded(code) & set(self.HEAVY)

    @pytest.mark.parametrize(
        "command", ["fit", "predict", "compare", "choose", "report", "data", "info", "demo", "reproduce"]
    )
    def test_every_command_has_some(self, command, capsys):
        with pytest.raises(SystemExit) as stop:
            cli.main([command, "--help"])
        assert stop.value.code == 0
        assert f"usage: subspaces {command}" in capsys.readouterr().out

    def test_it_names_exit_codes(self, capsys):
        with pytest.raises(SystemExit):
            cli.main(["--help"])
        told = " ".join(capsys.readouterr().out.split())
        assert "0 done" in told
        assert "130 interrupted" in told


class TestEndings:
    """Exit codes, and what is said with them."""

    def fail(self, monkeypatch, error):
        from subspaces.cli import _info

        def failing():
            raise error

        monkeypatch.setattr(_info, "_found", failing)
        return cli.main(["info"])

    @pytest.mark.parametrize("kind", [KeyError, TypeError, RecursionError, AttributeError])
    def test_a_bug_is_one_line_and_exit_code_1(self, kind, monkeypatch, capsys):
        monkeypatch.delenv("SUBSPACES_DEBUG", raising=False)
        assert self.fail(monkeypatch, kind("nowhere")) == 1
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        assert captured.err.startswith(f"subspaces: internal error, {kind.__name__}: ")
        assert "nowhere" in captured.err
        assert "SUBSPACES_DEBUG=1" in captured.err

    @pytest.mark.parametrize(("given", "code"), [([], 1), (["--set", "n_landmarks=5"], 2)])
    def test_what_is_of_the_wrong_type_was_set_or_is_a_bug(self, given, code, tmp_path, monkeypatch, capsys):
        from subspaces import FLS

        def fit(self, X):
            return "x" + 1

        monkeypatch.setattr(FLS, "fit", fit)
        np.save(tmp_path / "rows.npy", np.eye(5))
        words = ["fit", str(tmp_path / "rows.npy"), "-k", "2", "--out", str(tmp_path / "run"), *given]
        assert cli.main(words) == code
        told = capsys.readouterr().err
        assert ("internal error" in told) == (code == 1)
        assert ("--set n_landmarks=5 is of no use: " in told) == (code == 2)

    def test_which_can_be_looked_at(self, monkeypatch):
        monkeypatch.setenv("SUBSPACES_DEBUG", "1")
        with pytest.raises(KeyError, match="nowhere"):
            self.fail(monkeypatch, KeyError("nowhere"))

    @pytest.mark.parametrize(
        ("error", "message"),
        [
            (MemoryError("Unable to allocate 9 TiB"), "not enough memory (Unable to allocate 9 TiB)"),
            (OSError(28, "No space left on device", "run"), "the disk is full, run"),
            (OverflowError("int too large to convert to float"), "too large or too small"),
            (PermissionError(13, "Permission denied", "rows.csv"), "rows.csv: permission denied"),
            (ValueError("two\nlines"), "two lines"),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_what_a_machine_or_a_user_can_mend_is_exit_code_2(self, error, message, monkeypatch, capsys):
        assert self.fail(monkeypatch, error) == 2
        told = capsys.readouterr().err
        assert message in told
        assert told.startswith("subspaces: ")
        assert told.count("\n") == 1

    def test_a_reader_who_has_seen_enough_is_no_error(self):
        done = in_bash(f'"{sys.executable}" -m subspaces data list --json | head -c 5; echo "${{PIPESTATUS[0]}}"')
        assert done.stdout.split()[-1] == "0"
        assert done.stderr == ""

    def test_a_reader_of_progress_who_is_gone_costs_no_run(self, tmp_path):
        np.save(tmp_path / "rows.npy", np.random.RandomState(0).standard_normal((60, 5)))
        # The reader is gone before the first line is written.
        done = in_bash(
            f'("{sys.executable}" -m subspaces fit rows.npy -k 2 -v --no-report --out run 2>&1 >told; echo $? >code) '
            "| exec true",
            tmp_path,
        )
        assert done.returncode == 0
        assert (tmp_path / "code").read_text() == "0\n"
        assert "2 clusters of 60 rows" in (tmp_path / "told").read_text()
        assert (tmp_path / "run" / "run.json").exists()

    def test_a_mistake_stays_one_where_nobody_listens(self, tmp_path):
        done = in_bash(
            f'"{sys.executable}" -m subspaces fit missing.npy 2>&1 | exec true; exit "${{PIPESTATUS[0]}}"', tmp_path
        )
        assert done.returncode == 2

    def test_another_broken_pipe_is_no_success(self, monkeypatch, capsys):
        assert self.fail(monkeypatch, BrokenPipeError(32, "Broken pipe")) == 2
        assert "Broken pipe" in capsys.readouterr().err

    @pytest.mark.parametrize(("where", "code"), [("/dev/full", 2), ("&-", 0)])
    def test_results_that_nobody_can_write_down(self, where, code):
        done = subprocess.run(
            f'"{sys.executable}" -m subspaces data list >{where}', shell=True, capture_output=True, text=True
        )
        assert done.returncode == code
        assert done.stderr.count("\n") == (1 if code else 0)

    @pytest.mark.parametrize(
        ("number", "code", "words_told"), [(signal.SIGINT, 130, "interrupted\n"), (signal.SIGTERM, 143, "")]
    )
    def test_an_interrupt_leaves_nothing(self, number, code, words_told, tmp_path):
        np.save(tmp_path / "rows.npy", np.random.RandomState(0).standard_normal((30_000, 60)))
        words = ["fit", str(tmp_path / "rows.npy"), "-k", "5", "--out", str(tmp_path / "run")]
        with subprocess.Popen(
            [sys.executable, "-m", "subspaces", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as program:
            try:
                # Once its hidden folder is there, it is at work.
                until = time.monotonic() + 60
                while not any(path.name.startswith(".run.") for path in tmp_path.iterdir()):
                    assert program.poll() is None
                    assert time.monotonic() < until
                    time.sleep(0.05)
                time.sleep(0.3)
                program.send_signal(number)
                out, told = program.communicate(timeout=60)
            finally:
                program.kill()
        assert program.returncode == code
        assert out == ""
        assert told == words_told
        assert [path.name for path in tmp_path.iterdir()] == ["rows.npy"]

    @pytest.mark.parametrize(
        "words", [["fit", "rows.npy", "--cluster", "3"], ["demo", "--see", "1"], ["reproduce", "--draw", "1"]]
    )
    def test_options_are_written_out(self, words, capsys):
        with pytest.raises(SystemExit) as stop:
            cli.main(words)
        assert stop.value.code == 2
        assert f"{words[-2]} is not known; did you mean {words[-2]}" in capsys.readouterr().err

    def test_words_that_were_nearly_right_are_guessed(self, capsys):
        with pytest.raises(SystemExit) as stop:
            cli.main(["fit", "rows.npy", "--clustres", "3"])
        assert stop.value.code == 2
        assert capsys.readouterr().err == (
            "subspaces fit: --clustres is not known; did you mean --clusters?; try subspaces fit --help\n"
        )


class TestInfo:
    def test_it_tells_versions_and_what_is_missing(self, capsys):
        assert cli.main(["info"]) == 0
        told = capsys.readouterr().out
        for word in ("subspaces", "Python", "numpy", "GPU", "data folder"):
            assert word in told

    def test_json(self, capsys):
        assert cli.main(["info", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["packages"]["numpy"] == np.__version__
        assert document["cores"] >= 1
        assert isinstance(document["gpu"], list)


class TestFit:
    @pytest.fixture
    def rows(self, tmp_path):
        from subspaces.datasets import make_subspaces

        X, y = make_subspaces((2, 3), 8, points_per_subspace=150, outliers=0, random_state=0)
        np.save(tmp_path / "rows.npy", X.astype(np.float32))
        return tmp_path / "rows.npy", y

    def test_labels_are_written(self, rows, tmp_path, capsys):
        path, truth = rows
        out = tmp_path / "found.npy"
        assert cli.main(["fit", str(path), "-k", "2", "--out", str(out)]) == 0
        assert clustering_accuracy(truth, np.load(out)) > 0.95
        assert str(out) in capsys.readouterr().out

    def test_a_dry_run_tells_the_plan_and_writes_nothing(self, rows, tmp_path, capsys):
        path, _ = rows
        out = tmp_path / "found.npy"
        assert cli.main(["fit", str(path), "-k", "2", "--out", str(out), "--dry-run"]) == 0
        assert "300 rows of 8 columns" in capsys.readouterr().out
        assert not out.exists()

    @pytest.mark.parametrize(
        "arguments",
        [
            ["missing.npy", "-k", "2"],
            ["rows.npy", "-k", "two"],
            ["rows.npy", "-k", "0"],
            ["rows.npy", "-k", "999"],
            ["rows.npy", "-k", "2", "--dim", "80"],
            ["rows.npy", "-k", "2", "--memory-limit", "much"],
            ["rows.npy", "-k", "2", "--out", "rows.npy"],
            ["rows.npy", "-k", "2", "--out", "no/such/folder/labels.npy"],
            ["rows.npy", "-k", "2", "--device", "nowhere"],
            ["text.npy", "-k", "2"],
            ["text.csv", "-k", "2"],
            [".", "-k", "2"],
        ],
        ids=" ".join,
    )
    def test_mistakes_are_told_in_one_line(self, rows, tmp_path, monkeypatch, capsys, arguments):
        monkeypatch.chdir(tmp_path)
        for name in ("text.npy", "text.csv"):
            (tmp_path / name).write_text("no numbers")
        before = sorted(tmp_path.iterdir())
        assert cli.main(["fit", *arguments]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        assert "Traceback" not in captured.err
        assert sorted(tmp_path.iterdir()) == before
