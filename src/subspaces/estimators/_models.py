"""Models that label new rows: frozen objects, one for each way to do it.

A model takes checked rows (b, p) in the coordinates and the array library of the user. It holds nothing about single
rows of the fit, so it can be sent to workers and written to a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from subspaces._core.arrays import (
    Array,
    Labels,
    concatenate,
    device,
    follow,
    is_host,
    namespace,
    to_host,
    unit_rows,
)
from subspaces._core.blocks import row_blocks
from subspaces.features import FeatureMap
from subspaces.flats.affinity import labels_by_votes
from subspaces.flats.cluster_model import ClusterModel, limit_of_share, model_clusters
from subspaces.flats.device import DeviceFlats
from subspaces.flats.distances import distance_row_bytes, distances_to
from subspaces.flats.flats import Flats
from subspaces.flats.kflats import assign_to_flats
from subspaces.flats.thresholds import MODEL_ROWS
from subspaces.rows.preparation import PreparedRows, RowPreparation
from subspaces.selection.consensus import Consensus
from subspaces.selection.voting import Voter, named_scores, vote
from subspaces.self_expression import homogeneous
from subspaces.self_expression.residuals import ClusterGrams, least_residual
from subspaces.spectral.kernel_graph import with_constant
from subspaces.spectral.kmeans import nearest_centers
from subspaces.spectral.partition import Partition, assign, at_most
from subspaces.spectral.spectrum import Psi, Spectrum, embed


@dataclass(frozen=True, slots=True, eq=False)
class SpectralModel:
    """Labels by a feature map, the eigenvectors of its kernel and a partition of their embedding."""

    preparation: RowPreparation
    features: FeatureMap
    spectrum: Spectrum
    partition: Partition
    tie: float = 0.0  # weight that was added to every pair of rows

    def labels(self, x: Array) -> Labels:
        """Cluster (b,) of each row."""
        # Maps that only know NumPy leave the device.
        return follow(self.prepared_labels(self.preparation(x)), x)

    def embedding(self, x: Array) -> Array:
        """Spectral embedding of each row, unit rows: (b, n_components)."""
        rows, count = self.preparation(x), self.partition.n_vectors
        blocks = [embed(psi, self.spectrum, count) for psi in self.psi_blocks(rows)]
        return follow(unit_rows(concatenate(blocks)), x)

    def prepared_labels(self, rows: Array) -> Labels:
        """Cluster (n,) of each prepared row (n, q)."""
        return concatenate([assign(psi, self.spectrum, self.partition) for psi in self.psi_blocks(rows)])

    def psi_blocks(self, rows: Array) -> Iterator[Psi]:
        """psi of prepared rows (n, q), one block after another."""
        return (with_constant(psi, self.tie) for psi in self.features.blocks(rows))


@dataclass(frozen=True, slots=True, eq=False)
class SubspaceModel:
    """The model of FLS: labels by landmark flats, one or several sets of them, or by one flat per cluster."""

    spectral: SpectralModel
    voters: tuple[Voter, ...]  # empty if one set of landmarks decides alone
    clusters: ClusterModel
    detect_outliers: bool | float = False
    outlier_limit: float = field(default=np.inf)  # of scores, if a share of rows was asked for
    # How far each landmark belongs to each cluster (D, K), for shares, if one set of landmarks decides alone.
    scores: NDArray[np.float64] | None = None

    @property
    def preparation(self) -> RowPreparation:
        """The preparation of rows, scaling included."""
        return self.spectral.preparation

    def labels(self, x: Array) -> Labels:
        """Cluster (b,) of each row; -1 for outliers if they are detected."""
        return self.plain_labels(self._plain(x))

    def embedding(self, x: Array) -> Array:
        """Spectral embedding of each row, unit rows: (b, n_components)."""
        return self.spectral.embedding(x)

    def outlier_scores(self, x: Array) -> Array:
        """How unusual each row is in its cluster: (b,), about 1 for most rows."""
        plain = self._plain(x)
        return self.clusters.scores(plain, self.plain_clusters(plain))

    @property
    def has_shares(self) -> bool:
        """Whether rows have shares in clusters."""
        return self.spectral.partition.flats is not None or bool(self.voters) or self.scores is not None

    def shares(self, x: Array) -> Array:
        """Share (b, K) of each cluster in each row: its probability, or the share of the row's landmarks."""
        return self._plain_shares(self._plain(x))

    def confidence(self, x: Array) -> Array:
        """Share (b,) of the cluster of each row, outlier or not."""
        plain = self._plain(x)
        shares, labels = self._plain_shares(plain), self.plain_clusters(plain)
        xp = namespace(shares)
        own = xp.arange(shares.shape[1], device=device(shares))[None, :] == labels[:, None]
        return xp.sum(xp.where(own, shares, xp.zeros_like(shares)), axis=1, dtype=shares.dtype)

    def _plain_shares(self, plain: Array) -> Array:
        flats = self.spectral.partition.flats
        if flats is not None:
            return flats.shares(plain)
        voters = self.voters
        if self.scores is not None:
            voters = (Voter(self.spectral.features, self.scores, self.preparation.unit),)
        opinions = [voter.shares(self._shaped(plain, voter.unit)) for voter in voters]
        return sum(opinions[1:], opinions[0]) / len(opinions)

    def plain_labels(self, plain: Array) -> Labels:
        """Labels (n,) of rows (n, q) that are prepared but not scaled."""
        labels = self.plain_clusters(plain)
        if not self.detect_outliers:
            return labels
        if isinstance(self.detect_outliers, bool | np.bool_):
            apart = self.clusters.outliers(plain, labels)
        else:
            apart = self.clusters.scores(plain, labels) > self.outlier_limit
        xp = namespace(labels)
        return xp.where(apart, xp.asarray(-1, dtype=labels.dtype, device=device(labels)), labels)

    def plain_clusters(self, plain: Array) -> Labels:
        """Cluster (n,) of each row (n, q) that is prepared but not scaled, outlier or not."""
        flats = self.spectral.partition.flats
        if flats is not None:
            return flats.labels(plain)
        if self.voters:
            return vote([voter.shares(self._shaped(plain, voter.unit)) for voter in self.voters])
        return self.spectral.prepared_labels(self._shaped(plain, self.preparation.unit))

    def _plain(self, x: Array) -> Array:
        return self.preparation.plain(x)

    def _shaped(self, plain: Array, unit: bool) -> Array:
        return replace(self.preparation, unit=unit).shaped(plain)


