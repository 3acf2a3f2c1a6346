"""Partitions: how a row gets its label from psi or from its embedding, and how labels are refined on the landmarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_matrix

from subspaces._core.arrays import Array, Indices, Labels, namespace, to_host, unit_rows, within_mad
from subspaces.flats.coded import CodedClusters
from subspaces.spectral.kmeans import kmeans, nearest_centers
from subspaces.spectral.modularity import cluster_shares, landmark_scores, modularity
from subspaces.spectral.sparse import sparse_on_device
from subspaces.spectral.spectrum import AnyPsi, Spectrum, embed, product
from subspaces.spectral.thresholds import (
    DIGITS,
    MANY_CLUSTERS,
    MOST_VECTORS_PER_CLUSTER,
    ROW_DEVIATIONS,
    TRIAL_ROUNDS,
    VECTORS_PER_CLUSTER,
    VECTORS_PER_CLUSTER_OF_MANY,
)


@dataclass(frozen=True, slots=True)
class Partition:
    """How a row gets its label: by the nearest centre of its embedding or, if there are scores, by its landmarks."""

    n_clusters: int
    n_vectors: int
    centers: Array | None  # (K, n_vectors), of unit rows of the embedding
    landmark_scores: Array | None = None  # (D, K): a row takes the label of the largest psi @ landmark_scores
    origin: str = "k-means"
    modularity: float = float("nan")
    separation: float = float("nan")
    flats: CodedClusters | None = None  # if clusters are flat as a whole, rows take the nearest flat

    def reordered(self, order: Indices) -> Partition:
        """The same clusters in another order (K,)."""
        return replace(
            self,
            centers=None if self.centers is None else self.centers[order],
            landmark_scores=None if self.landmark_scores is None else self.landmark_scores[:, order],
            flats=None if self.flats is None else self.flats.reordered(order),
        )


def assign(psi: AnyPsi, spectrum: Spectrum, partition: Partition) -> Labels:
    """Labels (n,) of rows, seen or new, from their psi (n, D)."""
    if partition.landmark_scores is not None:
        scores = product(psi, partition.landmark_scores)
        xp = namespace(scores)
        return xp.astype(xp.argmax(scores, axis=1), xp.int32)
    return assign_embedded(embed(psi, spectrum, partition.n_vectors), partition)


def assign_each(psi: csr_matrix, embedding: Array, partitions: Sequence[Partition]) -> Labels:
    """Labels (m, n) of rows by each of m partitions, from their psi (n, D) and embedding (n, q)."""
    labels = np.empty((len(partitions), psi.shape[0]), np.int32)
    by_kind: dict[int, list[int]] = {}
    for i, each in enumerate(partitions):
        by_kind.setdefault(each.n_vectors if each.landmark_scores is None else 0, []).append(i)
    for n_vectors, index in by_kind.items():
        if n_vectors:
            centers = np.array([partitions[i].centers for i in index])
            labels[index] = nearest_centers(unit_rows(embedding[:, :n_vectors]), centers)
        else:
            scores = np.hstack([np.asarray(partitions[i].landmark_scores) for i in index])
            found = product(psi, scores).reshape(psi.shape[0], len(index), -1)
            labels[index] = found.argmax(axis=2).T
    return labels


def distinct(labels: Labels, n_clusters: int) -> tuple[Indices, Indices]:
    """Which of m labellings (m, n) differ in more than the names of clusters: their indices, and which each equals."""
    first = np.stack(
        [(labels == k).argmax(axis=1) + len(labels[0]) * (labels != k).all(axis=1) for k in range(n_clusters)]
    )
    names = first.argsort(axis=0).argsort(axis=0).astype(np.int32)
    renamed = names[labels, np.arange(len(labels))[:, None]]
    known: dict[bytes, int] = {}
    same = np.array([known.setdefault(each.tobytes(), len(known)) for each in renamed])
    return np.unique(same, return_index=True)[1], same


def assign_embedded(embedding: Array, partition: Partition) -> Labels:
    """Labels (n,) by the nearest centre, from the embedding (n, at least n_vectors) of rows."""
    assert partition.centers is not None
    return nearest_centers(unit_rows(embedding[:, : partition.n_vectors]), partition.centers)


def partition_of_labels(psi: csr_matrix, labels: Labels, n_clusters: int, spectrum: Spectrum, origin: str) -> Partition:
    """The partition in which landmarks belong to clusters as the rows of psi (n, D) that have them do.

    Landmarks of rows without a cluster, labelled -1, count less.
    """
    shares = cluster_shares(psi, np.where(labels < 0, n_clusters, labels), n_clusters + 1)
    scores = landmark_scores(shares)[:, :n_clusters].astype(psi.dtype)
    return Partition(n_clusters, spectrum.vectors.shape[1], None, scores, origin)


def plain_partition(embedding: Array, n_clusters: int, *, n_starts: int, rng: np.random.RandomState) -> Partition:
    """The paper's last step: k-means on the unit rows of v_2, ..., the best of `n_starts` runs by its own inertia."""
    runs = kmeans(unit_rows(embedding), n_clusters, n_starts=n_starts, rng=rng)
    return Partition(n_clusters, embedding.shape[1], runs.points[int(runs.inertia.argmin())])


