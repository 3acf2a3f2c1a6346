"""psi of all rows: kept as a sparse matrix, or computed block by block in every pass, and its leading eigenvectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from subspaces._core.arrays import Array, Indices, concatenate, is_dask, is_host, like, namespace, to_host
from subspaces._core.blocks import row_blocks
from subspaces._core.threads import mapped, n_threads
from subspaces.features.base import FeatureMap, stack
from subspaces.features.distance import DistanceFeatures
from subspaces.spectral.iterated import sparse_spectrum
from subspaces.spectral.kernel_graph import smallest_tie, with_constant
from subspaces.spectral.sparse import SparseRows
from subspaces.spectral.spectrum import (
    Psi,
    Spectrum,
    added,
    balanced_sums,
    column_sums,
    degree_sums,
    embed,
    product,
    product_sums,
    spectrum_of_products,
    spectrum_of_sums,
)

R = TypeVar("R")
Weights: TypeAlias = NDArray[np.float64]
# Rows that one thread sums. Speed only, beyond rounding.
GROUP_ROWS = 8192
# Dense psi that is kept in memory between passes. Speed only.
KEPT_BYTES = 256 * 2**20
# Eigenvectors of dense psi are iterated by block products if psi has at least this many columns: the first number if
# all of psi is kept, the second if every pass computes it again. Speed only, beyond rounding;
# benchmarks/speed/products.py.
LEAST_WIDTH = 3000
LEAST_WIDTH_AGAIN = 12_000
# It must also have this many times as many columns as vectors are wanted.
LEAST_SHARE = 20
# From this many landmarks on, sparse psi of all rows may be kept instead of sums. Speed and memory only.
MANY_LANDMARKS = 4000


class Summed(Protocol):
    """Rows of which all decisions see a sample, and whose sums are over all of them."""

    is_sampled: bool
    n_rows: int
    copies: Indices | None  # None if rows have no weights

    def map(self, function: Callable[[Array], Any]) -> Any:
        """The results of `function` for all blocks, concatenated, where the rows are."""

    def sum(self, function: Callable[[Array], Any], name: str) -> tuple[NDArray[Any], ...]:
        """Sums over all blocks of the arrays that `function` returns for each, given `weights` if rows have some."""


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

    If the rows are a sample, sums or sparse psi are those of all blocks of `feed`, whose rows `prepare` prepares.
    """
    psi = found.psi
    if isinstance(psi, DenseBlocks):
        return _dense_spectrum(psi, n_vectors, feed, prepare)
    if not feed.is_sampled:
        return sparse_spectrum(psi, n_vectors)
    blocks, width = FeatureBlocks(prepare, found.features), psi.shape[1]
    # With many landmarks, the weights of all rows take less memory than the D x D sums, and less time.
    has_few = width >= MANY_LANDMARKS and feed.n_rows * psi.nnz < width**2 * psi.shape[0]
    if has_few and feed.copies is None and isinstance(found.features, DistanceFeatures):
        table = feed.map(partial(nearest_of, psi=blocks))
        table = np.asarray(table) if is_dask(table) else to_host(table)
        return sparse_spectrum(_sparse_psi(table, width), n_vectors)
    total, gram = feed.sum(partial(balanced_sums_of, psi=blocks), "products")
    return spectrum_of_sums(total, gram, n_vectors, balanced=True, dtype=psi.dtype)


def _dense_spectrum(psi: DenseBlocks, n_vectors: int, feed: Summed, prepare: Callable[[Array], Array]) -> Spectrum:
    """The same for dense psi: degrees first, then block products if D is large, or else the D x D matrix."""
    blocks = FeatureBlocks(prepare, psi.features, psi.tie)

    def summed(of_block: Callable[..., Any], of_rows: Callable[..., Any], name: str, **given: Any) -> Any:
        if feed.is_sampled:
            return feed.sum(partial(of_rows, psi=blocks, **given), name)[0]
        return added(psi.map_groups(lambda group: added((of_block(block, **given),) for block, _ in group)))[0]

    total = summed(column_sums, column_sums_of, "degrees")
    dtype = psi.rows.dtype
    kept = not feed.is_sampled and len(psi.rows) * len(total) * dtype.itemsize <= KEPT_BYTES
    if len(total) >= max(LEAST_WIDTH if kept else LEAST_WIDTH_AGAIN, LEAST_SHARE * n_vectors):
        products = partial(summed, product_sums, product_sums_of, "block products", degree=total)
        found = spectrum_of_products(total, lambda vectors: products(vectors=vectors), n_vectors, dtype=dtype)
        if found is not None:
            return found
    gram = summed(degree_sums, degree_sums_of, "products", degree=total)
    return spectrum_of_sums(total, gram, n_vectors, balanced=False, dtype=dtype)


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

    def sums(
        self, x: Array, function: Callable[[Any], tuple[Any, ...]], weights: Weights | None = None
    ) -> tuple[Any, ...]:
        """Sums of the results of `function` over blocks of psi, for the rows of `x` (b, p) of any array library.

        With `weights` (b,), each row counts as often as its weight: all sums are homogeneous in psi, so that it is
        enough to multiply psi by them.
        """
        rows = self.prepare(x)
        # Sparse features use threads of their own.
        if not is_host(rows) or self.features.is_sparse:
            return self._sums(rows, function, weights)

        def sums_of(group: slice) -> tuple[Any, ...]:
            return self._sums(rows[group], function, None if weights is None else weights[group])

        return added(in_groups(sums_of, rows, self.features))

    def _sums(
        self, rows: Array, function: Callable[[Any], tuple[Any, ...]], weights: Weights | None
    ) -> tuple[Any, ...]:
        blocks = (with_constant(psi, self.tie) for psi in self.features.blocks(rows))
        return added(map(function, blocks if weights is None else counted(blocks, weights)))


