"""Rows in .npy files, and in the files behind numpy.memmap arrays."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from mmap import ALLOCATIONGRANULARITY
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Indices
from subspaces.rows.formats.base import GAP_BYTES, OpenOptions, Reader, SliceTable
from subspaces.rows.formats.keyed import NamedArray
from subspaces.rows.reading import UnreadableError, check_file, reading
from subspaces.rows.recut import columns_at

# Versions of the format: bytes that hold the length of the header, and how NumPy reads it. Later ones are for
# structured arrays.
HEADERS: dict[tuple[int, int], tuple[int, Any]] = {
    (1, 0): (2, np.lib.format.read_array_header_1_0),
    (2, 0): (4, np.lib.format.read_array_header_2_0),
}
# NumPy would read a header of any length before it refuses it.
MOST_HEADER_BYTES = 10_000
CHUNK_BYTES = 2**20
# Exceptions of NumPy, and of the parser of Python that it uses, for damaged headers.
ERRORS = (ValueError, SyntaxError, TypeError, TokenError, RecursionError, MemoryError)


@dataclass(frozen=True, slots=True)
class Header:
    """What the header of an .npy file says."""

    shape: tuple[int, ...]
    by_column: bool
    dtype: np.dtype[Any]
    offset: int  # the byte at which the values begin

    @property
    def n_bytes(self) -> int:
        """Bytes of the values."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def refusal(self) -> str | None:
        """Why the values must not be read."""
        return "holds Python objects (a pickle)" if self.dtype.hasobject else None


def read_header(stream: BinaryIO, path: Path) -> Header:
    """The header at the start of a stream; call it within `reading`."""
    version = np.lib.format.read_magic(stream)
    if version not in HEADERS:
        raise UnreadableError(f"{path} has version {version} of the NPY format, which is not known: save it again.")
    digits, parse = HEADERS[version]
    prefix = stream.read(digits)
    length = int.from_bytes(prefix, "little")
    if length > MOST_HEADER_BYTES:
        raise UnreadableError(f"{path} has a header of {length} bytes, which is too long: write it again.")
    shape, by_column, dtype = parse(io.BytesIO(prefix + stream.read(length)))
    return Header(shape, by_column, dtype, len(np.lib.format.magic(*version)) + digits + length)


def read_values(stream: BinaryIO, header: Header) -> NDArray[Any]:
    """The values that follow a header; memory is taken as they arrive, and EOFError is raised if there are fewer."""
    values = np.empty(math.prod(header.shape), header.dtype)
    if header.n_bytes:
        rest = values.view(np.uint8).data
        while rest:
            part = stream.read(min(len(rest), CHUNK_BYTES))
            if not part:
                raise EOFError("it is shorter than its header says")
            rest[: len(part)] = part
            rest = rest[len(part) :]
    return values.reshape(header.shape, order="F" if header.by_column else "C")


