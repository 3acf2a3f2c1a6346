"""Feature maps: a function f(x, y) and a measure that y is drawn from.

D draws give psi(x) = (f(x, y_1), ..., f(x, y_D)) / sqrt(D), whose inner products approximate the kernel
k(x1, x2) = E f(x1, y) f(x2, y) (Wang and Lerman, Section 2). Every map is a transformer: `fit` draws, `transform`
maps. They differ in f and in the measure:

=====================  ==================================  =====================================================
`FourierFeatures`      sqrt(2) cos(w.x + t)                frequencies w of a shift-invariant kernel
`LandmarkFeatures`     exp(-|x - y|^2 / (2 sigma^2))       the data
`SubspaceFeatures`     exp(-dist(x, L)^2 / sigma^2)        local best-fit flats of the data, or all subspaces alike
`NystromFeatures`      whitened columns of a kernel        the data
`CustomFeatures`       yours                               yours
=====================  ==================================  =====================================================
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix, vstack
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from subspaces import exact_kernels
from subspaces._array import Array, Indices, within_mad
from subspaces._blocks import row_blocks
from subspaces._validation import check_integer, check_option, check_positive, check_rows
from subspaces.flats import (
    Beta2,
    Flats,
    beta2_neighborhoods,
    distances_to,
    fit_flats,
    nearest_rows,
    smallest,
)
from subspaces.landmarks import choose_landmarks
from subspaces.spectral import Psi

# Where all landmarks share one sigma it is the typical distance to this nearest of them, over this many rows.
SIGMA_RANK = 5
SIGMA_ROWS = 1000
# A flat whose own rows lie this many deviations farther off than is usual describes no cluster.
FLAT_DEVIATIONS = 5.0


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What all maps share. A map of your own defines `_draw` and `_map`; see `CustomFeatures` for a simpler way."""

    n_components: int
    random_state: Any

    @abstractmethod
    def _draw(self, x: Array, rng: np.random.RandomState) -> int:
        """Check parameters, draw the points y from the measure, keep them, return how many features they give."""

    @abstractmethod
    def _map(self, x: Array) -> Psi:
        """psi of a block of rows (b, p): (b, D)."""

    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Draw the points y_1, ..., y_D; `X` (n, p) gives their space and, where the measure is the data, the data."""
        x = check_rows(self, X, reset=True)
        check_integer("n_components", self.n_components, low=1)
        self._n_features_out = self._draw(x, check_random_state(self.random_state))
        return self

    def transform(self, X: ArrayLike) -> Psi:
        """psi of rows (n, p): (n, D), a CSR matrix where only the nearest landmarks are kept."""
        check_is_fitted(self)
        return _stack(list(self.blocks(check_rows(self, X, reset=False))))

    def blocks(self, x: Array, *, block_rows: int | None = None) -> Iterator[Psi]:
        """psi of checked rows (n, p), one block of rows after another."""
        for rows in self.slices(x, block_rows=block_rows):
            yield self._map(x[rows])

    def slices(self, x: Array, *, block_rows: int | None = None) -> Iterator[slice]:
        """The rows of each block."""
        return row_blocks(len(x), self._row_bytes(x), block_rows=block_rows)

    def _row_bytes(self, x: Array) -> int:
        return 2 * self._n_features_out * x.itemsize

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class FourierFeatures(FeatureMap):
    """Random Fourier features: any shift-invariant kernel, by the measure of its frequencies (Example I).

    Use it where distance alone tells clusters apart.

    Parameters
    ----------
    n_components : int, default=1000
        Number D of features.
    kernel : {"gaussian", "laplacian", "matern"} or callable, default="gaussian"
        A callable `kernel(shape, rng)` returns frequencies of `shape` (p, D), drawn from a measure of your own.
    sigma : float, default=1.0
        Length scale of the kernel; with a callable, frequencies are divided by it.
    nu : float, default=1.5
        Smoothness of the Matern kernel.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    frequencies_ : ndarray of shape (p, D)
    phases_ : ndarray of shape (D,)

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
        sigma: float = 1.0,
        nu: float = 1.5,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.sigma = sigma
        self.nu = nu
        self.random_state = random_state

    def _draw(self, x: Array, rng: np.random.RandomState) -> int:
        sigma = check_positive("sigma", self.sigma)
        shape = (x.shape[1], self.n_components)
        if callable(self.kernel):
            draws = np.asarray(self.kernel(shape, rng), np.float64)
            if draws.shape != shape:
                raise ValueError(f"kernel(shape, rng) returned shape {draws.shape}: it must return {shape}.")
        else:
            check_option("kernel", self.kernel, ("gaussian", "laplacian", "matern"))
            if self.kernel == "laplacian":
                draws = rng.standard_cauchy(shape)
            else:
                draws = rng.standard_normal(shape)
            if self.kernel == "matern":
                freedom = 2 * check_positive("nu", self.nu)
                draws /= np.sqrt(rng.chisquare(freedom, shape[1]) / freedom)
        self.frequencies_ = (draws / sigma).astype(x.dtype)
        self.phases_ = rng.uniform(0, 2 * np.pi, shape[1]).astype(x.dtype)
        return shape[1]

    def _map(self, x: Array) -> Array:
        waves = x @ self.frequencies_.astype(x.dtype, copy=False)
        waves += self.phases_.astype(x.dtype, copy=False)
        np.cos(waves, out=waves)
        waves *= float(np.sqrt(2 / self._n_features_out))
        return waves

    def exact_kernel(self, X: Array, Y: Array) -> Array:
        """The kernel itself (n, m), where it has a name."""
        check_option("kernel", self.kernel, ("gaussian", "laplacian", "matern"))
        if self.kernel == "matern":
            return exact_kernels.matern_kernel(X, Y, sigma=self.sigma, nu=self.nu)
        kernel = getattr(exact_kernels, f"{self.kernel}_kernel")
        return kernel(X, Y, sigma=self.sigma)


