"""The graph that codes define between rows."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix


def affinity(codes: csr_matrix, *, mass: float = 1.0) -> csr_matrix:
    """Symmetric weights (n, n) between rows from their codes (n, n).

    Each row keeps its largest entries, up to the share `mass` of the sum of their magnitudes, divided by the largest.
    """
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
    # The entry that reaches the share is kept, so that no row loses all entries.
    kept = (before < mass * total) & (data > 0)
    relative = data[kept]
    picked = csr_matrix((relative, (owner[kept], columns[kept])), shape=weights.shape)
    return (picked + picked.T).tocsr()
