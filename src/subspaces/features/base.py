"""The base class of feature maps, and checks of landmarks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import vstack
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from subspaces._core.arrays import Array, to_host
from subspaces._core.blocks import row_blocks
from subspaces._core.errors import InputError
from subspaces._core.validation import check_integer, check_option, check_range, check_rows
from subspaces.spectral.landmarks import choose_landmarks
from subspaces.spectral.spectrum import Psi


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base class of feature maps: psi(x) = (f(x, y_1), ..., f(x, y_D)) / sqrt(D) for drawn points y_1, ..., y_D.

    Subclasses define `_draw`, which draws the points and returns D, and `_function`, which returns psi, including the
    factor 1 / sqrt(D), so that inner products of psi are means over the points and approximate the kernel.
    `CustomFeatures` is a simpler way to use a function and a measure of your own.

    Three properties describe psi to the estimators. The defaults are always correct; override them

    - `is_signed` with False if no feature is negative, as for Gaussians: degrees of rows are then positive, and no
      constant is added to the kernel;
    - `is_sparse` with True if psi is a CSR matrix without negative entries whose rows sum to one, instead of the factor
      1 / sqrt(D), as for the weights of nearest landmarks: the matrix is then kept in memory;
    - `in_threads` with True if several threads may call the function at the same time, as those of this library may.
    """

    n_components: int
    random_state: Any

    @property
    def is_signed(self) -> bool:
        """Whether features, and so the degree of a row, can be negative."""
        return True

    @property
    def is_sparse(self) -> bool:
        """Whether psi is a CSR matrix with nonnegative entries and rows that sum to one."""
        return False

    @property
    def in_threads(self) -> bool:
        """Whether several threads may compute features at the same time; not with functions of users."""
        return False

    @abstractmethod
    def _draw(self, x: Array, rng: np.random.RandomState) -> int:
        """Check parameters, draw and store the points y, and return the number of features."""

    @abstractmethod
    def _function(self) -> Callable[[Array], Psi]:
        """psi as a function of a block of rows (b, p); precomputes what depends on the drawn points alone."""

    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Draw the points y_1, ..., y_D. `X` (n, p) gives the number of columns and, for some measures, the points.

        A fit that fails leaves the map as it was before.
        """
        fitted = copy(self)
        x = check_rows(fitted, X, reset=True)
        check_integer("n_components", self.n_components, low=1)
        fitted._n_features_out = fitted._draw(x, check_random_state(self.random_state))
        self.__dict__ = fitted.__dict__
        return self

    def transform(self, X: ArrayLike) -> Psi:
        """psi of rows (n, p): (n, D), a CSR matrix if only the nearest landmarks are kept."""
        check_is_fitted(self)
        return stack(list(self.blocks(check_rows(self, X, reset=False))))

    def blocks(self, x: Array, *, block_rows: int | None = None) -> Iterator[Psi]:
        """psi of checked rows (n, p), one block of rows after another."""
        function = self._function()
        for rows in self.slices(x, block_rows=block_rows):
            yield function(to_host(x[rows, :]))

    def described_blocks(self, x: Array, *, block_rows: int | None = None) -> Iterator[tuple[Psi, Array | None]]:
        """psi of each block and, if the map has landmarks, the distances (b,) of its rows to the nearest."""
        return ((psi, None) for psi in self.blocks(x, block_rows=block_rows))

    def slices(self, x: Array, *, block_rows: int | None = None) -> Iterator[slice]:
        """The rows of each block."""
        return row_blocks(x.shape[0], self._row_bytes(x), block_rows=block_rows)

    def _row_bytes(self, x: Array) -> int:
        return 16 * self._n_features_out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def stack(blocks: Sequence[Psi]) -> Psi:
    """Concatenate blocks of psi, dense or sparse."""
    return np.concatenate(blocks) if isinstance(blocks[0], np.ndarray) else vstack(blocks, format="csr")


def draw_landmarks(
    x: Array, landmarks: str | ArrayLike, count: int, rng: np.random.RandomState, *, distinct: bool = False
) -> Array:
    """Landmark points (D, p) for rows `x` (n, p): chosen by a named method, or given."""
    chosen = check_landmark_choice(landmarks, x)
    if not isinstance(chosen, str):
        return chosen
    return choose_landmarks(x, count, method=chosen, rng=rng, distinct=distinct)


def check_landmark_choice(landmarks: str | ArrayLike, x: Array) -> str | Array:
    """Check the parameter `landmarks`: the name of a method, or points for rows `x` (n, p)."""
    if not isinstance(landmarks, str):
        return check_landmarks(landmarks, x)
    check_option("landmarks", landmarks, ("kmeans", "random"))
    return landmarks


def check_landmarks(landmarks: ArrayLike, x: Array) -> Array:
    """Check landmark points (D, p) for rows `x` (n, p); returns them in the dtype of `x`."""
    try:
        points = np.array(landmarks, x.dtype)
    except (TypeError, ValueError) as error:
        raise InputError(f'landmarks must be "kmeans", "random" or an array of numbers: {error}.') from None
    if points.ndim != 2 or points.shape[1] != x.shape[1] or not len(points) or not np.isfinite(points).all():
        raise InputError(
            f"landmarks of shape {points.shape} must be finite, with shape (D, {x.shape[1]}) and D >= 1: "
            f"one row per landmark point, with the columns of X."
        )
    check_range(points)
    return points
