"""The command line as a user meets it."""

import subprocess
import sys

import numpy as np
import pytest

from subspaces import cli, demo
from subspaces.metrics import clustering_accuracy


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
        ("picture", "message"), [("missing/picture.png", "no folder"), ("picture.xyz", "must end in")]
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


def test_module_runs_as_a_program():
    done = subprocess.run([sys.executable, "-m", "subspaces", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("subspaces ")


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
