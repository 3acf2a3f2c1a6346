"""Columns of the command line: names, numbers from 1 on, and ranges."""

import pytest

from subspaces.cli.columns import ExactNames, column_of, columns_of

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
