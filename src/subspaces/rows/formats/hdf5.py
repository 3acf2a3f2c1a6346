"""Rows in HDF5 files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Indices
from subspaces.rows.formats.base import OpenOptions, Reader, SliceTable
from subspaces.rows.formats.keyed import NamedArray, check_safe, choose_array
from subspaces.rows.formats.packed import ZLIB_RATIO, unpacks_within
from subspaces.rows.reading import UnreadableError, check_file, reading, require
from subspaces.rows.recut import columns_at

# Exceptions of h5py for damaged files, besides OSError.
ERRORS = (KeyError, MemoryError, RuntimeError, TypeError, ValueError)
# Chunks are unpacked one at a time: those that cannot become larger than this are not checked.
UNCHECKED_BYTES = 10**8
# Filters of HDF5 that make chunks smaller, and the first number of filters that are not part of it.
DEFLATE, SZIP = 1, 4
PACKERS, FIRST_PLUGIN = (DEFLATE, SZIP), 256


class Hdf5Table(SliceTable):
    """A dataset (n, ...) of an HDF5 file."""

    path: Path

    def __init__(self, path: Path, key: str, data: Any) -> None:
        self._where = f"{path}, dataset {key!r},"
        super().__init__(path, data.shape or (), data.dtype, where=self._where, chunks=data.chunks)
        self.key, self.arrays_in = key, arrays_in

    @contextmanager
    def reader(self, columns: Indices | None) -> Iterator[Reader]:
        def read(start: int, stop: int) -> NDArray[Any]:
            with reading(self.path, "HDF5", *ERRORS):
                _check_chunks(data, start, stop, self._where)
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
    """The datasets of a file by name; links, which may lead to other files, are not followed."""
    check_file(path)
    h5py = require("h5py", path)
    items: list[tuple[str, Any]] = []
    with _opened(path) as file, reading(path, "HDF5", *ERRORS):
        file.visititems(lambda name, item: items.append((name, item)))
        return {name: _named(path, name, item) for name, item in items if isinstance(item, h5py.Dataset)}


def _named(path: Path, name: str, data: Any) -> NamedArray:
    shape = tuple(data.shape or ())
    kind = "object" if data.dtype.kind in "OV" else str(data.dtype)
    return NamedArray(
        path, name, shape, kind, math.prod(shape) * data.dtype.itemsize, partial(_load, path, name), _refusal(data)
    )


def _refusal(data: Any) -> str | None:
    """Why the values of a dataset must not be read."""
    import h5py

    if data.external:
        return "is stored in another file"
    if data.is_virtual:
        return "is made of datasets in other files"
    if data.dtype.kind == "O" and h5py.check_string_dtype(data.dtype) is None:
        return "holds references or arrays of any length"
    if sum(each in PACKERS or each >= FIRST_PLUGIN for each in _filters(data)) > 1:
        return "is packed more than once"
    return None


def _filters(data: Any) -> list[int]:
    """Numbers of the filters that pack the chunks of a dataset."""
    properties = data.id.get_create_plist()
    return [properties.get_filter(place)[0] for place in range(properties.get_nfilters())]


def _check_chunks(data: Any, start: int, stop: int, where: str) -> None:
    """Refuse chunks of some rows that unpack to more than their values; HDF5 would unpack all of it."""
    if not data.chunks or DEFLATE not in _filters(data):
        return
    n_bytes = math.prod(data.chunks) * data.dtype.itemsize
    # Checksums come on top of the values, and packed numbers are wider.
    most = max(UNCHECKED_BYTES, 2 * n_bytes)
    first, *others = data.chunks
    sides = [range(0, size, step) for size, step in zip(data.shape[1:], others, strict=True)]
    for corner in product(range(start // first * first, stop, first), *sides):
        size = data.id.get_chunk_info_by_coord(corner).size
        if size * ZLIB_RATIO <= most:
            continue
        if size > most or not unpacks_within("zlib", data.id.read_direct_chunk(corner)[1], most):
            raise UnreadableError(
                f"{where} has a chunk that is damaged or unpacks to more than its {n_bytes} bytes: write it again."
            )


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
            # A link in place of the dataset that was listed might lead to another file.
            plain = isinstance(file.get(key, getlink=True), require("h5py", path).HardLink)
            data = file[key] if plain else None
            check_safe("is a link" if data is None else _refusal(data), f"{path}, dataset {key!r},")
        yield data


def _load(path: Path, name: str, most: int) -> NDArray[Any]:
    with _dataset(path, name) as data, reading(path, "HDF5", *ERRORS):
        if data.ndim:
            _check_chunks(data, 0, len(data), f"{path}, dataset {name!r},")
        if data.dtype.kind != "O" or not data.ndim:
            return np.asarray(data[()])
        # Text of any length: entries may share their content, so the file can be smaller than they are together.
        step, room, found = max(1, most // max(1, path.stat().st_size)), most, []
        for start in range(0, len(data), step):
            found.append(np.asarray(data[start : start + step]))
            room -= sum(map(len, found[-1].ravel()))
            if room < 0:
                raise UnreadableError(f"{path}, dataset {name!r}, holds too much text for memory_limit: raise it.")
        return np.concatenate(found)
