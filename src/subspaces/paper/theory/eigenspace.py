"""Error of the leading eigenvectors of the normalised kernel matrix (Section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import ArpackError, eigsh
from sklearn.utils import check_random_state

from subspaces._core.arrays import Array
from subspaces._core.errors import InputError
from subspaces._core.validation import check_integer, check_option
from subspaces.features import FeatureMap
from subspaces.flats.angles import principal_angles
from subspaces.paper.theory.curve import Curve
from subspaces.paper.theory.kernel import check_sizes, describe
from subspaces.paper.theory.source import (
    Source,
    check_counts,
    check_landmark_counts,
    check_map,
    feature_count,
    inner_products,
    make_source,
    refuse_sparse,
    settle,
)
from subspaces.spectral.spectrum import compute_spectrum, embed

# Largest n for which the exact n x n matrix of a kernel in closed form is computed.
MATRIX_ROWS = 6000


class TooClose(InputError):
    """Eigenvalues are so close that their eigenvectors cannot be computed."""

    def __init__(self) -> None:
        super().__init__("the eigenvalues cannot be separated: sigma is small for these rows, raise sigma or scale X")


@dataclass(frozen=True, slots=True, eq=False)
class Eigenspace:
    """Span of the leading eigenvectors of a normalised kernel matrix, including the trivial one."""

    vectors: NDArray[np.float64]  # (n, k), orthonormal, the trivial one first
    values: NDArray[np.float64]  # (k + 1,), descending from the trivial 1

    @property
    def gap(self) -> float:
        """Difference between the last eigenvalue inside and the first outside."""
        return float(self.values[-2] - self.values[-1])


def eigenspace_error(
    X: ArrayLike,
    feature_map: Any,
    *,
    n_vectors: int = 2,
    n_features: Any = (64, 128, 256, 512, 1024),
    n_draws: int = 5,
    n_reference: int = 2048,
    random_state: Any = None,
) -> Curve:
    """Difference between the leading eigenvectors of D features and of the kernel, for increasing D.

    The error is the sine of the largest principal angle between the spans of the leading `n_vectors` eigenvectors of
    the two normalised matrices. It decreases as D^(-1/2), once D is large enough to keep the order of eigenvectors.

    Parameters
    ----------
    X : array-like of shape (n, p)
    feature_map : FeatureMap or fitted estimator
        As in `kernel_error`. With a closed form, n may be at most 6000: the exact matrix is n x n.
    n_vectors : int, default=2
        Number of eigenvectors including the trivial one, usually the number of clusters. If clusters are well
        separated, their eigenvalues are all near one: single eigenvectors are arbitrary, but their span is not.
    n_features, n_draws, n_reference, random_state :
        As in `kernel_error`.

    Returns
    -------
    curve : Curve
        The measure "sine" (n_sizes, n_draws), NaN for draws in which a degree is not positive, so that the normalised
        matrix is undefined, or in which eigenvalues cannot be separated. `parameters["gap"]` is the gap between the
        eigenvalues inside and outside: the smaller it is, the larger D must be for the law to hold.
    """
    sizes = check_counts("n_features", n_features)
    rng = check_random_state(random_state)
    x, features = check_map(X, feature_map)
    refuse_sparse(features)
    _check(features, sizes, n_vectors, n_draws, n_reference, len(x))
    features = settle(features, x, rng)
    source = make_source(features, x, n_reference=n_reference, rng=rng)
    exact = exact_eigenspace(source, x, n_vectors)
    errors = [
        [sine(exact, drawn_eigenspace(source.draw(size, rng), x, n_vectors)) for _ in range(n_draws)] for size in sizes
    ]
    parameters = {**describe(features), "n_rows": len(x), "n_vectors": n_vectors, "reference": source.reference}
    parameters |= {"gap": exact.gap, "eigenvalues": exact.values}
    return Curve("eigenspace error", "n_features", np.array(sizes), {"sine": np.array(errors)}, {}, parameters)


def eigenspace_error_by_rows(
    X: ArrayLike,
    feature_map: Any,
    *,
    n_rows: Any = None,
    n_vectors: int = 2,
    n_features: int = 256,
    n_draws: int = 5,
    n_reference: int = 1024,
    fixed_measure: bool = False,
    random_state: Any = None,
) -> Curve:
    """Eigenspace error at one D, for increasing numbers n of rows; by Theorem 4.5 it does not depend on n.

    Parameters
    ----------
    X : array-like of shape (n, p)
    feature_map : FeatureMap or fitted estimator
    n_rows : sequence of int or None, default=None
        The numbers n, each a random sample of X. By default 1000, 10,000, ... up to all rows.
    n_vectors, n_features, n_draws, n_reference, random_state :
        As in `eigenspace_error`, with a single D.
    fixed_measure : bool, default=False
        Whether landmarks and flats of the smallest sample are used for all n. The theorems assume one measure, but the
        measure of landmark flats changes with n: the same number of neighbours covers a smaller region, and finally
        only noise.

    Returns
    -------
    curve : Curve
        The measure "sine" (n_sizes, n_draws); `parameters["gaps"]` has the gap at every n.
    """
    count = check_integer("n_features", n_features, low=1)
    rng = check_random_state(random_state)
    x, features = check_map(X, feature_map)
    refuse_sparse(features)
    sizes = check_sizes(n_rows, len(x))
    _check(features, (count,), n_vectors, n_draws, n_reference, sizes[0])
    features = settle(features, x, rng)
    check_option("fixed_measure", fixed_measure, (True, False))
    order = rng.permutation(len(x))
    errors, gaps = [], []
    for size in sizes:
        rows = x[order[:size]]
        if size == sizes[0] or not fixed_measure:
            source = make_source(features, rows, n_reference=n_reference, rng=rng)
        exact = exact_eigenspace(source, rows, n_vectors)
        gaps.append(exact.gap)
        draws = (drawn_eigenspace(source.draw(count, rng), rows, n_vectors) for _ in range(n_draws))
        errors.append([sine(exact, each) for each in draws])
    parameters = {**describe(features), "n_features": count, "n_vectors": n_vectors, "reference": source.reference}
    return Curve(
        "eigenspace error", "n_rows", np.array(sizes), {"sine": np.array(errors)}, {}, {**parameters, "gaps": gaps}
    )


def exact_eigenspace(source: Source, x: Array, n_vectors: int) -> Eigenspace:
    """Leading eigenvectors of the normalised matrix of the exact kernel, for rows (n, p)."""
    limit = source.limit()
    if limit is not None:
        found = feature_eigenspace(limit, x, n_vectors)
        if found is not None:
            return found
        raise InputError(f"the kernel of {source.reference} has rows without positive degree: raise sigma.")
    if len(x) > MATRIX_ROWS:
        raise InputError(
            f"X has n_samples={len(x)} rows, and the exact kernel matrix is n x n: pass at most {MATRIX_ROWS} rows."
        )
    found = matrix_eigenspace(source.matrix(x, x), n_vectors)
    if found is None:
        raise InputError("the kernel has rows without positive degree, so it is not a similarity: use another kernel.")
    return found


def matrix_eigenspace(matrix: NDArray[np.float64], n_vectors: int) -> Eigenspace | None:
    """Leading eigenvectors of a kernel matrix (n, n), which is overwritten; None if a degree is not positive."""
    degrees = matrix.sum(axis=1)
    if not (degrees > 0).all():
        return None
    matrix /= np.sqrt(degrees)[:, None] * np.sqrt(degrees)
    trivial = np.sqrt(degrees / degrees.sum())
    # The trivial vector is known: move its eigenvalue from 1 to -1, as in `compute_spectrum`.
    matrix -= 2 * np.outer(trivial, trivial)
    # A fixed start makes the result deterministic; it must not be an eigenvector.
    start = 1 + np.arange(len(matrix)) / len(matrix)
    try:
        values, vectors = eigsh(matrix, n_vectors, which="LA", v0=start)
    except ArpackError:
        raise TooClose from None
    return Eigenspace(np.column_stack([trivial, vectors[:, ::-1][:, :-1]]), np.append(1.0, values[::-1]))


def feature_eigenspace(features: FeatureMap, x: Array, n_vectors: int) -> Eigenspace | None:
    """Leading eigenvectors of psi(x).psi(y) for a fitted map; None if a degree is not positive."""
    if not features.is_sparse and len(x) < min(feature_count(features), MATRIX_ROWS):
        return matrix_eigenspace(inner_products(features, x, x), n_vectors)
    spectrum = compute_spectrum(lambda: features.blocks(x), n_vectors, balanced=features.is_sparse)
    parts, degrees = [], []
    for psi in features.blocks(x):
        degrees.append(np.asarray(psi @ spectrum.degree.astype(psi.dtype), np.float64))
        parts.append(np.asarray(embed(psi, spectrum, n_vectors - 1), np.float64))
    degree = np.concatenate(degrees)
    if not (degree > 0).all():
        return None
    values = np.zeros(n_vectors + 1)
    values[: len(spectrum.eigenvalues) + 1] = [1.0, *spectrum.eigenvalues]
    return Eigenspace(np.column_stack([np.sqrt(degree / degree.sum()), np.concatenate(parts)]), values)


def drawn_eigenspace(features: FeatureMap, x: Array, n_vectors: int) -> Eigenspace | None:
    """Like `feature_eigenspace`, but None also if eigenvalues cannot be separated."""
    try:
        return feature_eigenspace(features, x, n_vectors)
    except TooClose:
        return None


def sine(exact: Eigenspace, found: Eigenspace | None) -> float:
    """Sine of the largest principal angle; NaN if `found` is None."""
    return float(np.sin(principal_angles(exact.vectors, found.vectors)[-1])) if found is not None else float("nan")


def _check(
    features: FeatureMap, sizes: tuple[int, ...], n_vectors: Any, n_draws: Any, n_reference: Any, n_rows: int
) -> None:
    check_integer("n_draws", n_draws, low=1)
    check_integer("n_reference", n_reference, low=1)
    high = min(sizes[0] - 1, n_rows - 2)
    if high < 1:
        raise InputError(
            f"n_features={sizes[0]} and {n_rows} rows are too few for an eigenvector and a gap: pass at least 2 and 3."
        )
    hint = f"n_features={sizes[0]} and {n_rows} rows have no more eigenvectors with a gap"
    check_integer("n_vectors", n_vectors, low=1, high=high, hint=hint)
    check_landmark_counts(features, sizes, n_rows)
