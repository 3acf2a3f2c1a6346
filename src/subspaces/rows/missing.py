"""Missing values are refused, dropped or filled; infinite and too large ones are refused with their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.arrays import Array, Indices
from subspaces._core.blocks import row_blocks
from subspaces._core.validation import largest_value
from subspaces.rows.columns import listed, shown
from subspaces.rows.reading import UnreadableError
from subspaces.rows.recut import recut
from subspaces.rows.source import MappedRows, RowSource, WrappedRows

Place = Callable[[int], str]


class MissingValuesError(UnreadableError):
    """Values are missing."""

    def __init__(self, found: str) -> None:
        super().__init__(f'{found}: drop such rows with missing="drop", or fill in column means with missing="mean".')


@dataclass(frozen=True, slots=True, eq=False)
class Cleaned:
    """Rows (n, p) without missing values."""

    rows: NDArray[Any] | RowSource
    kept: Indices | None = None  # numbers of the rows kept, if some were dropped
    notes: tuple[str, ...] = ()
    means: NDArray[np.float64] | None = None  # (p,) of the values that were there; None if no pass has found them


def clean(
    rows: NDArray[Any] | RowSource, place: Place, columns: tuple[str, ...], missing: str | NDArray[np.float64]
) -> Cleaned:
    """Rows (n, p) without missing values, which are refused, dropped or filled with means, or with given values (p,).

    NaN is a missing value. Rows in blocks are checked when they are read, unless some are to be dropped or filled,
    which takes a pass. `place` says where a row is, for messages.
    """
    if isinstance(rows, RowSource) and isinstance(missing, str) and missing == "error":
        return Cleaned(CheckedRows(rows, columns, place))
    survey = _survey(rows, place, columns)
    notes = [] if isinstance(rows, RowSource) else _constant_note(survey, columns)
    means = survey.sums / survey.counts if survey.counts.all() else None
    if not survey.n_missing:
        return Cleaned(rows, None, tuple(notes), means)
    if not isinstance(missing, str):
        notes.append(f"{survey.n_missing} missing values filled with the given means of their columns")
        return Cleaned(_filled_rows(rows, missing), None, tuple(notes), missing)
    if missing == "error":
        values = "1 value is" if survey.n_missing == 1 else f"{survey.n_missing} values are"
        row, column = survey.first
        raise MissingValuesError(f"{values} missing, the first in {place(row)}, column {shown(columns[column])}")
    if missing == "drop":
        kept = np.flatnonzero(survey.complete)
        if not len(kept):
            raise UnreadableError(
                f'all {len(survey.complete)} rows have a missing value: fill them with missing="mean".'
            )
        dropped = len(survey.complete) - len(kept)
        notes.append(f"{dropped} of {len(survey.complete)} rows with missing values dropped")
        complete = KeptRows(rows, kept) if isinstance(rows, RowSource) else rows[kept]
        return Cleaned(complete, kept, tuple(notes), means)
    if means is None:
        name = columns[int(np.flatnonzero(survey.counts == 0)[0])]
        raise UnreadableError(
            f"column {shown(name)} has no values, and so no mean: leave it out by drop={shown(name)}."
        )
    notes.append(f"{survey.n_missing} missing values filled with the means of their columns")
    return Cleaned(_filled_rows(rows, means), None, tuple(notes), means)


@dataclass(slots=True, eq=False)
class _Survey:
    """Result of one pass over rows (n, p)."""

    complete: NDArray[np.bool_]  # (n,) whether a row has no missing value
    n_missing: int
    first: tuple[int, int]  # row and column of the first missing value
    counts: NDArray[np.int64]  # (p,) number of values
    sums: NDArray[np.float64]  # (p,)
    low: NDArray[np.float64]  # (p,)
    high: NDArray[np.float64]  # (p,)


def _survey(rows: NDArray[Any] | RowSource, place: Place, columns: tuple[str, ...]) -> _Survey:
    p = len(columns)
    survey = _Survey(
        np.zeros(0, np.bool_), 0, (0, 0), np.zeros(p, np.int64), np.zeros(p), np.full(p, np.inf), np.full(p, -np.inf)
    )
    complete = []
    start = 0
    for block in _blocks(rows):
        check_values(block, columns, lambda row, start=start: place(start + row))  # type: ignore[misc]
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
    """Refuse infinite values in a block (b, p) of rows, and values whose squares are infinite."""
    limit = largest_value(float(np.finfo(block.dtype).max), block.shape[1])
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
            "there, or leave the cell empty if the value is missing."
        )
    raise UnreadableError(
        f"{at} holds {value:.3g}, whose square overflows {block.dtype}: divide the column by a constant, or leave it "
        f"out by drop={shown(columns[column])}."
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


def _filled_rows(rows: NDArray[Any] | RowSource, means: NDArray[np.float64]) -> NDArray[Any] | RowSource:
    if isinstance(rows, RowSource):
        return MappedRows(rows, partial(_filled, means=means), rows.n_columns, rows.column_names)
    for block in row_blocks(len(rows), rows.shape[1] * rows.itemsize):
        rows[block] = _filled(rows[block], means)
    return rows


def _filled(block: Array, means: NDArray[np.float64]) -> Array:
    return np.where(np.isnan(block), means.astype(block.dtype), block)


class CheckedRows(WrappedRows):
    """Rows whose blocks are checked when they are read."""

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
        """Refuse missing, infinite and too large values in rows (b, p), which have these numbers (b,)."""
        gone = np.isnan(rows)
        if gone.any():
            row, column = (int(each) for each in np.argwhere(gone)[0])
            at = f"{self._place(int(numbers[row]))}, column {shown(self._columns[column])}"
            raise MissingValuesError(f"{at} has a missing value")
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
        """The kept rows, from number `start` among them on."""
        if start >= len(self._kept):
            return
        number = int(self._kept[start]) // self.block_rows
        row = number * self.block_rows
        for block in self.source.blocks(number):
            stop = int(np.searchsorted(self._kept, row + len(block)))
            yield block[self._kept[start:stop] - row]
            start, row = stop, row + len(block)
