"""`subspaces demo`."""

import errno
import sys

import pytest

from subspaces import cli
from subspaces._core import progress
from subspaces.datasets import make_subspaces
from subspaces.show import demo

METHODS = ("k-means", "spectral clustering", "FLS")

OUTCOMES = [
    demo.Outcome(title, rows, truth, rows[:, :2], [demo.Score(m, 0.9, 0.1) for m in METHODS])
    for title in ("subspaces", "digits")
    for rows, truth in [make_subspaces((2, 2), 6, points_per_subspace=20, random_state=0)]
]


@pytest.fixture
def outcomes(monkeypatch):
    """Results without fits."""

    def run(seed):
        for done, method in enumerate(METHODS, start=1):
            progress.advance(demo.STAGE, done, len(METHODS), detail=method)
            progress.stage("partition", "a stage inside the fit")
        return OUTCOMES

    monkeypatch.setattr(demo, "run", run)


def test_every_method_is_fitted_to_both_data_sets(tmp_path, monkeypatch, capsys):
    small = make_subspaces((2, 2), 6, points_per_subspace=40, random_state=0)
    digits = demo.load_digits(return_X_y=True)
    monkeypatch.setattr(demo, "make_subspaces", lambda dims, p, random_state: small)
    monkeypatch.setattr(demo, "load_digits", lambda return_X_y: tuple(part[:150] for part in digits))
    monkeypatch.setattr(demo, "draw", lambda outcomes, path: None)
    assert cli.main(["demo", "--picture", str(tmp_path / "picture.png")]) == 0
    captured = capsys.readouterr()
    for method in METHODS:
        assert captured.out.count(method) == 2
        assert captured.err.count(method) == 2


@pytest.mark.usefixtures("outcomes")
def test_it_prints_a_table_and_draws(tmp_path, capsys):
    picture = tmp_path / "picture.png"
    assert cli.main(["demo", "--picture", str(picture)]) == 0
    captured = capsys.readouterr()
    for method in METHODS:
        assert captured.out.count(method) == 2
        assert captured.err.count(method) == 1
    assert "a stage inside the fit" not in captured.err
    assert str(picture) in captured.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == [picture]


@pytest.mark.usefixtures("outcomes")
def test_a_failure_while_drawing_leaves_nothing(tmp_path, monkeypatch, capsys):
    from matplotlib.figure import Figure

    def full_disk(self, name, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", full_disk)
    assert cli.main(["demo", "--picture", str(tmp_path / "picture.png")]) == 2
    assert "the disk is full" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_interrupt(tmp_path, monkeypatch, capsys):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", interrupt)
    assert cli.main(["demo", "--picture", str(tmp_path / "picture.png")]) == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize(
    ("picture", "message"), [("missing/picture.png", "does not exist"), ("picture.xyz", "must end in")]
)
def test_a_picture_that_cannot_be_written_is_refused_first(tmp_path, picture, message, monkeypatch, capsys):
    monkeypatch.setattr(demo, "run", lambda *arguments, **options: pytest.fail("work was done"))
    assert cli.main(["demo", "--picture", str(tmp_path / picture)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("subspaces: --picture: ")
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.usefixtures("outcomes")
def test_without_matplotlib_there_is_a_table_alone(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli.main(["demo", "--picture", str(tmp_path / "picture.png")]) == 0
    captured = capsys.readouterr()
    assert "spectral clustering" in captured.out
    assert "no picture: plots need matplotlib" in captured.err
    assert list(tmp_path.iterdir()) == []
