"""Candidate flats at random rows, and the greedy choice of those that fit all rows best: the mathematics of LBF."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Indices
from subspaces._core.blocks import row_blocks
from subspaces.flats.distances import distances_to
from subspaces.flats.fitting import fit_flats
from subspaces.flats.flats import Flats
from subspaces.flats.neighborhoods import Beta2, local_flats, rows_to_fit
from subspaces.flats.thresholds import (
    CANDIDATES_PER_CLUSTER,
    MAX_GREEDY_ROUNDS,
    MAX_POOL_ROWS,
    ROWS_PER_FLAT,
    SMALL_NEIGHBORHOOD,
    TABLE_ENTRIES,
)

PUBLISHED_SIZES = Beta2()
# Energies that differ by a smaller share are equal up to rounding.
ROUNDING = 1e-10
# Rows of a table that are summed at once: few enough for the cache of a core. Speed only.
TILE_BYTES = 2**18


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

    All rows are used if the table stays small.
    """
    rows = sample_rows(x, max(TABLE_ENTRIES // len(flats), ROWS_PER_FLAT * n_chosen), rng)
    table = distances_to(flats)(rows)
    return np.sqrt(table, out=table)


class LocalFlats:
    """Flats of dimension `dim` at random rows of `x` (n, p); each is fitted once, when it is needed.

    Without a rule, neighbourhoods have a few rows more than a flat passes through, which is faster than to grow them.
    """

    def __init__(
        self, x: Array, dim: int, *, affine: bool, rng: np.random.RandomState, neighborhood: Beta2 | None = None
    ) -> None:
        self._x, self._dim, self._affine = x, dim, affine
        self._neighborhood = SMALL_NEIGHBORHOOD * (dim + 1) if neighborhood is None else neighborhood
        self._pool = rows_to_fit(x, dim)
        self._centers = self._pool[rng.permutation(len(self._pool))]
        self._flats: list[Flats] = []
        self._tables: list[Array] = []

    def best(self, count: int, n_candidates: int, *, n_starts: int, rng: np.random.RandomState) -> Flats:
        """The `count` of `n_candidates` flats that fit all rows best."""
        needed = min(n_candidates, len(self._centers))
        known = sum(map(len, self._flats))
        if known < needed:
            centers = self._centers[known:needed]
            found = local_flats(self._pool, centers, self._dim, self._neighborhood, affine=self._affine)[0]
            self._flats.append(found)
            self._tables.append(np.sqrt(distances_to(found)(self._x)))
        bases = np.concatenate([each.bases for each in self._flats])
        centers = np.concatenate([each.centers for each in self._flats])
        table = np.hstack(self._tables)[:, :needed]
        index = choose_flats(table, count, n_starts=n_starts, rng=rng).index
        return Flats(centers[index], bases[index])


def choose_flats(
    distances: Array, n_flats: int, *, n_starts: int, rng: np.random.RandomState, max_rounds: int = MAX_GREEDY_ROUNDS
) -> ChosenFlats:
    """Choose `n_flats` columns of `distances` (n, m) of low energy, the sum over rows of their minimum.

    From each of `n_starts` random choices, each slot in turn takes the column that lowers the energy most while the
    others stay, until a round over all slots changes nothing (Algorithm 1 of Zhang, Szlam, Wang and Lerman, IJCV
    2012). Returns the best result. A column is chosen twice only if there are fewer than `n_flats`.
    """
    table = np.ascontiguousarray(distances)
    choices = [_descend(table, _start(table.shape[1], n_flats, rng), max_rounds) for _ in range(n_starts)]
    return min(choices, key=lambda choice: choice.energy)


def _start(n_columns: int, count: int, rng: np.random.RandomState) -> Indices:
    return rng.choice(n_columns, count, replace=n_columns < count)


def _descend(table: Array, chosen: Indices, max_rounds: int) -> ChosenFlats:
    """Improve the `chosen` columns of the `table` (n, m) slot by slot.

    Without a slot, only its own rows move, to their second nearest column. So the energies of all replacements are
    those with all slots, `joined` (m,), plus a sum over those rows, and `joined` changes only by rows that moved.
    """
    count, n = len(chosen), len(table)
    unchanged = 0
    owner, near, second = _nearest_two(table[:, chosen])
    joined = _clipped_sums(table, np.arange(n), np.zeros_like(near), near)
    for step in range(max_rounds * count):
        slot = step % count
        own = np.flatnonzero(owner == slot)
        energies = joined + _clipped_sums(table, own, near[own], second[own])
        best = int(energies.argmin())
        # A column that is already chosen lowers nothing, so no column is chosen twice; on ties nothing changes.
        if energies[best] < (1 - ROUNDING) * energies[chosen[slot]]:
            chosen = chosen.copy()
            chosen[slot], unchanged = best, 0
            before = near
            owner, near, second = _nearest_two(table[:, chosen])
            moved = np.flatnonzero(near != before)
            joined += _clipped_sums(table, moved, before[moved], near[moved])
        else:
            unchanged += 1
        if unchanged == count:
            break
    return ChosenFlats(chosen, float(near.sum(dtype=np.float64)))


def _nearest_two(columns: Array) -> tuple[Indices, Array, Array]:
    """The nearest of K columns (n, K), its distance, and that of the second nearest, infinite if there is none."""
    owner = columns.argmin(axis=1)
    every = np.arange(len(columns))
    near = columns[every, owner]
    columns[every, owner] = np.inf
    return owner, near, columns.min(axis=1)


def _clipped_sums(table: Array, rows: Indices, before: Array, after: Array) -> NDArray[np.float64]:
    """Sum over `rows` of min(t, after) - min(t, before), t the entries of each column of the `table` (n, m): (m,)."""
    low, high = np.minimum(before, after)[:, None], np.maximum(before, after)[:, None]
    signs = np.where(after > before, 1.0, -1.0)
    total = np.full(table.shape[1], -float(signs @ low[:, 0].astype(np.float64)))
    for block in row_blocks(len(rows), table.shape[1] * 8, budget=TILE_BYTES):
        entries = table[rows[block]]
        np.minimum(entries, high[block], out=entries)
        np.maximum(entries, low[block], out=entries)
        total += signs[block] @ entries.astype(np.float64, copy=False)
    return total


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
