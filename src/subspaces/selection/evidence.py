"""Evidence about a clustering, measured without true labels on a sample of the rows.

Three questions: do other methods find the same clusters, do K clusters describe the rows better than one cluster does,
compared with rows whose columns are shuffled independently, and would another number of clusters do better? Lengths are
description lengths by flats in nats a row; a crossing is the share of nearest neighbours in another cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from subspaces._core.arrays import Array, Indices, Labels, unit_rows
from subspaces._core.pca import principal_directions
from subspaces._core.threads import one_thread
from subspaces.flats.cells import Cell, Space, joined_lengths
from subspaces.flats.description import Code, measure, shortest_codes
from subspaces.metrics.labels import adjusted_rand
from subspaces.selection.coding import code_directions
from subspaces.selection.comparison import standard_error
from subspaces.selection.limits import (
    VERDICT_COLUMNS,
    VERDICT_NEIGHBORS,
    VERDICT_ROWS,
    VERDICT_ROWS_PER_CLUSTER,
    VERDICT_STARTS,
)
from subspaces.selection.verdict_thresholds import SAME_AGREEMENT, TOP_COLUMN
from subspaces.spectral.graph import spectral_vectors
from subspaces.spectral.kmeans import kmeans
from subspaces.spectral.partition import at_most

Floats = NDArray[np.floating[Any]]
# Smallest cluster that is worth splitting, and the directions in which crossing flats are looked for.
LEAST_SPLIT, SPLIT_DIRECTIONS = 8, 5


@dataclass(frozen=True, slots=True)
class Evidence:
    """Figures about a clustering; None if something was not measured.

    Agreements are adjusted Rand indices: 1 for equal clusters, 0 for chance. Lengths are in nats a row.
    """

    n_rows: int
    n_columns: int
    n_clusters: int
    smallest: int  # rows of the smallest cluster
    outliers: float  # share of rows in no cluster
    landmarks: float | None  # agreement of other landmarks
    seeds: float | None  # agreement of fits with other seeds
    kmeans: float | None  # agreement with k-means
    points: float | None  # agreement with spectral clustering of the graph of nearest neighbours
    flats: float | None  # agreement with the shortest description by K flats that starts at the clusters
    gain: float | None  # how much shorter K flats describe the rows than one
    shuffled_gain: float | None  # the same for shuffled columns
    rival: float | None  # how much longer the shortest description by other clusters is; None if none was found
    rival_error: float | None  # standard error of this difference
    split: float | None  # what the cluster that gains most saves if it is split into two flats
    join: float | None  # what the pair that gains most, or loses least, saves if it is one flat
    noise: float | None  # distance of rows to the flat of their cluster, relative to the spread of all rows
    dims: tuple[int, ...]  # dimension of each cluster, 0 for a cluster without preferred directions
    crossing: float | None  # share of nearest neighbours in another cluster
    shuffled_crossing: float | None  # the same for k-means of shuffled columns
    modularity: float | None  # of the clusters on the graph of nearest neighbours; 1 for K equal parts without edges
    other_modularity: float | None  # the largest of spectral clustering with one cluster fewer or more
    other_count: int | None  # that number of clusters
    top_column: float  # share of the variance in the column that varies most
    standardised: float | None  # agreement of k-means with itself on standardised columns, if one column dominates
    leading: float  # share of the variance in the two leading principal components


def gather(
    x: Array,
    labels: Labels,
    n_clusters: int,
    *,
    rng: np.random.RandomState,
    clustered: Array | None = None,
    landmarks: float | None = None,
    seeds: float | None = None,
    others: Mapping[str, Labels] | None = None,
) -> Evidence:
    """Evidence about the clusters `labels` (n,), -1 for none, of the rows of `x` (n, p).

    `clustered` (n, q) are the prepared rows, if it was not `x` that was clustered. `others` are labels (n,) of the
    same rows by other methods, if the fit has computed some: their descriptions are compared with that of the clusters.
    """
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters)
    most = max(VERDICT_ROWS, VERDICT_ROWS_PER_CLUSTER * n_clusters)
    sample = np.sort(at_most(np.arange(len(x)), most, rng))
    raw, own = x[sample].astype(np.float64), np.asarray(labels)[sample]
    variances = raw.var(axis=0)
    total = float(variances.sum())
    prepared = raw if clustered is None else clustered[sample].astype(np.float64)
    known: dict[str, Any] = {
        "n_rows": len(x),
        "n_columns": x.shape[1],
        "n_clusters": n_clusters,
        "smallest": int(sizes.min()),
        "outliers": float(np.mean(labels < 0)),
        "landmarks": landmarks,
        "seeds": seeds,
        "top_column": float(variances.max()) / total if total > 0 else 1.0,
    }
    if n_clusters < 2 or not total > 0 or len(np.unique(own[own >= 0])) < 2:
        nothing: dict[str, Any] = dict.fromkeys(Evidence.__dataclass_fields__) | {"dims": (), "leading": 1.0}
        return Evidence(**nothing | known)
    with one_thread():
        rows = _leading(prepared, n_clusters)
        near = _neighbors(rows)
        graph = _graph_figures(near, own, n_clusters, rng)
        by_kmeans = _kmeans(rows, n_clusters, rng)
        starts = {"kmeans": by_kmeans, "points": graph.pop("labels")}
        starts |= {name: np.asarray(found)[sample] for name, found in (others or {}).items()}
        flats = _flat_figures(rows, own, starts, n_clusters, rng)
        standardised = None
        if known["top_column"] >= TOP_COLUMN:
            scaled = _leading(raw / np.where(variances > 0, np.sqrt(variances), 1), n_clusters)
            standardised = adjusted_rand(by_kmeans, _kmeans(scaled, n_clusters, rng))
        return Evidence(
            **known,
            **graph,
            **flats,
            **_shuffled_figures(raw, n_clusters, rng),
            kmeans=adjusted_rand(by_kmeans, own),
            points=adjusted_rand(starts["points"], own),
            standardised=standardised,
            crossing=_crossing(near, own),
            leading=float(rows[:, :2].var(axis=0).sum() / prepared.var(axis=0).sum()),
        )


def _leading(raw: Floats, n_clusters: int) -> Floats:
    """Rows (n, p) centred, in their leading principal coordinates."""
    mean = raw.mean(axis=0)
    count = min(max(VERDICT_COLUMNS[0], 4 * n_clusters), VERDICT_COLUMNS[1], raw.shape[1])
    return (raw - mean) @ principal_directions(raw, mean, count)


def _kmeans(rows: Floats, n_clusters: int, rng: np.random.RandomState) -> Labels:
    runs = kmeans(rows, n_clusters, n_starts=VERDICT_STARTS, rng=rng, max_iter=30)
    return runs.labels[runs.best]


def _neighbors(rows: Floats) -> Indices:
    """Nearest other rows (n, r) of each row (n, p)."""
    squares = np.einsum("np,np->n", rows, rows)
    table = squares - 2 * (rows @ rows.T)
    np.fill_diagonal(table, np.inf)
    count = min(VERDICT_NEIGHBORS, len(rows) - 1)
    return np.argpartition(table, count - 1, axis=1)[:, :count]


def _crossing(near: Indices, labels: Labels) -> float:
    return float((labels[near] != labels[:, None]).mean())


def _modularity(near: Indices, labels: Labels, n_clusters: int) -> float:
    """Modularity of labels (n,) on the graph of nearest neighbours (n, r), 1 for K equal parts without edges."""
    shares = np.bincount(labels[labels >= 0], minlength=n_clusters) / len(labels)
    return (1 - _crossing(near, labels) - float(np.square(shares).sum())) / (1 - 1 / n_clusters)


def _graph_figures(near: Indices, own: Labels, k: int, rng: np.random.RandomState) -> dict[str, Any]:
    """Clusters on the graph of nearest neighbours, and whether another number of clusters has a larger modularity."""
    n, count = near.shape
    directed = csr_matrix((np.ones(n * count), near.ravel(), np.arange(0, n * count + 1, count)), shape=(n, n))
    vectors = spectral_vectors(directed.maximum(directed.T), min(k + 2, n), rng=rng)
    found = {c: _spectral_labels(vectors, near, c, rng) for c in (k - 1, k, k + 1) if 1 < c <= n}
    others = {c: _modularity(near, labels, c) for c, labels in found.items() if c != k}
    best = max(others, key=lambda c: others[c], default=None)
    return {
        "labels": found[k],
        "modularity": _modularity(near, own, k),
        "other_modularity": None if best is None else others[best],
        "other_count": best,
    }


def _spectral_labels(vectors: Floats, near: Indices, k: int, rng: np.random.RandomState) -> Labels:
    """K clusters by K or K + 1 of the eigenvectors (n, c), whichever has the larger modularity."""
    found = [_kmeans(unit_rows(vectors[:, :count]), k, rng) for count in (k, k + 1)]
    return max(found, key=lambda labels: _modularity(near, labels, k))


def _flat_figures(
    rows: Floats, own: Labels, starts: Mapping[str, Labels], k: int, rng: np.random.RandomState
) -> dict[str, Any]:
    """Description lengths by K flats from the clusters and from other starts, by one flat, and by K - 1 and K + 1."""
    space = measure(rows @ code_directions(rows), affine=True)
    code, one, *others = shortest_codes(space, [own, np.zeros(len(rows), np.intp), *starts.values()], k)
    others = [other for other in others if _same(other, own) < SAME_AGREEMENT and np.isfinite(other.length)]
    rival = min(others, key=lambda other: other.length, default=None)
    cells = [cell for cell in code.cells if cell]
    return {
        "flats": _same(code, own),
        "gain": _gain(code, one),
        "rival": None if rival is None else (rival.length - code.length) / len(rows),
        "rival_error": None if rival is None else standard_error(rival.row_lengths - code.row_lengths),
        "split": max(_split_gain(code, j, rng) for j, cell in enumerate(code.cells) if cell),
        "join": _join_gain(code),
        "noise": _noise(space, cells),
        "dims": tuple(cell.dim for cell in cells),
    }


def _same(code: Code, labels: Labels) -> float:
    """Agreement of labels (n,) with a code, over the rows that its flats encode."""
    inside = code.chosen < len(code.cells)
    return adjusted_rand(code.chosen[inside], labels[inside]) if inside.any() else 0.0


def _gain(code: Code, one: Code) -> float:
    """Nats a row that a code saves, compared with one flat."""
    saved = float(one.length - code.length) / len(code.chosen)
    # A code without flats has no finite length.
    return saved if np.isfinite(saved) else 0.0


def _noise(space: Space, cells: list[Cell]) -> float:
    """Median over clusters of the distance of rows to their flat, relative to the median distance from the centre."""
    p = space.rows.shape[1]
    lengths = [np.sqrt(cell.noise * (p - cell.basis.shape[1])) for cell in cells]
    return float(np.median(lengths) / np.median(np.linalg.norm(space.rows, axis=1)))


def _split_gain(code: Code, j: int, rng: np.random.RandomState) -> float:
    """Nats a row of cluster `j` that two flats save."""
    cell, members = code.cells[j], np.flatnonzero(code.chosen == j)
    if cell is None or len(members) < LEAST_SPLIT:
        return 0.0
    space = replace(code.space, rows=code.space.rows[members])
    offsets = space.rows - cell.center
    starts = [offsets]
    if cell.dim > 1:
        # Flats that cross each other differ in products of coordinates, not in the coordinates.
        units = unit_rows(offsets @ cell.directions[:, :SPLIT_DIRECTIONS])
        starts.append(np.einsum("ni,nj->nij", units, units).reshape(len(units), -1))
    halves = shortest_codes(space, [_kmeans(start, 2, rng) for start in starts], 2)
    return max(0.0, *((cell.length - half.length) / len(members) for half in halves))


def _join_gain(code: Code) -> float:
    """Nats that each row of two clusters saves if they are one flat, at most; negative if all are better apart."""
    n = len(code.chosen)
    # Nats with the names of clusters.
    named = [(cell.size, cell.length + cell.size * np.log(n / cell.size)) if cell else (0, 0.0) for cell in code.cells]
    gains = [] if all(code.cells) and len(named) > 1 else [0.0]
    for (i, j), length in joined_lengths(code.space, code.chosen, len(named)).items():
        size = named[i][0] + named[j][0]
        gains.append(float(named[i][1] + named[j][1] - length - size * np.log(n / size)) / size)
    return max(gains)


def _shuffled_figures(raw: Floats, k: int, rng: np.random.RandomState) -> dict[str, Any]:
    """What the same measures find after each column is shuffled, which leaves no relation between columns."""
    mixed = _leading(np.column_stack([rng.permutation(column) for column in raw.T]), k)
    labels, space = _kmeans(mixed, k, rng), measure(mixed @ code_directions(mixed), affine=True)
    return {
        "shuffled_gain": _gain(*shortest_codes(space, [labels, np.zeros(len(labels), np.int32)], k)),
        "shuffled_crossing": _crossing(_neighbors(mixed), labels),
    }
