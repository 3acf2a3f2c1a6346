"""The dimension of flats, chosen as the knee of the level of noise that they leave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array
from subspaces._core.progress import note
from subspaces.flats.candidates import lbf_starts, sample_rows
from subspaces.flats.description import describe
from subspaces.flats.kflats import best_kflats, rounding
from subspaces.flats.thresholds import (
    CAP_MEDIANS,
    FEW_COLUMNS,
    MAX_DIM,
    SEARCH_ROWS,
    SEARCH_STARTS,
    SEARCH_STEPS,
)


@dataclass(frozen=True, slots=True, eq=False)
class DimensionSearch:
    """How well K flats of each dimension fit a sample of the rows."""

    dims: list[int]
    levels: NDArray[np.float64]  # logarithm of the noise that is left
    nats: NDArray[np.float64] | None  # per row, of a description by the clusters; None unless points are a candidate

    @property
    def best(self) -> int:
        """Index of the best dimension: the knee of the noise, or points unless flats have a shorter description."""
        if self.nats is None:
            return knee(self.levels)
        flat = 1 + knee(self.levels[1:])
        # Copies of a few rows leave no noise around points.
        return 0 if self.nats[0] <= self.nats[flat] or self.levels[0] <= self.levels[flat] else flat


def search_dimension(x: Array, n_clusters: int, *, affine: bool, rng: np.random.RandomState) -> DimensionSearch:
    """Fit `n_clusters` flats of each candidate dimension to a sample of the rows of `x` (n, p).

    The noise falls until the dimension reaches that of the subspaces, and little beyond. Lines always leave less noise
    than points, so that points are compared by description length.
    """
    sample = sample_rows(x, SEARCH_ROWS, rng)
    dims = search_dims(x, affine)
    levels, nats = [], []
    for dim in dims:
        starts = lbf_starts(sample, n_clusters, dim, affine=affine, n_starts=SEARCH_STARTS, rng=rng)
        fit = best_kflats(sample, starts, affine=affine, loss="median", max_iter=SEARCH_STEPS)
        levels.append(log_level(fit.distances, x.shape[1] - dim, rounding(sample, affine)))
        if dims[0] == 0:
            nats.append(describe(sample, fit.labels, n_clusters, affine=affine).length / len(sample))
    note(f"logarithm of the noise level for subspace_dim={dims}: {np.round(levels, 3)}")
    return DimensionSearch(dims, np.array(levels), np.array(nats) if nats else None)


def choose_dim(x: Array, n_clusters: int, *, affine: bool, rng: np.random.RandomState) -> int:
    """The dimension beyond which `n_clusters` flats fit the rows of `x` (n, p) hardly better."""
    search = search_dimension(x, n_clusters, affine=affine, rng=rng)
    return search.dims[search.best]


def search_dims(x: Array, affine: bool) -> list[int]:
    """Candidate dimensions of flats in the space of `x` (n, p).

    With few columns, lines and planes cannot be far apart, so points (affine flats of dimension 0) are tried as well.
    """
    return list(range(0 if affine and x.shape[1] <= FEW_COLUMNS else 1, min(MAX_DIM, x.shape[1] - 1) + 1))


def log_level(distances: Array, codimension: int, floor: float) -> float:
    """Logarithm of the noise level, estimated from the `distances` (n,) of rows to flats, robust to outliers.

    Isotropic noise moves rows off a flat by sqrt(codimension) times its size; `floor` is the distance due to rounding.
    """
    capped = np.minimum(distances, CAP_MEDIANS * np.median(distances)).mean(dtype=np.float64)
    return float(np.log(max(capped, floor)) - np.log(codimension) / 2)


def knee(values: NDArray[np.float64]) -> int:
    """Index of the value farthest below the chord from the first to the last; 0 if none is below."""
    return int((np.linspace(values[0], values[-1], len(values)) - values).argmax())
