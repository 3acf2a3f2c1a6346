"""The bandwidth sigma of kernels of distances, estimated from the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from subspaces._core.arrays import Array
from subspaces._core.validation import check_sigma, is_auto
from subspaces.features.thresholds import KERNEL_FACTOR, KERNEL_NEIGHBOR, KERNEL_ROWS


def choose_sigma(sigma: Any, x: Array, rng: np.random.RandomState, *, kernel: Any = "gaussian") -> float:
    """The given sigma, or if it is "auto" the `typical_sigma` of rows (n, p) in the metric of the kernel."""
    if not is_auto(sigma):
        return check_sigma(sigma, x.dtype)
    laplacian = isinstance(kernel, str) and kernel == "laplacian"
    return typical_sigma(x, rng, metric="cityblock" if laplacian else "euclidean")


def known_sigma(features: Any) -> float:
    """The sigma of a feature map: the given one, or the estimated one if it is "auto"."""
    if not is_auto(features.sigma):
        return features.sigma
    check_is_fitted(features)
    return features.sigma_


def check_scale(sigma: Any, x: Array) -> None:
    """Refuse a sigma that is neither "auto" nor a length for rows `x` (n, p)."""
    if not is_auto(sigma):
        check_sigma(sigma, x.dtype)


def typical_sigma(x: Array, rng: np.random.RandomState, *, metric: str = "euclidean") -> float:
    """A typical distance between neighbouring rows of `x` (n, p), times a factor.

    Unlike the median distance of all pairs, it depends on the gaps inside clusters and not on the distances between
    clusters. One if all rows are equal.
    """
    sample = x[rng.choice(len(x), min(len(x), KERNEL_ROWS), replace=False)]
    # Column 0 is the row itself.
    nearest = np.sort(cdist(sample, sample, metric), axis=1)[:, min(KERNEL_NEIGHBOR, len(sample) - 1)]
    # Rows with many copies do not show the gaps between different rows.
    positive = nearest[nearest > 0]
    return KERNEL_FACTOR * float(np.median(positive)) if len(positive) else 1.0
