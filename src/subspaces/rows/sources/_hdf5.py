"""Rows in HDF5 files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subspaces._core.arrays import Indices
from subspaces.rows.sources._checks import Columns, block_dtype, check_shape, pick_positions
from subspaces.rows.sources._chunks import check_chunk, choose_key
from subspaces.rows.sources._reading import UnreadableError, check_file, reading, require
from subspaces.rows.sources._recut import columns_at
from subspaces.rows.sources._tables import Reader, SliceTable


@dataclass(frozen=True, eq=False)
class Hdf5Table(SliceTable):
    """A dataset (n, p) of an HDF5 file."""

    key: str
    chunk_bytes: int
    columns: Indices | None

    @contextmanager
    def reader(self, memory_limit: int) -> Iterator[Reader]:
        check_chunk(self.path, self.chunk_bytes, memory_limit)
        with reading(self.path, "HDF5"), _hdf5_file(self.path) as file:
            data = file[self.key]
            if data.shape[0] != self.n_rows:
                raise UnreadableError(f"{self.path} has changed since it was opened: open it again.")
            yield lambda start, stop: columns_at(data[start:stop], self.columns)


def open_hdf5(path: Path, columns: Columns | None, key: str | None) -> Hdf5Table:
    """The dataset `key` (n, p) of an HDF5 file, or the only one of two dimensions."""
    check_file(path)
    h5py = require("h5py", path)
    with reading(path, "HDF5"), _hdf5_file(path) as file:
        key = choose_key(path, key, _dataset_names(file, h5py))
        data = file[key]
        shape, dtype, chunks = data.shape, data.dtype, data.chunks
    where = f"{path}, dataset {key!r},"
    n_rows, n_columns = check_shape(shape or (), where)
    chosen = pick_positions(columns, n_columns, where)
    kept = n_columns if chosen is None else len(chosen)
    chunk_rows, chunk_bytes = (chunks[0], chunks[0] * chunks[1] * dtype.itemsize) if chunks else (1, 0)
    row_bytes = n_columns * dtype.itemsize
    return Hdf5Table(
        path, n_rows, kept, block_dtype(dtype, where), None, row_bytes, chunk_rows, key, chunk_bytes, chosen
    )


def _hdf5_file(path: Path) -> Any:
    return require("h5py", path).File(path, "r")


def _dataset_names(file: Any, h5py: Any) -> dict[str, int]:
    """The datasets of a file and their numbers of dimensions."""
    found: dict[str, int] = {}
    file.visititems(
        lambda name, item: found.update({name: len(item.shape or ())}) if isinstance(item, h5py.Dataset) else None
    )
    return found
