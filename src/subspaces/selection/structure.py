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
from subspaces.flats.coded import CodedClusters, coded_clusters
from subspaces.flats.description import Code, measure, shortest_codes
from subspaces.flats.kflats import fit_kflats
from subspaces.selection.clustering import Clustering
from subspaces.selection.coding import (
    code_directions,
    is_described,
    is_sound,
    mean_dim,
    most_even,
    shortening,
    spread,
)
from subspaces.selection.flat_count import best_local_flats, codes_by_count, start_dims
from subspaces.selection.limits import KFLATS_STEPS, MANY_FLATS, MORE_FLATS
from subspaces.spectral.kmeans import kmeans, nearest_centers
from subspaces.spectral.modularity import cluster_shares, modularity
from subspaces.spectral.partition import partition_of_labels

FLAT, BLOBS, BENT = "flat", "blobs", "bent"


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """What the clusters of some rows are, and the evidence for it."""

    kind: str  # FLAT, BLOBS or BENT
    code: Code  # the best description by K flats
    one: float  # nats per row with one flat
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


def find_structure(rows: Array, starts: Sequence[Labels], n_clusters: int, rng: np.random.RandomState) -> Structure:
    """What `n_clusters` clusters of rows (m, q) are, searched from labels `starts`, each (m,), and from others."""
    directions = code_directions(rows)
    columns = rows @ directions
    space = measure(columns, affine=True)
    tried = [*(np.asarray(start, np.intp) for start in starts), *_kmeans_starts(columns, n_clusters, rng)]
    if n_clusters <= MANY_FLATS:
        for dim in start_dims(space.high):
            flats = best_local_flats(columns, n_clusters, dim, True, rng)
            tried.append(fit_kflats(columns, flats, affine=True, max_iter=KFLATS_STEPS).labels.astype(np.intp))
    *codes, single = shortest_codes(space, [*tried, np.zeros(len(rows), np.intp)], n_clusters)
    one = single.length
    further: list[Code] = []
    # If flats of all these descriptions need many directions, clusters are bent.
    if n_clusters <= MANY_FLATS and min(map(spread, codes)) <= 1:
        by_count = codes_by_count(columns, n_clusters + MORE_FLATS, affine=True, rng=rng)
        codes += [code for count, code in by_count.items() if count == n_clusters]
        further = [code for count, code in by_count.items() if count > n_clusters and is_sound(code)]
    codes = sorted([code for code in codes if is_sound(code)] or codes, key=_length)
    least = min(_length(code) for code in (codes[0], *further))
    kind = BENT
    if is_described(codes[0], one, least):
        kind = FLAT if mean_dim(codes[0]) >= 1 else BLOBS
    best = most_even(codes) if kind == BLOBS else codes[0]
    return Structure(kind, best, one / len(rows), shortening(codes[0], one, least), directions)


def refit(structure: Structure, rows: Array, labels: Labels, rng: np.random.RandomState) -> CodedClusters:
    """The clusters of a structure fitted to other rows (m, q), from their labels (m,) or anew, whichever is better.

    With fewer rows than columns they stay as they are.
    """
    n_clusters = len(structure.code.cells)
    columns = rows @ structure.directions
    if len(rows) < columns.shape[1]:
        return structure.clusters
    starts = [np.asarray(labels, np.intp), *_kmeans_starts(columns, n_clusters, rng)]
    codes = shortest_codes(measure(columns, affine=True), starts, n_clusters)
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


def _length(code: Code) -> float:
    return code.length


def prefer_whole_flats(found: Clustering, rows: Array, sample: Indices, rng: np.random.RandomState) -> Clustering:
    """`found` with its structure, and with one flat for each cluster unless clusters of rows (n, q) are bent.

    The rows are not scaled; flats are compared on those at `sample` (m,).
    """
    assert found.choice is not None
    other = found.choice.other_labels(found.psi[sample], found.spectrum)
    structure = find_structure(rows[sample], [found.labels[sample], other], found.partition.n_clusters, rng)
    progress.note(f"{structure.kind} clusters: K flats reach {structure.share:.2f} of the shortening by any number")
    found = replace(found, structure=structure)
    return found if structure.kind == BENT else with_flats(found, structure.clusters, rows)


def with_flats(found: Clustering, clusters: CodedClusters, rows: Array) -> Clustering:
    """`found` with labels of whole flats for its rows (n, q)."""
    labels, k = clusters.labels(rows), found.partition.n_clusters
    partition = partition_of_labels(found.psi, labels, k, found.spectrum, "flats")
    value = modularity(cluster_shares(found.psi, labels, k))
    return replace(found, partition=replace(partition, modularity=value, flats=clusters), labels=labels)
