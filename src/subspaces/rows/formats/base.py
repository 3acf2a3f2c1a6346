"""What a file format implements: a `StoredTable` knows the columns of one file and reads its rows in pieces.

`SliceTable` is the base for formats from which any range of rows can be read, `HeldTable` the one for arrays that are
read as a whole.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Indices
from subspaces.rows.checks import block_dtype, check_shape
from subspaces.rows.columns import numbered_names
from subspaces.rows.formats.keyed import NamedArray, choose_array
from subspaces.rows.memory import BLOCK_SHARE, CHUNK_SHARE, HELD_SHARE
from subspaces.rows.reading import UnreadableError
from subspaces.rows.recut import columns_at

# About what the name of a column and its place take, and what a column takes that pyarrow reads.
NAME_BYTES, ARROW_BYTES = 80, 10_000
# Wanted rows that are further apart than this are read one by one.
GAP_BYTES = 2**17

Reader = Callable[[int, int], NDArray[Any]]


@dataclass(frozen=True, slots=True)
class OpenOptions:
    """What the caller said about the files to open."""

    memory_limit: int = 10**9  # bytes
    key: str | None = None  # array, dataset or sheet that holds the rows
    image_size: tuple[int, int] | None = None  # (height, width) to which images are scaled
    count_from: int = 0  # number of the first column, for columns without names


@dataclass(frozen=True, slots=True)
class Content:
    """What the cells of one column hold."""

    numbers: int  # how many cells are numbers
    others: int  # how many are something else; missing values count as neither
    kind: str = "text"  # what the others are
    first: tuple[int, str] | None = None  # row and content of the first of the others, if cells are read one by one
    booleans: bool = False  # whether some of the numbers are true or false


class StoredTable(ABC):
    """One file, or another table, whose columns are known and whose rows are read when they are needed.

    It holds no open file, so that it can be pickled. In `columns`, None stands for all columns in their order.
    """

    path: Path | str  # for messages
    n_rows: int
    n_columns: int
    names: tuple[str, ...] | None = None  # of the columns, if they have names
    word: str = "column"  # how a column is called if it has no name
    count_from: int = 0  # number of the first column
    row_shape: tuple[int, ...]  # (p,), or the shape of the array that each row is
    kinds: Mapping[int, str] = MappingProxyType({})  # columns that do not hold numbers, and what they hold
    column_bytes: int = NAME_BYTES  # that each column takes besides its values
    index_columns: tuple[int, ...] = ()  # row names that pandas and R write; left out unless they are chosen
    notes: tuple[str, ...] = ()  # what the user should know
    # The arrays of a file that holds several, by name; other arrays may hold true classes.
    arrays_in: Callable[[Any], Mapping[str, NamedArray]] | None = None

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of all columns: "column 0" and so on if they have none."""
        return numbered_names(self.n_columns, self.count_from, self.word) if self.names is None else self.names

    def survey(self, columns: Sequence[int], text: Sequence[int], room: int) -> list[Content]:
        """What the `columns` hold. `cells` will be called for those in `text`.

        Formats that find out by reading all rows may keep them, in up to `room` bytes.
        """
        rows = max(1, self.n_rows)
        return [
            Content(0, rows, self.kinds[column]) if column in self.kinds else Content(rows, 0) for column in columns
        ]

    @abstractmethod
    def dtype_of(self, columns: Indices | None) -> np.dtype[Any]:
        """The dtype of blocks of these columns, float32 or float64."""

    @abstractmethod
    def pieces(self, columns: Indices | None, start: int, rows: int, memory_limit: int) -> Iterator[NDArray[Any]]:
        """The rows from `start` on in new arrays (b, q) of any dtype; b is `rows` if possible."""

    @abstractmethod
    def take_into(self, out: Array, columns: Indices | None, index: Indices, memory_limit: int) -> None:
        """Fill `out` (m, q) with the rows at ascending `index` (m,)."""

    def cells(self, column: int, memory_limit: int) -> NDArray[Any]:
        """All cells (n,) of one column, of any type: true classes or names of rows."""
        if self.n_rows * 8 > memory_limit // HELD_SHARE:
            raise self.too_many_cells(memory_limit)
        found = [piece[:, 0] for piece in self.pieces(np.asarray([column]), 0, self.n_rows, memory_limit)]
        return np.concatenate(found or [np.empty(0)])

    def too_many_cells(self, memory_limit: int) -> UnreadableError:
        """The error for a column that is held in memory and does not fit."""
        return UnreadableError(
            f"{self.path} has {self.n_rows} rows, whose names or true classes do not fit into half of "
            f"memory_limit={memory_limit / 1e9:.3g}GB: raise it, or leave them out."
        )

    def beside(self, name: str, memory_limit: int) -> NDArray[Any] | None:
        """The entries (n,) of another array of the same file; None if it has no array of this name."""
        array = None if self.arrays_in is None else self.arrays_in(self.path).get(name)
        return None if array is None else array.entries(memory_limit)

    def place(self, row: int) -> str:
        """Where a row is, for messages; rows count from 1, as lines of text do."""
        return f"{self.path}, row {row + 1}"

    def changed(self) -> UnreadableError:
        """The error for a file that is not the one that was opened."""
        return UnreadableError(f"{self.path} has changed since it was opened: open it again.")


