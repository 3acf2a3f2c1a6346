"""Features that fall off with the distance to landmarks: points (Example II) or flats (Section 3)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix

from subspaces._core.arrays import Array, Indices, is_host, namespace, within_mad
from subspaces._core.errors import InputError
from subspaces._core.validation import check_integer, check_option, check_positive, check_sigma, is_auto
from subspaces.features import exact
from subspaces.features.base import FeatureMap, draw_landmarks, stack
from subspaces.flats.device import DeviceFlats
from subspaces.flats.distances import distance_row_bytes, distances_to, nearest
from subspaces.flats.flats import Flats
from subspaces.flats.neighborhoods import Beta2, as_neighborhood, local_flats, rows_to_fit
from subspaces.spectral.sparse import SparseRows
from subspaces.spectral.spectrum import Psi

# Where all landmarks share one sigma it is the typical distance to this nearest of them, over this many rows.
SIGMA_RANK = 5
SIGMA_ROWS = 1000
# A flat whose own rows lie this many deviations farther off than is usual describes no cluster.
FLAT_DEVIATIONS = 5.0


class DistanceFeatures(FeatureMap):
    """Features that fall off with the squared distance to landmarks: dense, or only of the nearest few.

    Dense: exp(-(distance^2 / width)^(power / 2)) / sqrt(D). With `n_nearest`, the row keeps its nearest landmarks and
    is scaled to sum one; with sigma "auto" the width of a row is the gap between its nearest and its farthest kept
    landmark.
    """

    sigma: float | str
    n_nearest: int | None
    # The weight falls with this power of the distance.
    power: float = 2.0

    @property
    def is_signed(self) -> bool:
        """Never: they fall off towards zero."""
        return False

    @property
    def in_threads(self) -> bool:
        """Always: distances are our own."""
        return True

    @property
    def is_sparse(self) -> bool:
        """Whether only the nearest landmarks are kept."""
        return self.n_nearest is not None

    @property
    @abstractmethod
    def _landmark_flats(self) -> Flats:
        """The landmarks; points are flats of dimension zero."""

    @abstractmethod
    def _width(self, sigma: float) -> float:
        """What the squared distance is divided by."""

    def take(self, index: Indices) -> Self:
        """A copy of the fitted map with the landmarks at `index` only; an index may occur several times."""
        chosen = copy(self)
        for name in ("flats_", "landmarks_"):
            if hasattr(self, name) and len(getattr(self, name)) == self._n_features_out:
                setattr(chosen, name, getattr(self, name)[index])
        chosen._n_features_out = len(index)
        return chosen

    def describe(self, x: Array) -> tuple[Psi, Array]:
        """psi (n, D) of checked rows (n, p), and their distances (n,) to the nearest landmark."""
        psi, distances = zip(*self.described_blocks(x), strict=True)
        return stack(psi), np.concatenate(distances)

    def blocks(self, x: Array, *, block_rows: int | None = None) -> Iterator[Psi]:
        """psi of checked rows (n, p) of any array library, one block of rows after another."""
        return (psi for psi, _ in self.described_blocks(x, block_rows=block_rows))

    def described_blocks(self, x: Array, *, block_rows: int | None = None) -> Iterator[tuple[Psi, Array]]:
        """The same, with the distances (b,) to the nearest landmark."""
        if not is_host(x):
            yield from self._device_blocks(x)
            return
        if self.n_nearest_ is not None:
            # Only the r nearest of each row are held, so all rows are one block unless others are asked for.
            slices = [slice(0, len(x))] if block_rows is None else self.slices(x, block_rows=block_rows)
            for rows in slices:
                index, table = nearest(x[rows], self._landmark_flats, self.n_nearest_)
                yield self._sparse(table, index), np.sqrt(table[:, 0])
            return
        distances = distances_to(self._landmark_flats)
        for rows in self.slices(x, block_rows=block_rows):
            table = distances(x[rows])
            far = np.sqrt(table.min(axis=1))
            yield self._dense(table), far

    def _device_blocks(self, x: Array) -> Iterator[tuple[Any, Array]]:
        xp = namespace(x)
        flats = self._device_flats()
        for rows in flats.blocks(x):
            if self.n_nearest_ is None:
                table = flats.table(rows)
                far = xp.sqrt(xp.min(table, axis=1))
                yield self._dense(table), far
            else:
                found, index = flats.nearest(rows, self.n_nearest_)
                weights = row_weights(found, width=self._row_width, power=self.power)
                yield SparseRows(index, weights, flats.count), xp.sqrt(found[:, 0])

    def _device_flats(self) -> DeviceFlats:
        """The landmarks for rows on a device; what goes there goes once."""
        known: tuple[Any, DeviceFlats] | None = self.__dict__.get("_on_device")
        flats = self._landmark_flats
        if known is None or known[0] is not flats.centers:
            known = self._on_device = (flats.centers, DeviceFlats(flats))
        return known[1]

    def _function(self) -> Callable[[Array], Psi]:
        return lambda x: stack(list(self.blocks(x)))

    @property
    def _row_width(self) -> float | None:
        """What all rows share; None where each has its own."""
        return None if self.sigma_per_row_ else self._width(self.sigma_)

    def _sparse(self, nearest_distances: Array, index: Indices) -> csr_matrix:
        n_landmarks = len(self._landmark_flats)
        return sparse_weights(nearest_distances, index, n_landmarks, width=self._row_width, power=self.power)

    def _dense(self, table: Array) -> Array:
        """Weights (b, D) from squared distances (b, D), which are used up."""
        xp = namespace(table)
        table *= -1 / self._width(self.sigma_) if self.power == 2 else 1 / self._width(self.sigma_)
        psi = xp.exp(table if self.power == 2 else -raised(table, self.power))
        psi *= 1 / float(np.sqrt(table.shape[1]))
        return psi

    def _fit_weights(self, x: Array, n_landmarks: int, rng: np.random.RandomState) -> None:
        """Record how distances become weights."""
        self.n_nearest_ = self.n_nearest
        if self.n_nearest is not None:
            self.n_nearest_ = min(check_integer("n_nearest", self.n_nearest, low=1), n_landmarks)
        self.sigma_per_row_ = is_auto(self.sigma) and self.n_nearest is not None
        self.sigma_ = self._choose_sigma(x, rng)

    def _choose_sigma(self, x: Array, rng: np.random.RandomState) -> float:
        """The user's sigma, or a typical one, measured on a sample of the rows."""
        if not is_auto(self.sigma):
            return check_sigma(self.sigma, x.dtype)
        rows = x[rng.choice(len(x), min(len(x), SIGMA_ROWS), replace=False)]
        distances = nearest(rows, self._landmark_flats, self.n_nearest_ or SIGMA_RANK)[1]
        squared = distances[:, -1] - (0 if self.n_nearest is None else distances[:, 0])
        return float(np.sqrt(np.median(squared))) or 1.0


