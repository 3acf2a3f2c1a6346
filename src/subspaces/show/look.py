"""Looks of clusters that all plots share, and checks of their input."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from subspaces._core.arrays import to_host
from subspaces._core.drawing import COLORS, MARKERS
from subspaces._core.errors import InputError, UserTypeError
from subspaces.spectral.partition import at_most

OUTLIER = -1


def check_has(model: Any, names: tuple[str, ...], remedy: str) -> str:
    """Return the first of the attributes `names` that the fitted `model` has; raise an error with `remedy` if none."""
    check_is_fitted(model)
    for name in names:
        if hasattr(model, name):
            return name
    if hasattr(model, "steps"):
        remedy = "pass its last step, pipeline[-1], and the rows that reach it, pipeline[:-1].transform(X)"
    raise UserTypeError(f"{type(model).__name__} has no {' or '.join(names)}, which this plot needs: {remedy}")


def on_host(values: Any) -> NDArray[Any]:
    """Convert lists, tables, lazy arrays and device arrays to a NumPy array."""
    try:
        return np.asarray(values)
    except TypeError:
        # Device arrays are copied only by an explicit call.
        return to_host(values)


def label_array(labels: ArrayLike, count: int | None = None) -> NDArray[Any]:
    """Labels (n,), numbers or strings, as a NumPy array; `count` is the required n."""
    array = on_host(labels)
    if array.ndim != 1 or count not in (None, len(array)):
        expected = "(n,)" if count is None else f"({count},)"
        raise InputError(f"labels have shape {array.shape}, not {expected}: pass one label for each row")
    return array


def cluster_names(labels: NDArray[Any]) -> list[Any]:
    """The labels in use, ascending, without the label of outliers."""
    return [name for name in np.unique(labels).tolist() if name != OUTLIER]


def looks(names: list[Any]) -> list[tuple[str, str]]:
    """Colour and marker of each cluster, by its number, or by its position if names are not numbers.

    Numbers make a cluster look the same in all plots, even if another cluster is empty.
    """
    most = len(COLORS) * len(MARKERS)
    numbered = all(isinstance(name, int) and 0 <= name < most for name in names)
    places = names if numbered else range(len(names))
    return [(COLORS[k % len(COLORS)], MARKERS[k % len(MARKERS)]) for k in places]


def thin(X: Any, most: int) -> tuple[Any, NDArray[np.int64]]:
    """At most `most` rows of `X` (n, p), always the same and in order, and their indices."""
    if isinstance(X, list | tuple):
        X = np.asarray(X)
    if len(getattr(X, "shape", ())) != 2:
        raise UserTypeError(
            f"X is {_kind(X)}: pass an array or table (n, p) in memory; for a file, read some of its rows first"
        )
    if most < 1:
        raise InputError(f"max_points={most} must be at least 1")
    index = np.sort(at_most(np.arange(int(X.shape[0])), most, np.random.RandomState(0)))
    if len(index) == X.shape[0]:
        return X, index
    return X.iloc[index] if hasattr(X, "iloc") else X[index], index


def _kind(X: Any) -> str:
    return f"an array of shape {tuple(X.shape)}" if hasattr(X, "shape") else f"a {type(X).__name__}"
