"""A bandwidth for kernels of distances, found without labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from subspaces._core.arrays import Array
from subspaces._core.validation import check_sigma, is_auto

# sigma is this many times the typical distance to this nearest row, in a sample of this many rows.
NEIGHBOR = 7
FACTOR = 2.0
SAMPLE_ROWS = 1000


def choose_sigma(sigma: Any, x: Array, rng: np.random.RandomState, *, kernel: Any = "gaussian") -> float:
    """The user's sigma, or where it is "auto" the one that rows (n, p) suggest to a kernel."""
    if not is_auto(sigma):
        return check_sigma(sigma, x.dtype)
    laplacian = isinstance(kernel, str) and kernel == "laplacian"
    return typical_sigma(x, rng, metric="cityblock" if laplacian else "euclidean")


def known_sigma(features: Any) -> float:
    """The sigma of a feature map: the one it was given or, where it is "auto", the one it found."""
    if not is_auto(features.sigma):
        return features.sigma
    check_is_fitted(features)
    return features.sigma_


def check_scale(sigma: Any, x: Array) -> None:
    """Refuse a sigma that is neither "auto" nor a length for rows `x` (n, p)."""
    if not is_auto(sigma):
        check_sigma(sigma, x.dtype)


def typical_sigma(x: Array, rng: np.random.RandomState, *, metric: str = "euclidean") -> float:
    """A length below which rows of `x` (n, p) count as near: a multiple of the typical distance to a near row.

    It follows the gaps inside clusters, however far these are from each other, as the median distance of all pairs
    does not. One where all rows are equal.
    """
    sample = x[rng.choice(len(x), min(len(x), SAMPLE_ROWS), replace=False)]
    # The row itself is the nearest.
    nearest = np.sort(cdist(sample, sample, metric), axis=1)[:, min(NEIGHBOR, len(sample) - 1)]
    # Rows with many copies say nothing about the gaps between others.
    positive = nearest[nearest > 0]
    return FACTOR * float(np.median(positive)) if len(positive) else 1.0