class _DistanceFeatures(FeatureMap):
    """Features that fall off with the squared distance to landmarks: dense, or only of the nearest few.

    Dense: exp(-distance^2 / width) / sqrt(D). With `n_nearest`, the row keeps its nearest landmarks and is scaled to
    sum one; with sigma "auto" the width of a row is the gap between its nearest and its farthest kept landmark.
    """

    sigma: float | str
    n_nearest: int | None

    @abstractmethod
    def _distances(self) -> Callable[[Array], Array]:
        """The function from rows (b, p) to squared distances (b, D)."""

    @abstractmethod
    def _width(self, sigma: float) -> float:
        """What the squared distance is divided by."""

    def describe(self, x: Array) -> tuple[Psi, Array]:
        """psi (n, D) of checked rows (n, p), and their distances (n,) to the nearest landmark."""
        psi, distances = zip(*self.described_blocks(x), strict=True)
        return _stack(psi), np.concatenate(distances)

    def described_blocks(self, x: Array, *, block_rows: int | None = None) -> Iterator[tuple[Psi, Array]]:
        """The same, one block of rows after another."""
        distances = self._distances()
        for rows in self.slices(x, block_rows=block_rows):
            table = distances(x[rows])
            yield self._weigh(table), np.sqrt(table.min(axis=1))

    def blocks(self, x: Array, *, block_rows: int | None = None) -> Iterator[Psi]:
        for psi, _ in self.described_blocks(x, block_rows=block_rows):
            yield psi

    def _map(self, x: Array) -> Psi:
        return self._weigh(self._distances()(x))

    def _weigh(self, table: Array) -> Psi:
        if self.n_nearest is not None:
            index = smallest(table, self.n_nearest)
            width = None if self.sigma == "auto" else self._width(self.sigma_)
            return sparse_weights(np.take_along_axis(table, index, 1), index, table.shape[1], width=width)
        psi = np.exp(table / -self._width(self.sigma_))
        psi /= float(np.sqrt(table.shape[1]))
        return psi

    def _choose_sigma(self, x: Array, rng: np.random.RandomState) -> float:
        """The user's sigma, or a typical one, measured on a sample of the rows."""
        if self.sigma != "auto":
            return check_positive("sigma", self.sigma, hint='give a length, or "auto"')
        table = self._distances()(x[rng.choice(len(x), min(len(x), SIGMA_ROWS), replace=False)])
        rank = min(self.n_nearest or SIGMA_RANK, table.shape[1])
        nearest = np.sort(np.take_along_axis(table, smallest(table, rank), 1), axis=1)
        squared = nearest[:, -1] - (0 if self.n_nearest is None else nearest[:, 0])
        return float(np.sqrt(np.median(squared))) or 1.0


