"""The dimension of flats, chosen as the knee of the level of noise that they leave."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array
from subspaces._core.progress import note
from subspaces.flats.candidates import lbf_starts, sample_rows
from subspaces.flats.kflats import best_kflats, rounding
from subspaces.flats.thresholds import (
    CAP_MEDIANS,
    FEW_COLUMNS,
    MAX_DIM,
    POINTS_FACTOR,
    SEARCH_ROWS,
    SEARCH_STARTS,
    SEARCH_STEPS,
)


def noise_levels(
    x: Array, n_clusters: int, *, affine: bool, rng: np.random.RandomState
) -> tuple[list[int], NDArray[np.float64]]:
    """Candidate dimensions, and the logarithm of the noise that `n_clusters` flats of each leave in `x` (n, p).

    The noise falls until the dimension reaches that of the subspaces, and little beyond.
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
    """Candidate dimensions of flats in the space of `x` (n, p).

    With few columns, lines and planes cannot be far apart, so points (affine flats of dimension 0) are tried as well.
    """
    return list(range(0 if affine and x.shape[1] <= FEW_COLUMNS else 1, min(MAX_DIM, x.shape[1] - 1) + 1))


def level_knee(dims: list[int], levels: NDArray[np.float64]) -> int:
    """Index of the best of `dims` by their levels of noise: the knee, or 0 unless others lower the noise clearly."""
    if dims[0] > 0:
        return knee(levels)
    return 0 if levels[0] - levels.min() < np.log(POINTS_FACTOR) else 1 + knee(levels[1:])


def log_level(distances: Array, codimension: int, floor: float) -> float:
    """Logarithm of the noise level, estimated from the `distances` (n,) of rows to flats, robust to outliers.

    Isotropic noise moves rows off a flat by sqrt(codimension) times its size; `floor` is the distance due to rounding.
    """
    capped = np.minimum(distances, CAP_MEDIANS * np.median(distances)).mean(dtype=np.float64)
    return float(np.log(max(capped, floor)) - np.log(codimension) / 2)


def knee(values: NDArray[np.float64]) -> int:
    """Index of the value farthest below the chord from the first to the last; 0 if none is below."""
    return int((np.linspace(values[0], values[-1], len(values)) - values).argmax())
