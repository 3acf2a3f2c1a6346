"""Landmark points: a few rows, or means of rows, that summarise where the data lie."""

from __future__ import annotations

import numpy as np

from subspaces._core.arrays import Array, Indices
from subspaces._core.copies import first_copies
from subspaces.spectral.kmeans import move_centers
from subspaces.spectral.thresholds import LLOYD_STEPS, ROWS_PER_LANDMARK


def choose_landmarks(x: Array, count: int, *, method: str, rng: np.random.RandomState, distinct: bool = False) -> Array:
    """`count` landmark points for the rows of `x` (n, p): (min(count, n), p).

    `method="random"` samples rows; `"kmeans"` moves them by a few Lloyd steps on a sample of the rows, which
    spreads them evenly and averages noise out. With `count >= n` every row is a landmark. If `distinct`, copies of a
    row are one landmark, and n is the number of distinct rows.
    """
    first = first_copies(x) if distinct else None
    if count >= len(x if first is None else first):
        return x.copy() if first is None else x[first]
    if method == "random":
        return x[_random_rows(x, count, rng, distinct=first is not None)]
    sample = x[rng.choice(len(x), min(len(x), ROWS_PER_LANDMARK * count), replace=False)]
    start = sample[_random_rows(sample, count, rng, distinct=first is not None)]
    return move_centers(sample, start[None], max_iter=LLOYD_STEPS, tolerance=0)[0]


def _random_rows(x: Array, count: int, rng: np.random.RandomState, *, distinct: bool) -> Indices:
    """Indices (count,) of random rows of `x` (n, p); `distinct` ones if there are as many.

    A row with copies is as much more likely to be drawn.
    """
    if not distinct:
        return rng.choice(len(x), count, replace=False)
    order = rng.permutation(len(x))
    chosen = first_copies(x[order])
    return np.resize(order if chosen is None else order[chosen], count)
