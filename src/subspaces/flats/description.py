"""How many nats tell rows by flats: the dimension each cluster needs, outliers, and evidence about K.

A cluster is coded as a Gaussian with a variance for each direction of its flat and one level of noise in all others.
Rows that no flat reaches are coded by a background, a round Gaussian at least as wide as the data. The length counts
the rows, the names of their clusters, and the flats themselves, told as precisely as their rows know them. Descriptions
of the same rows can be compared whatever their numbers of clusters and dimensions: the shortest is the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from subspaces._core.arrays import Array, Indices, Labels
from subspaces._core.threads import one_thread

Floats = NDArray[np.float64]

MAX_ROUNDS = 12
MEDIAN_STEPS = 10
# Noise below this share of the size of the data counts as that: finer precision would pay for what is chance, such as
# columns that happen to be constant in some of the rows.
RESOLUTION = 1e-3
# A direction must save each row of its cluster a nat, so have four or five times the variance of the noise: a spectrum
# that falls gently, as curved clusters have, would else be given nearly all columns.
NATS_PER_DIRECTION = 1.0
# Flats of a larger share of the columns are no low-dimensional subspaces.
MAX_DIM_SHARE = 2 / 3
# Rows of a Gaussian are within its reach but for one in a thousand; those within reach of a flat are no outliers.
REACH = 0.999
# How far a row of the background is matters up to this many widths.
FAR = 10.0
LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, slots=True, eq=False)
class Description:
    """Rows told by flats. Lengths are in nats for rows measured in `unit`: they do not depend on the unit of X."""

    length: float  # of everything: rows, names of clusters, flats
    row_lengths: Floats  # (n,), what each row costs with the name of its cluster; large for rows that fit badly
    outliers: NDArray[np.bool_]  # (n,), rows told by the background, and those without a cluster
    dims: NDArray[
        np.int64
    ]  # (K,), dimension that the flat of each cluster needs; 0 where a cluster is left without rows
    noise: Floats  # (K,), standard deviation of rows around flats of these dimensions, in the unit of X
    unit: float  # half of the rows are within unit * sqrt(p) of the centre of all


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Rows as they are coded, and what all codes of them share."""

    rows: Floats  # (n, p), from the centre of all or the origin, in the unit
    unit: float
    affine: bool
    low: int  # least and largest dimension of flats
    high: int


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """The Gaussian of one cluster."""

    size: int
    center: Floats  # (p,)
    directions: Floats  # (p, p), in the order of variance
    basis: Floats  # (p, d), the first of them, which shorten the code
    variances: Floats  # (d,), along them
    noise: float  # variance in every other direction
    length: float  # of its rows and of the flat
    overhead: float  # of the flat alone
    dim: int  # how many of the directions save enough to count
    dim_noise: float  # variance in every direction but those

    @property
    def level(self) -> float:
        """Nats of a row at the centre."""
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
    """The round Gaussian of the rows that no flat reaches."""

    size: int
    center: Floats  # (p,)
    width: float  # variance in every direction

    def row_lengths(self, rows: Floats) -> Floats:
        """Nats (m,) of `rows` (m, p)."""
        p = rows.shape[1]
        squares = np.minimum(_squares(rows - self.center) / self.width, FAR * p)
        return (squares + p * (np.log(self.width) + LOG_2PI)) / 2


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """A space told by cells and a background."""

    space: Space
    cells: Sequence[Cell | None]  # (K,), None for a cluster without rows
    background: Background
    chosen: Indices  # (n,), the cell of each row, K for the background
    table: Floats  # (n, K + 1), nats of each row wherever it may be, the name of the cluster included

    @property
    def row_lengths(self) -> Floats:
        """Nats (n,) of each row where it is."""
        return self.table[np.arange(len(self.table)), self.chosen]

    @property
    def overheads(self) -> Floats:
        """Nats (K,) of each flat."""
        return np.array([cell.overhead if cell else 0.0 for cell in self.cells])

    @property
    def length(self) -> float:
        """Nats of everything."""
        return float(self.row_lengths.sum() + self.overheads.sum())


