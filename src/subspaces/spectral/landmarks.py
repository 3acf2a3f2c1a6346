"""Landmark points: a few rows, or means of rows, that summarise where the data lie."""

from __future__ import annotations

import numpy as np

from subspaces._core.arrays import Array, Indices
from subspaces._core.copies import first_copies
from subspaces.spectral.kmeans import move_centers
from subspaces.spectral.thresholds import LLOYD_STEPS, ROWS_PER_LANDMARK


def choose_landmarks(x: Array, count: int, *, method: str, rng: np.random.RandomState) -> Array:
    """`count` landmark points for the rows of `x` (n, p): (min(count, m), p) if m of the rows are distinct.

    `method="random"` samples rows; `"kmeans"` moves them by a few Lloyd steps on a sample of the rows, which
    spreads them evenly and averages noise out. With `count >= m` every row is a landmark. Copies of a row are one
    landmark, because copies of a landmark would be the nearest of each other.
    """
    distinct = first_copies(x)
    if count >= len(x if distinct is None else distinct):
        return x.copy() if distinct is None else x[distinct]
    if method == "random":
        return x[_draw_distinct(x, count, rng, distinct)]
    sample = x[rng.choice(len(x), min(len(x), ROWS_PER_LANDMARK * count), replace=False)]
    start = sample[_draw_distinct(sample, count, rng, None if distinct is None else first_copies(sample))]
    return move_centers(sample, start[None], max_iter=LLOYD_STEPS, tolerance=0)[0]


def _draw_distinct(x: Array, count: int, rng: np.random.RandomState, distinct: Indices | None) -> Indices:
    """Indices (count,) of random rows of `x` (n, p), distinct if these are known to be fewer than all rows.

    A row with copies is as much more likely to be drawn. If there are fewer distinct rows, some are drawn twice.
    """
    if distinct is None:
        return rng.choice(len(x), count, replace=False)
    order = rng.permutation(len(x))
    first = first_copies(x[order])
    chosen = order if first is None else order[first]
    return np.resize(chosen, count)
