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
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from subspaces._core.arrays import Array, Indices, Labels
from subspaces._core.threads import one_thread
from subspaces.flats.thresholds import (
    BACKGROUND_CAP,
    MAX_CODE_ROUNDS,
    MAX_DIM_SHARE,
    MEDIAN_STEPS,
    NATS_PER_DIRECTION,
    REACH,
    RESOLUTION,
)

Floats = NDArray[np.float64]

LOG_2PI = float(np.log(2 * np.pi))


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
class Space:
    """Rows in the coordinates in which they are encoded, and the limits on flats."""

    rows: Floats  # (n, p), centred if affine, divided by the unit
    center: Floats  # (p,), that was subtracted; zero if linear, or if rows are in coordinates of their span
    unit: float
    affine: bool
    low: int  # smallest and largest dimension of flats
    high: int


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """The Gaussian of one cluster."""

    size: int
    center: Floats  # (p,)
    directions: Floats  # (p, p), in the order of variance
    basis: Floats  # (p, d), the first of the directions, which shorten the code
    variances: Floats  # (d,), along the basis
    noise: float  # variance in every other direction
    length: float  # of its rows and of the flat, in nats
    overhead: float  # of the flat alone
    dim: int  # the dimension of the cluster, `cluster_dim`
    dim_noise: float  # variance in all directions but those

    @property
    def level(self) -> float:
        """Length of a row at the centre, in nats."""
        p, dim = self.basis.shape
        return float(np.log(self.variances).sum() + (p - dim) * np.log(self.noise) + p * LOG_2PI) / 2

    def row_lengths(self, rows: Floats) -> Floats:
        """Nats (m,) of `rows` (m, p)."""
        offsets = rows - self.center
        along = np.square(offsets @ self.basis)
        beside = np.maximum(_squares(offsets) - along.sum(axis=1), 0)
        return self.level + (along @ (1 / self.variances) + beside / self.noise) / 2


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """The isotropic Gaussian of the rows that no flat reaches."""

    size: int
    center: Floats  # (p,)
    width: float  # variance in every direction

    def row_lengths(self, rows: Floats) -> Floats:
        """Nats (m,) of `rows` (m, p)."""
        p = rows.shape[1]
        squares = np.minimum(_squares(rows - self.center) / self.width, BACKGROUND_CAP * p)
        return (squares + p * (np.log(self.width) + LOG_2PI)) / 2


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


def is_flat(cell: Cell | None) -> bool:
    """Whether a cluster has a few directions and equal noise in all others.

    Each direction that shortens the code then saves far more than it costs. If variances decay slowly, as in curved
    clusters, many more directions save a little.
    """
    if cell is None:
        return False
    p, n_directions = cell.basis.shape
    return 0 < cell.dim == n_directions <= MAX_DIM_SHARE * p


def has_flat_clusters(code: Code) -> bool:
    """Whether all clusters are flat, and no two are parts of the same flat, as two curves in a plane are."""
    if not all(map(is_flat, code.cells)):
        return False
    members = _members(code.chosen, len(code.cells))
    for (i, first), (j, second) in combinations(enumerate(code.cells), 2):
        assert first is not None
        assert second is not None
        both = fit_cell(code.space, np.concatenate([members[i], members[j]]))
        if both is None or both.basis.shape[1] <= max(first.dim, second.dim):
            return False
    return True


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
    center = _spatial_median(rows) if affine else np.zeros(rows.shape[1])
    rows = rows - center
    if len(rows) < rows.shape[1]:
        with one_thread():
            values, vectors = np.linalg.eigh(rows @ rows.T)
        rows = vectors * np.sqrt(np.maximum(values, 0))
        center = np.zeros(rows.shape[1])
    p = rows.shape[1]
    squares = _squares(rows)
    # The median, because outliers may be far; the mean if most rows are at the centre.
    unit = float(np.sqrt((np.median(squares) or squares.mean()) / p)) or 1.0
    low = 0 if affine else min(1, p - 1)
    return Space(rows / unit, center, unit, affine, low, max(low, p - 1 if max_dim is None else min(max_dim, p - 1)))


