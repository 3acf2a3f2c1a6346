"""Base class of features that decrease with the distance to landmarks: points or flats."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix

from subspaces._core.arrays import Array, Indices, is_host, namespace
from subspaces._core.validation import check_integer, check_sigma, is_auto
from subspaces.features.base import FeatureMap, stack
from subspaces.features.thresholds import SIGMA_RANK, SIGMA_ROWS
from subspaces.features.weights import raised, row_weights, sparse_weights
from subspaces.flats.device import DeviceFlats
from subspaces.flats.distances import distances_to, nearest
from subspaces.flats.flats import Flats
from subspaces.spectral.sparse import SparseRows
from subspaces.spectral.spectrum import Psi


class DistanceFeatures(FeatureMap):
    """Features that decrease with the squared distance to landmarks: dense, or of the nearest few landmarks only.

    Subclasses define the landmarks and the width. Dense features are exp(-(distance^2 / width)^(power / 2)) / sqrt(D).
    With `n_nearest`, a row keeps its nearest landmarks and is scaled to sum one; with sigma="auto" its width is the gap
    between its nearest and its farthest kept landmark.
    """

    sigma: float | str
    n_nearest: int | None
    # Weights are exp(-(distance / sigma)^power).
    power: float = 2.0

    @property
    def is_signed(self) -> bool:
        """False: features are positive."""
        return False

    @property
    def in_threads(self) -> bool:
        """True: only functions of this library run."""
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
        """The divisor of squared distances."""

    def take(self, index: Indices) -> Self:
        """A copy of the fitted map with the landmarks at `index` only; an index may occur several times."""
        chosen = copy(self)
        for name in ("flats_", "landmarks_"):
            if hasattr(self, name) and len(getattr(self, name)) == self._n_features_out:
                setattr(chosen, name, getattr(self, name)[index])
        chosen._n_features_out = len(index)
        return chosen

    def blocks(self, x: Array, *, block_rows: int | None = None) -> Iterator[Psi]:
        """psi of checked rows (n, p) of any array library, one block of rows after another."""
        return (psi for psi, _ in self.described_blocks(x, block_rows=block_rows))

    def described_blocks(self, x: Array, *, block_rows: int | None = None) -> Iterator[tuple[Psi, Array]]:
        """The same, with the distances (b,) to the nearest landmark."""
        if not is_host(x):
            yield from self._device_blocks(x)
            return
        if self.n_nearest_ is not None:
            # Only the r nearest landmarks of each row are stored, so all rows are one block by default.
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
        """The landmarks for rows on a device, copied there once."""
        known: tuple[Any, DeviceFlats] | None = self.__dict__.get("_on_device")
        flats = self._landmark_flats
        if known is None or known[0] is not flats.centers:
            known = self._on_device = (flats.centers, DeviceFlats(flats))
        return known[1]

    def _function(self) -> Callable[[Array], Psi]:
        return lambda x: stack(list(self.blocks(x)))

    @property
    def _row_width(self) -> float | None:
        """The divisor that all rows share; None if each row has its own."""
        return None if self.sigma_per_row_ else self._width(self.sigma_)

    def _sparse(self, nearest_distances: Array, index: Indices) -> csr_matrix:
        n_landmarks = len(self._landmark_flats)
        return sparse_weights(nearest_distances, index, n_landmarks, width=self._row_width, power=self.power)

    def _dense(self, table: Array) -> Array:
        """Weights (b, D) from squared distances (b, D), which are overwritten."""
        xp = namespace(table)
        table *= -1 / self._width(self.sigma_) if self.power == 2 else 1 / self._width(self.sigma_)
        psi = xp.exp(table if self.power == 2 else -raised(table, self.power))
        psi *= 1 / float(np.sqrt(table.shape[1]))
        if is_host(psi):
            # Subnormal numbers can slow products down.
            psi[psi < np.finfo(psi.dtype).tiny] = 0
        return psi

    def _fit_weights(self, x: Array, n_landmarks: int, rng: np.random.RandomState) -> None:
        """Set the fitted attributes that turn distances into weights."""
        self.n_nearest_ = self.n_nearest
        if self.n_nearest is not None:
            self.n_nearest_ = min(check_integer("n_nearest", self.n_nearest, low=1), n_landmarks)
        self.sigma_per_row_ = is_auto(self.sigma) and self.n_nearest is not None
        self.sigma_ = self._choose_sigma(x, rng)

    def _choose_sigma(self, x: Array, rng: np.random.RandomState) -> float:
        """The given sigma, or a typical one, measured on a sample of the rows."""
        if not is_auto(self.sigma):
            return check_sigma(self.sigma, x.dtype)
        rows = x[rng.choice(len(x), min(len(x), SIGMA_ROWS), replace=False)]
        distances = nearest(rows, self._landmark_flats, self.n_nearest_ or SIGMA_RANK)[1]
        squared = distances[:, -1] - (0 if self.n_nearest is None else distances[:, 0])
        return float(np.sqrt(np.median(squared))) or 1.0
