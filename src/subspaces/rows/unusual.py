"""Notice columns that are unlikely to be meant for clustering."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# From this many rows on, values that all increase are not a coincidence.
LEAST_ROWS = 10
# A column that varies this many times as much as the median column dominates all distances.
LARGE_SPREAD = 100.0


def unusual_columns(rows: NDArray[np.floating], names: tuple[str, ...]) -> list[str]:
    """One line for each column of rows (n, p) that numbers the rows, or has a much larger scale than others."""
    if len(rows) < LEAST_ROWS or rows.shape[1] < 2:
        return []
    whole = np.flatnonzero((rows[: 10 * LEAST_ROWS] % 1 == 0).all(axis=0))
    counting = [j for j in whole if (np.diff(rows[:, j]) > 0).all() and (rows[:, j] % 1 == 0).all()]
    found = [f"column {names[j]!r} numbers the rows: leave it out (drop)" for j in counting]
    spreads = rows.std(axis=0, dtype=np.float64)
    spreads[counting] = 0
    varying = spreads[spreads > 0]
    if len(varying) > 1 and spreads.max() > LARGE_SPREAD * np.median(varying):
        found.append(
            f"column {names[int(spreads.argmax())]!r} varies {spreads.max() / np.median(varying):.0f} times as much as "
            "the median column and dominates distances: standardise the columns, unless all have the same unit"
        )
    return found
