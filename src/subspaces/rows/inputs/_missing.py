"""Values that are missing, infinite or too large: told with their places, dropped or filled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.arrays import Array, Indices
from subspaces._core.blocks import row_blocks
from subspaces.rows.inputs._columns import listed, shown
from subspaces.rows.inputs._found import Found
from subspaces.rows.inputs._mapped import MappedRows, WrappedRows
from subspaces.rows.sources import RowSource
from subspaces.rows.sources._reading import UnreadableError
from subspaces.rows.sources._recut import recut

Place = Callable[[int], str]
REMEDY = 'drop such rows or fill in column means, by --missing drop or mean (missing="drop" or "mean")'


def clean(found: Found, missing: str) -> tuple[NDArray[Any] | RowSource, Indices | None, list[str]]:
    """Rows (n, p) without anything missing, the numbers of those kept if some were dropped, and notes.

    Rows in blocks are checked when they are read, unless some are to be dropped or filled, which takes a pass.
    """
    if isinstance(found.rows, RowSource) and missing == "error":
        return CheckedRows(found.rows, found.columns, found.place), None, []
    survey = _survey(found)
    notes = [] if isinstance(found.rows, RowSource) else _constant_note(survey, found.columns)
    if not survey.n_missing:
        return found.rows, None, notes
    if missing == "error":
        raise _missing_error(survey.n_missing, survey.first, found.columns, found.place)
    if missing == "drop":
        kept = np.flatnonzero(survey.complete)
        if not len(kept):
            raise UnreadableError(f"every one of the {len(survey.complete)} rows misses a value: fill them (mean).")
        dropped = len(survey.complete) - len(kept)
        notes.append(f"{dropped} of {len(survey.complete)} rows with missing values dropped")
        return _kept_rows(found.rows, kept), kept, notes
    empty = np.flatnonzero(survey.counts == 0)
    if len(empty):
        name = found.columns[int(empty[0])]
        raise UnreadableError(f"column {shown(name)} holds no number, and has no mean: leave it out (--drop).")
    means = survey.sums / survey.counts
    notes.append(f"{survey.n_missing} missing values filled with the means of their columns")
    return _filled_rows(found.rows, means), None, notes


@dataclass(slots=True, eq=False)
class _Survey:
    """What a pass over rows (n, p) tells."""

    complete: NDArray[np.bool_]  # (n,) whether a row misses nothing
    n_missing: int
    first: tuple[int, int]  # row and column of the first missing value
    counts: NDArray[np.int64]  # (p,) how many values are there
    sums: NDArray[np.float64]  # (p,)
    low: NDArray[np.float64]  # (p,)
    high: NDArray[np.float64]  # (p,)


def _survey(found: Found) -> _Survey:
    p = len(found.columns)
    survey = _Survey(
        np.zeros(0, np.bool_), 0, (0, 0), np.zeros(p, np.int64), np.zeros(p), np.full(p, np.inf), np.full(p, -np.inf)
    )
    complete = []
    start = 0
    for block in _blocks(found.rows):
        check_values(block, found.columns, lambda row, start=start: found.place(start + row))  # type: ignore[misc]
        gone = np.isnan(block)
        there = ~gone
        complete.append(there.all(axis=1))
        count = int(gone.sum())
        if count and not survey.n_missing:
            row, column = (int(each) for each in np.argwhere(gone)[0])
            survey.first = (start + row, column)
        survey.n_missing += count
        survey.counts += there.sum(axis=0)
        survey.sums += np.sum(block, axis=0, where=there, dtype=np.float64)
        survey.low = np.minimum(survey.low, np.min(block, axis=0, where=there, initial=np.inf))
        survey.high = np.maximum(survey.high, np.max(block, axis=0, where=there, initial=-np.inf))
        start += len(block)
    survey.complete = np.concatenate(complete)
    return survey


def check_values(block: Array, columns: tuple[str, ...], place: Place) -> None:
    """Refuse a block (b, p) of rows that holds infinite values, or such whose squares are; `place` tells where a row
    of the block is.
    """
    limit = float(np.sqrt(np.finfo(block.dtype).max / (4 * block.shape[1])))
    low, high = block.min(initial=0, where=~np.isnan(block)), block.max(initial=0, where=~np.isnan(block))
    if max(-float(low), float(high)) <= limit:
        return
    odd = np.abs(block) > limit
    row, column = (int(each) for each in np.argwhere(odd)[0])
    value = float(block[row, column])
    at = f"{place(row)}, column {shown(columns[column])}"
    if np.isinf(value):
        count = int(np.isinf(block).sum())
        raise UnreadableError(
            f"{at} holds an infinite value{f' (and {count - 1} more follow)' if count > 1 else ''}: put a number "
            "there, or leave the cell empty and treat it as missing (--missing)."
        )
    raise UnreadableError(
        f"{at} holds {value:.3g}, whose square overflows {block.dtype}: divide the column by a constant, or leave it "
        "out (--drop)."
    )


def _missing_error(count: int, first: tuple[int, int], columns: tuple[str, ...], place: Place) -> UnreadableError:
    values = "1 value is" if count == 1 else f"{count} values are"
    return UnreadableError(
        f"{values} missing, the first in {place(first[0])}, column {shown(columns[first[1]])}: {REMEDY}."
    )


def _constant_note(survey: _Survey, columns: tuple[str, ...]) -> list[str]:
    if len(survey.complete) < 2:
        return []
    constant = [columns[place] for place in np.flatnonzero(survey.low == survey.high)]
    return [f"{len(constant)} constant column{'s' * (len(constant) > 1)}: {listed(constant)}"] if constant else []


def _blocks(rows: NDArray[Any] | RowSource) -> Iterator[Array]:
    if isinstance(rows, RowSource):
        return rows.blocks()
    return (rows[block] for block in row_blocks(len(rows), rows.shape[1] * rows.itemsize))


def _kept_rows(rows: NDArray[Any] | RowSource, kept: Indices) -> NDArray[Any] | RowSource:
    return KeptRows(rows, kept) if isinstance(rows, RowSource) else rows[kept]


def _filled_rows(rows: NDArray[Any] | RowSource, means: NDArray[np.float64]) -> NDArray[Any] | RowSource:
    if isinstance(rows, RowSource):
        return MappedRows(rows, partial(_filled, means=means), rows.n_columns, rows.column_names)
    for block in row_blocks(len(rows), rows.shape[1] * rows.itemsize):
        rows[block] = _filled(rows[block], means)
    return rows


def _filled(block: Array, means: NDArray[np.float64]) -> Array:
    return np.where(np.isnan(block), means.astype(block.dtype), block)


class CheckedRows(WrappedRows):
    """Rows of which each block is checked when it is read."""

    def __init__(self, source: RowSource, columns: tuple[str, ...], place: Place) -> None:
        super().__init__(source)
        self._columns, self._place = columns, place

    def blocks(self, start: int = 0) -> Iterator[Array]:
        row = self._first_row(start)
        for block in self.source.blocks(start):
            self._check(block, np.arange(row, row + len(block)))
            row += len(block)
            yield block

    def take(self, index: ArrayLike) -> Array:
        wanted = self._check_index(index)
        rows = self.source.take(wanted)
        self._check(rows, wanted)
        return rows

    def _check(self, rows: Array, numbers: Indices) -> None:
        """Refuse rows (b, p) with these numbers (b,) if something is missing or too large."""
        gone = np.isnan(rows)
        if gone.any():
            row, column = (int(each) for each in np.argwhere(gone)[0])
            at = f"{self._place(int(numbers[row]))}, column {shown(self._columns[column])}"
            raise UnreadableError(f"{at} has a missing value: {REMEDY}.")
        check_values(rows, self._columns, lambda row: self._place(int(numbers[row])))


class KeptRows(WrappedRows):
    """The rows with numbers `kept` (m,)."""

    def __init__(self, source: RowSource, kept: Indices) -> None:
        super().__init__(source)
        self._kept = kept

    @property
    def n_rows(self) -> int:
        return len(self._kept)

    def blocks(self, start: int = 0) -> Iterator[Array]:
        row = self._first_row(start)
        return recut(self._pieces(row), self.block_rows, self.dtype, n_rows=max(0, self.n_rows - row))

    def take(self, index: ArrayLike) -> Array:
        return self.source.take(self._kept[self._check_index(index)])

    def _pieces(self, start: int) -> Iterator[Array]:
        """The rows kept, from number `start` among them on."""
        if start >= len(self._kept):
            return
        number = int(self._kept[start]) // self.block_rows
        row = number * self.block_rows
        for block in self.source.blocks(number):
            stop = int(np.searchsorted(self._kept, row + len(block)))
            yield block[self._kept[start:stop] - row]
            start, row = stop, row + len(block)
