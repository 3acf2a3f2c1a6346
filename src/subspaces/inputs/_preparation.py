"""What may be done to rows before they are clustered: standardising, principal components, faces without their light."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin


class Preparation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows standardised, projected on principal components, or without the leading ones."""

    def __init__(self, *, standardise: bool = False, pca: int | None = None, whiten_drop: int = 0) -> None:
        self.standardise = standardise
        self.pca = pca
        self.whiten_drop = whiten_drop

    def fit(self, X: Any, y: None = None) -> Self:
        """Learn from rows (n, p)."""
        raise NotImplementedError

    def transform(self, X: Any) -> Any:
        """Prepared rows (n, q)."""
        raise NotImplementedError
