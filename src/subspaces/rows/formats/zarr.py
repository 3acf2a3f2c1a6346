"""Rows in Zarr arrays, alone or in a group."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Indices
from subspaces._core.errors import MissingFileError
from subspaces.rows.formats.base import OpenOptions, Reader, SliceTable
from subspaces.rows.formats.keyed import NamedArray, choose_array
from subspaces.rows.reading import UnreadableError, reading, require
from subspaces.rows.recut import columns_at

# Exceptions of Zarr and its codecs for damaged folders, besides OSError.
ERRORS = (KeyError, RuntimeError, TypeError, ValueError)


class ZarrTable(SliceTable):
    """An array (n, ...) in a Zarr folder."""

    path: Path

    def __init__(self, path: Path, key: str | None, data: Any) -> None:
        # Shards are files of many chunks, of which single ones can be read.
        where = str(path) if key is None else f"{path}, array {key!r},"
        super().__init__(path, data.shape, data.dtype, where=where, chunks=data.chunks)
        self.key, self.arrays_in = key, arrays_in

    @contextmanager
    def reader(self, columns: Indices | None) -> Iterator[Reader]:
        data = _opened(self.path, self.key)
        if data.shape[0] != self.n_rows:
            raise self.changed()
        # Of flat rows only the chunks of the wanted columns are read.
        inside = columns if len(self.row_shape) == 1 else None

        def read(start: int, stop: int) -> NDArray[Any]:
            with reading(self.path, "Zarr", *ERRORS):
                rows = data[start:stop] if inside is None else data.oindex[start:stop, inside]
            return columns_at(rows.reshape(stop - start, -1), columns if inside is None else None)

        yield read


def open_table(path: Path, options: OpenOptions) -> ZarrTable:
    """The array in a Zarr folder, or that of name `options.key` in a group, or the only one that can be rows."""
    if not path.exists():
        raise MissingFileError(f"{path} does not exist: check the path.")
    if not path.is_dir():
        raise UnreadableError(f"{path} is not a folder, as Zarr arrays are: unpack it if it is an archive.")
    key = options.key
    if _is_group(_opened(path), path):
        key = choose_array(path, arrays_in(path), key)
    elif key is not None:
        raise UnreadableError(f"{path} is one array, not a group: leave out key={key!r}.")
    return ZarrTable(path, key, _opened(path, key))


def arrays_in(path: Path) -> dict[str, NamedArray]:
    """The arrays of a group by name; none if the folder is one array."""
    group = _opened(path)
    if not _is_group(group, path):
        return {}
    with reading(path, "Zarr", *ERRORS):
        members = list(group.members(max_depth=None))
    return {
        name: NamedArray(tuple(item.shape), str(item.dtype), partial(_read, path, name))
        for name, item in members
        if not _is_group(item, path)
    }


def _opened(path: Path, key: str | None = None) -> Any:
    zarr = require("zarr", path)
    with reading(path, "Zarr", *ERRORS):
        stored = zarr.open(path, mode="r")
        return stored if key is None else stored[key]


def _is_group(stored: Any, path: Path) -> bool:
    return isinstance(stored, require("zarr", path).Group)


def _read(path: Path, name: str) -> NDArray[Any]:
    data = _opened(path, name)
    with reading(path, "Zarr", *ERRORS):
        return np.asarray(data[...])
