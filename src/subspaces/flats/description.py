"""Description length of rows under a union of flats: dimensions of clusters, outliers, evidence about K.

A cluster is encoded as a Gaussian with a variance for each direction of its flat and one level of noise in all other
directions. Rows that no flat reaches are encoded by a background, an isotropic Gaussian at least as wide as the data.
The length, in nats, counts the rows, the labels of their clusters, and the parameters of the flats, each to the
precision that the rows determine. Descriptions of the same rows can be compared for any numbers of clusters and
dimensions: the shortest is the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Indices, Labels
from subspaces._core.threads import one_thread
from subspaces.flats.cells import (
    Background,
    Cell,
    Floats,
    Space,
    cell_lengths,
    chi2_quantile,
    fit_background,
    fit_cells,
    middle,
    spatial_medians,
    squared_lengths,
)
from subspaces.flats.thresholds import MAX_CODE_ROUNDS, REACH


@dataclass(frozen=True, slots=True, eq=False)
class Description:
    """Result of encoding rows with flats. Lengths are in nats, for rows divided by `unit`."""

    length: float  # of rows, labels and flats together
    row_lengths: Floats  # (n,), of each row with its label; large for rows that fit badly
    outliers: NDArray[np.bool_]  # (n,), rows encoded by the background
    dims: NDArray[np.int64]  # (K,), dimension of each cluster, `cluster_dim`; 0 for a cluster without rows
    noise: Floats  # (K,), standard deviation of rows around flats of these dimensions, in the unit of X
    unit: float  # half of the rows lie within unit * sqrt(p) of the centre


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """Rows encoded by cells and a background."""

    space: Space
    cells: Sequence[Cell | None]  # (K,), None for a cluster without rows
    background: Background
    chosen: Indices  # (n,), the cell of each row, K for the background
    table: Floats  # (n, K + 1), nats of each row in each cell and in the background, label included

    @property
    def row_lengths(self) -> Floats:
        """Nats (n,) of each row in its cell."""
        return self.table[np.arange(len(self.table)), self.chosen]

    @property
    def overheads(self) -> Floats:
        """Nats (K,) of each flat."""
        return np.array([cell.overhead if cell else 0.0 for cell in self.cells])

    @property
    def length(self) -> float:
        """Nats of rows and flats together."""
        return float(self.row_lengths.sum() + self.overheads.sum())


def describe(x: Array, labels: Labels, n_clusters: int, *, affine: bool, max_dim: int | None = None) -> Description:
    """The shortest description of the rows of `x` (n, p), given the cluster (n,) of each row, -1 for none.

    Each row is encoded by the flat of its cluster or by the background. Flats have at most `max_dim` dimensions, p - 1
    by default. A round computes a covariance and a p x p eigendecomposition for each cluster; few rounds are needed.
    Rotations and scales of `x`, and translations if flats are affine, change nothing but `noise` and `unit`.
    """
    space = measure(x, affine=affine, max_dim=max_dim)
    code = shortest_code(space, labels, n_clusters, free=False)
    return Description(
        length=code.length,
        row_lengths=code.row_lengths,
        outliers=code.chosen == n_clusters,
        dims=np.array([cell.dim if cell else 0 for cell in code.cells], np.int64),
        noise=space.unit * np.sqrt([cell.dim_noise if cell else 0.0 for cell in code.cells]),
        unit=space.unit,
    )


def measure(x: Array, *, affine: bool, max_dim: int | None = None) -> Space:
    """The rows of `x` (n, p) centred and divided by their unit; if fewer than columns, in coordinates of their span."""
    rows = x.astype(np.float64)
    center = spatial_medians(rows, np.array([len(rows)]))[0] if affine else np.zeros(rows.shape[1])
    rows = rows - center
    if len(rows) < rows.shape[1]:
        with one_thread():
            values, vectors = np.linalg.eigh(rows @ rows.T)
        rows = vectors * np.sqrt(np.maximum(values, 0))
        center = np.zeros(rows.shape[1])
    p = rows.shape[1]
    squares = squared_lengths(rows)
    # The median, because outliers may be far; the mean if most rows are at the centre.
    unit = float(np.sqrt((middle(squares) or squares.mean()) / p)) or 1.0
    low = 0 if affine else min(1, p - 1)
    return Space(rows / unit, center, unit, affine, low, max(low, p - 1 if max_dim is None else min(max_dim, p - 1)))


def shortest_code(space: Space, labels: Labels | Indices, n_clusters: int, *, free: bool) -> Code:
    """Shorten the code that starts at the cluster (n,) of each row, -1 for none, until rows stay where they are.

    Rows stay in their cluster or move to the background; if `free`, they may also move to another cluster.
    """
    # Clusters are small, so several threads would mostly wait for each other.
    with one_thread():
        allowed = None if free else labels
        cells = fit_cells(space, labels, n_clusters, robust=True)
        unassigned = np.flatnonzero(labels < 0)
        background = fit_background(space, unassigned if len(unassigned) else np.arange(len(labels)))
        background = replace(background, size=max(1, len(unassigned)))
        table = _table(space, cells, background, allowed)
        chosen = np.full(len(labels), -1)
        for _ in range(MAX_CODE_ROUNDS):
            before, chosen = chosen, table.argmin(axis=1)
            if (chosen == before).all():
                break
            cells = fit_cells(space, chosen, n_clusters)
            background = fit_background(space, np.flatnonzero(chosen == n_clusters))
            table = _table(space, cells, background, allowed)
    return Code(space, cells, background, chosen, table)


def _table(
    space: Space, cells: Sequence[Cell | None], background: Background, allowed: Labels | Indices | None
) -> Floats:
    """Nats (n, K + 1) of each row in the background and in each cell, or in that of its `allowed` cluster (n,)."""
    n, p = space.rows.shape
    table = np.full((n, len(cells) + 1), np.inf)
    table[:, -1] = background.row_lengths(space.rows) + np.log(n / background.size)
    reach = chi2_quantile(REACH, p) / 2
    present = np.array([k for k, cell in enumerate(cells) if cell], np.intp)
    parts = [(np.arange(n), present)]
    if allowed is not None:
        parts = [(np.flatnonzero(allowed == k), present[i : i + 1]) for i, k in enumerate(present)]
    for index, columns in parts:
        some = [cell for k in columns if (cell := cells[k])]
        if not some:
            continue
        lengths, levels = cell_lengths(some, space.rows[index])
        table[index[:, None], columns] = lengths + np.log(n / np.array([cell.size for cell in some]))
        # A cell that loses its tail to the background gets narrower, loses more, and would shrink to nothing.
        table[index[(lengths <= levels + reach).any(axis=1)], -1] = np.inf
    return table
