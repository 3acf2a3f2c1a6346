"""What the clusters are: flat, blobs or bent. K whole flats are compared with the cut of a graph.

The description length of the rows decides. K flats describe flat clusters about as well as any number of flats does,
and with few directions; if clusters are bent, more flats keep shortening the description, or flats need many directions
that save a little each. Flat clusters get the labels of the shortest description. Flats without directions are blobs,
and of several descriptions of about equal length the most even one is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from subspaces._core import progress
from subspaces._core.arrays import Array, Indices, Labels
from subspaces._core.numbering import number_clusters
from subspaces.flats.coded import CodedClusters, coded_clusters
from subspaces.flats.description import Code, measure, shortest_codes
from subspaces.rows.preparation import PreparedRows
from subspaces.selection.clustering import Clustering
from subspaces.selection.coding import is_described, is_sound, mean_dim, mean_directions, most_even, shortening
from subspaces.selection.flat_search import (
    FlatSearch,
    flat_start,
    kmeans_start,
    length_of,
    search_flats,
    sound_first,
)
from subspaces.selection.limits import MORE_STARTS
from subspaces.spectral.modularity import cluster_shares, modularity
from subspaces.spectral.partition import Partition, partition_of_labels
from subspaces.spectral.spectrum import Spectrum

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
    rows: Array, given: Sequence[Labels], n_clusters: int, rng: np.random.RandomState, **options: Any
) -> Structure:
    """What `n_clusters` clusters of rows (m, q) are, searched from labels `given`, each (m,), and from others.

    `options` are those of `search_flats`.
    """
    search = search_flats(rows, n_clusters, rng, **options)
    return structure_of(search.from_labels(given, rng) if len(given) else search, rng)


def structure_of(search: FlatSearch, rng: np.random.RandomState) -> Structure:
    """What the clusters are, from a search for K flats, which goes on unless it is settled."""
    space, one = search.space, search.one
    codes = [*search.codes, *([search.joined] if search.joined else [])]
    if search.others and not search.is_settled:
        codes += search.split(rng)
    codes = sound_first(codes)
    others = {count: code for count, code in search.others.items() if is_sound(code)}
    least = min(length_of(code) for code in (codes[0], *others.values()) if len(code.cells) >= search.n_clusters)
    if one.length <= least and search.local:
        # No flat pays for itself, but K were asked for. Lengths with the cost of flats would prefer small flats of
        # outliers, so the rows alone decide which K flats; each has about as many directions as the one.
        dim = min(max(1, int(mean_directions(one))), space.high)
        starts = [
            flat_start(search.columns, dim, search.n_clusters, rng, affine=space.affine) for _ in range(MORE_STARTS)
        ]
        codes += [code for code in shortest_codes(space, starts, search.n_clusters) if is_sound(code)]
        codes.sort(key=_length_of_rows)
    kind = BENT
    if is_described(codes[0], one, least):
        kind = FLAT if mean_dim(codes[0]) >= 1 or one.length <= least else BLOBS
    best = codes[0]
    if kind == BLOBS and not search.is_settled:
        # Joined and split flats cut blobs in odd ways, of which only the shortest may be better than those found at
        # once.
        best = most_even([best, *(code for code in search.plain if is_sound(code))])
    share = shortening(codes[0], one.length, least)
    return Structure(kind, best, tuple(codes), others, one, share, search.directions)


def refit(structure: Structure, rows: Array, labels: Indices, rng: np.random.RandomState) -> CodedClusters:
    """The clusters of a structure fitted to other rows (m, q), from their labels (m,), -1 for none, or anew.

    With fewer rows than columns they stay as they are.
    """
    n_clusters = len(structure.code.cells)
    columns = rows @ structure.directions
    if len(rows) < columns.shape[1]:
        return structure.clusters
    starts = [labels, kmeans_start(columns, n_clusters, rng)]
    known = structure.code.space
    space = measure(columns, affine=known.affine, max_dim=known.high, grain=known.grain)
    codes = shortest_codes(space, starts, n_clusters)
    sound = [code for code in codes if is_sound(code)] or codes
    code = most_even(sound) if structure.kind == BLOBS else min(sound, key=length_of)
    return coded_clusters(code, structure.directions)


def _length_of_rows(code: Code) -> float:
    return float(code.row_lengths.sum())


def prefer_whole_flats(
    found: Clustering, prepared: PreparedRows, sample: Indices, search: FlatSearch, rng: np.random.RandomState
) -> Clustering:
    """`found` with its structure, and with one flat for each cluster unless clusters are bent.

    The search for flats on the prepared rows at `sample` (m,) goes on from the labels of the graph.
    """
    assert found.choice is not None
    other = found.choice.other_labels(found.psi[sample], found.spectrum)
    structure = structure_of(search.from_labels([found.labels[sample], other], rng), rng)
    progress.note(f"{structure.kind} clusters: K flats reach {structure.share:.2f} of the shortening by any number")
    found = replace(found, structure=structure)
    if structure.kind == BENT:
        return found
    n_vectors = found.partition.n_vectors
    partition, labels = label_by_flats(found.psi, found.spectrum, structure, prepared.rows, n_vectors=n_vectors)
    return replace(found, partition=partition, labels=labels)


def label_by_flats(
    psi: csr_matrix,
    spectrum: Spectrum,
    structure: Structure,
    rows: Array,
    sample: Indices | slice = slice(None),
    *,
    n_vectors: int,
) -> tuple[Partition, Labels]:
    """The partition of rows (n, q) by the flats that describe each in the fewest nats, and labels (n,).

    psi (m, D) is that of the rows at `sample` (m,), all by default. `n_vectors` of the spectrum embed rows.
    """
    clusters, k = structure.clusters, len(structure.code.cells)
    labels = clusters.labels(rows)
    partition = partition_of_labels(psi, labels[sample], k, spectrum, "flats")
    value = modularity(cluster_shares(psi, labels[sample], k))
    partition = replace(partition, n_vectors=n_vectors, modularity=value, flats=clusters)
    return number_clusters(
        partition,
        lambda each: each.flats.labels(rows),  # type: ignore[union-attr]
        Partition.reordered,
        labels,
        k,
    )
