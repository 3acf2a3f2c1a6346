"""Rows in Zarr arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subspaces._core.arrays import Indices
from subspaces.rows.sources._checks import Columns, block_dtype, check_shape, pick_positions
from subspaces.rows.sources._chunks import check_chunk, choose_key
from subspaces.rows.sources._reading import UnreadableError, reading, require
from subspaces.rows.sources._tables import Reader, SliceTable


@dataclass(frozen=True, eq=False)
class ZarrTable(SliceTable):
    """An array (n, p) in a Zarr folder."""

    key: str | None  # within a group
    chunk_bytes: int
    columns: Indices | None

    @contextmanager
    def reader(self, memory_limit: int) -> Iterator[Reader]:
        check_chunk(self.path, self.chunk_bytes, memory_limit)
        with reading(self.path, "Zarr"):
            stored = require("zarr", self.path).open(self.path, mode="r")
            data = stored if self.key is None else stored[self.key]
            if data.shape[0] != self.n_rows:
                raise UnreadableError(f"{self.path} has changed since it was opened: open it again.")
            chosen = slice(None) if self.columns is None else self.columns
            yield lambda start, stop: data.oindex[start:stop, chosen]


def open_zarr(path: Path, columns: Columns | None, key: str | None) -> ZarrTable:
    """The array (n, p) in a Zarr folder, or that of name `key` in a group, or the only one of two dimensions there."""
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist: check the path.")
    if not path.is_dir():
        raise UnreadableError(f"{path} is no folder, as Zarr arrays are: unpack it if it is an archive.")
    zarr = require("zarr", path)
    with reading(path, "Zarr"):
        data = zarr.open(path, mode="r")
        if isinstance(data, zarr.Group):
            key = choose_key(path, key, _array_names(data, zarr))
            data = data[key]
        elif key is not None:
            raise UnreadableError(f"{path} is one array and no group: leave out key={key!r}.")
        shape, dtype = data.shape, data.dtype
    where = str(path) if key is None else f"{path}, array {key!r},"
    n_rows, n_columns = check_shape(shape, where)
    block = block_dtype(dtype, where)
    chosen = pick_positions(columns, n_columns, where)
    kept = n_columns if chosen is None else len(chosen)
    # Shards are files of many chunks, of which single ones can be read.
    chunk_rows = max(1, data.chunks[0])
    chunk_bytes = chunk_rows * data.chunks[1] * dtype.itemsize
    return ZarrTable(path, n_rows, kept, block, None, n_columns * dtype.itemsize, chunk_rows, key, chunk_bytes, chosen)


def _array_names(group: Any, zarr: Any) -> dict[str, int]:
    """The arrays of a group and their numbers of dimensions."""
    members = group.members(max_depth=None)
    return {name: item.ndim for name, item in members if isinstance(item, zarr.Array)}
