"""Several clusterings of the same rows from different landmarks: which is the best, and how they vote.

One set of landmarks can miss a small cluster. The clustering to trust agrees with the others; those that agree with it
vote on the label of every row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from subspaces._core.arrays import Array, Indices, Labels, concatenate, device, namespace
from subspaces._core.numbering import number_clusters
from subspaces.features import FeatureMap
from subspaces.metrics.labels import labels_agreement
from subspaces.selection.clustering import Clustering, with_numbers
from subspaces.selection.comparison import clearly_positive
from subspaces.selection.thresholds import SEPARATION_MARGIN, SURE_AGREEMENT
from subspaces.spectral.joins import separation
from subspaces.spectral.modularity import cluster_shares, landmark_scores
from subspaces.spectral.partition import assign, partition_of_labels, settle
from subspaces.spectral.spectrum import AnyPsi, product


def of_one_kind(clusterings: Sequence[Clustering], n_clusters: int) -> list[Clustering]:
    """Clusterings that all take the largest modularity, or all a partition that is clearly better separated.

    The best separated partition of each clustering is measured on the graphs of all of them, so that none gains by
    chance. If there is nothing to choose, they stay as they are.
    """
    if not np.isfinite([_gain(each) for each in clusterings]).all():
        return list(clusterings)
    balanced = [each.choice.balanced.separation for each in clusterings if each.choice]
    labels, table = best_separated(clusterings, n_clusters)
    gains = table - balanced
    clear = [i for i, each in enumerate(gains) if clearly_positive(each)]
    if not clear:
        return [with_kind(each, "balanced") for each in clusterings]
    best = max(clear, key=lambda i: float(gains[i].mean()))
    return [with_labels(each, labels[best], float(j)) for each, j in zip(clusterings, table[best], strict=True)]


def best_separated(clusterings: Sequence[Clustering], n_clusters: int) -> tuple[list[Labels], NDArray[np.float64]]:
    """Labels (n,) of the best separated partition of each of m clusterings, and their separation on all graphs (m, m).

    Row i has the separations of the labels i, column j those on the graphs of clustering j.
    """
    labels = [assign(each.psi, each.spectrum, each.choice.density) for each in clusterings if each.choice]
    return labels, np.array([[_separation_on(each, some, n_clusters) for each in clusterings] for some in labels])


def _separation_on(clustering: Clustering, labels: Labels, n_clusters: int) -> float:
    """Separation of labels (n,) on the graphs of a clustering."""
    choice = clustering.choice
    assert choice is not None
    return float(separation(list(choice.graphs), labels[choice.sample], n_clusters))


def with_labels(clustering: Clustering, labels: Labels, value: float) -> Clustering:
    """`clustering` with the partition that its own landmarks make of `labels` (n,) with the separation `value`."""
    choice, psi, spectrum = clustering.choice, clustering.psi, clustering.spectrum
    assert choice is not None
    k = clustering.partition.n_clusters
    partition = settle(partition_of_labels(psi, labels, k, spectrum, "best separated"), psi, spectrum)
    partition = replace(partition, separation=value)
    choice = replace(choice, winner=partition, density=partition)
    return replace(clustering, choice=choice, partition=partition, labels=assign(psi, spectrum, partition))


def is_doubtful(clustering: Clustering) -> bool:
    """Whether another partition gains half of the separation with which a single clustering would take it."""
    choice = clustering.choice
    if choice is None or not SEPARATION_MARGIN / 2 < _gain(clustering) < np.inf:
        return False
    other = choice.other_labels(clustering.psi, clustering.spectrum)
    return labels_agreement(clustering.labels, other) < SURE_AGREEMENT


def _gain(clustering: Clustering) -> float:
    """Gain of separation over modularity; NaN if there is nothing to choose."""
    choice = clustering.choice
    return float("nan") if choice is None else choice.density.separation - choice.balanced.separation


def with_own_numbers(clustering: Clustering) -> Clustering:
    """`clustering` with clusters in the order of their first rows, if its landmarks give the labels."""
    if clustering.partition.flats is not None:
        return clustering
    return with_numbers(clustering, lambda each: assign(clustering.psi, clustering.spectrum, each))


def with_numbers_of(clustering: Clustering, labels: Labels, n_clusters: int) -> Clustering:
    """`clustering` with clusters numbered as in `labels` (n,)."""
    order = np.argsort(matching(labels, clustering.labels, n_clusters))
    named = matched(labels, clustering.labels, n_clusters)
    return replace(clustering, partition=clustering.partition.reordered(order), labels=named)


def with_kind(clustering: Clustering, kind: str) -> Clustering:
    """`clustering` with its own partition of the largest modularity ("balanced"), or its best separated one."""
    choice, psi, spectrum = clustering.choice, clustering.psi, clustering.spectrum
    if choice is None:
        return clustering
    own = choice.balanced if kind == "balanced" else choice.density
    return replace(clustering, choice=replace(choice, winner=own), partition=own, labels=assign(psi, spectrum, own))


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Clusterings compared with each other."""

    agreements: Array  # (m,), mean adjusted Rand index with the others
    best: int  # index of the largest agreement
    voters: Indices  # indices of those that agree with the best, which comes first


def rank_clusterings(clusterings: Sequence[Clustering]) -> Ranking:
    """Which of several clusterings to trust."""
    draws = clusterings
    table = np.array([[labels_agreement(one.labels, other.labels) for one in draws] for other in draws])
    agreements = (table.sum(axis=1) - 1) / max(1, len(draws) - 1)
    best = int(agreements.argmax())
    others = [i for i in range(len(draws)) if i != best and table[best, i] >= SURE_AGREEMENT]
    return Ranking(agreements, best, np.array([best, *others]))


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

    def reordered(self, order: Indices) -> Voter:
        """The same with clusters in another order (K,)."""
        return replace(self, scores=self.scores[:, order])

    def shares(self, rows: Array) -> Array:
        """The share (n, K) of each row's landmarks that belong to each cluster; rows are (n, q), scaled if `unit`."""
        return concatenate([opinion(psi, self.scores) for psi in self.features.blocks(rows)])


def elect(clusterings: Sequence[Clustering], n_clusters: int) -> tuple[Labels, tuple[Voter, ...]]:
    """Labels (n,) by vote of clusterings that agree, the best of them first, and the voters.

    The best decides alone if there is no other, if clusters are flat, or if a vote leaves a cluster empty.
    """
    best = clusterings[0]
    if len(clusterings) == 1 or best.partition.flats is not None:
        return best.labels, ()
    voters: Sequence[Voter] = matched_voters(clusterings, n_clusters)

    def voted(voters: Sequence[Voter]) -> Labels:
        return vote([opinion(each.psi, voter.scores) for each, voter in zip(clusterings, voters, strict=True)])

    def reordered(voters: Sequence[Voter], order: Indices) -> Sequence[Voter]:
        return [voter.reordered(order) for voter in voters]

    numbered, labels = number_clusters(voters, voted, reordered, voted(voters), n_clusters)
    return (labels, tuple(numbered)) if len(np.unique(labels)) >= len(np.unique(best.labels)) else (best.labels, ())


def matched_voters(clusterings: Sequence[Clustering], n_clusters: int) -> tuple[Voter, ...]:
    """Voters with matching names of clusters: matched to the first clustering, then to their own vote."""
    labels = vote([named_opinion(each, clusterings[0].labels, n_clusters) for each in clusterings])
    return tuple(Voter(each.features, named_scores(each, labels, n_clusters), each.unit) for each in clusterings)


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
