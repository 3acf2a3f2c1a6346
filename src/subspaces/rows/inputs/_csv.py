"""Tables of text: CSV and its kin, read in chunks; larger than memory, they are read again in each pass."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array
from subspaces.rows.inputs._cells import numbers
from subspaces.rows.inputs._columns import shown
from subspaces.rows.inputs._dialect import Dialect, rows_of
from subspaces.rows.inputs._text import TextFile
from subspaces.rows.sources import FeedOptions, RowSource
from subspaces.rows.sources._reading import UnreadableError
from subspaces.rows.sources._recut import recut

# A cell is a Python object of some 60 bytes for a moment.
CHUNK_CELLS = 200_000
# Lines are cut once for each column that is not read by NumPy; for more it is better to cut them into all cells.
SLOW_COLUMNS = 8


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a table of text."""

    file: TextFile
    dialect: Dialect
    order: tuple[int, ...]  # where each column of the first file is in this one


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Some rows of a table of text."""

    values: NDArray[np.float64]  # (b, q), NaN for what is missing or text
    cells: list[Sequence[str]]  # of each column that is wanted as text, (b,)
    lines: NDArray[np.int64]  # (b,) the line each row begins in
    odd: list[tuple[int, int, int, str]]  # of columns with text: position among q, how many cells, first line and cell


def chunks(part: Part, columns: Sequence[int], text: Sequence[int] = ()) -> Iterator[Chunk]:
    """The rows of a file: `columns` (q,) as numbers, those of `text` as they are written."""
    dialect = part.dialect
    width = len(dialect.names)
    wanted = [part.order[column] for column in columns]
    as_text = [part.order[column] for column in text]
    size = max(16, CHUNK_CELLS // width)
    # Columns, by place among those wanted, that were not all numbers in the chunk before.
    slow: frozenset[int] = frozenset()
    with part.file.lines() as stream:
        for _ in islice(stream, dialect.skip):
            pass
        line = dialect.skip + 1
        while lines := list(islice(stream, size)):
            used = len(lines)
            chunk = _by_numpy(lines, line, dialect, wanted, as_text, slow)
            if chunk is None:
                used, rows, starts = _rows(lines, stream, line, part)
                chunk = _chunk(rows, starts, dialect, wanted, as_text) if rows else None
                slow = frozenset() if chunk is None else frozenset(np.flatnonzero(np.isnan(chunk.values).any(axis=0)))
            line += used
            if chunk is not None:
                yield chunk


def _by_numpy(
    lines: list[str],
    first: int,
    dialect: Dialect,
    wanted: Sequence[int],
    as_text: Sequence[int],
    slow: frozenset[int],
) -> Chunk | None:
    """Lines in which no cell is quoted and all wanted ones are numbers, but for a few `slow` columns; None for others.

    The parser of NumPy is several times as fast as that of Python.
    """
    delimiter = dialect.delimiter
    live = [place for place in range(len(wanted)) if place not in slow]
    if dialect.decimal_comma or delimiter == " " or not live or len(slow) + len(as_text) > SLOW_COLUMNS:
        return None
    # A blank line is no row, but in a table of one column a blank may be a cell that is missing.
    blank = " \t\r\n" if len(dialect.names) > 1 else "\r\n"
    kept = [place for place, line in enumerate(lines) if line.strip(blank)]
    rows = lines if len(kept) == len(lines) else [lines[place] for place in kept]
    gaps = len(dialect.names) - 1
    if not rows or any(line.count(delimiter) != gaps or '"' in line for line in rows):
        return None
    try:
        numeric = np.loadtxt(
            rows, delimiter=delimiter, comments=None, usecols=[wanted[place] for place in live], ndmin=2
        )
    except ValueError:
        return None
    if len(numeric) != len(rows):
        return None
    starts = np.asarray(kept, np.int64) + first
    values = np.empty((len(rows), len(wanted)))
    values[:, live] = numeric
    odd = []
    for place in slow:
        cells = _column(rows, wanted[place], gaps, delimiter)
        values[:, place], text = numbers(cells, decimal_comma=False)
        if text:
            odd.append((place, len(text), int(starts[text[0]]), cells[text[0]]))
    return Chunk(values, [_column(rows, column, gaps, delimiter) for column in as_text], starts, odd)


def _column(rows: Sequence[str], column: int, gaps: int, delimiter: str) -> list[str]:
    """The cells of a column of lines without quotes, cut from the nearer end."""
    if column <= gaps - column:
        cells = (row.split(delimiter, column + 1)[column] for row in rows)
    else:
        cells = (row.rsplit(delimiter, gaps - column + 1)[column - gaps - 1] for row in rows)
    return [cell.lstrip(" ").rstrip("\r\n") for cell in cells]


def _rows(lines: list[str], stream: TextIO, first: int, part: Part) -> tuple[int, list[list[str]], list[int]]:
    """Rows of cells that begin in `lines`, the line each begins in, and how many lines they are; quoted cells may reach
    into the lines of the `stream` that follow.
    """
    dialect = part.dialect
    rows: list[list[str]] = []
    starts: list[int] = []
    width = len(dialect.names)
    used = 0

    def counted() -> Iterator[str]:
        nonlocal used
        for each in chain(lines, stream):
            used += 1
            yield each

    reader = rows_of(counted(), dialect.delimiter)
    while used < len(lines):
        at = first + used
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise UnreadableError(
                f"{part.file.path}, line {at}: {_csv_problem(error)}; mend the quotes of this row."
            ) from None
        if row is None:
            break
        if not row or (len(row) == 1 and not row[0].strip() and width > 1):
            continue
        if len(row) != width:
            raise UnreadableError(
                f"{part.file.path}, line {at}: {len(row)} cell{'s' * (len(row) != 1)} instead of {width} (delimiter "
                f"{dialect.delimiter_name}); mend the line, and quote cells that hold the delimiter."
            )
        rows.append(row)
        starts.append(at)
    return used, rows, starts


def _csv_problem(error: csv.Error) -> str:
    text = str(error)
    if "field larger" in text or "unexpected end" in text:
        return "a quoted cell that begins here does not end"
    return f"a cell is not quoted as it should be ({text})"


def _chunk(
    rows: list[list[str]], starts: list[int], dialect: Dialect, wanted: Sequence[int], as_text: Sequence[int]
) -> Chunk:
    columns = list(zip(*rows, strict=True))
    values = np.empty((len(rows), len(wanted)))
    odd = []
    for place, column in enumerate(wanted):
        values[:, place], text = numbers(columns[column], decimal_comma=dialect.decimal_comma)
        if text:
            odd.append((place, len(text), starts[text[0]], columns[column][text[0]]))
    return Chunk(values, [columns[column] for column in as_text], np.asarray(starts, np.int64), odd)


class CsvRows(RowSource):
    """Rows of tables of text one after another, read from the beginning in each pass."""

    def __init__(
        self, parts: Sequence[Part], columns: Sequence[int], names: tuple[str, ...], n_rows: int, options: FeedOptions
    ) -> None:
        self._parts, self._columns, self._n_rows = tuple(parts), tuple(columns), n_rows
        self.n_columns, self.column_names, self.options = len(names), names, options
        self.dtype = np.dtype(np.float64)

    @property
    def n_rows(self) -> int:
        return self._n_rows

    def blocks(self, start: int = 0) -> Iterator[Array]:
        row = self._first_row(start)
        return recut(self._pieces(row), self.block_rows, self.dtype, n_rows=max(0, self._n_rows - row), fresh=True)

    def _pieces(self, start: int) -> Iterator[NDArray[np.float64]]:
        """Arrays (any, p) of rows from number `start` on."""
        row = 0
        for part in self._parts:
            for chunk in chunks(part, self._columns):
                if chunk.odd:
                    _, _, line, cell = chunk.odd[0]
                    raise self._changed(f"line {line} now holds {shown(cell)}", part)
                row += len(chunk.values)
                if row > self._n_rows:
                    raise self._changed("it has more rows", part)
                if row > start:
                    yield chunk.values[max(0, start - row + len(chunk.values)) :]
        if row != self._n_rows:
            raise self._changed("it has fewer rows", self._parts[-1])

    def _changed(self, what: str, part: Part) -> UnreadableError:
        return UnreadableError(f"{part.file.path} has changed since it was opened, {what}: open it again.")
