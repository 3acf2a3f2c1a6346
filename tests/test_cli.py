"""The command line as a user meets it."""

import subprocess
import sys

import pytest

from subspaces import cli, demo


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
