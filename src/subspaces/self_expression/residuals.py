"""Labels of new rows by how well each cluster of a sample reproduces them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Labels
from subspaces._core.blocks import row_blocks


@dataclass(frozen=True, slots=True, eq=False)
class ClusterGrams:
    """What the rows of a sample know about new rows: with X_k the rows of cluster k, X_k' X_k for each k."""

    inverse: NDArray[np.float64]  # (p, p), (X'X + ridge)^-1 on the span of the sample
    grams: NDArray[np.float64]  # (K, p, p)


def cluster_grams(x: Array, labels: Labels, n_clusters: int, *, ridge: float) -> ClusterGrams:
    """The sums of a labelled sample `x` (m, p)."""
    wide = x.astype(np.float64)
    members = [wide[labels == k] for k in range(n_clusters)]
    grams = np.stack([rows.T @ rows for rows in members])
    values, vectors = np.linalg.eigh(grams.sum(axis=0))
    # Directions that the sample does not have take no part: dividing by the ridge alone would only blow up rounding.
    there = values > len(values) * np.finfo(np.float64).eps * values[-1]
    vectors = vectors[:, there]
    return ClusterGrams((vectors / (values[there] + ridge)) @ vectors.T, grams)


def least_residual(x: Array, sample: ClusterGrams) -> Labels:
    """The cluster (n,) of each row of `x` (n, p) of least regularised residual |y - X_k' c_k|^2 / |c_k|^2.

    c = (X X' + ridge)^-1 X y are the coefficients of y on all rows of the sample, c_k those of cluster k. As
    c = X (X'X + ridge)^-1 y, no more than p x p matrices are needed, however large the sample is.
    """
    labels = np.empty(len(x), np.int32)
    for block in row_blocks(len(x), 4 * len(sample.grams) * x.shape[1] * 8):
        rows = x[block].astype(np.float64)
        weights = rows @ sample.inverse
        parts = weights @ sample.grams
        residuals = np.square(rows - parts).sum(axis=2)
        squares = np.maximum((weights * parts).sum(axis=2), 0)
        # A cluster that takes no part explains nothing.
        ratios = np.divide(residuals, squares, out=np.full_like(residuals, np.inf), where=squares > 0)
        labels[block] = ratios.argmin(axis=0)
    return labels
