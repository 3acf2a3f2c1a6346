"""Exact principal directions with deterministic signs, from one pass over blocks of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import with_fixed_signs
from subspaces._core.blocks import row_blocks
from subspaces._core.eigen import largest_eigenpairs
from subspaces._core.threads import one_thread

# Rows that take more are read in blocks of columns. Changes results within rounding.
WIDE_BYTES = 64 * 2**20


def principal_directions(
    x: NDArray[Any], mean: NDArray[Any], count: int, *, known: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Top `count` principal directions (p, count) of the rows of `x` (n, p) about `mean` (p,).

    Sums are in float64 and `x` is read in blocks, so it may have any dtype, such as bytes. The largest loading of each
    direction is positive, so that signs are the same on every machine. `known` is the `scatter` of the rows, if it was
    computed before.
    """
    n, p = x.shape
    if n < p:
        # The n x n matrix of inner products is smaller. Blocks of columns: x may be wide.
        middle = np.asarray(mean, np.float64)
        blocks = list(row_blocks(p, 3 * n * 8, budget=WIDE_BYTES))
        products = np.zeros((n, n))
        for block in blocks:
            rows = x[:, block] - middle[block]
            products += rows @ rows.T
        leading = _top_eigenvectors(products, min(count, n))
        loadings = np.zeros((p, count))
        for block in blocks:
            loadings[block, : leading.shape[1]] = (x[:, block] - middle[block]).T @ leading
        # Householder's Q has orthonormal columns even if rows span fewer than `count` directions.
        directions = np.linalg.qr(loadings)[0]
    else:
        directions = _top_eigenvectors(scatter(x, mean) if known is None else known, count)
    return with_fixed_signs(directions)


def n_used_directions(products: NDArray[np.float64], dtype: np.dtype[Any]) -> int:
    """Rank of rows of `dtype` up to rounding, from their `scatter` (p, p)."""
    with one_thread():
        values = np.linalg.eigvalsh(products)
    # Rounding errors relative to the largest eigenvalue: those of the rows, squared, or those of the sums.
    rows, sums = (len(values) * float(np.finfo(each).eps) for each in (dtype, values.dtype))
    return int((values > max(rows**2, sums) * values[-1]).sum())


def scatter(x: NDArray[Any], mean: NDArray[Any]) -> NDArray[np.float64]:
    """Inner products (p, p) of the columns of `x` (n, p) about `mean` (p,)."""
    p = x.shape[1]
    products = np.zeros((p, p))
    for block in row_blocks(len(x), 3 * p * 8):
        rows = x[block] - np.asarray(mean, np.float64)
        products += rows.T @ rows
    return products


def _top_eigenvectors(symmetric: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Eigenvectors (m, count) of the largest eigenvalues, largest first."""
    with one_thread():
        _, vectors = largest_eigenpairs(symmetric, count)
    return np.ascontiguousarray(vectors[:, ::-1])


def principal_scores(
    x: NDArray[Any], count: int, *, drop: int = 0, scale: float = 1.0, center: bool = True
) -> NDArray[np.float32]:
    """Coordinates of the centred rows of `scale * x` (n, p) along principal directions: (n, count - drop).

    The `drop` leading directions are left out. If `center` is False, the directions are the leading right singular
    vectors of `x` itself.
    """
    mean = x.mean(axis=0, dtype=np.float64) if center else np.zeros(x.shape[1])
    directions = principal_directions(x, mean, count)[:, drop:]
    scores = np.empty((len(x), count - drop), np.float32)
    for block in row_blocks(len(x), 3 * x.shape[1] * 8):
        scores[block] = scale * ((x[block] - mean) @ directions)
    return scores
