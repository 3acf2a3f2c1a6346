"""Columns that people hardly mean to cluster by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# So many rows that all differ and ascend do not do so by chance.
LEAST_ROWS = 10
# A column whose spread is so many times the usual one decides alone.
LARGE_SPREAD = 100.0


def odd_columns(rows: NDArray[np.floating], names: tuple[str, ...]) -> list[str]:
    """What to say of columns of rows (n, p) that count the rows, or that are of another unit than the others."""
    if len(rows) < LEAST_ROWS or rows.shape[1] < 2:
        return []
    whole = np.flatnonzero((rows[: 10 * LEAST_ROWS] % 1 == 0).all(axis=0))
    counting = [j for j in whole if (np.diff(rows[:, j]) > 0).all() and (rows[:, j] % 1 == 0).all()]
    said = [f"column {names[j]!r} counts the rows: leave it out by --drop" for j in counting]
    spreads = rows.std(axis=0, dtype=np.float64)
    spreads[counting] = 0
    varying = spreads[spreads > 0]
    if len(varying) > 1 and spreads.max() > LARGE_SPREAD * np.median(varying):
        said.append(
            f"column {names[int(spreads.argmax())]!r} varies {spreads.max() / np.median(varying):.0f} times as much as "
            "columns usually do, and decides alone: --standardise, unless all are of one unit"
        )
    return said
