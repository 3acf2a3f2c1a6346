"""The scatter plot of the page: coordinates of rows, and the details shown for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from subspaces._core.errors import InputError
from subspaces._core.pca import principal_directions
from subspaces.show.look import on_host
from subspaces.show.models import assigns_by_flats
from subspaces.show.plots.embedding import principal_components
from subspaces.show.report.clusters import ClusterFacts
from subspaces.show.report.plain import number, numbers
from subspaces.show.report.subject import Subject

# Small clusters keep at least this many points.
LEAST_POINTS = 20
# Coordinates to choose from, and columns shown for each point.
MOST_AXES = 10
SHOWN_COLUMNS = 6
# Coordinates are integers from 0 to this, finer than the resolution of a screen.
GRID = 9999
# With more clusters, the ring is the first view.
FEW_CLUSTERS = 4
# In the ring, the weight of a cluster is this power of the inverse distance to its flat.
NEARNESS_POWER = 4
# Principal directions of rows with more columns than this are computed from about this many rows.
DIRECTION_ROWS = 1000


def scatter(subject: Subject, facts: ClusterFacts, most: int, rng: np.random.RandomState) -> dict[str, Any]:
    """At most `most` rows in several coordinate systems, and the details shown for each."""
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
    """Choose at most `most` rows, in order: some from every cluster, the others at random."""
    if most < 1:
        raise InputError(f"max_points={most} must be at least 1")
    if len(labels) <= most:
        return np.arange(len(labels))
    order = rng.permutation(len(labels))
    names, codes = np.unique(labels[order], return_inverse=True)
    # Rank of each row within its cluster; the first few of each cluster are always chosen.
    place = np.empty(len(order), np.int64)
    for code in range(len(names)):
        own = codes == code
        place[own] = np.arange(own.sum())
    first = place < min(LEAST_POINTS, max(1, most // len(names)))
    chosen = order[np.argsort(~first, kind="stable")[:most]]
    return np.sort(chosen)


def views(subject: Subject, facts: ClusterFacts, index: NDArray[np.intp]) -> list[dict[str, Any]]:
    """The views to choose from: the coordinates of the model, principal components, and the ring of clusters."""
    model, rows = subject.model, subject.x[index]
    found = []
    if hasattr(model, "transform"):
        table = on_host(model.transform(rows)).astype(np.float64)
        name, axis = "Spectral embedding", "coordinate"
        if assigns_by_flats(model):
            table, name, axis = principal_components(table), "Distances to the flats", "principal component"
        elif not hasattr(model, "eigenvalues_"):
            name = "Transformed rows"
        note = "Rows close to each other are similar to the model; further coordinates separate further clusters."
        found.append(_view(name, axis, note, table))
    mean = rows.mean(axis=0, dtype=np.float64)
    some = rows[:: max(1, len(rows) // DIRECTION_ROWS)] if rows.shape[1] > DIRECTION_ROWS else rows
    count = min(MOST_AXES, rows.shape[1], max(1, len(some) - 1))
    directions = principal_directions(some, mean, count)
    note = "Directions of largest variance; clusters that overlap here can be separated in other directions."
    found.append(_view("Original rows", "principal component", note, (rows - mean) @ directions))
    if (subject.sizes > 0).sum() < 3:
        return found
    # Two coordinates separate at most a few clusters; the ring shows all of them.
    ring = _ring(subject, facts, rows)
    return [ring, *found] if (subject.sizes > 0).sum() > FEW_CLUSTERS else [*found, ring]


def _ring(subject: Subject, facts: ClusterFacts, rows: NDArray[Any]) -> dict[str, Any]:
    """Clusters on a ring, similar ones side by side; each row is placed between the clusters whose flats are near."""
    used = np.flatnonzero(subject.sizes)
    apart = (facts.between + facts.between.T)[np.ix_(used, used)] / 2
    np.fill_diagonal(apart, 0)
    order = leaves_list(linkage(squareform(apart, checks=False), "average", optimal_ordering=len(used) <= 100))
    turns = 2 * np.pi * np.argsort(order) / len(used)
    anchors = np.column_stack([np.sin(turns), np.cos(turns)])
    table = np.maximum(facts.distances(rows)[:, used].astype(np.float64), 1e-300)
    weights = (table.min(axis=1, keepdims=True) / table) ** NEARNESS_POWER
    points = weights @ anchors / weights.sum(axis=1, keepdims=True)
    note = "Rows near the number of a cluster are close to its flat only; rows further inside lie between flats."
    view = _view("Between clusters", "position", note, points, low=-1.06, high=1.06)
    places = (anchors * 1.03 + 1.06) / 2.12
    return view | {"anchors": [[number(x, 4), number(y, 4), int(k)] for (x, y), k in zip(places, used, strict=True)]}


def _view(
    name: str, axis: str, note: str, table: NDArray[np.float64], *, low: Any = None, high: Any = None
) -> dict[str, Any]:
    """Coordinates (m, c) as integers, scaled from [low, high] or from their own range."""
    table = np.nan_to_num(table[:, :MOST_AXES])
    low = table.min(axis=0) if low is None else low
    high = table.max(axis=0) if high is None else high
    whole = np.round(GRID * (table - low) / np.where(high > low, high - low, 1)).astype(int)
    return {"name": name, "axis": axis, "note": note, "grid": GRID, "points": whole.T.tolist(), "anchors": None}