def build_model(
    found: Consensus, prepared: PreparedRows, preparation: RowPreparation, *, detect_outliers: bool | float = False
) -> SubspaceModel:
    """The model of FLS: the map and its voters, the shape of each cluster, and the rule for outliers.

    `prepared` are rows without whitening and scaling, `preparation` has both.
    """
    best, plain, labels = found.best, prepared.rows, found.labels
    # A fixed generator: this sample is not part of the choice, and must not move the draws of the fit.
    index = at_most(np.arange(len(plain)), MODEL_ROWS, np.random.RandomState(0))
    n_clusters = best.partition.n_clusters
    # Linear flats pass through the mean of centred rows, clusters need not.
    affine = best.features.affine or prepared.centered
    clusters = model_clusters(plain[index], labels[index], n_clusters, affine=affine)
    limit = np.inf
    if not isinstance(detect_outliers, bool | np.bool_):
        limit = limit_of_share(clusters.scores(plain, labels), float(detect_outliers))
    spectral = SpectralModel(preparation, best.features, best.spectrum, best.partition, best.tie)
    alone = not found.voters and best.partition.flats is None and issparse(best.psi)
    scores = named_scores(best, labels, n_clusters) if alone else None
    return SubspaceModel(spectral, found.voters, clusters, detect_outliers, limit, scores)


