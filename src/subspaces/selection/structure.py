"""What the clusters are: flat, blobs or bent. K whole flats are compared with the cut of a graph.

The description length of the rows decides. K flats describe flat clusters about as well as any number of flats does,
and with few directions; if clusters are bent, more flats keep shortening the description, or flats need many directions
that save a little each. Flat clusters get the labels of the shortest description. Flats without directions are blobs,
which the graph sees as well: there it decides among descriptions of about equal length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from subspaces._core import progress
from subspaces._core.arrays import Array, Indices, Labels
from subspaces._core.threads import mapped
from subspaces.flats.coded import CodedClusters, coded_clusters
from subspaces.flats.description import Code, measure, shortest_code
from subspaces.selection.clustering import Clustering
from subspaces.selection.coding import (
    clearly_longer,
    code_directions,
    is_described,
    shortening,
    spread,
)
from subspaces.selection.flat_count import codes_by_count
from subspaces.selection.thresholds import MANY_FLATS, MORE_FLATS
from subspaces.spectral.kmeans import kmeans, nearest_centers
from subspaces.spectral.modularity import cluster_shares, modularity
from subspaces.spectral.partition import partition_of_labels

FLAT, BLOBS, BENT = "flat", "blobs", "bent"


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """What the clusters of some rows are, and the evidence for it."""

    kind: str  # FLAT, BLOBS or BENT
    codes: tuple[Code, ...]  # by K flats, the shortest first
    one: float  # nats per row with one flat
    share: float  # of the shortening by the best number of flats, K or more, that K flats reach
    spread: float  # directions per column, those that save little counted twice
    directions: Array  # (q, c), the columns of the codes

    @property
    def nats(self) -> float:
        """Nats per row of the shortest code."""
        return self.codes[0].length / len(self.codes[0].chosen)


def find_structure(
    rows: Array, starts: Sequence[Labels], n_clusters: int, rng: np.random.RandomState, *, thorough: bool = True
) -> Structure:
    """What `n_clusters` clusters of rows (m, q) are, searched from labels `starts`, each (m,), and from others.

    Not `thorough`, only the given starts are tried.
    """
    directions = code_directions(rows)
    columns = rows @ directions
    space = measure(columns, affine=True)
    tried = [np.asarray(start, np.intp) for start in starts]
    if thorough:
        tried.append(nearest_centers(columns, kmeans(columns, n_clusters, n_starts=1, rng=rng).points[0]))
    codes = sorted(mapped(lambda start: shortest_code(space, start, n_clusters, free=True), tried), key=_length)
    one = shortest_code(space, np.zeros(len(rows), np.intp), 1, free=True).length
    least = codes[0].length
    # Most data are bent, which a few starts are enough to see.
    if thorough and n_clusters <= MANY_FLATS and min(map(spread, codes)) <= 1:
        by_count = codes_by_count(columns, n_clusters + MORE_FLATS, affine=True, rng=rng)
        codes = sorted([*codes, *(by_count[k] for k in by_count if k == n_clusters)], key=_length)
        least = min(code.length for count, code in (*by_count.items(), (n_clusters, codes[0])) if count >= n_clusters)
    filled = tuple(code for code in codes if all(code.cells)) or (codes[0],)
    kind = BENT
    if is_described(filled[0], one, least):
        kind = FLAT if np.mean([cell.dim for cell in filled[0].cells if cell]) >= 1 else BLOBS
    return Structure(kind, filled, one / len(rows), shortening(filled[0], one, least), spread(filled[0]), directions)


def _length(code: Code) -> float:
    return code.length


def prefer_whole_flats(found: Clustering, rows: Array, sample: Indices, rng: np.random.RandomState) -> Clustering:
    """`found` with its structure, and with one flat for each cluster if clusters of rows (n, q), not scaled, are flat.

    Flats are compared on the rows at `sample` (m,).
    """
    assert found.choice is not None
    other = found.choice.other_labels(found.psi[sample], found.spectrum)
    structure = find_structure(rows[sample], [found.labels[sample], other], found.partition.n_clusters, rng)
    progress.note(f"{structure.kind} clusters: K flats reach {structure.share:.2f} of the shortening by any number")
    found = replace(found, structure=structure)
    if structure.kind == BENT:
        return found
    code = structure.codes[0] if structure.kind == FLAT else _best_blobs(found, structure, sample)
    return found if code is None else with_flats(found, coded_clusters(code, structure.directions), rows)


def with_flats(found: Clustering, clusters: CodedClusters, rows: Array) -> Clustering:
    """`found` with labels of whole flats for its rows (n, q)."""
    labels, k = clusters.labels(rows), found.partition.n_clusters
    partition = partition_of_labels(found.psi, labels, k, found.spectrum, "flats")
    value = modularity(cluster_shares(found.psi, labels, k))
    return replace(found, partition=replace(partition, modularity=value, flats=clusters), labels=labels)


def _best_blobs(found: Clustering, structure: Structure, sample: Indices) -> Code | None:
    """The largest modularity among codes not clearly longer than the shortest; None if it is that of the graph."""
    shortest, k = structure.codes[0], found.partition.n_clusters
    psi = found.psi[sample]

    def value(labels: Labels) -> float:
        return modularity(cluster_shares(psi, labels, k))

    def is_as_short(code: Code) -> bool:
        return not clearly_longer(code, shortest)

    own = found.labels[sample]
    codes = [code for code in structure.codes if is_as_short(code)]
    best = max(codes, key=lambda code: value(coded_labels(code)))
    if is_as_short(shortest_code(shortest.space, own, k, free=False)) and value(own) >= value(coded_labels(best)):
        return None
    return best


def coded_labels(code: Code) -> Labels:
    """Cluster (n,) of each row of a code, also of rows of the background."""
    return code.table[:, : len(code.cells)].argmin(axis=1).astype(np.int32)
