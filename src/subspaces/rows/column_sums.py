"""Means, scales and principal components of rows in blocks, from one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import to_host
from subspaces._core.errors import InputError
from subspaces._core.pca import principal_directions
from subspaces._core.validation import check_range
from subspaces.rows.moments import block_sums, moments_of_sums
from subspaces.rows.source import RowSource

# A column is constant if its standard deviation is at most this many rounding errors of its largest value.
ROUNDING = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class ColumnSums:
    """Sums over rows (n, p)."""

    n_rows: int
    mean: NDArray[np.float64]  # (p,)
    spread: NDArray[np.float64]  # (p,) sums of squares about the mean
    largest: NDArray[np.float64]  # (p,) largest absolute values
    scatter: NDArray[np.float64] | None  # (p, p) inner products of the columns about the mean; None if not computed

    def scales(self, dtype: np.dtype[Any]) -> NDArray[np.float64]:
        """Standard deviations (p,) of the columns; infinite for those that are constant up to rounding of `dtype`."""
        scale = np.sqrt(np.maximum(self.spread, 0) / self.n_rows)
        constant = scale <= ROUNDING * float(np.finfo(dtype).eps) * self.largest
        return np.where(constant, np.inf, scale)


def column_sums(source: RowSource, *, products: bool) -> ColumnSums:
    """Sums over all rows of `source`, with `products` also the products of columns."""
    origin = largest = None
    count: Any = 0
    total: Any = 0
    squares: Any = 0
    for block in source.blocks():
        check_range(block, are_all=False)
        rows = to_host(block)
        if origin is None or largest is None:
            # Sums about the mean of the first block lose few digits if columns are far from zero.
            origin, largest = rows.mean(axis=0, dtype=np.float64), np.zeros(rows.shape[1])
        largest = np.maximum(largest, np.maximum(rows.max(axis=0), -rows.min(axis=0)))
        more, sums, squared = block_sums(rows, origin, products=products)
        count, total, squares = count + more, total + sums, squares + squared
    if origin is None or largest is None:
        raise InputError("X has no rows: a minimum of 1 is required.")
    found = moments_of_sums(count, total, squares, origin)
    return ColumnSums(found.n_rows, found.mean, found.spread, largest, found.scatter)


def principal_components(
    source: RowSource, sums: ColumnSums, scale: NDArray[np.float64] | None, count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The `count` leading principal directions (count, p) of rows divided by `scale` (p,), and their shares (count,)
    of the variance.
    """
    divisor = np.ones(source.n_columns) if scale is None else scale
    total = float((sums.spread / divisor**2).sum())
    if sums.scatter is not None:
        scatter = sums.scatter / np.outer(divisor, divisor)
        directions = principal_directions(np.empty((source.n_columns, source.n_columns)), divisor, count, known=scatter)
        along = np.einsum("pq,pq->q", directions, scatter @ directions)
    else:
        rows = (np.concatenate([to_host(block) for block in source.blocks()]) - sums.mean) / divisor
        directions = principal_directions(rows, np.zeros(source.n_columns), count)
        along = np.square(rows @ directions).sum(axis=0)
    shares = np.maximum(along, 0) / total if total > 0 else np.zeros(count)
    return np.ascontiguousarray(directions.T), shares


def is_wide(source: RowSource) -> bool:
    """Whether there are fewer rows than columns: then all rows take less memory than the products of columns."""
    return source.n_rows is not None and source.n_rows < source.n_columns


def check_room(source: RowSource) -> None:
    """Refuse principal components whose matrices do not fit into the memory limit of the source."""
    p = source.n_columns
    # The matrix and its eigenvectors, or the rows in their own precision and in float64.
    needed = 3 * 8 * p * (source.n_rows if is_wide(source) and source.n_rows is not None else p)
    if needed > source.options.memory_limit:
        raise InputError(
            f"principal components of {p} columns need {needed / 1e9:.1f} GB, and the memory limit is "
            f"{source.options.memory_limit / 1e9:.1f} GB: raise it, or keep fewer columns (smaller images)."
        )
