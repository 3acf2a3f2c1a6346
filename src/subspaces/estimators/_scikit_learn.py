"""Base classes of scikit-learn with types: it has none, so that type checkers would accept any attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    Method = TypeVar("Method", bound=Callable[..., Any])

    class BaseEstimator:
        """Parameters by name."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClusterMixin:
        """Labels of the rows of a fit."""

        def fit_predict(self, X: Any, y: None = None, **kwargs: Any) -> Any: ...

    class TransformerMixin:
        """Coordinates of the rows of a fit."""

        def fit_transform(self, X: Any, y: None = None, **fit_params: Any) -> Any: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...

    class ClassNamePrefixFeaturesOutMixin:
        """Names of the columns of `transform`."""

        def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]: ...

    def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]: ...
else:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
    from sklearn.utils.metaestimators import available_if

__all__ = ["BaseEstimator", "ClassNamePrefixFeaturesOutMixin", "ClusterMixin", "TransformerMixin", "available_if"]
