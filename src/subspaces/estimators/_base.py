"""Base classes: `predict` on rows from anywhere, `save`, and the one place that assigns fitted attributes."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from subspaces._core.arrays import Array, Labels
from subspaces._core.validation import check_integer, is_auto
from subspaces.rows.feed import Feed, Rows, open_new_rows
from subspaces.saving import save

# Fitted attributes about single rows of the fit; there are none if only a sample of the rows was in memory.
PER_ROW = ("outlier_scores_", "confidence_")


class Clusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all estimators: a fit makes a frozen `_model`, which labels rows wherever they are.

    A subclass defines `_check_parameters(x)`, which raises if its parameters do not suit rows of the shape and dtype of
    `x`, and `fit`, which ends with `_keep`.
    """

    labels_: Any
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    _model: Any

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

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the fitted model to the file `path`, for `subspaces.load`; see `subspaces.saving.save`."""
        return save(self, path, overwrite=overwrite)

    def _check_parameters(self, x: Array) -> None:
        raise NotImplementedError

    def _fitted(self, feed: Feed, model: Any, labels: Labels, **fitted: Any) -> dict[str, Any]:
        """All fitted attributes: those given, the labels of all rows, and the columns.

        `labels` are those of `feed.rows`; if there are more rows, the model labels them.
        """
        everyone = feed.label(model.labels) if feed.is_sampled else feed.deliver(labels)
        fitted = {"n_features_in_": feed.columns.count, "labels_": everyone, "_model": model, **fitted}
        if feed.columns.names is not None:
            fitted["feature_names_in_"] = feed.columns.names
        if feed.is_sampled:
            fitted = {name: value for name, value in fitted.items() if name not in PER_ROW}
        return fitted

    def _keep(self, fitted: dict[str, Any]) -> Self:
        """Replace all fitted attributes at once; `fit` ends with this, so an interruption before changes nothing."""
        unchanged = {name: value for name, value in vars(self).items() if not _is_fitted_name(name)}
        self.__dict__ = {**unchanged, **fitted}
        return self


class EmbeddingClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):  # type: ignore[misc]
    """Base of estimators whose model also maps rows to a few coordinates."""

    _n_features_out: int

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

    n_clusters: Any
    n_components: int | str
    eigenvalues_: NDArray[np.float64]
    n_components_: int

    def score(self, X: Rows, y: None = None) -> float:
        """Modularity of the predicted labels on the graph of the kernel; no true labels are needed.

        For landmarks the graph is that between rows and landmarks. Larger is better. Values for different landmarks are
        comparable, for example in a grid search; a narrower kernel or a smaller `n_nearest` raises the score by itself.
        """
        check_is_fitted(self)
        return self._model.modularity(*open_new_rows(self, X).sum(self._model.modularity_sums, "score"))


def check_n_components(value: Any) -> None:
    """A positive number of eigenvectors, or "auto"."""
    if not is_auto(value):
        check_integer("n_components", value, low=1)


def _is_fitted_name(name: str) -> bool:
    """Whether an attribute is the result of a fit."""
    return name in ("_model", "_n_features_out") or (name.endswith("_") and not name.startswith("_"))
