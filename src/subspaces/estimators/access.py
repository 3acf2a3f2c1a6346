"""Parts of a fitted estimator: its feature map, its rows as that map receives them, the preparation saved with it.

Reports, the theory and the command line use these functions, so that the layout of a fitted model stays private to this
room.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from subspaces._core.arrays import Array, concatenate
from subspaces._core.validation import check_rows
from subspaces.estimators._base import SpectralClusterer, with_preparation
from subspaces.estimators._models import SpectralModel
from subspaces.features import FeatureMap
from subspaces.rows import Preparation
from subspaces.spectral.spectrum import embed


def feature_map(model: Any) -> FeatureMap | None:
    """The fitted feature map of a spectral estimator such as `FLS`; None for other models."""
    if not isinstance(model, SpectralClusterer):
        return None
    check_is_fitted(model)
    spectral: SpectralModel = getattr(model._model, "spectral", model._model)
    return spectral.features


def prepared_rows(model: Any, X: Any) -> Array:
    """Rows (n, q) as the feature map of `model` receives them: checked, centred, projected and scaled."""
    rows = check_rows(model, X, reset=False)
    if model._table_preparation is not None:
        rows = model._table_preparation.prepared(rows)
    return model._model.preparation(rows)


def eigenvector_coordinates(model: Any, X: Any, count: int) -> Array | None:
    """Rows (n, p) on at most `count` eigenvectors of a spectral estimator: (n, c), lengths of rows not scaled.

    These may be more than the coordinates that `transform` returns. None for other models.
    """
    if not isinstance(model, SpectralClusterer):
        return None
    rows = prepared_rows(model, X)
    spectral: SpectralModel = getattr(model._model, "spectral", model._model)
    return concatenate([embed(psi, spectral.spectrum, count) for psi in spectral.psi_blocks(rows)])


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A fitted model for prepared rows without names, the preparation saved with it, and the names of its columns."""

    model: Any
    preparation: Preparation | None
    column_names: tuple[str, ...] | None


def unwrap(model: Any) -> Unwrapped:
    """Separate a fitted model from its preparation and the names of its columns; the model itself is not changed."""
    bare, preparation = copy.copy(model), model._table_preparation
    names = vars(bare).pop("feature_names_in_", None)
    if preparation is not None:
        del bare._table_preparation
        bare.n_features_in_ = preparation.n_columns_out
    return Unwrapped(bare, preparation, None if names is None else tuple(names))


def wrap(model: Any, preparation: Preparation | None, column_names: Sequence[str] | None) -> Any:
    """A copy of a fitted model that applies a preparation first, and whose columns before it have these names."""
    wrapped = copy.copy(model) if preparation is None else with_preparation(model, preparation)
    if column_names is not None:
        wrapped.feature_names_in_ = np.array(column_names, object)
    return wrapped
