"""Rows as points of a picture, with what the reader sees of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from subspaces._core.errors import InputError
from subspaces._core.pca import principal_directions
from subspaces.show.plots._embedding import principal_components
from subspaces.show.plots._look import on_host
from subspaces.show.report._clusters import ClusterFacts
from subspaces.show.report._plain import number, numbers
from subspaces.show.report._subject import Subject

# Small clusters keep at least this many points.
LEAST_POINTS = 20
# Coordinates to choose from, and columns whose values are told.
MOST_AXES = 10
SHOWN_COLUMNS = 6
# Coordinates are whole numbers up to this one: finer than any screen.
GRID = 9999
# With more clusters the picture between them comes first.
FEW_CLUSTERS = 4
# Rows are drawn towards a cluster with this power of the inverse distance to its flat.
NEARNESS_POWER = 4
# Principal directions of wide rows are found on so many of them.
DIRECTION_ROWS = 1000


def scatter(subject: Subject, facts: ClusterFacts, most: int, rng: np.random.RandomState) -> dict[str, Any]:
    """At most `most` rows in the coordinates of the model and in principal components, and what is told of each."""
    index = drawn_rows(subject.labels, most, rng)
    confidence = subject.confidence
    columns = [] if subject.pictures is not None else list(range(min(SHOWN_COLUMNS, subject.values.shape[1])))
    return {
        "n_rows": subject.n_rows,
        "rows": subject.row_numbers[index].tolist(),
        "labels": subject.labels[index].tolist(),
        "names": None if subject.row_names is None else [subject.row_names[i] for i in index],
        "confidence": None if confidence is None else numbers(confidence[index], 3),
        "views": views(subject, facts, index),
        "columns": [subject.columns[j] for j in columns],
        "values": [numbers(row, 4) for row in subject.values[index, : len(columns)]] if columns else [],
        "images": None if subject.pictures is None else subject.pictures.sheet(index.tolist()),
    }


def drawn_rows(labels: NDArray[np.int64], most: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """At most `most` rows, in their order: some of every cluster, the others by chance."""
    if most < 1:
        raise InputError(f"max_points={most} leaves nothing to draw: give at least 1")
    if len(labels) <= most:
        return np.arange(len(labels))
    order = rng.permutation(len(labels))
    names, codes = np.unique(labels[order], return_inverse=True)
    # The place of each row among those of its own cluster: the first few of each come first.
    place = np.empty(len(order), np.int64)
    for code in range(len(names)):
        own = codes == code
        place[own] = np.arange(own.sum())
    first = place < min(LEAST_POINTS, max(1, most // len(names)))
    chosen = order[np.argsort(~first, kind="stable")[:most]]
    return np.sort(chosen)


def views(subject: Subject, facts: ClusterFacts, index: NDArray[np.intp]) -> list[dict[str, Any]]:
    """The pictures to choose from: as the model sees the rows, and as they are."""
    from subspaces.estimators.kflats import FlatsClustering

    model, rows = subject.model, subject.x[index]
    found = []
    if hasattr(model, "transform"):
        table = on_host(model.transform(rows)).astype(np.float64)
        name, axis = "Spectral embedding", "coordinate"
        if isinstance(model, FlatsClustering):
            table, name, axis = principal_components(table), "Distances to the flats", "principal component"
        elif not hasattr(model, "eigenvalues_"):
            name = "Rows as the model transforms them"
        note = "Rows near each other are alike to the model; further coordinates tell further clusters apart."
        found.append(_view(name, axis, note, table))
    mean = rows.mean(axis=0, dtype=np.float64)
    some = rows[:: max(1, len(rows) // DIRECTION_ROWS)] if rows.shape[1] > DIRECTION_ROWS else rows
    count = min(MOST_AXES, rows.shape[1], max(1, len(some) - 1))
    directions = principal_directions(some, mean, count)
    note = "The two directions in which the rows vary most; clusters that overlap here can be apart in others."
    found.append(_view("The rows themselves", "principal component", note, (rows - mean) @ directions))
    if (subject.sizes > 0).sum() < 3:
        return found
    # Two coordinates of many show two or three clusters at best.
    ring = _ring(subject, facts, rows)
    return [ring, *found] if (subject.sizes > 0).sum() > FEW_CLUSTERS else [*found, ring]


def _ring(subject: Subject, facts: ClusterFacts, rows: NDArray[Any]) -> dict[str, Any]:
    """Clusters around a ring, alike ones side by side, and rows between them, drawn to the flats they are near."""
    used = np.flatnonzero(subject.sizes)
    apart = (facts.between + facts.between.T)[np.ix_(used, used)] / 2
    np.fill_diagonal(apart, 0)
    order = leaves_list(linkage(squareform(apart, checks=False), "average", optimal_ordering=len(used) <= 100))
    turns = 2 * np.pi * np.argsort(order) / len(used)
    anchors = np.column_stack([np.sin(turns), np.cos(turns)])
    table = np.maximum(facts.distances(rows)[:, used].astype(np.float64), 1e-300)
    weights = (table.min(axis=1, keepdims=True) / table) ** NEARNESS_POWER
    points = weights @ anchors / weights.sum(axis=1, keepdims=True)
    note = "A row is near the number of a cluster if it is near its flat alone, and inside where it lies between flats."
    view = _view("Between the clusters", "place", note, points, low=-1.06, high=1.06)
    places = (anchors * 1.03 + 1.06) / 2.12
    return view | {"anchors": [[number(x, 4), number(y, 4), int(k)] for (x, y), k in zip(places, used, strict=True)]}


def _view(
    name: str, axis: str, note: str, table: NDArray[np.float64], *, low: Any = None, high: Any = None
) -> dict[str, Any]:
    """Coordinates (m, c) as whole numbers from `low` to `high`, or over their range."""
    table = np.nan_to_num(table[:, :MOST_AXES])
    low = table.min(axis=0) if low is None else low
    high = table.max(axis=0) if high is None else high
    whole = np.round(GRID * (table - low) / np.where(high > low, high - low, 1)).astype(int)
    return {"name": name, "axis": axis, "note": note, "grid": GRID, "points": whole.T.tolist(), "anchors": None}
