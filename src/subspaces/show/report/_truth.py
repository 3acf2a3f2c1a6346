"""How clusters compare with classes that are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from subspaces.metrics import adjusted_rand, clustering_accuracy, match_labels, normalized_mutual_info, purity
from subspaces.metrics.labels import encoded_classes
from subspaces.show.report._plain import name_text, number
from subspaces.show.report._subject import Subject

# A larger table of classes could not be read.
MOST_CLASSES = 60

SCORES = (
    ("Accuracy", clustering_accuracy, "share of rows whose cluster is matched to their class, one to one"),
    ("Adjusted Rand index", adjusted_rand, "agreement over pairs of rows; 1 is the same, 0 is chance"),
    ("Normalised mutual information", normalized_mutual_info, "what clusters say about classes; 1 is everything"),
    ("Purity", purity, "share of rows in the most frequent class of their cluster"),
)


def truth_table(subject: Subject) -> dict[str, Any] | None:
    """Scores and the table of clusters by classes, classes in the order of the clusters they match."""
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
    """Columns of the classes: each below the cluster it matches, those without one last."""
    places = {each: j for j, each in enumerate(classes)}
    matched = match_labels(subject.truth, subject.labels).tolist()  # type: ignore[arg-type]
    firsts = [subject.members(k)[:1] for k in range(subject.n_clusters)]
    found = [places[matched[first[0]]] for first in firsts if len(first) and matched[first[0]] in places]
    return found + [j for j in range(len(classes)) if j not in found]
