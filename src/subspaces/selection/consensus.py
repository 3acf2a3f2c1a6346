"""Agreement between clusterings from different landmarks, and one clustering by all if they do not agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from subspaces._core.arrays import Array, Labels
from subspaces.selection.clustering import Clustering
from subspaces.selection.confidence import Confidence, flat_confidence, half_confidence
from subspaces.selection.decisions import partition_decision, sets_decision, structure_decision
from subspaces.selection.joint import is_doubtful, join_sets, joint_confidence
from subspaces.selection.limits import UNSURE_DRAWS
from subspaces.selection.record import Decision
from subspaces.selection.setting import Setting
from subspaces.selection.structure import Structure
from subspaces.selection.thresholds import SURE_AGREEMENT
from subspaces.selection.voting import Voter


@dataclass(frozen=True, slots=True, eq=False)
class Consensus:
    """A clustering by one or several sets of landmarks, and how sure its labels are."""

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
    new landmarks, and the graph of all landmarks together is cut.
    """
    if not first.features.is_sparse:
        return Consensus(first, first.labels, (), None, ())
    k, choice = setting.n_clusters, first.choice
    # A structure that was found before the graph is in the record of the setting.
    is_new = first.structure is not None and setting.structure is None
    decisions = [structure_decision(first.structure)] if is_new else []
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
            more = UNSURE_DRAWS
    if not more:
        return Consensus(first, first.labels, (), found, tuple(decisions), first.structure)
    # Further sets that were not asked for are of the simplest kind and replace the first.
    further = [again() for _ in range(more)]
    joint = join_sets([first, *further] if setting.n_draws else further, setting.cut, rng)
    found = joint_confidence(joint, setting.cut, rng)
    assert joint.whole.choice is not None
    decisions = [
        *decisions[:is_new],
        partition_decision(joint.whole.choice, joint.whole.partition),
        sets_decision(joint),
    ]
    return Consensus(joint.best, joint.labels, joint.voters, found, tuple(decisions), first.structure)