def is_flat(cell: Cell | None) -> bool:
    """Whether a cluster has a few directions and the same noise in all others.

    Each direction that shortens its code then saves far more than it costs; where variances fall gently, as in curved
    clusters, there are many more that save a little.
    """
    if cell is None:
        return False
    p, n_directions = cell.basis.shape
    return 0 < cell.dim == n_directions <= MAX_DIM_SHARE * p


def has_flat_clusters(code: Code) -> bool:
    """Whether all clusters are flat, and no two of them parts of the same flat, as curves in a plane are."""
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
    """The shortest description of the rows of `x` (n, p), given the cluster (n,) of each, or -1 for none.

    Rows are told by the flat of their cluster or by the background. Flats have at most `max_dim` dimensions, p - 1 by
    default. A round costs a covariance and an eigendecomposition of p x p for each cluster; few rounds are needed.
    Rotations and scales of `x`, and translations where flats are affine, change nothing but `noise` and `unit`.
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
    """The rows of `x` (n, p) in their own unit; their coordinates in their span, where they are fewer than columns."""
    rows = x.astype(np.float64)
    rows = rows - _spatial_median(rows) if affine else rows
    if len(rows) < rows.shape[1]:
        with one_thread():
            values, vectors = np.linalg.eigh(rows @ rows.T)
        rows = vectors * np.sqrt(np.maximum(values, 0))
    p = rows.shape[1]
    squares = _squares(rows)
    # The median, for outliers may be far; the mean where most rows are at the centre.
    unit = float(np.sqrt((np.median(squares) or squares.mean()) / p)) or 1.0
    low = 0 if affine else min(1, p - 1)
    return Space(rows / unit, unit, affine, low, max(low, p - 1 if max_dim is None else min(max_dim, p - 1)))


def shortest_code(space: Space, labels: Labels | Indices, n_clusters: int, *, free: bool) -> Code:
    """A code that begins at the cluster (n,) of each row, -1 for none, and becomes shorter from round to round.

    Rows stay in their cluster or go to the background; where they are `free`, they may change the cluster too.
    """
    # Clusters are small, and threads would wait for each other.
    with one_thread():
        start = _members(labels, n_clusters)
        allowed = None if free else start
        cells = [_robust_cell(space, index) for index in start]
        nobody = np.flatnonzero(labels < 0)
        background = fit_background(space, nobody if len(nobody) else np.arange(len(labels)))
        background = replace(background, size=max(1, len(nobody)))
        table = _table(space, cells, background, allowed)
        chosen = np.full(len(labels), -1)
        for _ in range(MAX_ROUNDS):
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
    """Nats (n, K + 1) of each row in each cell that may have it and in the background."""
    n, p = space.rows.shape
    table = np.full((n, len(cells) + 1), np.inf)
    table[:, -1] = background.row_lengths(space.rows) + np.log(n / background.size)
    reach = chi2.ppf(REACH, p) / 2
    for k, cell in enumerate(cells):
        if cell:
            index = np.arange(n) if allowed is None else allowed[k]
            lengths = cell.row_lengths(space.rows[index])
            table[index, k] = lengths + np.log(n / cell.size)
            # A cell that lost its tail to the background would be narrower, lose more, and so on to nothing.
            table[index[lengths <= cell.level + reach], -1] = np.inf
    return table


def fit_background(space: Space, index: Indices) -> Background:
    """The background of some of the rows."""
    rows = space.rows[index]
    # Medians, for some outliers may be farther than all others.
    center = _spatial_median(rows) if space.affine and len(rows) else np.zeros(rows.shape[1])
    squares = _squares(rows - center)
    # Never narrower than all rows: it must not stand for a cluster.
    width = max(1.0, float(np.median(squares)) / rows.shape[1]) if len(rows) else 1.0
    return Background(max(1, len(rows)), center, width)


def fit_cell(space: Space, index: Indices) -> Cell | None:
    """The Gaussian of some of the rows, None without any."""
    rows = space.rows[index]
    if not len(rows):
        return None
    center = rows.mean(axis=0) if space.affine else np.zeros(rows.shape[1])
    return _cell(space, len(rows), center, rows - center, 1 / len(rows))


def _robust_cell(space: Space, index: Indices) -> Cell | None:
    """About the Gaussian of the most of some rows, when up to half of them may be outliers."""
    rows = space.rows[index]
    if not len(rows):
        return None
    center = _spatial_median(rows) if space.affine else np.zeros(rows.shape[1])
    offsets = rows - center
    lengths = np.linalg.norm(offsets, axis=1, keepdims=True)
    # Directions alone: a far row counts no more than a near one.
    directions = np.divide(offsets, lengths, out=np.zeros_like(offsets), where=lengths > 0)
    return _cell(space, len(rows), center, directions, float(np.median(lengths)) ** 2 / len(rows))


def _spatial_median(rows: Floats) -> Floats:
    """The point (p,) of about the least sum of distances to `rows` (n, p): a minority of them hardly moves it."""
    center: Floats = rows.mean(axis=0)
    for _ in range(MEDIAN_STEPS):
        lengths = np.sqrt(_squares(rows - center))
        # A row at the centre would hold it there for ever.
        weights = 1 / np.maximum(lengths, 1e-3 * np.median(lengths) or 1.0)
        center = weights @ rows / weights.sum()
    return center


def _cell(space: Space, size: int, center: Floats, offsets: Floats, scale: float) -> Cell:
    """The Gaussian of `size` rows around `center` (p,) with the covariance `scale` offsets' offsets."""
    with one_thread():
        values, vectors = np.linalg.eigh(offsets.T @ offsets)
    variances = np.maximum(scale * values[::-1], 0)
    # None of a linear flat's centre; a far one takes more to tell.
    reach = max(1.0, float(center @ center) / len(center)) if space.affine else None
    lengths, overheads, noise = dim_lengths(variances, size, reach, low=space.low, high=space.high)
    best = space.low + int(lengths[space.low :].argmin())
    dim = best
    while dim > space.low and lengths[dim - 1] - lengths[dim] < NATS_PER_DIRECTION * size:
        dim -= 1
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


