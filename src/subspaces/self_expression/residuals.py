"""Labels of new rows, by how well each cluster of a labelled sample reproduces them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Indices, Labels
from subspaces._core.blocks import row_blocks


@dataclass(frozen=True, slots=True, eq=False)
class ClusterGrams:
    """Gram matrices of the clusters of a sample: X_k' X_k, where X_k are the rows of cluster k."""

    inverse: NDArray[np.float64]  # (p, p), (X'X + ridge)^-1 on the span of the sample
    grams: NDArray[np.float64]  # (K, p, p)

    def reordered(self, order: Indices) -> ClusterGrams:
        """The same clusters in another order (K,)."""
        return ClusterGrams(self.inverse, self.grams[order])


def cluster_grams(x: Array, labels: Labels, n_clusters: int, *, ridge: float) -> ClusterGrams:
    """The Gram matrices of a labelled sample `x` (m, p)."""
    wide = x.astype(np.float64)
    members = [wide[labels == k] for k in range(n_clusters)]
    grams = np.stack([rows.T @ rows for rows in members])
    values, vectors = np.linalg.eigh(grams.sum(axis=0))
    # Leave out directions outside the span of the sample: dividing by the ridge alone would amplify rounding errors.
    there = values > len(values) * np.finfo(np.float64).eps * values[-1]
    vectors = vectors[:, there]
    return ClusterGrams((vectors / (values[there] + ridge)) @ vectors.T, grams)


def least_residual(x: Array, sample: ClusterGrams) -> Labels:
    """The cluster (n,) with the smallest regularised residual |y - X_k' c_k|^2 / |c_k|^2 for each row y of `x` (n, p).

    c = (X X' + ridge)^-1 X y are the coefficients of y on all rows of the sample, c_k those of cluster k. Because
    c = X (X'X + ridge)^-1 y, only p x p matrices are needed for a sample of any size.
    """
    labels = np.empty(len(x), np.int32)
    for block in row_blocks(len(x), 4 * len(sample.grams) * x.shape[1] * 8):
        rows = x[block].astype(np.float64)
        weights = rows @ sample.inverse
        parts = weights @ sample.grams
        residuals = np.square(rows - parts).sum(axis=2)
        squares = np.maximum((weights * parts).sum(axis=2), 0)
        # A cluster with zero coefficients explains nothing.
        ratios = np.divide(residuals, squares, out=np.full_like(residuals, np.inf), where=squares > 0)
        labels[block] = ratios.argmin(axis=0)
    return labels
