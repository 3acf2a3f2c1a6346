"""The flat of each cluster, the distances of rows to flats, and the angles between flats."""

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
from subspaces.show.look import on_host
from subspaces.show.models import cluster_dims, cluster_flats, flat_distances, measures_unit_rows
from subspaces.show.plots.angles import flat_angles
from subspaces.show.report.plain import number, numbers
from subspaces.show.report.subject import Subject
from subspaces.spectral.partition import at_most

Floats = NDArray[np.float64]

# Percentiles of the boxes and whiskers.
BOX = (5, 25, 50, 75, 95)


@dataclass(frozen=True, slots=True, eq=False)
class ClusterFacts:
    """The flat of each cluster, and the distance of each row to its own and to the nearest other flat."""

    flats: Flats  # K
    dims: NDArray[np.int64]  # (K,), dimension of each cluster; 0 for a blob or an empty cluster
    given: bool  # whether the flats belong to the model; otherwise they are fitted to the rows of each cluster
    scaled: bool  # whether rows are scaled to length one before distances are computed
    standardised: bool  # whether columns are divided by their standard deviations before, as the model does
    distances: Callable[[NDArray[Any]], NDArray[Any]]  # from rows (b, p) to distances (b, K) to the flats
    own: Floats  # (n,), distance to the flat of the row's cluster; NaN for outliers
    other: Floats  # (n,), distance to the nearest flat of another cluster; NaN if there is only one cluster
    nearest: NDArray[np.int64]  # (n,), that cluster; -1 if there is none
    between: Floats  # (K, K), mean distance of the rows of a cluster to the flat of another; NaN for empty clusters
    angles: Floats  # (K, K), smallest principal angle in degrees; NaN if a flat is a point
    scores: Floats  # (n,), outlier score of each row: about 1 for most

    @property
    def margin(self) -> Floats:
        """(other - own) / (other + own): (n,), 1 on the own flat, -1 on another; NaN for outliers."""
        total = self.own + self.other
        return np.divide(self.other - self.own, total, out=np.zeros_like(total), where=~(total <= 0))

    @property
    def misplaced(self) -> NDArray[np.bool_]:
        """Whether each row (n,) is nearer to the flat of another cluster."""
        return self.other < self.own


def cluster_facts(subject: Subject) -> ClusterFacts:
    """Compute distances and angles in one pass over blocks of rows."""
    scale = _scale(subject)
    flats, dims, given = _flats(subject, scale)
    dims = np.where(subject.sizes > 0, dims, 0)
    distances, row_bytes, scaled = _distances(subject, flats, dims, scale, given=given)
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
        flats=flats,
        dims=dims,
        given=given,
        scaled=scaled,
        standardised=scale is not None,
        distances=distances,
        own=own,
        other=other,
        nearest=nearest,
        between=between,
        angles=_angles(flats, dims),
        scores=_scores(subject, own),
    )


def _scale(subject: Subject) -> Floats | None:
    """Standard deviations (p,) of the columns, if the model divides by them; one for constant columns.

    Distances and angles are those of standardised columns then: in the units of the rows, one column may decide them.
    """
    if not getattr(subject.model, "standardise_", False):
        return None
    spreads = subject.x.std(axis=0, dtype=np.float64)
    return np.where(spreads > 0, spreads, 1.0)


def _flats(subject: Subject, scale: Floats | None) -> tuple[Flats, NDArray[np.int64], bool]:
    """The flat of each cluster, the dimension of the cluster, and whether the flat belongs to the model.

    The flats are those of rows divided by `scale`.
    """
    model, k = subject.model, subject.n_clusters
    flats, dims = cluster_flats(model), cluster_dims(model)
    if flats is None or dims is None or len(flats) != k or flats.centers.shape[1] != subject.x.shape[1]:
        return *fitted_flats(_divided(subject.x, scale), subject.labels, k), False
    centers, bases = on_host(flats.centers), on_host(flats.bases)
    if scale is not None:
        # QR keeps the span of the leading directions, which the dimension counts.
        centers, bases = centers / scale, np.linalg.qr(bases / scale[:, None])[0]
    return Flats(centers, bases), dims, True