def _stack(blocks: Sequence[Psi]) -> Psi:
    return np.concatenate(blocks) if isinstance(blocks[0], np.ndarray) else vstack(blocks, format="csr")


def sparse_weights(
    distances: Array, index: Indices, n_columns: int, *, width: float | None = None
) -> csr_matrix:
    """Row-stochastic weights (n, n_columns) from squared `distances` (n, r) to the landmarks at `index` (n, r).

    exp(-(distance - smallest) / width) over the row's sum. Without `width` each row has its own, the gap between
    its smallest and largest distance.
    """
    low = distances.min(axis=1, keepdims=True)
    gap = distances - low
    scale = gap.max(axis=1, keepdims=True) if width is None else np.asarray(width, distances.dtype)
    weights = np.exp(-gap / np.where(scale > 0, scale, 1))
    weights /= weights.sum(axis=1, keepdims=True)
    n, r = index.shape
    indptr = np.arange(0, n * r + 1, r)
    return csr_matrix((weights.ravel(), index.ravel().astype(np.int32), indptr), shape=(n, n_columns))


class LandmarkFeatures(_DistanceFeatures):
    """Gaussian bumps at landmark points of the data (Example II): f(x, y) = exp(-|x - y|^2 / (2 sigma^2)).

    Use it where clusters are curved but locally dense. The paper's constant factor cancels in every use and is left
    out.

    Parameters
    ----------
    n_components : int, default=1000
        Number D of landmarks; at most n are used.
    sigma : float or "auto", default="auto"
        Width of the bumps. "auto" with `n_nearest` is a width per row; without, the typical distance to the fifth
        nearest landmark.
    n_nearest : int or None, default=None
        Keep only this many nearest landmarks of each row, with weights that sum to one. None keeps all.
    landmarks : {"kmeans", "random"} or array-like of shape (D, p), default="kmeans"
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    landmarks_ : ndarray of shape (D, p)
    sigma_ : float
        The width; where each row has its own, their median.

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
        self.landmarks_ = draw_landmarks(x, self.landmarks, self.n_components, rng)
        check_n_nearest(self.n_nearest, len(self.landmarks_))
        self.sigma_ = self._choose_sigma(x, rng)
        return len(self.landmarks_)

    def _distances(self) -> Callable[[Array], Array]:
        # Points are flats of dimension zero.
        return distances_to(Flats(self.landmarks_, np.empty((*self.landmarks_.shape, 0), self.landmarks_.dtype)))

    def _width(self, sigma: float) -> float:
        return 2 * sigma**2


class SubspaceFeatures(_DistanceFeatures):
    """Nearness to subspaces (Section 3): f(x, L) = exp(-dist(x, L)^2 / sigma^2). The map of FLS.

    Parameters
    ----------
    n_components : int, default=1000
        Number D of subspaces; at most n landmark flats are used.
    subspace_dim : int, default=3
        Dimension d of every subspace.
    measure : {"landmarks", "uniform"}, default="landmarks"
        "landmarks": a flat fitted to the rows around each landmark point. "uniform": uniform on the Grassmannian,
        blind to the data (Lemma 3.1), for comparison and for tests.
    sigma : float or "auto", default="auto"
        Width. "auto" with `n_nearest` is a width per row; without, the typical distance to the fifth nearest flat.
    n_nearest : int or None, default=None
        Keep only this many nearest flats of each row, with weights that sum to one. None keeps all.
    landmarks : {"kmeans", "random"} or array-like of shape (D, p), default="kmeans"
    neighborhood : Beta2 or int, default=Beta2()
        How many rows a flat is fitted to: chosen at each landmark by beta2 numbers, or this many.
    affine : bool, default=True
        Whether flats have a centre, or pass through the origin.
    trim : bool, default=False
        Drop flats that fit their own rows far worse than is usual.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    flats_ : Flats
    landmarks_ : ndarray of shape (D, p), only with measure="landmarks"
    sigma_ : float
        The width; where each row has its own, their median.

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
        neighborhood: Beta2 | int = Beta2(),
        affine: bool = True,
        trim: bool = False,
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
        self.trim = trim
        self.random_state = random_state

    def _draw(self, x: Array, rng: np.random.RandomState) -> int:
        check_option("measure", self.measure, ("landmarks", "uniform"))
        dim = check_integer(
            "subspace_dim",
            self.subspace_dim,
            low=1,
            high=x.shape[1] - 1,
            hint=f"X has n_features={x.shape[1]}, and a subspace must leave at least one direction out",
        )
        if self.measure == "uniform":
            self.flats_ = uniform_flats(self.n_components, x.shape[1], dim, rng, x.dtype)
        else:
            self.landmarks_ = draw_landmarks(x, self.landmarks, self.n_components, rng)
            self.flats_ = self._landmark_flats(x, dim)
        check_n_nearest(self.n_nearest, len(self.flats_))
        self.sigma_ = self._choose_sigma(x, rng)
        return len(self.flats_)

    def _landmark_flats(self, x: Array, dim: int) -> Flats:
        neighborhoods: list[Indices] | Indices
        if isinstance(self.neighborhood, Beta2):
            neighborhoods = beta2_neighborhoods(x, self.landmarks_, dim, self.neighborhood, affine=self.affine)
        else:
            size = check_integer("neighborhood", self.neighborhood, low=1, hint="give a size, or Beta2()")
            neighborhoods = nearest_rows(x, self.landmarks_, min(size, len(x)))
        flats, residuals = fit_flats(x, neighborhoods, dim, affine=self.affine)
        usable = usable_flats(residuals, x)
        return flats[usable] if self.trim and len(usable) > (self.n_nearest or 0) else flats

    def _distances(self) -> Callable[[Array], Array]:
        return distances_to(self.flats_)

    def _width(self, sigma: float) -> float:
        return sigma**2

    def _row_bytes(self, x: Array) -> int:
        return len(self.flats_) * (self.flats_.dim + 2) * x.itemsize

    def exact_kernel(self, X: Array, Y: Array) -> Array:
        """The kernel itself (n, m) under the uniform measure; the landmark measure has no closed form."""
        check_option("measure", self.measure, ("uniform",))
        sigma = check_positive("sigma", self.sigma)
        return exact_kernels.uniform_subspace_kernel(X, Y, subspace_dim=self.subspace_dim, sigma=sigma)


