"""Agreement between clusterings from different landmarks, and the labels that most of them give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from subspaces._core.arrays import Labels
from subspaces.selection.clustering import Clustering
from subspaces.selection.confidence import Confidence, FinalStep, confidence, half_confidence
from subspaces.selection.decisions import draws_decision, partition_decision
from subspaces.selection.record import Decision
from subspaces.selection.setting import Setting
from subspaces.selection.thresholds import SURE_AGREEMENT, UNSURE_DRAWS
from subspaces.selection.voting import Voter, elect, is_doubtful, named_opinion, of_one_kind, rank_clusterings


@dataclass(frozen=True, slots=True, eq=False)
class Consensus:
    """The best of one or several clusterings, the labels they agree on, and how sure these are."""

    best: Clustering
    labels: Labels  # (n,)
    voters: tuple[Voter, ...]  # empty if the best decides alone
    confidence: Confidence | None  # None for dense psi, which has no nearest landmarks
    decisions: tuple[Decision, ...]


def find_consensus(
    first: Clustering,
    setting: Setting,
    again: Callable[[], Clustering],
    rng: np.random.RandomState,
    *,
    final: FinalStep | None = None,
) -> Consensus:
    """Compare a clustering with those of other landmarks.

    Halves of its own landmarks come first. If these disagree, or several landmark sets were asked for, `again` clusters
    the rows with new landmarks; the best is kept, and those that agree with it vote. `final` is as in
    `half_confidence`.
    """
    if not first.features.is_sparse:
        return Consensus(first, first.labels, (), None, ())
    k, automatic = setting.n_clusters, setting.cut.kind == "auto"
    found, more = None, (setting.n_draws or 1) - 1
    if not more:
        found = half_confidence(first, k, kind=setting.cut.kind, rng=rng, final=final)
        unsure = found.overall < SURE_AGREEMENT or (automatic and is_doubtful(first))
        # Other landmarks are as good only if there are fewer landmarks than rows.
        if setting.n_draws is None and unsure and first.features.n_components < len(first.labels):
            more = UNSURE_DRAWS - 1
    clusterings = [first, *(again() for _ in range(more))]
    if more and automatic:
        clusterings = of_one_kind(clusterings)
    ranking = rank_clusterings(clusterings)
    best = clusterings[ranking.best]
    decisions = []
    if best.choice is not None and k > 1:
        decisions.append(partition_decision(best.choice, best.partition))
    if not more:
        return Consensus(best, best.labels, (), found, tuple(decisions))
    labels, voters = elect([clusterings[i] for i in ranking.voters], k)
    decisions.append(draws_decision(ranking, clusterings, voted=bool(voters)))
    opinions = [named_opinion(each, labels, k) for each in clusterings]
    found = confidence(labels, opinions, best.inliers, voted=True)
    return Consensus(best, labels, voters, found, tuple(decisions))