def at_most(index: Indices, count: int, rng: np.random.RandomState) -> Indices:
    """`count` of the indices (n,) at random, or all of them if n is at most `count`."""
    return index if len(index) <= count else rng.choice(index, count, replace=False)


def inlier_rows(distances: Array, rows: Array) -> Indices:
    """Indices of the rows whose distance (n,) to the nearest flat is not far above the median."""
    scale = float(np.sqrt(np.einsum("np,np->", rows, rows, dtype=np.float64) / len(rows)))
    return np.flatnonzero(within_mad(distances, width=ROW_DEVIATIONS, scale=scale))


def vector_counts(n_clusters: int) -> list[int]:
    """Numbers of eigenvectors worth trying for `n_clusters` clusters.

    K - 1 separate K clean clusters; clusters of several parts, or directions that cut across them, need more.
    """
    k = n_clusters
    more = int(VECTORS_PER_CLUSTER * k)
    if k < MANY_CLUSTERS:
        return sorted({k - 1, k, k + 1, k + 2, k + 4, more, MOST_VECTORS_PER_CLUSTER * k} - {0})
    return [k - 1, k, k + 2, int(VECTORS_PER_CLUSTER_OF_MANY * k), more]


def few_vector_counts(n_clusters: int) -> list[int]:
    """Fewer numbers of eigenvectors, enough to compare settings."""
    k = n_clusters
    return sorted({max(1, k - 1), k + 1, max(2, int(VECTORS_PER_CLUSTER * k))})


def refine(partition: Partition, psi: csr_matrix, spectrum: Spectrum, *, n_rounds: int) -> Partition:
    """The best of `n_rounds` rounds in which every row of psi (n, D) takes the cluster of most of its landmarks.

    Most rounds raise modularity, but they can drain a small cluster, so the round of the largest modularity is
    returned.
    """
    return max(_rounds(partition, psi, spectrum, n_rounds), key=rounded_modularity)


def settle(partition: Partition, psi: csr_matrix, spectrum: Spectrum) -> Partition:
    """The last of a few such rounds, whatever its modularity, as long as no cluster loses all its rows."""
    return list(_rounds(partition, psi, spectrum, TRIAL_ROUNDS))[-1]


def _rounds(partition: Partition, psi: csr_matrix, spectrum: Spectrum, n_rounds: int) -> Iterator[Partition]:
    """`partition` and the results of up to `n_rounds` rounds, until no label changes or a cluster is lost."""
    moved = sparse_on_device(psi, partition.n_clusters * n_rounds)
    rows: AnyPsi = psi if moved is None else moved
    found = assign(rows, spectrum, partition)
    shares = cluster_shares(rows, found, partition.n_clusters)
    yield replace(partition, modularity=modularity(shares))
    labels = to_host(found)
    occupied = _occupied(labels, partition.n_clusters)
    for _ in range(n_rounds):
        partition = replace(partition, landmark_scores=landmark_scores(shares).astype(psi.dtype))
        found = assign(rows, spectrum, partition)
        before, labels = labels, to_host(found)
        if (before == labels).all() or _occupied(labels, partition.n_clusters) < occupied:
            return
        shares = cluster_shares(rows, found, partition.n_clusters)
        yield replace(partition, modularity=modularity(shares))


def rounded_modularity(partition: Partition) -> float:
    """Modularity up to rounding."""
    return round(float(partition.modularity), DIGITS)


def _occupied(labels: Labels, n_clusters: int) -> int:
    """Number of clusters that have rows."""
    return int(np.count_nonzero(np.bincount(labels, minlength=n_clusters)))
