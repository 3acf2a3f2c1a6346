"""Checks of parameters and rows, with errors that name the value, the reason and the remedy."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from subspaces._core.arrays import Array, Labels, is_host, largest_entry, namespace
from subspaces._core.callers import warn_caller
from subspaces._core.errors import InputError, UserTypeError

# Starts or draws that can be asked for: more would never end.
MOST_REPEATS = 10_000
NOT_FINITE = (
    "Input X contains NaN or infinity{}: drop such rows, or fill in values first, as sklearn.impute.SimpleImputer does."
)
# Columns with missing values that a message names.
MOST_NAMED = 5


def check_rows(
    estimator: BaseEstimator, X: ArrayLike, *, reset: bool, min_features: int = 1, device: bool = False
) -> Array:
    """`X` as a finite float32 or float64 array (n, p); other numbers become float64.

    With `device`, an array of another library stays what it is, and where it is.
    """
    if device and array_api_compat.is_array_api_obj(X) and not is_host(X):
        return _check_device_rows(estimator, X, reset=reset, min_features=min_features)
    try:
        rows: Array = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            order="C",
            ensure_min_features=min_features,
        )
    # scikit-learn's own errors are about X, so they are errors of the caller.
    except TypeError as error:
        raise UserTypeError(*error.args) from error
    except ValueError as error:
        # What scikit-learn suggests for missing values is about classifiers.
        not_finite = str(error).startswith(("Input X contains NaN", "Input X contains inf"))
        raise InputError(NOT_FINITE.format(_where_not_finite(X)) if not_finite else str(error)) from error
    check_range(rows)
    return rows


def _where_not_finite(X: Any) -> str:
    """How many values of `X` are missing or infinite, and in which columns; empty if that is not known."""
    try:
        columns = np.flatnonzero((found := ~np.isfinite(np.asarray(X, np.float64))).any(axis=0))
    except (TypeError, ValueError):
        return ""
    names = getattr(X, "column_names", getattr(X, "columns", range(found.shape[1])))
    named = ", ".join(repr(names[j]) for j in columns[:MOST_NAMED])
    more = f" and {len(columns) - MOST_NAMED} more" if len(columns) > MOST_NAMED else ""
    values = "1 value" if found.sum() == 1 else f"{found.sum():,} values"
    return f" ({values}, in {'column' if len(columns) == 1 else 'columns'} {named}{more})"


def _check_device_rows(estimator: BaseEstimator, X: Any, *, reset: bool, min_features: int) -> Array:
    """The same checks in the array API."""
    xp = namespace(X)
    if xp.isdtype(X.dtype, "complex floating"):
        raise InputError("Complex data not supported: pass real and imaginary parts as columns.")
    # What torch would differentiate through is of no use here.
    X = X.detach() if hasattr(X, "detach") else X
    if X.ndim != 2 or not X.shape[0]:
        raise InputError(f"Expected 2D array of at least one row, got shape {tuple(X.shape)} instead: reshape X.")
    rows: Array = X if X.dtype in (xp.float32, xp.float64) else xp.astype(X, xp.float64)
    check_range(rows)
    check_columns(estimator, int(rows.shape[1]), None, reset=reset, min_features=min_features)
    return rows


def check_columns(
    estimator: BaseEstimator, n_columns: int, names: Sequence[str] | None, *, reset: bool, min_features: int = 1
) -> None:
    """Store the number and names of columns in an estimator, or compare them with those stored."""
    if reset:
        if n_columns < min_features:
            raise InputError(f"X has n_features={n_columns}, while a minimum of {min_features} is required.")
        estimator.n_features_in_ = n_columns
        if names is not None:
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        else:
            estimator.__dict__.pop("feature_names_in_", None)
        return
    if n_columns != estimator.n_features_in_:
        raise InputError(
            f"X has {n_columns} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} "
            "features as input: pass the columns of fit."
        )
    known = getattr(estimator, "feature_names_in_", None)
    if names is not None and known is not None and list(names) != list(known):
        raise InputError("The columns of X have other names, or another order, than those of fit: use the same ones.")


def largest_value(largest_number: float, n_columns: int) -> float:
    """The largest value in rows of `n_columns` columns whose squared distances cannot overflow.

    `largest_number` is the largest number of their dtype.
    """
    return float(np.sqrt(largest_number / (4 * n_columns)))


def check_range(rows: Array, *, are_all: bool = True) -> None:
    """Refuse rows whose squares overflow or, if these rows `are_all`, underflow: distances would be meaningless."""
    largest = largest_entry(rows)
    if not largest < np.inf:
        raise InputError(NOT_FINITE.format(""))
    number = namespace(rows).finfo(rows.dtype)
    if are_all and 0 < largest < float(np.sqrt(number.smallest_normal / number.eps)):
        raise InputError(
            f"X has no value above {largest:.3g}, and their squares underflow {rows.dtype}: multiply X by a constant"
            f"{', or pass float64' if number.bits < 64 else ''}."
        )
    if largest > largest_value(number.max, rows.shape[1]):
        raise InputError(
            f"X has values up to {largest:.3g}, and their squares overflow {rows.dtype}: divide X by a constant"
            f"{', or pass float64' if number.bits < 64 else ''}."
        )


def check_integer(name: str, value: Any, *, low: int, high: int | None = None, hint: str = "") -> int:
    """`value` as an int between `low` and `high`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, int | np.integer):
        raise UserTypeError(f"{name}={value!r} must be a whole number{_suffix(hint)}", parameter=name)
    if value < low or (high is not None and value > high):
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        raise InputError(f"{name}={value} must be {bounds}{_suffix(hint)}", parameter=name)
    return int(value)


