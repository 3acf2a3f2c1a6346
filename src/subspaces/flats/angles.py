"""Principal angles between subspaces."""

from __future__ import annotations

import numpy as np

from subspaces._core.arrays import Array


def principal_angles(first: Array, second: Array) -> Array:
    """Principal angles between two bases (p, d) and (p, e), in radians, ascending: (min(d, e),).

    Columns must be orthonormal. Small angles are computed from sines and large ones from cosines, so that all are
    accurate to rounding (Bjorck and Golub, 1973).
    """
    if second.shape[1] > first.shape[1]:
        first, second = second, first
    cosines = np.linalg.svd(first.T @ second, compute_uv=False)
    sines = np.linalg.svd(second - first @ (first.T @ second), compute_uv=False)[::-1]
    return np.where(cosines**2 < 0.5, np.arccos(np.clip(cosines, 0, 1)), np.arcsin(np.clip(sines, 0, 1)))
