"""Tables of cells that are text: which cells are numbers, which are missing values, which are something else."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Indices
from subspaces.rows.columns import first_places, shown
from subspaces.rows.formats.base import Content, WalkedTable
from subspaces.rows.formats.keyed import text_array
from subspaces.rows.memory import HELD_SHARE
from subspaces.rows.reading import UnreadableError

# Cells that stand for a missing value, in lower case.
MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "?"})
# About what a cell that is kept as text takes besides its content.
CELL_BYTES = 60
BOOLEANS = {"true": 1.0, "false": 0.0}


class Tally:
    """Counts which cells of some columns are numbers, and remembers the first that is not."""

    def __init__(self, n_columns: int, *, decimal_comma: bool = False) -> None:
        self.n_rows = 0
        self._numbers, self._others = np.zeros(n_columns, np.int64), np.zeros(n_columns, np.int64)
        self._first: dict[int, tuple[int, str]] = {}
        self._booleans = np.zeros(n_columns, np.bool_)
        self._decimal_comma = decimal_comma

    def add(self, cells: Sequence[Any]) -> NDArray[np.float64]:
        """The numbers (b, q) in further rows: a pyarrow array of strings for each column. NaN for all other cells."""
        values = np.empty((len(cells[0]) if cells else 0, len(self._numbers)))
        for place, column in enumerate(cells):
            values[:, place], odd, booleans = to_numbers(column, decimal_comma=self._decimal_comma)
            self._booleans[place] |= booleans
            self._others[place] += len(odd)
            if odd:
                self._first.setdefault(place, (self.n_rows + odd[0], column[odd[0]].as_py()))
        self._numbers += len(values) - np.isnan(values).sum(axis=0)
        self.n_rows += len(values)
        return values

    def contents(self) -> list[Content]:
        """What was found in each column."""
        return [
            Content(int(numbers), int(others), first=self._first.get(place), booleans=bool(self._booleans[place]))
            for place, (numbers, others) in enumerate(zip(self._numbers, self._others, strict=True))
        ]


class CellTable(WalkedTable):
    """A table whose cells are text; it is read once to find the columns of numbers, and kept if it fits."""

    decimal_comma = False

    def __init__(self) -> None:
        self.n_rows = 0
        # Values (b, q) of the columns in `_held_columns`; None if they do not fit into memory.
        self._held: list[NDArray[np.float64]] | None = None
        self._held_columns: tuple[int, ...] = ()
        self._text: dict[int, list[str]] = {}

    @abstractmethod
    def chunks(self, columns: Sequence[int]) -> Iterator[list[Any]]:
        """The rows in pieces: for each column a pyarrow array of strings."""

    def survey(self, columns: Sequence[int], text: Sequence[int], room: int) -> list[Content]:
        tally = Tally(len(columns), decimal_comma=self.decimal_comma)
        self._text = {column: [] for column in text}
        held: list[NDArray[np.float64]] | None = []
        used = 0
        for chunk in self.chunks([*columns, *text]):
            values = tally.add(chunk[: len(columns)])
            for column, cells in zip(text, chunk[len(columns) :], strict=True):
                used += len(cells) * CELL_BYTES + cells.nbytes
                if used > room:
                    self.n_rows = tally.n_rows
                    raise self.too_many_cells(HELD_SHARE * room)
                self._text[column] += [cell.strip(" ") for cell in cells.to_pylist()]
            if held is not None and tally.n_rows * len(columns) * 8 <= room:
                held.append(values)
            else:
                held = None
        self.n_rows, self._held, self._held_columns = tally.n_rows, held, tuple(columns)
        return tally.contents()

    def dtype_of(self, columns: Indices | None) -> np.dtype[Any]:
        return np.dtype(np.float64)

    def pieces(self, columns: Indices | None, start: int, rows: int, memory_limit: int) -> Iterator[NDArray[Any]]:
        wanted = list(range(self.n_columns)) if columns is None else [int(column) for column in columns]
        row = 0
        for values in self._values(wanted):
            if row + len(values) > start:
                yield values[max(0, start - row) :]
            row += len(values)

    def _values(self, columns: list[int]) -> Iterator[NDArray[np.float64]]:
        """All rows (b, q) of some columns, from memory or from the file."""
        if self._held is not None and set(columns) <= set(self._held_columns):
            held = first_places(self._held_columns)
            places = [held[column] for column in columns]
            for block in self._held:
                yield block[:, places]
            return
        tally = Tally(len(columns), decimal_comma=self.decimal_comma)
        for chunk in self.chunks(columns):
            values = tally.add(chunk)
            odd = next((content.first for content in tally.contents() if content.first), None)
            if odd is not None:
                raise UnreadableError(
                    f"{self.place(odd[0])} now holds {shown(odd[1])}: {self.path} has changed since it was opened; "
                    "open it again."
                )
            yield values

    def cells(self, column: int, memory_limit: int) -> NDArray[Any]:
        return text_array(self._text[column], f"{self.path}, column {shown(self.column_names[column])},", memory_limit)


def to_number(cell: str, *, decimal_comma: bool = False) -> float | None:
    """The number in a cell, NaN for a missing value, None for text; true and false are 1 and 0.

    >>> to_number(" 1.5 "), to_number("NA"), to_number("x"), to_number("1,5", decimal_comma=True)
    (1.5, nan, None, 1.5)
    """
    plain = cell.strip().strip('"')
    if plain.lower() in MISSING:
        return float("nan")
    # Python reads 1_000 as a number, but in a table it is a name.
    if "_" in plain or (decimal_comma and "." in plain):
        return None
    try:
        return float(plain.replace(",", ".", 1) if decimal_comma and not plain.endswith(",") else plain)
    except ValueError:
        return BOOLEANS.get(plain.lower())


def is_number(cell: str, *, decimal_comma: bool = False) -> bool:
    """Whether a cell holds a number: neither text nor a missing value."""
    value = to_number(cell, decimal_comma=decimal_comma)
    return value is not None and value == value


def to_numbers(cells: Any, *, decimal_comma: bool) -> tuple[NDArray[np.float64], list[int], bool]:
    """Numbers (b,) of a pyarrow array of strings, NaN for missing values and text, and the positions of text.

    The last value is whether some cells are true or false, which become 1 and 0.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    # Most columns are plain numbers, and most others have blanks, missing values or decimal commas besides.
    for prepare in (_unchanged, _plain):
        prepared = prepare(cells, decimal_comma)
        try:
            if prepared is not None:
                return pc.cast(prepared, pa.float64()).to_numpy(zero_copy_only=False).copy(), [], False
        except pa.ArrowInvalid:
            pass
    words = cells.to_pylist()
    found = [to_number(cell, decimal_comma=decimal_comma) for cell in words]
    text = [place for place, value in enumerate(found) if value is None]
    booleans = any(word.strip().strip('"').lower() in BOOLEANS for word in words)
    return np.asarray([np.nan if value is None else value for value in found], np.float64), text, booleans


def _unchanged(cells: Any, decimal_comma: bool) -> Any:
    return None if decimal_comma else cells


def _plain(cells: Any, decimal_comma: bool) -> Any:
    """Cells without blanks around them, null for missing values, and with decimal points; None if that is ambiguous."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = pc.utf8_trim_whitespace(cells)
    plain = pc.if_else(pc.is_in(pc.utf8_lower(plain), pa.array(sorted(MISSING))), None, plain)
    if not decimal_comma:
        return plain
    if pc.any(pc.match_substring_regex(plain, r"\.|,$")).as_py():
        return None
    return pc.replace_substring(plain, ",", ".", max_replacements=1)
