"""Rows in HDF5 files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Indices
from subspaces.rows.checks import block_dtype
from subspaces.rows.formats.keyed import NamedArray, choose_array
from subspaces.rows.formats.stored import OpenOptions, Reader, SliceTable, rows_of_shape
from subspaces.rows.reading import UnreadableError, check_file, reading, require
from subspaces.rows.recut import columns_at


class Hdf5Table(SliceTable):
    """A dataset (n, ...) of an HDF5 file."""

    path: Path

    def __init__(self, path: Path, key: str, data: Any) -> None:
        where = f"{path}, dataset {key!r},"
        self.path, self.key, self.arrays_in = path, key, arrays_in
        self.n_rows, self.n_columns, self.row_shape = rows_of_shape(data.shape or (), where)
        self.stored_dtype = data.dtype
        block_dtype(data.dtype, where)
        self.stored_row_bytes = self.n_columns * data.dtype.itemsize
        if data.chunks:
            self.chunk_rows, self.chunk_bytes = data.chunks[0], int(np.prod(data.chunks)) * data.dtype.itemsize

    def dtype_of(self, columns: Indices | None) -> np.dtype[Any]:
        return block_dtype(self.stored_dtype, str(self.path))

    @contextmanager
    def reader(self, columns: Indices | None) -> Iterator[Reader]:
        with reading(self.path, "HDF5"), _opened(self.path) as file:
            data = file[self.key]
            if data.shape[0] != self.n_rows:
                raise UnreadableError(f"{self.path} has changed since it was opened: open it again.")
            yield lambda start, stop: columns_at(data[start:stop].reshape(stop - start, -1), columns)


def open_table(path: Path, options: OpenOptions) -> Hdf5Table:
    """The dataset `options.key` of an HDF5 file, or the only one that can be rows."""
    key = choose_array(path, arrays_in(path), options.key)
    with reading(path, "HDF5"), _opened(path) as file:
        return Hdf5Table(path, key, file[key])


def arrays_in(path: Path) -> dict[str, NamedArray]:
    """The datasets of a file by name."""
    check_file(path)
    h5py = require("h5py", path)
    found: dict[str, NamedArray] = {}

    def add(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            kind = "object" if item.dtype.kind == "V" else str(item.dtype)
            found[name] = NamedArray(tuple(item.shape or ()), kind, partial(_read, path, name))

    with reading(path, "HDF5"), _opened(path) as file:
        file.visititems(add)
    return found


def _opened(path: Path) -> Any:
    return require("h5py", path).File(path, "r")


def _read(path: Path, name: str) -> NDArray[Any]:
    with reading(path, "HDF5"), _opened(path) as file:
        return np.asarray(file[name][()])
