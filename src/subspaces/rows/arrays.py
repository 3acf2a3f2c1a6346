"""Rows of an array in memory, on the host or on a device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.arrays import Array, Indices, device, follow, is_host
from subspaces._core.errors import InputError
from subspaces.rows.checks import array_dtype, check_shape
from subspaces.rows.columns import ColumnChoice, numbered_names, positions
from subspaces.rows.recut import as_block, columns_at, rows_at
from subspaces.rows.source import FeedOptions, RowSource

# Blocks of rows on a device stay there, and short blocks do not keep it busy.
DEVICE_BLOCK_BYTES = 512 * 2**20


class ArrayRows(RowSource):
    """Rows of an array (n, p) of NumPy or another library; blocks stay in the library and on the device."""

    column_names = None

    def __init__(self, x: Any, options: FeedOptions, columns: ColumnChoice | None = None) -> None:
        n_rows, n_columns = check_shape(x.shape, "X")
        if not n_rows:
            raise InputError(f"X has no rows, shape {tuple(x.shape)}: a minimum of 1 is required.")
        self.dtype = array_dtype(x, "X")
        self.options = options
        # Gradients are not needed; torch would record them.
        self._x = x.detach() if hasattr(x, "detach") else x
        self._columns = pick(columns, n_columns, "X")
        self.n_columns = n_columns if self._columns is None else len(self._columns)

    @property
    def n_rows(self) -> int:
        return int(self._x.shape[0])

    @property
    def block_rows(self) -> int:
        if self.options.block_rows is not None or is_host(self._x) or str(device(self._x)) == "cpu":
            return super().block_rows
        return max(1, DEVICE_BLOCK_BYTES // (self.n_columns * self.dtype.itemsize))

    def blocks(self, start: int = 0) -> Iterator[Array]:
        size, stop = self.block_rows, self.n_rows
        return (self._block(row, min(stop, row + size)) for row in range(self._first_row(start), stop, size))

    def take(self, index: ArrayLike) -> Array:
        rows = rows_at(self._x, self._check_index(index))
        return as_block(columns_at(rows, self._columns), self.dtype)

    def follow(self, result: NDArray[Any]) -> Any:
        return follow(result, self._x)

    def _block(self, start: int, stop: int) -> Array:
        return as_block(columns_at(self._x[start:stop, :], self._columns), self.dtype)


def pick(columns: ColumnChoice | None, n_columns: int, where: str) -> Indices | None:
    """Positions (q,) of the chosen `columns` among `n_columns` without names; None for all."""
    if columns is None:
        return None
    return np.asarray(positions(columns, numbered_names(n_columns), where), np.intp)
