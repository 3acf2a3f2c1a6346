"""What displays share: the axes, the look of clusters, and what they ask of models."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from subspaces._core.arrays import to_host
from subspaces._core.errors import InputError, MissingPackageError, UserTypeError

# Okabe and Ito's colours without yellow, which small marks on white lose, and three of Paul Tol's.
COLORS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#882255", "#DDCC77", "#332288",
)  # fmt: skip
# No cross, which outliers have, and one less than colours: neighbours differ in both, and 90 clusters look different.
MARKERS = "osD^vP*<>"
GREY = "#7A7A7A"
OUTLIER = -1
# Names come from users: a dollar is a dollar.
AS_IT_IS = {"parse_math": False}
WIDTH = 6.0


def new_axes(ax: Any, *, width: float = WIDTH, height: float = 4.0) -> Any:
    """`ax`, or the axes of a new figure of so many inches, in the look that pictures share."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingPackageError("the picture needs matplotlib: pip install subspaces[plot]") from None
    if ax is None:
        _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8)
    ax.set_axisbelow(True)
    return ax


def check_has(model: Any, names: tuple[str, ...], remedy: str) -> str:
    """The first of the `names` that the fitted `model` has; no such name is refused with the `remedy`."""
    check_is_fitted(model)
    for name in names:
        if hasattr(model, name):
            return name
    if hasattr(model, "steps"):
        remedy = "pass its last step, pipeline[-1], and rows as the steps before give them: pipeline[:-1].transform(X)"
    raise UserTypeError(f"{type(model).__name__} has no {' or '.join(names)}, which the picture shows: {remedy}")


def on_host(values: Any) -> NDArray[Any]:
    """Whatever holds numbers as a NumPy array: lists, tables, lazy arrays, arrays of devices."""
    try:
        return np.asarray(values)
    except TypeError:
        # What is on a device comes only if asked to.
        return to_host(values)


def label_array(labels: ArrayLike, count: int | None = None) -> NDArray[Any]:
    """Labels (n,), numbers or words, on the host; `count` is the n that they must have."""
    array = on_host(labels)
    if array.ndim != 1 or count not in (None, len(array)):
        expected = "(n,)" if count is None else f"({count},)"
        raise InputError(f"labels have shape {array.shape}, not {expected}: pass one label for each row")
    return array


def cluster_names(labels: NDArray[Any]) -> list[Any]:
    """The labels in use, ascending, without that of outliers."""
    return [name for name in np.unique(labels).tolist() if name != OUTLIER]


def looks(names: list[Any]) -> list[tuple[str, str]]:
    """Colour and marker of each cluster: those of its number where clusters are numbered, else of its place.

    So an empty cluster does not change how the others look, and a cluster looks alike in all pictures.
    """
    most = len(COLORS) * len(MARKERS)
    numbered = all(isinstance(name, int) and 0 <= name < most for name in names)
    places = names if numbered else range(len(names))
    return [(COLORS[k % len(COLORS)], MARKERS[k % len(MARKERS)]) for k in places]


def thin(X: Any, most: int) -> tuple[Any, NDArray[np.int64]]:
    """At most `most` rows of `X` (n, p), always the same ones and in their order, and their indices."""
    if isinstance(X, list | tuple):
        X = np.asarray(X)
    if len(getattr(X, "shape", ())) != 2:
        raise UserTypeError(
            f"X is {_told(X)}: pass rows (n, p) in memory, an array or a table; of files some rows suffice"
        )
    if most < 1:
        raise InputError(f"max_points={most} leaves nothing to draw: give at least 1")
    count = int(X.shape[0])
    if count <= most:
        return X, np.arange(count)
    index = np.sort(np.random.RandomState(0).choice(count, most, replace=False))
    return X.iloc[index] if hasattr(X, "iloc") else X[index], index


def _told(X: Any) -> str:
    return f"an array of shape {tuple(X.shape)}" if hasattr(X, "shape") else f"a {type(X).__name__}"
