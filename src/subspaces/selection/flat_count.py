"""The number of flat clusters: the number of flats with the shortest description of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from subspaces._core import progress
from subspaces._core.arrays import Array, Indices
from subspaces.flats.candidates import LocalFlats, sample_rows
from subspaces.flats.cells import (
    Floats,
    Moments,
    Space,
    background_lengths,
    cluster_moments,
    fit_backgrounds,
)
from subspaces.flats.description import Code, measure, shortest_codes
from subspaces.flats.flats import Flats
from subspaces.flats.kflats import assign_to_flats
from subspaces.flats.neighborhoods import rows_to_fit
from subspaces.selection.coding import clearly_longer, code_directions, is_described
from subspaces.selection.comparison import standard_error
from subspaces.selection.limits import COUNT_STARTS, FLAT_ROWS, START_CANDIDATES, START_DIMS
from subspaces.selection.record import Decision
from subspaces.selection.thresholds import N_ERRORS
from subspaces.spectral.kmeans import kmeans


def decide_n_clusters(
    x: Array,
    max_clusters: int,
    *,
    affine: bool,
    rng: np.random.RandomState,
    max_dim: int | None = None,
    grain: float = 0.0,
) -> Decision:
    """The fewest clusters, 1 to `max_clusters`, whose description of the rows of `x` (n, p) is about the shortest.

    Flats have at most `max_dim` dimensions; `grain` is as in `measure`.
    """
    # Copies of a row are not independent evidence.
    sample = rows_to_fit(sample_rows(x, FLAT_ROWS, rng), 1)
    sample = sample @ code_directions(sample, affine=affine)
    # Single rows are described well by clusters of their own.
    most = min(max_clusters, max(1, len(sample) // 2))
    codes = codes_by_count(sample, most, affine=affine, rng=rng, max_dim=max_dim, grain=grain)
    lengths = ", ".join(f"{codes[k].length:.0f} for {k}" for k in sorted(codes))
    progress.note(f"description length in nats by number of clusters: {lengths}")
    return _decision([codes[k] for k in sorted(codes)])


def codes_by_count(
    sample: Array,
    max_clusters: int,
    *,
    affine: bool,
    rng: np.random.RandomState,
    max_dim: int | None = None,
    min_clusters: int = 2,
    n_clusters: int | None = None,
    local: Sequence[LocalFlats] | None = None,
    grain: float = 0.0,
) -> dict[int, Code]:
    """The shortest codes found for the rows of `sample` (n, p): with 1 cluster, and `min_clusters` to `max_clusters`.

    Starting from `max_clusters` local flats of several dimensions, and from k-means, clusters are joined one after
    another. Then the best codes of all the numbers of clusters met on the way are shortened together; for `n_clusters`
    those of all starts are. `local` are candidates for the flats, if known; `grain` is as in `measure`.
    """
    space = measure(sample, affine=affine, max_dim=max_dim, grain=grain)
    count = min(max_clusters, len(sample))
    starts = []
    if count > 1:
        local = local_candidates(sample, start_dims(space.high), affine, rng) if local is None else local
        flats = [best_local_flats(each, count, rng) for each in local]
        starts = [assign_to_flats(sample, each).labels.astype(np.intp) for each in flats]
        starts.append(kmeans(sample, count, n_starts=1, rng=rng).labels[0].astype(np.intp))
    one, *found = shortest_codes(space, [np.zeros(len(sample), np.intp), *starts], count)
    found = [without_empty_cells(code) for code in dict.fromkeys(found)]
    joined = [each for code in found for each in joined_labels(code, max(min_clusters, 2))]
    least: dict[int, float] = {}
    for each in joined:
        least[each.count] = min(each.length, least.get(each.count, np.inf))
    fewer = [each.labels for each in joined if each.count == n_clusters or each.length <= least[each.count]]
    if fewer:
        found += map(without_empty_cells, dict.fromkeys(shortest_codes(space, fewer, count - 1)))
    codes = {1: without_empty_cells(one)}
    # One cluster has its own start; here the background would take most of its rows.
    for code in sorted(found, key=lambda each: -each.length):
        if len(code.cells) > 1:
            codes[len(code.cells)] = code
    return codes


def start_dims(high: int) -> list[int]:
    """Dimensions of the local flats at which a search begins, if flats have at most `high` dimensions."""
    return list(dict.fromkeys(min(dim, high) for dim in START_DIMS))


def without_empty_cells(code: Code) -> Code:
    """The same code without clusters that have no rows."""
    kept = [k for k, cell in enumerate(code.cells) if cell]
    # The background stays last.
    columns = [*kept, len(code.cells)]
    names = np.full(len(code.cells) + 1, -1)
    names[columns] = np.arange(len(columns))
    return replace(code, cells=[code.cells[k] for k in kept], chosen=names[code.chosen], table=code.table[:, columns])


def local_candidates(x: Array, dims: Sequence[int], affine: bool, rng: np.random.RandomState) -> list[LocalFlats]:
    """Local flats of each of these dimensions at rows of `x` (n, p)."""
    return [LocalFlats(x, dim, affine=affine, rng=rng) for dim in dims]


def best_local_flats(local: LocalFlats, count: int, rng: np.random.RandomState) -> Flats:
    """The `count` local flats that fit all rows best, as in LBF."""
    return local.best(count, START_CANDIDATES * count, n_starts=COUNT_STARTS, rng=rng)


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """Clusters joined until `count` are left."""

    count: int
    labels: Indices  # (n,), -1 for the background
    length: float  # nats of rows and flats together


def joined_labels(code: Code, fewest: int) -> list[Joined]:
    """Clusters with one cell less than `code` each time, down to `fewest`.

    Either two cells are joined, or a cell is given to the background, whichever adds least to the length.
    """
    count = len(code.cells)
    costs = _JoinCosts(code.space, code.chosen, count)
    found = []
    for left in range(count - 1, fewest - 1, -1):
        costs.join()
        names = np.full(count + 1, -1)
        names[np.unique(costs.labels[costs.labels < count])] = np.arange(left)
        found.append(Joined(left, names[costs.labels], costs.length))
    return found


class _JoinCosts:
    """What it adds to the length to join two of K cells, or to give one to the background."""

    def __init__(self, space: Space, labels: Indices, count: int) -> None:
        self.labels = labels.copy()  # (n,), K for the background
        self._space, self._count = space, count
        self._moments = cluster_moments(space, labels, count)
        self._own = self._lengths(self._moments)
        # The last column is the background; only entries above the diagonal are used.
        self._costs = np.full((count, count + 1), np.inf)
        first, second = np.triu_indices(count, 1)
        joined = self._lengths(self._moments[first].joined(self._moments[second]))
        self._costs[first, second] = joined - self._own[first] - self._own[second]
        self.length = float(self._own.sum())  # nats of all cells and of the background
        self.length += self._cost_background(list(range(count)))

    def join(self) -> None:
        """Join the two that add least."""
        first, second = map(int, np.unravel_index(self._costs.argmin(), self._costs.shape))
        self.length += float(self._costs[first, second])
        if second == self._count:
            self.labels[self.labels == first] = second
            self._costs[first] = self._costs[:, first] = np.inf
            self._cost_background(np.unique(self.labels[self.labels < second]).tolist())
            return
        self.labels[self.labels == second] = first
        self._costs[second] = self._costs[:, second] = np.inf
        both = self._moments[np.array([first])].joined(self._moments[np.array([second])])
        for mine, new in zip(
            (self._moments.sizes, self._moments.centers, self._moments.covariances),
            (both.sizes, both.centers, both.covariances),
            strict=True,
        ):
            mine[first] = new[0]
        self._own[first] = self._lengths(both)[0]
        others = np.unique(self.labels[(self.labels < self._count) & (self.labels != first)])
        joined = self._lengths(self._moments[others].joined(both[np.zeros(len(others), np.intp)]))
        self._costs[np.minimum(first, others), np.maximum(first, others)] = (
            joined - self._own[first] - self._own[others]
        )
        self._cost_background([first])

    def _lengths(self, moments: Moments) -> Floats:
        """Nats of cells with these moments, labels included."""
        return moments.lengths(self._space) + moments.sizes * np.log(len(self.labels) / moments.sizes)

    def _cost_background(self, cells: Sequence[int]) -> float:
        """Compute what it adds to give each of these cells to the background; return nats of the background."""
        outliers = self.labels == self._count
        sets = np.array([outliers, *(outliers | (self.labels == k) for k in cells)])
        sizes = np.maximum(sets.sum(axis=1), 1)
        nats = background_lengths(fit_backgrounds(self._space, sets), self._space.rows)
        nats += np.log(len(self.labels) / sizes)[:, None]
        before, *after = np.where(sets, nats, 0).sum(axis=1)
        self._costs[cells, -1] = after - before - self._own[cells]
        return float(before)


def _decision(codes: list[Code]) -> Decision:
    """The first of `codes` with ever more clusters that is not clearly longer than the shortest."""
    shortest = min(codes, key=lambda code: code.length)
    winner = next(i for i, code in enumerate(codes) if not clearly_longer(code, shortest))
    candidates = tuple(_evidence(code, codes[0], shortest) for code in codes)
    least = "which is the shortest" if codes[winner] is shortest else "while more clusters shorten it by less"
    reason = f"the fewest clusters whose description is within {N_ERRORS:g} standard errors of the shortest, {least}"
    return Decision("n_clusters", winner, "nats_per_row", reason, candidates, larger_is_better=False)


def _evidence(code: Code, one: Code, shortest: Code) -> dict[str, Any]:
    cells = [cell for cell in code.cells if cell]
    n = len(code.chosen)
    return {
        # If all rows are outliers, they are one cluster.
        "n_clusters": max(1, len(cells)),
        "nats_per_row": code.length / n,
        "standard_error": standard_error(code.row_lengths - shortest.row_lengths),
        "cluster_dims": [cell.dim for cell in cells],
        "outliers": 1 - sum(cell.size for cell in cells) / n,
        "flat": len(cells) < 2 or is_described(code, one, shortest.length),
    }
