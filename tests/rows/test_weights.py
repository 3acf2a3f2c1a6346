"""How often each row counts: copies, and samples in proportion to weights."""

import numpy as np
import pytest

from subspaces.rows.thresholds import COPIES
from subspaces.rows.weights import check_weights


def test_whole_numbers_lose_their_common_divisor():
    weights = check_weights([0, 4, 6, 10], 4)
    counts, exact = weights.counts(100, np.random.RandomState(0))
    assert exact
    assert weights.n_used == 3
    np.testing.assert_array_equal(counts, [0, 2, 3, 5])


@pytest.mark.parametrize("value", [1, 0.1, 5e-324, 1e308])
def test_equal_weights_are_none(value):
    assert check_weights(np.full(7, value), 7) is None
    assert check_weights(value, 7) is None


@pytest.mark.parametrize("scale", [1e-300, 0.3, 1e307])
def test_samples_are_proportional(scale):
    values = np.random.default_rng(0).uniform(0, 1, 50) * (np.arange(50) % 3 > 0)
    weights = check_weights(scale * values, 50)
    expected = 4 * weights.n_used * values / values.sum()
    drawn = np.array([weights.counts(10_000, np.random.RandomState(seed))[0] for seed in range(400)])
    assert COPIES == 4
    assert (drawn.sum(axis=1) == 4 * weights.n_used).all()
    assert (np.abs(drawn - expected) < 1 + 1e-9).all()
    assert not drawn[:, values == 0].any()
    # Five standard errors of a number that is one of two neighbours.
    assert (np.abs(drawn.mean(axis=0) - expected) < 5 * 0.5 / np.sqrt(400)).all()


def test_samples_have_at_most_as_many_rows_as_allowed():
    counts, exact = check_weights(np.arange(1000), 1000).counts(300, np.random.RandomState(0))
    assert not exact
    assert counts.sum() == 300
