"""When one candidate is clearly better: standard errors beside a bootstrap, groups, and the limit."""

import numpy as np
import pytest

from subspaces.selection.comparison import clearly_positive, standard_error
from subspaces.selection.thresholds import N_ERRORS


def bootstrap_error(differences, groups, n_draws=2000):
    """The standard deviation of the mean over samples of groups, drawn with replacement; groups have equal sizes."""
    rng = np.random.default_rng(0)
    means = np.array([differences[groups == group].mean() for group in np.unique(groups)])
    return means[rng.integers(len(means), size=(n_draws, len(means)))].mean(axis=1).std()


@pytest.mark.parametrize("n_groups", [20, 100, 400])
def test_the_error_is_that_of_a_bootstrap_over_groups(n_groups):
    rng = np.random.default_rng(n_groups)
    groups = np.repeat(np.arange(n_groups), 400 // n_groups)
    differences = rng.normal(size=n_groups)[groups] + 0.2 * rng.normal(size=400)
    assert standard_error(differences, groups) == pytest.approx(bootstrap_error(differences, groups), rel=0.1)


def test_rows_of_a_group_are_one_observation():
    once = np.random.default_rng(0).normal(size=60)
    copies, groups = np.repeat(once, 5), np.repeat(np.arange(60), 5)
    assert standard_error(copies, groups) == pytest.approx(standard_error(once))
    # As rows of their own they would seem to be five times as many.
    assert standard_error(copies) == pytest.approx(standard_error(once) / np.sqrt(5))


def test_groups_of_one_row_are_rows():
    differences = np.random.default_rng(0).normal(size=50)
    assert standard_error(differences, np.arange(50)) == pytest.approx(standard_error(differences))
    assert standard_error(differences) == pytest.approx(differences.std() / np.sqrt(50))


@pytest.mark.parametrize("grouped", [False, True])
def test_the_limit(grouped):
    differences = np.random.default_rng(0).normal(size=200)
    groups = np.arange(200) // 4 if grouped else None
    limit = N_ERRORS * standard_error(differences, groups)
    centred = differences - differences.mean()
    assert clearly_positive(centred + 1.01 * limit, groups)
    assert not clearly_positive(centred + 0.99 * limit, groups)
    assert not clearly_positive(-centred - 1.01 * limit, groups)
    # An offset is a difference that all rows have in common.
    assert clearly_positive(centred, groups, offset=1.01 * limit)
    assert not clearly_positive(centred + 1.01 * limit, groups, offset=-0.02 * limit)


def test_equal_candidates_are_not_better():
    assert not clearly_positive(np.zeros(10))
    assert not clearly_positive(np.zeros(1), np.zeros(1, int))
    assert clearly_positive(np.full(10, 1e-9))


def test_chance_is_rarely_clear():
    """Two standard errors above zero: about one in forty-four."""
    rng = np.random.default_rng(0)
    found = [clearly_positive(rng.normal(size=200)) for _ in range(1000)]
    assert 0.01 < np.mean(found) < 0.04
