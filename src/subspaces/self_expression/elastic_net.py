"""The elastic net by Newton's method on its dual, for many rows at a time, each with its own active set."""

from __future__ import annotations

import numpy as np

from subspaces._core.arrays import Array, Indices, device, follow, like, namespace, to_host
from subspaces._core.errors import InputError
from subspaces._core.validation import check_integer, check_positive
from subspaces.self_expression.base import (
    Cancellation,
    Coder,
    Codes,
    Solver,
    dense_as_csr,
    homogeneous,
    in_order,
    rows_in_cache,
    typical_length,
)
from subspaces.self_expression.thresholds import HALVINGS, RISE, ROUGH, STAGE

# Active rows gathered at a time, per column of X. Does not change results.
ACTIVE_PER_COLUMN = 2


class ElasticNet(Solver):
    """l1 and squared l2 norm. The code of row y is the c that minimises

        lambda |c|_1 + (1 - lambda) / 2 |c|^2 + gamma_y / 2 |y - sum_j c_j y_j|^2,

    where lambda is `l1_ratio` and gamma_y is `alpha` times the largest value at which c is zero. The squared norm adds
    more rows of the same subspace, so that the graph is better connected than that of the l1 norm alone.

    The dual is smooth, with as many unknowns as X has columns. The code uses the rows whose inner product with the dual
    point exceeds lambda in magnitude, the active set. Newton's method needs about twenty steps, each with one pass over
    all rows and one linear system in the active rows.

    Parameters
    ----------
    alpha : float, default=50.0
        Weight of fidelity.
    l1_ratio : float, default=0.95
        Share lambda of the l1 norm, above 0 and below 1.
    tol : float, default=1e-3
        A row has converged if the gradient of its dual is shorter than this share of the row.
    max_iter : int, default=200
        Largest number of Newton steps.

    References
    ----------
    You, C., Li, C.-G., Robinson, D. and Vidal, R. (2016). Oracle based active set algorithm for scalable elastic net
    subspace clustering. CVPR. https://doi.org/10.1109/CVPR.2016.426
    """

    def __init__(self, alpha: float = 50.0, *, l1_ratio: float = 0.95, tol: float = 1e-3, max_iter: int = 200) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.max_iter = max_iter

    def block_size(self, x: Array) -> int:
        """As many rows as fit into the cache with their views and active rows."""
        n, p = x.shape
        return rows_in_cache((4 * n + 2 * ACTIVE_PER_COLUMN * p * p) * x.itemsize, x)

    def coder(self, x: Array, *, affine: bool) -> Coder:
        """A function from row indices (b,) to the codes of these rows of `x` (n, p)."""
        alpha, tol = check_positive("alpha", self.alpha), check_positive("tol", self.tol)
        l1_ratio = check_positive("l1_ratio", self.l1_ratio, hint="give a share between 0 and 1")
        if l1_ratio >= 1:
            raise InputError(f'l1_ratio={l1_ratio} must be below 1: solver="admm" is the l1 norm alone.')
        max_iter = check_integer("max_iter", self.max_iter, low=1)
        dictionary = homogeneous(x, typical_length(x)) if affine else x
        return lambda rows, cancellation: solve_elastic_net(
            dictionary, rows, alpha, l1_ratio, tol=tol, max_iter=max_iter, cancellation=cancellation
        )


def solve_elastic_net(
    x: Array, rows: Indices, alpha: float, l1_ratio: float, *, tol: float, max_iter: int, cancellation: Cancellation
) -> Codes:
    """Codes of the given rows (b,) of `x` (n, p).

    With views u_j = y_j . d and ridge = 1 - lambda, the dual of the elastic net is the function of d in R^p

        y . d - |d|^2 / (2 gamma) - |soft(u, lambda)|^2 / (2 ridge).

    It is concave and piecewise quadratic. The code is c = soft(u, lambda) / ridge, and the gradient of the dual is
    y - d / gamma - sum_j c_j y_j.
    """
    xp = namespace(x)
    ridge = 1 - l1_ratio
    place = np.arange(len(rows))
    targets = x[follow(rows, x)]
    views = _views(x, targets, rows)
    peaks = xp.max(xp.abs(views), axis=1)
    # Start the dual at the largest multiple of each row at which its code is zero.
    scale = l1_ratio / xp.where(peaks > 0, peaks, 1.0)
    point, views = targets * scale[:, None], views * scale[:, None]
    stages = alpha / STAGE ** np.arange(max(0, int(np.log(max(alpha, 1.0)) / np.log(STAGE))), -1, -1)
    stage = np.zeros(len(rows), np.int64)
    n_iter, converged = np.zeros(len(rows), np.int64), np.zeros(len(rows), bool)
    finished = []
    for iteration in range(1, max_iter + 1):
        cancellation.check()
        fidelity = scale * like(stages[stage], x)
        codes = (views - xp.clip(views, -l1_ratio, l1_ratio)) / ridge
        gradient = targets - point / fidelity[:, None] - codes @ x
        last = stage == len(stages) - 1
        enough = to_host(xp.linalg.vector_norm(targets, axis=1)) * np.where(last, tol, ROUGH)
        calm = to_host(xp.linalg.vector_norm(gradient, axis=1)) <= enough
        done = (calm & last) | (iteration == max_iter)
        n_iter[place], converged[place] = iteration, calm & last
        stage[calm & ~last] += 1
        if done.any():
            finished.append((place[done], dense_as_csr(codes[follow(np.flatnonzero(done), x)])))
            if done.all():
                break
            place, stage, kept = place[~done], stage[~done], follow(np.flatnonzero(~done), x)
            point, views, targets, scale = point[kept], views[kept], targets[kept], scale[kept]
            codes, gradient, fidelity = codes[kept], gradient[kept], fidelity[kept]
        step = newton_step(x, codes, gradient, fidelity, ridge)
        change = _views(x, step, rows[place])
        length = step_length(views, change, targets, point, step, gradient, fidelity, l1_ratio)[:, None]
        point, views = point + length * step, views + length * change
    return Codes(in_order(finished), n_iter, converged)


