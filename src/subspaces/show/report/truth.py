"""Comparison of clusters with known classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from subspaces.metrics import adjusted_rand, clustering_accuracy, match_labels, normalized_mutual_info, purity
from subspaces.metrics.labels import encoded_classes
from subspaces.show.report.plain import name_text, number
from subspaces.show.report.subject import Subject

# Larger tables are not shown.
MOST_CLASSES = 60

SCORES = (
    ("Accuracy", clustering_accuracy, "share of rows in the cluster matched to their class, one to one"),
    ("Adjusted Rand index", adjusted_rand, "agreement over pairs of rows; 1 is perfect, 0 is chance level"),
    (
        "Normalised mutual information",
        normalized_mutual_info,
        "shared information of clusters and classes; 1 is perfect",
    ),
    ("Purity", purity, "share of rows in the most frequent class of their cluster"),
)


def truth_table(subject: Subject) -> dict[str, Any] | None:
    """Scores and the table of clusters by classes, with classes in the order of their matched clusters."""
    if subject.truth is None:
        return None
    codes, classes = encoded_classes(subject.truth)
    scores = [
        {"name": name, "value": number(score(subject.truth, subject.labels)), "meaning": meaning}
        for name, score, meaning in SCORES
    ]
    rows = [k for k in range(subject.n_clusters) if subject.sizes[k]]
    table = np.zeros((subject.n_clusters + 1, len(classes) + 1), np.int64)
    np.add.at(table, (subject.labels, codes), 1)
    names = [name_text(each, 40) for each in classes]
    order = _matched_order(subject, classes)
    if (codes < 0).any():
        names, order = [*names, "outliers"], [*order, len(classes)]
    if (subject.labels < 0).any():
        rows = [*rows, -1]
    return {
        "scores": scores,
        "clusters": rows,
        "classes": [names[j] for j in order] if len(order) <= MOST_CLASSES else [],
        "counts": table[np.ix_(rows, order)].tolist() if len(order) <= MOST_CLASSES else [],
        "n_classes": len(classes),
        "n_outliers": int((codes < 0).sum()),
    }


def _matched_order(subject: Subject, classes: list[Any]) -> list[int]:
    """Order of the classes: in the order of the clusters they match, unmatched classes last."""
    places = {each: j for j, each in enumerate(classes)}
    matched = match_labels(subject.truth, subject.labels).tolist()  # type: ignore[arg-type]
    firsts = [subject.members(k)[:1] for k in range(subject.n_clusters)]
    found = [places[matched[first[0]]] for first in firsts if len(first) and matched[first[0]] in places]
    return found + [j for j in range(len(classes)) if j not in found]
