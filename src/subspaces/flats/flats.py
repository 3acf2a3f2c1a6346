"""Flats: a batch of affine or linear subspaces of equal dimension."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from subspaces._core.arrays import Array, Indices


@dataclass(frozen=True, slots=True, eq=False)
class Flats:
    """A batch of m affine subspaces of R^p, all of dimension d.

    A flat is the set `centers[j] + bases[j] @ t`. A linear subspace has centre zero.
    """

    centers: Array  # (m, p)
    bases: Array  # (m, p, d), orthonormal columns

    def __len__(self) -> int:
        return len(self.centers)

    def __getitem__(self, index: int | slice | Indices) -> Flats:
        """Some of the flats; a single index gives a batch of one."""
        if isinstance(index, int | np.integer):
            index = np.arange(len(self))[[index]]
        return Flats(self.centers[index], self.bases[index])

    def __iter__(self) -> Iterator[Flats]:
        return (self[j] for j in range(len(self)))

    @property
    def dim(self) -> int:
        """Dimension d of every flat."""
        return int(self.bases.shape[2])

    @property
    def is_linear(self) -> bool:
        """Whether all centres are zero."""
        return not self.centers.any()
