"""Rows in files: each file is a table, and tables one after another are a source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.arrays import Array, Indices
from subspaces.rows.sources._base import BLOCK_SHARE, FeedOptions, RowSource
from subspaces.rows.sources._reading import UnreadableError
from subspaces.rows.sources._recut import recut

# A chunk is unpacked as a whole; reading less of it at a time unpacks it again each time.
CHUNK_SHARE = 4
# Wanted rows that are further apart than this are read one by one.
GAP_BYTES = 2**17

Reader = Callable[[int, int], NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Table(ABC):
    """The rows of one file. It holds what was learnt when it was opened, and no open file: it pickles small."""

    path: Path
    n_rows: int
    n_columns: int  # those that were asked for
    dtype: np.dtype[Any]  # of blocks
    column_names: tuple[str, ...] | None

    @abstractmethod
    def pieces(self, start: int, rows: int, memory_limit: int) -> Iterator[NDArray[Any]]:
        """The rows from `start` on in arrays (b, p) of any dtype, made for the caller; b is `rows` where it can be."""

    @abstractmethod
    def take_into(self, out: Array, index: Indices, memory_limit: int) -> None:
        """Fill `out` (m, p) with the rows at ascending `index` (m,)."""


@dataclass(frozen=True, eq=False)
class SliceTable(Table):
    """A table of which any rows can be read at once."""

    stored_row_bytes: int  # of all columns, as stored
    chunk_rows: int  # rows that are stored, and unpacked, together

    @property
    def gap_bytes(self) -> int:
        """How much is better read in vain than by another call."""
        return GAP_BYTES

    @abstractmethod
    def reader(self, memory_limit: int) -> AbstractContextManager[Reader]:
        """A function that reads the rows from start to stop as an array (stop - start, p), while the file is open."""

    def pieces(self, start: int, rows: int, memory_limit: int) -> Iterator[NDArray[Any]]:
        step = self._step(rows, memory_limit)
        with self.reader(memory_limit) as read:
            # Pieces end with chunks: a multiple of the step, wherever the first one starts.
            while start < self.n_rows:
                stop = min(self.n_rows, start + step if self.chunk_rows == 1 else (start // step + 1) * step)
                yield read(start, stop)
                start = stop

    def take_into(self, out: Array, index: Indices, memory_limit: int) -> None:
        cell = index // self._step(self.gap_bytes // self.stored_row_bytes, memory_limit)
        bounds = [0, *(np.flatnonzero(np.diff(cell)) + 1), len(index)]
        with self.reader(memory_limit) as read:
            for start, stop in pairwise(bounds):
                first = int(index[start])
                out[start:stop] = read(first, int(index[stop - 1]) + 1)[index[start:stop] - first]

    def _step(self, rows: int, memory_limit: int) -> int:
        """How many rows to read at once when `rows` are wanted."""
        rows = max(1, min(rows, memory_limit // BLOCK_SHARE // self.stored_row_bytes))
        if self.chunk_rows * self.stored_row_bytes > memory_limit // CHUNK_SHARE:
            return rows
        return max(1, rows // self.chunk_rows) * self.chunk_rows


class FileRows(RowSource):
    """The rows of one table after another."""

    def __init__(self, tables: tuple[Table, ...], options: FeedOptions) -> None:
        self.tables, self.options = tables, options
        self.n_columns, self.column_names = tables[0].n_columns, tables[0].column_names
        self.dtype = np.result_type(*(table.dtype for table in tables))
        self._starts = np.cumsum([0, *(table.n_rows for table in tables)])

    @property
    def n_rows(self) -> int:
        return int(self._starts[-1])

    def blocks(self, start: int = 0) -> Iterator[Array]:
        row, size = self._first_row(start), self.block_rows
        pieces = chain.from_iterable(
            _whole(table, max(0, row - int(first)), size, self.options.memory_limit)
            for table, first in zip(self.tables, self._starts[:-1], strict=True)
            if row < first + table.n_rows
        )
        return recut(pieces, size, self.dtype, n_rows=max(0, self.n_rows - row), fresh=True)

    def take(self, index: ArrayLike) -> Array:
        wanted = self._check_index(index)
        out = np.empty((len(wanted), self.n_columns), self.dtype)
        bounds = np.searchsorted(wanted, self._starts)
        for table, first, start, stop in zip(self.tables, self._starts[:-1], bounds[:-1], bounds[1:], strict=True):
            if start < stop:
                table.take_into(out[start:stop], wanted[start:stop] - first, self.options.memory_limit)
        return out


def _whole(table: Table, start: int, rows: int, memory_limit: int) -> Iterator[NDArray[Any]]:
    """The pieces of a table, as many rows as it said when it was opened."""
    left = table.n_rows - start
    for piece in table.pieces(start, rows, memory_limit):
        left -= len(piece)
        if left < 0:
            break
        yield piece
        del piece
    if left:
        raise UnreadableError(f"{table.path} holds other than the {table.n_rows} rows it tells of: write it again.")
