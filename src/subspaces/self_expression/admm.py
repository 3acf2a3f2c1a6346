"""The lasso by the alternating direction method of multipliers (ADMM), for many rows at a time."""

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
    Cancellation,
    Coder,
    Codes,
    Solver,
    coherence,
    dense_as_csr,
    homogeneous,
    in_order,
    rows_in_cache,
    typical_length,
)
from subspaces.self_expression.thresholds import CHECK_EVERY, PENALTY, RELAXATION

# Rows of a block for each slot. Does not change results.
REFILLS = 8


class ADMM(Solver):
    """Smallest l1 norm, by the alternating direction method of multipliers.

    The code of row y is the c that minimises |c|_1 + lambda / 2 |y - sum_j c_j y_j|^2, where lambda is `alpha` divided
    by the smallest over rows of the largest inner product with another row. With `outliers`, it minimises
    |c|_1 + gamma |e|_1 subject to y = e + sum_j c_j y_j, where gamma is `alpha` divided by the largest l1 norm of a
    row, so that some entries of a row may have gross errors.

    Parameters
    ----------
    alpha : float, default=20.0
        Weight of fidelity. Published: 20 for faces, 800 for feature tracks.
    outliers : bool, default=False
        Whether entries of a row may have gross errors.
    tol : float or None, default=1e-2
        A row has converged if no entries of its two copies differ by more than this share of the threshold. The
        objective is then within about the same share of the minimum. With `outliers`, where the constraint holds only
        in the limit, use a hundredth of it. None runs exactly `max_iter` iterations.
    max_iter : int, default=1000
        Largest number of iterations; convergence is checked every ten.
    penalty : float, default=30.0
        Weight of the difference of the two copies. Converged codes do not depend on it. Published is the value of
        `alpha` and about 120 iterations: the codes are then between those of ridge regression and the minimum, so that
        rows of one subspace are better connected.

    References
    ----------
    Elhamifar, E. and Vidal, R. (2013). Sparse subspace clustering: algorithm, theory, and applications. IEEE TPAMI.
    https://doi.org/10.1109/TPAMI.2013.57
    """

    def __init__(
        self,
        alpha: float = 20.0,
        *,
        outliers: bool = False,
        tol: float | None = 1e-2,
        max_iter: int = 1000,
        penalty: float = PENALTY,
    ) -> None:
        self.alpha = alpha
        self.outliers = outliers
        self.tol = tol
        self.max_iter = max_iter
        self.penalty = penalty

    def block_size(self, x: Array) -> int:
        """Several times the number of slots, because a converged row leaves its slot to the next."""
        return REFILLS * super().block_size(x)

    def coder(self, x: Array, *, affine: bool) -> Coder:
        """A function from row indices (b,) to the codes of these rows of `x` (n, p)."""
        alpha, penalty = check_positive("alpha", self.alpha), check_positive("penalty", self.penalty)
        tol = None if self.tol is None else check_positive("tol", self.tol)
        check_option("outliers", self.outliers, (True, False))
        max_iter = check_integer("max_iter", self.max_iter, low=1)
        if self.outliers:
            xp = namespace(x)
            longest = float(xp.max(xp.sum(xp.abs(x), axis=1)))
            fidelity, error_weight = np.inf, alpha / (longest or 1.0)
        else:
            fidelity, error_weight = alpha / smallest_coherence(x), None
        lasso = prepare_lasso(x, fidelity=fidelity, error_weight=error_weight, affine=affine, penalty=penalty)
        slots = rows_in_cache(3 * len(lasso.dictionary) * x.itemsize, x)
        return lambda rows, cancellation: solve_lasso(
            lasso, rows, tol=tol, max_iter=max_iter, slots=slots, cancellation=cancellation
        )


@dataclass(frozen=True, slots=True, eq=False)
class Lasso:
    """min |z|_1 + 1/2 sum_q fidelity_q (y_q - (z P)_q)^2 over z in R^N, where z does not use y itself.

    An infinite fidelity is an equality constraint. With slack_q = penalty / fidelity_q, the quadratic step of ADMM at v
    is v + (y - v P) (P'P + diag(slack))^-1 P', so only a q x q matrix is inverted.
    """

    n_rows: int  # the first n entries of a code belong to rows, the others to errors
    dictionary: Array  # P (N, q); row i < n_rows is the target of code i
    gram: Array  # P'P (q, q)
    inverse: Array  # (P'P + diag(slack))^-1 (q, q)
    penalty: float


