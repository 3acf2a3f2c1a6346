"""The dimension of flats: the one after which the noise that rows seem to have falls no more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array

# Dimensions up to this are considered.
MAX_DIM = 12
# Up to this many columns, clusters may be points.
FEW_COLUMNS = 3
# Distances beyond this many medians count as much as that: outliers would hide how the others fit.
CAP_MEDIANS = 3.0


def search_dims(x: Array, affine: bool) -> list[int]:
    """The dimensions among which that of flats in the space of `x` (n, p) is chosen.

    Few columns leave lines and planes no room to be apart: there points, flats of dimension 0, are considered too.
    """
    return list(range(0 if affine and x.shape[1] <= FEW_COLUMNS else 1, min(MAX_DIM, x.shape[1] - 1) + 1))


def level_knee(dims: list[int], levels: NDArray[np.float64]) -> int:
    """Index of the best of `dims` by their levels of noise: the knee, or 0 unless others lower the level to half."""
    if dims[0] > 0:
        return knee(levels)
    return 0 if levels[0] - levels.min() < np.log(2) else 1 + knee(levels[1:])


def log_level(distances: Array, codimension: int, floor: float) -> float:
    """Logarithm of the size of noise that leaves rows at `distances` (n,) to flats, outliers set aside.

    Noise of equal size in all directions leaves rows at a distance of sqrt(codimension) times that size; `floor` is the
    distance that rounding makes.
    """
    capped = np.minimum(distances, CAP_MEDIANS * np.median(distances)).mean(dtype=np.float64)
    return float(np.log(max(capped, floor)) - np.log(codimension) / 2)


def knee(values: NDArray[np.float64]) -> int:
    """Index of the value farthest below the chord from the first to the last; the first where none is."""
    return int((np.linspace(values[0], values[-1], len(values)) - values).argmax())
