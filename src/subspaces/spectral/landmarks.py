"""Landmark points: a few rows, or means of rows, that summarise where the data lie."""

from __future__ import annotations

import numpy as np

from subspaces._core.arrays import Array
from subspaces.spectral.kmeans import move_centers
from subspaces.spectral.thresholds import LLOYD_STEPS, ROWS_PER_LANDMARK


def choose_landmarks(x: Array, count: int, *, method: str, rng: np.random.RandomState) -> Array:
    """`count` landmark points for the rows of `x` (n, p): (min(count, n), p).

    `method="random"` samples rows; `"kmeans"` moves them by a few Lloyd steps on a sample of the rows, which
    spreads them evenly and averages noise out. With `count >= n` every row is a landmark.
    """
    if count >= len(x):
        return x.copy()
    if method == "random":
        return x[rng.choice(len(x), count, replace=False)]
    sample = x[rng.choice(len(x), min(len(x), ROWS_PER_LANDMARK * count), replace=False)]
    start = sample[rng.choice(len(sample), count, replace=False)]
    return move_centers(sample, start[None], max_iter=LLOYD_STEPS, tolerance=0)[0]
