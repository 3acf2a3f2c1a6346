"""Principal components the same on every machine: exact, with fixed signs, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK_BYTES = 32 * 2**20


def principal_scores(
    x: NDArray[Any], n_components: int, *, drop: int = 0, scale: float = 1.0
) -> NDArray[np.float32]:
    """Coordinates of the rows of `scale * x` (n, p) in principal components: (n, n_components - drop).

    Rows are centred; the `drop` leading components are left out. All sums are in float64, and `x` is read in
    blocks, so bytes can be passed as they are. The sign of a component is such that its largest loading is
    positive.
    """
    n, p = x.shape
    mean = x.mean(axis=0, dtype=np.float64)
    if n >= p:
        directions = _top_eigenvectors(_scatter(x, mean), n_components)[:, drop:]
        directions *= _signs(directions)
        scores = np.empty((n, n_components - drop), dtype=np.float32)
        for rows in _row_blocks(n, p):
            scores[rows] = scale * ((x[rows] - mean) @ directions)
        return scores
    # With fewer rows than columns the n x n matrix of inner products is the smaller one, and all of x fits.
    centered = x - mean
    left = _top_eigenvectors(centered @ centered.T, n_components)[:, drop:]
    loadings = centered.T @ left
    # Norms of loadings keep digits where variance is small, roots of eigenvalues do not.
    lengths = np.linalg.norm(loadings, axis=0)
    return np.asarray(scale * left * lengths * _signs(loadings), dtype=np.float32)


def _scatter(x: NDArray[Any], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of outer products (p, p) of the rows of `x` less `mean`."""
    total = np.zeros((x.shape[1], x.shape[1]))
    for rows in _row_blocks(*x.shape):
        centered = x[rows] - mean
        total += centered.T @ centered
    return total


def _top_eigenvectors(symmetric: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Eigenvectors (m, count) of the largest eigenvalues, largest first."""
    from scipy.linalg import eigh
    from threadpoolctl import threadpool_limits

    size = len(symmetric)
    # Threads gain little in a tridiagonal reduction, and on a busy machine they wait for each other for long.
    with threadpool_limits(limits=1, user_api="blas"):
        _, vectors = eigh(symmetric, subset_by_index=[size - count, size - 1])
    largest_first: NDArray[np.float64] = vectors[:, ::-1].copy()
    return largest_first


def _signs(loadings: NDArray[np.float64]) -> NDArray[np.float64]:
    largest = np.abs(loadings).argmax(axis=0)
    return np.where(loadings[largest, np.arange(loadings.shape[1])] < 0, -1.0, 1.0)


def _row_blocks(n: int, p: int) -> Iterator[slice]:
    step = max(1, BLOCK_BYTES // (8 * p))
    return (slice(start, start + step) for start in range(0, n, step))
