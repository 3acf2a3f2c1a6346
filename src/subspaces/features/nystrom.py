"""Nystrom features: whitened columns of a kernel matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from subspaces._core.arrays import Array
from subspaces._core.errors import InputError
from subspaces.features import exact
from subspaces.features.bandwidth import choose_sigma, known_sigma
from subspaces.features.base import FeatureMap, draw_landmarks


class NystromFeatures(FeatureMap):
    """Columns of a kernel matrix at landmark points, whitened so that inner products reproduce the kernel.

    psi(x) = K_mm^(-1/2) k_m(x): exact on the landmarks, and everywhere if they span the data.

    Parameters
    ----------
    n_components : int, default=1000
        Number D of landmarks; at most n are used.
    kernel : {"gaussian", "laplacian", "matern"} or callable, default="gaussian"
        A callable takes two arrays of rows and returns the matrix of their kernel values.
    sigma : float or "auto", default=1.0
        Length scale of a named kernel. "auto" estimates it from the distances between neighbouring rows.
    nu : float, default=1.5
        Smoothness of the Matern kernel.
    landmarks : {"random", "kmeans"} or array-like of shape (D, p), default="random"
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    landmarks_ : ndarray of shape (D, p)
    whitening_ : ndarray of shape (D, D)
    sigma_ : float

    References
    ----------
    Williams, C. and Seeger, M. (2001). Using the Nystrom method to speed up kernel machines. NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from subspaces.kernels import NystromFeatures
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> psi = NystromFeatures(30, random_state=0).fit_transform(X)
    >>> bool(np.allclose(np.diag(psi @ psi.T), 1))
    True
    """

    def __init__(
        self,
        n_components: int = 1000,
        *,
        kernel: str | Callable[[Array, Array], Array] = "gaussian",
        sigma: float | str = 1.0,
        nu: float = 1.5,
        landmarks: str | ArrayLike = "random",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.sigma = sigma
        self.nu = nu
        self.landmarks = landmarks
        self.random_state = random_state

    def _draw(self, x: Array, rng: np.random.RandomState) -> int:
        self.sigma_ = choose_sigma(self.sigma, x, rng, kernel=self.kernel)
        self.landmarks_ = draw_landmarks(x, self.landmarks, self.n_components, rng)
        values, vectors = np.linalg.eigh(self._columns(self.landmarks_))
        # Directions in the null space of the kernel matrix are dropped instead of divided by zero.
        floor = max(len(values) * np.finfo(np.float64).eps * values[-1], np.finfo(np.float64).tiny)
        scale = np.where(values > floor, 1 / np.sqrt(np.maximum(values, floor)), 0)
        self.whitening_ = (vectors * scale) @ vectors.T
        return len(self.landmarks_)

    def _function(self) -> Callable[[Array], Array]:
        return self._whitened

    def _whitened(self, x: Array) -> Array:
        return (self._columns(x) @ self.whitening_).astype(x.dtype, copy=False)

    def _columns(self, x: Array) -> Array:
        columns = np.asarray(self.exact_kernel(x, self.landmarks_), np.float64)
        shape = (len(x), len(self.landmarks_))
        if columns.shape != shape or not np.isfinite(columns).all():
            raise InputError(f"kernel(X, Y) returned shape {columns.shape}: it must return finite values, {shape}.")
        return columns

    def exact_kernel(self, X: Array, Y: Array) -> Array:
        """The exact kernel: (n, m)."""
        if callable(self.kernel):
            return self.kernel(X, Y)
        return exact.named_kernel(self.kernel, X, Y, sigma=known_sigma(self), nu=self.nu)
