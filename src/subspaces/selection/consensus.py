"""Agreement between clusterings from different landmarks, and the labels that most of them give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from subspaces._core.arrays import Array, Labels
from subspaces.selection.clustering import Clustering
from subspaces.selection.confidence import Confidence, confidence, flat_confidence, half_confidence
from subspaces.selection.decisions import draws_decision, partition_decision, structure_decision
from subspaces.selection.limits import UNSURE_DRAWS
from subspaces.selection.record import Decision
from subspaces.selection.setting import Setting
from subspaces.selection.structure import Structure
from subspaces.selection.thresholds import SURE_AGREEMENT
from subspaces.selection.voting import (
    Voter,
    elect,
    is_doubtful,
    named_opinion,
    of_one_kind,
    rank_clusterings,
    with_kind,
    with_numbers_of,
    with_own_numbers,
)


@dataclass(frozen=True, slots=True, eq=False)
class Consensus:
    """The best of one or several clusterings, the labels they agree on, and how sure these are."""

    best: Clustering
    labels: Labels  # (n,)
    voters: tuple[Voter, ...]  # empty if the best decides alone
    confidence: Confidence | None  # None for dense psi, which has no nearest landmarks
    decisions: tuple[Decision, ...]
    structure: Structure | None = None  # of the first clustering


def find_consensus(
    first: Clustering,
    rows: Array,
    setting: Setting,
    again: Callable[[], Clustering],
    rng: np.random.RandomState,
) -> Consensus:
    """Compare a clustering of rows (n, q), not scaled, with those of other landmarks.

    Halves of its own landmarks come first, or halves of the rows if clusters are flat. If halves of the landmarks
    disagree, sizes of clusters are in doubt, or several landmark sets were asked for, `again` clusters the rows with
    new landmarks. All together say what a good partition is; the best is kept, and those that agree with it vote.
    """
    if not first.features.is_sparse:
        return Consensus(first, first.labels, (), None, ())
    k, choice = setting.n_clusters, first.choice
    decisions = [] if first.structure is None else [structure_decision(first.structure)]
    if choice is not None and k > 1:
        decisions.append(partition_decision(choice, first.partition))
    if first.partition.flats is not None:
        halves = flat_confidence(first, rows, setting.flat_sample, rng)
        return Consensus(first, first.labels, (), halves, tuple(decisions), first.structure)
    found, more = None, (setting.n_draws or 1) - 1
    if not more:
        found = half_confidence(first, k, kind="balanced" if choice is None else choice.kind, rng=rng)
        # Other landmarks are as good only if there are fewer landmarks than rows.
        sampled = first.features.n_components < len(first.labels)
        if setting.n_draws is None and sampled and (found.overall < SURE_AGREEMENT or is_doubtful(first)):
            more = UNSURE_DRAWS - 1
    if not more:
        return Consensus(first, first.labels, (), found, tuple(decisions), first.structure)
    drawn = [first, *(again() for _ in range(more))]
    clusterings = [with_own_numbers(each) for each in of_one_kind(drawn, k)] if setting.cut.kind == "auto" else drawn
    ranking = rank_clusterings(clusterings)
    labels, voters = elect([clusterings[i] for i in ranking.voters], k)
    decisions.append(draws_decision(ranking, clusterings, voted=bool(voters)))
    # Opinions are those of the own partition of each: clusterings that took over another's would agree with it.
    kinds = [each.choice.kind if each.choice else "balanced" for each in clusterings]
    own = [with_kind(each, kind) for each, kind in zip(drawn, kinds, strict=True)]
    opinions = [named_opinion(each, labels, k) for each in own]
    best = with_numbers_of(clusterings[ranking.best], labels, k)
    found = confidence(labels, opinions, best.inliers, voted=True)
    return Consensus(best, labels, voters, found, tuple(decisions), first.structure)
