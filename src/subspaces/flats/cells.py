"""Gaussians of clusters: a variance for each direction of a flat and one level of noise, fitted to many at once.

The length of a cluster, in nats, counts its rows and the parameters of its flat, each to the precision that the rows
determine; the shortest length decides the dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from subspaces._core.arrays import Indices, Labels
from subspaces._core.threads import one_thread
from subspaces.flats.thresholds import (
    BACKGROUND_CAP,
    MAX_DIM_SHARE,
    MEDIAN_STEPS,
    NATS_PER_DIRECTION,
    RESOLUTION,
)

Floats = NDArray[np.float64]

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Rows in the coordinates in which they are encoded, and the limits on flats."""

    rows: Floats  # (n, p), centred if affine, divided by the unit
    center: Floats  # (p,), that was subtracted; zero if linear, or if rows are in coordinates of their span
    unit: float
    affine: bool
    low: int  # smallest and largest dimension of flats
    high: int
    grain: float = 0.0  # standard deviation per column by which values are rounded, before division by the unit

    @property
    def floor(self) -> float:
        """Least variance in any direction."""
        return max(RESOLUTION, self.grain / self.unit) ** 2


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
        p, d = self.basis.shape
        return float(np.log(self.variances).sum() + (p - d) * np.log(self.noise) + p * LOG_2PI) / 2

    def row_lengths(self, rows: Floats) -> Floats:
        """Nats (m,) of `rows` (m, p)."""
        offsets = rows - self.center
        along = offsets @ self.basis
        squares = squared_lengths(offsets) / self.noise - np.square(along) @ (1 / self.noise - 1 / self.variances)
        return np.maximum(squares, 0) / 2 + self.level


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Gaussians of M clusters, none of them empty, in arrays."""

    sizes: Indices  # (M,)
    centers: Floats  # (M, p)
    directions: Floats  # (M, p, p), in the order of variance
    variances: Floats  # (M, p), along the directions
    counts: Indices  # (M,), how many of the directions shorten the code
    lengths: Floats  # (M, high + 1), nats of rows and flat by number of directions
    overheads: Floats  # (M, high + 1), nats of the flat alone
    noises: Floats  # (M, high + 1), variance in every other direction

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, index: Indices | slice) -> Cells:
        return Cells(*(getattr(self, name)[index] for name in Cells.__dataclass_fields__))

    @property
    def noise(self) -> Floats:
        """Variance (M,) in every direction beyond those that shorten the code."""
        return self.noises[np.arange(len(self)), self.counts]

    def each(self) -> list[Cell]:
        """The Gaussian of each cluster."""
        every, p = np.arange(len(self)), self.centers.shape[1]
        least = self.lengths[every, self.counts]
        # Without directions beyond the best.
        shorter = np.where(np.arange(self.lengths.shape[1]) <= self.counts[:, None], self.lengths, least[:, None])
        dims = cluster_dim(shorter / self.sizes[:, None], p)
        noise, dim_noise = self.noise, self.noises[every, dims]
        overheads = self.overheads[every, self.counts]
        return [
            Cell(
                size=int(self.sizes[k]),
                center=self.centers[k],
                directions=self.directions[k],
                basis=self.directions[k, :, :count],
                variances=self.variances[k, :count],
                noise=float(noise[k]),
                length=float(least[k]),
                overhead=float(overheads[k]),
                dim=int(dims[k]),
                dim_noise=float(dim_noise[k]),
            )
            for k, count in enumerate(self.counts.tolist())
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """The isotropic Gaussian of the rows that no flat reaches."""

    size: int
    center: Floats  # (p,)
    width: float  # variance in every direction

    def row_lengths(self, rows: Floats) -> Floats:
        """Nats (m,) of `rows` (m, p)."""
        return background_lengths([self], rows)[0]


def background_lengths(backgrounds: Sequence[Background], rows: Floats) -> Floats:
    """Nats (b, m) of `rows` (m, p) in each of b backgrounds."""
    p = rows.shape[1]
    centers = np.array([each.center for each in backgrounds])
    widths = np.array([[each.width] for each in backgrounds])
    squares = (-2 * centers) @ rows.T
    squares += squared_lengths(rows)
    squares += squared_lengths(centers)[:, None]
    squares /= widths
    return (np.clip(squares, 0, BACKGROUND_CAP * p, out=squares) + p * (np.log(widths) + LOG_2PI)) / 2


def cell_lengths(cells: Cells, rows: Floats) -> tuple[Floats, Floats]:
    """Nats (M, m) of `rows` (m, p) in each of M cells, and those (M,) of a row at the centre of each."""
    p, noise = rows.shape[1], cells.noise
    used = np.arange(p) < cells.counts[:, None]
    bases, variances = cells.directions.transpose(0, 2, 1)[used], cells.variances[used]
    owner = np.repeat(np.arange(len(cells)), cells.counts)
    columns = np.ascontiguousarray(rows.T)
    squares = (-2 * cells.centers) @ columns
    squares += squared_lengths(rows)
    squares += squared_lengths(cells.centers)[:, None]
    squares /= noise[:, None]
    logs = np.zeros(len(cells))
    if len(owner):
        along = bases @ columns
        along -= np.einsum("tp,tp->t", cells.centers[owner], bases)[:, None]
        np.square(along, out=along)
        # How much less a square counts along a direction of the flat than as noise.
        along *= (1 / noise[owner] - 1 / variances)[:, None]
        straight = np.flatnonzero(cells.counts)
        squares[straight] -= np.add.reduceat(along, (cells.counts.cumsum() - cells.counts)[straight], axis=0)
        np.add.at(logs, owner, np.log(variances))
    levels = (logs + (p - cells.counts) * np.log(noise) + p * LOG_2PI) / 2
    np.maximum(squares, 0, out=squares)
    squares /= 2
    squares += levels[:, None]
    return squares, levels


def fit_background(space: Space, inside: NDArray[np.bool_]) -> Background:
    """Fit the background to the rows `inside` (n,)."""
    return fit_backgrounds(space, inside[None])[0]


def fit_backgrounds(space: Space, inside: NDArray[np.bool_]) -> list[Background]:
    """Fit a background to each of several sets of rows (m, n)."""
    p = space.rows.shape[1]
    found = [Background(1, np.zeros(p), 1.0)] * len(inside)
    counts = inside.sum(axis=1)
    filled = np.flatnonzero(counts)
    if not len(filled):
        return found
    sizes, rows = counts[filled], space.rows[np.nonzero(inside)[1]]
    # Medians, because a few outliers may be farther than all others.
    centers = spatial_medians(rows, sizes) if space.affine else np.zeros((len(sizes), p))
    squares = _middles(squared_lengths(rows - centers.repeat(sizes, axis=0)), sizes)
    # At least as wide as the data, and reaching their centre, so that the background cannot model a cluster.
    squares = np.maximum(squares, squared_lengths(centers))
    for i, size, center, square in zip(filled, sizes, centers, squares, strict=True):
        found[i] = Background(int(size), center, max(1.0, float(square) / p))
    return found


def fit_cells(space: Space, labels: Labels | Indices, n_clusters: int) -> list[Cell | None]:
    """The Gaussian of each cluster of the rows, from their labels (n,), -1 or K for none; None without rows."""
    cells, places = fit_each(space, labels[None], n_clusters)
    return in_places(cells, places, n_clusters)


def in_places(cells: Cells, places: Indices, n_clusters: int) -> list[Cell | None]:
    """K cells of which those at `places` (M,) are given; None elsewhere."""
    found: list[Cell | None] = [None] * n_clusters
    for k, cell in zip(places.tolist(), cells.each(), strict=True):
        found[k] = cell
    return found


def fit_each(space: Space, labels: Labels | Indices, n_clusters: int, *, robust: bool = False) -> tuple[Cells, Indices]:
    """The Gaussians of all clusters that have rows in several labellings (m, n), and their places (M,) among m K.

    If `robust`, approximate Gaussians of most of the rows, of which up to half may be outliers.
    """
    rows, sizes = _sorted_by_cluster(space.rows, labels, n_clusters)
    places = np.flatnonzero(sizes)
    counts = sizes[places]
    centers, covariances = (_robust_moments if robust else _moments)(rows, counts, space.affine)
    return cells_of_moments(space, counts, centers, covariances), places


def _sorted_by_cluster(rows: Floats, labels: Labels | Indices, n_clusters: int) -> tuple[Floats, Indices]:
    """The rows of all clusters of labellings (m, n), one cluster after another, and the size (m K,) of each."""
    count = len(labels) * n_clusters
    inside = (labels >= 0) & (labels < n_clusters)
    names = (labels + n_clusters * np.arange(len(labels))[:, None])[inside]
    # Short integers are sorted faster.
    order = np.argsort(names.astype(np.int16) if count < 2**15 else names, kind="stable")
    return rows[np.nonzero(inside)[1][order]], np.bincount(names, minlength=count)


def _moments(rows: Floats, sizes: Indices, affine: bool) -> tuple[Floats, Floats]:
    """Means (K, p) and covariances (K, p, p) of clusters of these sizes (K,), none empty, whose rows are in order."""
    centers = _sums_of_clusters(rows, sizes) / sizes[:, None] if affine else np.zeros((len(sizes), rows.shape[1]))
    return centers, _scatters(rows - centers.repeat(sizes, axis=0), sizes) / sizes[:, None, None]


def _robust_moments(rows: Floats, sizes: Indices, affine: bool) -> tuple[Floats, Floats]:
    """The same from spatial medians and directions alone, so that far rows do not count more than near ones."""
    centers = spatial_medians(rows, sizes) if affine else np.zeros((len(sizes), rows.shape[1]))
    offsets = rows - centers.repeat(sizes, axis=0)
    lengths = np.sqrt(squared_lengths(offsets))
    offsets /= np.where(lengths > 0, lengths, 1)[:, None]
    scales = _middles(lengths, sizes) ** 2 / sizes
    return centers, _scatters(offsets, sizes) * scales[:, None, None]


def _sums_of_clusters(values: Floats, sizes: Indices) -> Floats:
    return np.add.reduceat(values, sizes.cumsum() - sizes, axis=0)


def _scatters(offsets: Floats, sizes: Indices) -> Floats:
    """Sums (K, p, p) of outer products of the rows of each cluster."""
    p = offsets.shape[1]
    return np.array([part.T @ part for part in _parts(offsets, sizes)]).reshape(-1, p, p)


def _middles(values: Floats, sizes: Indices) -> Floats:
    return np.array([middle(part) for part in _parts(values, sizes)])


def _parts(values: Floats, sizes: Indices) -> list[Floats]:
    """The rows of each cluster."""
    ends = sizes.cumsum().tolist()
    return [values[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def middle(values: Floats) -> float:
    """The median; faster than that of NumPy for few values."""
    half, odd = divmod(len(values), 2)
    if odd:
        return float(np.partition(values, half)[half])
    found = np.partition(values, (half - 1, half))
    return float(found[half - 1] + found[half]) / 2


def spatial_medians(rows: Floats, sizes: Indices) -> Floats:
    """Points (K, p) of about the least sum of distances to the rows of each cluster, which are robust to outliers.

    The rows (m, p) of clusters of these sizes (K,), none empty, are one after another.
    """
    centers = _sums_of_clusters(rows, sizes) / sizes[:, None]
    least = np.empty(0)
    for step in range(MEDIAN_STEPS):
        lengths = np.sqrt(squared_lengths(rows - centers.repeat(sizes, axis=0)))
        # A row at the centre would get infinite weight. After three steps the centre is near enough to know how much.
        if step in (0, 3):
            floors = 1e-3 * _middles(lengths, sizes)
            least = np.repeat(np.where(floors > 0, floors, 1.0), sizes)
        weights = 1 / np.maximum(lengths, least)
        centers = _sums_of_clusters(weights[:, None] * rows, sizes) / _sums_of_clusters(weights, sizes)[:, None]
    return centers


def cells_of_moments(space: Space, sizes: Indices, centers: Floats, covariances: Floats) -> Cells:
    """Gaussians of clusters of these sizes (M,), centres (M, p) and covariances (M, p, p)."""
    with one_thread():
        values, vectors = np.linalg.eigh(covariances)
    variances = np.maximum(values[:, ::-1], 0)
    reach = _reaches(space, centers)
    lengths, overheads, noises = dim_lengths(variances, sizes, reach, low=space.low, high=space.high, floor=space.floor)
    counts = space.low + lengths[:, space.low :].argmin(axis=1)
    variances = np.maximum(variances, space.floor)
    return Cells(sizes, centers, vectors[:, :, ::-1], variances, counts, lengths, overheads, noises)


def _reaches(space: Space, centers: Floats) -> Floats | None:
    """Ranges (K,) of the centres (K, p): a far one needs more nats. A linear flat has no centre to encode."""
    return np.maximum(1.0, squared_lengths(centers) / centers.shape[1]) if space.affine else None


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Sizes, means and covariances of M clusters, none of them empty."""

    sizes: Indices  # (M,)
    centers: Floats  # (M, p)
    covariances: Floats  # (M, p, p)

    def __getitem__(self, index: Indices) -> Moments:
        return Moments(self.sizes[index], self.centers[index], self.covariances[index])

    def joined(self, other: Moments) -> Moments:
        """The moments of each cluster joined with one of as many others."""
        sizes = self.sizes + other.sizes
        share = (self.sizes / sizes)[:, None]
        apart = self.centers - other.centers
        between = (share * (1 - share) * apart)[:, :, None] * apart[:, None, :]
        within = share[:, :, None] * self.covariances + (1 - share)[:, :, None] * other.covariances
        return Moments(sizes, other.centers + share * apart, within + between)

    def lengths(self, space: Space) -> Floats:
        """Nats (M,) of rows and flat of each cluster."""
        with one_thread():
            variances = np.maximum(np.linalg.eigvalsh(self.covariances)[:, ::-1], 0)
        reach = _reaches(space, self.centers)
        found = dim_lengths(variances, self.sizes, reach, low=space.low, high=space.high, floor=space.floor)[0]
        return np.asarray(found[:, space.low :].min(axis=1))


