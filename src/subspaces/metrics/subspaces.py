"""Distances of fitted subspaces to true ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.errors import InputError, UserTypeError
from subspaces._core.validation import check_option

if TYPE_CHECKING:
    from subspaces.flats.flats import Flats

    Subspaces = Flats | Sequence[ArrayLike] | NDArray[np.floating]

Distance = Literal["rms", "largest"]
ExtraDims = Literal["ignore", "count"]


@dataclass(frozen=True, slots=True, eq=False)
class SubspaceMatching:
    """Result of `match_subspaces`."""

    matches: NDArray[np.intp]  # (n_true,), the fitted subspace of each true one, -1 for none
    errors: NDArray[np.float64]  # (n_true,), its distance, 1 if there is none


def principal_angles(A: ArrayLike, B: ArrayLike) -> NDArray[np.float64]:
    """Principal angles between the spans of the columns of two matrices, in radians, smallest first.

    The first is the smallest angle between a vector of one span and a vector of the other. The last is zero only if one
    span contains the other. Columns need not be orthogonal, of length one, or independent.

    Parameters
    ----------
    A : array-like of shape (p, a)
        Columns that span the first subspace.
    B : array-like of shape (p, b)
        Columns that span the second subspace.

    Returns
    -------
    angles : ndarray of shape (min(dim A, dim B),)
        Ascending, between 0 and pi / 2; the dimension of a span is the rank of its columns.

    References
    ----------
    A. Bjorck and G. H. Golub, Numerical methods for computing angles between linear subspaces, Mathematics of
    Computation 27 (1973), https://doi.org/10.1090/S0025-5718-1973-0348991-3

    Examples
    --------
    >>> from subspaces.metrics import principal_angles
    >>> line, plane = [[1], [0], [1]], [[1, 1], [0, 2], [0, 0]]
    >>> principal_angles(line, plane).round(4)
    array([0.7854])
    """
    from subspaces.flats import angles

    first, second = _orthonormal(A, name="A"), _orthonormal(B, name="B")
    if len(first) != len(second):
        raise InputError(
            f"A has {len(first)} rows and B has {len(second)}: pass subspaces of the same space, one row for each "
            "coordinate and one column for each spanning vector."
        )
    return angles.principal_angles(first, second).astype(np.float64, copy=False)


def subspace_recovery_error(
    true_bases: Subspaces,
    fitted_bases: Subspaces,
    *,
    distance: Distance = "rms",
    extra_dims: ExtraDims = "ignore",
) -> float:
    """Mean distance of the true subspaces to the fitted ones that they are matched to.

    Use it if the subspaces are known, as in `subspaces.datasets.make_subspaces(..., return_bases=True)`: labels can be
    correct although the fitted subspaces are not. `match_subspaces` returns the distance of each subspace.

    Parameters
    ----------
    true_bases : list of array-like of shape (p, d_k), array of shape (n_true, p, d) or Flats
        Columns that span each true subspace. Dimensions may differ.
    fitted_bases : list of array-like of shape (p, d_k), array of shape (n_fitted, p, d) or Flats
        Columns that span each fitted subspace. Centres of flats are ignored: only directions are compared.
    distance : {"rms", "largest"}, default="rms"
        Root mean square of the sines of the principal angles (the projection metric, divided by its largest value), or
        the largest of the sines.
    extra_dims : {"ignore", "count"}, default="ignore"
        How to compare subspaces of different dimensions. "ignore" uses the angles between the smaller and the larger,
        so the distance is 0 if one contains the other; this suits fits with a few extra dimensions, but the whole space
        contains all subspaces. "count" adds a right angle for each dimension of difference.

    Returns
    -------
    error : float
        Between 0, all subspaces found, and 1. If fewer subspaces were fitted, true subspaces without a match count 1
        each. Fitted subspaces without a match are ignored.

    References
    ----------
    K. Ye and L.-H. Lim, Schubert varieties and distances between subspaces of different dimensions, SIAM Journal on
    Matrix Analysis and Applications 37 (2016), https://doi.org/10.1137/15M1054201

    Examples
    --------
    >>> from subspaces.metrics import subspace_recovery_error
    >>> x_axis, y_axis, diagonal = [[1], [0]], [[0], [1]], [[1], [1]]
    >>> subspace_recovery_error([x_axis, y_axis], [y_axis, x_axis])
    0.0
    >>> round(subspace_recovery_error([x_axis, y_axis], [y_axis, diagonal]), 4)
    0.3536
    """
    found = match_subspaces(true_bases, fitted_bases, distance=distance, extra_dims=extra_dims)
    return float(found.errors.mean())


def match_subspaces(
    true_bases: Subspaces,
    fitted_bases: Subspaces,
    *,
    distance: Distance = "rms",
    extra_dims: ExtraDims = "ignore",
) -> SubspaceMatching:
    """Match true to fitted subspaces, one to one, with the smallest sum of distances.

    Parameters
    ----------
    true_bases : list of array-like of shape (p, d_k), array of shape (n_true, p, d) or Flats
        Columns that span each true subspace.
    fitted_bases : list of array-like of shape (p, d_k), array of shape (n_fitted, p, d) or Flats
        Columns that span each fitted subspace.
    distance : {"rms", "largest"}, default="rms"
        Of the sines of the principal angles, as in `subspace_recovery_error`.
    extra_dims : {"ignore", "count"}, default="ignore"
        As in `subspace_recovery_error`.

    Returns
    -------
    matching : SubspaceMatching
        `matches` (n_true,), the index of the fitted subspace of each true one, -1 if there is none, and `errors`
        (n_true,), the distances, 1 if there is none.

    Examples
    --------
    >>> from subspaces.metrics import match_subspaces
    >>> x_axis, y_axis = [[1], [0]], [[0], [1]]
    >>> matching = match_subspaces([x_axis, y_axis], [y_axis])
    >>> matching.matches, matching.errors
    (array([-1,  0]), array([1., 0.]))
    """
    from scipy.optimize import linear_sum_assignment

    check_option("distance", distance, ("rms", "largest"))
    check_option("extra_dims", extra_dims, ("ignore", "count"))
    true = _orthonormal_bases(true_bases, name="true_bases")
    fitted = _orthonormal_bases(fitted_bases, name="fitted_bases")
    if len(true[0]) != len(fitted[0]):
        raise InputError(
            f"true_bases lie in a space of {len(true[0])} dimensions and fitted_bases in one of {len(fitted[0])}: "
            "pass both in the coordinates of the same space."
        )
    table = np.array([[_distance(a, b, distance, extra_dims) for b in fitted] for a in true])
    rows, columns = linear_sum_assignment(table)
    matches = np.full(len(true), -1, dtype=np.intp)
    errors = np.ones(len(true))
    matches[rows], errors[rows] = columns, table[rows, columns]
    return SubspaceMatching(matches=matches, errors=errors)


def _distance(
    first: NDArray[np.float64], second: NDArray[np.float64], distance: Distance, extra_dims: ExtraDims
) -> float:
    """Distance in [0, 1] of two spans, given by orthonormal columns (p, d) and (p, e)."""
    from subspaces.flats import angles

    sines = np.sin(angles.principal_angles(first, second))
    if extra_dims == "count":
        sines = np.append(sines, np.ones(abs(first.shape[1] - second.shape[1])))
    return float(sines.max() if distance == "largest" else np.sqrt(np.mean(sines**2)))


def _orthonormal_bases(bases: Subspaces, *, name: str) -> list[NDArray[np.float64]]:
    """Orthonormal columns (p, d_k) of each of the spans, all with the same p."""
    items = getattr(bases, "bases", bases)
    if isinstance(items, np.ndarray) and items.ndim != 3:
        raise InputError(
            f"{name} has shape {items.shape}: pass an array of shape (n_subspaces, p, d), or a list of arrays of "
            "shape (p, d_k); put a single basis into a list."
        )
    try:
        columns = [_orthonormal(item, name=f"{name}[{index}]") for index, item in enumerate(items)]
    except TypeError as error:
        if not hasattr(items, "__iter__"):
            raise UserTypeError(
                f"{name} is a {type(bases).__name__}: pass Flats, a list of bases or an array."
            ) from error
        raise
    if not columns:
        raise InputError(f"{name} is empty: pass at least one subspace.")
    heights = [len(basis) for basis in columns]
    if len(set(heights)) > 1:
        raise InputError(f"{name} have {heights} rows: pass subspaces of one space, all with p rows.")
    return columns


def _orthonormal(columns: ArrayLike, *, name: str) -> NDArray[np.float64]:
    """An orthonormal basis (p, rank) of the span of `columns` (p, d), any d."""
    from subspaces._core.arrays import unit_rows

    try:
        array = np.asarray(columns)
    except ValueError as error:
        raise InputError(f"{name} is a ragged list: pass one row for each coordinate, all of one length.") from error
    if array.dtype.kind not in "biuf":
        raise UserTypeError(f"{name} has dtype {array.dtype}: pass real numbers.")
    if array.ndim != 2:
        raise InputError(
            f"{name} has shape {array.shape}: pass columns that span the subspace, shape (p, d); "
            "a single vector is one column, vector[:, None]."
        )
    precision = np.finfo(array.dtype if array.dtype.kind == "f" else np.float64).eps
    wide = array.astype(np.float64)
    if not np.isfinite(wide).all():
        raise InputError(f"{name} has NaN or infinite entries: pass finite numbers.")
    # Unit columns, so that the rank does not depend on the lengths of the vectors.
    vectors, values, _ = np.linalg.svd(unit_rows(wide.T).T, full_matrices=False)
    if not values.any():
        raise InputError(f"{name} has shape {array.shape} and spans only 0: pass at least one vector that is not 0.")
    basis: NDArray[np.float64] = vectors[:, values > values[0] * max(array.shape) * precision]
    return basis
