"""The elastic net by Newton's method on its dual, many rows at a time, each with an active set of its own."""

from __future__ import annotations

import numpy as np

from subspaces._core.arrays import Array, Indices, device, follow, like, namespace, to_host
from subspaces._core.errors import InputError
from subspaces._core.validation import check_integer, check_positive
from subspaces.self_expression.base import (
    Coder,
    Codes,
    Patience,
    Solver,
    dense_as_csr,
    homogeneous,
    in_order,
    rows_in_cache,
    typical_length,
)

# Fidelity grows to its value in stages, the steps of which are so many times the last; before the final one a rough
# solution will do. Without them the first steps are a thousand times too long.
STAGE = 4.0
ROUGH = 0.1
# A step that goes too far is halved, so often at most.
HALVINGS = 30
# Active rows for each column of X that are gathered at a time. Codes end with fewer than one.
ACTIVE_PER_COLUMN = 2


class ElasticNet(Solver):
    """l1 and squared l2 norm. The code of row y is the c of smallest

        lambda |c|_1 + (1 - lambda) / 2 |c|^2 + gamma_y / 2 |y - sum_j c_j y_j|^2,

    lambda = `l1_ratio`, gamma_y = `alpha` times the largest value at which c is zero. The squared norm brings in more
    rows of the same subspace, so that the graph holds together better than that of the l1 norm alone.

    The dual is smooth, with as many unknowns as X has columns: its point sees every row at some value, and the code
    uses the rows seen at more than lambda, the active set. Newton's method finds it in some twenty steps, each of
    which looks at all rows once and solves a system in the active ones.

    Parameters
    ----------
    alpha : float, default=50.0
        How much fidelity counts.
    l1_ratio : float, default=0.95
        Share lambda of the l1 norm, above 0 and below 1.
    tol : float, default=1e-3
        A row is finished when the gradient of its dual is shorter than this share of the row.
    max_iter : int, default=200
        Newton steps at most.

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
        """As many rows as leave views and active rows in cache."""
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
        return lambda rows, patience: solve_elastic_net(
            dictionary, rows, alpha, l1_ratio, tol=tol, max_iter=max_iter, patience=patience
        )


def solve_elastic_net(
    x: Array, rows: Indices, alpha: float, l1_ratio: float, *, tol: float, max_iter: int, patience: Patience
) -> Codes:
    """Codes of the given rows (b,) of `x` (n, p).

    With views u_j = y_j . d the dual of the elastic net is, as a function of d in R^p and with ridge = 1 - lambda,

        y . d - |d|^2 / (2 gamma) - |soft(u, lambda)|^2 / (2 ridge),

    concave and piecewise quadratic; its gradient is y - d / gamma - sum_j c_j y_j, and c = soft(u, lambda) / ridge is
    the code.
    """
    xp = namespace(x)
    ridge = 1 - l1_ratio
    place = np.arange(len(rows))
    targets = x[follow(rows, x)]
    views = _views(x, targets, rows)
    peaks = xp.max(xp.abs(views), axis=1)
    # The largest multiple of a row at which its code is zero: where the dual begins.
    scale = l1_ratio / xp.where(peaks > 0, peaks, 1.0)
    point, views = targets * scale[:, None], views * scale[:, None]
    stages = alpha / STAGE ** np.arange(max(0, int(np.log(max(alpha, 1.0)) / np.log(STAGE))), -1, -1)
    stage = np.zeros(len(rows), np.int64)
    n_iter, converged = np.zeros(len(rows), np.int64), np.zeros(len(rows), bool)
    finished = []
    for iteration in range(1, max_iter + 1):
        patience.check()
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
    """Inner products (b, n) of points (b, p) with all rows of `x`, zero for the row that each point belongs to."""
    views = points @ x.T
    views[follow(np.arange(len(own)), x), follow(own, x)] = 0
    return views


def newton_step(x: Array, codes: Array, gradient: Array, fidelity: Array, ridge: float) -> Array:
    """Solutions (b, p) of (1 / fidelity + A'A / ridge) step = gradient, A the rows of `x` (n, p) in codes (b, n)."""
    xp = namespace(x)
    p = x.shape[1]
    owner, column = xp.nonzero(codes)
    sizes = np.bincount(to_host(owner), minlength=len(codes))
    rank = follow(np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes), x)
    count = max(1, int(sizes.max()))

    def active_rows(first: int, last: int) -> Array:
        """Those from `first` to `last` of each code (b, last - first, p), filled up with rows of zeros."""
        taken = (rank >= first) & (rank < last)
        active = xp.zeros((len(codes), last - first, p), dtype=x.dtype, device=device(x))
        active[owner[taken], rank[taken] - first] = x[column[taken]]
        return active

    diagonal = follow(np.arange(min(count, p)), x)
    if count < p:
        # Woodbury: with fewer rows than columns their inner products are the smaller system.
        active = active_rows(0, count)
        system = active @ xp.matrix_transpose(active)
        system[:, diagonal, diagonal] += ridge / fidelity[:, None]
        inner = xp.linalg.solve(system, active @ gradient[:, :, None])
        return fidelity[:, None] * (gradient - (xp.matrix_transpose(active) @ inner)[:, :, 0])
    system = xp.zeros((len(codes), p, p), dtype=x.dtype, device=device(x))
    for first in range(0, count, ACTIVE_PER_COLUMN * p):
        active = active_rows(first, min(first + ACTIVE_PER_COLUMN * p, count))
        system += xp.matrix_transpose(active) @ active / ridge
    system[:, diagonal, diagonal] += 1 / fidelity[:, None]
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
    """How far (b,) to go along Newton's steps: all the way, or half as far as often as the dual would not rise."""
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
        short[short] = to_host(rise < 1e-4 * t * slope[tried])
        if not short.any():
            break
        length[follow(np.flatnonzero(short), views)] /= 2
    return length


def _squared_excess(views: Array, limit: float) -> Array:
    """|soft(views, limit)|^2 of each row."""
    xp = namespace(views)
    return xp.linalg.vector_norm(views - xp.clip(views, -limit, limit), axis=1) ** 2
