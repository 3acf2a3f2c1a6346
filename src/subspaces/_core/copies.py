"""Copies of rows: which rows are the first of their kind."""

from __future__ import annotations

import numpy as np

from subspaces._core.arrays import Array, Indices


def first_copies(x: Array) -> Indices | None:
    """Ascending indices (m,) of the rows of `x` (n, p) that equal no earlier row; None if all differ."""
    # -0.0 + 0.0 is 0.0, so that equal numbers have equal bits.
    rows = np.ascontiguousarray(x) + 0.0
    # A hash of each row: its bits times odd numbers. If all hashes differ, all rows do.
    bits = rows.view(np.uint32 if rows.itemsize == 4 else np.uint64).astype(np.uint64, copy=False)
    factors = np.random.default_rng(0).integers(2**62, size=rows.shape[1], dtype=np.uint64) * 2 + 1
    if len(np.unique(bits @ factors)) == len(rows):
        return None
    first = np.unique(rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel(), return_index=True)[1]
    return None if len(first) == len(rows) else np.sort(first)
