"""Rows, files and runs that the tests of commands share."""

import csv

import numpy as np
import pytest

from subspaces import cli
from subspaces.datasets import make_subspaces


def write_csv(path, rows, columns, truth=None):
    """Write rows as CSV with the names of their columns, and the truth in the column "kind"."""
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([*columns, *([] if truth is None else ["kind"])])
        for i, row in enumerate(rows.tolist()):
            writer.writerow([*row, *([] if truth is None else [truth[i]])])


@pytest.fixture(autouse=True)
def no_debugging(monkeypatch):
    """Errors end in exit codes, whatever the environment of the tests is."""
    monkeypatch.delenv("SUBSPACES_DEBUG", raising=False)


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """The current directory with rows.csv and rows.npy: rows (120, 8) of two subspaces, and their truth."""
    monkeypatch.chdir(tmp_path)
    X, y = make_subspaces((2, 3), 8, points_per_subspace=60, outliers=0, random_state=0)
    np.save("rows.npy", X)
    write_csv(tmp_path / "rows.csv", X, [f"x{j}" for j in range(8)], [f"class {label}" for label in y])
    return X, y


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A folder with a run that has a preparation, its rows and their truth; tests do not write into the run."""
    folder = tmp_path_factory.mktemp("made")
    X, y = make_subspaces((2, 3), 8, points_per_subspace=60, outliers=0, random_state=0)
    write_csv(folder / "rows.csv", X, "abcdefgh", [f"class {label}" for label in y])
    options = ["-k", "2", "--truth", "kind", "--standardise", "--no-report", "-q"]
    assert cli.main(["fit", str(folder / "rows.csv"), *options, "--out", str(folder / "run")]) == 0
    return folder, X, y
