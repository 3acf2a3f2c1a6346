"""psi of all rows: kept as a sparse matrix, or computed block by block in every pass, and its leading eigenvectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from subspaces._core.arrays import Array, is_host
from subspaces._core.blocks import row_blocks
from subspaces._core.threads import mapped, n_threads
from subspaces.features.base import FeatureMap, stack
from subspaces.spectral.kernel_graph import smallest_tie, with_constant
from subspaces.spectral.spectrum import (
    Psi,
    Spectrum,
    added,
    balanced_sums,
    column_sums,
    compute_spectrum,
    degree_sums,
    embed,
    product,
    spectrum_of_sums,
)

R = TypeVar("R")
# Rows that one thread sums. Speed only, beyond rounding.
GROUP_ROWS = 8192
# Dense psi that is kept in memory between passes. Speed only.
KEPT_BYTES = 256 * 2**20


class Summed(Protocol):
    """Rows of which all decisions see a sample, and whose sums are over all of them."""

    is_sampled: bool

    def sum(self, function: Callable[[Array], Any], name: str) -> tuple[NDArray[Any], ...]:
        """Sums over all blocks of the arrays that `function` returns for each."""


@dataclass(frozen=True, slots=True, eq=False)
class RowFeatures:
    """psi of rows under a fitted feature map, sparse or in blocks, and their distances to the nearest landmarks."""

    features: FeatureMap
    psi: csr_matrix | DenseBlocks  # (n, D)
    distances: Array | None = None  # (n,), to the nearest landmark; None for dense psi and maps without landmarks

    @property
    def tie(self) -> float:
        """Weight that is added to every pair of rows, so that no degree is negative."""
        return self.psi.tie if isinstance(self.psi, DenseBlocks) else 0.0


def compute_psi(features: FeatureMap, rows: Array) -> RowFeatures:
    """psi of prepared rows (n, q): in memory if the map is sparse, else computed again in each pass."""
    if not features.is_sparse:
        tie = smallest_tie(lambda: features.blocks(rows)) if features.is_signed else 0.0
        return RowFeatures(features, DenseBlocks(features, rows, tie))
    blocks, distances = zip(*features.described_blocks(rows), strict=True)
    return RowFeatures(features, stack(blocks), None if distances[0] is None else np.concatenate(distances))


def leading_vectors(found: RowFeatures, n_vectors: int, *, feed: Summed, prepare: Callable[[Array], Array]) -> Spectrum:
    """Leading eigenvectors of the normalised kernel matrix of all rows.

    If the rows are a sample, the sums run over all blocks of `feed`, whose rows `prepare` prepares.
    """
    psi = found.psi
    if isinstance(psi, DenseBlocks):
        return _dense_spectrum(psi, n_vectors, feed, prepare)
    if not feed.is_sampled:
        return compute_spectrum(lambda: iter((psi,)), n_vectors, balanced=True)
    blocks = FeatureBlocks(prepare, found.features)
    total, gram = feed.sum(partial(balanced_sums_of, psi=blocks), "products")
    return spectrum_of_sums(total, gram, n_vectors, balanced=True, dtype=psi.dtype)


def _dense_spectrum(psi: DenseBlocks, n_vectors: int, feed: Summed, prepare: Callable[[Array], Array]) -> Spectrum:
    """The same for dense psi, in two passes: degrees first, then products."""
    if feed.is_sampled:
        blocks = FeatureBlocks(prepare, psi.features, psi.tie)
        (total,) = feed.sum(partial(column_sums_of, psi=blocks), "degrees")
        (gram,) = feed.sum(partial(degree_sums_of, psi=blocks, degree=total), "products")
    else:
        (total,) = added(psi.map(lambda block, _: (column_sums(block),)))
        (gram,) = added(psi.map_groups(lambda group: added((degree_sums(block, total),) for block, _ in group)))
    return spectrum_of_sums(total, gram, n_vectors, balanced=False, dtype=psi.rows.dtype)


class DenseBlocks:
    """Dense psi of prepared rows (n, q), computed in blocks; the first blocks are kept after the first pass."""

    def __init__(self, features: FeatureMap, rows: Array, tie: float) -> None:
        self.features, self.rows, self.tie = features, rows, tie
        self._kept: dict[int, list[tuple[Psi, Array | None]]] = {}
        self._room = KEPT_BYTES

    def map(self, function: Callable[[Psi, Array | None], R]) -> list[R]:
        """Results of `function` for psi of each block and the distances (b,) to the nearest landmark, if any."""
        return list(chain.from_iterable(self.map_groups(lambda group: [function(*block) for block in group])))

    def map_groups(self, function: Callable[[list[tuple[Psi, Array | None]]], R]) -> Iterator[R]:
        """Results of `function` for the blocks of each group of rows."""
        return in_groups(lambda group: function(self._blocks(group)), self.rows, self.features)

    def embedded(self, spectrum: Spectrum) -> tuple[Array, Array, Array | None]:
        """Embedding (n, q) and degrees (n,) of the rows, and distances (n,) to the nearest landmark, if any."""
        parts = self.map(lambda block, far: (embed(block, spectrum), product(block, spectrum.degree), far))
        embedding, degrees, distances = zip(*parts, strict=True)
        far = None if distances[0] is None else np.concatenate(distances)
        return np.concatenate(embedding), np.concatenate(degrees), far

    def _blocks(self, group: slice) -> list[tuple[Psi, Array | None]]:
        if group.start in self._kept:
            return self._kept[group.start]
        found = self.features.described_blocks(self.rows[group])
        blocks = [(with_constant(psi, self.tie), far) for psi, far in found]
        self._room -= sum(psi.nbytes for psi, _ in blocks)
        if self._room >= 0:
            self._kept[group.start] = blocks
        return blocks


@dataclass(frozen=True, slots=True, eq=False)
class FeatureBlocks:
    """psi of rows as users have them, block by block."""

    prepare: Callable[[Array], Array]
    features: FeatureMap
    tie: float = 0.0

    def sums(self, x: Array, function: Callable[[Any], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Sums of the results of `function` over blocks of psi, for the rows of `x` (b, p) of any array library."""
        rows = self.prepare(x)
        # Sparse features use threads of their own.
        if not is_host(rows) or self.features.is_sparse:
            return self._sums(rows, function)
        return added(in_groups(lambda group: self._sums(rows[group], function), rows, self.features))

    def _sums(self, rows: Array, function: Callable[[Any], tuple[Any, ...]]) -> tuple[Any, ...]:
        return added(function(with_constant(psi, self.tie)) for psi in self.features.blocks(rows))


def in_groups(function: Callable[[slice], R], rows: Array, features: FeatureMap) -> Iterator[R]:
    """Results of `function` for groups of rows (n, q), in order; in threads if the features allow it."""
    groups = list(row_blocks(len(rows), 1, block_rows=GROUP_ROWS))
    at_once = n_threads() if features.in_threads else 1
    for first in range(0, len(groups), at_once):
        yield from mapped(function, groups[first : first + at_once])


def column_sums_of(x: Array, *, psi: FeatureBlocks) -> tuple[Any, ...]:
    """The sum (D,) of psi over the rows of `x` (b, p)."""
    return psi.sums(x, lambda block: (column_sums(block),))


def degree_sums_of(x: Array, *, psi: FeatureBlocks, degree: NDArray[np.float64]) -> tuple[Any, ...]:
    """The sum (D, D) of psi psi^T over the degree."""
    return psi.sums(x, lambda block: (degree_sums(block, degree),))


def balanced_sums_of(x: Array, *, psi: FeatureBlocks) -> tuple[Any, ...]:
    """Both sums, with balanced weights."""
    return psi.sums(x, balanced_sums)
