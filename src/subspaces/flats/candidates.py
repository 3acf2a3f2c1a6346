"""Candidate flats at random rows, and the greedy choice of those that fit all rows best: the mathematics of LBF."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from subspaces._core.arrays import Array, Indices
from subspaces._core.blocks import row_blocks
from subspaces.flats.distances import distance_row_bytes, distances_to
from subspaces.flats.fitting import fit_flats
from subspaces.flats.flats import Flats
from subspaces.flats.neighborhoods import Beta2, local_flats, rows_to_fit
from subspaces.flats.thresholds import (
    CANDIDATES_PER_CLUSTER,
    MAX_GREEDY_ROUNDS,
    MAX_POOL_ROWS,
    ROWS_PER_FLAT,
    TABLE_ENTRIES,
)

PUBLISHED_SIZES = Beta2()


@dataclass(frozen=True, slots=True)
class ChosenFlats:
    """Some of many candidate flats, and how well they fit."""

    index: Indices  # (k,), columns of the table of distances
    energy: float  # sum over rows of the distance to the nearest chosen flat


def candidate_flats(
    x: Array,
    count: int,
    dim: int,
    *,
    affine: bool,
    rng: np.random.RandomState,
    neighborhood: Beta2 | int = PUBLISHED_SIZES,
) -> Flats:
    """Local best-fit flats of dimension `dim` at `count` random distinct rows of `x` (n, p), or at all if fewer.

    The neighbourhood of each is a number of nearest rows, or grows until beta2 has its first local minimum.
    """
    pool = rows_to_fit(sample_rows(x, MAX_POOL_ROWS, rng), dim)
    centers = sample_rows(pool, count, rng)
    return local_flats(pool, centers, dim, neighborhood, affine=affine)[0]


def sample_rows(x: Array, count: int, rng: np.random.RandomState) -> Array:
    """At most `count` distinct rows of `x` (n, p) in random order; `x` itself if it has no more rows."""
    return x if len(x) <= count else x[rng.choice(len(x), count, replace=False)]


def distance_table(x: Array, flats: Flats, n_chosen: int, rng: np.random.RandomState) -> Array:
    """Distances (s, m) of a sample of the rows of `x` (n, p) to m flats, of which `n_chosen` are to be chosen.

    All rows are used if the table stays small. Columns are contiguous, as `choose_flats` reads them.
    """
    rows = sample_rows(x, max(TABLE_ENTRIES // len(flats), ROWS_PER_FLAT * n_chosen), rng)
    squared_distances = distances_to(flats)
    table = np.empty((len(flats), len(rows)), x.dtype)
    for block in row_blocks(len(rows), distance_row_bytes(flats, x.dtype)):
        table[:, block] = np.sqrt(squared_distances(rows[block])).T
    return table.T


def choose_flats(
    distances: Array, n_flats: int, *, n_starts: int, rng: np.random.RandomState, max_rounds: int = MAX_GREEDY_ROUNDS
) -> ChosenFlats:
    """Choose `n_flats` columns of `distances` (n, m) of low energy, the sum over rows of their minimum.

    From each of `n_starts` random choices, each slot in turn takes the column that lowers the energy most while the
    others stay, until a round over all slots changes nothing (Algorithm 1 of Zhang, Szlam, Wang and Lerman, IJCV
    2012). Returns the best result. A column is chosen twice only if there are fewer than `n_flats`.
    """
    columns = np.ascontiguousarray(distances.T)
    choices = [_descend(columns, _start(len(columns), n_flats, rng), max_rounds) for _ in range(n_starts)]
    return min(choices, key=lambda choice: choice.energy)


def _start(n_columns: int, count: int, rng: np.random.RandomState) -> Indices:
    return rng.choice(n_columns, count, replace=n_columns < count)


def _descend(columns: Array, chosen: Indices, max_rounds: int) -> ChosenFlats:
    """Improve the `chosen` of the `columns` (m, n) slot by slot."""
    count = len(chosen)
    unchanged = 0
    energy = float(columns[chosen].min(axis=0).sum(dtype=np.float64))
    for step in range(max_rounds * count):
        slot = step % count
        rest = columns[np.delete(chosen, slot)].min(axis=0, initial=np.inf)
        energies = _energies(columns, rest)
        best = int(energies.argmin())
        # A column that is already chosen lowers nothing, so no column is chosen twice; on ties nothing changes.
        if energies[best] < energies[chosen[slot]]:
            chosen = chosen.copy()
            chosen[slot], energy, unchanged = best, float(energies[best]), 0
        else:
            unchanged += 1
        if unchanged == count:
            break
    return ChosenFlats(chosen, energy)


def _energies(columns: Array, rest: Array) -> Array:
    """Sum over rows of the smaller of `rest` (n,) and each column (m, n): (m,)."""
    result = np.empty(len(columns))
    for block in row_blocks(len(columns), columns.shape[1] * columns.itemsize):
        result[block] = np.minimum(columns[block], rest).sum(axis=1, dtype=np.float64)
    return result


def lbf_starts(
    x: Array, n_clusters: int, dim: int, *, affine: bool, n_starts: int, rng: np.random.RandomState
) -> list[Flats]:
    """Starting flats for `fit_kflats`: several greedy choices among local best-fit flats of `x` (n, p)."""
    candidates = candidate_flats(x, CANDIDATES_PER_CLUSTER * n_clusters, dim, affine=affine, rng=rng)
    table = distance_table(x, candidates, n_clusters, rng)
    return [candidates[choose_flats(table, n_clusters, n_starts=1, rng=rng).index] for _ in range(n_starts)]


def random_starts(
    x: Array, n_clusters: int, dim: int, *, affine: bool, n_starts: int, rng: np.random.RandomState
) -> list[Flats]:
    """Starting flats for `fit_kflats`: each passes through a few random rows of `x` (n, p)."""
    size = min(dim + affine, len(x))
    draws = [[rng.choice(len(x), size, replace=False) for _ in range(n_clusters)] for _ in range(n_starts)]
    return [fit_flats(x, rows, dim, affine=affine)[0] for rows in draws]
