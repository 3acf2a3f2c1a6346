"""Affinities of rows by their local flats, and votes of flats, compared with the formulas."""

import numpy as np
import pytest
import reference

from examples import slow_flats
from subspaces.flats.affinity import flat_affinity, flat_scales, labels_by_votes
from subspaces.flats.candidates import candidate_flats


@pytest.mark.parametrize("squared", [False, True])
def test_affinity_is_that_of_the_formula(planes, squared):
    X = planes[0][:40]
    flats = candidate_flats(X, 40, 2, affine=True, rng=np.random.RandomState(0))
    scales = flat_scales(np.linspace(0.2, 0.5, 40) ** 2, 0.0, squared=squared)
    lengths = np.sqrt(reference.squared_distances(X, slow_flats(flats)))
    slow = np.zeros((40, 40))
    for i in range(40):
        for j in range(40):
            if i != j:
                s = np.sqrt(lengths[i, j] * lengths[j, i])
                slow[i, j] = np.exp(-s / (2 * scales[i])) + np.exp(-s / (2 * scales[j]))
    np.testing.assert_allclose(flat_affinity(X, flats, scales, n_nearest=40).toarray(), slow, atol=1e-6)
    kept = flat_affinity(X, flats, scales, n_nearest=5).toarray()
    np.testing.assert_allclose(kept, kept.T)
    np.testing.assert_allclose(kept[kept > 0], slow[kept > 0], atol=1e-6)
    # A row's own flat may or may not be among its nearest.
    assert ((kept > 0).sum(axis=1) >= 5).all()


def test_votes_are_those_of_the_formula(planes):
    X = planes[0][:40]
    flats = candidate_flats(X, 12, 2, affine=True, rng=np.random.RandomState(0))
    labels, scales = np.arange(12, dtype=np.int32) % 3, np.linspace(0.1, 0.3, 12)
    weights = np.exp(-np.sqrt(reference.squared_distances(X, slow_flats(flats))) / (2 * scales))
    slow = np.stack([weights[:, labels == k].sum(axis=1) for k in range(3)], axis=1).argmax(axis=1)
    np.testing.assert_array_equal(labels_by_votes(X, flats, scales, labels, n_nearest=12), slow)
