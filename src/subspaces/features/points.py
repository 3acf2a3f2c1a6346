"""Gaussian features at landmark points (Example II)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from subspaces._core.arrays import Array
from subspaces.features.base import draw_landmarks
from subspaces.features.distance import DistanceFeatures
from subspaces.flats.flats import Flats


class LandmarkFeatures(DistanceFeatures):
    """Gaussian functions at landmark points of the data (Example II): f(x, y) = exp(-|x - y|^2 / (2 sigma^2)).

    Use it if clusters are curved but locally dense. The constant factor of the paper is omitted, because it cancels in
    every use.

    Parameters
    ----------
    n_components : int, default=1000
        Number D of landmarks; at most n are used.
    sigma : float or "auto", default="auto"
        Width of the Gaussians. "auto" is a width per row with `n_nearest`, and otherwise the typical distance to the
        fifth nearest landmark.
    n_nearest : int or None, default=None
        Keep only this many nearest landmarks of each row, with weights that sum to one. None keeps all.
    landmarks : {"kmeans", "random"} or array-like of shape (D, p), default="kmeans"
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    landmarks_ : ndarray of shape (D, p)
    sigma_ : float
        The width; if each row has its own, their median.
    sigma_per_row_ : bool
        Whether each row has its own width.
    n_nearest_ : int or None

    References
    ----------
    Chen, X. and Cai, D. (2011). Large scale spectral clustering with landmark-based representation. AAAI.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from subspaces.kernels import LandmarkFeatures
    >>> X, _ = make_blobs(100, random_state=0)
    >>> LandmarkFeatures(20, n_nearest=5, random_state=0).fit_transform(X).shape
    (100, 20)
    """

    def __init__(
        self,
        n_components: int = 1000,
        *,
        sigma: float | str = "auto",
        n_nearest: int | None = None,
        landmarks: str | ArrayLike = "kmeans",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.sigma = sigma
        self.n_nearest = n_nearest
        self.landmarks = landmarks
        self.random_state = random_state

    def _draw(self, x: Array, rng: np.random.RandomState) -> int:
        # Copies of a landmark would be the nearest of each other, and cut each row from the others.
        self.landmarks_ = draw_landmarks(x, self.landmarks, self.n_components, rng, distinct=True)
        self._fit_weights(x, len(self.landmarks_), rng)
        return len(self.landmarks_)

    @property
    def _landmark_flats(self) -> Flats:
        return Flats(self.landmarks_, np.empty((*self.landmarks_.shape, 0), self.landmarks_.dtype))

    def _width(self, sigma: float) -> float:
        return 2 * sigma**2