def _views(x: Array, points: Array, own: Indices) -> Array:
    """Inner products (b, n) of points (b, p) with all rows of `x`; zero for the row of the point itself."""
    views = points @ x.T
    views[follow(np.arange(len(own)), x), follow(own, x)] = 0
    return views


def newton_step(x: Array, codes: Array, gradient: Array, fidelity: Array, ridge: float) -> Array:
    """Solutions (b, p) of (1 / fidelity + A'A / ridge) step = gradient; A are the rows of `x` in a code (b, n)."""
    xp = namespace(x)
    p = x.shape[1]
    owner, column = xp.nonzero(codes)
    sizes = np.bincount(to_host(owner), minlength=len(codes))
    rank = follow(np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes), x)
    count = max(1, int(sizes.max()))

    def active_rows(first: int, last: int) -> Array:
        """Active rows `first` to `last` of each code (b, last - first, p), padded with zeros."""
        taken = (rank >= first) & (rank < last)
        active = xp.zeros((len(codes), last - first, p), dtype=x.dtype, device=device(x))
        active[owner[taken], rank[taken] - first] = x[column[taken]]
        return active

    diagonal = follow(np.arange(min(count, p)), x)
    # Rows that are parallel up to rounding would make the system singular: add what rounding may have taken away.
    parallel = 4 * p * float(xp.finfo(x.dtype).eps)
    if count < p:
        # Woodbury: with fewer active rows than columns, the system of their inner products is smaller.
        active = active_rows(0, count)
        system = active @ xp.matrix_transpose(active)
        system[:, diagonal, diagonal] += parallel * system[:, diagonal, diagonal] + ridge / fidelity[:, None]
        inner = xp.linalg.solve(system, active @ gradient[:, :, None])
        return fidelity[:, None] * (gradient - (xp.matrix_transpose(active) @ inner)[:, :, 0])
    system = xp.zeros((len(codes), p, p), dtype=x.dtype, device=device(x))
    for first in range(0, count, ACTIVE_PER_COLUMN * p):
        active = active_rows(first, min(first + ACTIVE_PER_COLUMN * p, count))
        system += xp.matrix_transpose(active) @ active / ridge
    system[:, diagonal, diagonal] += parallel * system[:, diagonal, diagonal] + 1 / fidelity[:, None]
    return xp.linalg.solve(system, gradient[:, :, None])[:, :, 0]


def step_length(
    views: Array,
    change: Array,
    targets: Array,
    point: Array,
    step: Array,
    gradient: Array,
    fidelity: Array,
    l1_ratio: float,
) -> Array:
    """Lengths (b,) of Newton steps: one, halved until the dual rises enough."""
    xp = namespace(views)
    # Dual(point + t step) = value + t linear - t^2 bend - |soft(views + t change)|^2 / (2 ridge).
    linear = xp.sum((targets - point / fidelity[:, None]) * step, axis=1)
    bend = xp.sum(step**2, axis=1) / (2 * fidelity)
    slope = xp.sum(gradient * step, axis=1)
    before = _squared_excess(views, l1_ratio)
    rounding = 10 * float(xp.finfo(views.dtype).eps) * before
    length = xp.ones_like(slope)
    short = np.ones(len(step), bool)
    for _ in range(HALVINGS):
        tried = follow(np.flatnonzero(short), views)
        t = length[tried]
        after = _squared_excess(views[tried] + t[:, None] * change[tried], l1_ratio)
        rise = t * linear[tried] - t**2 * bend[tried] - (after - before[tried] - rounding[tried]) / (2 * (1 - l1_ratio))
        short[short] = to_host(rise < RISE * t * slope[tried])
        if not short.any():
            break
        length[follow(np.flatnonzero(short), views)] /= 2
    return length


def _squared_excess(views: Array, limit: float) -> Array:
    """|soft(views, limit)|^2 of each row."""
    xp = namespace(views)
    return xp.linalg.vector_norm(views - xp.clip(views, -limit, limit), axis=1) ** 2
