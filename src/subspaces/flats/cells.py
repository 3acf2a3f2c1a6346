"""Gaussians of clusters: a variance for each direction of a flat and one level of noise, fitted to many at once.

The length of a cluster, in nats, counts its rows and the parameters of its flat, each to the precision that the rows
determine; the shortest length decides the dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from subspaces._core.arrays import Indices, Labels
from subspaces._core.threads import one_thread
from subspaces.flats.thresholds import (
    BACKGROUND_CAP,
    MAX_DIM_SHARE,
    MEDIAN_STEPS,
    MEDIAN_TOLERANCE,
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
        return float(_levels([self])[0])

    def row_lengths(self, rows: Floats) -> Floats:
        """Nats (m,) of `rows` (m, p)."""
        return cell_lengths([self], rows)[0][:, 0]


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


def cell_lengths(cells: Sequence[Cell], rows: Floats) -> tuple[Floats, Floats]:
    """Nats (m, K) of `rows` (m, p) in each of K cells, and those (K,) of a row at the centre of each."""
    centers = np.array([cell.center for cell in cells])
    noise = np.array([cell.noise for cell in cells])
    variances = np.concatenate([cell.variances for cell in cells])
    bases = np.concatenate([cell.basis for cell in cells], axis=1)
    owner = _owners(cells)
    along = rows @ bases
    along -= np.einsum("kp,pk->k", centers[owner], bases)
    # How much less a square counts along a direction of the flat than as noise.
    factors = np.zeros((len(variances), len(cells)))
    factors[np.arange(len(variances)), owner] = 1 / noise[owner] - 1 / variances
    squares = rows @ (-2 * centers.T)
    squares += squared_lengths(rows)[:, None]
    squares += squared_lengths(centers)
    squares /= noise
    squares -= np.square(along, out=along) @ factors
    levels = _levels(cells)
    return np.maximum(squares, 0, out=squares) / 2 + levels, levels


def _owners(cells: Sequence[Cell]) -> Indices:
    """The cell of each direction of all bases."""
    return np.repeat(np.arange(len(cells)), [len(cell.variances) for cell in cells])


def _levels(cells: Sequence[Cell]) -> Floats:
    """Nats (K,) of a row at the centre of each of K cells."""
    p = len(cells[0].center)
    logs = np.log(np.concatenate([cell.variances for cell in cells]))
    along = np.bincount(_owners(cells), weights=logs, minlength=len(cells))
    beside = [(p - len(cell.variances), cell.noise) for cell in cells]
    counts, noise = np.array(beside).T
    return (along + counts * np.log(noise) + p * LOG_2PI) / 2


def fit_background(space: Space, index: Indices) -> Background:
    """Fit the background to some of the rows."""
    return fit_backgrounds(space, [index])[0]


def fit_backgrounds(space: Space, groups: Sequence[Indices]) -> list[Background]:
    """Fit a background to each group of rows."""
    p = space.rows.shape[1]
    found = [Background(1, np.zeros(p), 1.0)] * len(groups)
    filled = [i for i, index in enumerate(groups) if len(index)]
    if not filled:
        return found
    sizes = np.array([len(groups[i]) for i in filled])
    rows = space.rows[np.concatenate([groups[i] for i in filled])]
    # Medians, because a few outliers may be farther than all others.
    centers = spatial_medians(rows, sizes) if space.affine else np.zeros((len(sizes), p))
    squares = _middles(squared_lengths(rows - centers.repeat(sizes, axis=0)), sizes)
    for i, size, center, square in zip(filled, sizes, centers, squares, strict=True):
        # At least as wide as the data, so that the background cannot model a cluster.
        found[i] = Background(int(size), center, max(1.0, float(square) / p))
    return found


def fit_cells(space: Space, labels: Labels | Indices, n_clusters: int) -> list[Cell | None]:
    """The Gaussian of each cluster of the rows, from their labels (n,), -1 or K for none; None without rows."""
    return fit_each(space, labels[None], n_clusters)[0]


def fit_each(
    space: Space, labels: Labels | Indices, n_clusters: int, *, robust: bool = False
) -> list[list[Cell | None]]:
    """The same for each of several labellings (m, n).

    If `robust`, approximate Gaussians of most of the rows, of which up to half may be outliers.
    """
    rows, sizes = _sorted_by_cluster(space.rows, labels, n_clusters)
    present = np.flatnonzero(sizes)
    cells: list[Cell | None] = [None] * len(sizes)
    if len(present):
        counts = sizes[present]
        centers, covariances = (_robust_moments if robust else _moments)(rows, counts, space.affine)
        for k, cell in zip(present, cells_of_moments(space, counts, centers, covariances), strict=True):
            cells[k] = cell
    return [cells[k : k + n_clusters] for k in range(0, len(cells), n_clusters)]


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
    return np.array([part.T @ part for part in _parts(offsets, sizes)])


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

    The rows (m, p) of clusters of these sizes (K,), none empty, are one after another. Steps end when no point moves by
    more than a small share of the distance of its rows.
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
        before, total = centers, _sums_of_clusters(weights, sizes)
        centers = _sums_of_clusters(weights[:, None] * rows, sizes) / total[:, None]
        # Compared with the harmonic mean of the distances.
        if (squared_lengths(centers - before) <= np.square(MEDIAN_TOLERANCE * sizes / total)).all():
            break
    return centers


def cells_of_moments(space: Space, sizes: Indices, centers: Floats, covariances: Floats) -> list[Cell]:
    """Gaussians of clusters of these sizes (K,), centres (K, p) and covariances (K, p, p)."""
    p = centers.shape[1]
    with one_thread():
        values, vectors = np.linalg.eigh(covariances)
    variances, vectors = np.maximum(values[:, ::-1], 0), vectors[:, :, ::-1]
    lengths, overheads, noise = dim_lengths(variances, sizes, _reaches(space, centers), low=space.low, high=space.high)
    best = space.low + lengths[:, space.low :].argmin(axis=1)
    every = np.arange(len(sizes))
    least = lengths[every, best]
    # Without directions beyond the best.
    shorter = np.where(np.arange(lengths.shape[1]) <= best[:, None], lengths, least[:, None])
    dims = cluster_dim(shorter / sizes[:, None], p)
    levels, dim_levels, flats = noise[every, best], noise[every, dims], overheads[every, best]
    variances = np.maximum(variances, RESOLUTION**2)
    return [
        Cell(
            size=int(sizes[k]),
            center=centers[k],
            directions=vectors[k],
            basis=vectors[k, :, : best[k]],
            variances=variances[k, : best[k]],
            noise=float(levels[k]),
            length=float(least[k]),
            overhead=float(flats[k]),
            dim=int(dims[k]),
            dim_noise=float(dim_levels[k]),
        )
        for k in range(len(sizes))
    ]


def _reaches(space: Space, centers: Floats) -> Floats | None:
    """Ranges (K,) of the centres (K, p): a far one needs more nats. A linear flat has no centre to encode."""
    return np.maximum(1.0, squared_lengths(centers) / centers.shape[1]) if space.affine else None


def joined_lengths(space: Space, labels: Labels | Indices, n_clusters: int) -> dict[tuple[int, int], float]:
    """Nats of rows and flat of any two clusters joined, by their numbers j < k, neither of them empty."""
    rows, sizes = _sorted_by_cluster(space.rows, labels[None], n_clusters)
    present = np.flatnonzero(sizes)
    if len(present) < 2:
        return {}
    centers, covariances = _moments(rows, sizes[present], space.affine)
    first, second = np.triu_indices(len(present), 1)
    both = sizes[present][first] + sizes[present][second]
    share = (sizes[present][first] / both)[:, None]
    apart = centers[first] - centers[second]
    spread = (share * (1 - share) * apart)[:, :, None] * apart[:, None, :]
    share = share[:, :, None]
    joined = share * covariances[first] + (1 - share) * covariances[second] + spread
    with one_thread():
        variances = np.maximum(np.linalg.eigvalsh(joined)[:, ::-1], 0)
    reach = _reaches(space, centers[second] + share[:, :, 0] * apart)
    lengths = dim_lengths(variances, both, reach, low=space.low, high=space.high)[0][:, space.low :].min(axis=1)
    return {(int(j), int(k)): float(nats) for j, k, nats in zip(present[first], present[second], lengths, strict=True)}


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
    variances: Floats, size: Indices | int, reach: Floats | float | None, *, low: int = 0, high: int | None = None
) -> tuple[Floats, Floats, Floats]:
    """Lengths of clusters of `size` (...) rows with flats of 0, 1, ..., `high` dimensions.

    `variances` (..., p) are those of the rows in their principal directions, largest first. Returns three arrays
    (..., high + 1): nats of rows and flat, infinite if there are too few rows; nats of the flat alone; and variances of
    the noise. A parameter costs half the logarithm of the squared ratio of its range to its standard error. The angle
    between directions i and j has the standard error sqrt(v_i v_j / (size (v_i - v_j)^2)) with the variances v (Minka,
    2000), which are equal for all directions of noise. The range of the centre is about that of the rows, `reach`.
    """
    p, affine = variances.shape[-1], reach is not None
    sizes = np.asarray(size)[..., None]
    dims = np.arange((p - 1 if high is None else high) + 1)
    some = variances[..., : dims[-1]]
    squares = sizes * np.maximum(variances.sum(axis=-1, keepdims=True) - _sums(some), 0)
    # A flat passes through this many rows exactly, so they carry no information about noise.
    freedom = (sizes - dims - affine) * (p - dims)
    noise = np.where(freedom > 0, squares / np.maximum(freedom, 1), 1.0)
    noise = np.maximum(noise, RESOLUTION**2)
    some = np.maximum(some, RESOLUTION**2)
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


def chi2_quantile(probability: float, freedom: int) -> float:
    """Quantile of the chi-squared distribution; scipy.stats, which has it too, takes long to import."""
    return float(2 * gammaincinv(freedom / 2, probability))


def squared_lengths(rows: Floats) -> Floats:
    """Squared lengths (n,) of rows (n, p)."""
    return np.asarray(np.einsum("np,np->n", rows, rows))
