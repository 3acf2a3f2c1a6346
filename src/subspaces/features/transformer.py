"""Any scikit-learn transformer as a feature map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.base import clone

from subspaces._core.arrays import Array
from subspaces._core.errors import InputError
from subspaces.features.base import FeatureMap
from subspaces.spectral.modularity import row_stochastic
from subspaces.spectral.spectrum import Psi


class TransformerFeatures(FeatureMap):
    """The output of a transformer such as `RBFSampler` as psi.

    Sparse output must not be negative; its rows are scaled to sum one, as are those of nearest landmarks.
    """

    def __init__(self, transformer: Any, *, random_state: Any = None) -> None:
        self.transformer = transformer
        self.random_state = random_state

    @property
    def n_components(self) -> int:  # type: ignore[override]
        """Number D of features, known once the transformer is fitted."""
        return getattr(self, "_n_features_out", 1)

    @property
    def is_sparse(self) -> bool:
        """Whether the transformer returns sparse matrices."""
        return self._sparse_output

    @property
    def is_signed(self) -> bool:
        """Whether features can be negative: True for dense ones."""
        return not self.is_sparse

    def _draw(self, x: Array, rng: np.random.RandomState) -> int:
        self.transformer_ = seeded_clone(self.transformer, rng).fit(x)
        first = self.transformer_.transform(x[:1])
        if not hasattr(first, "shape") or len(first.shape) != 2:
            raise InputError(f"{self.transformer!r} returned {type(first).__name__}: it must return a matrix, (n, D).")
        self._sparse_output = issparse(first)
        return int(first.shape[1])

    def _function(self) -> Callable[[Array], Psi]:
        return self._values

    def _values(self, x: Array) -> Psi:
        values = self.transformer_.transform(x)
        psi = csr_matrix(values, dtype=x.dtype) if issparse(values) else np.asarray(values, x.dtype)
        entries: Array = psi if isinstance(psi, np.ndarray) else psi.data
        if psi.shape != (len(x), self._n_features_out) or not np.isfinite(entries).all():
            raise InputError(
                f"{self.transformer!r} returned shape {psi.shape} for {len(x)} rows: "
                f"it must return finite values, {(len(x), self._n_features_out)}."
            )
        if not self._sparse_output:
            return psi
        if len(entries) and entries.min() < 0:
            raise InputError(
                f"{self.transformer!r} returned sparse features below zero, down to {entries.min():.3g}: "
                "make them dense, or take a map whose features are not negative."
            )
        return row_stochastic(psi)


def seeded_clone(transformer: Any, rng: np.random.RandomState) -> Any:
    """An unfitted copy of `transformer`; each random_state that is None is drawn from `rng`."""
    copy = clone(transformer)
    names = [name for name in sorted(copy.get_params()) if name == "random_state" or name.endswith("__random_state")]
    unset = [name for name in names if copy.get_params()[name] is None]
    return copy.set_params(**{name: int(rng.randint(2**31 - 1)) for name in unset})