def dim_lengths(
    variances: Floats, size: int, reach: float | None, *, low: int = 0, high: int | None = None
) -> tuple[Floats, Floats, Floats]:
    """What a cluster of `size` rows costs with a flat of 0, 1, ... dimensions, up to `high` or what its rows allow.

    `variances` (p,) are those of the rows in their principal directions, largest first. Returns three arrays of equal
    length: nats of rows and flat, nats of the flat alone, and variances of the noise. A parameter costs half the
    logarithm of how often the square of its error goes into that of its range. The angle of direction i to direction j
    is known to within the root of v_i v_j / (size (v_i - v_j)^2) (Minka, 2000), v the variances, of which those of the
    noise are equal; the centre lies about as far from that of all rows as rows do.
    """
    p, affine = len(variances), reach is not None
    high = p - 1 if high is None else high
    dims = np.arange(max(low, min(high, size - affine - 1)) + 1)
    squares = size * np.maximum(variances.sum() - _sums(variances)[dims], 0)
    # As many rows as a flat takes to pass through tell nothing about noise.
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


def _squares(rows: Floats) -> Floats:
    """Squared lengths (n,) of rows (n, p)."""
    return np.asarray(np.einsum("np,np->n", rows, rows))


def _angles(ratios: Floats, size: int) -> Floats:
    """Nats of the angles between directions whose variances have these `ratios`; none where they cannot be told."""
    return np.log1p(size * np.maximum(ratios - 2 + 1 / ratios, 0)) / 2


def _sums(values: Floats) -> Floats:
    """Sums of the first 0, 1, ... of the `values` (m,): (m + 1,)."""
    return np.concatenate([[0.0], np.cumsum(values)])
