"""The preparation that a user may choose: standardise columns, project on principal components, drop leading ones.

The centring and projection that estimators do by themselves is in `preparation.py`.
"""

from __future__ import annotations

import copy
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from subspaces._core.arrays import Array, like
from subspaces._core.errors import InputError
from subspaces._core.validation import check_columns, check_integer, check_option, check_rows
from subspaces.rows.column_sums import check_room, column_sums, is_wide, principal_components
from subspaces.rows.frames import numeric_columns
from subspaces.rows.open import is_source, open_rows
from subspaces.rows.source import MappedRows, RowSource
from subspaces.saving import State, save
from subspaces.saving.fields import Array as ArrayField
from subspaces.saving.fields import Flag, Integer, Names, Optional, Record, Sizes


class Preparation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Standardise rows, project them on principal components, and drop leading components, in this order.

    Arrays are transformed to arrays; a `RowSource`, or the path of a file, to a `RowSource` whose blocks are prepared
    when they are read, so that rows may be larger than memory.

    Parameters
    ----------
    standardise : bool, default=False
        Whether each column is shifted to mean 0 and scaled to standard deviation 1. Constant columns become 0.
    pca : int, optional
        Number of leading principal components to project on, at most the number of rows and of columns.
    whiten_drop : int, default=0
        Number of leading components to drop from these, or from all if `pca` is not given. The literature on faces
        calls it whitening: their two leading components are the direction of the light. `load_yaleb` uses
        `Preparation(pca=80, whiten_drop=2)`. The remaining components are not scaled.

    Attributes
    ----------
    mean_ : ndarray of shape (p,)
        Means of the columns.
    scale_ : ndarray of shape (p,) or None
        Divisors of the columns; infinite for constant ones.
    components_ : ndarray of shape (q, p) or None
        Principal directions on which (standardised) rows are projected; the largest entry of each is positive.
    explained_variance_ratio_ : ndarray of shape (q,) or None
        Share of the variance along each.
    n_samples_ : int
        Number of rows in fit.

    Examples
    --------
    >>> import numpy as np
    >>> Preparation(standardise=True).fit_transform(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    def __init__(self, *, standardise: bool = False, pca: int | None = None, whiten_drop: int = 0) -> None:
        self.standardise = standardise
        self.pca = pca
        self.whiten_drop = whiten_drop

    def fit(self, X: Any, y: None = None) -> Self:
        """Learn means, scales and directions from rows `X` (n, p): an array, a `RowSource` or a path."""
        # Everything is learned by a copy, so that a fit that fails leaves the one before as it was.
        learned = copy.copy(self)
        learned._learn(X)
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(learned.__dict__)
        return self

    def _learn(self, X: Any) -> None:
        drop = self.check_parameters().whiten_drop
        lazy = _is_lazy(X)
        source = self._source(X, reset=True) if lazy else open_rows(check_rows(self, numeric_columns(X), reset=True))
        if self._projects and lazy:
            check_room(source)
        found = column_sums(source, products=self._projects and not is_wide(source))
        self.n_samples_, self.mean_ = found.n_rows, found.mean
        self.scale_ = found.scales(source.dtype) if self.standardise else None
        self.components_ = self.explained_variance_ratio_ = None
        if self._projects:
            count = self.count_columns(found.n_rows, self.n_features_in_) + drop
            directions, shares = principal_components(source, found, self.scale_, count)
            self.components_, self.explained_variance_ratio_ = directions[drop:], shares[drop:]

    def check_parameters(self) -> Self:
        """Refuse parameters that cannot be valid for any rows; `fit` calls it, too."""
        check_option("standardise", self.standardise, (True, False))
        drop = check_integer("whiten_drop", self.whiten_drop, low=0, hint="0 keeps all components")
        if self.pca is not None:
            check_integer("pca", self.pca, low=drop + 1, hint=f"whiten_drop={drop} of them are left out")
        return self

    def count_columns(self, n_rows: int, n_columns: int) -> int:
        """The number q of columns of prepared rows (n, p); a ValueError if the rows are too few for the parameters.

        >>> Preparation(whiten_drop=2).count_columns(100, 10)
        8
        """
        if not self._projects:
            return n_columns
        most, hint = min(n_rows, n_columns), f"X has n_samples={n_rows} and n_features={n_columns}"
        if self.pca is not None:
            return check_integer("pca", self.pca, low=1, high=most, hint=hint) - self.whiten_drop
        return most - check_integer("whiten_drop", self.whiten_drop, low=0, high=most - 1, hint=hint)

    def transform(self, X: Any) -> Any:
        """Prepared rows (n, q): an array of the dtype of `X`, or a `RowSource` if `X` is one or a path."""
        check_is_fitted(self)
        if not _is_lazy(X):
            return self.prepared(check_rows(self, numeric_columns(X), reset=False))
        source = self._source(X, reset=False)
        names = tuple(self.get_feature_names_out(source.column_names)) if source.column_names else None
        return MappedRows(source, self.prepared, self.n_columns_out, names)

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Undo the preparation of rows `X` (n, q), except for the components that were dropped: (n, p)."""
        check_is_fitted(self)
        rows = np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != self.n_columns_out:
            raise InputError(f"X has shape {rows.shape}: prepared rows have {self.n_columns_out} columns.")
        if self.components_ is not None:
            rows = rows @ self.components_.astype(rows.dtype)
        if self.scale_ is not None:
            rows = rows * np.where(np.isinf(self.scale_), 0, self.scale_).astype(rows.dtype)
        return rows if self._is_idle else rows + self.mean_.astype(rows.dtype)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names (q,): those of the columns, or "component 1" and so on, without the dropped ones."""
        check_is_fitted(self)
        if self.components_ is None:
            return OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        first = self.whiten_drop + 1
        return np.asarray([f"component {i}" for i in range(first, first + self.n_columns_out)], object)

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the fitted preparation to the file `path`, for `subspaces.load`; see `subspaces.saving.save`.

        To save it with the model that was fitted to its rows, use `model.save(path, preparation=...)`.
        """
        return save(self, path, overwrite=overwrite)

    def to_state(self) -> State:
        """What `save` writes: a mapping of documented names to arrays, numbers and text."""
        check_is_fitted(self)
        return STATE.encode(self, type(self).__name__)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The fitted preparation that a state describes, with every value checked; used by `subspaces.load`."""
        return STATE.decode(state, "the preparation", Sizes())

    @property
    def _projects(self) -> bool:
        return self.pca is not None or self.whiten_drop > 0

    @property
    def n_columns_out(self) -> int:
        """Number q of columns of prepared rows."""
        return int(self.n_features_in_ if self.components_ is None else len(self.components_))

    @property
    def _is_idle(self) -> bool:
        return self.scale_ is None and self.components_ is None

    def _source(self, X: Any, *, reset: bool) -> RowSource:
        source = open_rows(X)
        check_columns(self, source.n_columns, source.column_names, reset=reset)
        return source

    def prepared(self, x: Array) -> Array:
        """Prepared rows (b, q) of a block (b, p), in its array library and dtype."""
        if self._is_idle:
            return x
        rows = x - like(self.mean_, x)
        if self.scale_ is not None:
            rows = rows / like(self.scale_, x)
        return rows if self.components_ is None else rows @ like(self.components_.T, x)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags


def _fitted(standardise: bool, pca: int | None, whiten_drop: int, **fitted: Any) -> Preparation:
    """A fitted preparation."""
    made = Preparation(standardise=standardise, pca=pca, whiten_drop=whiten_drop)
    if fitted["feature_names_in_"] is None:
        del fitted["feature_names_in_"]
    made.__dict__.update(fitted)
    return made


# Rows are divided by scales.
LEAST = float(np.finfo(np.float64).tiny)
STATE = Record(
    _fitted,
    {
        "standardise": Flag(),
        "pca": Optional(Integer(low=1)),
        "whiten_drop": Integer(),
        "n_rows": Integer(),
        "n_columns": Integer(low=1, size="columns"),
        "column_names": Optional(Names("columns")),
        "mean": ArrayField("columns"),
        "scale": Optional(ArrayField("columns", finite=False, low=LEAST)),
        "components": Optional(ArrayField("components", "columns")),
        "explained_variance_ratio": Optional(ArrayField("components")),
    },
    attributes={
        "n_rows": "n_samples_",
        "n_columns": "n_features_in_",
        "column_names": "feature_names_in_",
        "mean": "mean_",
        "scale": "scale_",
        "components": "components_",
        "explained_variance_ratio": "explained_variance_ratio_",
    },
)


def _is_lazy(X: Any) -> bool:
    """Whether rows are read in blocks; scikit-learn takes memory maps as arrays."""
    return is_source(X) and not isinstance(X, np.memmap)