def counted(blocks: Iterable[Any], weights: Weights) -> Iterator[Any]:
    """Blocks (b, D) of psi, each row multiplied by its weight, from `weights` (n,) of all of them."""
    first = 0
    for psi in blocks:
        own = weights[first : first + psi.shape[0]]
        first += psi.shape[0]
        if isinstance(psi, SparseRows):
            yield replace(psi, counts=like(own, psi.weights))
        elif isinstance(psi, csr_matrix):
            entries = psi.data * np.repeat(own, np.diff(psi.indptr)).astype(psi.dtype)
            yield csr_matrix((entries, psi.indices, psi.indptr), shape=psi.shape)
        else:
            yield psi * like(own, psi)[:, None]


def in_groups(function: Callable[[slice], R], rows: Array, features: FeatureMap) -> Iterator[R]:
    """Results of `function` for groups of rows (n, q), in order; in threads if the features allow it."""
    groups = list(row_blocks(len(rows), 1, block_rows=GROUP_ROWS))
    at_once = n_threads() if features.in_threads else 1
    for first in range(0, len(groups), at_once):
        yield from mapped(function, groups[first : first + at_once], most=None)


def nearest_of(x: Array, *, psi: FeatureBlocks) -> Array:
    """The landmarks of sparse psi and their weights, (b, 2 r), for the rows of `x` (b, p)."""
    assert isinstance(psi.features, DistanceFeatures)
    parts, r = [], psi.features.n_nearest_
    block: Any
    for block in psi.features.blocks(psi.prepare(x)):
        if isinstance(block, SparseRows):
            index, weights = block.index, block.weights
        else:
            index, weights = block.indices.reshape(-1, r), block.data.reshape(-1, r)
        xp = namespace(weights)
        # float32 has all whole numbers up to 16 million.
        parts.append(xp.concat([xp.astype(index, weights.dtype), weights], axis=1))
    return concatenate(parts)


def _sparse_psi(table: NDArray[Any], n_landmarks: int) -> csr_matrix:
    """psi (n, D) from the table (n, 2 r) of `nearest_of`."""
    n, r = len(table), table.shape[1] // 2
    index = table[:, :r].astype(np.int32)
    ends = np.arange(0, n * r + 1, r)
    return csr_matrix((table[:, r:].ravel(), index.ravel(), ends), shape=(n, n_landmarks))


def column_sums_of(x: Array, *, psi: FeatureBlocks, weights: Weights | None = None) -> tuple[Any, ...]:
    """The sum (D,) of psi over the rows of `x` (b, p)."""
    return psi.sums(x, lambda block: (column_sums(block),), weights)


def degree_sums_of(
    x: Array, *, psi: FeatureBlocks, degree: NDArray[np.float64], weights: Weights | None = None
) -> tuple[Any, ...]:
    """The sum (D, D) of psi psi^T over the degree."""
    return psi.sums(x, lambda block: (degree_sums(block, degree),), weights)


def product_sums_of(
    x: Array,
    *,
    psi: FeatureBlocks,
    degree: NDArray[np.float64],
    vectors: NDArray[np.float64],
    weights: Weights | None = None,
) -> tuple[Any, ...]:
    """That sum times `vectors` (D, b), as (D, b)."""
    return psi.sums(x, lambda block: (product_sums(block, degree, vectors),), weights)


def balanced_sums_of(x: Array, *, psi: FeatureBlocks, weights: Weights | None = None) -> tuple[Any, ...]:
    """Both sums, with balanced weights."""
    return psi.sums(x, balanced_sums, weights)