def shortest_code(space: Space, labels: Labels | Indices, n_clusters: int, *, free: bool) -> Code:
    """Shorten the code that starts at the cluster (n,) of each row, -1 for none, until rows stay where they are.

    Rows stay in their cluster or move to the background; if `free`, they may also move to another cluster.
    """
    # Clusters are small, so several threads would mostly wait for each other.
    with one_thread():
        start = _members(labels, n_clusters)
        allowed = None if free else start
        cells = [_robust_cell(space, index) for index in start]
        unassigned = np.flatnonzero(labels < 0)
        background = fit_background(space, unassigned if len(unassigned) else np.arange(len(labels)))
        background = replace(background, size=max(1, len(unassigned)))
        table = _table(space, cells, background, allowed)
        chosen = np.full(len(labels), -1)
        for _ in range(MAX_CODE_ROUNDS):
            before, chosen = chosen, table.argmin(axis=1)
            if (chosen == before).all():
                break
            cells = [fit_cell(space, index) for index in _members(chosen, n_clusters)]
            background = fit_background(space, np.flatnonzero(chosen == n_clusters))
            table = _table(space, cells, background, allowed)
    return Code(space, cells, background, chosen, table)


def _members(labels: Labels | Indices, n_clusters: int) -> list[Indices]:
    """The rows of each cluster."""
    return [np.flatnonzero(labels == k) for k in range(n_clusters)]


def _table(
    space: Space, cells: Sequence[Cell | None], background: Background, allowed: Sequence[Indices] | None
) -> Floats:
    """Nats (n, K + 1) of each row in each cell that it may belong to, and in the background."""
    n, p = space.rows.shape
    table = np.full((n, len(cells) + 1), np.inf)
    table[:, -1] = background.row_lengths(space.rows) + np.log(n / background.size)
    reach = chi2_quantile(REACH, p) / 2
    for k, cell in enumerate(cells):
        if cell:
            index = np.arange(n) if allowed is None else allowed[k]
            lengths = cell.row_lengths(space.rows[index])
            table[index, k] = lengths + np.log(n / cell.size)
            # A cell that loses its tail to the background gets narrower, loses more, and would shrink to nothing.
            table[index[lengths <= cell.level + reach], -1] = np.inf
    return table


def fit_background(space: Space, index: Indices) -> Background:
    """Fit the background to some of the rows."""
    rows = space.rows[index]
    # Medians, because a few outliers may be farther than all others.
    center = _spatial_median(rows) if space.affine and len(rows) else np.zeros(rows.shape[1])
    squares = _squares(rows - center)
    # At least as wide as the data, so that the background cannot model a cluster.
    width = max(1.0, float(np.median(squares)) / rows.shape[1]) if len(rows) else 1.0
    return Background(max(1, len(rows)), center, width)


def fit_cell(space: Space, index: Indices) -> Cell | None:
    """Fit a Gaussian to some of the rows; None without rows."""
    rows = space.rows[index]
    if not len(rows):
        return None
    center = rows.mean(axis=0) if space.affine else np.zeros(rows.shape[1])
    return _cell(space, len(rows), center, rows - center, 1 / len(rows))


def _robust_cell(space: Space, index: Indices) -> Cell | None:
    """An approximate Gaussian of most of the given rows, if up to half of them may be outliers."""
    rows = space.rows[index]
    if not len(rows):
        return None
    center = _spatial_median(rows) if space.affine else np.zeros(rows.shape[1])
    offsets = rows - center
    lengths = np.linalg.norm(offsets, axis=1, keepdims=True)
    # Directions alone, so that far rows do not count more than near ones.
    directions = np.divide(offsets, lengths, out=np.zeros_like(offsets), where=lengths > 0)
    return _cell(space, len(rows), center, directions, float(np.median(lengths)) ** 2 / len(rows))


def _spatial_median(rows: Floats) -> Floats:
    """The point (p,) of about the least sum of distances to `rows` (n, p), which is robust to outliers."""
    center: Floats = rows.mean(axis=0)
    for _ in range(MEDIAN_STEPS):
        lengths = np.sqrt(_squares(rows - center))
        # A row at the centre would get infinite weight.
        weights = 1 / np.maximum(lengths, 1e-3 * np.median(lengths) or 1.0)
        center = weights @ rows / weights.sum()
    return center


