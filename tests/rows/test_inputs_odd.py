"""Columns that people hardly mean to cluster by."""

import numpy as np
import pytest

from subspaces.rows.inputs._odd import odd_columns

ROWS = np.random.RandomState(0).normal(size=(60, 4))
NAMES = ("a", "b", "c", "d")


def with_column(values):
    return np.column_stack([ROWS[:, :3], values])


def test_usual_columns_are_left_alone():
    assert odd_columns(ROWS, NAMES) == []
    assert odd_columns(with_column(np.repeat([0, 1], 30)), NAMES) == []
    assert odd_columns(with_column(np.sort(ROWS[:, 3])), NAMES) == []
    assert odd_columns(with_column(np.full(60, 1e9)), NAMES) == []
    assert odd_columns(with_column(np.arange(60))[:9], NAMES) == []


@pytest.mark.parametrize("values", [np.arange(60), 1000 + 3 * np.arange(60)])
def test_numbers_of_rows_are_told(values):
    (said,) = odd_columns(with_column(values), NAMES)
    assert "'d' counts the rows" in said
    assert "--drop" in said


def test_other_units_are_told():
    (said,) = odd_columns(with_column(1e6 * ROWS[:, 3]), NAMES)
    assert "'d' varies" in said
    assert "--standardise" in said
