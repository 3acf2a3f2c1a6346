"""Rows in Zarr arrays, alone or in a group."""

from __future__ import annotations

import math
import os
import stat
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
from subspaces.rows.formats.keyed import NamedArray, check_safe, choose_array
from subspaces.rows.formats.zarr_chunks import check_chunks, codecs_in, refusal_of
from subspaces.rows.reading import UnreadableError, reading, require
from subspaces.rows.recut import columns_at

# Exceptions of Zarr and its codecs for damaged folders, besides OSError.
ERRORS = (KeyError, MemoryError, RecursionError, RuntimeError, TypeError, ValueError)
# Codecs that turn bytes into numbers or text and nothing else; "pickle" would run code. Names of version 3 may begin
# with "numcodecs.".
CODECS = {"bytes", "transpose", "sharding_indexed", "vlen-utf8"}
CODECS |= {"blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd"}
CODECS |= {"astype", "bitround", "delta", "fixedscaleoffset", "packbits", "quantize", "shuffle"}
CODECS |= {"adler32", "crc32", "crc32c", "fletcher32"}
# Kinds of NumPy types: numbers and text, not objects.
KINDS = "biufcUST"


class ZarrTable(SliceTable):
    """An array (n, ...) in a Zarr folder."""

    path: Path

    def __init__(self, path: Path, key: str | None, data: Any) -> None:
        # Shards are files of many chunks, of which single ones can be read.
        super().__init__(path, data.shape, data.dtype, where=_where(path, key), chunks=data.chunks)
        self.key, self.arrays_in = key, arrays_in

    @contextmanager
    def reader(self, columns: Indices | None) -> Iterator[Reader]:
        data = _array(self.path, self.key)
        if data.shape[0] != self.n_rows:
            raise self.changed()
        # Of flat rows only the chunks of the wanted columns are read.
        inside = columns if len(self.row_shape) == 1 else None

        def read(start: int, stop: int) -> NDArray[Any]:
            with reading(self.path, "Zarr", *ERRORS):
                check_chunks(self.path, data, start, stop)
                rows = data[start:stop] if inside is None else data.oindex[start:stop, inside]
            return columns_at(rows.reshape(stop - start, -1), columns if inside is None else None)

        yield read


def open_table(path: Path, options: OpenOptions) -> ZarrTable:
    """The array in a Zarr folder, or that of name `options.key` in a group, or the only one that can be rows."""
    if not path.exists():
        raise MissingFileError(f"{path} does not exist: check the path.")
    if not path.is_dir():
        raise UnreadableError(f"{path} is not a folder, as Zarr arrays are: unpack it if it is an archive.")
    _check_files(path)
    key = options.key
    if _is_group(_opened(path), path):
        key = choose_array(path, arrays_in(path), key)
    elif key is not None:
        raise UnreadableError(f"{path} is one array, not a group: leave out key={key!r}.")
    return ZarrTable(path, key, _array(path, key))


def arrays_in(path: Path) -> dict[str, NamedArray]:
    """The arrays of a group by name; none if the folder is one array."""
    group = _opened(path)
    if not _is_group(group, path):
        return {}
    with reading(path, "Zarr", *ERRORS):
        members = list(group.members(max_depth=None))
    return {name: _named(path, name, item) for name, item in members if not _is_group(item, path)}


def _named(path: Path, name: str, data: Any) -> NamedArray:
    # A chunk is unpacked as a whole.
    entries = max(math.prod(data.shape), math.prod(data.chunks))
    n_bytes = entries * data.dtype.itemsize
    return NamedArray(
        path, name, tuple(data.shape), str(data.dtype), n_bytes, partial(_load, path, name), _refusal(data)
    )


def _refusal(data: Any) -> str | None:
    """Why the chunks of an array must not be read."""
    if data.dtype.kind not in KINDS:
        return f"holds {data.dtype} values"
    codecs = codecs_in(data.metadata.to_dict())
    unknown = sorted({codec.name for codec in codecs} - CODECS)
    if unknown:
        return f"is packed by {unknown[0]!r:.40}"
    return refusal_of(codecs)


def _check_files(path: Path) -> None:
    """Refuse a store with links, which may lead to other files of the machine, or with devices and pipes."""
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            entry = Path(folder, name)
            mode = entry.lstat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise UnreadableError(f"{entry} is not a regular file: copy the data into the folder.")


def _opened(path: Path) -> Any:
    """The array or group in a folder; nothing but its metadata is read."""
    zarr = require("zarr", path)
    with reading(path, "Zarr", *ERRORS):
        return zarr.open(path, mode="r")


def _array(path: Path, key: str | None) -> Any:
    """An array whose chunks are safe to read."""
    stored = _opened(path)
    if key is not None:
        with reading(path, "Zarr", *ERRORS):
            stored = stored[key]
    check_safe(_refusal(stored), _where(path, key))
    return stored


def _where(path: Path, key: str | None) -> str:
    return str(path) if key is None else f"{path}, array {key!r},"


def _is_group(stored: Any, path: Path) -> bool:
    return isinstance(stored, require("zarr", path).Group)


def _load(path: Path, name: str, most: int) -> NDArray[Any]:
    data = _array(path, name)
    with reading(path, "Zarr", *ERRORS):
        check_chunks(path, data, 0, data.shape[0] if data.shape else 1)
        return np.asarray(data[...])
