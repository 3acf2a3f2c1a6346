"""The feature map behind a fitted spectral estimator, and its rows as that map receives them.

Reports and the theory use these two functions, so that the layout of a fitted model stays private to this room.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from subspaces._core.arrays import Array
from subspaces._core.validation import check_rows
from subspaces.estimators._base import SpectralClusterer
from subspaces.estimators._models import SpectralModel
from subspaces.features import FeatureMap


def feature_map(model: Any) -> FeatureMap | None:
    """The fitted feature map of a spectral estimator such as `FLS`; None for other models."""
    if not isinstance(model, SpectralClusterer):
        return None
    check_is_fitted(model)
    spectral: SpectralModel = getattr(model._model, "spectral", model._model)
    return spectral.features


def prepared_rows(model: Any, X: Any) -> Array:
    """Rows (n, q) as the feature map of `model` receives them: checked, centred, projected and scaled."""
    return model._model.preparation(check_rows(model, X, reset=False))
