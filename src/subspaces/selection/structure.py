"""What the clusters are: flat, blobs or bent. K whole flats are compared with the cut of a graph.

The description length of the rows decides. K flats describe flat clusters about as well as any number of flats does,
and with few directions; if clusters are bent, more flats keep shortening the description, or flats need many directions
that save a little each. Flat clusters get the labels of the shortest description. Flats without directions are blobs,
and of several descriptions of about equal length the most even one is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from subspaces._core import progress
from subspaces._core.arrays import Array, Indices, Labels
from subspaces.flats.candidates import PUBLISHED_SIZES, LocalFlats
from subspaces.flats.coded import CodedClusters, coded_clusters
from subspaces.flats.description import Code, measure, shortest_codes
from subspaces.flats.kflats import assign_to_flats, fit_kflats
from subspaces.flats.thresholds import CANDIDATES_PER_CLUSTER
from subspaces.rows.preparation import PreparedRows
from subspaces.selection.clustering import Clustering, with_numbers
from subspaces.selection.coding import (
    code_directions,
    is_described,
    is_sound,
    mean_dim,
    most_even,
    shortening,
    spread,
)
from subspaces.selection.flat_count import best_local_flats, codes_by_count, joined_labels, local_candidates, start_dims
from subspaces.selection.limits import (
    COUNT_STARTS,
    KFLATS_STEPS,
    MANY_FLATS,
    MORE_FLATS,
    MORE_STARTS,
    NEAREST_SHARE,
    SPLIT_FLATS,
    SPLIT_ROUNDS,
)
from subspaces.selection.thresholds import LEAST_ROWS
from subspaces.spectral.kmeans import kmeans, nearest_centers
from subspaces.spectral.modularity import cluster_shares, modularity
from subspaces.spectral.partition import partition_of_labels

KINDS = FLAT, BLOBS, BENT = "flat", "blobs", "bent"


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """What the clusters of some rows are, and the evidence for it."""

    kind: str  # FLAT, BLOBS or BENT
    code: Code  # the best description by K flats
    codes: tuple[Code, ...]  # all by K flats that were found, the best first
    by_count: dict[int, Code]  # by other numbers of flats; empty if none was tried
    one: Code  # by one flat
    share: float  # of the shortening by the best number of flats, K or more, that K flats reach
    directions: Array  # (q, c), the columns of the code

    @property
    def nats(self) -> float:
        """Nats per row of the best description by K flats."""
        return self.code.length / len(self.code.chosen)

    @property
    def clusters(self) -> CodedClusters:
        """The K flats, by which rows get labels."""
        return coded_clusters(self.code, self.directions)


def find_structure(
    rows: Array, given: Sequence[Labels], n_clusters: int, rng: np.random.RandomState, *, grain: float = 0.0
) -> Structure:
    """What `n_clusters` clusters of rows (m, q) are, searched from labels `given`, each (m,), and from others.

    `grain` is as in `measure`.
    """
    directions = code_directions(rows)
    columns = rows @ directions
    space = measure(columns, affine=True, grain=grain)
    tried = [*(np.asarray(start, np.intp) for start in given), *_kmeans_starts(columns, n_clusters, rng)]
    # The graph, k-means and K-flats; blobs are compared among these.
    n_plain = len(tried) + 1
    dims = start_dims(space.high)
    local = local_candidates(columns, dims, True, rng) if n_clusters <= MANY_FLATS else []
    if local:
        (linear,) = local_candidates(columns, [max(1, dims[0])], False, rng)
        tried += [_flat_start(columns, dims[-1], n_clusters, rng), _nearest_start(columns, linear, n_clusters, rng)]
    *codes, one = shortest_codes(space, [*tried, np.zeros(len(rows), np.intp)], n_clusters)
    plain, is_settled = codes[:n_plain], 2 * codes.count(min(codes, key=_length)) >= len(codes)
    others: dict[int, Code] = {}
    # Flats that need many directions are not compared with other numbers of flats: with many columns clusters are bent
    # then, and with few columns they are ellipsoids.
    if local and min(map(spread, codes)) <= 1:
        most, fewest = n_clusters + MORE_FLATS, n_clusters - 1
        others = codes_by_count(
            columns,
            most,
            affine=True,
            rng=rng,
            min_clusters=fewest,
            n_clusters=n_clusters,
            local=local,
            grain=grain,
        )
        codes += [others.pop(n_clusters)] if n_clusters in others else []
        # Flats that most starts lead to need no further search.
        if not is_settled:
            splits = _split_starts(others[fewest], columns, dims[-1], rng) if fewest > 1 and fewest in others else []
            codes += shortest_codes(space, splits, n_clusters) if splits else []
            codes += _split_and_joined(_sound_first(codes)[0], columns, dims[-1], rng)
    codes = _sound_first(codes)
    others = {count: code for count, code in others.items() if is_sound(code)}
    least = min(_length(code) for code in (codes[0], *others.values()) if len(code.cells) >= n_clusters)
    if one.length <= least and local:
        # No flat pays for itself, but K were asked for. Lengths with the cost of flats would prefer small flats of
        # outliers, so the rows alone decide which K flats.
        dim = max(1, int(mean_dim(one)))
        starts = [_flat_start(columns, dim, n_clusters, rng) for _ in range(MORE_STARTS)]
        codes += [code for code in shortest_codes(space, starts, n_clusters) if is_sound(code)]
        codes.sort(key=_length_of_rows)
    kind = BENT
    if is_described(codes[0], one, least):
        kind = FLAT if mean_dim(codes[0]) >= 1 else BLOBS
    # Joined and split flats cut blobs in odd ways, of which only the shortest may be better than those found at once.
    even = [codes[0], *(code for code in plain if is_sound(code))]
    best = most_even(even) if kind == BLOBS else codes[0]
    return Structure(kind, best, tuple(codes), others, one, shortening(codes[0], one.length, least), directions)


def refit(structure: Structure, rows: Array, labels: Indices, rng: np.random.RandomState) -> CodedClusters:
    """The clusters of a structure fitted to other rows (m, q), from their labels (m,), -1 for none, or anew.

    With fewer rows than columns they stay as they are.
    """
    n_clusters = len(structure.code.cells)
    columns = rows @ structure.directions
    if len(rows) < columns.shape[1]:
        return structure.clusters
    starts = [labels, *_kmeans_starts(columns, n_clusters, rng)]
    space = measure(columns, affine=True, grain=structure.code.space.grain)
    codes = shortest_codes(space, starts, n_clusters)
    sound = [code for code in codes if is_sound(code)] or codes
    code = most_even(sound) if structure.kind == BLOBS else min(sound, key=_length)
    return coded_clusters(code, structure.directions)


def _kmeans_starts(columns: Array, n_clusters: int, rng: np.random.RandomState) -> list[Indices]:
    """Labels (m,) of rows (m, c) by k-means, of the columns as they are and standardised."""
    scales = columns.std(axis=0)
    found = []
    for each in (columns, columns / np.where(scales > 0, scales, 1)):
        centers = kmeans(each, n_clusters, n_starts=1, rng=rng).points[0]
        found.append(nearest_centers(each, centers).astype(np.intp))
    return found


def _flat_start(columns: Array, dim: int, n_clusters: int, rng: np.random.RandomState) -> Indices:
    """Labels (m,) of rows (m, c) by K-flats from local best-fit flats, as in LBF."""
    local = LocalFlats(columns, dim, affine=True, rng=rng, neighborhood=PUBLISHED_SIZES)
    flats = local.best(n_clusters, CANDIDATES_PER_CLUSTER * n_clusters, n_starts=COUNT_STARTS, rng=rng)
    return fit_kflats(columns, flats, affine=True, max_iter=KFLATS_STEPS).labels.astype(np.intp)


def _nearest_start(columns: Array, local: LocalFlats, n_clusters: int, rng: np.random.RandomState) -> Indices:
    """Labels (m,) of the rows (m, c) that are nearest to each of the best `local` flats, -1 for other rows.

    Most rows may be outliers, to which K-flats is drawn; those nearest to flats are not.
    """
    found = assign_to_flats(columns, best_local_flats(local, n_clusters, rng))
    order = np.lexsort([found.distances, found.labels])
    ranks = np.empty(len(order))
    sizes = np.bincount(found.labels, minlength=n_clusters)
    ranks[order] = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[found.labels[order]]
    return np.where(ranks < NEAREST_SHARE * sizes[found.labels], found.labels, -1).astype(np.intp)


def _split_starts(code: Code, columns: Array, dim: int, rng: np.random.RandomState) -> list[Indices]:
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
            split[own[_flat_start(columns[own], dim, 2, rng) == 1]] = k
            found.append(split)
    return found


def _split_and_joined(code: Code, columns: Array, dim: int, rng: np.random.RandomState) -> list[Code]:
    """Codes of rows (m, c), each shorter than the one before: a flat is split and two are joined.

    A flat with directions that save little may hold rows of several clusters.
    """
    found: list[Code] = []
    while len(found) < SPLIT_ROUNDS and any(cell and cell.basis.shape[1] > cell.dim for cell in code.cells):
        k = len(code.cells)
        starts = _split_starts(code, columns, dim, rng)
        more = [each for each in shortest_codes(code.space, starts, k + 1) if all(each.cells)] if starts else []
        if not more:
            break
        joined = [joined_labels(each, k)[0].labels for each in more]
        best = _sound_first(shortest_codes(code.space, joined, k))[0]
        if not is_sound(best) or best.length >= code.length:
            break
        code = best
        found.append(code)
    return found


def _sound_first(codes: Sequence[Code]) -> list[Code]:
    """The codes without too small clusters, or all if each has some; the shortest first."""
    return sorted([code for code in codes if is_sound(code)] or codes, key=_length)


def _length(code: Code) -> float:
    return code.length


def _length_of_rows(code: Code) -> float:
    return float(code.row_lengths.sum())


def prefer_whole_flats(
    found: Clustering, prepared: PreparedRows, sample: Indices, rng: np.random.RandomState
) -> Clustering:
    """`found` with its structure, and with one flat for each cluster unless clusters are bent.

    Flats are compared on the prepared rows at `sample` (m,).
    """
    rows = prepared.rows
    assert found.choice is not None
    other = found.choice.other_labels(found.psi[sample], found.spectrum)
    starts, k = [found.labels[sample], other], found.partition.n_clusters
    structure = find_structure(rows[sample], starts, k, rng, grain=prepared.grain)
    progress.note(f"{structure.kind} clusters: K flats reach {structure.share:.2f} of the shortening by any number")
    found = replace(found, structure=structure)
    return found if structure.kind == BENT else with_flats(found, structure.clusters, rows)


def with_flats(found: Clustering, clusters: CodedClusters, rows: Array) -> Clustering:
    """`found` with labels of whole flats for its rows (n, q)."""
    labels, k = clusters.labels(rows), found.partition.n_clusters
    partition = partition_of_labels(found.psi, labels, k, found.spectrum, "flats")
    value = modularity(cluster_shares(found.psi, labels, k))
    found = replace(found, partition=replace(partition, modularity=value, flats=clusters), labels=labels)
    return with_numbers(found, lambda each: each.flats.labels(rows))  # type: ignore[union-attr]
