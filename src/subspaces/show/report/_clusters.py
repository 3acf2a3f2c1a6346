"""What clusters look like: their flats, how far rows are from them, and how far the flats are from each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.blocks import row_blocks
from subspaces.flats.cluster_model import model_clusters
from subspaces.flats.distances import distance_row_bytes, distances_to
from subspaces.flats.flats import Flats
from subspaces.flats.thresholds import MODEL_ROWS
from subspaces.rows.preparation import prepare_rows
from subspaces.show.plots._angles import flat_angles
from subspaces.show.plots._look import on_host
from subspaces.show.plots._residuals import _ssc_distances
from subspaces.show.report._plain import number, numbers
from subspaces.show.report._subject import Subject
from subspaces.spectral.partition import at_most

Floats = NDArray[np.float64]

BOX = (5, 25, 50, 75, 95)
# Flats of more than this share of the columns pass near every row and hide what tells clusters apart; the directions
# that hold the second share of the spread of a cluster show it.
WIDE_SHARE = 0.5
TELLING_SPREAD = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class ClusterFacts:
    """The flats of clusters, and how far each row is from its own and from the next."""

    flats: Flats  # K
    dims: NDArray[np.int64]  # (K,), leading directions of each flat that count; 0 for a point or an empty cluster
    given: bool  # whether the model has these flats; else they were fitted to the rows of each cluster
    scaled: bool  # whether distances are those of rows of length one
    distances: Callable[[NDArray[Any]], NDArray[Any]]  # from rows (b, p) to distances (b, K) to the flats
    own: Floats  # (n,), distance to the flat of the own cluster; NaN for outliers
    other: Floats  # (n,), distance to the nearest flat of another cluster; NaN where there is one cluster only
    nearest: NDArray[np.int64]  # (n,), that cluster; -1 where there is none
    between: Floats  # (K, K), mean distance of the rows of a cluster to the flat of another; NaN where it has no rows
    angles: Floats  # (K, K), smallest principal angle in degrees; NaN where a flat has no direction
    scores: Floats  # (n,), how unusual rows are in their clusters: about 1 for most

    @property
    def margin(self) -> Floats:
        """How much nearer the own flat is than the next: (n,), from 1, surely, to -1; NaN for outliers."""
        total = self.own + self.other
        return np.divide(self.other - self.own, total, out=np.zeros_like(total), where=~(total <= 0))

    @property
    def misplaced(self) -> NDArray[np.bool_]:
        """Which rows (n,) are nearer to the flat of another cluster."""
        return self.other < self.own


def cluster_facts(subject: Subject) -> ClusterFacts:
    """Everything that follows from rows, labels and flats, by one pass over blocks of rows."""
    flats, dims, given = _flats(subject)
    dims = np.where(subject.sizes > 0, _telling_dims(subject, flats, dims), 0)
    distances, row_bytes, scaled = _distances(subject, flats, dims, given=given)
    n, k = subject.n_rows, subject.n_clusters
    own, other = np.full(n, np.nan), np.full(n, np.nan)
    nearest = np.full(n, -1, np.int64)
    sums = np.zeros((k, k))
    empty = np.flatnonzero(subject.sizes == 0)
    for block in row_blocks(n, row_bytes):
        table = distances(subject.x[block]).astype(np.float64)
        labels = subject.labels[block]
        inside = np.flatnonzero(labels >= 0)
        for cluster in np.unique(labels[inside]):
            sums[cluster] += table[labels == cluster].sum(axis=0)
        own[block][inside] = table[inside, labels[inside]]
        table[:, empty] = np.inf
        table[inside, labels[inside]] = np.inf
        best = table.argmin(axis=1)
        least = table[np.arange(len(table)), best]
        other[block] = np.where(np.isfinite(least), least, np.nan)
        nearest[block] = np.where(np.isfinite(least), best, -1)
    between = sums / np.where(subject.sizes > 0, subject.sizes, np.nan)[:, None]
    between[:, empty] = np.nan
    return ClusterFacts(
        flats, dims, given, scaled, distances, own, other, nearest, between, _angles(flats, dims), _scores(subject, own)
    )


def _flats(subject: Subject) -> tuple[Flats, NDArray[np.int64], bool]:
    """A flat for each cluster, how many of its directions count, and whether the model gave it."""
    from subspaces.estimators.kflats import FlatsClustering

    model, k = subject.model, subject.n_clusters
    flats = getattr(model, "flats_" if isinstance(model, FlatsClustering) else "cluster_bases_", None)
    if flats is None or len(flats) != k or flats.centers.shape[1] != subject.x.shape[1]:
        return *fitted_flats(subject.x, subject.labels, k), False
    flats = Flats(on_host(flats.centers), on_host(flats.bases))
    dims = np.minimum(getattr(model, "cluster_dims_", np.full(k, flats.dim)), flats.dim)
    return flats, dims.astype(np.int64), True


def _telling_dims(subject: Subject, flats: Flats, dims: NDArray[np.int64]) -> NDArray[np.int64]:
    """`dims` (K,), with fewer leading directions of flats that are too wide to tell anything."""
    told = dims.copy()
    for k in np.flatnonzero(dims > WIDE_SHARE * subject.x.shape[1]):
        rows = subject.x[subject.members(int(k))] - flats.centers[k]
        along = np.square(rows @ flats.bases[k]).sum(axis=0, dtype=np.float64)
        wanted = TELLING_SPREAD * np.square(rows).sum(dtype=np.float64)
        told[k] = min(dims[k], np.searchsorted(np.cumsum(along), wanted) + 1)
    return told


def fitted_flats(x: NDArray[Any], labels: NDArray[np.int64], n_clusters: int) -> tuple[Flats, NDArray[np.int64]]:
    """The flat of each cluster of the rows of `x` (n, p), of the dimension it needs, as `FLS` describes its own."""
    some = at_most(np.arange(len(x)), MODEL_ROWS, np.random.RandomState(0))
    rows = x[some]
    preparation = prepare_rows(rows, center=True, unit=False)
    found = model_clusters(preparation(rows), labels[some].astype(np.int32), n_clusters, affine=True)
    return preparation.restore(found.flats()), found.dims


def _distances(
    subject: Subject, flats: Flats, dims: NDArray[np.int64], *, given: bool
) -> tuple[Callable[[NDArray[Any]], NDArray[Any]], int, bool]:
    """A function from rows (b, p) to distances (b, K), the bytes a row needs for it, and whether rows are scaled."""
    from subspaces.estimators.kflats import FlatsClustering
    from subspaces.estimators.ssc import SSC

    model = subject.model
    row_bytes = distance_row_bytes(flats, subject.x.dtype) + 8 * subject.x.shape[1]
    if given and isinstance(model, FlatsClustering):
        return lambda rows: on_host(model.transform(rows)), row_bytes, bool(model.normalize)
    if given and isinstance(model, SSC):
        return lambda rows: _ssc_distances(model, rows), row_bytes, bool(model.normalize_)
    # Directions that do not count are zero and take nothing away.
    bases = flats.bases * (np.arange(flats.dim) < dims[:, None])[:, None, :]
    squared = distances_to(Flats(flats.centers, bases.astype(flats.bases.dtype)))
    return lambda rows: np.sqrt(squared(rows)), row_bytes, False


def _angles(flats: Flats, dims: NDArray[np.int64]) -> Floats:
    angles = np.full((len(flats), len(flats)), np.nan)
    kept = np.flatnonzero(dims > 0)
    if len(kept):
        angles[np.ix_(kept, kept)] = flat_angles(flats[kept], dims[kept])
    np.fill_diagonal(angles, np.nan)
    return angles


def _scores(subject: Subject, own: Floats) -> Floats:
    """How unusual rows are: what the model says, or their distance over the median one of their cluster."""
    if hasattr(subject.model, "outlier_scores"):
        return on_host(subject.model.outlier_scores(subject.x)).astype(np.float64)
    scores = np.ones(len(own))
    for k in range(subject.n_clusters):
        members = subject.members(k)
        middle = float(np.median(own[members])) if len(members) else 0.0
        scores[members] = own[members] / middle if middle > 0 else 1.0
    return scores


def cluster_table(subject: Subject, facts: ClusterFacts, kept: NDArray[Any] | None) -> list[dict[str, Any]]:
    """A line for each cluster; `kept` (K,) is the share of its rows that refits keep in it."""
    lines = []
    for k, size in enumerate(subject.sizes):
        members = subject.members(k)
        others = np.where(np.arange(subject.n_clusters) == k, np.nan, facts.between[k])
        nearest = int(np.nanargmin(others)) if np.isfinite(others).any() else None
        lines.append(
            {
                "cluster": k,
                "size": int(size),
                "share": number(size / subject.n_rows),
                "dim": int(facts.dims[k]) if size else None,
                "own": _middle(facts.own[members]),
                "other": _middle(facts.other[members]),
                "nearest": nearest,
                "angle": None if nearest is None else number(facts.angles[k, nearest]),
                "misplaced": number(facts.misplaced[members].mean()) if size else None,
                "confidence": None if subject.confidence is None else _middle(subject.confidence[members]),
                "kept": None if kept is None else number(kept[k]),
            }
        )
    return lines


def _middle(values: Floats) -> float | int | None:
    return number(np.nanmedian(values)) if np.isfinite(values).any() else None


def residual_boxes(subject: Subject, facts: ClusterFacts) -> dict[str, Any]:
    """Percentiles of the distances of rows to their own flat and to the next, for each cluster with rows."""
    boxes = []
    for k in np.flatnonzero(subject.sizes):
        members = subject.members(int(k))
        others = facts.other[members]
        boxes.append(
            {
                "cluster": int(k),
                "own": numbers(np.percentile(facts.own[members], BOX)),
                "other": numbers(np.percentile(others, BOX)) if np.isfinite(others).all() else None,
            }
        )
    return {"boxes": boxes, "scaled": facts.scaled, "given": facts.given}


def angle_map(subject: Subject, facts: ClusterFacts) -> dict[str, Any] | None:
    """Degrees between the flats of each two clusters that have directions; None where there are no two."""
    kept = np.flatnonzero(facts.dims > 0)
    if len(kept) < 2:
        return None
    return {
        "clusters": kept.tolist(),
        "dims": facts.dims[kept].tolist(),
        "degrees": [numbers(row, 4) for row in facts.angles[np.ix_(kept, kept)]],
    }
