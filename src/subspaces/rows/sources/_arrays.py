"""Rows that are in memory already, here or on a device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.arrays import Array, device, follow, is_host
from subspaces._core.errors import InputError
from subspaces.rows.sources._base import FeedOptions, RowSource
from subspaces.rows.sources._checks import Columns, array_dtype, check_shape, pick_names, pick_positions
from subspaces.rows.sources._recut import as_block, columns_at, rows_at

DEVICE_BLOCK_BYTES = 512 * 2**20


class ArrayRows(RowSource):
    """Rows of an array (n, p) of NumPy or another library; blocks stay in the library and on the device."""

    def __init__(
        self, x: Any, options: FeedOptions, columns: Columns | None = None, names: tuple[str, ...] | None = None
    ) -> None:
        where = "X"
        n_rows, n_columns = check_shape(x.shape, where)
        if not n_rows:
            raise InputError(f"X has no rows, shape {tuple(x.shape)}: a minimum of 1 is required.")
        self.dtype = array_dtype(x, where)
        self.options, self.column_names = options, names
        # What torch would differentiate through is of no use here.
        self._x = x.detach() if hasattr(x, "detach") else x
        self._columns = pick_positions(columns, n_columns, where)
        self.n_columns = n_columns if self._columns is None else len(self._columns)

    @property
    def n_rows(self) -> int:
        return int(self._x.shape[0])

    @property
    def block_rows(self) -> int:
        if self.options.block_rows is not None or is_host(self._x) or str(device(self._x)) == "cpu":
            return super().block_rows
        # What is on a device stays there, and only large blocks keep it busy.
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


def plain_array(x: Any) -> NDArray[Any]:
    """`x`, a NumPy array of any subclass, as a plain one."""
    if isinstance(x, np.ma.MaskedArray):
        raise InputError("X is a masked array: fill the gaps first, as X.filled(numpy.nan) does.")
    return np.asarray(x)


def frame_rows(frame: Any, options: FeedOptions, columns: Columns | None) -> ArrayRows:
    """Rows of a dataframe that is in memory, with the names of its columns."""
    names = [str(name) for name in frame.columns]
    chosen = pick_names(columns, names, "X")
    values = frame.to_numpy()
    positions = None if columns is None else [names.index(name) for name in chosen]
    if values.dtype == object and positions is not None:
        # Without the others, those of a kind may be left.
        values, positions = frame.iloc[:, positions].to_numpy(), None
    if values.dtype == object:
        raise InputError("X has columns that hold no real numbers: name the others by columns=...")
    return ArrayRows(values, options, positions, tuple(chosen))
