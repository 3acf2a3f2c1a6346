"""Features given by a function and a sampler of the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from subspaces._core.arrays import Array
from subspaces._core.errors import InputError, UserTypeError
from subspaces.features.base import FeatureMap


class CustomFeatures(FeatureMap):
    """A user-defined kernel: a function f(x, y) and a sampler of the measure of y.

    Parameters
    ----------
    function : callable
        `function(X, points)` returns f for rows `X` (n, p) and all drawn points: (n, D).
    sampler : callable
        `sampler(X, n_components, rng)` returns n_components points, in any form that `function` accepts; `X` are the
        rows given to `fit` and `rng` is a NumPy RandomState.
    n_components : int, default=1000
        Number D of points.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    points_ : object
        The result of the sampler.

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
                raise UserTypeError(f"{name}={value!r} must be callable.")
        self.points_ = self.sampler(x, self.n_components, rng)
        values = np.asarray(self.function(x[:1], self.points_))
        if values.ndim != 2 or len(values) != 1:
            raise InputError(f"function(X, points) returned shape {values.shape} for one row: it must return (1, D).")
        return int(values.shape[1])

    def _function(self) -> Callable[[Array], Array]:
        return self._values

    def _values(self, x: Array) -> Array:
        values = np.asarray(self.function(x, self.points_), x.dtype)
        if values.shape != (len(x), self._n_features_out):
            raise InputError(
                f"function(X, points) returned shape {values.shape} for {len(x)} rows: "
                f"it must return {(len(x), self._n_features_out)}."
            )
        if not np.isfinite(values).all():
            raise InputError("function(X, points) returned values that are not finite: f must be bounded.")
        return values / float(np.sqrt(self._n_features_out))
