"""One clustering of rows by a feature map: from psi and its eigenvectors to a partition and labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from subspaces._core.arrays import Array, Indices, Labels
from subspaces._core.numbering import number_clusters
from subspaces.features.psi import DenseBlocks, RowFeatures
from subspaces.selection.limits import N_STARTS, N_STARTS_EACH
from subspaces.selection.partition import PartitionChoice, choose_partition
from subspaces.spectral.kernel_graph import best_plain_partition
from subspaces.spectral.partition import Partition, assign, assign_embedded, inlier_rows, plain_partition
from subspaces.spectral.spectrum import Spectrum, embed


@dataclass(frozen=True, slots=True)
class CutSetting:
    """How the embedding is cut into clusters."""

    n_clusters: int
    n_vectors: tuple[int, ...]  # numbers of eigenvectors to try
    kind: str = "balanced"  # as in `choose_partition`
    plain: bool = False  # k-means and nothing else, as in the literature
    n_part_vectors: int = 0  # eigenvectors in which parts are made, if these are more

    @property
    def n_computed(self) -> int:
        """Number of eigenvectors to compute."""
        return max(*self.n_vectors, self.n_part_vectors)


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """Rows clustered by the features of one map."""

    features: Any  # a fitted FeatureMap
    psi: Any  # (n, D): a csr_matrix, or DenseBlocks
    inliers: Indices
    distances: Array | None  # (n,), to the nearest landmark; None for maps without landmarks
    spectrum: Spectrum
    choice: PartitionChoice | None  # None if there was nothing to choose
    partition: Partition
    labels: Labels  # (n,)
    tie: float = 0.0  # weight that was added to every pair of rows
    unit: bool = False  # whether rows were scaled to unit norm
    structure: Any = None  # `Structure`, if whole flats were compared


def cut(
    row_features: RowFeatures, spectrum: Spectrum, rows: Array, setting: CutSetting, rng: np.random.RandomState
) -> Clustering:
    """Cut the embedding of prepared rows (n, q) into clusters.

    Dense psi is cut by k-means, as in the paper. Partitions of sparse psi are compared on the graph between rows and
    landmarks, unless the setting is `plain`.
    """
    if isinstance(row_features.psi, DenseBlocks):
        return _cut_dense(row_features, row_features.psi, spectrum, setting, rng)
    psi, distances = row_features.psi, row_features.distances
    inliers = np.arange(len(rows)) if distances is None else inlier_rows(distances, rows)
    choice = None
    if setting.plain:
        partition = plain_partition(embed(psi, spectrum), setting.n_clusters, n_starts=N_STARTS, rng=rng)
    else:
        # If every row is a landmark, refinement would only confirm labels: a row is its own landmark.
        polish = row_features.features.n_components < len(rows)
        choice = choose_partition(
            psi,
            spectrum,
            inliers,
            setting.n_clusters,
            counts=setting.n_vectors,
            n_starts=N_STARTS_EACH if polish else N_STARTS,
            polish=polish,
            rng=rng,
            kind=setting.kind,
        )
        partition = choice.winner
    labels = assign(psi, spectrum, partition)
    found = Clustering(row_features.features, psi, inliers, distances, spectrum, choice, partition, labels)
    return with_numbers(found, lambda each: assign(psi, spectrum, each))


def _cut_dense(
    row_features: RowFeatures, psi: DenseBlocks, spectrum: Spectrum, setting: CutSetting, rng: np.random.RandomState
) -> Clustering:
    embedding, degrees, distances = psi.embedded(spectrum)
    partition = best_plain_partition(
        embedding,
        degrees,
        spectrum.eigenvalues,
        setting.n_clusters,
        counts=setting.n_vectors,
        n_starts=N_STARTS,
        rng=rng,
    )
    labels = assign_embedded(embedding, partition)
    everyone = np.arange(len(labels))
    found = Clustering(row_features.features, psi, everyone, distances, spectrum, None, partition, labels, psi.tie)
    return with_numbers(found, lambda each: assign_embedded(embedding, each))


def with_numbers(found: Clustering, label: Callable[[Partition], Labels]) -> Clustering:
    """`found` with clusters in the order of their first rows; `label` gives the labels (n,) of a partition."""
    partition, labels = number_clusters(
        found.partition, label, Partition.reordered, found.labels, found.partition.n_clusters
    )
    return replace(found, partition=partition, labels=labels)
