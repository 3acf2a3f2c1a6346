"""Base classes: `predict` on rows from anywhere, `save`, and the one place that assigns fitted attributes."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from subspaces._core import progress
from subspaces._core.arrays import Array, Labels, to_host
from subspaces._core.errors import InputError, UserTypeError
from subspaces._core.threads import limited
from subspaces._core.validation import check_integer, is_auto
from subspaces.estimators import _states
from subspaces.estimators._scikit_learn import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    available_if,
)
from subspaces.estimators._score import ClusterCode, Scorer, fit_code
from subspaces.rows import Preparation
from subspaces.rows.feed import Feed, Rows, open_new_rows
from subspaces.rows.preparation import column_variances
from subspaces.rows.unusual import warn_of_scale
from subspaces.saving import State, save
from subspaces.saving.fields import Integer, Names, Optional, Sizes, Text, fields_of, require
from subspaces.saving.parameters import Parameters

# Attributes about the columns of rows.
COLUMNS = ("n_features_in_", "feature_names_in_")
COLUMN_NAMES = Optional(Names("columns"))
# Containers that `set_output` of scikit-learn knows.
OUTPUTS = ("default", "pandas", "polars")
# Fitted attributes about single rows of the fit; there are none if only a sample of the rows was in memory.
PER_ROW = ("outlier_scores_", "confidence_")


class Clusterer(ClusterMixin, BaseEstimator):
    """Base of all estimators: a fit makes a frozen `_model`, which labels rows wherever they are.

    A subclass defines `fit`, which ends with `_keep`.
    """

    n_clusters: Any
    random_state: Any
    n_jobs: int | None
    verbose: int
    labels_: Any
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    _model: Any
    _sklearn_output_config: dict[str, str]
    # How `score` encodes rows; models that were saved by earlier versions have none.
    _code: ClusterCode | None = None
    # Applied to all rows before the model; only models that were saved with one have it.
    _table_preparation: Preparation | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def predict(self, X: Rows) -> Labels:
        """Cluster of each row, of the fit or new.

        Parameters
        ----------
        X : array-like of shape (n, p), or anything that `subspaces.open_rows` takes

        Returns
        -------
        labels : array of shape (n,)
        """
        check_is_fitted(self)
        return open_new_rows(self, X).label(self._model.labels)

    def score(self, X: Rows, y: None = None) -> float:
        """How well the clusters of the fit describe rows, new ones or those of the fit; larger is better.

        It is minus the length of a description in nats per row: each row is encoded by a Gaussian around the flat of
        its cluster, or by a background for outliers if that is shorter; the flats cost nats too, shared by the rows of
        the fit, so that more clusters must pay for themselves. Use it in a grid search over `n_clusters` or other
        parameters if clusters are flat or blobs. Scores of different models are comparable if they were fitted to the
        same rows and score the same rows. Shuffle folds if rows are sorted by cluster. One flat does not describe a
        curved cluster well, so that the number of such clusters is often wrong: use `FLS("auto")` for these.

        Parameters
        ----------
        X : array-like of shape (n, p), or anything that `subspaces.open_rows` takes
        y : ignored

        Returns
        -------
        score : float
        """
        check_is_fitted(self)
        if self._code is None:
            raise InputError("this model was saved without the code of its clusters: fit it again.")
        count, nats = open_new_rows(self, X).sum(Scorer(self._model, self._code).sums, "score")
        return -float(nats) / float(count)

    def save(
        self, path: str | PathLike[str], *, overwrite: bool = False, preparation: Preparation | None = None
    ) -> Path:
        """Write the fitted model to the file `path`, for `subspaces.load`.

        Parameters
        ----------
        path : path
        overwrite : bool, default=False
            Whether an existing file is replaced.
        preparation : Preparation, optional
            The fitted preparation whose rows this model was fitted to. The loaded model applies it, so it takes rows as
            they were before: `n_features_in_` and `feature_names_in_` are those of the original columns.

        Returns
        -------
        path : Path
        """
        return save(self if preparation is None else with_preparation(self, preparation), path, overwrite=overwrite)

    def to_state(self) -> State:
        """What `save` writes: a mapping of documented names to arrays, numbers and text."""
        check_is_fitted(self)
        preparation = self._table_preparation
        output = vars(self).get("_sklearn_output_config", {}).get("transform", "default")
        return {
            "parameters": Parameters(type(self)).encode(self, type(self).__name__),
            "n_columns": self.n_features_in_,
            "column_names": COLUMN_NAMES.encode(vars(self).get("feature_names_in_"), "column_names"),
            "output": output,
            "table_preparation": None if preparation is None else preparation.to_state(),
            **_states.to_state(self),
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The fitted estimator that a state describes, with every value checked; used by `subspaces.load`."""
        names = ("parameters", "n_columns", "column_names", "output", "table_preparation", "fitted", "model")
        parameters, n_columns, column_names, output, prepared, *_ = fields_of(state, names, "the model")
        sizes = Sizes()
        found = cls(**Parameters(cls).decode(parameters, "parameters", sizes))
        count = Integer(low=1, size="columns").decode(n_columns, "n_columns", sizes)
        given = COLUMN_NAMES.decode(column_names, "column_names", sizes)
        if Text(OUTPUTS).decode(output, "output", sizes) != "default":
            found._sklearn_output_config = {"transform": output}
        fitted: dict[str, Any] = {"n_features_in_": count}
        if given is not None:
            fitted["feature_names_in_"] = given
        if prepared is not None:
            preparation = fitted["_table_preparation"] = Preparation.from_state(prepared)
            require(preparation.n_features_in_ == count, "its preparation has another number of columns")
            count = preparation.n_columns_out
        found.__dict__.update(fitted, **_states.from_state(cls.__name__, state, count, found.n_clusters))
        if prepared is not None:
            _states.check_works(found._model, found._code, preparation.prepared(np.zeros((1, found.n_features_in_))))
        return found

    @contextlib.contextmanager
    def _working(self) -> Iterator[None]:
        """The context of a fit: progress is shown and threads are limited as the parameters say."""
        with progress.shown(self.verbose), limited(self.n_jobs):
            yield

    def _fitted(self, feed: Feed, model: Any, labels: Labels, **fitted: Any) -> dict[str, Any]:
        """All fitted attributes: those given, the labels of all rows, and the columns.

        `labels` are those of `feed.rows`; if these are not the rows of the user, the model labels them.
        """
        if is_auto(getattr(self, "standardise", "auto")) and not fitted.get("standardise_"):
            names = None if feed.columns.names is None else list(feed.columns.names)
            variances = column_variances(to_host(feed.rows), feed.moments)
            warn_of_scale(variances, names, has_parameter=hasattr(self, "standardise"))
        by_model = feed.is_sampled or feed.copies is not None
        everyone = feed.label(model.labels) if by_model else feed.deliver(labels)
        code = fit_code(feed.rows, labels, int(fitted.get("n_clusters_", self.n_clusters)))
        fitted = {"n_features_in_": feed.columns.count, "labels_": everyone, "_model": model, "_code": code, **fitted}
        if feed.columns.names is not None:
            fitted["feature_names_in_"] = feed.columns.names
        per_row = {name: feed.original(fitted.pop(name)) for name in PER_ROW if name in fitted}
        return fitted | {name: values for name, values in per_row.items() if values is not None}

    def _keep(self, fitted: dict[str, Any]) -> Self:
        """Replace all fitted attributes at once; `fit` ends with this, so an interruption before changes nothing."""
        unchanged = {name: value for name, value in vars(self).items() if not _is_fitted_name(name)}
        self.__dict__ = {**unchanged, **fitted}
        return self