def sparse_weights(
    distances: Array, index: Indices, n_columns: int, *, width: float | None = None, power: float = 2.0
) -> csr_matrix:
    """psi (n, n_columns) with `row_weights` of squared `distances` (n, r) to the landmarks at `index` (n, r)."""
    weights = row_weights(distances, width=width, power=power)
    n, r = index.shape
    indptr = np.arange(0, n * r + 1, r)
    return csr_matrix((weights.ravel(), index.ravel().astype(np.int32), indptr), shape=(n, n_columns))


def row_weights(distances: Array, *, width: float | None = None, power: float = 2.0) -> Array:
    """Weights (n, r) that sum to one in each row, from squared `distances` (n, r), in any array library.

    exp(-(distance - smallest) / width) over the row's sum, of distances raised to `power` / 2. Without `width` each row
    has its own, the gap between its smallest and largest distance.
    """
    xp = namespace(distances)
    distances = raised(distances if width is None else distances / width, power)
    gap = distances - xp.min(distances, axis=1, keepdims=True)
    if width is None:
        scale = xp.max(gap, axis=1, keepdims=True)
        gap = gap / xp.where(scale > 0, scale, 1.0)
    weights = xp.exp(-gap)
    return weights / xp.sum(weights, axis=1, keepdims=True)


def raised(squared: Array, power: float) -> Array:
    """The `power` of distances, from their squares."""
    return squared if power == 2 else squared ** (power / 2)


def nearest_weights(x: Array, flats: Flats, n_nearest: int) -> tuple[csr_matrix, Array]:
    """psi (n, D) of rows (n, p) by their nearest flats, a width for each row, and distances (n,) to the nearest."""
    index, table = nearest(x, flats, n_nearest)
    return sparse_weights(table, index, len(flats)), np.sqrt(table[:, 0])


class LandmarkFeatures(DistanceFeatures):
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
    sigma_per_row_ : bool
        Whether each row has its own width.
    n_nearest_ : int or None

    References
    ----------
    Chen, X. and Cai, D. (2011). Large scale spectral clustering with landmark-based representation. AAAI.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from subspaces.features import LandmarkFeatures
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
        self._fit_weights(x, len(self.landmarks_), rng)
        return len(self.landmarks_)

    @property
    def _landmark_flats(self) -> Flats:
        return Flats(self.landmarks_, np.empty((*self.landmarks_.shape, 0), self.landmarks_.dtype))

    def _width(self, sigma: float) -> float:
        return 2 * sigma**2


class SubspaceFeatures(DistanceFeatures):
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
    neighborhood : "beta2", Beta2 or int, default="beta2"
        How many rows a flat is fitted to: chosen at each landmark by beta2 numbers, in the sizes that a `Beta2`
        names, or this many.
    affine : bool, default=True
        Whether flats have a centre, or pass through the origin.
    power : float, default=2
        The weight is exp(-(dist / sigma)^power).
    trim : bool or float, default=False
        Drop flats that fit their own rows far worse than is usual; a number keeps those whose squared residuals are
        within so many times the median.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    flats_ : Flats
    landmarks_ : ndarray of shape (D, p), only with measure="landmarks"
        The points; flats that were trimmed are not in `flats_`.
    sigma_ : float
        The width; where each row has its own, their median.
    sigma_per_row_ : bool
        Whether each row has its own width.
    n_nearest_ : int or None

    Examples
    --------
    >>> from subspaces.datasets import make_subspaces
    >>> from subspaces.features import SubspaceFeatures
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
            low=1,
            high=x.shape[1] - 1,
            hint=f"X has n_features={x.shape[1]}, and a subspace must leave at least one direction out",
        )
        if self.measure == "uniform":
            self.flats_ = uniform_flats(self.n_components, x.shape[1], dim, rng, x.dtype)
        else:
            # Neighbourhoods that grow reach beyond copies by themselves.
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
        """The kernel itself (n, m) under the uniform measure; the landmark measure has no closed form."""
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
    """Indices of the flats whose own mean squared residual (m,) is not far above the usual, or within `n_medians`."""
    scale = float(np.einsum("np,np->", x, x, dtype=np.float64) / len(x))
    usual = within_mad(residuals, width=FLAT_DEVIATIONS, scale=scale)
    return np.flatnonzero(usual | (residuals <= n_medians * np.median(residuals)))
