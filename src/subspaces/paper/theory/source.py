"""Sources of features: a kernel, and random draws of D features that approximate it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from subspaces._core.arrays import Array, Indices
from subspaces._core.blocks import row_blocks
from subspaces._core.errors import InputError, UserTypeError
from subspaces._core.validation import check_integer, check_rows, is_auto
from subspaces.estimators.access import feature_map as fitted_map
from subspaces.estimators.access import prepared_rows
from subspaces.features import FeatureMap, FourierFeatures, LandmarkFeatures, NystromFeatures, SubspaceFeatures
from subspaces.features.bandwidth import known_sigma
from subspaces.features.base import stack

# Closed forms give matrices, of which only the diagonal is needed for pairs: small blocks waste little.
PAIR_ROWS = 32


class Source(ABC):
    """A kernel, and random features that approximate it."""

    reference: str  # how the exact kernel is computed

    @abstractmethod
    def draw(self, count: int, rng: np.random.RandomState) -> FeatureMap:
        """Draw `count` features."""

    @abstractmethod
    def limit(self) -> FeatureMap | None:
        """Features whose inner products are the exact kernel, or None if it has a closed form."""

    @abstractmethod
    def matrix(self, x: Array, y: Array) -> NDArray[np.float64]:
        """Exact kernel (n, m) of rows (n, p) and (m, p)."""

    @abstractmethod
    def take(self, counts: Sequence[int], rng: np.random.RandomState) -> Any:
        """One draw for each number of features in `counts`, as input of `pairs`."""

    @abstractmethod
    def pairs(
        self, x: Array, first: Indices, second: Indices, draws: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Exact kernel (m,) of pairs of rows of `x`, and its approximation by each draw: (m, n_draws)."""


