"""Sparse psi with the same number of entries in each row, in any array library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from subspaces._core.arrays import Array, fixed, has_kernels, namespace, sums_at
from subspaces._core.offload import on_device

# An entry of psi takes as long as this many multiplications of a product. Speed only.
ENTRY_WORK = 20


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """psi (n, D) by the columns and weights of the r nonzero entries of each row.

    It replaces a CSR matrix on devices, which do not have one.
    """

    index: Any  # (n, r), whole numbers
    weights: Array  # (n, r)
    n_columns: int
    counts: Array | None = None  # (n,), how often each row counts in sums; None for once

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.weights.shape[0]), self.n_columns

    @property
    def dtype(self) -> Any:
        return self.weights.dtype

    def __matmul__(self, table: NDArray[Any]) -> Array:
        """Products (n, ...) with a NumPy `table` (D, ...), where the rows are."""
        xp = namespace(self.weights)
        n, r = self.weights.shape
        entries = xp.take(fixed(table, self.weights), xp.reshape(self.index, (-1,)), axis=0)
        chosen = xp.reshape(entries, (n, r, -1))
        found = xp.sum(chosen * self.weights[:, :, None], axis=1)
        return found[:, 0] if table.ndim == 1 else found

    def sums(self) -> tuple[Array, Array]:
        """Sum (D,) of the rows and of their outer products (D, D), in float64."""
        xp = namespace(self.weights)
        size = self.n_columns
        if has_kernels(self.weights):
            from subspaces.spectral.triton import sparse_sums

            return sparse_sums(self.index, self.weights, self.counts, size)
        counted = self.weights if self.counts is None else self.weights * self.counts[:, None]
        total = sums_at(xp.reshape(self.index, (-1,)), xp.reshape(counted, (-1,)), size)
        wide = xp.astype(self.index, xp.int64)
        cells = wide[:, :, None] * size + wide[:, None, :]
        products = counted[:, :, None] * self.weights[:, None, :]
        gram = sums_at(xp.reshape(cells, (-1,)), xp.reshape(products, (-1,)), size * size)
        return total, xp.reshape(gram, (size, size))


def sparse_on_device(psi: csr_matrix, n_products: int) -> SparseRows | None:
    """psi (n, D) on the device in use, for products with `n_products` columns; None to stay on the host.

    Its rows have the same number of entries, and it never changes.
    """
    n, size = psi.shape
    r = psi.nnz // max(1, n)
    if not r or r * n != psi.nnz or (np.diff(psi.indptr) != r).any():
        return None
    work = ENTRY_WORK * psi.nnz * n_products
    index, weights = on_device(psi.indices, work), on_device(psi.data, work)
    if index is None or weights is None:
        return None
    xp = namespace(weights)
    return SparseRows(xp.astype(xp.reshape(index, (n, r)), xp.int64), xp.reshape(weights, (n, r)), size)
