"""Rows and estimators that tests of feeds share, and how their labels are compared."""

from functools import cache
from unittest import mock

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_blobs

from subspaces import (
    FLS,
    FourierSpectralClustering,
    KernelSpectralClustering,
    LandmarkSpectralClustering,
    NystromSpectralClustering,
)
from subspaces.datasets import make_subspaces
from subspaces.rows import feed as _engine

# Everything is decided on this many rows, so that tests have more and are quick.
FEW_ROWS = 600

FLAT_ROWS = make_subspaces(
    (2, 2, 3), 8, points_per_subspace=500, noise=0.02, outliers=0.02, shuffle=True, random_state=0
)[0].astype(np.float32)
# Not quite apart: where clusters are, an eigenvalue is repeated, and rounding decides which of them is the first.
BLOBS = make_blobs(1501, centers=3, n_features=5, cluster_std=3.0, random_state=0)[0]

# Nothing is searched for but where everything is.
PLAIN = FLS(3, n_landmarks=60, subspace_dim=2, neighborhood=12, affine=False, assign="balanced", random_state=0)
FLATS = {
    "flats": PLAIN,
    "everything chosen": FLS("auto", max_clusters=4, n_landmarks=60, random_state=0),
    "votes": clone(PLAIN).set_params(n_draws=3),
    "whole flats": clone(PLAIN).set_params(assign="auto"),
    "whitened": clone(PLAIN).set_params(whiten=0.5),
    "the paper": FLS.paper(3, subspace_dim=2, n_landmarks=60, random_state=0),
    "outliers": clone(PLAIN).set_params(detect_outliers=True),
    "some outliers": clone(PLAIN).set_params(detect_outliers=0.05),
}
POINTS = {
    "points": FLS(3, n_landmarks=60, subspace_dim=0, assign="balanced", random_state=0),
    "landmarks": LandmarkSpectralClustering(3, n_landmarks=60, random_state=0),
    "all landmarks": LandmarkSpectralClustering(3, n_landmarks=60, n_nearest=None, random_state=0),
    "columns": NystromSpectralClustering(3, n_landmarks=60, random_state=0),
    "waves": FourierSpectralClustering(3, n_features=100, random_state=0),
    "a map": KernelSpectralClustering(3, random_state=0),
}
MODELS = {**FLATS, **POINTS}


def rows_of(name):
    """The rows (n, p) that the estimator of this name clusters."""
    return FLAT_ROWS if name in FLATS else BLOBS


@cache
def expected_labels(name):
    """The labels that the estimator of this name gives to rows in memory, most of which it decides nothing by."""
    with mock.patch.object(_engine, "FIT_ROWS", FEW_ROWS):
        labels = clone(MODELS[name]).fit(rows_of(name)).labels_
    labels.flags.writeable = False
    return labels


def agreement(labels, others):
    """The share of rows that have the same label."""
    labels, others = np.asarray(labels), np.asarray(others)
    assert labels.shape == others.shape
    return float(np.mean(labels == others))