class ManyPoints(Source):
    """A measure on N points, such as flats at N rows: the kernel is the mean over them, a draw takes D of them.

    Points are drawn independently, with replacement, as in the theorem.
    """

    def __init__(self, features: LandmarkFeatures | SubspaceFeatures) -> None:
        self.features = features
        self.size = feature_count(features)
        self.reference = f"all {self.size} points of the measure"

    def draw(self, count: int, rng: np.random.RandomState) -> FeatureMap:
        return self.features.take(rng.randint(self.size, size=count))

    def limit(self) -> FeatureMap:
        return self.features

    def matrix(self, x: Array, y: Array) -> NDArray[np.float64]:
        return inner_products(self.features, x, y)

    def take(self, counts: Sequence[int], rng: np.random.RandomState) -> NDArray[np.float64]:
        # How often each draw takes each point. Estimates are products with these, so psi is computed only once.
        shares = [np.bincount(rng.randint(self.size, size=count), minlength=self.size) / count for count in counts]
        return self.size * np.column_stack([np.full(self.size, 1 / self.size), *shares])

    def pairs(
        self, x: Array, first: Indices, second: Indices, draws: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        found = np.concatenate([(one * other) @ draws for one, other in pair_blocks(self.features, x, first, second)])
        return found[:, 0], found[:, 1:]


class FittedMaps(Source):
    """Any feature map: a draw is a fit; the kernel is a closed form if there is one, else a fit of many features."""

    def __init__(self, features: FeatureMap, x: Array, n_reference: int, rng: np.random.RandomState) -> None:
        self.features = features
        self.x = x
        self._limit: FeatureMap | None = None
        if has_closed_form(features):
            self.reference = "closed form"
        else:
            self._limit = self.draw(n_reference, rng)
            self.reference = f"{feature_count(self._limit)} features"

    def draw(self, count: int, rng: np.random.RandomState) -> FeatureMap:
        return clone(self.features).set_params(n_components=count, random_state=rng).fit(self.x)

    def limit(self) -> FeatureMap | None:
        return self._limit

    def matrix(self, x: Array, y: Array) -> NDArray[np.float64]:
        if self._limit is not None:
            return inner_products(self._limit, x, y)
        closed: Any = self.features
        return np.asarray(closed.exact_kernel(x, y), np.float64)

    def take(self, counts: Sequence[int], rng: np.random.RandomState) -> list[FeatureMap]:
        return [self.draw(count, rng) for count in counts]

    def pairs(
        self, x: Array, first: Indices, second: Indices, draws: list[FeatureMap]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self._limit is not None:
            exact = pair_products(self._limit, x, first, second)
        else:
            blocks = row_blocks(len(first), 1, block_rows=PAIR_ROWS)
            exact = np.concatenate([np.diag(self.matrix(x[first[rows]], x[second[rows]])) for rows in blocks])
        return exact, np.column_stack([pair_products(features, x, first, second) for features in draws])


def make_source(features: FeatureMap, x: Array, *, n_reference: int, rng: np.random.RandomState) -> Source:
    """Source of features for rows (n, p), with at most `n_reference` points if the measure is the data."""
    if draws_rows(features) and not features.is_sparse and getattr(features, "landmarks", "") == "random":
        points = x if len(x) <= n_reference else x[rng.choice(len(x), n_reference, replace=False)]
        return ManyPoints(clone(features).set_params(landmarks=points, random_state=rng).fit(x))
    return FittedMaps(features, x, n_reference, rng)


def check_map(X: ArrayLike, given: Any) -> tuple[Array, FeatureMap]:
    """Checked rows and an unfitted map; for a fitted estimator, its prepared rows and its map."""
    fitted = None if isinstance(given, FeatureMap) else fitted_map(given)
    if fitted is not None:
        rows, features = prepared_rows(given, X), clone(fitted)
        if is_auto(getattr(features, "sigma", None)) and not features.is_sparse:
            features.set_params(sigma=known_sigma(fitted))
    elif isinstance(given, FeatureMap):
        features = clone(given)
        rows = check_rows(features, X, reset=True)
    else:
        raise UserTypeError(
            f"feature_map={given!r} must be a map of subspaces.kernels, or a fitted estimator such as FLS."
        )
    if len(rows) < 2:
        raise InputError(f"X has n_samples={len(rows)} rows: pass at least two, because a kernel needs pairs.")
    if "n_components" not in features.get_params():
        raise InputError(f"{features!r} has a fixed number of features: pass a map with the parameter n_components.")
    if not isinstance(getattr(features, "landmarks", ""), str):
        raise InputError('landmarks is an array, so their number cannot change: use landmarks="random" or "kmeans".')
    return rows, features


def settle(features: FeatureMap, x: Array, rng: np.random.RandomState) -> FeatureMap:
    """The map with sigma="auto" replaced by its value for rows (n, p); a sigma per row is not changed."""
    if not is_auto(getattr(features, "sigma", None)) or features.is_sparse:
        return features
    fitted: Any = clone(features).set_params(random_state=rng).fit(x)
    return features.set_params(sigma=fitted.sigma_)


def refuse_sparse(features: FeatureMap) -> None:
    """Raise an error for maps without a limit kernel."""
    if features.is_sparse:
        raise InputError(
            f"{features!r} keeps only the nearest landmarks of a row, so its kernel changes with their number and has "
            'no limit: use n_nearest=None, or landmarks_needed with the criterion "eigenspace" or "labels".'
        )


def check_counts(name: str, counts: Any, *, low: int = 1, high: int | None = None, hint: str = "") -> tuple[int, ...]:
    """Checked integers in ascending order, at least one."""
    if isinstance(counts, np.ndarray):
        # A zero-dimensional array is a number, although it is an Iterable.
        counts = counts.tolist()
    values = counts if isinstance(counts, Iterable) and not isinstance(counts, str) else (counts,)
    checked = tuple(sorted({check_integer(name, value, low=low, high=high, hint=hint) for value in values}))
    if not checked:
        raise InputError(f"{name}={counts!r} is empty: pass at least one number.")
    return checked


def check_landmark_counts(features: FeatureMap, counts: Sequence[int], n_rows: int) -> None:
    """Raise an error if there are not enough rows for the landmarks; the map would silently use fewer."""
    if draws_rows(features) and getattr(features, "landmarks", "") != "random" and max(counts) >= n_rows:
        raise InputError(
            f"n_features={max(counts)} must be below {n_rows}, the number of rows available for landmarks: lower it."
        )


def draws_rows(features: FeatureMap) -> bool:
    """Whether the measure is the data: landmark points, or flats at landmark points."""
    if isinstance(features, SubspaceFeatures):
        return features.measure == "landmarks"
    return isinstance(features, LandmarkFeatures)


def has_closed_form(features: FeatureMap) -> bool:
    """Whether the kernel of the map has a closed form."""
    if isinstance(features, FourierFeatures):
        return isinstance(features.kernel, str)
    if isinstance(features, SubspaceFeatures):
        return features.measure == "uniform"
    return isinstance(features, NystromFeatures)


def pair_products(features: FeatureMap, x: Array, first: Indices, second: Indices) -> NDArray[np.float64]:
    """psi(x_i).psi(x_j) for pairs of rows of `x`: (m,)."""
    products = (np.einsum("nd,nd->n", one, other) for one, other in pair_blocks(features, x, first, second))
    return np.concatenate(list(products))


def pair_blocks(features: FeatureMap, x: Array, first: Indices, second: Indices) -> Iterator[tuple[Any, Any]]:
    """psi of the first and of the second row of each pair, one block of pairs after another."""
    for block in row_blocks(len(first), 16 * (feature_count(features) + x.shape[1])):
        yield psi(features, x[first[block]]), psi(features, x[second[block]])


def psi(features: FeatureMap, rows: Array) -> Any:
    """psi of checked rows (n, p): (n, D)."""
    return stack(list(features.blocks(rows)))


def inner_products(features: FeatureMap, x: Array, y: Array) -> NDArray[np.float64]:
    """psi(x) psi(y)^T: (n, m)."""
    return np.asarray(psi(features, x) @ psi(features, y).T, np.float64)


def feature_count(features: FeatureMap) -> int:
    """Number of features of a fitted map."""
    return len(features.get_feature_names_out())
