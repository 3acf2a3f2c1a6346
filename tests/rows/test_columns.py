"""Columns are chosen by name or by number from 0, in the same way everywhere."""

import numpy as np
import pandas as pd
import pytest

from subspaces import open_rows
from subspaces.inputs import read_table

ROWS = np.arange(12.0).reshape(3, 4)
NAMES = ("a", "b", "3", "d")


@pytest.fixture
def csv(tmp_path):
    pd.DataFrame(ROWS, columns=NAMES).to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["a", "d"], [0, 3]),
        (["d", "a"], [3, 0]),
        ([3, 0], [3, 0]),
        ([-1, 0], [3, 0]),
        (["a", 3], [0, 3]),
        (["3"], [2]),
        ("b", [1]),
        (1, [1]),
        (range(1, 3), [1, 2]),
        (slice(2), [0, 1]),
        (slice(None, None, 2), [0, 2]),
        (np.array([2, 1]), [2, 1]),
        (pd.Index(["b", "a"]), [1, 0]),
        (lambda names: [name for name in names if name > "a"], [1, 3]),
    ],
)
def test_columns(csv, columns, expected):
    np.testing.assert_array_equal(read_table(csv, columns=columns).rows, ROWS[:, expected])
    (block,) = open_rows(csv, columns=columns).blocks()
    np.testing.assert_array_equal(block, ROWS[:, expected])
    rest = [column for column in range(4) if column not in expected]
    np.testing.assert_array_equal(read_table(csv, drop=columns).rows, ROWS[:, rest])


@pytest.mark.parametrize("columns", [[1, 2], [-3, -2], range(1, 3), slice(1, 3)])
def test_columns_without_names(columns):
    (block,) = open_rows(ROWS, columns=columns).blocks()
    np.testing.assert_array_equal(block, ROWS[:, 1:3])
    (block,) = open_rows(lambda: [ROWS], columns=columns).blocks()
    np.testing.assert_array_equal(block, ROWS[:, 1:3])
    np.testing.assert_array_equal(read_table(ROWS, columns=columns).rows, ROWS[:, 1:3])


def test_truth_and_names_are_single_columns(csv):
    table = read_table(csv, truth="3", names=-1)
    assert table.columns == ("a", "b")
    assert table.truth.tolist() == [2, 6, 10]
    assert table.row_names == ("3.0", "7.0", "11.0")


def test_no_message_names_an_option_of_the_command_line(csv):
    csv.write_text("a,b\n1,\n2,3\n")
    with pytest.raises(ValueError, match="1 value is missing") as raised:
        read_table(csv)
    assert "--" not in str(raised.value)
