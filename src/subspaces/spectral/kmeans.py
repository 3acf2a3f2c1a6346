"""k-means with all restarts in one batch, in the dtype of the rows, reproducible from a generator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix

from subspaces._core.arrays import Array, Indices, Labels, device, is_host, like, memory_of, namespace, to_host
from subspaces._core.blocks import row_blocks
from subspaces._core.offload import on_device
from subspaces._core.threads import in_threads, one_thread
from subspaces.spectral.thresholds import MANY_CENTERS, SEED_ROWS, SEED_ROWS_PER_CENTER

# Up to this many centres, and with at least this many rows for each, the nearest is found for all rows at once, one
# centre after another. Speed only.
FEW_CENTERS = 64
MANY_ROWS = 100
# Up to this many entries, a dense matrix of members is multiplied faster than a sparse one is made. Speed only, beyond
# rounding.
FEW_ENTRIES = 2**15


@dataclass(frozen=True, slots=True)
class Centers:
    """Centres of several k-means runs, each from its own start."""

    points: Array  # (starts, k, p)
    inertia: Array  # (starts,), sum of squared distances of the rows to their nearest centre
    labels: Labels  # (starts, n), the nearest centre of each row

    @property
    def best(self) -> int:
        """The run of the smallest inertia."""
        return int(self.inertia.argmin())


def nearest_centers(x: Array, centers: Array) -> Labels:
    """Index (n,) of the centre (k, p) nearest to each row of `x` (n, p); ties go to the lower index.

    For NumPy rows, centres (starts, k, p) of several runs give indices (starts, n).
    """
    if not is_host(x):
        xp, points = namespace(x), like(centers, x)
        table = xp.sum(points**2, axis=1) / 2 - x @ points.T
        return xp.astype(xp.argmin(table, axis=1), xp.int32)
    if centers.ndim == 2:
        return _assign(_columns(x), centers[None])[0]
    return _assign(_columns(x), centers)


def lloyd(x: Array, centers: Array, *, max_iter: int, tolerance: float = 1e-4) -> Centers:
    """Lloyd's iteration on `x` (n, p) from `centers` (starts, k, p): the final centres, their inertia and labels."""
    points = move_centers(x, centers, max_iter=max_iter, tolerance=tolerance)
    labels = _assign(_columns(x), points)
    inertia = [
        _squared_distances(x, own, nearest).sum(dtype=np.float64) for own, nearest in zip(points, labels, strict=True)
    ]
    return Centers(points, np.array(inertia), labels)


def move_centers(x: Array, centers: Array, *, max_iter: int, tolerance: float = 1e-4) -> Array:
    """Final centres (starts, k, p) of Lloyd's iteration on `x` (n, p) from `centers`, all starts at once.

    A start stops when none of its centres moves by more than `tolerance` times the variance of the rows. A centre that
    loses all its rows is moved to the row farthest from its own centre.
    """
    p, k = x.shape[1], centers.shape[1]
    limit = tolerance * float(x.var(axis=0, dtype=np.float64).sum()) / max(1, p) if tolerance else 0.0
    points = centers.astype(x.dtype)
    active = np.arange(len(points))
    rows = on_device(x, x.size * centers.shape[0] * k)
    step = _host_step(x, k) if rows is None else _device_step(rows)
    for _ in range(max_iter):
        before = points[active]
        labels, sums, sizes = step(before)
        moved = sums / np.maximum(sizes, 1)[:, :, None]
        for i in np.flatnonzero((sizes == 0).any(axis=1)):
            empty = np.flatnonzero(sizes[i] == 0)
            farthest = np.argsort(-_squared_distances(x, before[i], labels[i]), kind="stable")
            # Fewer rows than centres: some are used twice.
            moved[i, empty] = x[np.resize(farthest, len(empty))]
        points[active] = moved
        active = active[np.square(points[active] - before).sum(axis=2).max(axis=1) > limit]
        if not len(active):
            break
    return points


# A function of centres (starts, k, p) that returns labels (starts, n), and sums (starts, k, p), in float64, and sizes
# (starts, k) of the rows of each cluster.
Step: TypeAlias = Callable[[Array], tuple[Labels, Array, Indices]]


def _host_step(x: Array, k: int) -> Step:
    """The step for NumPy rows (n, p)."""
    columns, sums_of = _columns(x), _cluster_sums(x.astype(np.float64, copy=False), k)

    def step(centers: Array) -> tuple[Labels, Array, Indices]:
        labels = _assign(columns, centers)
        return labels, *sums_of(labels)

    return step