@dataclass(frozen=True, slots=True, eq=False)
class FlatsModel:
    """Labels by the nearest of K flats."""

    flats: Flats
    unit: bool  # whether rows are scaled to unit norm
    loss: str = "median"  # that the fit minimised

    def labels(self, x: Array) -> Labels:
        """Cluster (b,) of each row."""
        rows = self._prepared(x)
        if is_host(x):
            return assign_to_flats(rows, self.flats).labels
        xp = namespace(x)
        return xp.astype(DeviceFlats(self.flats).nearest(rows, 1)[1][:, 0], xp.int32)

    def embedding(self, x: Array) -> Array:
        """Distance of each row to each flat: (b, K)."""
        rows = self._prepared(x)
        if not is_host(x):
            return namespace(rows).sqrt(DeviceFlats(self.flats).table(rows))
        squared_distances = distances_to(self.flats)
        blocks = row_blocks(len(rows), distance_row_bytes(self.flats, rows.dtype))
        return np.concatenate([np.sqrt(squared_distances(rows[block])) for block in blocks])

    def _prepared(self, x: Array) -> Array:
        return unit_rows(x) if self.unit else x


@dataclass(frozen=True, slots=True, eq=False)
class FlatVotesModel:
    """Labels by a vote of the flats of all rows of the fit."""

    flats: Flats
    unit: bool
    scales: Array  # (m,), of the flats
    flat_labels: Labels  # (m,)
    n_nearest: int

    def labels(self, x: Array) -> Labels:
        """Cluster (b,) of each row."""
        rows = unit_rows(to_host(x)) if self.unit else to_host(x)
        return follow(labels_by_votes(rows, self.flats, self.scales, self.flat_labels, n_nearest=self.n_nearest), x)


@dataclass(frozen=True, slots=True, eq=False)
class NearestFlatModel:
    """Labels by the nearest flat of a cluster, in prepared coordinates."""

    preparation: RowPreparation
    flats: Flats

    def labels(self, x: Array) -> Labels:
        """Cluster (b,) of each row."""
        return follow(assign_to_flats(to_host(self.preparation(x)), self.flats).labels, x)


@dataclass(frozen=True, slots=True, eq=False)
class ResidualModel:
    """Labels by the cluster of a sample that reproduces a row best."""

    preparation: RowPreparation
    length: float | None  # of the constant column for affine combinations; None for linear ones
    grams: ClusterGrams

    def labels(self, x: Array) -> Labels:
        """Cluster (b,) of each row."""
        return follow(self.prepared_labels(self.preparation(x)), x)

    def prepared_labels(self, rows: Array) -> Labels:
        """Cluster (n,) of each prepared row (n, p)."""
        return least_residual(residual_rows(rows, self.length), self.grams)


def residual_rows(rows: Array, length: float | None) -> Array:
    """Prepared rows (n, p) on the host, with a constant column for affine combinations."""
    return to_host(rows if length is None else homogeneous(rows, length))


@dataclass(frozen=True, slots=True, eq=False)
class CentroidModel:
    """Labels and embedding of the nearest centroid."""

    preparation: RowPreparation
    centroids: Array  # (m, p), prepared
    centroid_labels: Labels  # (m,)
    centroid_embedding: Array  # (m, q)

    def labels(self, x: Array) -> Labels:
        """Cluster (b,) of each row."""
        return self._of_nearest(self.centroid_labels, x)

    def embedding(self, x: Array) -> Array:
        """Embedding (b, q) of the centroid nearest to each row."""
        return self._of_nearest(self.centroid_embedding, x)

    def _of_nearest(self, values: NDArray[Any], x: Array) -> Any:
        nearest = nearest_centers(self.preparation(x), self.centroids)
        return namespace(x).take(follow(values, x), nearest, axis=0)
