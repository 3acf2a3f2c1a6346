"""k-means and other ordinary methods on the same rows, beside the clusters of the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.errors import UserError
from subspaces._core.pca import principal_directions
from subspaces.flats.cluster_model import model_clusters
from subspaces.flats.thresholds import SCORE_COLUMNS, SCORE_ROWS
from subspaces.metrics import adjusted_rand, clustering_accuracy, match_labels
from subspaces.rows.preparation import prepare_rows
from subspaces.show.baselines import BASELINES, fit_baseline
from subspaces.show.report.plain import number
from subspaces.show.report.subject import Subject
from subspaces.spectral.kmeans import kmeans, nearest_centers
from subspaces.spectral.partition import at_most

# Rows of more columns are projected to this many principal components, for all methods alike.
MOST_COLUMNS = 50
# Rows of which k-means is computed; the others get the nearest centre.
KMEANS_ROWS = 10_000
# Starts and iterations of k-means.
KMEANS_STARTS = 10
KMEANS_STEPS = 100
# Rows of the other methods, whose time grows faster than the number of rows.
OTHER_ROWS = 2000


def kmeans_beside(subject: Subject, drawn: NDArray[np.intp], seed: int) -> dict[str, Any] | None:
    """The clusters of k-means compared with those of the model; None if the model has fewer than two.

    `drawn` (m,) are the rows of the picture; their clusters get the numbers of the most similar ones of the model.
    """
    used = np.flatnonzero(subject.sizes)
    if len(used) < 2:
        return None
    rng = np.random.RandomState(seed)
    some = np.sort(at_most(np.arange(subject.n_rows), max(KMEANS_ROWS, len(used)), rng))
    # FLS may divide columns by their standard deviations itself; then k-means gets the same columns.
    standardised = bool(getattr(subject.model, "standardise_", False))
    prepare = _preparation(subject.x[some], standardised=standardised)
    rows = prepare(subject.x[some])
    runs = kmeans(rows, len(used), n_starts=KMEANS_STARTS, rng=rng, max_iter=KMEANS_STEPS)
    centers = runs.points[runs.best]
    own, found = subject.labels[some], np.asarray(runs.labels[runs.best]).astype(np.int64)
    inside = own >= 0
    names = _numbers(own[inside], found[inside], len(used))
    lengths = [_description(rows, labels, subject.n_clusters) for labels in (own, names[found])]
    classes = None if subject.truth is None else subject.truth[some]
    accuracies = [None if classes is None else clustering_accuracy(classes, labels) for labels in (own, found)]
    return {
        "agreement": number(adjusted_rand(own, found), 4),
        "same": number(clustering_accuracy(own, found), 4),
        "lengths": [number(each, 4) for each in lengths],
        "accuracies": [number(each, 4) for each in accuracies],
        "standardised": standardised,
        "components": rows.shape[1] if subject.x.shape[1] > MOST_COLUMNS else None,
        "others": _others(rows, own, classes, len(used), seed),
        "labels": names[nearest_centers(prepare(subject.x[drawn]), centers)].tolist(),
    }


def _preparation(x: NDArray[Any], *, standardised: bool) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """A function that centres rows, standardises columns by `x` (n, p) if asked for, and projects wide rows."""
    mean = x.mean(axis=0, dtype=np.float64)
    spreads = x.std(axis=0, dtype=np.float64)
    scale = np.where((spreads > 0) & standardised, spreads, 1)
    if x.shape[1] <= MOST_COLUMNS:
        return lambda rows: ((rows - mean) / scale).astype(x.dtype)
    scaled = x if not standardised else (x - mean) / scale
    middle = mean if not standardised else np.zeros_like(mean)
    directions = principal_directions(scaled, middle, min(MOST_COLUMNS, len(x))) / scale[:, None]
    return lambda rows: np.asarray((rows - mean) @ directions, x.dtype)


def _others(
    rows: NDArray[Any], own: NDArray[np.int64], classes: NDArray[Any] | None, count: int, seed: int
) -> list[dict[str, Any]]:
    """Other methods of scikit-learn on the same rows (n, p), or on some of them, compared with the labels (n,)."""
    some = np.sort(at_most(np.arange(len(rows)), OTHER_ROWS, np.random.RandomState(seed)))
    found = []
    for baseline in BASELINES.values():
        if baseline.name == "k-means":
            continue
        try:
            fitted = fit_baseline(baseline, rows[some].astype(np.float64), count, seed)
        except UserError:
            # A method that fails on these rows is left out.
            continue
        labels = fitted.labels
        known = labels >= 0
        accuracy = None if classes is None else clustering_accuracy(classes[some], labels)
        found.append(
            {
                "name": f"{baseline.title} ({fitted.n_clusters} clusters)",
                "agreement": number(adjusted_rand(own[some], labels), 4),
                "same": number(clustering_accuracy(own[some], labels), 4),
                "length": number(_description(rows[some], labels, fitted.n_clusters), 4) if known.any() else None,
                "accuracy": None if accuracy is None else number(accuracy, 4),
            }
        )
    return found


def _numbers(own: NDArray[np.int64], found: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The number (count,) of the most similar cluster of the model, for each cluster of k-means."""
    matched = match_labels(own, found)
    numbers = np.full(count, -1, np.int64)
    numbers[found] = matched
    # Clusters without a partner get the numbers that are left.
    known = np.unique(own)
    free = np.setdiff1d(known, numbers)
    lost = ~np.isin(numbers, known)
    numbers[lost] = free[: lost.sum()]
    return numbers


def _description(rows: NDArray[Any], labels: NDArray[np.int64], n_clusters: int) -> float:
    """Nats per row of a description of rows (n, p) by clusters (n,), -1 for none, as in `score`."""
    some = at_most(np.arange(len(rows)), SCORE_ROWS, np.random.RandomState(0))
    raw, own = rows[some].astype(np.float64), labels[some].astype(np.int32)
    table = prepare_rows(raw, center=True, unit=False, max_columns=SCORE_COLUMNS)(raw)
    model = model_clusters(table, own, n_clusters, affine=True)
    return float((model.row_lengths(table, own).sum() + model.overhead) / len(some))
