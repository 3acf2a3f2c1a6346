"""k-means with all restarts in one batch, in the dtype of the rows, reproducible from a generator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from subspaces._array import Array, Labels
from subspaces._blocks import row_blocks
from subspaces._threads import one_thread


@dataclass(frozen=True, slots=True)
class Centers:
    """Centres of several k-means runs, each from its own start."""

    points: Array  # (starts, k, p)
    inertia: Array  # (starts,), sum of squared distances of the rows to their nearest centre


def nearest_centers(x: Array, centers: Array) -> Labels:
    """Index (n,) of the centre (k, p) nearest to each row of `x` (n, p); ties go to the lower index."""
    return _assign(x, centers[None])[:, 0]


def lloyd(x: Array, centers: Array, *, max_iter: int, tolerance: float = 1e-4) -> Centers:
    """Lloyd's iteration on `x` (n, p) from `centers` (starts, k, p), all starts at once.

    Stops when no start moves its centres by more than `tolerance` times the variance of the rows. A centre
    that loses all its rows is moved to the row farthest from its own centre.
    """
    starts, k, p = centers.shape
    limit = tolerance * float(x.var(axis=0, dtype=np.float64).sum()) / max(1, p)
    for _ in range(max_iter):
        labels = _assign(x, centers)
        flat = (labels + k * np.arange(starts)).ravel()
        member = csr_matrix(
            (np.ones(len(flat)), flat, np.arange(0, len(flat) + 1, starts)),
            shape=(len(x), starts * k),
        )
        sizes = np.bincount(flat, minlength=starts * k).reshape(starts, k, 1)
        sums = (member.T @ x).reshape(starts, k, p)
        moved = np.where(sizes > 0, sums / np.maximum(sizes, 1), centers).astype(x.dtype)
        for start in np.flatnonzero((sizes == 0).any(axis=(1, 2))):
            empty = np.flatnonzero(sizes[start, :, 0] == 0)
            farthest = np.argsort(-_squared_distances(x, centers[start], labels[:, start]), kind="stable")
            # Fewer rows than centres: some are used twice.
            moved[start, empty] = x[np.resize(farthest, len(empty))]
        shift = np.square(moved - centers).sum(axis=2).max()
        centers = moved
        if shift <= limit:
            break
    labels = _assign(x, centers)
    distances = [_squared_distances(x, centers[start], labels[:, start]) for start in range(starts)]
    return Centers(centers, np.sum(distances, axis=1, dtype=np.float64))


def _assign(x: Array, centers: Array) -> Labels:
    """Labels (n, starts): the nearest of the k centres of each start."""
    starts, k, p = centers.shape
    stacked = centers.reshape(starts * k, p)
    half_norms = np.einsum("kp,kp->k", stacked, stacked) / 2
    labels = np.empty((len(x), starts), np.int32)
    for rows in row_blocks(len(x), 2 * starts * k * x.itemsize):
        labels[rows] = (half_norms - x[rows] @ stacked.T).reshape(-1, starts, k).argmin(axis=2)
    return labels


def _squared_distances(x: Array, centers: Array, labels: Labels) -> Array:
    """Squared distance (n,) of each row to its own centre."""
    return np.square(x - centers[labels]).sum(axis=1)


def spread_rows(x: Array, k: int, rng: np.random.RandomState) -> Array:
    """Starting centres (k, p): rows of `x` far from each other, by greedy k-means++ (Arthur-Vassilvitskii)."""
    n_trials = 2 + int(np.log(k))
    norms = np.einsum("np,np->n", x, x)
    chosen = [int(rng.randint(len(x)))]
    nearest = _squared_to(x, norms, chosen)[:, 0]
    for _ in range(1, k):
        cumulative = np.cumsum(nearest, dtype=np.float64)
        draws = rng.uniform(size=n_trials) * cumulative[-1]
        trials = np.minimum(np.searchsorted(cumulative, draws, side="right"), len(x) - 1)
        after = np.minimum(nearest[:, None], _squared_to(x, norms, trials))
        best = int(after.sum(axis=0, dtype=np.float64).argmin())
        chosen.append(int(trials[best]))
        nearest = after[:, best]
    return x[chosen]


def _squared_to(x: Array, norms: Array, index: list[int] | Array) -> Array:
    return np.maximum(norms[:, None] - 2 * (x @ x[index].T) + norms[index], 0)


def kmeans(x: Array, k: int, *, n_starts: int, rng: np.random.RandomState, max_iter: int = 100) -> Centers:
    """k-means of `x` (n, p) from `n_starts` greedy k-means++ starts; every run is returned."""
    # A few columns and a few centres: threads would only wait for each other.
    with one_thread():
        starts = np.stack([spread_rows(x, k, rng) for _ in range(n_starts)])
        return lloyd(x, starts, max_iter=max_iter)