def _cell(space: Space, size: int, center: Floats, offsets: Floats, scale: float) -> Cell:
    """The Gaussian of `size` rows with the given centre (p,) and the covariance `scale` * offsets' offsets."""
    with one_thread():
        values, vectors = np.linalg.eigh(offsets.T @ offsets)
    variances = np.maximum(scale * values[::-1], 0)
    # A linear flat has no centre to encode; a far centre needs more nats.
    reach = max(1.0, float(center @ center) / len(center)) if space.affine else None
    lengths, overheads, noise = dim_lengths(variances, size, reach, low=space.low, high=space.high)
    best = space.low + int(lengths[space.low :].argmin())
    dim = cluster_dim(lengths[: best + 1] / size, len(center))
    return Cell(
        size=size,
        center=center,
        directions=vectors[:, ::-1],
        basis=vectors[:, ::-1][:, :best],
        variances=np.maximum(variances[:best], RESOLUTION**2),
        noise=float(noise[best]),
        length=float(lengths[best]),
        overhead=float(overheads[best]),
        dim=dim,
        dim_noise=float(noise[dim]),
    )


def cluster_dim(lengths: Floats, n_columns: int) -> int:
    """The dimension of a cluster, from nats per row (d + 1,) with flats of 0, 1, ..., d directions, d the best of them.

    A direction counts if it saves a row enough nats. Directions are dropped from the last one on until one counts. If
    too many for a low-dimensional flat are left, as in a bent cluster or one that does not use some columns at all, the
    leading directions that count are the dimension instead. The dimension is 0 if none counts: the cluster is a blob.
    """
    counts = lengths[:-1] - lengths[1:] >= NATS_PER_DIRECTION
    dim = int(np.flatnonzero(counts).max(initial=-1)) + 1
    leading = int(np.cumprod(counts).sum())
    return leading if dim > MAX_DIM_SHARE * n_columns and leading else dim


def dim_lengths(
    variances: Floats, size: int, reach: float | None, *, low: int = 0, high: int | None = None
) -> tuple[Floats, Floats, Floats]:
    """Length of a cluster of `size` rows with a flat of 0, 1, ... dimensions, up to `high` or what the rows allow.

    `variances` (p,) are those of the rows in their principal directions, largest first. Returns three arrays of equal
    length: nats of rows and flat, nats of the flat alone, and variances of the noise. A parameter costs half the
    logarithm of the squared ratio of its range to its standard error. The angle between directions i and j has the
    standard error sqrt(v_i v_j / (size (v_i - v_j)^2)) with the variances v (Minka, 2000), which are equal for all
    directions of noise. The range of the centre is about that of the rows.
    """
    p, affine = len(variances), reach is not None
    high = p - 1 if high is None else high
    dims = np.arange(max(low, min(high, size - affine - 1)) + 1)
    squares = size * np.maximum(variances.sum() - _sums(variances)[dims], 0)
    # A flat passes through this many rows exactly, so they carry no information about noise.
    freedom = (size - dims - affine) * (p - dims)
    noise = np.where(freedom > 0, squares / np.maximum(freedom, 1), 1.0)
    noise = np.maximum(noise, RESOLUTION**2)
    some = np.maximum(variances[: dims[-1]], RESOLUTION**2)
    rows = size * ((p - dims) * np.log(noise) + _sums(np.log(some)) + dims + p * LOG_2PI) / 2 + squares / (2 * noise)
    among = np.triu(_angles(some[:, None] / some, size), 1).sum(axis=0)
    beside = np.where(dims[:-1, None] < dims, _angles(some[:, None] / noise, size), 0).sum(axis=0)
    flat = _sums(among) + (p - dims) * beside + (dims + 1) * np.log(size) / 2 + np.log(p)
    if reach is not None:
        flat += ((p - dims) * np.log(size * (1 + reach / noise)) + _sums(np.log(size * (1 + reach / some)))) / 2
    return rows + flat, flat, noise


def chi2_quantile(probability: float, freedom: int) -> float:
    """Quantile of the chi-squared distribution; scipy.stats, which has it too, takes long to import."""
    return float(2 * gammaincinv(freedom / 2, probability))


def _squares(rows: Floats) -> Floats:
    """Squared lengths (n,) of rows (n, p)."""
    return np.asarray(np.einsum("np,np->n", rows, rows))


def _angles(ratios: Floats, size: int) -> Floats:
    """Nats of the angles between directions whose variances have these `ratios`; zero for equal variances."""
    return np.log1p(size * np.maximum(ratios - 2 + 1 / ratios, 0)) / 2


def _sums(values: Floats) -> Floats:
    """Sums of the first 0, 1, ... of the `values` (m,): (m + 1,)."""
    return np.concatenate([[0.0], np.cumsum(values)])
