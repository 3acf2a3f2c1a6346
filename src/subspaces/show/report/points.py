"""The scatter plot of the page: coordinates of rows, and the details shown for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from subspaces._core.errors import InputError
from subspaces._core.pca import principal_directions
from subspaces.show.plots.embedding import model_coordinates
from subspaces.show.report.clusters import ClusterFacts
from subspaces.show.report.columns import ColumnFacts
from subspaces.show.report.plain import number, numbers
from subspaces.show.report.subject import Subject

# Small clusters keep at least this many points.
LEAST_POINTS = 20
# Coordinates to choose from, clusters to whose flats distances are shown, and columns shown for each point.
MOST_AXES = 10
MOST_FLATS = 10
SHOWN_COLUMNS = 6
# Rows of at most this many columns are first shown as they are.
FEW_COLUMNS = 3
# Coordinates are integers from 0 to this, finer than the resolution of a screen; distances are coarser.
GRID = 9999
COARSE_GRID = 999
# A picture in which all rows are in fewer cells than this for each cluster, of a grid of this many a side, shows dots.
FEW_CELLS, CELLS = 10, 50
# With more clusters, the ring is the first view.
FEW_CLUSTERS = 4
# In the ring, the weight of a cluster is this power of the inverse distance to its flat.
NEARNESS_POWER = 4
# Principal directions of rows with more columns than this are computed from about this many rows.
DIRECTION_ROWS = 1000


def scatter(
    subject: Subject,
    facts: ClusterFacts,
    columns: ColumnFacts | None,
    index: NDArray[np.intp],
    *,
    are_flat: bool,
) -> dict[str, Any]:
    """The rows `index` (m,) in several coordinate systems, and the details shown for each."""
    confidence = subject.confidence
    shown = [] if columns is None else columns.telling_together(SHOWN_COLUMNS).tolist()
    return {
        "n_rows": subject.n_rows,
        "rows": subject.row_numbers[index].tolist(),
        "labels": subject.labels[index].tolist(),
        "names": None if subject.row_names is None else [subject.row_names[i] for i in index],
        "confidence": None if confidence is None else numbers(confidence[index], 3),
        "scores": numbers(facts.scores[index], 3),
        "views": views(subject, facts, index, are_flat=are_flat),
        "columns": [subject.columns[j] for j in shown],
        "values": [numbers(row, 4) for row in subject.values[np.ix_(index, shown)]] if shown else [],
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


def views(
    subject: Subject, facts: ClusterFacts, index: NDArray[np.intp], *, are_flat: bool = False
) -> list[dict[str, Any]]:
    """The views to choose from, the most useful first: each has at least two coordinates."""
    model, rows = subject.model, subject.x[index]
    found = []
    if hasattr(model, "transform"):
        table, name, axis = model_coordinates(model, rows)
        if table.shape[1] > 1:
            note = "Rows close to each other are similar to the model; further coordinates separate further clusters."
            found.append(_view(name, _names(axis, table), note, table))
    components = _components(rows)
    note = "Directions of largest variance; clusters that overlap here can be separated in other directions."
    original = _view("Principal components", _names("principal component", components), note, components)
    if components.shape[1] == 1:
        numbered = np.column_stack([components, subject.row_numbers[index]])
        original = _view("Rows in order", ["value", "number of the row"], "The only column of the rows.", numbered)
    found.append(original)
    count = int((subject.sizes > 0).sum())
    if count < 2:
        return found
    distances = _distances(subject, facts, rows)
    if rows.shape[1] <= FEW_COLUMNS:
        found = [original, *(view for view in found if view is not original)]
    in_order = [distances, *found] if _shows_dots(found[0], count) else [*found, distances]
    if count == 2:
        return [distances, *found] if are_flat else in_order
    # Two coordinates separate at most a few clusters; the ring shows all of them.
    ring = _ring(subject, facts, rows)
    return [ring, *found, distances] if count > FEW_CLUSTERS else [*in_order, ring]


def _shows_dots(view: dict[str, Any], n_clusters: int) -> bool:
    """Whether the rows of each cluster are at nearly the same place, as in the embedding of clearly separate ones."""
    cells = np.unique(np.array(view["points"][:2]) * CELLS // (view["grid"] + 1), axis=1)
    return cells.shape[1] < min(FEW_CELLS * n_clusters, len(view["points"][0]) / 3)


def _names(axis: str, table: NDArray[Any]) -> list[str]:
    return [f"{axis} {number + 1}" for number in range(min(MOST_AXES, table.shape[1]))]


def _components(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Leading principal components (m, c) of rows (m, p)."""
    mean = rows.mean(axis=0, dtype=np.float64)
    some = rows[:: max(1, len(rows) // DIRECTION_ROWS)] if rows.shape[1] > DIRECTION_ROWS else rows
    count = min(MOST_AXES, rows.shape[1], max(1, len(some) - 1))
    return np.asarray((rows - mean) @ principal_directions(some, mean, count), np.float64)


def _distances(subject: Subject, facts: ClusterFacts, rows: NDArray[Any]) -> dict[str, Any]:
    """Distances to the flats of the largest clusters, those of the two that are nearest to each other first."""
    used = np.flatnonzero(subject.sizes)
    largest = np.sort(used[np.argsort(-subject.sizes[used], kind="stable")[:MOST_FLATS]])
    apart = (facts.between + facts.between.T)[np.ix_(largest, largest)]
    np.fill_diagonal(apart, np.inf)
    pair = np.unravel_index(int(np.nanargmin(apart)), apart.shape)
    order = [*sorted(int(i) for i in pair), *(i for i in range(len(largest)) if i not in pair)]
    clusters = largest[order]
    note = (
        "Each axis is the distance to the flat of a cluster. Rows of a cluster are near one axis of the picture; rows "
        "that are far from both axes belong to neither."
    )
    table = facts.distances(rows)[:, clusters].astype(np.float64)
    names = [f"distance to cluster {k}" for k in clusters]
    return _view("Distances to two flats", names, note, table, low=0.0, high=table.max(), grid=COARSE_GRID)


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
    view = _view("Between clusters", ["position", "position"], note, points, low=-1.06, high=1.06)
    places = (anchors * 1.03 + 1.06) / 2.12
    return view | {"anchors": [[number(x, 4), number(y, 4), int(k)] for (x, y), k in zip(places, used, strict=True)]}


def _view(
    name: str,
    axes: list[str],
    note: str,
    table: NDArray[np.float64],
    *,
    low: Any = None,
    high: Any = None,
    grid: int = GRID,
) -> dict[str, Any]:
    """Coordinates (m, c) as integers, scaled from [low, high] or from their own range."""
    table = np.nan_to_num(table[:, : len(axes)])
    low = table.min(axis=0) if low is None else low
    high = table.max(axis=0) if high is None else high
    whole = np.round(grid * (table - low) / np.where(high > low, high - low, 1)).astype(int)
    return {"name": name, "axes": axes, "note": note, "grid": grid, "points": whole.T.tolist(), "anchors": None}
