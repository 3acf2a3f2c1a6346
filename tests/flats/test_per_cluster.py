"""One flat for each cluster, and the dimension that agrees best with the labels."""

import numpy as np

from subspaces.datasets import make_subspaces
from subspaces.flats.per_cluster import agreeing_dim, cluster_flats, flats_of_labels


def test_dimension_by_brute_force():
    X, y = make_subspaces((2, 3), 8, points_per_subspace=40, noise=0.1, outliers=0, random_state=0)
    labels = y.astype(np.int32)
    agreement = []
    for dim in range(1, 8):
        flats = flats_of_labels(X, labels, 2, dim, affine=False)
        residuals = [np.square(X - X @ basis @ basis.T).sum(axis=1) for basis in flats.bases]
        agreement.append((np.argmin(residuals, axis=0) == labels).sum())
    best = agreeing_dim(X, labels, flats_of_labels(X, labels, 2, 7, affine=False))
    assert agreement[best - 1] == max(agreement)
    assert cluster_flats(X, labels, 2, dim=None, affine=False).dim == best
