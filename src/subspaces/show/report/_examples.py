"""Rows that show what a cluster is: typical ones, those on its border, and those that fit it badly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.blocks import row_blocks
from subspaces.show.plots._look import OUTLIER
from subspaces.show.report._clusters import ClusterFacts
from subspaces.show.report._pictures import Pictures
from subspaces.show.report._plain import number, numbers
from subspaces.show.report._subject import Subject

Floats = NDArray[np.float64]

# Rows of each kind, and columns of each.
PICTURES_EACH = 8
ROWS_EACH = 3
TELLING_COLUMNS = 5
# The mean image of a cluster is that of so many rows at most.
MEAN_ROWS = 2000


def examples(subject: Subject, facts: ClusterFacts) -> list[dict[str, Any]]:
    """For each cluster with rows, and for the outliers, rows of each kind and the columns that tell most of it."""
    clusters = [k for k in (*range(subject.n_clusters), OUTLIER) if len(subject.members(k))]
    if subject.pictures is not None:
        return _in_pictures(subject, facts, subject.pictures, clusters)
    means, divergences = telling(subject)
    overall = subject.values.mean(axis=0, dtype=np.float64)
    found = []
    for k in clusters:
        columns = np.argsort(-divergences[k], kind="stable")[:TELLING_COLUMNS]
        told = [
            {"name": subject.columns[j], "mean": number(means[k, j], 4), "all": number(overall[j], 4)} for j in columns
        ]
        rows = {
            kind: [_row(subject, facts, i) | {"values": numbers(subject.values[i, columns], 4)} for i in chosen]
            for kind, chosen in example_rows(subject, facts, k).items()
        }
        found.append({"cluster": k, "columns": told, **rows})
    return found


def _in_pictures(
    subject: Subject, facts: ClusterFacts, pictures: Pictures, clusters: list[int]
) -> list[dict[str, Any]]:
    """The same where rows are images."""
    side = pictures.example_side(3 * PICTURES_EACH * len(clusters))
    return [
        {
            "cluster": k,
            "mean": pictures.mean_uri(subject.members(k)[:MEAN_ROWS], side),
            **{
                kind: [_row(subject, facts, i) | {"image": pictures.uri(int(i), side)} for i in chosen]
                for kind, chosen in example_rows(subject, facts, k).items()
            },
        }
        for k in clusters
    ]


def _row(subject: Subject, facts: ClusterFacts, index: np.intp) -> dict[str, Any]:
    i = int(index)
    return {
        **subject.row(i),
        "confidence": None if subject.confidence is None else number(subject.confidence[i], 3),
        "own": number(facts.own[i], 4),
        "other": number(facts.other[i], 4),
        "nearest": int(facts.nearest[i]) if facts.nearest[i] >= 0 else None,
    }


def example_rows(subject: Subject, facts: ClusterFacts, cluster: int) -> dict[str, NDArray[np.intp]]:
    """Rows of a cluster by kind, none of them twice.

    Typical: of the half that is least unusual, those with the largest margin, surely theirs. Borderline: of the least
    confidence, or margin. Outlying: the most unusual.
    """
    members = subject.members(cluster)
    scores = facts.scores[members]
    count = min(PICTURES_EACH if subject.pictures is not None else ROWS_EACH, max(1, len(members) // 3))
    if cluster == OUTLIER:
        return {"outlying": members[np.argsort(-scores, kind="stable")[: 2 * count]]}
    margin = np.nan_to_num(facts.margin[members])
    by_score = np.argsort(scores, kind="stable")
    usual = by_score[: -(-len(members) // 2)]
    typical = usual[np.argsort(-margin[usual], kind="stable")[:count]]
    left = np.setdiff1d(by_score[::-1], typical, assume_unique=True)
    outlying = left[np.argsort(-scores[left], kind="stable")[:count]]
    left = np.setdiff1d(left, outlying, assume_unique=True)
    doubt = margin if subject.confidence is None else subject.confidence[members] + 1e-3 * margin
    borderline = left[np.argsort(doubt[left], kind="stable")[:count]] if subject.n_clusters > 1 else left[:0]
    return {"typical": members[typical], "borderline": members[borderline], "outlying": members[outlying]}


def telling(subject: Subject) -> tuple[Floats, Floats]:
    """Means (K + 1, q) of columns in clusters, and how much each column says about a cluster: (K + 1, q).

    That is the divergence of a normal distribution with the mean and spread of the cluster from that of all rows. The
    last line is that of the outliers.
    """
    k, (n, q) = subject.n_clusters, subject.values.shape
    center = subject.values.mean(axis=0, dtype=np.float64)
    counts, sums, squares = np.zeros((k + 1, 1)), np.zeros((k + 1, q)), np.zeros((k + 1, q))
    for block in row_blocks(n, 24 * q):
        rows = subject.values[block] - center
        for label in np.unique(subject.labels[block]):
            own = rows[subject.labels[block] == label]
            counts[label] += len(own)
            sums[label] += own.sum(axis=0)
            squares[label] += np.square(own).sum(axis=0)
    means = sums / np.maximum(counts, 1)
    variances = np.maximum(squares / np.maximum(counts, 1) - means**2, 0)
    total = np.maximum(squares.sum(axis=0) / n, 0)
    # Columns that hardly vary anywhere say nothing; in a cluster they may stand still.
    usable = total > 1e-12 * max(float(total.max()), 1e-300)
    safe = np.where(usable, total, 1.0)
    ratio = np.maximum(variances / safe, 1e-6)
    divergence = np.where(usable, (ratio + means**2 / safe - 1 - np.log(ratio)) / 2, -1.0)
    return means + center, divergence
