"""Features of landmark flats, the map of FLS (Section 3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from subspaces._core.arrays import Array, Indices, within_mad
from subspaces._core.errors import InputError
from subspaces._core.validation import check_integer, check_option, check_positive
from subspaces.features import exact
from subspaces.features.base import draw_landmarks
from subspaces.features.distance import DistanceFeatures
from subspaces.features.thresholds import FLAT_DEVIATIONS
from subspaces.flats.distances import distance_row_bytes
from subspaces.flats.flats import Flats
from subspaces.flats.neighborhoods import Beta2, as_neighborhood, local_flats, rows_to_fit


class SubspaceFeatures(DistanceFeatures):
    """Gaussian functions of the distance to subspaces (Section 3): f(x, L) = exp(-dist(x, L)^2 / sigma^2).

    The feature map of FLS.

    Parameters
    ----------
    n_components : int, default=1000
        Number D of subspaces; at most n landmark flats are used.
    subspace_dim : int, default=3
        Dimension d of every subspace; landmark flats of dimension 0 are points.
    measure : {"landmarks", "uniform"}, default="landmarks"
        "landmarks": a flat fitted to the rows around each landmark point. "uniform": the uniform measure on the
        Grassmannian, which does not depend on the data (Lemma 3.1), for comparison and tests.
    sigma : float or "auto", default="auto"
        Width. "auto" is a width per row with `n_nearest`, and otherwise the typical distance to the fifth nearest flat.
    n_nearest : int or None, default=None
        Keep only this many nearest flats of each row, with weights that sum to one. None keeps all.
    landmarks : {"kmeans", "random"} or array-like of shape (D, p), default="kmeans"
    neighborhood : "beta2", Beta2 or int, default="beta2"
        Number of rows to which a flat is fitted. "beta2" chooses it at each landmark by beta2 numbers, a `Beta2` also
        sets the sizes to try.
    affine : bool, default=True
        Whether flats have centres, or pass through the origin.
    power : float, default=2
        The weight is exp(-(dist / sigma)^power).
    trim : bool or float, default=False
        Whether to drop flats that fit their own rows far worse than most do. A number also keeps those whose mean
        squared residual is at most that many times the median.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    flats_ : Flats
    landmarks_ : ndarray of shape (D, p), only with measure="landmarks"
        The points. Dropped flats are not in `flats_`, but their points are here.
    sigma_ : float
        The width; if each row has its own, their median.
    sigma_per_row_ : bool
        Whether each row has its own width.
    n_nearest_ : int or None

    Examples
    --------
    >>> from subspaces.datasets import make_subspaces
    >>> from subspaces.kernels import SubspaceFeatures
    >>> X, y = make_subspaces((2, 2), 6, random_state=0)
    >>> SubspaceFeatures(50, subspace_dim=2, random_state=0).fit(X).flats_.bases.shape
    (50, 6, 2)
    """

    def __init__(
        self,
        n_components: int = 1000,
        *,
        subspace_dim: int = 3,
        measure: str = "landmarks",
        sigma: float | str = "auto",
        n_nearest: int | None = None,
        landmarks: str | ArrayLike = "kmeans",
        neighborhood: str | Beta2 | int = "beta2",
        affine: bool = True,
        power: float = 2.0,
        trim: bool | float = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.subspace_dim = subspace_dim
        self.measure = measure
        self.sigma = sigma
        self.n_nearest = n_nearest
        self.landmarks = landmarks
        self.neighborhood = neighborhood
        self.affine = affine
        self.power = power
        self.trim = trim
        self.random_state = random_state

    def _draw(self, x: Array, rng: np.random.RandomState) -> int:
        check_option("measure", self.measure, ("landmarks", "uniform"))
        check_option("affine", self.affine, (True, False))
        check_positive("power", self.power)
        if not isinstance(self.trim, bool | np.bool_):
            check_positive("trim", self.trim, hint="give a number of medians, True or False")
        dim = check_integer(
            "subspace_dim",
            self.subspace_dim,
            low=0 if self.measure == "landmarks" else 1,
            high=x.shape[1] - 1,
            hint=f"X has n_features={x.shape[1]}, and a subspace must leave at least one direction out",
        )
        if self.measure == "uniform":
            self.flats_ = uniform_flats(self.n_components, x.shape[1], dim, rng, x.dtype)
        else:
            # Neighbourhoods of beta2 grow beyond copies of a row, others would be filled by them.
            distinct = x if isinstance(as_neighborhood(self.neighborhood), Beta2) else rows_to_fit(x, dim)
            self.landmarks_ = draw_landmarks(distinct, self.landmarks, self.n_components, rng)
            self.flats_ = self._fit_flats(distinct, dim)
        self._fit_weights(x, len(self.flats_), rng)
        return len(self.flats_)

    def _fit_flats(self, x: Array, dim: int) -> Flats:
        rule = as_neighborhood(self.neighborhood)
        flats, residuals = local_flats(x, self.landmarks_, dim, rule, affine=self.affine)
        if not self.trim:
            return flats
        usable = usable_flats(residuals, x, n_medians=0.0 if isinstance(self.trim, bool | np.bool_) else self.trim)
        return flats[usable] if len(usable) > (self.n_nearest or 0) else flats

    @property
    def _landmark_flats(self) -> Flats:
        return self.flats_

    def _width(self, sigma: float) -> float:
        return sigma**2

    def _row_bytes(self, x: Array) -> int:
        return distance_row_bytes(self.flats_, x.dtype)

    def exact_kernel(self, X: Array, Y: Array) -> Array:
        """The exact kernel (n, m) of the uniform measure; the landmark measure has no closed form."""
        check_option("measure", self.measure, ("uniform",))
        sigma = check_positive("sigma", self.sigma)
        if self.power != 2:
            raise InputError(f"power={self.power} has no known kernel: use 2.")
        return exact.uniform_subspace_kernel(X, Y, subspace_dim=self.subspace_dim, sigma=sigma)


def uniform_flats(count: int, ambient_dim: int, dim: int, rng: np.random.RandomState, dtype: np.dtype[Any]) -> Flats:
    """`count` linear subspaces drawn uniformly from the Grassmannian."""
    # The column space of a Gaussian matrix is uniform, by rotation invariance.
    bases = np.linalg.qr(rng.standard_normal((count, ambient_dim, dim)))[0]
    return Flats(np.zeros((count, ambient_dim), dtype), bases.astype(dtype))


def usable_flats(residuals: Array, x: Array, *, n_medians: float = 0.0) -> Indices:
    """Indices of flats whose mean squared residual (m,) is not an outlier, or at most `n_medians` times the median."""
    scale = float(np.einsum("np,np->", x, x, dtype=np.float64) / len(x))
    usual = within_mad(residuals, width=FLAT_DEVIATIONS, scale=scale)
    return np.flatnonzero(usual | (residuals <= n_medians * np.median(residuals)))
