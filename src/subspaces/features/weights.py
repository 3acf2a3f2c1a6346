"""Weights of the nearest landmarks of each row: sparse rows of psi that sum to one."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from subspaces._core.arrays import Array, Indices, device, namespace
from subspaces.flats.distances import nearest
from subspaces.flats.flats import Flats


def sparse_weights(
    distances: Array, index: Indices, n_columns: int, *, width: float | None = None, power: float = 2.0
) -> csr_matrix:
    """psi (n, n_columns): `row_weights` of squared `distances` (n, r) to the landmarks `index` (n, r)."""
    weights = row_weights(distances, width=width, power=power)
    n, r = index.shape
    indptr = np.arange(0, n * r + 1, r)
    return csr_matrix((weights.ravel(), index.ravel().astype(np.int32), indptr), shape=(n, n_columns))


def row_weights(distances: Array, *, width: float | None = None, power: float = 2.0) -> Array:
    """Weights (n, r) that sum to one in each row, from squared `distances` (n, r), in any array library.

    Proportional to exp(-(distance - smallest) / width), with distances raised to `power` / 2. Without `width`, the
    width of each row is the gap between its smallest and largest distance.
    """
    xp = namespace(distances)
    if width is None and power != 2:
        # Only ratios within a row count, and powers of these do not overflow.
        largest = xp.max(distances, axis=1, keepdims=True)
        distances = distances / xp.where(largest > 0, largest, 1.0)
    distances = raised(distances if width is None else distances / width, power)
    if width is not None:
        # Far rows have equal weights rather than a difference of infinities.
        most = xp.asarray(xp.finfo(distances.dtype).max, dtype=distances.dtype, device=device(distances))
        distances = xp.where(distances < most, distances, most)
    gap = distances - xp.min(distances, axis=1, keepdims=True)
    if width is None:
        scale = xp.max(gap, axis=1, keepdims=True)
        gap = gap / xp.where(scale > 0, scale, 1.0)
    weights = xp.exp(-gap)
    return weights / xp.sum(weights, axis=1, keepdims=True)


def raised(squared: Array, power: float) -> Array:
    """Distances to the given power, from squared distances."""
    return squared if power == 2 else squared ** (power / 2)


def nearest_weights(x: Array, flats: Flats, n_nearest: int) -> tuple[csr_matrix, Array]:
    """psi (n, D) of rows (n, p) with a width for each row, and the distances (n,) to the nearest flat."""
    index, table = nearest(x, flats, n_nearest)
    return sparse_weights(table, index, len(flats)), np.sqrt(table[:, 0])
