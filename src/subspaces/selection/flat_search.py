"""The search for K flats that describe rows in the fewest nats, without a graph of the rows.

Two searches are independent of each other. One begins at K clusters: of k-means, of K-flats from local flats, and of
the rows nearest to local flats. The other begins at more than K local flats, which are joined one by one. If the best
of the first is what the second finds, no further search is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from subspaces._core.arrays import Array, Indices, Labels
from subspaces.flats.candidates import PUBLISHED_SIZES, LocalFlats
from subspaces.flats.cells import Cell, Space
from subspaces.flats.description import Code, measure, renamed, shortest_codes
from subspaces.flats.kflats import assign_to_flats, fit_kflats
from subspaces.flats.neighborhoods import Beta2
from subspaces.flats.thresholds import CANDIDATES_PER_CLUSTER
from subspaces.selection.coding import code_directions, is_sound, spread
from subspaces.selection.flat_count import best_local_flats, codes_by_count, joined_labels, local_candidates, start_dims
from subspaces.selection.limits import (
    COUNT_STARTS,
    KFLATS_STEPS,
    MANY_FLATS,
    MORE_FLATS,
    NEAREST_SHARE,
    SPLIT_FLATS,
    SPLIT_ROUNDS,
    START_DIMS,
)
from subspaces.selection.thresholds import LEAST_ROWS
from subspaces.spectral.kmeans import kmeans, nearest_centers


@dataclass(frozen=True, slots=True, eq=False)
class FlatSearch:
    """Descriptions of some rows by flats, and what a further search needs."""

    directions: Array  # (q, c), rows (m, q) are described in these columns
    columns: Array  # (m, c)
    space: Space
    n_clusters: int
    local: Sequence[LocalFlats]  # at which searches for other numbers of flats begin; empty for many clusters
    plain: tuple[Code, ...]  # by K flats, from k-means and K-flats
    codes: tuple[Code, ...]  # all by K flats
    joined: Code | None  # by K flats, from more flats that were joined; None if there are none
    others: dict[int, Code]  # by other numbers of flats; empty if none was tried
    one: Code  # by one flat

    @property
    def is_settled(self) -> bool:
        """Whether both searches lead to the same flats."""
        return self.joined is not None and are_equal(min(self.codes, key=length_of), self.joined)

    @property
    def split_dim(self) -> int:
        """Dimension of the local flats at which clusters are split; with few columns lines, of which there are more."""
        return max(dim for dim in (min(START_DIMS[0], self.space.high), *START_DIMS) if dim <= self.space.high)

    def from_labels(self, starts: Sequence[Labels | Indices], rng: np.random.RandomState) -> FlatSearch:
        """The same search with further descriptions, which begin at labels (m,) of the rows."""
        found = shortest_codes(self.space, [np.asarray(each, np.intp) for each in starts], self.n_clusters)
        codes, joined, others = (*self.codes, *found), self.joined, self.others
        if not others and is_promising(codes, self.local):
            joined, others = codes_of_joined(self.columns, self.space, self.n_clusters, self.local, rng)
        return replace(self, plain=(*self.plain, *found), codes=codes, joined=joined, others=others)

    def split(self, rng: np.random.RandomState) -> list[Code]:
        """Descriptions by K flats after some flats are split in two, and others joined."""
        columns, dim, k = self.columns, self.split_dim, self.n_clusters
        fewer = self.others.get(k - 1) if k > 2 else None
        starts = [] if fewer is None else split_starts(fewer, columns, dim, rng)
        found = shortest_codes(self.space, starts, k) if starts else []
        known = [*self.codes, *found, *([self.joined] if self.joined else [])]
        return found + split_and_joined(sound_first(known)[0], columns, dim, rng)


def search_flats(
    rows: Array,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    affine: bool = True,
    max_dim: int | None = None,
    grain: float = 0.0,
) -> FlatSearch:
    """Descriptions of rows (m, q) by `n_clusters` flats and by other numbers; options are as in `measure`."""
    directions = code_directions(rows, affine=affine)
    columns = rows @ directions
    space = measure(columns, affine=affine, max_dim=max_dim, grain=grain)
    tried = [kmeans_start(columns, n_clusters, rng)]
    dims = start_dims(space.high)
    local = local_candidates(columns, dims, affine, rng) if n_clusters <= MANY_FLATS else []
    if local:
        (linear,) = local_candidates(columns, [max(1, dims[0])], False, rng)
        # Many flats of the largest dimension nearly fill few columns, and lines lie in most flats.
        tried += [
            flat_start(columns, dim, n_clusters, rng, affine=affine)
            for dim in (dims if space.high < START_DIMS[-1] else dims[-1:])
        ]
        tried += [nearest_start(columns, linear, n_clusters, rng)]
    *codes, one = shortest_codes(space, [*tried, np.zeros(len(rows), np.intp)], n_clusters)
    joined: Code | None = None
    others: dict[int, Code] = {}
    if is_promising(codes, local):
        joined, others = codes_of_joined(columns, space, n_clusters, local, rng)
    plain = tuple(codes[:-1] if local else codes)
    return FlatSearch(directions, columns, space, n_clusters, local, plain, tuple(codes), joined, others, one)


def is_promising(codes: Sequence[Code], local: Sequence[LocalFlats]) -> bool:
    """Whether flats may use few directions, so that other numbers of flats are worth a search.

    With many columns clusters are bent if not, and with few columns they are ellipsoids.
    """
    return bool(local) and min(map(spread, codes)) <= 1


def codes_of_joined(
    columns: Array, space: Space, n_clusters: int, local: Sequence[LocalFlats], rng: np.random.RandomState
) -> tuple[Code | None, dict[int, Code]]:
    """The shortest code of rows (m, c) by K flats from more flats that are joined, and those by other numbers."""
    others = codes_by_count(
        columns,
        n_clusters + MORE_FLATS,
        affine=space.affine,
        rng=rng,
        max_dim=space.high,
        min_clusters=n_clusters - 1,
        n_clusters=n_clusters,
        local=local,
        grain=space.grain,
    )
    return others.pop(n_clusters, None), others


def are_equal(code: Code, other: Code) -> bool:
    """Whether two codes of the same rows have the same clusters and the same background."""
    k = len(code.cells)
    return k == len(other.cells) and bool((renamed(code.chosen, k) == renamed(other.chosen, k)).all())


def kmeans_start(columns: Array, n_clusters: int, rng: np.random.RandomState) -> Indices:
    """Labels (m,) of rows (m, c) by k-means."""
    centers = kmeans(columns, n_clusters, n_starts=1, rng=rng).points[0]
    return nearest_centers(columns, centers).astype(np.intp)


def flat_start(
    columns: Array,
    dim: int,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    affine: bool,
    neighborhood: Beta2 | None = PUBLISHED_SIZES,
) -> Indices:
    """Labels (m,) of rows (m, c) by K-flats from local best-fit flats, as in LBF; `neighborhood` as in `LocalFlats`."""
    local = LocalFlats(columns, dim, affine=affine, rng=rng, neighborhood=neighborhood)
    flats = local.best(n_clusters, CANDIDATES_PER_CLUSTER * n_clusters, n_starts=COUNT_STARTS, rng=rng)
    return fit_kflats(columns, flats, affine=affine, max_iter=KFLATS_STEPS).labels.astype(np.intp)


def nearest_start(columns: Array, local: LocalFlats, n_clusters: int, rng: np.random.RandomState) -> Indices:
    """Labels (m,) of the rows (m, c) that are nearest to each of the best `local` flats, -1 for other rows.

    Most rows may be outliers, to which K-flats is drawn; those nearest to flats are not.
    """
    found = assign_to_flats(columns, best_local_flats(local, n_clusters, rng))
    order = np.lexsort([found.distances, found.labels])
    ranks = np.empty(len(order))
    sizes = np.bincount(found.labels, minlength=n_clusters)
    ranks[order] = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[found.labels[order]]
    return np.where(ranks < NEAREST_SHARE * sizes[found.labels], found.labels, -1).astype(np.intp)


def split_starts(code: Code, columns: Array, dim: int, rng: np.random.RandomState) -> list[Indices]:
    """Labels (m,), -1 for outliers, of rows (m, c) with one flat more than `code`: its worst flats are split in two.

    A small cluster is rarely among the best K local flats of all rows, but stands out among rows that fit badly.
    """
    k = len(code.cells)
    labels = np.where(code.chosen < k, code.chosen, -1)
    sizes = np.bincount(code.chosen, minlength=k + 1)[:k]
    nats = np.bincount(code.chosen, code.row_lengths, minlength=k + 1)[:k] / np.maximum(sizes, 1)
    found = []
    for cell in np.argsort(-nats)[:SPLIT_FLATS]:
        own = np.flatnonzero(labels == cell)
        if len(own) >= 2 * LEAST_ROWS:
            split = labels.copy()
            # The directions of the flat are those of the two together.
            half = (code.cells[cell].basis.shape[1] + 1) // 2
            two = flat_start(columns[own], max(dim, half), 2, rng, affine=code.space.affine, neighborhood=None)
            split[own[two == 1]] = k
            found.append(split)
    return found


def split_and_joined(code: Code, columns: Array, dim: int, rng: np.random.RandomState) -> list[Code]:
    """Codes of rows (m, c), each shorter than the one before: a flat is split and two are joined."""
    found: list[Code] = []
    while len(found) < SPLIT_ROUNDS and any(map(may_be_several, code.cells)):
        k = len(code.cells)
        starts = split_starts(code, columns, dim, rng)
        more = [each for each in shortest_codes(code.space, starts, k + 1) if all(each.cells)] if starts else []
        if not more:
            break
        joined = [joined_labels(each, k)[0].labels for each in more]
        best = sound_first(shortest_codes(code.space, joined, k))[0]
        if not is_sound(best) or best.length >= code.length:
            break
        code = best
        found.append(code)
    return found


def may_be_several(cell: Cell | None) -> bool:
    """Whether a flat may hold rows of several clusters: it has directions that save little, or none."""
    return cell is not None and (cell.dim == 0 or cell.basis.shape[1] > cell.dim)


def sound_first(codes: Sequence[Code]) -> list[Code]:
    """The codes without too small clusters, or all if each has some; the shortest first."""
    return sorted([code for code in codes if is_sound(code)] or codes, key=length_of)


def length_of(code: Code) -> float:
    return code.length
