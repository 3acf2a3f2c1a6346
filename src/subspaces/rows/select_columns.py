"""Rows of stored tables one after another, and the choice of their columns.

`select_rows` is the one place that decides which columns of a file or dataframe become rows: those that the caller
chose, or all that hold numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.arrays import Array, Indices
from subspaces._core.errors import InputError, UserTypeError
from subspaces.rows.columns import (
    ColumnChoice,
    OneColumnChoice,
    Wanted,
    choose,
    first_places,
    left_out_note,
    listed,
    shown,
)
from subspaces.rows.formats import KEYED
from subspaces.rows.formats.base import Content, OpenOptions, StoredTable
from subspaces.rows.memory import HELD_SHARE
from subspaces.rows.paths import FoundFile
from subspaces.rows.reading import UnreadableError
from subspaces.rows.recut import recut
from subspaces.rows.source import FeedOptions, RowSource


class TableRows(RowSource):
    """The rows of one table after another."""

    def __init__(
        self,
        tables: Sequence[StoredTable],
        columns: Sequence[Indices | None],
        names: tuple[str, ...],
        options: FeedOptions,
    ) -> None:
        self.tables, self._columns, self.options = tuple(tables), tuple(columns), options
        self.n_columns = len(names)
        self.column_names = None if tables[0].names is None else names
        self.dtype = np.result_type(*(table.dtype_of(each) for table, each in zip(tables, columns, strict=True)))
        self._starts = np.cumsum([0, *(table.n_rows for table in tables)])

    @property
    def n_rows(self) -> int:
        return int(self._starts[-1])

    def blocks(self, start: int = 0) -> Iterator[Array]:
        row, size = self._first_row(start), self.block_rows
        pieces = chain.from_iterable(
            self._pieces(number, max(0, row - int(first)), size)
            for number, first in enumerate(self._starts[:-1])
            if row < first + self.tables[number].n_rows
        )
        return recut(pieces, size, self.dtype, n_rows=max(0, self.n_rows - row), fresh=True)

    def take(self, index: ArrayLike) -> Array:
        wanted = self._check_index(index)
        out = np.empty((len(wanted), self.n_columns), self.dtype)
        bounds = np.searchsorted(wanted, self._starts)
        for number, table in enumerate(self.tables):
            start, stop = bounds[number], bounds[number + 1]
            if start < stop:
                inside = wanted[start:stop] - self._starts[number]
                table.take_into(out[start:stop], self._columns[number], inside, self.options.memory_limit)
        return out

    def place(self, row: int) -> str:
        """The file and the row or line of row number `row`, for messages."""
        # A table without rows begins where the next one does.
        part = int(np.searchsorted(self._starts, row, side="right")) - 1
        return self.tables[part].place(row - int(self._starts[part]))

    def _pieces(self, number: int, start: int, rows: int) -> Iterator[NDArray[Any]]:
        """The rows of a table from `start` on; their number must be the one it had when it was opened."""
        table = self.tables[number]
        left = table.n_rows - start
        for piece in table.pieces(self._columns[number], start, rows, self.options.memory_limit):
            left -= len(piece)
            if left < 0:
                break
            yield piece
            # Do not hold this piece while the next one is read.
            del piece
        if left:
            raise table.changed()


@dataclass(frozen=True, slots=True)
class Selected:
    """Rows, and which other columns of their tables the caller named."""

    rows: TableRows
    columns: tuple[str, ...]  # names of the p columns
    truth: list[int] | None  # position in each table
    row_names: list[int] | None
    notes: list[str]  # what the user should know
    left_out: str | None  # note about columns that were left out because they do not hold numbers


def open_tables(files: Sequence[FoundFile], options: OpenOptions, ignored: int = 0) -> list[StoredTable]:
    """Open files by their formats."""
    for file in files:
        if options.key is not None and not isinstance(options.key, str):
            raise UserTypeError(f"key={options.key!r} must be the name of an array or sheet.", parameter="key")
        if options.key is not None and not file.format.takes_key:
            raise InputError(
                f"key={options.key!r} names an array or sheet of a file that may hold several ({KEYED}), but "
                f"{file.path} holds one table: leave it out.",
                parameter="key",
            )
    if files[0].format.together:
        paths, roots = [file.path for file in files], [file.root for file in files]
        tables = [files[0].format.open(paths, roots, options, ignored)]
    else:
        tables = [file.format.open(file.path, options) for file in files]
    for table in tables:
        table.count_from = options.count_from
    return tables


def _check_columns(table: StoredTable, memory_limit: int) -> None:
    """Refuse a table if the columns that it claims do not fit into the memory limit, even without values."""
    if table.n_columns * table.column_bytes > memory_limit:
        raise UnreadableError(
            f"{table.path} has {table.n_columns:,} columns, too many for memory_limit={memory_limit / 1e9:.3g}GB: "
            "raise it, or store fewer columns (smaller images)."
        )


def select_rows(
    tables: Sequence[StoredTable],
    options: FeedOptions,
    *,
    columns: ColumnChoice | None,
    drop: ColumnChoice | None = None,
    truth: OneColumnChoice | None = None,
    row_names: OneColumnChoice | None = None,
) -> Selected:
    """The rows of tables: the chosen columns, or all that hold numbers, in the order of the first table."""
    first = tables[0]
    for table in tables:
        _check_columns(table, options.memory_limit)
    names = first.column_names
    wanted = choose(names, str(first.path), columns=columns, drop=drop, truth=truth, row_names=row_names)
    own = set() if wanted.explicit else set(first.index_columns)
    index = [column for column in wanted.rows if column in own]
    notes = []
    if index and len(index) < len(wanted.rows):
        wanted = Wanted([column for column in wanted.rows if column not in own], False, wanted.truth, wanted.names)
        notes.append(f"row names that pandas or R wrote are left out: {listed([names[column] for column in index])}")
    at = [_align(table, first, wanted) for table in tables]
    room = options.memory_limit // HELD_SHARE
    contents = []
    for table, place in zip(tables, at, strict=True):
        text = [place[column] for column in (wanted.truth, wanted.names) if column is not None]
        contents.append(table.survey([place[column] for column in wanted.rows], text, max(0, room)))
        room -= 8 * len(wanted.rows) * table.n_rows
    if not any(table.n_rows for table in tables):
        raise UnreadableError(f"{first.path} has no rows: a minimum of 1 is required.")
    kept, left_out = _numeric(tables, contents, wanted)
    notes += [] if left_out is None else [left_out]
    notes += _boolean_note(names, contents, wanted, kept)
    chosen = [[place[column] for column in kept] for place in at]
    indices = [
        None if each == list(range(table.n_columns)) else np.asarray(each, np.intp)
        for table, each in zip(tables, chosen, strict=True)
    ]
    kept_names = tuple(names[column] for column in kept)
    return Selected(
        TableRows(tables, indices, kept_names, options),
        kept_names,
        None if wanted.truth is None else [place[wanted.truth] for place in at],
        None if wanted.names is None else [place[wanted.names] for place in at],
        [note for table in tables for note in table.notes] + notes,
        left_out,
    )


def _align(table: StoredTable, first: StoredTable, wanted: Wanted) -> dict[int, int]:
    """Where the columns of the first table are in another one: by name if both have names, else by position."""
    used = [*wanted.rows, *(column for column in (wanted.truth, wanted.names) if column is not None)]
    if table.names is not None and first.names is not None:
        places = first_places(table.names)
        odd = sorted(places.keys() ^ set(first.names))
        missing = [first.names[column] for column in used if first.names[column] not in places]
        if missing or (odd and not wanted.explicit):
            raise InputError(
                f"{table.path} and {first.path} differ in column {shown((missing or odd)[0])}: give all files the same "
                "columns, or name those to read with columns=..."
            )
        return {column: places[first.names[column]] for column in used}
    if max(used) >= table.n_columns or (table.n_columns != first.n_columns and not wanted.explicit):
        raise InputError(
            f"{table.path} has {table.n_columns} columns, but {first.path} has {first.n_columns}: give all files the "
            "same columns, or choose those to read with columns=..."
        )
    return {column: column for column in used}


def _numeric(
    tables: Sequence[StoredTable], contents: Sequence[Sequence[Content]], wanted: Wanted
) -> tuple[list[int], str | None]:
    """The wanted columns that hold numbers; others are left out with a note, or refused if the caller chose them."""
    names = tables[0].column_names
    kept, left_out = [], []
    for place, column in enumerate(wanted.rows):
        found = [each[place] for each in contents]
        numbers, others = sum(each.numbers for each in found), sum(each.others for each in found)
        kind = next((each.kind for each in found if each.others), "empty")
        # A column is one of numbers if most cells are, and then the others are mistakes.
        if others and (numbers > others or (wanted.explicit and numbers)):
            raise _odd_cell(tables, found, names[column], others, numbers)
        if numbers and not others:
            kept.append(column)
        elif wanted.explicit:
            raise UnreadableError(
                f"{tables[0].path}, column {shown(names[column])} does not hold numbers ({kind}): leave it out of "
                "columns."
            )
        else:
            left_out.append(f"{shown(names[column])} ({f'mostly {kind}' if numbers else kind})")
    if not kept:
        raise UnreadableError(
            f"{tables[0].path} has no column that holds numbers: it has {', '.join(left_out[:5])}"
            f"{' and more' if left_out[5:] else ''}; convert text to numbers first, such as with pandas.to_numeric or "
            "pandas.get_dummies, or choose other columns."
        )
    return kept, left_out_note(left_out) if left_out else None


def _boolean_note(
    names: Sequence[str], contents: Sequence[Sequence[Content]], wanted: Wanted, kept: Sequence[int]
) -> list[str]:
    used = set(kept)
    found = [
        names[column]
        for place, column in enumerate(wanted.rows)
        if column in used and any(each[place].booleans for each in contents)
    ]
    verb = "hold" if len(found) > 1 else "holds"
    return [f"{listed(found)} {verb} true and false, which are used as 1 and 0"] if found else []


def _odd_cell(
    tables: Sequence[StoredTable], found: Sequence[Content], name: str, others: int, numbers: int
) -> UnreadableError:
    """The error for a cell that is not a number, in a column of numbers."""
    for table, content in zip(tables, found, strict=True):
        if content.first is not None:
            row, cell = content.first
            count = f"1 of {numbers + 1}" if others == 1 else f"{others} of {numbers + others}, the first"
            return UnreadableError(
                f"{table.place(row)}, column {shown(name)}: {shown(cell)} is not a number ({count}); correct it, leave "
                f"the cell empty if the value is missing, or leave the column out by drop={shown(name)}."
            )
    odd = next(table for table, content in zip(tables, found, strict=True) if content.others)
    return UnreadableError(f"{odd.path}, column {shown(name)} does not hold numbers, as it does in other files.")