def _device_step(x: Any) -> Step:
    """The same for rows (n, p) on a device."""
    xp = namespace(x)
    wide = xp.astype(x, xp.float64)

    def one(centers: Array) -> tuple[Labels, Array, Indices]:
        labels = nearest_centers(x, centers)
        names = xp.arange(len(centers), dtype=labels.dtype, device=device(x))[:, None]
        sums = xp.zeros((len(centers), x.shape[1]), dtype=xp.float64, device=device(x))
        # Products give the same sums each time, unlike sums in parallel.
        for rows in row_blocks(x.shape[0], 16 * len(centers), budget=memory_of(x) // 16):
            sums = sums + xp.astype(names == labels[None, rows], xp.float64) @ wide[rows, :]
        found = to_host(labels)
        return found, to_host(sums), np.bincount(found, minlength=len(centers))

    def step(centers: Array) -> tuple[Labels, Array, Indices]:
        labels, sums, sizes = zip(*map(one, centers), strict=True)
        return np.stack(labels), np.stack(sums), np.stack(sizes)

    return step


def _cluster_sums(wide: NDArray[np.float64], k: int) -> Callable[[Labels], tuple[Array, Indices]]:
    """A function of labels (starts, n) that returns sums (starts, k, p) of the rows (n, p), and sizes (starts, k)."""
    n = len(wide)
    member = csc_matrix((0, 0))
    names = np.arange(k, dtype=np.int32)[:, None]

    def few_sums(labels: Labels) -> tuple[Array, Indices]:
        own = (labels[:, None] == names).astype(np.float64).reshape(-1, n)
        return (own @ wide).reshape(len(labels), k, -1), own.sum(axis=1).astype(np.intp).reshape(-1, k)

    def sums(labels: Labels) -> tuple[Array, Indices]:
        nonlocal member
        starts = len(labels)
        if starts * k * n <= FEW_ENTRIES:
            return few_sums(labels)
        cells = np.ascontiguousarray((labels + k * np.arange(starts, dtype=np.int32)[:, None]).T).ravel()
        # Each row is in one cluster of each start, so only the indices change while no start stops.
        if member.shape[0] != starts * k:
            ends = np.arange(0, n * starts + 1, starts, dtype=np.int32)
            member = csc_matrix((np.ones(n * starts), cells, ends), shape=(starts * k, n))
        member.indices = cells
        sizes = np.bincount(cells, minlength=starts * k)
        return (member @ wide).reshape(starts, k, -1), sizes.reshape(starts, k)

    return sums


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
        if k <= FEW_CENTERS and starts * (rows.stop - rows.start) >= MANY_ROWS * k:
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


def spread_rows(x: Array, k: int, n_starts: int, rng: np.random.RandomState, *, greedy: bool = True) -> Array:
    """Starting centres (starts, k, p): rows of `x` far from each other, by k-means++ (Arthur-Vassilvitskii).

    If `greedy`, each centre is the best of several draws. With many rows, each start is chosen among a sample of them;
    with many centres, they are random rows.
    """
    if MANY_CENTERS < k <= len(x):
        return np.stack([x[rng.choice(len(x), k, replace=False)] for _ in range(n_starts)])
    n_trials = 2 + int(np.log(k)) if greedy else 1
    n_seeds = max(SEED_ROWS, SEED_ROWS_PER_CENTER * k)
    pools, firsts, draws = [], [], []
    for _ in range(n_starts):
        pools.append(rng.randint(len(x), size=n_seeds) if len(x) > n_seeds else None)
        firsts.append(rng.randint(min(len(x), n_seeds)))
        draws.append(rng.uniform(size=(k - 1, n_trials)))
    if pools[0] is None:
        return x[_spread(x, np.array(firsts), np.array(draws))]
    own = zip(pools, firsts, draws, strict=True)
    return np.stack([x[pool][_spread(x[pool], np.array([first]), draw[None])[0]] for pool, first, draw in own])


def _spread(x: Array, firsts: Indices, draws: Array) -> Indices:
    """Rows (starts, k) of `x` (n, p), from the first of each start and uniform draws (starts, k - 1, trials)."""
    starts, more, _ = draws.shape
    columns = np.ascontiguousarray(x.T)
    norms = np.einsum("np,np->n", x, x)

    def squared_to(index: Indices) -> Array:
        found = (-2 * x[index.ravel()]) @ columns
        found += norms
        found += norms[index.ravel(), None]
        return np.maximum(found, 0, out=found).reshape(*index.shape, -1)

    chosen = np.empty((starts, more + 1), np.intp)
    chosen[:, 0] = firsts
    nearest = squared_to(chosen[:, :1])[:, 0]
    every = np.arange(starts)
    for step in range(more):
        cumulative = np.cumsum(nearest, axis=1, dtype=np.float64)
        wanted = draws[:, step] * cumulative[:, -1:]
        trials = np.array([np.searchsorted(c, w, side="right") for c, w in zip(cumulative, wanted, strict=True)])
        trials = np.minimum(trials, len(x) - 1)
        after = np.minimum(squared_to(trials), nearest[:, None])
        best = after.sum(axis=2, dtype=np.float64).argmin(axis=1)
        chosen[:, step + 1], nearest = trials[every, best], after[every, best]
    return chosen


def kmeans(
    x: Array, k: int, *, n_starts: int, rng: np.random.RandomState, max_iter: int = 100, greedy: bool = True
) -> Centers:
    """k-means of `x` (n, p) from `n_starts` starts of `spread_rows`; every run is returned."""
    # With few columns and centres, BLAS threads would only wait for each other.
    with one_thread():
        starts = spread_rows(x, k, n_starts, rng, greedy=greedy)
    return lloyd(x, starts, max_iter=max_iter)
