"""Rows in Zarr arrays, alone or in a group."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Indices
from subspaces._core.errors import MissingFileError
from subspaces.rows.checks import block_dtype
from subspaces.rows.formats.keyed import NamedArray, choose_array
from subspaces.rows.formats.stored import OpenOptions, Reader, SliceTable, rows_of_shape
from subspaces.rows.reading import UnreadableError, reading, require


class ZarrTable(SliceTable):
    """An array (n, ...) in a Zarr folder."""

    path: Path

    def __init__(self, path: Path, key: str | None, data: Any) -> None:
        where = str(path) if key is None else f"{path}, array {key!r},"
        self.path, self.key, self.arrays_in = path, key, arrays_in
        self.n_rows, self.n_columns, self.row_shape = rows_of_shape(data.shape, where)
        self.stored_dtype = data.dtype
        block_dtype(data.dtype, where)
        self.stored_row_bytes = self.n_columns * data.dtype.itemsize
        # Shards are files of many chunks, of which single ones can be read.
        self.chunk_rows = max(1, data.chunks[0])
        self.chunk_bytes = int(np.prod(data.chunks)) * data.dtype.itemsize

    def dtype_of(self, columns: Indices | None) -> np.dtype[Any]:
        return block_dtype(self.stored_dtype, str(self.path))

    @contextmanager
    def reader(self, columns: Indices | None) -> Iterator[Reader]:
        with reading(self.path, "Zarr"):
            stored = require("zarr", self.path).open(self.path, mode="r")
            data = stored if self.key is None else stored[self.key]
            if data.shape[0] != self.n_rows:
                raise UnreadableError(f"{self.path} has changed since it was opened: open it again.")
            if columns is None or len(self.row_shape) > 1:
                yield lambda start, stop: _flat(data[start:stop], columns)
            else:
                yield lambda start, stop: data.oindex[start:stop, columns]


def open_table(path: Path, options: OpenOptions) -> ZarrTable:
    """The array in a Zarr folder, or that of name `options.key` in a group, or the only one that can be rows."""
    if not path.exists():
        raise MissingFileError(f"{path} does not exist: check the path.")
    if not path.is_dir():
        raise UnreadableError(f"{path} is not a folder, as Zarr arrays are: unpack it if it is an archive.")
    zarr = require("zarr", path)
    with reading(path, "Zarr"):
        data, key = zarr.open(path, mode="r"), options.key
        if isinstance(data, zarr.Group):
            key = choose_array(path, arrays_in(path), key)
            data = data[key]
        elif key is not None:
            raise UnreadableError(f"{path} is one array, not a group: leave out key={key!r}.")
        return ZarrTable(path, key, data)


def arrays_in(path: Path) -> dict[str, NamedArray]:
    """The arrays of a group by name; none if the folder is one array."""
    zarr = require("zarr", path)
    with reading(path, "Zarr"):
        group = zarr.open(path, mode="r")
        if not isinstance(group, zarr.Group):
            return {}
        members = [(name, item) for name, item in group.members(max_depth=None) if isinstance(item, zarr.Array)]
        return {
            name: NamedArray(tuple(item.shape), str(item.dtype), lambda item=item: np.asarray(item[...]))  # type: ignore[misc]
            for name, item in members
        }


def _flat(rows: NDArray[Any], columns: Indices | None) -> NDArray[Any]:
    flat = rows.reshape(len(rows), -1)
    return flat if columns is None else flat[:, columns]
