"""K-flats: k-means with flats in place of centres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Indices, Labels, follow, namespace, to_host
from subspaces._core.blocks import row_blocks
from subspaces._core.eigen import largest_eigenpairs
from subspaces._core.numbering import number_clusters
from subspaces._core.offload import on_device
from subspaces._core.progress import advance
from subspaces._core.threads import mapped, one_thread
from subspaces.flats.device import DeviceFlats
from subspaces.flats.distances import distance_row_bytes, distances_to
from subspaces.flats.fitting import principal_bases
from subspaces.flats.flats import Flats
from subspaces.flats.thresholds import ENERGY_TOLERANCE

LOSSES = ("squared", "median")
# Up to this many entries and columns, all flats are refitted at once. Speed only, beyond rounding.
FEW_ENTRIES = 2**17
FEW_COLUMNS = 32


@dataclass(frozen=True, slots=True, eq=False)
class FlatsFit:
    """Flats, the nearest flat of each row, and the distances to these."""

    flats: Flats
    labels: Labels  # (n,)
    distances: Array  # (n,), of each row to its own flat
    energy: float  # sum of the distances, or of their squares
    n_iter: int = 1  # steps; assigning rows to given flats counts as one


def assign_to_flats(x: Array, flats: Flats, *, loss: str = "median") -> FlatsFit:
    """Assign each row of `x` (n, p) to the nearest of the `flats`; ties go to the lower index.

    The energy is the sum of the distances for `loss="median"` and of their squares for `"squared"`.
    """
    moved = on_device(x, x.size * len(flats) * (flats.dim + 1))
    if moved is not None:
        return _assign_on_device(moved, flats, loss)
    squared_distances = distances_to(flats)
    labels = np.empty(len(x), np.int32)
    squares = np.empty(len(x), x.dtype)
    for rows in row_blocks(len(x), distance_row_bytes(flats, x.dtype)):
        table = squared_distances(x[rows])
        labels[rows] = table.argmin(axis=1)
        squares[rows] = table.min(axis=1)
    return _flats_fit(flats, labels, squares, loss)


def _assign_on_device(x: Array, flats: Flats, loss: str) -> FlatsFit:
    """The same for rows (n, p) on a device."""
    squares, labels = DeviceFlats(flats).nearest(x, 1)
    return _flats_fit(flats, to_host(labels)[:, 0].astype(np.int32), to_host(squares)[:, 0], loss)


def _flats_fit(flats: Flats, labels: Labels, squares: Array, loss: str) -> FlatsFit:
    distances = np.sqrt(squares)
    return FlatsFit(flats, labels, distances, float((squares if loss == "squared" else distances).sum(dtype=float)))


def number_flats(x: Array, fit: FlatsFit) -> FlatsFit:
    """The fit to rows `x` (n, p) with flats in the order of their first rows."""

    def label(flats: Flats) -> Labels:
        return assign_to_flats(x, flats).labels

    flats, labels = number_clusters(fit.flats, label, Flats.__getitem__, fit.labels, len(fit.flats))
    return replace(fit, flats=flats, labels=labels)


def fit_kflats(x: Array, start: Flats, *, affine: bool, loss: str = "median", max_iter: int = 100) -> FlatsFit:
    """K-flats from starting flats: assign each row of `x` (n, p) to its nearest flat, refit the flats, repeat.

    The energy never rises. It is the sum of squared distances for `loss="squared"`, and of distances for `"median"`,
    which is robust to outliers and takes one step of reweighted least squares at a time. A flat that loses all rows
    restarts at the rows that fit worst. Stops if labels stay the same and the energy hardly falls, or after `max_iter`
    steps. Use it alone, or to improve the labels of another method, starting at the flats of `flats_of_labels`.
    """
    smallest = rounding(x, affine)
    current = assign_to_flats(x, start, loss=loss)
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        weights = None if loss == "squared" else 1 / np.maximum(current.distances.astype(np.float64), smallest)
        after = assign_to_flats(x, _refit(x, current, weights, affine), loss=loss)
        # Steps that only change rounding might never end.
        if after.energy >= current.energy:
            break
        converged = after.energy > (1 - ENERGY_TOLERANCE) * current.energy and (after.labels == current.labels).all()
        current = after
        if converged:
            break
    return replace(current, n_iter=n_iter)


def rounding(x: Array, affine: bool) -> float:
    """The size of rounding errors in distances of rows of `x` (n, p) to flats."""
    origin = x.mean(axis=0, dtype=np.float64) if affine else np.zeros(x.shape[1])
    total = sum(float(np.square(x[rows] - origin).sum()) for rows in row_blocks(len(x), 16 * x.shape[1]))
    tiny = float(np.finfo(x.dtype).tiny)
    return max(float(np.sqrt(np.finfo(x.dtype).eps * total / len(x))), float(np.sqrt(tiny)))


def _refit(x: Array, fit: FlatsFit, weights: NDArray[np.float64] | None, affine: bool) -> Flats:
    """Refit the flat of each cluster, with `weights` (n,) of rows; an empty cluster gets rows that fit worst."""
    centers, bases = fit.flats.centers.copy(), fit.flats.bases.copy()
    dim, p = fit.flats.dim, x.shape[1]
    sizes = np.bincount(fit.labels, minlength=len(fit.flats))
    order = np.argsort(fit.labels, kind="stable")
    if x.size <= FEW_ENTRIES and p <= FEW_COLUMNS:
        own = sizes > 0
        centers[own], bases[own] = _weighted_flats(x[order], sizes[own], weights, order, dim, affine)
    else:
        parts = np.split(order, np.cumsum(sizes)[:-1])
        moved = on_device(x, x.size * p)
        for k, members in enumerate(parts):
            if len(members) and moved is None:
                centers[k], bases[k] = _weighted_flat(x, members, weights, dim, affine)
        if moved is not None:
            own = sizes > 0
            centers[own], bases[own] = _device_flats(moved, [each for each in parts if len(each)], weights, dim, affine)
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        size = max(dim + 1, len(x) // len(sizes))
        worst = np.argsort(-fit.distances, kind="stable")[: size * len(empty)]
        for slot, members in zip(empty, np.array_split(worst, len(empty)), strict=True):
            if len(members):
                centers[slot], bases[slot] = _weighted_flat(x, members, None, dim, affine)
    return Flats(centers, bases)


def _weighted_flats(
    rows: Array, sizes: Indices, weights: NDArray[np.float64] | None, order: Indices, dim: int, affine: bool
) -> tuple[Array, Array]:
    """The same for all clusters at once: centres (K, p) and bases (K, p, dim).

    `rows` (n, p) are those of one cluster after another, at `order` (n,) among all; no cluster is empty.
    """
    firsts, wide = sizes.cumsum() - sizes, rows.astype(np.float64)
    own = np.ones(len(rows)) if weights is None else weights[order]
    own = own / np.maximum.reduceat(own, firsts).repeat(sizes)
    centers = np.zeros((len(sizes), rows.shape[1]))
    if affine:
        centers = np.add.reduceat(own[:, None] * wide, firsts) / np.add.reduceat(own, firsts)[:, None]
    points = np.sqrt(own)[:, None] * (wide - centers.repeat(sizes, axis=0))
    scatters = np.array([part.T @ part for part in np.split(points, firsts[1:])])
    with one_thread():
        vectors = np.linalg.eigh(scatters)[1]
    return centers.astype(rows.dtype), vectors[:, :, ::-1][:, :, :dim].astype(rows.dtype)


def _weighted_flat(
    x: Array, members: Indices, weights: NDArray[np.float64] | None, dim: int, affine: bool
) -> tuple[Array, Array]:
    """Centre (p,) and basis (p, dim) of the weighted least-squares flat of the `members` among the rows of `x`."""
    p = x.shape[1]
    own = np.ones(len(members)) if weights is None else weights[members] / weights[members].max()
    blocks = list(row_blocks(len(members), 3 * p * 8))
    center = np.zeros(p)
    if affine:
        center = np.sum([own[rows] @ x[members[rows]].astype(np.float64) for rows in blocks], axis=0) / own.sum()
    if dim == 0:
        return center.astype(x.dtype), np.zeros((p, 0), x.dtype)
    if len(members) < p:
        points = np.sqrt(own)[:, None] * (x[members] - center)
        return center.astype(x.dtype), principal_bases(points[None], dim)[0][0].astype(x.dtype)
    scatter = np.zeros((p, p))
    for rows in blocks:
        points = np.sqrt(own[rows])[:, None] * (x[members[rows]] - center)
        scatter += points.T @ points
    with one_thread():
        vectors = largest_eigenpairs(scatter, dim)[1]
    return center.astype(x.dtype), vectors[:, ::-1].astype(x.dtype)


def _device_flats(
    x: Array, parts: Sequence[Indices], weights: NDArray[np.float64] | None, dim: int, affine: bool
) -> tuple[Array, Array]:
    """Centres (K, p) and bases (K, p, dim) of the flats of the rows at each of `parts` of `x` (n, p) on a device.

    Only their eigenproblems are solved on the host, in threads.
    """
    xp = namespace(x)
    sums = []
    for members in parts:
        own = np.ones(len(members)) if weights is None else weights[members] / weights[members].max()
        shares = follow(own, x)
        points = xp.astype(xp.take(x, follow(members, x), axis=0), xp.float64)
        center = shares @ points / float(own.sum()) if affine else xp.zeros_like(points[0, :])
        points = points - center
        sums.append(xp.concat([center[None, :], (points * shares[:, None]).T @ points], axis=0))
    found = to_host(xp.stack(sums))
    vectors = np.stack(mapped(lambda scatter: np.linalg.eigh(scatter)[1], found[:, 1:], most=None))
    kind = np.dtype(str(x.dtype).rpartition(".")[2])
    return found[:, 0].astype(kind), vectors[:, :, ::-1][:, :, :dim].astype(kind)


def best_kflats(x: Array, starts: Sequence[Flats], *, affine: bool, loss: str, max_iter: int) -> FlatsFit:
    """The fit of least energy from several starts; see `fit_kflats`."""
    best = None
    for i, start in enumerate(starts, 1):
        fit = fit_kflats(x, start, affine=affine, loss=loss, max_iter=max_iter)
        detail = f"start {i} of {len(starts)}: energy {fit.energy:.6g} after {fit.n_iter} steps"
        advance("flats", i, len(starts), detail=detail)
        if best is None or fit.energy < best.energy:
            best = fit
    assert best is not None
    return best