def with_preparation(model: Any, preparation: Preparation) -> Any:
    """A copy of a fitted model that applies a fitted preparation to all rows first."""
    if not isinstance(preparation, Preparation):
        raise UserTypeError(f"preparation={preparation!r} must be a Preparation.", parameter="preparation")
    check_is_fitted(model)
    check_is_fitted(preparation)
    if model._table_preparation is not None:
        raise InputError("preparation: the model has one already.", parameter="preparation")
    if preparation.n_columns_out != model.n_features_in_:
        raise InputError(
            f"preparation: it makes rows of {preparation.n_columns_out} columns, and the model was fitted to "
            f"{model.n_features_in_}: give the preparation of these rows.",
            parameter="preparation",
        )
    copied = copy.copy(model)
    vars(copied).pop("feature_names_in_", None)
    columns = {name: vars(preparation)[name] for name in COLUMNS if name in vars(preparation)}
    copied.__dict__.update(columns, _table_preparation=preparation)
    return copied


class EmbeddingClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):
    """Base of estimators whose model also maps rows to a few coordinates."""

    _n_features_out: int

    @property
    def _uses_all_columns(self) -> bool:
        """Whether rows of many columns are worked on, and copied, as they are: a sample of them is smaller."""
        return getattr(self, "max_columns", None) is None

    def transform(self, X: Rows) -> Array:
        """Coordinates of each row: the spectral embedding, or the distances to the flats of clusters.

        Parameters
        ----------
        X : array-like of shape (n, p), or anything that `subspaces.open_rows` takes

        Returns
        -------
        coordinates : array of shape (n, q)
        """
        check_is_fitted(self)
        return open_new_rows(self, X).map(self._model.embedding)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class SpectralClusterer(EmbeddingClusterer):
    """Base of estimators that cut the embedding of a feature map."""

    n_components: int | str
    eigenvalues_: NDArray[np.float64]
    n_components_: int


def _has_shares(estimator: Any) -> bool:
    """Whether rows have shares in clusters; unknown before the fit."""
    model = vars(estimator).get("_model")
    return model is None or model.has_shares


class ShareClusterer(SpectralClusterer):
    """Base of estimators whose rows have shares in clusters."""

    @available_if(_has_shares)
    def predict_proba(self, X: Rows) -> Array:
        """Share of each cluster in each row, of the fit or new.

        It is the share of the landmarks near a row that belong to a cluster, averaged over sets of landmarks if there
        are several; if clusters are whole flats, the probability of each of them. The label is nearly always the
        cluster with the largest share. Shares are not calibrated: they order rows by how sure their labels are. Not
        available with n_nearest=None.

        Parameters
        ----------
        X : array-like of shape (n, p), or anything that `subspaces.open_rows` takes

        Returns
        -------
        shares : array of shape (n, K)
            The rows sum to one.
        """
        check_is_fitted(self)
        return open_new_rows(self, X).map(self._model.shares)

    @available_if(_has_shares)
    def confidence(self, X: Rows) -> Array:
        """Share of its own cluster in each row of `X` (n, p), of the fit or new: (n,), from 0 to 1.

        For rows of the fit, `confidence_` also compares halves of the landmarks.
        """
        check_is_fitted(self)
        return open_new_rows(self, X).map(self._model.confidence)


def check_n_components(value: Any) -> None:
    """A positive number of eigenvectors, or "auto"."""
    if not is_auto(value):
        check_integer("n_components", value, low=1)


def _is_fitted_name(name: str) -> bool:
    """Whether an attribute is the result of a fit."""
    return name in ("_model", "_code", "_n_features_out", "_table_preparation", "_pending_verdict") or (
        name.endswith("_") and not name.startswith("_")
    )
