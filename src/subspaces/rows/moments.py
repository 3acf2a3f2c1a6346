"""First and second moments of rows, summed block by block, for centring and projection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, fixed, is_host, like, namespace

Sums = tuple[Any, ...]
# Rows whose inner products a device computes at once: the products of all rows of a block with few columns would not
# keep it busy. Changes results within rounding.
PRODUCT_ROWS = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Number, mean and squares of rows (n, p), from one pass."""

    n_rows: int
    mean: NDArray[np.float64]  # (p,)
    spread: NDArray[np.float64]  # (p,), sums of squares of the columns about the mean
    scatter: NDArray[np.float64] | None  # (p, p), inner products of the columns about the mean; None if p is large

    def about(self, origin: NDArray[Any]) -> NDArray[np.float64]:
        """Inner products (p, p) of the columns about `origin` (p,)."""
        assert self.scatter is not None
        offset = self.mean - origin
        return self.scatter + self.n_rows * np.outer(offset, offset)


def block_sums(
    x: Array, origin: NDArray[np.float64], *, products: bool = True, weights: NDArray[np.float64] | None = None
) -> Sums:
    """Number, sum (p,) and inner products (p, p) of the rows of a block (b, p) about `origin` (p,), in float64.

    Without `products`, the squares (p,) of the columns take the place of the inner products. With `weights` (b,), each
    row counts as often as its weight.
    """
    xp = namespace(x)
    rows = xp.astype(x, xp.float64)
    rows = rows - fixed(origin, rows)
    counted = rows if weights is None else rows * like(weights, rows)[:, None]
    squares = _products(counted, rows) if products else xp.sum(counted * rows, axis=0)
    count = float(x.shape[0] if weights is None else weights.sum())
    return np.asarray(count), xp.sum(counted, axis=0), squares


def _products(a: Array, b: Array) -> Array:
    """a^T b (p, p) of rows (n, p) each."""
    xp = namespace(a)
    n, p = a.shape
    whole = n // PRODUCT_ROWS * PRODUCT_ROWS
    if is_host(a) or not whole:
        return a.T @ b
    parts = [xp.reshape(each[:whole, :], (-1, PRODUCT_ROWS, p)) for each in (a, b)]
    found = xp.sum(xp.matmul(xp.permute_dims(parts[0], (0, 2, 1)), parts[1]), axis=0)
    return found if whole == n else found + a[whole:, :].T @ b[whole:, :]


def moments_of_sums(count: Any, total: Any, squares: Any, origin: NDArray[np.float64]) -> Moments:
    """Moments from the sums of all blocks about the same origin."""
    n_rows = round(float(count))
    offset, squares = np.asarray(total) / n_rows, np.asarray(squares)
    if squares.ndim == 1:
        return Moments(n_rows, origin + offset, squares - n_rows * offset**2, None)
    scatter = squares - n_rows * np.outer(offset, offset)
    return Moments(n_rows, origin + offset, np.diag(scatter).copy(), scatter)
