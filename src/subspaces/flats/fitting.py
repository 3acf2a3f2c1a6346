"""Least-squares flats through given sets of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from subspaces._core.arrays import Array, Indices
from subspaces._core.blocks import row_blocks
from subspaces._core.threads import in_threads, one_thread
from subspaces.flats.flats import Flats


def fit_flats(x: Array, neighborhoods: Sequence[Indices] | Indices, dim: int, *, affine: bool) -> tuple[Flats, Array]:
    """Least-squares flat of dimension `dim` through each neighbourhood of rows of `x` (n, p).

    `neighborhoods` contains row indices: an (m, size) array, or a sequence of m arrays of any lengths. Returns the
    flats and the mean squared residual (m,) of their own rows.
    """
    p = x.shape[1]
    count = len(neighborhoods)
    centers = np.zeros((count, p), x.dtype)
    bases = np.empty((count, p, dim), x.dtype)
    residuals = np.empty(count, x.dtype)
    sizes = np.array([len(rows) for rows in neighborhoods])

    def fit(chosen: Indices) -> None:
        rows = neighborhoods[chosen] if isinstance(neighborhoods, np.ndarray) else [neighborhoods[j] for j in chosen]
        # Sorted, so that equal sets of rows give bitwise equal flats, and ties stay ties later.
        points = x[np.sort(rows, axis=1)]
        if affine:
            centers[chosen] = points.mean(axis=1)
            points -= centers[chosen][:, None, :]
        bases[chosen], tails = principal_bases(points, dim)
        residuals[chosen] = tails / points.shape[1]

    of_size = [np.flatnonzero(sizes == size) for size in np.unique(sizes)]
    blocks = [
        members[block] for members in of_size for block in row_blocks(len(members), 6 * sizes[members[0]] * p * 8)
    ]
    in_threads(lambda: fit, blocks)
    return Flats(centers, bases), residuals


def principal_bases(points: Array, dim: int) -> tuple[Array, Array]:
    """Top `dim` right singular vectors of each stack of rows, and the sum of squares that they do not explain.

    Takes (m, size, p), returns bases (m, p, dim) and tails (m,).
    """
    _, size, p = points.shape
    # float64, because a Gram matrix has the squared condition number.
    wide = points.astype(np.float64)
    with one_thread():
        values, vectors = np.linalg.eigh(smaller_gram(wide))
        bases = vectors[:, :, ::-1][:, :, :dim]
        if size < p:
            columns = np.matmul(wide.transpose(0, 2, 1), bases)
            # Householder's Q is orthonormal for any rank, so bases of too few or equal rows are completed by arbitrary
            # directions.
            bases = np.linalg.qr(np.pad(columns, ((0, 0), (0, 0), (0, dim - columns.shape[2]))))[0]
    tails = np.maximum(values[:, : max(0, values.shape[1] - dim)], 0).sum(axis=1)
    return bases.astype(points.dtype), tails.astype(points.dtype)


def smaller_gram(points: Array) -> Array:
    """Gram matrix of the rows or of the columns of each (size, p) in a stack, whichever is smaller."""
    flipped = points.transpose(0, 2, 1)
    return np.matmul(points, flipped) if points.shape[1] < points.shape[2] else np.matmul(flipped, points)