def prepare_lasso(
    x: Array, *, fidelity: float, error_weight: float | None = None, affine: bool, penalty: float = PENALTY
) -> Lasso:
    """The problem for rows `x` (n, p), with an entry for the error of each coordinate if errors have a weight."""
    xp = namespace(x)
    n, p = x.shape
    slack = np.full(p, penalty / fidelity)
    dictionary = x
    if affine:
        # One more coordinate, equal in all rows, with an equality constraint: coefficients sum to one.
        dictionary = homogeneous(x, typical_length(x))
        slack = np.append(slack, 0.0)
    if error_weight is not None:
        dictionary = xp.concat([dictionary, like(np.eye(p, len(slack)) / error_weight, x)], axis=0)
    gram = np.zeros((len(slack), len(slack)))
    for block in row_blocks(len(dictionary), 8 * len(slack)):
        wide = xp.astype(dictionary[block], xp.float64)
        gram += to_host(wide.T @ wide)
    # The pseudo-inverse, because constraints are redundant if all rows are equal.
    inverse = np.linalg.pinv(gram + np.diag(slack), hermitian=True)
    return Lasso(n, dictionary, like(gram, x), like(inverse, x), penalty)


def smallest_coherence(x: Array) -> float:
    """The smallest over rows of `x` (n, p) of the largest inner product with another row, rows with none left out."""
    xp = namespace(x)
    least = np.inf
    for block in row_blocks(len(x), 2 * len(x) * x.itemsize):
        largest = coherence(x, np.arange(block.start, block.stop))
        least = min(least, float(xp.min(xp.where(largest > 0, largest, xp.inf))))
    return least if np.isfinite(least) else 1.0


def solve_lasso(
    lasso: Lasso, rows: Indices, *, tol: float | None, max_iter: int, slots: int, cancellation: Cancellation
) -> Codes:
    """Codes of the given rows (b,), `slots` of them at a time: a converged row leaves its slot to the next.

    Without `tol`, all rows take `max_iter` iterations and count as converged.

    With T = Z + U, the sum of one copy of the code and the scaled multiplier, the other copy is C = T - clip(T), the
    multiplier is K = clip(T), and an iteration is

        T <- T - a (K - R P'),   R = (y - (T - 2 K) P) (P'P + diag(slack))^-1,

    where a is the relaxation and K - R P' the difference of the two copies. T P is updated as well, so that an
    iteration needs two products with P (K P and R P') and a few passes over T.
    """
    xp = namespace(lasso.dictionary)
    limit = 1 / lasso.penalty
    n_steps = min(CHECK_EVERY, max_iter)
    waiting = rows[slots:]
    own = rows[:slots].copy()  # the row in each slot
    place = np.arange(len(own))  # its position in `rows`
    age = np.zeros(len(own), np.int64)
    total = xp.zeros((len(own), len(lasso.dictionary)), dtype=lasso.dictionary.dtype, device=device(lasso.dictionary))
    clipped, scratch = xp.empty_like(total), xp.empty_like(total)
    carried = xp.zeros_like(lasso.dictionary[follow(own, total)])
    finished: list[tuple[Indices, csr_matrix]] = []
    n_iter = np.zeros(len(rows), np.int64)
    converged = np.zeros(len(rows), bool)
    while len(own):
        cancellation.check()
        slot, column = follow(np.arange(len(own)), total), follow(own, total)
        targets = lasso.dictionary[column]
        for _ in range(n_steps):
            clip_into(total, limit, clipped)
            # A row must not use itself: clip its own entry completely.
            clipped[slot, column] = total[slot, column]
            products = clipped @ lasso.dictionary
            dual = (targets - carried + 2 * products) @ lasso.inverse
            carried += RELAXATION * (dual @ lasso.gram - products)
            subtract_product(clipped, dual, lasso.dictionary, scratch)
            clipped *= -RELAXATION
            total += clipped
        age += n_steps
        done = age >= max_iter
        if tol is None:
            calm = done
        else:
            change = to_host(xp.maximum(xp.max(clipped, axis=1), -xp.min(clipped, axis=1)))
            calm = change <= RELAXATION * tol * limit
        done = done | calm
        if not done.any():
            continue
        leaving = np.flatnonzero(done)
        finished.append((place[leaving], _sparse_codes(total, leaving, own[leaving], lasso.n_rows, limit)))
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


def _sparse_codes(total: Array, slots: Indices, own: Indices, n_rows: int, limit: float) -> csr_matrix:
    """C = T - clip(T) of some slots, without the entries of the rows themselves and of errors."""
    xp = namespace(total)
    chosen = total[follow(slots, total)][:, :n_rows]
    chosen[follow(np.arange(len(slots)), total), follow(own, total)] = 0
    return dense_as_csr(chosen - xp.clip(chosen, -limit, limit))