class WalkedTable(StoredTable):
    """A table that can only be read from the beginning."""

    def take_into(self, out: Array, columns: Indices | None, index: Indices, memory_limit: int) -> None:
        row = place = 0
        for piece in self.pieces(columns, 0, max(1, memory_limit // BLOCK_SHARE // (8 * out.shape[1])), memory_limit):
            stop = place + int(np.searchsorted(index[place:], row + len(piece)))
            out[place:stop] = piece[index[place:stop] - row]
            place, row = stop, row + len(piece)
            if place == len(index):
                return


class SliceTable(StoredTable):
    """A table from which any range of rows can be read."""

    stored_row_bytes: int  # of all columns, as stored
    stored_dtype: np.dtype[Any]
    chunk_rows: int = 1  # rows that are stored, and unpacked, together
    chunk_bytes: int = 0

    def __init__(
        self,
        path: Path,
        shape: Sequence[int],
        dtype: np.dtype[Any],
        *,
        where: str = "",
        chunks: Sequence[int] | None = None,
    ) -> None:
        """Take over the shape of an array (n, ...); `where` names it in messages, `chunks` is the shape of one."""
        where = where or str(path)
        self.path, self.stored_dtype = path, dtype
        self.n_rows, self.n_columns, self.row_shape = rows_of_shape(shape, where)
        block_dtype(dtype, where)
        self.stored_row_bytes = self.n_columns * dtype.itemsize
        if chunks:
            self.chunk_rows, self.chunk_bytes = max(1, chunks[0]), math.prod(chunks) * dtype.itemsize

    def dtype_of(self, columns: Indices | None) -> np.dtype[Any]:
        return block_dtype(self.stored_dtype, str(self.path))

    @abstractmethod
    def reader(self, columns: Indices | None) -> AbstractContextManager[Reader]:
        """A function that reads the rows from start to stop as an array (stop - start, q), while the file is open."""

    def pieces(self, columns: Indices | None, start: int, rows: int, memory_limit: int) -> Iterator[NDArray[Any]]:
        self._check_chunk(memory_limit)
        step = self._step(rows, memory_limit)
        with self.reader(columns) as read:
            # Pieces end where chunks end, at a multiple of the step, wherever the first one starts.
            while start < self.n_rows:
                stop = min(self.n_rows, start + step if self.chunk_rows == 1 else (start // step + 1) * step)
                yield read(start, stop)
                start = stop

    def take_into(self, out: Array, columns: Indices | None, index: Indices, memory_limit: int) -> None:
        self._check_chunk(memory_limit)
        cell = index // self._step(self._gap_bytes(columns) // self.stored_row_bytes, memory_limit)
        bounds = [0, *(np.flatnonzero(np.diff(cell)) + 1), len(index)]
        with self.reader(columns) as read:
            for start, stop in pairwise(bounds):
                first = int(index[start])
                out[start:stop] = read(first, int(index[stop - 1]) + 1)[index[start:stop] - first]

    def _gap_bytes(self, columns: Indices | None) -> int:
        """Up to this many bytes, reading unwanted rows is faster than another call."""
        return GAP_BYTES

    def _step(self, rows: int, memory_limit: int) -> int:
        """How many rows to read at once if `rows` are wanted."""
        rows = max(1, min(rows, memory_limit // BLOCK_SHARE // self.stored_row_bytes))
        if self.chunk_rows * self.stored_row_bytes > memory_limit // CHUNK_SHARE:
            return rows
        return max(1, rows // self.chunk_rows) * self.chunk_rows

    def _check_chunk(self, memory_limit: int) -> None:
        """Refuse chunks that do not fit into memory, because each is unpacked as a whole."""
        if self.chunk_bytes > memory_limit // CHUNK_SHARE:
            raise UnreadableError(
                f"{self.path} is stored in chunks of {self.chunk_bytes / 1e6:.0f} MB, too large for "
                f'memory_limit={memory_limit}: pass memory_limit="{-(-CHUNK_SHARE * self.chunk_bytes // 10**6)}MB", '
                "or store it in smaller chunks."
            )


class HeldTable(SliceTable):
    """An array (n, ...) that is read as a whole, once, when its rows are needed."""

    def __init__(
        self, path: Path | str, shape: Sequence[int], load: Callable[[], NDArray[Any]], memory_limit: int
    ) -> None:
        self.path, self._load, self._memory_limit = path, load, memory_limit
        self.n_rows, self.n_columns, self.row_shape = rows_of_shape(shape, str(path))
        self.stored_row_bytes = 8 * self.n_columns
        self._values: NDArray[Any] | None = None

    @property
    def values(self) -> NDArray[Any]:
        """The rows (n, p)."""
        if self._values is None:
            if self.n_rows * self.n_columns * 8 > self._memory_limit // HELD_SHARE:
                raise UnreadableError(
                    f"{self.path} holds {self.n_rows} rows of {self.n_columns} numbers, which do not fit into half of "
                    f"memory_limit={self._memory_limit / 1e9:.1f}GB: raise it, or store them as .npy (n, p), which is "
                    "read in blocks."
                )
            loaded = self._load()
            self._values = loaded.reshape(len(loaded), -1)
        return self._values

    def dtype_of(self, columns: Indices | None) -> np.dtype[Any]:
        return block_dtype(self.values.dtype, str(self.path))

    def reader(self, columns: Indices | None) -> AbstractContextManager[Reader]:
        values = self.values
        return nullcontext(lambda start, stop: np.array(columns_at(values[start:stop], columns)))

    def cells(self, column: int, memory_limit: int) -> NDArray[Any]:
        return self.values[:, column]


def open_held(path: Path, options: OpenOptions, arrays_in: Callable[[Path], Mapping[str, NamedArray]]) -> HeldTable:
    """The array `options.key` of a file of several, or the only one that can be rows."""
    arrays = arrays_in(path)
    chosen = arrays[choose_array(path, arrays, options.key)]
    table = HeldTable(path, chosen.shape, partial(chosen.read, options.memory_limit), options.memory_limit)
    table.arrays_in = arrays_in
    return table


def rows_of_shape(shape: Sequence[int], where: str) -> tuple[int, int, tuple[int, ...]]:
    """Numbers of rows and columns, and the shape of one row, of a stored array (n, p) or (n, height, width, ...)."""
    if len(shape) > 2 and all(shape[1:]):
        return int(shape[0]), math.prod(map(int, shape[1:])), tuple(map(int, shape[1:]))
    n_rows, n_columns = check_shape(shape, where)
    return n_rows, n_columns, (n_columns,)
