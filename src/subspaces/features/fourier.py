"""Random Fourier features (Example I)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from subspaces._core.arrays import Array
from subspaces._core.blocks import row_blocks
from subspaces._core.errors import InputError
from subspaces._core.validation import check_option, check_positive
from subspaces.features import exact
from subspaces.features.bandwidth import choose_sigma, known_sigma
from subspaces.features.base import FeatureMap

# Frequencies that are drawn at once in double precision. Does not change results.
DRAW_BYTES = 2**20


class FourierFeatures(FeatureMap):
    """Random Fourier features: any shift-invariant kernel, given by the measure of its frequencies (Example I).

    Use it if the distance between rows separates the clusters.

    Parameters
    ----------
    n_components : int, default=1000
        Number D of features.
    kernel : {"gaussian", "laplacian", "matern"} or callable, default="gaussian"
        A callable `kernel(shape, rng)` returns frequencies of `shape` (p, D), drawn from a measure of its own.
    sigma : float or "auto", default=1.0
        Length scale of the kernel; with a callable, frequencies are divided by it. "auto" estimates it from the
        distances between neighbouring rows.
    nu : float, default=1.5
        Smoothness of the Matern kernel.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    frequencies_ : ndarray of shape (p, D)
    phases_ : ndarray of shape (D,)
    sigma_ : float

    References
    ----------
    Rahimi, A. and Recht, B. (2007). Random features for large-scale kernel machines. NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from subspaces.kernels import FourierFeatures
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> psi = FourierFeatures(20_000, random_state=0).fit_transform(X)
    >>> bool(abs(psi[0] @ psi[1] - np.exp(-0.5)) < 0.02)
    True
    """

    def __init__(
        self,
        n_components: int = 1000,
        *,
        kernel: str | Callable[[tuple[int, int], np.random.RandomState], Array] = "gaussian",
        sigma: float | str = 1.0,
        nu: float = 1.5,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.sigma = sigma
        self.nu = nu
        self.random_state = random_state

    def _draw(self, x: Array, rng: np.random.RandomState) -> int:
        self.sigma_ = choose_sigma(self.sigma, x, rng, kernel=self.kernel)
        shape = (x.shape[1], self.n_components)
        if callable(self.kernel):
            draws = np.asarray(self.kernel(shape, rng), np.float64)
            if draws.shape != shape:
                raise InputError(f"kernel(shape, rng) returned shape {draws.shape}: it must return {shape}.")
            self.frequencies_ = (self._finite(draws) / self.sigma_).astype(x.dtype)
        else:
            check_option("kernel", self.kernel, exact.NAMES)
            self.frequencies_ = self._named(shape, x.dtype, rng)
        self.phases_ = rng.uniform(0, 2 * np.pi, shape[1]).astype(x.dtype)
        return shape[1]

    def _named(self, shape: tuple[int, int], dtype: np.dtype[Any], rng: np.random.RandomState) -> Array:
        """Frequencies (p, D) of a named kernel, in blocks: all of them in double precision would take more memory."""
        draw = rng.standard_cauchy if self.kernel == "laplacian" else rng.standard_normal
        found, blocks = np.empty(shape, dtype), list(row_blocks(shape[0], 8 * shape[1], budget=DRAW_BYTES))
        for block in blocks:
            found[block] = draw((block.stop - block.start, shape[1])) / self.sigma_
        if self.kernel == "matern":
            freedom = 2 * check_positive("nu", self.nu)
            spread = np.sqrt(rng.chisquare(freedom, shape[1]) / freedom)
            for block in blocks:
                with np.errstate(divide="ignore", invalid="ignore"):
                    found[block] = self._finite(found[block] / spread)
        return found

    def _finite(self, draws: Array) -> Array:
        if not np.isfinite(draws).all():
            raise InputError(
                f"kernel={self.kernel!r} with nu={self.nu} drew frequencies that are not finite: raise nu."
            )
        return draws

    def _function(self) -> Callable[[Array], Array]:
        return self._waves

    def _waves(self, x: Array) -> Array:
        waves = x @ self.frequencies_.astype(x.dtype, copy=False)
        waves += self.phases_.astype(x.dtype, copy=False)
        np.cos(waves, out=waves)
        waves *= float(np.sqrt(2 / self._n_features_out))
        return waves

    def exact_kernel(self, X: Array, Y: Array) -> Array:
        """The exact kernel (n, m), if it is a named one."""
        return exact.named_kernel(self.kernel, X, Y, sigma=known_sigma(self), nu=self.nu)
