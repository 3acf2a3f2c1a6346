"""Example rows of each cluster: typical, borderline and unusual ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.blocks import row_blocks
from subspaces.show.look import OUTLIER
from subspaces.show.report.clusters import ClusterFacts
from subspaces.show.report.pictures import Pictures
from subspaces.show.report.plain import number, numbers
from subspaces.show.report.subject import Subject

Floats = NDArray[np.float64]

# Rows of each kind if rows are images, rows of each kind otherwise, and columns shown.
PICTURES_EACH = 8
ROWS_EACH = 3
SHOWN_COLUMNS = 5
# The mean image of a cluster uses at most this many rows.
MEAN_ROWS = 2000


def examples(subject: Subject, facts: ClusterFacts) -> list[dict[str, Any]]:
    """Example rows of each non-empty cluster and of the outliers, with the columns that characterise it best."""
    clusters = [k for k in (*range(subject.n_clusters), OUTLIER) if len(subject.members(k))]
    if subject.pictures is not None:
        return _in_pictures(subject, facts, subject.pictures, clusters)
    means, divergences = column_divergences(subject)
    overall = subject.values.mean(axis=0, dtype=np.float64)
    found = []
    for k in clusters:
        columns = np.argsort(-divergences[k], kind="stable")[:SHOWN_COLUMNS]
        shown = [
            {"name": subject.columns[j], "mean": number(means[k, j], 4), "all": number(overall[j], 4)} for j in columns
        ]
        rows = {
            kind: [_row(subject, facts, i) | {"values": numbers(subject.values[i, columns], 4)} for i in chosen]
            for kind, chosen in example_rows(subject, facts, k).items()
        }
        found.append({"cluster": k, "columns": shown, **rows})
    return found


def _in_pictures(
    subject: Subject, facts: ClusterFacts, pictures: Pictures, clusters: list[int]
) -> list[dict[str, Any]]:
    """Example rows that are images, with the mean image of each cluster."""
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
    """Indices of example rows of a cluster, by kind; no row appears twice.

    Typical rows have the largest margin among the half with the lowest outlier scores. Borderline rows have the lowest
    confidence, or margin if confidence is unknown. Outlying rows have the highest outlier scores.
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


def column_divergences(subject: Subject) -> tuple[Floats, Floats]:
    """Mean of each column in each cluster, and its difference from the distribution of all rows: (K + 1, q) each.

    The difference is the Kullback-Leibler divergence between normal distributions with the mean and variance of the
    cluster and of all rows. The last line belongs to the outliers.
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
    # Constant columns carry no information; within a cluster a column may be constant.
    usable = total > 1e-12 * max(float(total.max()), 1e-300)
    safe = np.where(usable, total, 1.0)
    ratio = np.maximum(variances / safe, 1e-6)
    divergence = np.where(usable, (ratio + means**2 / safe - 1 - np.log(ratio)) / 2, -1.0)
    return means + center, divergence
