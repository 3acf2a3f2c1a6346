"""Codes in closed form: least squares with a ridge, and low rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Indices, follow, like, namespace, to_host
from subspaces._core.blocks import row_blocks
from subspaces._core.validation import check_integer, check_positive
from subspaces.self_expression.base import (
    Cancellation,
    Coder,
    Codes,
    Solver,
    homogeneous,
    largest_entries,
    typical_length,
)


class LeastSquares(Solver):
    """Smallest squared l2 norm: least-squares regression (LSR).

    The code of row y is the c that minimises |c|^2 + lambda |y - sum_j c_j y_j|^2, where lambda is `alpha` divided by
    the mean squared length of a row. It has a closed form with a p x p inverse. Codes use all rows of a subspace and
    also those of others, so that only the largest entries are kept.

    Parameters
    ----------
    alpha : float, default=10.0
        Weight of fidelity.
    n_nonzero : int, default=10
        Number of entries of each code that are kept.

    References
    ----------
    Lu, C.-Y. et al. (2012). Robust and efficient subspace segmentation via least squares regression. ECCV.
    https://doi.org/10.1007/978-3-642-33786-4_26
    """

    def __init__(self, alpha: float = 10.0, *, n_nonzero: int = 10) -> None:
        self.alpha = alpha
        self.n_nonzero = n_nonzero

    def coder(self, x: Array, *, affine: bool) -> Coder:
        """A function from row indices (b,) to the codes of these rows of `x` (n, p)."""
        alpha = check_positive("alpha", self.alpha)
        count = min(check_integer("n_nonzero", self.n_nonzero, low=1), len(x) - 1)
        dictionary = homogeneous(x, typical_length(x)) if affine else x
        values, vectors = spectrum_of(dictionary)
        ridge = typical_length(x) ** 2 / alpha
        factors = dictionary @ like(vectors / np.sqrt(values + ridge), x)
        return lambda rows, cancellation: products(factors, rows, count, cancellation, exclude=True)


class LowRank(Solver):
    """Smallest nuclear norm of all codes together, in closed form: low-rank representation (LRR, LRSC).

    The codes C of all rows X minimise |C|_* + tau / 2 |X - C X|^2 with the nuclear norm; a row may use itself, which is
    ignored in the graph. Only the largest entries are kept.

    Parameters
    ----------
    alpha : float, default=100.0
        Weight of fidelity: tau is `alpha` divided by the mean over columns of the sum of squares.
    n_nonzero : int, default=10
        Number of entries of each code that are kept.

    References
    ----------
    Vidal, R. and Favaro, P. (2014). Low rank subspace clustering (LRSC). Pattern Recognition Letters 43.
    https://doi.org/10.1016/j.patrec.2013.08.006

    Liu, G. et al. (2013). Robust recovery of subspace structures by low-rank representation. IEEE TPAMI 35.
    https://doi.org/10.1109/TPAMI.2012.88
    """

    def __init__(self, alpha: float = 100.0, *, n_nonzero: int = 10) -> None:
        self.alpha = alpha
        self.n_nonzero = n_nonzero

    def coder(self, x: Array, *, affine: bool) -> Coder:
        """A function from row indices (b,) to the codes of these rows of `x` (n, p)."""
        alpha = check_positive("alpha", self.alpha)
        count = min(check_integer("n_nonzero", self.n_nonzero, low=1), len(x) - 1)
        dictionary = homogeneous(x, typical_length(x)) if affine else x
        values, vectors = spectrum_of(dictionary)
        # Singular values below 1 / sqrt(tau) are cut off, the others shrink.
        floor = max(float(values.mean()) / alpha, float(np.finfo(np.float64).tiny))
        kept = values > floor
        factors = dictionary @ like(vectors[:, kept] * np.sqrt((1 - floor / values[kept]) / values[kept]), x)
        return lambda rows, cancellation: products(factors, rows, count, cancellation, exclude=False)


def spectrum_of(x: Array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvalues (q,), none negative, and eigenvectors (q, q) of x'x for rows `x` (n, q)."""
    xp = namespace(x)
    gram = np.zeros((x.shape[1], x.shape[1]))
    for block in row_blocks(len(x), 8 * x.shape[1]):
        wide = xp.astype(x[block], xp.float64)
        gram += to_host(wide.T @ wide)
    values, vectors = np.linalg.eigh(gram)
    return np.maximum(values, 0), vectors


def products(factors: Array, rows: Indices, count: int, cancellation: Cancellation, *, exclude: bool) -> Codes:
    """Codes f_i . f_j of the given rows (b,) of `factors` (n, q), of which the `count` largest are kept.

    With `exclude` a row must not use itself: if F F' are the codes of ridge regression, those without the row itself
    are f_i . f_j / (1 - |f_i|^2).
    """
    cancellation.check()
    xp = namespace(factors)
    chosen = factors[follow(rows, factors)]
    table = chosen @ factors.T
    if exclude:
        table = table / xp.clip(1 - xp.sum(chosen**2, axis=1), xp.finfo(factors.dtype).eps, None)[:, None]
    matrix = largest_entries(table, rows, count)
    return Codes(matrix, np.ones(len(rows), np.int64), np.ones(len(rows), bool))
