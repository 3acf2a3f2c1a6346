"""Kernels in closed form: the limits of random features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import gammaln, hyp1f1, kv

from subspaces._core.arrays import Array
from subspaces._core.errors import InputError
from subspaces._core.validation import check_integer, check_option, check_positive

NAMES = ("gaussian", "laplacian", "matern")


def check_kernel(kernel: Any, nu: Any) -> None:
    """Refuse a kernel that is neither a name nor a callable, or a smoothness that is not positive."""
    if not callable(kernel):
        check_option("kernel", kernel, NAMES)
    check_positive("nu", nu)


def named_kernel(name: Any, X: Array, Y: Array, *, sigma: float, nu: float) -> Array:
    """The shift-invariant kernel of that name, for rows (n, p) and (m, p): (n, m)."""
    check_option("kernel", name, NAMES)
    check_positive("sigma", sigma)
    if name == "matern":
        return matern_kernel(X, Y, sigma=sigma, nu=check_positive("nu", nu))
    return gaussian_kernel(X, Y, sigma=sigma) if name == "gaussian" else laplacian_kernel(X, Y, sigma=sigma)


def gaussian_kernel(X: Array, Y: Array, *, sigma: float) -> Array:
    """exp(-|x - y|^2 / (2 sigma^2)) for rows of `X` (n, p) and `Y` (m, p): (n, m)."""
    return np.exp(-cdist(X, Y, "sqeuclidean") / (2 * sigma**2))


def laplacian_kernel(X: Array, Y: Array, *, sigma: float) -> Array:
    """exp(-|x - y|_1 / sigma) for rows of `X` (n, p) and `Y` (m, p): (n, m)."""
    return np.exp(-cdist(X, Y, "cityblock") / sigma)


def matern_kernel(X: Array, Y: Array, *, sigma: float, nu: float = 1.5) -> Array:
    """Matern kernel of length scale `sigma` and smoothness `nu`, one at distance zero: (n, m)."""
    scaled = np.sqrt(2 * nu) * cdist(X, Y) / sigma
    # If the Bessel function overflows, at distance zero or for very large nu, the kernel is nearly Gaussian.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        values = np.exp((1 - nu) * np.log(2) - gammaln(nu) + nu * np.log(scaled) + np.log(kv(nu, scaled)))
    return np.where(np.isfinite(values), values, np.exp(-(scaled**2) / (4 * nu)))


def landmark_kernel(X: Array, Y: Array, *, points: Array, sigma: float) -> Array:
    """Mean over `points` of the product of two Gaussian functions, the kernel of Example II: (n, m).

    With all rows of a data set as `points`, it is the kernel that random landmarks approximate.
    """
    at_x, at_y = gaussian_kernel(X, points, sigma=sigma), gaussian_kernel(Y, points, sigma=sigma)
    return at_x @ at_y.T / len(points)


def uniform_subspace_kernel(X: Array, Y: Array, *, subspace_dim: int, sigma: float) -> Array:
    """The subspace kernel under the uniform measure on the Grassmannian, for rows (n, p) and (m, p): (n, m).

    The mean of exp(-(dist(x, L)^2 + dist(y, L)^2) / sigma^2) over uniform L of dimension d is
    exp(-tr M) 1F1(d/2; p/2; M), M = (x x^T + y y^T) / sigma^2, a confluent hypergeometric function of a matrix of
    rank two. It depends on tr M and det M alone, so on the sphere it is a function of |x.y|, and thus of the
    distance: Lemma 3.1. The series (a reduction of the matrix argument to scalar functions) alternates; a ValueError is
    raised if |x|^2 / sigma^2 is so large that it loses all digits.
    """
    X, Y = np.asarray(X, np.float64), np.asarray(Y, np.float64)
    check_positive("sigma", sigma)
    check_integer("subspace_dim", subspace_dim, low=1, high=X.shape[1], hint=f"rows have {X.shape[1]} columns")
    a, c = subspace_dim / 2, X.shape[1] / 2
    x2, y2 = np.einsum("np,np->n", X, X)[:, None], np.einsum("np,np->n", Y, Y)
    trace = (x2 + y2) / sigma**2
    determinant = np.maximum(x2 * y2 - (X @ Y.T) ** 2, 0) / sigma**4
    result, term, largest = np.zeros_like(trace), np.ones_like(trace), np.zeros_like(trace)
    for k in range(500):
        # Kummer: exp(-t) 1F1(a; c; t) = 1F1(c - a; c; -t) keeps large traces from overflowing.
        part = term * hyp1f1(c - a + k, c + 2 * k, -trace)
        result += part
        largest = np.maximum(largest, np.abs(part))
        if np.all(np.abs(part) <= 1e-16 * np.abs(result)):
            break
        ratio = (a + k) * (c - a + k) / ((c + 2 * k) * (c + 2 * k + 1) * (c - 0.5 + k) * (k + 1))
        term = -term * ratio * determinant
    if np.any(largest * np.finfo(np.float64).eps > 1e-6 * np.abs(result)):
        raise InputError(
            f"sigma={sigma} is too small for rows of norm {float(np.sqrt(max(x2.max(), y2.max()))):.3g}: the series of "
            "this kernel loses all digits; raise sigma, or scale the rows down."
        )
    return result
