"""Columns of the command line: names, numbers from 1 on, and ranges."""

import numpy as np
import pytest
from conftest import write_csv

from subspaces import cli
from subspaces.cli.columns import ExactNames, column_of, columns_of
from subspaces.cli.rows import files_of
from subspaces.datasets import make_subspaces
from subspaces.rows.formats import FORMATS

NAMES = ("a", "b", "3", "d", "2-3")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["a", "d"], [0, 3]),
        (["1", "4"], [0, 3]),
        (["2-4"], [1, 2, 3]),
        (["3"], [2]),
        (["2-3"], [4]),
        (["2", "1-2"], [1, 0]),
        ([" 2 "], [1]),
        (["unknown"], ["unknown"]),
    ],
)
def test_words_become_positions_from_0(words, expected):
    assert columns_of("--columns", words)(NAMES) == expected


@pytest.mark.parametrize("word", ["0", "6", "4-6", "3-2", "0-2"])
def test_numbers_outside(word):
    with pytest.raises(ValueError, match=rf"--drop {word}: the columns are numbered from 1 to 5"):
        columns_of("--drop", [word])(NAMES)


def test_stored_names_are_not_numbers():
    assert columns_of("--columns", ExactNames(["1", "a"])) == ["1", "a"]
    assert columns_of("--columns", None) is None


def test_one_column():
    assert column_of("--truth", None) is None
    assert column_of("--truth", "class") == "class"
    assert column_of("--truth", "2")(NAMES) == 1
    assert column_of("--truth", "3")(NAMES) == 2


def test_columns_without_names_count_from_1(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.save("rows.npy", np.array([[1.0, 2.0, np.nan], [3.0, 4.0, 5.0]]))
    (tmp_path / "rows.csv").write_text("a,,c\n1,x,2\n2,5,3\n3,6,4\n")
    assert cli.main(["fit", "rows.npy"]) == 2
    assert "row 1, column 'column 3'" in capsys.readouterr().err
    assert cli.main(["fit", "rows.csv"]) == 2
    assert "line 2, column 'column 2': 'x' is not a number" in capsys.readouterr().err


def test_columns_that_are_called_column_1_have_names(tmp_path, monkeypatch):
    """They are found by name in new rows, in any order."""
    monkeypatch.chdir(tmp_path)
    X, _ = make_subspaces((1, 2), 3, points_per_subspace=30, outliers=0, random_state=0)
    names = ["column 2", "column 3", "column 1"]
    write_csv(tmp_path / "rows.csv", X, names)
    write_csv(tmp_path / "new.csv", X[:, ::-1], names[::-1])
    assert cli.main(["fit", "rows.csv", "-k", "2", "--method", "kflats", "--dim", "1", "--no-report", "-q"]) == 0
    assert cli.main(["predict", "subspaces-run", "new.csv", "--out", "found.npy"]) == 0
    assert np.array_equal(np.load("found.npy"), np.load("subspaces-run/labels.npy"))


def test_files_of_a_pattern_are_listed_in_the_order_in_which_they_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in (1, 2, 10):
        np.save(f"part-{number}.npy", np.ones((2, 2)))
    assert [path.name for path in files_of(["part-*.npy"])] == ["part-1.npy", "part-2.npy", "part-10.npy"]
    assert files_of([str(tmp_path)]) == [tmp_path]
    assert files_of(["missing.npy"]) == []


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.module)
def test_help_lists_every_format(each, capsys):
    assert cli.main(["fit", "--help"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    described, options = printed.split("Options:", 1)
    assert each.title in described
    key = options[options.index("--key") : options.index("--columns")]
    assert (each.title in key) == each.takes_key