class NystromFeatures(FeatureMap):
    """Columns of a kernel matrix at landmark points, whitened so that inner products give the kernel back.

    psi(x) = K_mm^(-1/2) k_m(x): exact on the landmarks, and everywhere once they span the data.

    Parameters
    ----------
    n_components : int, default=1000
        Number D of landmarks; at most n are used.
    kernel : {"gaussian", "laplacian", "matern"} or callable, default="gaussian"
        A callable takes two arrays of rows and returns the matrix of their kernel values.
    sigma : float, default=1.0
        Length scale of a named kernel.
    landmarks : {"random", "kmeans"} or array-like of shape (D, p), default="random"
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    landmarks_ : ndarray of shape (D, p)
    whitening_ : ndarray of shape (D, D)

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
        sigma: float = 1.0,
        landmarks: str | ArrayLike = "random",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.sigma = sigma
        self.landmarks = landmarks
        self.random_state = random_state

    def _draw(self, x: Array, rng: np.random.RandomState) -> int:
        check_positive("sigma", self.sigma)
        self.landmarks_ = draw_landmarks(x, self.landmarks, self.n_components, rng)
        values, vectors = np.linalg.eigh(np.asarray(self.exact_kernel(self.landmarks_, self.landmarks_), np.float64))
        # Directions that the kernel matrix does not have are left out, not divided by zero.
        floor = len(values) * np.finfo(np.float64).eps * values[-1]
        scale = np.where(values > floor, 1 / np.sqrt(np.maximum(values, floor)), 0)
        self.whitening_ = (vectors * scale) @ vectors.T
        return len(self.landmarks_)

    def _map(self, x: Array) -> Array:
        columns = np.asarray(self.exact_kernel(x, self.landmarks_), np.float64)
        return (columns @ self.whitening_).astype(x.dtype, copy=False)

    def exact_kernel(self, X: Array, Y: Array) -> Array:
        """The kernel itself: (n, m)."""
        if callable(self.kernel):
            return self.kernel(X, Y)
        check_option("kernel", self.kernel, ("gaussian", "laplacian", "matern"))
        kernel = getattr(exact_kernels, f"{self.kernel}_kernel")
        return kernel(X, Y, sigma=self.sigma)


class CustomFeatures(FeatureMap):
    """Your own kernel: a function f(x, y) and a sampler of the measure that y comes from.

    Parameters
    ----------
    function : callable
        `function(X, points)` returns f for rows `X` (n, p) and all drawn points: (n, D).
    sampler : callable
        `sampler(X, n_components, rng)` returns n_components points, in any form that `function` understands; `X` are
        the rows given to `fit` and `rng` a NumPy RandomState.
    n_components : int, default=1000
        Number D of points.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    points_ : object
        What the sampler returned.

    Examples
    --------
    Half-spaces through the origin give the arc-cosine kernel of order zero.

    >>> import numpy as np
    >>> from subspaces.kernels import CustomFeatures
    >>> half_space = CustomFeatures(
    ...     lambda X, w: X @ w.T > 0, lambda X, size, rng: rng.normal(size=(size, X.shape[1])), 20_000, random_state=0
    ... )
    >>> psi = half_space.fit_transform(np.eye(2))
    >>> bool(abs(psi[0] @ psi[1] - 0.25) < 0.02)
    True
    """

    def __init__(
        self,
        function: Callable[[Array, Any], ArrayLike],
        sampler: Callable[[Array, int, np.random.RandomState], Any],
        n_components: int = 1000,
        *,
        random_state: Any = None,
    ) -> None:
        self.function = function
        self.sampler = sampler
        self.n_components = n_components
        self.random_state = random_state

    def _draw(self, x: Array, rng: np.random.RandomState) -> int:
        for name, value in (("function", self.function), ("sampler", self.sampler)):
            if not callable(value):
                raise TypeError(f"{name}={value!r} must be callable.")
        self.points_ = self.sampler(x, self.n_components, rng)
        values = np.asarray(self.function(x[:1], self.points_))
        if values.ndim != 2 or len(values) != 1:
            raise ValueError(f"function(X, points) returned shape {values.shape} for one row: it must return (1, D).")
        return int(values.shape[1])

    def _map(self, x: Array) -> Array:
        values = np.asarray(self.function(x, self.points_), x.dtype)
        if values.shape != (len(x), self._n_features_out):
            raise ValueError(
                f"function(X, points) returned shape {values.shape} for {len(x)} rows: "
                f"it must return {(len(x), self._n_features_out)}."
            )
        return values / float(np.sqrt(self._n_features_out))


def draw_landmarks(x: Array, landmarks: str | ArrayLike, count: int, rng: np.random.RandomState) -> Array:
    """Landmark points (D, p) for rows `x` (n, p): chosen by a named method, or the user's own."""
    if isinstance(landmarks, str):
        check_option("landmarks", landmarks, ("kmeans", "random"))
        return choose_landmarks(x, count, method=landmarks, rng=rng)
    points = np.asarray(landmarks, x.dtype)
    if points.ndim != 2 or points.shape[1] != x.shape[1] or not len(points) or not np.isfinite(points).all():
        raise ValueError(
            f"landmarks of shape {points.shape} must be finite, with shape (D, {x.shape[1]}) and D >= 1: "
            f"one row per landmark point, with the columns of X."
        )
    return points


def check_n_nearest(n_nearest: int | None, count: int) -> None:
    """Refuse more nearest landmarks than there are."""
    if n_nearest is not None:
        check_integer("n_nearest", n_nearest, low=1, high=count, hint=f"there are {count} landmarks")


def uniform_flats(
    count: int, ambient_dim: int, dim: int, rng: np.random.RandomState, dtype: np.dtype[Any]
) -> Flats:
    """`count` linear subspaces drawn uniformly from the Grassmannian."""
    # The column space of a Gaussian matrix is uniform, by rotation invariance.
    bases = np.linalg.qr(rng.standard_normal((count, ambient_dim, dim)))[0]
    return Flats(np.zeros((count, ambient_dim), dtype), bases.astype(dtype))


def usable_flats(residuals: Array, x: Array) -> Indices:
    """Indices of the flats whose own mean squared residual (m,) is not far above the usual."""
    scale = float(np.einsum("np,np->", x, x, dtype=np.float64) / len(x))
    return np.flatnonzero(within_mad(residuals, width=FLAT_DEVIATIONS, scale=scale))
