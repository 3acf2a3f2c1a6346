"""Confidence in labels: would other landmarks give the same clusters?

An opinion is a second clustering of the same rows from other landmarks, with matching names of clusters. Halves of the
landmarks serve as other landmarks and need no new distances. The confidence in a row is the mean share of its landmarks
that belong to its own cluster, over the halves and all landmarks together. The overall agreement is the mean adjusted
Rand index between the labels and the opinions of the halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from subspaces._core.arrays import Array, Indices, Labels
from subspaces._core.callers import warn_caller
from subspaces._core.threads import generators, mapped
from subspaces.metrics.labels import labels_agreement
from subspaces.selection.clustering import Clustering
from subspaces.selection.limits import OPINION_ROWS, OPINION_STARTS
from subspaces.selection.partition import choose_partition
from subspaces.selection.structure import refit
from subspaces.selection.verdict_thresholds import COIN_TOSS
from subspaces.selection.voting import matched, matching, named_opinion, opinion
from subspaces.spectral.iterated import sparse_spectrum
from subspaces.spectral.modularity import cluster_shares, landmark_scores, row_stochastic
from subspaces.spectral.partition import assign, at_most, few_vector_counts


@dataclass(frozen=True, slots=True, eq=False)
class Confidence:
    """How far other landmarks agree, for each row and overall."""

    rows: Array  # (n,), from 0 to 1
    overall: float  # mean adjusted Rand index: 1 for the same clusters, 0 for chance


def flat_confidence(draw: Clustering, rows: Array, sample: Indices, rng: np.random.RandomState) -> Confidence:
    """How far whole flats of halves of the rows agree with those of a clustering of rows (n, q), not scaled.

    Flats were found on the rows at `sample` (m,); each half may find others that describe it better. Outliers, which
    no flat encodes, do not count for the overall agreement.
    """
    k = draw.partition.n_clusters
    encoded = draw.structure.code.chosen < k
    starts = np.where(encoded, draw.structure.code.chosen, -1)
    opinions = []
    for half in np.array_split(rng.permutation(len(sample)), 2):
        shares = refit(draw.structure, rows[sample[half]], starts[half], rng).shares(rows)
        names = matching(draw.labels, shares.argmax(axis=1), k)
        opinions.append(shares[:, np.argsort(names)])
    return confidence(draw.labels, opinions, sample[encoded] if encoded.any() else sample)


def half_confidence(draw: Clustering, n_clusters: int, *, kind: str, rng: np.random.RandomState) -> Confidence:
    """How far halves of the landmarks of a clustering agree with it; options as in `half_opinions`."""
    together = named_opinion(draw, draw.labels, n_clusters)
    opinions = half_opinions(draw, n_clusters, kind=kind, rng=rng)
    return confidence(draw.labels, opinions, draw.inliers, together=together)


def half_opinions(draw: Clustering, n_clusters: int, *, kind: str, rng: np.random.RandomState) -> list[Array]:
    """Opinions of two halves of the landmarks: the share (n, K) of each row's landmarks in each cluster.

    `kind` is as in `choose_partition`.
    """
    n, n_landmarks = draw.psi.shape
    if n_landmarks < 2 or n_clusters == 1:
        return [np.ones((n, n_clusters), draw.psi.dtype)]
    is_inlier = np.zeros(n, bool)
    is_inlier[draw.inliers] = True
    columns = draw.psi.tocsc()
    counts = few_vector_counts(n_clusters)
    halves = np.array_split(rng.permutation(n_landmarks), [n_landmarks // 2])

    def opinion_of(draw_of_half: tuple[Indices, np.random.RandomState]) -> Array:
        half, own = draw_of_half
        weights = row_stochastic(columns[:, np.sort(half)].tocsr())
        known = np.asarray(weights.sum(axis=1)).ravel() > 0
        sample = at_most(np.flatnonzero(known), OPINION_ROWS, own)
        if not len(sample):
            return np.full((n, n_clusters), 1 / n_clusters, draw.psi.dtype)
        seen, inliers = weights[sample], np.flatnonzero(is_inlier[sample])
        spectrum = sparse_spectrum(seen, max(counts))
        choice = choose_partition(
            seen,
            spectrum,
            inliers if len(inliers) else np.arange(len(sample)),
            n_clusters,
            counts=counts,
            n_starts=OPINION_STARTS,
            polish=n_landmarks < n,
            rng=own,
            kind=kind,
            n_draws=1,
        )
        found = matched(draw.labels[sample], assign(seen, spectrum, choice.winner), n_clusters)
        return opinion(weights, landmark_scores(cluster_shares(seen, found, n_clusters)))

    return mapped(opinion_of, zip(halves, generators(rng, len(halves)), strict=True))


def confidence(
    labels: Labels,
    opinions: Sequence[Array],
    inliers: Indices,
    *,
    together: Array | None = None,
    mutual: bool = False,
) -> Confidence:
    """How far the opinions (n, K) agree with the labels (n,); overall agreement is that on the `inliers`.

    The opinion of all landmarks `together` (n, K) counts for each row, but not for the overall agreement, because the
    labels come from it. With `mutual`, it is the agreement of the opinions with each other: use it if the labels may be
    those of one opinion.
    """
    counted = [*opinions] if together is None else [*opinions, together]
    own = np.mean([each[np.arange(len(labels)), labels] for each in counted], axis=0)
    # A row without landmarks in a half has no opinion there and is left out.
    known = inliers[np.min([np.ptp(each[inliers], axis=1) for each in opinions], axis=0) > 0]
    if len(known) == 0:
        known = inliers
    others = [each[known].argmax(axis=1) for each in opinions]
    pairs = combinations(others, 2) if mutual else [(labels[known], each) for each in others]
    overall = float(np.mean([labels_agreement(*pair) for pair in pairs]))
    return Confidence(own.astype(opinions[0].dtype), overall)


def warn_if_coin_toss(overall: float, *, by_flats: bool) -> None:
    """Warn if other landmarks, or flats of other rows, would have given other clusters."""
    if overall < COIN_TOSS:
        varied = "Halves of the rows" if by_flats else "Other landmarks"
        warn_caller(
            f"{varied} give other clusters (agreement {overall:.2f}, where 1 is the same and 0 is chance): "
            "X may have no such clusters, or another number of them; look at choice_ and confidence_.",
            ConvergenceWarning,
        )
