"""Columns that are unlikely to be meant for clustering are reported."""

import numpy as np
import pytest

from subspaces.rows import unusual_columns

ROWS = np.random.RandomState(0).normal(size=(60, 4))
NAMES = ("a", "b", "c", "d")


def with_column(values):
    return np.column_stack([ROWS[:, :3], values])


def test_usual_columns_are_not_reported():
    assert unusual_columns(ROWS, NAMES) == []
    assert unusual_columns(with_column(np.repeat([0, 1], 30)), NAMES) == []
    assert unusual_columns(with_column(np.sort(ROWS[:, 3])), NAMES) == []
    assert unusual_columns(with_column(np.full(60, 1e9)), NAMES) == []
    assert unusual_columns(with_column(np.arange(60))[:9], NAMES) == []


@pytest.mark.parametrize("values", [np.arange(60), 1000 + 3 * np.arange(60)])
def test_row_numbers_are_reported(values):
    (found,) = unusual_columns(with_column(values), NAMES)
    assert "'d' numbers the rows" in found
    assert "drop" in found


def test_large_scales_are_reported():
    (found,) = unusual_columns(with_column(1e6 * ROWS[:, 3]), NAMES)
    assert "'d' varies" in found
    assert "standardise" in found
