"""Which rows equal no earlier one."""

import numpy as np
import pytest

from subspaces._core.copies import first_copies


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_first_copies(dtype):
    x = np.array([[1, 0], [2, 0], [1, -0.0], [3, 1], [2, 0], [-0.0, 0], [0, 0]], dtype)
    np.testing.assert_array_equal(first_copies(x), [0, 1, 3, 5])
    assert first_copies(x[[0, 1, 3, 5]]) is None


def test_rows_in_any_order_of_memory():
    x = np.random.default_rng(0).normal(size=(20, 3))
    assert first_copies(np.asfortranarray(x)[::2]) is None
    np.testing.assert_array_equal(first_copies(np.asfortranarray(np.repeat(x, 2, axis=0))), np.arange(0, 40, 2))
