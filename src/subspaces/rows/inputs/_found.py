"""What a reader of any format hands over: rows in which NaN is what is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces.rows.sources import RowSource

# Rows are held in memory where they take no more of the limit: work on them takes as much again.
MEMORY_SHARE = 2


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for."""

    paths: tuple[Path, ...]
    key: str | None
    columns: Any
    drop: Any
    truth: str | int | None
    names: str | int | None
    memory_limit: int  # bytes
    image_size: tuple[int, int] | None  # (height, width)

    def fits(self, n_rows: int, n_columns: int, itemsize: int) -> bool:
        """Whether rows (n, p) of numbers of `itemsize` bytes can be held in memory."""
        return n_rows * n_columns * itemsize <= self.memory_limit // MEMORY_SHARE


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was read."""

    rows: NDArray[Any] | RowSource  # (n, p), NaN where a value is missing
    columns: tuple[str, ...]
    place: Callable[[int], str]  # where a row is, by its number from 0 on: "rows.csv, line 7"
    row_names: Sequence[str] | None = None
    truth: NDArray[Any] | None = None
    image_shape: tuple[int, ...] | None = None
    notes: list[str] = field(default_factory=list)


def as_truth(values: NDArray[Any] | Sequence[Any]) -> NDArray[Any]:
    """True classes (n,) as integers where all are whole numbers in their plain form, and as strings elsewhere.

    >>> as_truth(["1", "2.0"]), as_truth(["a", "2"]), as_truth(["007", "7"])
    (array([1, 2]), array(['a', '2'], dtype='<U1'), array(['007', '7'], dtype='<U3'))
    """
    found = np.asarray(values)
    if found.dtype.kind in "iub":
        return found.astype(np.int64)
    try:
        numbers = found.astype(np.float64)
    except (ValueError, TypeError):
        numbers = None
    # Beyond 2^53 whole numbers are rounded, and two classes could become one.
    if numbers is not None and np.all(np.abs(numbers) < 2**53) and np.all(numbers == np.round(numbers)):
        whole = numbers.astype(np.int64)
        # Other forms, as 007 and 7, may be the names of two classes.
        if found.dtype.kind == "f" or all(map(_is_plain, found.tolist(), whole.tolist())):
            return whole
    return np.asarray([_text(value) for value in found.tolist()])


def _is_plain(value: Any, number: int) -> bool:
    return not isinstance(value, str | bytes) or _text(value) in (str(number), f"{number}.0")


def _text(value: Any) -> str:
    return (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)).strip()


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where a row is among files one after another, by its number from 0 on."""

    paths: tuple[Path, ...]
    counts: tuple[int, ...]  # rows of each file
    lines: tuple[NDArray[np.int64], ...] | None = None  # the line that each row of each file begins in, where known

    def __call__(self, row: int) -> str:
        starts = np.cumsum([0, *self.counts])
        # A file without rows begins where the next one does.
        part = int(np.searchsorted(starts, row, side="right")) - 1
        inside = row - int(starts[part])
        where = f"row {inside + 1}" if self.lines is None else f"line {self.lines[part][inside]}"
        return f"{self.paths[part]}, {where}"
