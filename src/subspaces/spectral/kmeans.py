"""k-means with all restarts in one batch, in the dtype of the rows, reproducible from a generator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix

from subspaces._core.arrays import Array, Indices, Labels, is_host, like, namespace
from subspaces._core.blocks import row_blocks
from subspaces._core.threads import in_threads, one_thread
from subspaces.spectral.thresholds import SEED_ROWS, SEED_ROWS_PER_CENTER

# Up to this many centres, the nearest is found for all rows at once, one centre after another. Speed only.
FEW_CENTERS = 64


@dataclass(frozen=True, slots=True)
class Centers:
    """Centres of several k-means runs, each from its own start."""

    points: Array  # (starts, k, p)
    inertia: Array  # (starts,), sum of squared distances of the rows to their nearest centre


def nearest_centers(x: Array, centers: Array) -> Labels:
    """Index (n,) of the centre (k, p) nearest to each row of `x` (n, p); ties go to the lower index."""
    if not is_host(x):
        xp, points = namespace(x), like(centers, x)
        table = xp.sum(points**2, axis=1) / 2 - x @ points.T
        return xp.astype(xp.argmin(table, axis=1), xp.int32)
    return _assign(_columns(x), centers[None])[0]


def lloyd(x: Array, centers: Array, *, max_iter: int, tolerance: float = 1e-4) -> Centers:
    """Lloyd's iteration on `x` (n, p) from `centers` (starts, k, p): the final centres and their inertia."""
    points = move_centers(x, centers, max_iter=max_iter, tolerance=tolerance)
    labels = _assign(_columns(x), points)
    inertia = [
        _squared_distances(x, own, nearest).sum(dtype=np.float64) for own, nearest in zip(points, labels, strict=True)
    ]
    return Centers(points, np.array(inertia))


def move_centers(x: Array, centers: Array, *, max_iter: int, tolerance: float = 1e-4) -> Array:
    """Final centres (starts, k, p) of Lloyd's iteration on `x` (n, p) from `centers`, all starts at once.

    A start stops when none of its centres moves by more than `tolerance` times the variance of the rows. A centre that
    loses all its rows is moved to the row farthest from its own centre.
    """
    n, p = x.shape
    k = centers.shape[1]
    columns = _columns(x)
    wide = x.astype(np.float64, copy=False)
    member = csc_matrix((np.ones(n), np.zeros(n, np.int32), np.arange(n + 1, dtype=np.int32)), shape=(k, n))
    limit = tolerance * float(wide.var(axis=0).sum()) / max(1, p)
    points = centers.astype(x.dtype)
    active = np.arange(len(points))
    for _ in range(max_iter):
        before = points[active]
        for start, labels in zip(active, _assign(columns, before), strict=True):
            # Each row is in one cluster, so only the indices change.
            member.indices = labels
            sizes = np.bincount(labels, minlength=k)
            moved = (member @ wide) / np.maximum(sizes, 1)[:, None]
            empty = np.flatnonzero(sizes == 0)
            if len(empty):
                farthest = np.argsort(-_squared_distances(x, points[start], labels), kind="stable")
                # Fewer rows than centres: some are used twice.
                moved[empty] = x[np.resize(farthest, len(empty))]
            points[start] = moved
        active = active[np.square(points[active] - before).sum(axis=2).max(axis=1) > limit]
        if not len(active):
            break
    return points


def _columns(x: Array) -> Array:
    """The rows (n, p) with a column of ones, transposed (p + 1, n), so that a product can add a constant per centre."""
    return np.concatenate([x.T, np.ones((1, len(x)), x.dtype)])


def _assign(columns: Array, centers: Array) -> Labels:
    """Labels (starts, n) of rows given as `_columns` (p + 1, n): the nearest of the k centres of each start."""
    starts, k, p = centers.shape
    stacked = centers.reshape(starts * k, p)
    half_norms = np.einsum("kp,kp->k", stacked, stacked) / 2
    # |x - c|^2 / 2 without the term that all centres share.
    factors = np.column_stack([-stacked, half_norms]).astype(columns.dtype, copy=False)
    labels = np.empty((starts, columns.shape[1]), np.int32)

    def assign(rows: slice) -> None:
        if k <= FEW_CENTERS:
            labels[:, rows] = _first_smallest((factors @ columns[:, rows]).reshape(starts, k, -1))
        else:
            labels[:, rows] = (columns[:, rows].T @ factors.T).reshape(-1, starts, k).argmin(axis=2).T

    in_threads(lambda: assign, row_blocks(columns.shape[1], 2 * starts * k * columns.itemsize))
    return labels


def _first_smallest(table: Array) -> NDArray[np.uint8]:
    """Index (a, n) of the smallest of each k entries of (a, k, n), the first of equals; for k below 256.

    For small k this is faster than `argmin`, because it works on contiguous rows.
    """
    least = table.min(axis=1)
    index = np.zeros(least.shape, np.uint8)
    # Count entries until the smallest is reached.
    ahead = np.ones(least.shape, np.bool_)
    larger = np.empty(least.shape, np.bool_)
    for j in range(table.shape[1] - 1):
        np.not_equal(table[:, j], least, out=larger)
        ahead &= larger
        index += ahead.view(np.uint8)
    return index


def _squared_distances(x: Array, centers: Array, labels: Labels) -> Array:
    """Squared distance (n,) of each row to its own centre."""
    offsets = x - centers[labels]
    return np.einsum("np,np->n", offsets, offsets)


def spread_rows(x: Array, k: int, rng: np.random.RandomState) -> Array:
    """Starting centres (k, p): rows of `x` far from each other, by greedy k-means++ (Arthur-Vassilvitskii)."""
    n_trials = 2 + int(np.log(k))
    columns = np.ascontiguousarray(x.T)
    norms = np.einsum("np,np->n", x, x)

    def squared_to(index: Indices) -> Array:
        found = (-2 * x[index]) @ columns
        found += norms
        found += norms[index, None]
        return np.maximum(found, 0, out=found)

    chosen = [int(rng.randint(len(x)))]
    nearest = squared_to(np.array(chosen))[0]
    for _ in range(1, k):
        cumulative = np.cumsum(nearest, dtype=np.float64)
        draws = rng.uniform(size=n_trials) * cumulative[-1]
        trials = np.minimum(np.searchsorted(cumulative, draws, side="right"), len(x) - 1)
        after = np.minimum(squared_to(trials), nearest)
        best = int(after.sum(axis=1, dtype=np.float64).argmin())
        chosen.append(int(trials[best]))
        nearest = after[best]
    return x[chosen]


def kmeans(x: Array, k: int, *, n_starts: int, rng: np.random.RandomState, max_iter: int = 100) -> Centers:
    """k-means of `x` (n, p) from `n_starts` greedy k-means++ starts; every run is returned.

    With many rows, each start is chosen among a sample of them.
    """
    n_seeds = max(SEED_ROWS, SEED_ROWS_PER_CENTER * k)
    seeds = (x if len(x) <= n_seeds else x[rng.randint(len(x), size=n_seeds)] for _ in range(n_starts))
    # With few columns and centres, BLAS threads would only wait for each other.
    with one_thread():
        starts = np.stack([spread_rows(each, k, rng) for each in seeds])
    return lloyd(x, starts, max_iter=max_iter)