def check_positive(name: str, value: Any, *, hint: str = "") -> float:
    """`value` as a finite float above zero."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, int | float | np.number):
        raise UserTypeError(f"{name}={value!r} must be a positive number{_suffix(hint)}", parameter=name)
    if not 0 < value < np.inf:
        raise InputError(f"{name}={value} must be positive and finite{_suffix(hint)}", parameter=name)
    return float(value)


def check_n_clusters(n_clusters: Any, x: Array) -> int:
    """Check a number of clusters for the rows of `x` (n, p)."""
    if isinstance(n_clusters, str):
        raise UserTypeError(
            f"n_clusters={n_clusters!r} must be a whole number; FLS, LBF and KFlats also take 'auto' and choose it.",
            parameter="n_clusters",
        )
    return check_integer("n_clusters", n_clusters, low=1, high=len(x), hint=f"X has n_samples={len(x)} rows")


def check_share(name: str, value: Any) -> None:
    """True, False, or a share between 0 and 1."""
    if isinstance(value, bool | np.bool_):
        return
    if not isinstance(value, numbers.Real) or not 0 < float(value) < 1:
        raise InputError(f"{name}={value!r} must be True, False or a share between 0 and 1.", parameter=name)


def check_power(name: str, value: Any, *, hint: str) -> float:
    """A number from 0 to 1."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real) or not 0 <= float(value) <= 1:
        raise InputError(f"{name}={value!r} must be a number from 0 to 1: {hint}.", parameter=name)
    return float(value)


def warn_if_empty(labels: Labels, n_clusters: int, remedy: str) -> None:
    """Warn if fewer than `n_clusters` clusters have rows; `remedy` says which parameters to change."""
    # The label -1 marks outliers and is not a cluster.
    found = len(np.unique(labels[labels >= 0]))
    if found < n_clusters:
        warn_caller(
            f"Only {found} of n_clusters={n_clusters} clusters have rows: X has too few distinct rows, or no more "
            f"clusters can be distinguished; lower n_clusters, or {remedy}.",
            ConvergenceWarning,
        )


def is_auto(value: Any) -> bool:
    """Whether a parameter is "auto"; safe for arrays, which cannot be compared with strings."""
    return isinstance(value, str) and value == "auto"


def unless_auto(value: Any) -> Any:
    """`value`, or None if it is "auto"."""
    return None if is_auto(value) else value


def check_sigma(sigma: Any, dtype: np.dtype[Any]) -> float:
    """Check a length whose square neither overflows nor underflows in `dtype`."""
    value = check_positive("sigma", sigma, hint='give a length, or "auto" if the method has it')
    number = np.finfo(dtype)
    low, high = float(np.sqrt(number.tiny)), float(np.sqrt(number.max / 4))
    if not low < value < high:
        raise InputError(
            f"sigma={value} must be between {low:.3g} and {high:.3g}, so that its square is a valid {number.dtype}."
        )
    return value


def check_option(name: str, value: Any, options: tuple[Any, ...]) -> None:
    """Refuse a `value` that is not one of `options`."""
    # NumPy scalars, as parameter grids contain them, count as Python numbers.
    value = value.item() if isinstance(value, np.generic) else value
    # Types must be equal, so that 1 does not pass for True.
    if not any(type(value) is type(option) and value == option for option in options):
        shown = ", ".join(repr(option) for option in options)
        raise InputError(f"{name}={value!r} is not known: use one of {shown}.", parameter=name)


def _suffix(hint: str) -> str:
    return f": {hint}." if hint else "."
