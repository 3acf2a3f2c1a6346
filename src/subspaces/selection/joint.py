"""Several sets of landmarks as one: their graphs are joined and cut once.

One set of landmarks can miss a small cluster, and a cut that looks good on its graph may be an accident of where the
landmarks are. Landmarks of several sets together describe rows better, as more landmarks do. The partitions of the
single sets are candidates for the cut of the joint graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack

from subspaces._core.arrays import Labels
from subspaces.metrics.labels import labels_agreement
from subspaces.selection.clustering import Clustering, CutSetting, with_numbers
from subspaces.selection.confidence import Confidence, confidence
from subspaces.selection.limits import JOINT_DRAWS, N_STARTS_EACH
from subspaces.selection.partition import PartitionChoice, choose_partition
from subspaces.selection.thresholds import SURE_AGREEMENT
from subspaces.selection.voting import Voter, named_opinion, opinion, vote
from subspaces.spectral.iterated import sparse_spectrum
from subspaces.spectral.partition import Partition, assign, partition_of_labels


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """A clustering by the landmarks of several sets."""

    whole: Clustering  # psi and scores are those of all sets side by side
    sets: tuple[Clustering, ...]  # each with its own clusters
    voters: tuple[Voter, ...]  # the landmarks of each set

    @property
    def labels(self) -> Labels:
        """Cluster (n,) of each row."""
        return self.whole.labels

    @property
    def agreements(self) -> list[float]:
        """How far the clusters of each set agree with those of all."""
        return [labels_agreement(self.labels, each.labels) for each in self.sets]

    @property
    def best(self) -> Clustering:
        """The set that agrees most, with the clusters of all."""
        best = self.sets[int(np.argmax(self.agreements))]
        k = self.whole.partition.n_clusters
        partition = partition_of_labels(best.psi, self.labels, k, best.spectrum, self.whole.partition.origin)
        return replace(best, partition=partition, labels=self.labels)


def is_doubtful(clustering: Clustering) -> bool:
    """Whether another partition is better separated than that of the largest modularity, and differs from it."""
    choice = clustering.choice
    if choice is None or not 0 < choice.density.separation - choice.balanced.separation < np.inf:
        return False
    other = choice.other_labels(clustering.psi, clustering.spectrum)
    return labels_agreement(clustering.labels, other) < SURE_AGREEMENT


def join_sets(sets: Sequence[Clustering], setting: CutSetting, rng: np.random.RandomState) -> Joint:
    """Cluster rows by the landmarks of several sets together."""
    k = setting.n_clusters
    psi = hstack([each.psi for each in sets]).tocsr()
    psi.data /= len(sets)
    # Rows near the flats of at least half of the sets.
    counts = sum(np.bincount(each.inliers, minlength=psi.shape[0]) for each in sets)
    inliers = np.flatnonzero(2 * counts >= len(sets))
    spectrum = sparse_spectrum(psi, setting.n_computed)
    choice = choose_partition(
        psi,
        spectrum,
        inliers,
        k,
        counts=setting.n_vectors,
        n_starts=N_STARTS_EACH,
        polish=True,
        rng=rng,
        kind=setting.kind,
        n_draws=JOINT_DRAWS,
        given=[labels for each in sets for labels in _own_labels(each)],
    )
    partition = choice.winner
    if partition.landmark_scores is None:
        known = partition_of_labels(psi, assign(psi, spectrum, partition), k, spectrum, partition.origin)
        partition = replace(known, modularity=partition.modularity, separation=partition.separation)

    def label(partition: Partition) -> Labels:
        return vote([opinion(each.psi, own) for each, own in zip(sets, _scores(partition, sets), strict=True)])

    whole = replace(
        sets[0],
        psi=psi,
        inliers=inliers,
        distances=None,
        spectrum=spectrum,
        choice=choice,
        partition=partition,
        labels=label(partition),
    )
    whole = with_numbers(whole, label)
    scores = _scores(whole.partition, sets)
    voters = tuple(Voter(each.features, own, each.unit) for each, own in zip(sets, scores, strict=True))
    return Joint(whole, tuple(sets), voters)


def _scores(partition: Partition, sets: Sequence[Clustering]) -> list[NDArray[np.float64]]:
    """How far the landmarks of each set belong to each cluster (D, K)."""
    ends = np.cumsum([each.psi.shape[1] for each in sets])
    return np.split(np.asarray(partition.landmark_scores, np.float64), ends[:-1])


def _own_labels(clustering: Clustering) -> list[Labels]:
    """Labels (n,) of the partitions among which a clustering has chosen."""
    choice: PartitionChoice | None = clustering.choice
    if choice is None or choice.density is choice.balanced:
        return [clustering.labels]
    return [clustering.labels, choice.other_labels(clustering.psi, clustering.spectrum)]


def joint_confidence(joint: Joint, setting: CutSetting, rng: np.random.RandomState) -> Confidence:
    """How far halves of the sets, joined in the same way, agree with each other."""
    k, labels = setting.n_clusters, joint.labels
    halves = [join_sets(half, setting, rng).whole for half in (joint.sets[::2], joint.sets[1::2])]
    opinions = [named_opinion(each, labels, k) for each in halves]
    together = named_opinion(joint.whole, labels, k)
    return confidence(labels, opinions, joint.whole.inliers, together=together, mutual=True)
