"""Example rows of each cluster: typical, borderline and unusual ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces.show.look import OUTLIER
from subspaces.show.report.clusters import ClusterFacts
from subspaces.show.report.columns import ColumnFacts
from subspaces.show.report.pictures import Pictures
from subspaces.show.report.plain import number, numbers
from subspaces.show.report.subject import Subject

# Rows of each kind if rows are images, rows of each kind otherwise, and columns shown.
PICTURES_EACH = 8
ROWS_EACH = 3
SHOWN_COLUMNS = 5


def examples(subject: Subject, facts: ClusterFacts, columns: ColumnFacts | None) -> list[dict[str, Any]]:
    """Example rows of each non-empty cluster and of the outliers, with the columns that characterise it best."""
    clusters = [k for k in (*range(subject.n_clusters), OUTLIER) if len(subject.members(k))]
    if columns is None or subject.pictures is not None:
        assert subject.pictures is not None
        return _in_pictures(subject, facts, subject.pictures, clusters)
    found = []
    for k in clusters:
        telling = columns.telling(k, SHOWN_COLUMNS)
        shown = [
            {"name": subject.columns[j], "mean": number(columns.means[k, j], 4), "all": number(columns.mean[j], 4)}
            for j in telling
        ]
        rows = {
            kind: [_row(subject, facts, i) | {"values": numbers(subject.values[i, telling], 4)} for i in chosen]
            for kind, chosen in example_rows(subject, facts, k).items()
        }
        found.append({"cluster": k, "columns": shown, **rows})
    return found


def _in_pictures(
    subject: Subject, facts: ClusterFacts, pictures: Pictures, clusters: list[int]
) -> list[dict[str, Any]]:
    """Example rows that are images."""
    side = pictures.example_side(3 * PICTURES_EACH * len(clusters))
    return [
        {
            "cluster": k,
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
