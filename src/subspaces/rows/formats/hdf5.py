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
from subspaces.rows.formats.base import OpenOptions, Reader, SliceTable
from subspaces.rows.formats.keyed import NamedArray, choose_array
from subspaces.rows.reading import check_file, reading, require
from subspaces.rows.recut import columns_at

# Exceptions of h5py for damaged files, besides OSError.
ERRORS = (KeyError, RuntimeError, ValueError)


class Hdf5Table(SliceTable):
    """A dataset (n, ...) of an HDF5 file."""

    path: Path

    def __init__(self, path: Path, key: str, data: Any) -> None:
        super().__init__(path, data.shape or (), data.dtype, where=f"{path}, dataset {key!r},", chunks=data.chunks)
        self.key, self.arrays_in = key, arrays_in

    @contextmanager
    def reader(self, columns: Indices | None) -> Iterator[Reader]:
        def read(start: int, stop: int) -> NDArray[Any]:
            with reading(self.path, "HDF5", *ERRORS):
                rows = data[start:stop]
            return columns_at(rows.reshape(stop - start, -1), columns)

        with _dataset(self.path, self.key) as data:
            if data.shape[0] != self.n_rows:
                raise self.changed()
            yield read


def open_table(path: Path, options: OpenOptions) -> Hdf5Table:
    """The dataset `options.key` of an HDF5 file, or the only one that can be rows."""
    key = choose_array(path, arrays_in(path), options.key)
    with _dataset(path, key) as data:
        return Hdf5Table(path, key, data)


def arrays_in(path: Path) -> dict[str, NamedArray]:
    """The datasets of a file by name."""
    check_file(path)
    h5py = require("h5py", path)
    items: list[tuple[str, Any]] = []
    with _opened(path) as file:
        with reading(path, "HDF5", *ERRORS):
            file.visititems(lambda name, item: items.append((name, item)))
        return {
            name: NamedArray(
                tuple(item.shape or ()),
                "object" if item.dtype.kind == "V" else str(item.dtype),
                partial(_read, path, name),
            )
            for name, item in items
            if isinstance(item, h5py.Dataset)
        }


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    h5py = require("h5py", path)
    with reading(path, "HDF5", *ERRORS):
        file = h5py.File(path, "r")
    with file:
        yield file


@contextmanager
def _dataset(path: Path, key: str) -> Iterator[Any]:
    with _opened(path) as file:
        with reading(path, "HDF5", *ERRORS):
            data = file[key]
        yield data


def _read(path: Path, name: str) -> NDArray[Any]:
    with _dataset(path, name) as data, reading(path, "HDF5", *ERRORS):
        return np.asarray(data[()])
