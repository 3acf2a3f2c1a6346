"""Rows in Parquet files, read by pyarrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Indices
from subspaces.rows.formats.arrow import TEXT, ArrowTable, as_cells
from subspaces.rows.formats.base import ARROW_BYTES, OpenOptions
from subspaces.rows.formats.cells import CELL_BYTES
from subspaces.rows.formats.parquet_footer import check_levels
from subspaces.rows.formats.parquet_pages import PageSizes
from subspaces.rows.memory import BLOCK_SHARE, HELD_SHARE
from subspaces.rows.reading import UnreadableError, check_file, read_each, reading, require

# Bytes of a column that are read at once: fewer if many columns share the memory.
BUFFER_BYTES = (4096, 2**16)
# A page of each column is held unpacked besides the rows.
BATCH_SHARE = 2 * BLOCK_SHARE
# Cells that are read at once as Python objects.
CELL_ROWS = 10_000
# pandas stores the index of a dataframe in columns of such names.
INDEX_PREFIX = "__index_level_"


@dataclass(frozen=True, slots=True)
class _Opened:
    """An open file, and which of its columns are read as dictionaries."""

    file: Any
    words: frozenset[int]


class ParquetTable(ArrowTable):
    """The columns of a Parquet file; missing values become NaN."""

    path: Path
    column_bytes = ARROW_BYTES

    def __init__(self, path: Path, schema: Any, n_rows: int, memory_limit: int) -> None:
        super().__init__(path, schema.names, schema.types, n_rows)
        self._memory_limit, self._pages = memory_limit, PageSizes(path)
        if not self.names:
            raise UnreadableError(f"{path} has no columns: a minimum of 1 is required.")
        if len(set(self.names)) < len(self.names):
            repeated = Counter(self.names).most_common(1)[0][0]
            raise UnreadableError(f"{path} has several columns {repeated!r}: give each its own name.")
        self.index_columns = tuple(i for i, name in enumerate(self.names) if name.startswith(INDEX_PREFIX))

    def pieces(self, columns: Indices | None, start: int, rows: int, memory_limit: int) -> Iterator[NDArray[Any]]:
        with self._opened(columns, memory_limit) as opened:
            starts = _group_starts(opened.file)
            # If several groups begin at `start`, all but the last are empty.
            first = int(np.searchsorted(starts, start, side="right")) - 1
            groups = range(first, len(starts) - 1)
            yield from self._batches(opened, columns, groups, start - int(starts[first]), rows, memory_limit)

    def take_into(self, out: Array, columns: Indices | None, index: Indices, memory_limit: int) -> None:
        with self._opened(columns, memory_limit) as opened:
            starts = _group_starts(opened.file)
            bounds = np.searchsorted(index, starts)
            for group in np.flatnonzero(np.diff(bounds)):
                place, stop = int(bounds[group]), int(bounds[group + 1])
                row = int(index[place])
                skip = row - int(starts[group])
                for batch in self._batches(opened, columns, range(group, group + 1), skip, self.n_rows, memory_limit):
                    end = place + int(np.searchsorted(index[place:stop], row + len(batch)))
                    out[place:end] = batch[index[place:end] - row]
                    place, row = end, row + len(batch)
                    if place == stop:
                        break

    def text_parts(self, columns: Sequence[int]) -> Iterator[list[Any]]:
        with self._opened(np.asarray(columns), self._memory_limit) as opened:
            for batch in self._read(opened, CELL_ROWS, None, columns, self._memory_limit):
                yield [batch.column(batch.schema.get_field_index(self.names[column])) for column in columns]

    def cells(self, column: int, memory_limit: int) -> NDArray[Any]:
        found: list[Any] = []
        with self._opened(np.asarray([column]), memory_limit, as_words=False) as opened:
            used = _count_values(opened.file, self._leaves(opened.file, [column])) * CELL_BYTES
            if used > memory_limit // HELD_SHARE:
                raise self.too_many_cells(memory_limit)
            for batch in self._read(opened, CELL_ROWS, None, [column], memory_limit):
                used += batch.nbytes
                # Few stored bytes may stand for many cells.
                if used > memory_limit // HELD_SHARE:
                    raise self.too_many_cells(memory_limit)
                found += batch.column(0).to_pylist()
        return as_cells(found, f"{self.path}, column {self.names[column]!r},", memory_limit)

    @contextmanager
    def _opened(self, columns: Indices | None, memory_limit: int, *, as_words: bool = True) -> Iterator[_Opened]:
        """The file; if `as_words`, columns of text are read as dictionaries if possible."""
        positions = self.listed(columns)
        share = memory_limit // BLOCK_SHARE // max(1, len(positions))
        buffer_bytes = min(max(BUFFER_BYTES[0], share), BUFFER_BYTES[1])
        with _parquet_file(self.path, buffer_bytes) as file:
            if file.metadata.num_rows != self.n_rows:
                raise self.changed()
            words = self._words(file, positions, memory_limit) if as_words else []
            if not words:
                yield _Opened(file, frozenset())
                return
        # As dictionaries, in which a cell that is repeated takes its memory once.
        names = [self.names[position] for position in words]
        with _parquet_file(self.path, buffer_bytes, names, file.metadata) as file:
            yield _Opened(file, frozenset(words))

    def _words(self, file: Any, positions: Sequence[int], memory_limit: int) -> list[int]:
        """Columns of text that can be read as dictionaries, for which cells that are not stored so are collected."""
        text = [position for position in positions if self.kinds.get(position) == TEXT]
        if not text or not file.metadata.num_row_groups:
            return []
        pages = self._check_pages(file, range(file.metadata.num_row_groups), self._leaves(file, text), memory_limit)
        collected = np.cumsum(pages["collected"].max(axis=0))
        return [position for place, position in enumerate(text) if collected[place] <= memory_limit // BLOCK_SHARE]

    def _leaves(self, file: Any, positions: Sequence[int]) -> list[int]:
        """Positions of the stored columns that make up some columns: several for a column of lists or records."""
        if file.metadata.num_columns == self.n_columns:
            return list(positions)
        roots = {self.names[position] for position in positions}
        paths = [file.schema.column(place).path for place in range(file.metadata.num_columns)]
        return [place for place, path in enumerate(paths) if any(path.startswith(root) for root in roots)]

    def _check_pages(self, file: Any, groups: range, leaves: Sequence[int], memory_limit: int) -> NDArray[Any]:
        with reading(self.path, "Parquet", *_errors()):
            return self._pages.check(file.metadata, groups, leaves, memory_limit)

    def _batches(
        self, opened: _Opened, columns: Indices | None, groups: range, skip: int, rows: int, memory_limit: int
    ) -> Iterator[NDArray[np.floating[Any]]]:
        """Rows of some row groups without the first `skip`, as arrays (b, q)."""
        positions = self.listed(columns)
        names = [self.names[column] for column in positions]
        dtype = self.dtype_of(columns)
        step = max(1, min(rows, memory_limit // BATCH_SHARE // (8 * len(names))))
        for batch in self._read(opened, step, groups, positions, memory_limit):
            if skip < batch.num_rows:
                kept = batch.slice(skip)
                found = np.empty((kept.num_rows, len(names)), dtype)
                for place, (position, name) in enumerate(zip(positions, names, strict=True)):
                    found[:, place] = self.floats(position, kept.column(kept.schema.get_field_index(name)))
                yield found
            skip = max(0, skip - batch.num_rows)

    def _read(
        self, opened: _Opened, step: int, groups: range | None, positions: Sequence[int], memory_limit: int
    ) -> Iterator[Any]:
        """Batches of up to `step` rows of some row groups, or of all, whose pages fit into memory."""
        file = opened.file
        groups = range(file.metadata.num_row_groups) if groups is None else groups
        self._check_pages(file, groups, self._leaves(file, positions), memory_limit)
        row_bytes = np.zeros(len(groups), np.int64)
        for kind, wanted in (("word", opened.words), ("cell", self.kinds.keys() - opened.words)):
            leaves = self._leaves(file, [position for position in positions if position in wanted])
            row_bytes += self._check_pages(file, groups, leaves, memory_limit)[kind].sum(axis=1)
        step = max(1, min(step, memory_limit // BLOCK_SHARE // max(1, int(row_bytes.max(initial=0)))))
        names = [self.names[position] for position in positions]
        batches = file.iter_batches(step, row_groups=list(groups), columns=names)
        yield from read_each(batches, self.path, "Parquet", *_errors())


def open_table(path: Path, options: OpenOptions) -> ParquetTable:
    """The columns of a Parquet file."""
    check_file(path)
    with _parquet_file(path, BUFFER_BYTES[1]) as file:
        schema, n_rows, starts = file.schema_arrow, int(file.metadata.num_rows), _group_starts(file)
    if (np.diff(starts) < 0).any() or starts[-1] != n_rows:
        raise UnreadableError(f"{path} is damaged: its parts have other numbers of rows than it says; write it again.")
    return ParquetTable(path, schema, n_rows, options.memory_limit)


def _parquet_file(path: Path, buffer_bytes: int, dictionaries: Sequence[str] = (), metadata: Any = None) -> Any:
    parquet = require("pyarrow.parquet", path)
    with reading(path, "Parquet", *_errors()):
        # Read with small buffers; mapped files and whole row groups read ahead would count as memory.
        file = parquet.ParquetFile(
            path, metadata=metadata, buffer_size=buffer_bytes, pre_buffer=False, read_dictionary=list(dictionaries)
        )
        if metadata is None:
            check_levels(path, file.schema)
        return file


def _errors() -> tuple[type[Exception], ...]:
    from pyarrow import ArrowException

    # Names that are not UTF-8 show only when they are decoded.
    return (ArrowException, UnicodeError)


def _group_starts(file: Any) -> Indices:
    """The first row of each row group, and the number of rows."""
    counts = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
    return np.cumsum([0, *counts])


def _count_values(file: Any, leaves: Sequence[int]) -> int:
    """Number of values of some stored columns, of which lists have several in a row."""
    groups = (file.metadata.row_group(group) for group in range(file.metadata.num_row_groups))
    return sum(group.column(leaf).num_values for group in groups for leaf in leaves)
