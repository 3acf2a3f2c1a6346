"""The graph of a dense kernel: weights psi(x).psi(y) between all rows, given by their features.

Signed features, such as random Fourier features and whitened columns, estimate a nonnegative kernel, but the estimate
can be negative, and so can the degree of a row far from all others. A constant feature adds the same small weight to
every pair of rows: it makes every degree positive and keeps the trivial eigenvector exact. This is the regularised
spectral clustering of Amini, Chen, Bickel and Levina (Annals of Statistics, 2013).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, inverse, unit_rows
from subspaces.spectral.kmeans import kmeans, nearest_centers
from subspaces.spectral.modularity import cluster_shares
from subspaces.spectral.partition import Partition, at_most, plain_partition
from subspaces.spectral.spectrum import Psi, PsiBlocks, Spectrum
from subspaces.spectral.thresholds import DEGREE_FLOOR, MAX_FIT_ROWS

# Values that differ by less than this share are equal up to rounding.
EQUAL = 1e-5


def smallest_tie(blocks: PsiBlocks) -> float:
    """The smallest weight to add to every pair of rows so that no degree is below its floor; zero if none is.

    `blocks()` starts a new pass over psi (n, D).
    """
    total = np.sum([np.asarray(psi.sum(axis=0, dtype=np.float64)).ravel() for psi in blocks()], axis=0)
    degrees = np.concatenate([np.asarray(psi @ total.astype(psi.dtype), np.float64) for psi in blocks()])
    low, mean = float(degrees.min()), float(degrees.mean())
    # A degree of low + t n must reach the floor's share of mean + t n.
    tie = max(0.0, DEGREE_FLOOR * mean - low) / ((1 - DEGREE_FLOOR) * len(degrees))
    # All features are zero: any weight will do.
    return tie if mean > 0 else 1.0


def with_constant(psi: Psi, tie: float) -> Psi:
    """psi (n, D) with a constant feature that adds `tie` to all inner products: (n, D + 1), or psi if `tie` is zero."""
    if not tie:
        return psi
    return np.column_stack([psi, np.full(len(psi), np.sqrt(tie), psi.dtype)])


def normalized(psi: Array, spectrum: Spectrum) -> Array:
    """Features (n, D) whose inner products are the weights of the normalised graph: psi over the root of the degree."""
    return psi * inverse(psi @ spectrum.degree.astype(psi.dtype), 0.5)[:, None]


def kernel_modularity(shares: NDArray[np.float64]) -> float:
    """Modularity of K clusters on a graph with weights z_i.z_j, from the mean of [label = k] z over rows: (K, D)."""
    weights = shares @ shares.T
    weights = weights * inverse(np.asarray(weights.sum()))
    return float(np.trace(weights) - np.square(weights.sum(axis=1)).sum())


def best_plain_partition(
    embedding: Array,
    degrees: Array,
    eigenvalues: Array,
    n_clusters: int,
    *,
    counts: Sequence[int],
    n_starts: int,
    rng: np.random.RandomState,
) -> Partition:
    """k-means on the unit rows of the embedding (n, q), for the number of eigenvectors with the largest modularity.

    The graph is approximated by the leading eigenvectors of the normalised kernel: with the trivial one, sqrt(degrees)
    (n,), its weights are inner products of a few coordinates, and the features are not needed again.
    """
    if len(counts) == 1:
        return plain_partition(embedding, n_clusters, n_starts=n_starts, rng=rng)
    # The trivial eigenvector, of unit length over all rows like the others.
    trivial = np.sqrt(np.maximum(degrees, 0) * inverse(degrees.sum(dtype=np.float64, keepdims=True)))
    sample = at_most(np.arange(len(embedding)), MAX_FIT_ROWS, rng)
    embedding, trivial = embedding[sample], trivial[sample]
    coordinates = np.column_stack([trivial, embedding * np.sqrt(eigenvalues)])
    candidates = []
    for count in sorted({min(count, embedding.shape[1]) for count in counts}):
        rows = unit_rows(embedding[:, :count])
        runs = kmeans(rows, n_clusters, n_starts=n_starts, rng=rng)
        centers = runs.points[_first_of_best(-runs.inertia)]
        shares = cluster_shares(coordinates, nearest_centers(rows, centers), n_clusters)
        candidates.append(Partition(n_clusters, count, centers, modularity=kernel_modularity(shares)))
    return candidates[_first_of_best(np.array([partition.modularity for partition in candidates]))]


def _first_of_best(values: Array) -> int:
    """Index of the first value that equals the largest up to rounding."""
    return int(np.argmax(values >= values.max() - EQUAL * np.abs(values).max()))
