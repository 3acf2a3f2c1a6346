"""The smallest entries of each row of a table."""

import numpy as np
import pytest

from subspaces._core.smallest import FEW_SMALLEST, smallest


def test_smallest_of_each_row():
    table = np.random.default_rng(0).standard_normal((20, 30))
    before = table.copy()
    for count in (1, 3, FEW_SMALLEST, FEW_SMALLEST + 1, 29, 30, 42):
        values = np.take_along_axis(table, smallest(table, count), 1)
        np.testing.assert_array_equal(np.sort(values, axis=1), np.sort(table, axis=1)[:, :count])
        np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize("n_columns", [640, 641, 1500, 25_000])
def test_many_columns_with_ties_and_rows_of_infinities(n_columns):
    rng = np.random.default_rng(n_columns)
    table = rng.integers(0, 50, (8, n_columns)).astype(float)
    table[0, 20:], table[1] = np.inf, np.inf
    for count in (FEW_SMALLEST + 1, 20):
        index = smallest(table, count)
        assert (np.diff(np.sort(index, axis=1), axis=1) > 0).all()
        values = np.take_along_axis(table, index, 1)
        np.testing.assert_array_equal(np.sort(values, axis=1), np.sort(table, axis=1)[:, :count])


def test_a_few_smallest_are_in_order_and_ties_go_to_the_lower_index():
    table = np.array([[3.0, 1.0, 2.0, 1.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(smallest(table, 3), [[1, 3, 2], [0, 1, 2]])