def cluster_moments(space: Space, labels: Indices, n_clusters: int) -> Moments:
    """The moments of K clusters of the rows with labels (n,), K for none; each has rows."""
    rows, sizes = _sorted_by_cluster(space.rows, labels[None], n_clusters)
    return Moments(sizes, *_moments(rows, sizes, space.affine))


def cluster_dim(lengths: Floats, n_columns: int) -> Indices:
    """The dimension (...) of clusters, from nats per row (..., d + 1) with flats of 0, 1, ..., d directions.

    Lengths beyond the best number of directions equal that of the best. A direction counts if it saves a row enough
    nats. Directions are dropped from the last one on until one counts. If too many for a low-dimensional flat are left,
    as in a bent cluster or one that does not use some columns at all, the leading directions that count are the
    dimension instead. The dimension is 0 if none counts: the cluster is a blob.
    """
    counts = lengths[..., :-1] - lengths[..., 1:] >= NATS_PER_DIRECTION
    dims = (counts * np.arange(1, counts.shape[-1] + 1)).max(axis=-1, initial=0)
    leading = np.cumprod(counts, axis=-1).sum(axis=-1)
    return np.where((dims > MAX_DIM_SHARE * n_columns) & (leading > 0), leading, dims)


def dim_lengths(
    variances: Floats,
    size: Indices | int,
    reach: Floats | float | None,
    *,
    low: int = 0,
    high: int | None = None,
    floor: float = RESOLUTION**2,
) -> tuple[Floats, Floats, Floats]:
    """Lengths of clusters of `size` (...) rows with flats of 0, 1, ..., `high` dimensions.

    `variances` (..., p) are those of the rows in their principal directions, largest first. Returns three arrays
    (..., high + 1): nats of rows and flat, infinite if there are too few rows; nats of the flat alone; and variances of
    the noise. A parameter costs half the logarithm of the squared ratio of its range to its standard error. The angle
    between directions i and j has the standard error sqrt(v_i v_j / (size (v_i - v_j)^2)) with the variances v (Minka,
    2000), which are equal for all directions of noise. The range of the centre is about that of the rows, `reach`.
    No variance is less than `floor`.
    """
    p, affine = variances.shape[-1], reach is not None
    sizes = np.asarray(size)[..., None]
    dims = np.arange((p - 1 if high is None else high) + 1)
    some = variances[..., : dims[-1]]
    squares = sizes * np.maximum(variances.sum(axis=-1, keepdims=True) - _sums(some), 0)
    # A flat passes through this many rows exactly, so they carry no information about noise.
    freedom = (sizes - dims - affine) * (p - dims)
    noise = np.where(freedom > 0, squares / np.maximum(freedom, 1), 1.0)
    noise = np.maximum(noise, floor)
    some = np.maximum(some, floor)
    logs, log_noise = np.log(some), np.log(noise)
    rows = sizes * ((p - dims) * log_noise + _sums(logs) + dims + p * LOG_2PI) / 2 + squares / (2 * noise)
    # Angles of each direction with those before it, and with the noise beside all of them.
    others = np.concatenate([some, noise], axis=-1)
    angles = _angles(some[..., :, None] / others[..., None, :], sizes[..., None])
    angles *= dims[:-1, None] < np.concatenate([dims[:-1], dims])
    among, beside = np.split(angles.sum(axis=-2), [dims[-1]], axis=-1)
    flat = _sums(among) + (p - dims) * beside + (dims + 1) * np.log(sizes) / 2 + np.log(p)
    if reach is not None:
        ranges = np.asarray(reach)[..., None]
        center = np.log1p(ranges / np.concatenate([some, noise], axis=-1)) + np.log(sizes)
        along, rest = np.split(center, [dims[-1]], axis=-1)
        flat = flat + ((p - dims) * rest + _sums(along)) / 2
    allowed = dims <= np.maximum(low, sizes - affine - 1)
    return np.where(allowed, rows + flat, np.inf), flat, noise


def _angles(ratios: Floats, size: Indices) -> Floats:
    """Nats of the angles between directions whose variances have these `ratios`; zero for equal variances."""
    return np.log1p(size * np.maximum(ratios - 2 + 1 / ratios, 0)) / 2


def _sums(values: Floats) -> Floats:
    """Sums of the first 0, 1, ... of the `values` (..., m): (..., m + 1)."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums


@cache
def chi2_quantile(probability: float, freedom: int) -> float:
    """Quantile of the chi-squared distribution; scipy.stats, which has it too, takes long to import."""
    return float(2 * gammaincinv(freedom / 2, probability))


def squared_lengths(rows: Floats) -> Floats:
    """Squared lengths (n,) of rows (n, p)."""
    return np.asarray(np.einsum("np,np->n", rows, rows))
