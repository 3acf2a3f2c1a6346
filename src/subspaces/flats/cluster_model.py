"""Gaussian models of given clusters: the dimension and the flat of each, scores and outliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Labels, follow, is_host, to_host
from subspaces._core.blocks import row_blocks
from subspaces.flats.cells import Background, Cell, Space, chi2_quantile, fit_background, fit_cells
from subspaces.flats.description import describe
from subspaces.flats.flats import Flats
from subspaces.flats.thresholds import REACH


@dataclass(frozen=True, slots=True, eq=False)
class ClusterModel:
    """A Gaussian for each cluster, and a background for outliers."""

    center: Array  # (p,), subtracted from rows first
    unit: float  # then rows are divided by it
    cells: Sequence[Cell | None]  # (K,), None for a cluster without rows
    background: Background

    @property
    def dims(self) -> NDArray[np.int64]:
        """Dimension (K,) of each cluster, `cluster_dim`; 0 for a blob and for a cluster without rows."""
        return np.array([cell.dim if cell else 0 for cell in self.cells], np.int64)

    def scores(self, rows: Array, labels: Labels) -> Array:
        """How unusual rows (n, p) are in their clusters (n,): about one for most rows, larger for outliers.

        The root mean square over directions of the deviation from the cluster, in standard deviations of its rows.
        """
        if not is_host(rows):
            return follow(self.scores(to_host(rows), to_host(labels)), rows)
        return np.sqrt(self._squares(rows, labels) / rows.shape[1]).astype(rows.dtype)

    def outliers(self, rows: Array, labels: Labels) -> NDArray[np.bool_]:
        """Rows (n, p) beyond the reach of their clusters (n,) that the background encodes in fewer nats: (n,)."""
        if not is_host(rows):
            return follow(self.outliers(to_host(rows), to_host(labels)), rows)
        squares = self._squares(rows, labels)
        levels = np.array([cell.level - np.log(cell.size) if cell else np.inf for cell in self.cells])
        apart = np.concatenate(
            [
                self.background.row_lengths(self._measured(rows[block])) - np.log(self.background.size)
                for block in row_blocks(len(rows), 24 * rows.shape[1])
            ]
        )
        return (squares > chi2_quantile(REACH, rows.shape[1])) & (levels[labels] + squares / 2 > apart)

    def row_lengths(self, rows: Array, labels: Labels) -> NDArray[np.float64]:
        """Nats (n,) of rows (n, p), each encoded by its cluster (n,) or by the background, whichever is shorter.

        The label of the row is included. Cells and the background have the weights of their rows; lengths are in the
        unit of the rows, so that they can be compared between models of the same rows.
        """
        measured = self._measured(rows)
        total = self.background.size + sum(cell.size for cell in self.cells if cell)
        lengths = self.background.row_lengths(measured) + np.log(total / self.background.size)
        for k, cell in enumerate(self.cells):
            members = np.flatnonzero(labels == k)
            if cell:
                nats = cell.row_lengths(measured[members]) + np.log(total / cell.size)
                lengths[members] = np.minimum(lengths[members], nats)
        return lengths + rows.shape[1] * float(np.log(self.unit))

    @property
    def overhead(self) -> float:
        """Nats of the flats of all clusters."""
        return sum(cell.overhead for cell in self.cells if cell)

    def flats(self) -> Flats:
        """The flat of each cluster, all with as many directions as the largest of `dims`, but at least one.

        Directions are in the order of variance: the first `dims[k]` of them span the flat of cluster k.
        """
        dim = max(1, int(self.dims.max()))
        bases = np.zeros((len(self.cells), len(self.center), dim))
        centers = np.tile(self.center.astype(np.float64), (len(self.cells), 1))
        for k, cell in enumerate(self.cells):
            bases[k] = np.eye(len(self.center), dim) if cell is None else cell.directions[:, :dim]
            centers[k] += 0 if cell is None else self.unit * cell.center
        return Flats(centers.astype(self.center.dtype), bases.astype(self.center.dtype))

    def _measured(self, rows: Array) -> NDArray[np.float64]:
        return (rows.astype(np.float64) - self.center) / self.unit

    def _squares(self, rows: Array, labels: Labels) -> NDArray[np.float64]:
        """Squared Mahalanobis distances (n,) of rows to their clusters: twice the nats above those of the centres."""
        squares = np.zeros(len(rows))
        for k, cell in enumerate(self.cells):
            members = np.flatnonzero(labels == k)
            for block in row_blocks(len(members), 24 * rows.shape[1]) if cell else ():
                index = members[block]
                squares[index] = 2 * (cell.row_lengths(self._measured(rows[index])) - cell.level)  # type: ignore[union-attr]
        return squares


def model_clusters(rows: Array, labels: Labels, n_clusters: int, *, affine: bool) -> ClusterModel:
    """Fit Gaussians to the clusters of rows (n, p) with the given labels (n,), without outliers."""
    found = describe(rows, labels, n_clusters, affine=affine)
    center = rows.mean(axis=0) if affine else np.zeros_like(rows[0])
    p = rows.shape[1]
    low = 0 if affine else min(1, p - 1)
    measured = (rows.astype(np.float64) - center) / found.unit
    space = Space(measured, center.astype(np.float64), found.unit, affine, low, max(low, p - 1))
    cells = fit_cells(space, _inliers(found.outliers, labels, n_clusters), n_clusters)
    return ClusterModel(center, found.unit, cells, fit_background(space, found.outliers))


def limit_of_share(scores: Array, share: float) -> float:
    """The limit above which about the given share of the `scores` (n,) lies: midway between two of them."""
    ordered = np.sort(scores).astype(np.float64)
    count = min(max(1, round(share * len(scores))), len(scores) - 1) if len(scores) > 1 else 0
    return float(ordered[-count - 1 : len(ordered) - count + 1].mean()) if count else float(ordered[-1])


def _inliers(outliers: NDArray[np.bool_], labels: Labels, n_clusters: int) -> Labels:
    """The labels (n,), -1 for outliers except in clusters that consist of them."""
    kept = np.bincount(labels[~outliers & (labels >= 0)], minlength=n_clusters)
    return np.where(outliers & (kept[labels] > 0), -1, labels)
