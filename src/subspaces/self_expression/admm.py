"""The lasso by the alternating direction method of multipliers, many rows at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from subspaces._core.arrays import (
    Array,
    Indices,
    clip_into,
    device,
    follow,
    like,
    namespace,
    subtract_product,
    to_host,
)
from subspaces._core.blocks import row_blocks
from subspaces._core.validation import check_integer, check_option, check_positive
from subspaces.self_expression.base import (
    Coder,
    Codes,
    Patience,
    Solver,
    coherence,
    dense_as_csr,
    homogeneous,
    in_order,
    rows_in_cache,
    typical_length,
)

# What it costs that the two copies of a code differ. 1 / PENALTY is about the size of an entry; it sets how fast the
# method converges, not to what.
PENALTY = 30.0
# Steps are this much longer than one, which takes a third fewer of them (Eckstein and Bertsekas, 1992).
RELAXATION = 1.8
# Rows are looked at, and finished ones replaced, every so many iterations.
CHECK_EVERY = 10
# How often a place is taken by another row.
REFILLS = 8


class ADMM(Solver):
    """Least l1 norm, by the alternating direction method of multipliers.

    The code of row y is the c of smallest |c|_1 + lambda / 2 |y - sum_j c_j y_j|^2 with lambda = `alpha` / mu, mu the
    smallest over rows of the largest inner product with another row. With `outliers` it is that of smallest
    |c|_1 + gamma |e|_1 under y = e + sum_j c_j y_j, gamma = `alpha` over the largest l1 norm of a row: some entries of
    a row may be grossly wrong.

    Parameters
    ----------
    alpha : float, default=20.0
        How much fidelity counts. Published: 20 for faces, 800 for feature tracks.
    outliers : bool, default=False
        Whether entries of a row may be grossly wrong.
    tol : float, default=1e-2
        A row is finished when its two copies differ in no entry by more than this share of the threshold. The
        objective is then within about the same share of the smallest; with `outliers`, where y is only met in the end,
        it takes a hundredth of that.
    max_iter : int, default=1000
        Iterations at most, in tens.

    References
    ----------
    Elhamifar, E. and Vidal, R. (2013). Sparse subspace clustering: algorithm, theory, and applications. IEEE TPAMI.
    https://doi.org/10.1109/TPAMI.2013.57
    """

    def __init__(self, alpha: float = 20.0, *, outliers: bool = False, tol: float = 1e-2, max_iter: int = 1000) -> None:
        self.alpha = alpha
        self.outliers = outliers
        self.tol = tol
        self.max_iter = max_iter

    def block_size(self, x: Array) -> int:
        """Many times what is worked on at once, for a finished row leaves its place to the next."""
        return REFILLS * super().block_size(x)

    def coder(self, x: Array, *, affine: bool) -> Coder:
        """A function from row indices (b,) to the codes of these rows of `x` (n, p)."""
        alpha, tol = check_positive("alpha", self.alpha), check_positive("tol", self.tol)
        check_option("outliers", self.outliers, (True, False))
        max_iter = check_integer("max_iter", self.max_iter, low=1)
        if self.outliers:
            xp = namespace(x)
            longest = float(xp.max(xp.sum(xp.abs(x), axis=1)))
            lasso = prepare_lasso(x, fidelity=np.inf, error_weight=alpha / (longest or 1.0), affine=affine)
        else:
            lasso = prepare_lasso(x, fidelity=alpha / smallest_coherence(x), affine=affine)
        slots = rows_in_cache(3 * len(lasso.dictionary) * x.itemsize, x)
        return lambda rows, patience: solve_lasso(
            lasso, rows, tol=tol, max_iter=max_iter, slots=slots, patience=patience
        )


@dataclass(frozen=True, slots=True, eq=False)
class Lasso:
    """min |z|_1 + 1/2 sum_q fidelity_q (y_q - (z P)_q)^2 over z in R^N, where z may not use y itself.

    An infinite fidelity is an equality. With slack_q = PENALTY / fidelity_q, the z that ADMM finds nearest to a given v
    is v + (y - v P) (P'P + diag(slack))^-1 P': no more than a q x q matrix is ever inverted.
    """

    n_rows: int  # the first n entries of a code belong to rows, the others take up errors
    dictionary: Array  # P (N, q); row i < n_rows is the target of code i
    gram: Array  # P'P (q, q)
    inverse: Array  # (P'P + diag(slack))^-1 (q, q)


def prepare_lasso(x: Array, *, fidelity: float, error_weight: float | None = None, affine: bool) -> Lasso:
    """The problem for rows `x` (n, p), with a column for each error of a coordinate where these have a weight."""
    xp = namespace(x)
    n, p = x.shape
    slack = np.full(p, PENALTY / fidelity)
    dictionary = x
    if affine:
        # One more coordinate, the same for every row, to be met exactly: coefficients sum to one.
        dictionary = homogeneous(x, typical_length(x))
        slack = np.append(slack, 0.0)
    if error_weight is not None:
        dictionary = xp.concat([dictionary, like(np.eye(p, len(slack)) / error_weight, x)], axis=0)
    gram = np.zeros((len(slack), len(slack)))
    for block in row_blocks(len(dictionary), 8 * len(slack)):
        wide = xp.astype(dictionary[block], xp.float64)
        gram += to_host(wide.T @ wide)
    # The pseudo-inverse, for an equality may repeat another where all rows are alike.
    inverse = np.linalg.pinv(gram + np.diag(slack), hermitian=True)
    return Lasso(n, dictionary, like(gram, x), like(inverse, x))


def smallest_coherence(x: Array) -> float:
    """The smallest over rows of `x` (n, p) of the largest inner product with another row, rows without any left out."""
    xp = namespace(x)
    least = np.inf
    for block in row_blocks(len(x), 2 * len(x) * x.itemsize):
        largest = coherence(x, np.arange(block.start, block.stop))
        least = min(least, float(xp.min(xp.where(largest > 0, largest, xp.inf))))
    return least if np.isfinite(least) else 1.0


def solve_lasso(lasso: Lasso, rows: Indices, *, tol: float, max_iter: int, slots: int, patience: Patience) -> Codes:
    """Codes of the given rows (b,), `slots` of them at a time: a finished row leaves its slot to the next.

    With T = Z + U, the sum of one copy of the code and the scaled multiplier, the other copy is C = T - clip(T), the
    multiplier is K = clip(T), and a whole iteration is

        T <- T - a (K - R P'),   R = (y - (T - 2 K) P) (P'P + diag(slack))^-1,

    a the relaxation. T P is carried along, so that there are two products with P, K P and R P', and some passes over T.
    K - R P' is the difference of the two copies.
    """
    xp = namespace(lasso.dictionary)
    limit = 1 / PENALTY
    n_steps = min(CHECK_EVERY, max_iter)
    waiting = rows[slots:]
    own = rows[:slots].copy()  # the row that each slot works on
    place = np.arange(len(own))  # where it stands among the rows
    age = np.zeros(len(own), np.int64)
    total = xp.zeros((len(own), len(lasso.dictionary)), dtype=lasso.dictionary.dtype, device=device(lasso.dictionary))
    clipped, scratch = xp.empty_like(total), xp.empty_like(total)
    carried = xp.zeros_like(lasso.dictionary[follow(own, total)])
    finished: list[tuple[Indices, csr_matrix]] = []
    n_iter = np.zeros(len(rows), np.int64)
    converged = np.zeros(len(rows), bool)
    while len(own):
        patience.check()
        slot, column = follow(np.arange(len(own)), total), follow(own, total)
        targets = lasso.dictionary[column]
        for _ in range(n_steps):
            clip_into(total, limit, clipped)
            # A row may not use itself: that entry is all multiplier.
            clipped[slot, column] = total[slot, column]
            products = clipped @ lasso.dictionary
            dual = (targets - carried + 2 * products) @ lasso.inverse
            carried += RELAXATION * (dual @ lasso.gram - products)
            subtract_product(clipped, dual, lasso.dictionary, scratch)
            clipped *= -RELAXATION
            total += clipped
        age += n_steps
        calm = to_host(xp.maximum(xp.max(clipped, axis=1), -xp.min(clipped, axis=1))) <= RELAXATION * tol * limit
        done = calm | (age >= max_iter)
        if not done.any():
            continue
        leaving = np.flatnonzero(done)
        finished.append((place[leaving], _sparse_codes(total, leaving, own[leaving], lasso.n_rows)))
        n_iter[place[leaving]], converged[place[leaving]] = age[leaving], calm[leaving]
        arriving, waiting = waiting[: len(leaving)], waiting[len(leaving) :]
        filled, empty = leaving[: len(arriving)], leaving[len(arriving) :]
        first = len(rows) - len(waiting) - len(arriving)
        own[filled], place[filled], age[filled] = arriving, np.arange(first, first + len(arriving)), 0
        total[follow(filled, total)] = 0
        carried[follow(filled, total)] = 0
        if len(empty):
            kept = np.delete(np.arange(len(own)), empty)
            own, place, age = own[kept], place[kept], age[kept]
            total, carried = total[follow(kept, total)], carried[follow(kept, total)]
            clipped, scratch = clipped[: len(own)], scratch[: len(own)]
    return Codes(in_order(finished), n_iter, converged)


def _sparse_codes(total: Array, slots: Indices, own: Indices, n_rows: int) -> csr_matrix:
    """C = T - clip(T) of some slots, without the entry of the row itself and those that take up errors."""
    xp = namespace(total)
    chosen = total[follow(slots, total)][:, :n_rows]
    chosen[follow(np.arange(len(slots)), total), follow(own, total)] = 0
    return dense_as_csr(chosen - xp.clip(chosen, -1 / PENALTY, 1 / PENALTY))
