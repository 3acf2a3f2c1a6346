"""How landmarks give rows their labels: each landmark belongs to clusters to some degree, and a row sums up its own.

The landmarks may be those of several sets, each with a feature map of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from subspaces._core.arrays import Array, Indices, Labels, concatenate, device, namespace
from subspaces.features import FeatureMap
from subspaces.selection.clustering import Clustering
from subspaces.spectral.modularity import cluster_shares, landmark_scores
from subspaces.spectral.spectrum import AnyPsi, product


def matched(labels: Labels, other: Labels, n_clusters: int) -> Labels:
    """The labels `other` (n,), renamed so that clusters share as many rows as possible with those of `labels` (n,)."""
    return np.asarray(matching(labels, other, n_clusters)[other], np.int32)


def matching(labels: Labels, other: Labels, n_clusters: int) -> Indices:
    """The new name (K,) of each cluster of `other` (n,), with which clusters share most rows with `labels` (n,)."""
    together = np.bincount(other.astype(np.int64) * n_clusters + labels, minlength=n_clusters**2)
    return np.asarray(linear_sum_assignment(-together.reshape(n_clusters, n_clusters))[1])


@dataclass(frozen=True, slots=True, eq=False)
class Voter:
    """A feature map and the clusters its landmarks belong to."""

    features: FeatureMap
    scores: NDArray[np.float64]  # (D, K)
    unit: bool  # whether its rows are scaled to unit norm

    def shares(self, rows: Array) -> Array:
        """The share (n, K) of each row's landmarks that belong to each cluster; rows are (n, q), scaled if `unit`."""
        return concatenate([opinion(psi, self.scores) for psi in self.features.blocks(rows)])


def named_opinion(clustering: Clustering, labels: Labels, n_clusters: int) -> Array:
    """The `opinion` (n, K) of a clustering on its own rows, with clusters named as in `labels` (n,)."""
    return opinion(clustering.psi, named_scores(clustering, labels, n_clusters))


def named_scores(clustering: Clustering, labels: Labels, n_clusters: int) -> NDArray[np.float64]:
    """How far each landmark belongs to each cluster (D, K), with clusters named as in `labels` (n,)."""
    named = matched(labels, clustering.labels, n_clusters)
    return landmark_scores(cluster_shares(clustering.psi, named, n_clusters))


def opinion(psi: AnyPsi, scores: NDArray[np.float64]) -> Array:
    """The share (n, K) of each row's landmarks that belong to each cluster; equal shares if it has none."""
    shares = product(psi, scores)
    xp = namespace(shares)
    total = xp.sum(shares, axis=1, keepdims=True)
    equal = xp.asarray(1 / shares.shape[1], dtype=shares.dtype, device=device(shares))
    return xp.where(total > 0, shares / xp.where(total > 0, total, 1.0), equal)


def vote(opinions: Sequence[Array]) -> Labels:
    """The cluster (n,) with the largest sum of opinions (n, K)."""
    xp = namespace(opinions[0])
    return xp.astype(xp.argmax(sum(opinions[1:], opinions[0]), axis=1), xp.int32)
