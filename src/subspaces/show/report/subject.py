"""The subject of a report: a fitted model, its rows and their names, and how it was computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from subspaces._core.errors import InputError
from subspaces.show.look import OUTLIER, label_array, on_host
from subspaces.show.report.pictures import Pictures, pictures_of
from subspaces.show.report.plain import name_text


@dataclass(frozen=True, slots=True)
class Run:
    """How the clustering was computed; empty fields are not shown."""

    title: str = ""
    command: str = ""
    seed: int | None = None
    fit_seconds: float | None = None
    stages: tuple[tuple[str, float], ...] = ()  # name and seconds of each stage
    peak_memory: int | None = None  # bytes
    versions: Mapping[str, str] = field(default_factory=dict)
    data: tuple[str, ...] = ()  # names of input files
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A fitted model, its rows and labels, and the names shown to readers."""

    model: Any
    x: NDArray[Any]  # (n, p), rows as passed to the model
    labels: NDArray[np.int64]  # (n,), 0 to K - 1, or -1 for outliers
    n_clusters: int  # K; some may be empty
    confidence: NDArray[np.float64] | None  # (n,), from 0 to 1
    values: NDArray[Any]  # (n, q), rows in original units, shown to readers
    columns: tuple[str, ...]  # q names
    row_names: tuple[str, ...] | None
    row_numbers: NDArray[np.int64]  # (n,), from 0, positions in the original data
    truth: NDArray[Any] | None  # (n,)
    pictures: Pictures | None

    @property
    def n_rows(self) -> int:
        """Number n of rows."""
        return len(self.x)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Rows of each cluster: (K,)."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    def members(self, cluster: int) -> NDArray[np.intp]:
        """Indices of the rows of a cluster; -1 gives the outliers."""
        return np.flatnonzero(self.labels == cluster)

    def row(self, index: int) -> dict[str, Any]:
        """Number and name of a row."""
        return {"row": int(self.row_numbers[index]), "name": self.row_names[index] if self.row_names else None}


def make_subject(
    model: Any,
    X: Any,
    *,
    labels: ArrayLike | None,
    confidence: ArrayLike | None,
    values: Any,
    columns: Sequence[str] | None,
    row_names: Sequence[str] | None,
    row_numbers: ArrayLike | None,
    truth: ArrayLike | None,
    image_shape: tuple[int, ...] | None,
    images: ArrayLike | None,
) -> Subject:
    """Check the arguments of `describe`. For a pipeline, use its last step and the rows that reach it."""
    check_is_fitted(model)
    X = _known_columns(model, X)
    if columns is None:
        columns = getattr(X if values is None else values, "columns", None)
    if hasattr(model, "steps"):
        values = X if values is None else values
        model, X = model.steps[-1][1], model[:-1].transform(X) if len(model.steps) > 1 else X
    x = _float_rows(X, "X")
    shown = x if values is None else _float_rows(values, "values", len(x))
    found, known = _labels(model, x, labels)
    count = getattr(model, "n_clusters_", None) or getattr(model, "n_clusters", None)
    if confidence is None and known:
        confidence = getattr(model, "confidence_", None)
    return Subject(
        model=model,
        x=x,
        labels=found,
        n_clusters=max(int(count) if isinstance(count, int | np.integer) else 0, int(found.max()) + 1),
        confidence=None if confidence is None else _one_each("confidence", confidence, len(x)).astype(np.float64),
        values=shown,
        columns=_column_names(columns, shown.shape[1]),
        row_names=None if row_names is None else tuple(map(name_text, _one_each("row_names", row_names, len(x)))),
        row_numbers=_one_each("row_numbers", np.arange(len(x)) if row_numbers is None else row_numbers, len(x)),
        truth=None if truth is None else _one_each("truth", _mixed(truth), len(x)),
        pictures=pictures_of(shown, images, image_shape),
    )


def _known_columns(model: Any, X: Any) -> Any:
    """The columns of a dataframe that the model was fitted to: others, such as text, are left out by `fit` too."""
    names = list(getattr(model, "feature_names_in_", ()))
    return X[names] if names and set(names) < set(getattr(X, "columns", ())) else X


def _float_rows(X: Any, name: str, count: int | None = None) -> NDArray[Any]:
    array = on_host(X)
    if array.ndim != 2 or not array.size or count not in (None, len(array)):
        expected = "(n, p) with at least one row" if count is None else f"({count}, q)"
        raise InputError(
            f"{name} has shape {array.shape}, not {expected}: pass rows in memory; for a file, read some of its rows"
        )
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _labels(model: Any, x: NDArray[Any], labels: ArrayLike | None) -> tuple[NDArray[np.int64], bool]:
    """Labels (n,), and whether they equal `labels_`, so that `confidence_` belongs to these rows.

    Rows other than those of `fit` are labelled by `predict`.
    """
    # Models of very many rows are saved without labels_.
    fitted = label_array(on_host(getattr(model, "labels_", np.empty(0, np.int64))))
    if labels is None:
        found = fitted if len(fitted) == len(x) else label_array(on_host(model.predict(x)))
    else:
        found = label_array(labels, len(x))
    if found.dtype.kind not in "iu" or found.min() < OUTLIER:
        raise InputError(f"labels are {found[:3].tolist()}...: pass integers from 0, and -1 for outliers")
    return found.astype(np.int64), len(fitted) == len(found) and bool((fitted == found).all())


def _mixed(values: ArrayLike) -> NDArray[Any]:
    """Keep numbers and strings apart: NumPy would turn the outlier label -1 into a string."""
    return values if isinstance(values, np.ndarray) else np.array(list(values), dtype=object)  # type: ignore[arg-type]


def _one_each(name: str, values: Any, count: int) -> NDArray[Any]:
    array = np.asarray(values)
    if array.shape != (count,):
        raise InputError(f"{name} has shape {array.shape}, not ({count},): pass one value per row")
    return array


def _column_names(columns: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if columns is None:
        return tuple(f"column {j}" for j in range(count))
    if len(columns) != count:
        raise InputError(
            f"{len(columns)} names for {count} columns: pass one name per column, or pass the named columns as values="
        )
    return tuple(name_text(name) or f"column {j}" for j, name in enumerate(columns))
