"""Several clusterings of the same rows from different landmarks: which is the best of them, and how they vote.

A draw of landmarks can miss a small cluster. The draw to trust is well separated (`joins.py`) and agrees with the
others; those that agree with it vote on the label of every row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from subspaces._core.arrays import Array, Indices, Labels, concatenate, device, namespace
from subspaces.estimators._base import Draw
from subspaces.features import FeatureMap
from subspaces.metrics.labels import labels_agreement
from subspaces.spectral.modularity import cluster_shares, landmark_scores
from subspaces.spectral.partition import SAME_AGREEMENT, SURE_AGREEMENT, assign, settle
from subspaces.spectral.spectrum import AnyPsi, product

# Separation tells draws apart by a few tenths; agreement between none and all of it counts for more.
AGREEMENT_WEIGHT = 2.0
# The mean over draws varies less than what separation gains in one of them, and need not be as large; one draw with a
# gain not far below is a reason to ask others.
MEAN_MARGIN = 0.15
DOUBTFUL_GAIN = 0.1


def of_one_kind(draws: Sequence[Draw]) -> list[Draw]:
    """Draws that go by separation, all of them or none: by the mean of what it gains over modularity.

    One draw may gain or not by chance. Flat clusters, or nothing to choose between, leave draws as they are.
    """
    mean_gain = float(np.mean([_gain(draw) for draw in draws]))
    if not np.isfinite(mean_gain):
        return list(draws)
    return [with_partition(draw, separated=mean_gain > MEAN_MARGIN) for draw in draws]


def is_doubtful(draw: Draw) -> bool:
    """Whether a draw that goes by modularity might have gone by separation, to other clusters."""
    if draw.choice is None or draw.partition is not draw.choice.balanced:
        return False
    if not DOUBTFUL_GAIN < _gain(draw) < np.inf:
        return False
    return labels_agreement(draw.labels, assign(draw.psi, draw.spectrum, draw.choice.density)) < SAME_AGREEMENT


def _gain(draw: Draw) -> float:
    """What separation gains over modularity; not finite where clusters are flat or there is nothing to choose."""
    choice = draw.choice
    if choice is None or draw.partition is not choice.winner:
        return float("nan")
    return choice.density.separation - choice.balanced.separation


def with_partition(draw: Draw, *, separated: bool) -> Draw:
    """`draw` with the best separated partition of its candidates, or with that of the largest modularity."""
    assert draw.choice is not None
    wanted = draw.choice.density if separated else draw.choice.balanced
    if wanted is draw.partition:
        return draw
    if separated and wanted.landmark_scores is not None:
        wanted = replace(settle(wanted, draw.psi, draw.spectrum), separation=wanted.separation)
    choice = replace(draw.choice, winner=wanted, density=wanted if separated else draw.choice.density)
    return replace(draw, choice=choice, partition=wanted, labels=assign(draw.psi, draw.spectrum, wanted))


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Draws compared with each other."""

    separations: Array  # (m,), zero where there is none
    agreements: Array  # (m,), mean adjusted Rand index with the other draws
    support: Array  # (m,), separation and `AGREEMENT_WEIGHT` times agreement
    best: int  # of the largest support
    voters: Indices  # draws that agree with the best, which comes first


def rank_draws(draws: Sequence[Draw]) -> Ranking:
    """Which of several draws to trust."""
    table = np.array([[labels_agreement(one.labels, other.labels) for one in draws] for other in draws])
    agreements = (table.sum(axis=1) - 1) / max(1, len(draws) - 1)
    found = np.array([draw.partition.separation for draw in draws])
    # Clusters too small to be separated are worse than any that are.
    separations = np.nan_to_num(found, nan=0.0, neginf=min(found[np.isfinite(found)], default=0.0) - 1)
    support = separations + AGREEMENT_WEIGHT * agreements
    best = int(support.argmax())
    others = [i for i in range(len(draws)) if i != best and table[best, i] >= SURE_AGREEMENT]
    return Ranking(separations, agreements, support, best, np.array([best, *others]))


def matched(labels: Labels, other: Labels, n_clusters: int) -> Labels:
    """The labels `other` (n,), with each cluster named after the one of `labels` (n,) it shares most rows with."""
    together = np.bincount(other.astype(np.int64) * n_clusters + labels, minlength=n_clusters**2)
    names = linear_sum_assignment(-together.reshape(n_clusters, n_clusters))[1]
    return np.asarray(names[other], np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Voter:
    """Landmarks that know which clusters they belong to."""

    features: FeatureMap
    scores: NDArray[np.float64]  # (D, K)

    def shares(self, rows: Array) -> Array:
        """The share (n, K) of each row's landmarks that belong to each cluster; rows are (n, q)."""
        return concatenate([opinion(psi, self.scores) for psi in self.features.blocks(rows)])


def elect(features: Sequence[FeatureMap], draws: Sequence[Draw], n_clusters: int) -> tuple[Labels, list[Voter]]:
    """Labels (n,) by vote of draws that agree, the best of them first, and those who voted.

    The best has the word alone where there is no other, where clusters are flat, or where a vote leaves one empty.
    """
    best = draws[0]
    if len(draws) == 1 or best.partition.flats is not None:
        return best.labels, []
    voters = matched_voters(features, draws, n_clusters)
    voted = vote([opinion(draw.psi, voter.scores) for draw, voter in zip(draws, voters, strict=True)])
    return (voted, voters) if len(np.unique(voted)) >= len(np.unique(best.labels)) else (best.labels, [])


def matched_voters(features: Sequence[FeatureMap], draws: Sequence[Draw], n_clusters: int) -> list[Voter]:
    """Several draws of landmarks, their clusters named alike: after the first, and once more after their own vote."""
    labels = vote([named_opinion(draw, draws[0].labels, n_clusters) for draw in draws])
    return [Voter(each, named_scores(draw, labels, n_clusters)) for each, draw in zip(features, draws, strict=True)]


def named_opinion(draw: Draw, labels: Labels, n_clusters: int) -> Array:
    """The `opinion` (n, K) of a draw on its own rows, clusters named after those of `labels` (n,)."""
    return opinion(draw.psi, named_scores(draw, labels, n_clusters))


def named_scores(draw: Draw, labels: Labels, n_clusters: int) -> NDArray[np.float64]:
    """How far each landmark of a draw belongs to each cluster (D, K), clusters named after those of `labels` (n,)."""
    return landmark_scores(cluster_shares(draw.psi, matched(labels, draw.labels, n_clusters), n_clusters))


def opinion(psi: AnyPsi, scores: NDArray[np.float64]) -> Array:
    """The share (n, K) of each row's landmarks that belong to each cluster; equal shares where it has none."""
    shares = product(psi, scores)
    xp = namespace(shares)
    total = xp.sum(shares, axis=1, keepdims=True)
    equal = xp.asarray(1 / shares.shape[1], dtype=shares.dtype, device=device(shares))
    return xp.where(total > 0, shares / xp.where(total > 0, total, 1.0), equal)


def vote(opinions: Sequence[Array]) -> Labels:
    """The cluster (n,) that opinions (n, K) speak for most."""
    xp = namespace(opinions[0])
    return xp.astype(xp.argmax(sum(opinions[1:], opinions[0]), axis=1), xp.int32)