class RawTable(SliceTable):
    """An uncompressed array that begins at some byte of a file.

    It is read, not mapped: mapped pages count as memory of the process, and a file that is cut short while it is
    mapped kills the process.
    """

    path: Path

    def __init__(
        self, path: Path, offset: int, shape: Sequence[int], dtype: np.dtype[Any], *, by_column: bool = False
    ) -> None:
        if any(size < 0 for size in shape):
            raise UnreadableError(f"{path} has the shape {tuple(shape)} in its header: write it again.")
        super().__init__(path, shape, dtype)
        self.offset, self.by_column = offset, by_column
        if by_column and len(shape) > 2:
            raise UnreadableError(f"{path} holds {len(shape)} dimensions in Fortran order: store it in C order.")
        self.check_size()

    @contextmanager
    def reader(self, columns: Indices | None) -> Iterator[Reader]:
        with reading(self.path, "NPY"):
            file = self.path.open("rb")
        with file:
            self.check_size()
            read = self._read_columns if self.by_column else self._read_rows
            yield lambda start, stop: read(file, columns, start, stop)

    def check_size(self) -> None:
        """Refuse a file that is shorter than its header says."""
        needed, size = self.offset + self.n_rows * self.stored_row_bytes, self.path.stat().st_size
        if size < needed:
            raise UnreadableError(
                f"{self.path} is cut short: {size} bytes instead of {needed} for {self.n_rows} rows; write it again."
            )

    def _gap_bytes(self, columns: Indices | None) -> int:
        # Stored by column, even one row takes one read for each column.
        calls = self.n_columns if columns is None else len(columns)
        return GAP_BYTES * min(64, calls) if self.by_column else GAP_BYTES

    def _read_rows(self, file: BinaryIO, columns: Indices | None, start: int, stop: int) -> NDArray[Any]:
        rows = np.empty((stop - start, self.n_columns), self.stored_dtype)
        self._fill(file, start * self.stored_row_bytes, rows)
        return columns_at(rows, columns)

    def _read_columns(self, file: BinaryIO, columns: Indices | None, start: int, stop: int) -> NDArray[Any]:
        wanted = range(self.n_columns) if columns is None else columns
        rows = np.empty((len(wanted), stop - start), self.stored_dtype)
        for place, column in enumerate(wanted):
            self._fill(file, (int(column) * self.n_rows + start) * self.stored_dtype.itemsize, rows[place])
        return rows.T

    def _fill(self, file: BinaryIO, position: int, out: NDArray[Any]) -> None:
        rest = out.view(np.uint8).data.cast("B")
        with reading(self.path, "NPY"):
            file.seek(self.offset + position)
        while rest:
            with reading(self.path, "NPY"):
                count = file.readinto(rest)  # type: ignore[attr-defined]
            if not count:
                raise UnreadableError(f"{self.path} became shorter while it was read: write it again.")
            rest = rest[count:]


def open_table(path: Path, options: OpenOptions) -> RawTable:
    """The array of an .npy file."""
    header = _header(path)
    return RawTable(path, header.offset, header.shape, header.dtype, by_column=header.by_column)


def array_in(path: Path) -> NamedArray:
    """The array of an .npy file, of any shape, to be read as a whole."""
    header = _header(path)

    def load(most: int) -> NDArray[Any]:
        with reading(path, "NPY", *ERRORS), path.open("rb") as file:
            file.seek(header.offset)
            return read_values(file, header)

    return NamedArray(path, path.name, header.shape, str(header.dtype), header.n_bytes, load, header.refusal)


def _header(path: Path) -> Header:
    check_file(path)
    with reading(path, "NPY", *ERRORS), path.open("rb") as file:
        if file.read(2) == b"PK":
            raise UnreadableError(f"{path} is an .npz file: give it the suffix .npz.")
        file.seek(0)
        return read_header(file, path)


def open_memmap(x: np.memmap[Any, Any]) -> RawTable | None:
    """The file that `x` (n, p) is a view of; None if `x` cannot be read from there."""
    place = _place(x) if x.ndim == 2 and x.size else None
    if place is None:
        return None
    # Other processes read the file: write changes of the map to it.
    if x.mode != "r":
        x.flush()
    try:
        return RawTable(place[0], place[1], x.shape, x.dtype, by_column=not x.flags.c_contiguous)
    except OSError:
        # The file was removed, and only the map still holds it.
        return None


def _place(x: np.memmap[Any, Any]) -> tuple[Path, int] | None:
    """The file of `x` and the byte at which `x` begins; views only know where the whole map begins."""
    mapped = getattr(x, "_mmap", None)
    contiguous = x.flags.c_contiguous or x.flags.f_contiguous
    if mapped is None or not x.filename or x.mode == "c" or not contiguous:
        return None
    inside = x.ctypes.data - np.frombuffer(mapped, np.uint8).ctypes.data
    if not 0 <= inside <= len(mapped) - x.nbytes:
        return None
    return Path(x.filename), x.offset - x.offset % ALLOCATIONGRANULARITY + inside