def _divided(rows: NDArray[Any], scale: Floats | None) -> NDArray[Any]:
    return rows if scale is None else (rows / scale).astype(rows.dtype)


def fitted_flats(x: NDArray[Any], labels: NDArray[np.int64], n_clusters: int) -> tuple[Flats, NDArray[np.int64]]:
    """Fit a flat to each cluster of the rows of `x` (n, p) and estimate its dimension, as `FLS` does."""
    some = at_most(np.arange(len(x)), MODEL_ROWS, np.random.RandomState(0))
    rows = x[some]
    preparation = prepare_rows(rows, center=True, unit=False)
    found = model_clusters(preparation(rows), labels[some].astype(np.int32), n_clusters, affine=True)
    return preparation.restore(found.flats()), found.dims


def _distances(
    subject: Subject, flats: Flats, dims: NDArray[np.int64], scale: Floats | None, *, given: bool
) -> tuple[Callable[[NDArray[Any]], NDArray[Any]], int, bool]:
    """A function from rows (b, p) to distances (b, K), the bytes it needs per row, and whether it scales rows."""
    row_bytes = distance_row_bytes(flats, subject.x.dtype) + 8 * subject.x.shape[1]
    own = flat_distances(subject.model) if given else None
    if own is not None:
        return own, row_bytes, measures_unit_rows(subject.model)
    # Flats through one point need a direction: that point alone is on all of them.
    least = int(np.ptp(flats.centers, axis=0).max() == 0)
    # Unused directions are set to zero, so that they do not change distances.
    bases = flats.bases * (np.arange(flats.dim) < np.maximum(dims, least)[:, None])[:, None, :]
    squared = distances_to(Flats(flats.centers, bases.astype(flats.bases.dtype)))
    return lambda rows: np.sqrt(squared(_divided(rows, scale))), row_bytes, False


def _angles(flats: Flats, dims: NDArray[np.int64]) -> Floats:
    angles = np.full((len(flats), len(flats)), np.nan)
    kept = np.flatnonzero(dims > 0)
    if len(kept):
        angles[np.ix_(kept, kept)] = flat_angles(flats[kept], np.minimum(dims[kept], flats.dim))
    np.fill_diagonal(angles, np.nan)
    return angles


def _scores(subject: Subject, own: Floats) -> Floats:
    """Outlier scores of the model, or distances divided by the median distance in the cluster."""
    if hasattr(subject.model, "outlier_scores"):
        return on_host(subject.model.outlier_scores(subject.x)).astype(np.float64)
    scores = np.ones(len(own))
    for k in range(subject.n_clusters):
        members = subject.members(k)
        middle = float(np.median(own[members])) if len(members) else 0.0
        scores[members] = own[members] / middle if middle > 0 else 1.0
    return scores


def cluster_table(subject: Subject, facts: ClusterFacts, kept: NDArray[Any] | None) -> list[dict[str, Any]]:
    """One line per cluster; `kept` (K,) is the share of its rows that stay in it when the model is fitted again."""
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
    """Percentiles of the distances to the own and to the nearest other flat, for each non-empty cluster."""
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
    return {"boxes": boxes, "scaled": facts.scaled, "standardised": facts.standardised, "given": facts.given}


def angle_map(subject: Subject, facts: ClusterFacts) -> dict[str, Any] | None:
    """Angles between the flats of clusters of dimension 1 or more; None if there are fewer than two."""
    kept = np.flatnonzero(facts.dims > 0)
    if len(kept) < 2:
        return None
    return {
        "clusters": kept.tolist(),
        "dims": facts.dims[kept].tolist(),
        "degrees": [numbers(row, 4) for row in facts.angles[np.ix_(kept, kept)]],
    }
