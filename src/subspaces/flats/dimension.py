"""The dimension of flats: the one after which the noise that rows seem to have falls no more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array
from subspaces._core.progress import note
from subspaces.flats.candidates import lbf_starts, sample_rows
from subspaces.flats.kflats import best_kflats, rounding

# Dimensions up to this are considered.
MAX_DIM = 12
# Up to this many columns, clusters may be points.
FEW_COLUMNS = 3
# Distances beyond this many medians count as much as that: outliers would hide how the others fit.
CAP_MEDIANS = 3.0
# The dimension is chosen on at most this many rows, with few starts and steps.
SEARCH_ROWS = 4000
SEARCH_STARTS = 3
SEARCH_STEPS = 30


def noise_levels(
    x: Array, n_clusters: int, *, affine: bool, rng: np.random.RandomState
) -> tuple[list[int], NDArray[np.float64]]:
    """Dimensions of flats, and the logarithm of the noise that `n_clusters` flats of each leave in `x` (n, p).

    The noise falls while the dimension grows to that of the subspaces, and hardly after.
    """
    sample = sample_rows(x, SEARCH_ROWS, rng)
    dims = search_dims(x, affine)
    levels = []
    for dim in dims:
        starts = lbf_starts(sample, n_clusters, dim, affine=affine, n_starts=SEARCH_STARTS, rng=rng)
        fit = best_kflats(sample, starts, affine=affine, loss="median", max_iter=SEARCH_STEPS)
        levels.append(log_level(fit.distances, x.shape[1] - dim, rounding(sample, affine)))
    note(f"logarithm of the noise level for subspace_dim={dims}: {np.round(levels, 3)}")
    return dims, np.array(levels)


def choose_dim(x: Array, n_clusters: int, *, affine: bool, rng: np.random.RandomState) -> int:
    """The dimension beyond which `n_clusters` flats fit the rows of `x` (n, p) hardly better."""
    dims, levels = noise_levels(x, n_clusters, affine=affine, rng=rng)
    return dims[level_knee(dims, levels)]


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
