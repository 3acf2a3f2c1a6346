"""The share of rows outside the subspaces of their clusters, against a slow version and invariances."""

import numpy as np
import pytest
import reference

from subspaces.datasets import make_subspaces
from subspaces.metrics import residual_share
from subspaces.metrics.residuals import KEPT


def slow_share(X, labels, dim):
    """`residual_share` row by row: flats by the slow twin of best-fit flats, distances by projecting."""

    def distance(x, points):
        center, basis = reference.best_fit_flat(points, dim)
        return np.sum((x - center - basis @ (basis.T @ (x - center))) ** 2)

    mean = np.mean([x for x, label in zip(X, labels, strict=True) if label >= 0], axis=0)
    shares = []
    for i, x in enumerate(X):
        members = [j for j in range(len(X)) if labels[j] == labels[i]]
        if labels[i] < 0:
            continue
        others = np.array([X[j] for at, j in enumerate(members) if (at - members.index(i)) % 2])
        if not len(others):
            shares.append(1.0)
            continue
        apart = [distance(other, others) for other in others]
        near = others[np.array(apart) <= np.quantile(apart, KEPT)]
        shares.append(distance(x, near) / np.sum((x - mean) ** 2))
    return np.median(shares)


@pytest.mark.parametrize("dim", [0, 1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_equal_to_the_slow_version(seed, dim):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((70, 6)) * [9, 5, 3, 1, 1, 1] + 4
    # Clusters have more rows than columns, so that their flats are unique; one row is alone.
    labels = rng.permutation([*np.repeat([-1, 0, 1], [9, 30, 30]), 2])
    np.testing.assert_allclose(residual_share(X, labels, dim), slow_share(X, labels, dim), rtol=1e-8)


def test_right_clusters_score_zero():
    X, y = make_subspaces((2, 2), 6, points_per_subspace=50, noise=0, outliers=0, random_state=0)
    # Zero up to the rounding of squared distances.
    assert residual_share(X, y, 2) < 1e-14
    wrong = np.random.RandomState(0).randint(0, 2, len(y))
    assert residual_share(X, wrong, 2) > 0.01


@pytest.mark.parametrize("size", [1, 2, 4, 10])
def test_splitting_does_not_improve_the_score_by_chance(size):
    X = np.random.RandomState(0).standard_normal((200, 10))
    assert residual_share(X, np.arange(200) // size, 3) > residual_share(X, np.zeros(200, int), 3)


def test_single_rows_count_one():
    X = np.random.RandomState(0).standard_normal((60, 8))
    assert residual_share(X, np.arange(60), 3) == 1
    assert residual_share(X, np.full(60, -1), 3) == 1


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_scale_does_not_matter(scale):
    X = np.random.RandomState(0).standard_normal((60, 5))
    labels = np.arange(60) % 3
    np.testing.assert_allclose(residual_share(X * scale, labels, 2), residual_share(X, labels, 2), rtol=1e-9)


@pytest.mark.parametrize("labels", [[-1, -1, -1], [0, 1, 2], [0, 0, -1], [0, 0, 0]])
def test_few_rows(labels):
    assert 0 <= residual_share(np.eye(3), np.array(labels), 1) < np.inf


@pytest.mark.parametrize(
    ("X", "labels", "dim", "message"),
    [
        ([[0, 1], [1, 0]], [0], 1, "labels"),
        ([0, 1], [0, 1], 1, "shape"),
        ([[0, 1], [1, 0]], ["a", "b"], 1, "whole numbers"),
        ([[0, 1], [1, np.nan]], [0, 1], 1, "NaN"),
        ([["a", 1], [1, 0]], [0, 1], 1, "numbers"),
        ([[0, 1], [1, 0]], [0, 1], 3, "dim=3"),
        ([[0, 1], [1, 0]], [0, 1], -1, "dim=-1"),
    ],
)
def test_wrong_arguments_raise_errors_that_name_them(X, labels, dim, message):
    with pytest.raises((ValueError, TypeError), match=message):
        residual_share(X, labels, dim)
