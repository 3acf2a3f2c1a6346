"""Rows in .npy files, and in whatever file a numpy.memmap is a view of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from mmap import ALLOCATIONGRANULARITY
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Indices
from subspaces._core.errors import InputError
from subspaces.rows.sources._checks import Columns, block_dtype, check_shape, pick_positions
from subspaces.rows.sources._reading import UnreadableError, check_file, reading
from subspaces.rows.sources._tables import GAP_BYTES, Reader, SliceTable

HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


@dataclass(frozen=True, eq=False)
class RawTable(SliceTable):
    """An array in a file from a byte on, without compression.

    It is read, not mapped: mapped pages count as memory of the process for as long as the map is there, and a file
    that is cut short under a map kills the process.
    """

    offset: int
    stored_dtype: np.dtype[Any]
    stored_columns: int
    by_column: bool  # Fortran order
    columns: Indices | None

    @contextmanager
    def reader(self, memory_limit: int) -> Iterator[Reader]:
        with reading(self.path, "NPY"), self.path.open("rb") as file:
            self._check_size()
            yield lambda start, stop: (self._read_columns if self.by_column else self._read_rows)(file, start, stop)

    @property
    def gap_bytes(self) -> int:
        # A row by column is as many calls as columns, however short.
        return GAP_BYTES * min(64, self.n_columns) if self.by_column else GAP_BYTES

    def _read_rows(self, file: BinaryIO, start: int, stop: int) -> NDArray[Any]:
        rows = np.empty((stop - start, self.stored_columns), self.stored_dtype)
        self._fill(file, start * self.stored_row_bytes, rows)
        return rows if self.columns is None else rows[:, self.columns]

    def _read_columns(self, file: BinaryIO, start: int, stop: int) -> NDArray[Any]:
        columns = range(self.stored_columns) if self.columns is None else self.columns
        rows = np.empty((len(columns), stop - start), self.stored_dtype)
        for place, column in enumerate(columns):
            self._fill(file, (int(column) * self.n_rows + start) * self.stored_dtype.itemsize, rows[place])
        return rows.T

    def _fill(self, file: BinaryIO, position: int, out: NDArray[Any]) -> None:
        file.seek(self.offset + position)
        rest = out.view(np.uint8).data.cast("B")
        while rest:
            count = file.readinto(rest)  # type: ignore[attr-defined]
            if not count:
                raise UnreadableError(f"{self.path} became shorter while it was read: write it again.")
            rest = rest[count:]

    def _check_size(self) -> None:
        needed, size = self.offset + self.n_rows * self.stored_row_bytes, self.path.stat().st_size
        if size < needed:
            raise UnreadableError(
                f"{self.path} is cut short: {size} bytes instead of {needed} for {self.n_rows} rows; write it again."
            )


def open_npy(path: Path, columns: Columns | None) -> RawTable:
    """The array (n, p) of an .npy file."""
    check_file(path)
    with reading(path, "NPY"), path.open("rb") as file:
        version = np.lib.format.read_magic(file)
        # Later versions are those of structured arrays.
        if version not in HEADERS:
            raise InputError(f"version {version} of the format is not known")
        shape, by_column, dtype = HEADERS[version](file)
        offset = file.tell()
    table = _raw_table(path, offset, shape, dtype, by_column, columns)
    table._check_size()
    return table


def open_memmap(x: np.memmap[Any, Any], columns: Columns | None) -> RawTable | None:
    """The file that `x` (n, p) is a view of; None where `x` cannot be read from there."""
    place = _place(x) if x.ndim == 2 and x.size else None
    if place is None:
        return None
    # What was written into the map must be in the file before others read it.
    if x.mode != "r":
        x.flush()
    by_column = not x.flags.c_contiguous
    try:
        table = _raw_table(place[0], place[1], x.shape, x.dtype, by_column, columns)
        table._check_size()
    except OSError:
        # The file has gone, the map still holds it.
        return None
    return table


def _raw_table(
    path: Path, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any], by_column: bool, columns: Columns | None
) -> RawTable:
    n_rows, n_columns = check_shape(shape, str(path))
    chosen = pick_positions(columns, n_columns, str(path))
    return RawTable(
        path,
        n_rows,
        n_columns if chosen is None else len(chosen),
        block_dtype(dtype, str(path)),
        None,
        n_columns * dtype.itemsize,
        1,
        offset,
        dtype,
        n_columns,
        by_column,
        chosen,
    )


def _place(x: np.memmap[Any, Any]) -> tuple[Path, int] | None:
    """The file of `x` and the byte that `x` begins at; views know only where the whole map begins."""
    mapped = getattr(x, "_mmap", None)
    contiguous = x.flags.c_contiguous or x.flags.f_contiguous
    if mapped is None or not x.filename or x.mode == "c" or not contiguous:
        return None
    inside = x.ctypes.data - np.frombuffer(mapped, np.uint8).ctypes.data
    if not 0 <= inside <= len(mapped) - x.nbytes:
        return None
    return Path(x.filename), x.offset - x.offset % ALLOCATIONGRANULARITY + inside
