"""Separation of clusters: how weakly they are joined, whatever their sizes.

Modularity prefers clusters of equal size: given ten thousand rows of one class and five hundred of another, it cuts the
first in half. The join between two groups distinguishes halves of one cluster from two clusters. Rows are cut into many
small parts; with P the row-stochastic weights (n, D), S_aj = mean over rows of [part = a] P_ij and
W = S diag(1/p_j) S^T, two parts are joined by

    rho_ab = W_ab / sqrt(W_aa W_bb):

which is one if a row finds as many landmarks in the other part as in its own, and zero if it finds none. A good
partition cuts only weak joins. Its separation is

    J = (K / 4) H - mean over several ways to make parts of ln (r + e),

with r the mean of rho over the cut and H the entropy of the cluster sizes: weak joins and, all else equal, even sizes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Indices, Labels, inverse, unit_rows
from subspaces._core.threads import generators, mapped
from subspaces.spectral.kmeans import kmeans
from subspaces.spectral.modularity import cluster_shares
from subspaces.spectral.spectrum import Psi
from subspaces.spectral.thresholds import EVENNESS, PART_STEPS, PARTS, ROWS_PER_PART, SMALL_CLUSTER, WEAK_JOIN


@dataclass(frozen=True, slots=True, eq=False)
class PartGraph:
    """Rows in many small parts, and the weights between the parts."""

    labels: Labels  # (n,)
    shares: NDArray[np.float64]  # S (M, D)
    weights: NDArray[np.float64]  # W (M, M), sums to one

    def groups_of(self, labels: Labels, n_clusters: int) -> Indices:
        """The cluster (..., M) that most rows of each part belong to, from labels (..., n) of the rows."""
        some = labels.reshape(-1, len(self.labels))
        cells = self.labels.astype(np.int64) * n_clusters + some
        size = len(self.weights) * n_clusters
        cells += size * np.arange(len(some))[:, None]
        counts = np.bincount(cells.ravel(), minlength=len(some) * size)
        return np.asarray(counts.reshape(*labels.shape[:-1], -1, n_clusters).argmax(axis=-1))


def part_graphs(
    psi: Psi, embedding: Array, n_clusters: int, rng: np.random.RandomState, *, n_draws: int = 1
) -> list[PartGraph]:
    """Several ways to cut rows into small parts by k-means of their embedding (n, q); psi is (n, D).

    Every other draw starts k-means greedily, which spreads centres, and the others by single draws, which follow the
    density of the rows: either may miss a small cluster.
    """
    rows = unit_rows(embedding)

    def graph(draw: tuple[int, bool, np.random.RandomState]) -> PartGraph:
        parts = _small_parts(rows, *draw)
        shares = cluster_shares(psi, parts, int(parts.max()) + 1)
        return PartGraph(parts, shares, (shares * inverse(shares.sum(axis=0))) @ shares.T)

    most = max(2 * n_clusters, len(rows) // ROWS_PER_PART)
    sizes = [min(max(per_cluster * n_clusters, least), most, len(rows)) for per_cluster, least in PARTS]
    ways = [(size, draw % 2 == 0) for draw in range(n_draws) for size in sizes]
    return mapped(graph, [(*way, own) for way, own in zip(ways, generators(rng, len(ways)), strict=True)])


def _small_parts(rows: Array, n_parts: int, greedy: bool, rng: np.random.RandomState) -> Labels:
    """Parts (n,) of `rows` (n, q), numbered without gaps, by k-means."""
    parts = kmeans(rows, n_parts, n_starts=1, rng=rng, max_iter=PART_STEPS, greedy=greedy).labels[0]
    return np.unique(parts, return_inverse=True)[1].astype(np.int32)


def join_by_modularity(graph: PartGraph, n_groups: int) -> Indices:
    """Groups (M,) of the parts, joined two at a time by the largest gain of modularity."""
    sizes = graph.weights.sum(axis=1)
    gains = graph.weights - np.outer(sizes, sizes)
    np.fill_diagonal(gains, -np.inf)
    group = np.arange(len(gains))
    for _ in range(len(gains) - n_groups):
        first, second = np.unravel_index(gains.argmax(), gains.shape)
        gains[first] += gains[second]
        gains[:, first] = gains[first]
        gains[first, first] = gains[second] = gains[:, second] = -np.inf
        group[group == second] = first
    return np.unique(group, return_inverse=True)[1]


def join_by_strength(graph: PartGraph, n_groups: int) -> Indices:
    """Groups (M,) of the parts, joined two at a time by the strongest join.

    The strength of a join between groups A and B is the mean of rho over the parts that touch, times the root of
    W_AB / min(p_A, p_B), the share of the smaller group that leads to the other. Once only `n_groups` larger groups are
    left, groups too small to be clusters are joined first.
    """
    cut = graph.weights.copy()
    np.fill_diagonal(cut, 0)
    strong = cut * joins(graph.weights)
    sizes = graph.weights.sum(axis=1)
    group = np.arange(len(cut))
    alive = np.ones(len(cut), np.bool_)
    strength = strong * inverse(cut, 0.5) * inverse(np.minimum.outer(sizes, sizes), 0.5)
    np.fill_diagonal(strength, -1)
    for _ in range(len(cut) - n_groups):
        small = alive & (sizes < SMALL_CLUSTER / n_groups)
        only_small = small.any() and (alive & ~small).sum() <= n_groups
        rows = np.flatnonzero(small if only_small else alive)
        place, second = np.unravel_index(strength[rows].argmax(), (len(rows), len(cut)))
        first = rows[place]
        for table in (cut, strong):
            table[first] += table[second]
            table[:, first] = table[first]
            table[first, first] = 0
        sizes[first] += sizes[second]
        group[group == second] = first
        alive[second] = False
        # Only the joins of the new group have changed.
        own = strong[first] * inverse(cut[first], 0.5) * inverse(np.minimum(sizes, sizes[first]), 0.5)
        own[~alive] = own[first] = -1
        strength[first] = strength[:, first] = own
        strength[second] = strength[:, second] = -1
    return np.unique(group, return_inverse=True)[1]


def joins(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """rho (M, M) from W (M, M)."""
    own = inverse(np.diag(weights), 0.5)
    return weights * own[:, None] * own


def cut_join(graph: PartGraph, groups: Indices) -> NDArray[np.float64]:
    """The mean join r (...) over the edges between different groups (..., M) of parts; zero if there are none."""
    weights = np.stack([graph.weights, graph.weights * joins(graph.weights)]).reshape(2, -1)
    cuts = ((each[:, None] != each).ravel() for each in groups.reshape(-1, groups.shape[-1]))
    total, joined = np.array([weights @ cut for cut in cuts]).T
    return np.where(total > 0, joined / np.where(total > 0, total, 1), 0.0).reshape(groups.shape[:-1])


def separation(graphs: list[PartGraph], labels: Labels, n_clusters: int) -> NDArray[np.float64]:
    """J (...) of labels (..., n) of the rows that the graphs were made from."""
    found = [np.log(_seen_join(graph, graph.groups_of(labels, n_clusters), n_clusters) + WEAK_JOIN) for graph in graphs]
    sizes = np.stack([(labels == k).mean(axis=-1) for k in range(n_clusters)])
    entropy = -(sizes * np.log(np.where(sizes > 0, sizes, 1))).sum(axis=0)
    return EVENNESS * n_clusters * entropy - np.mean(found, axis=0)


def _seen_join(graph: PartGraph, groups: Indices, n_clusters: int) -> NDArray[np.float64]:
    """The mean join r (...) over the cut of groups (..., M); one, as inside a cluster, if a cluster has no part.

    Its rows are spread over parts of other clusters, so that the graph does not show whether they are separate.
    """
    all_seen = np.stack([(groups == k).any(axis=-1) for k in range(n_clusters)]).all(axis=0)
    return np.where(all_seen, cut_join(graph, groups), 1.0)
