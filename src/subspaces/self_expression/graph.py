"""The graph that codes define between rows."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, issparse

from subspaces._core.errors import UserTypeError


def affinity(codes: csr_matrix, *, mass: float = 1.0, min_edges: int = 1) -> csr_matrix:
    """Symmetric weights (n, n) between rows from their codes (n, n).

    Each row keeps its largest entries, up to the share `mass` of the sum of their magnitudes but at least `min_edges`
    of them, divided by the largest.
    """
    if not issparse(codes) or codes.shape[0] != codes.shape[1]:
        raise UserTypeError(f"codes is {type(codes).__name__}: pass a sparse matrix (n, n).", parameter="codes")
    weights = abs(codes).tocsr()
    owner = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    order = np.lexsort((-weights.data, owner))
    data, columns = weights.data[order].astype(np.float64), weights.indices[order]
    # Divide by the largest entry of each row before summing, so that rows of any size can be compared.
    peaks = data[weights.indptr[owner]]
    data = np.divide(data, peaks, out=np.zeros_like(data), where=peaks > 0)
    sums = np.concatenate([[0], np.cumsum(data)])
    before = sums[:-1] - sums[weights.indptr[owner]]
    total = (sums[weights.indptr[1:]] - sums[weights.indptr[:-1]])[owner]
    rank = np.arange(len(data)) - weights.indptr[owner]
    # The entry that reaches the share is kept, so that no row loses all entries.
    kept = ((before < mass * total) | (rank < min_edges)) & (data > 0)
    relative = data[kept]
    picked = csr_matrix((relative, (owner[kept], columns[kept])), shape=weights.shape)
    return (picked + picked.T).tocsr()
