"""The graph of a dense kernel: weights psi(x).psi(y) between all rows, known only through their features.

Features with signs, such as waves and whitened columns, estimate a kernel that is not negative, but an estimate can be,
and so can the degree of a row far from all others, whose square root would be no number. A constant feature adds the
same small weight to every pair of rows: enough of it makes every degree positive, keeps the trivial eigenvector exact,
and is the regularised spectral clustering of Amini, Chen, Bickel and Levina (Annals of Statistics, 2013).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, inverse, unit_rows
from subspaces.spectral.kmeans import kmeans, nearest_centers
from subspaces.spectral.modularity import cluster_shares
from subspaces.spectral.partition import MAX_FIT_ROWS, Partition, at_most, plain_partition
from subspaces.spectral.spectrum import Psi, PsiBlocks, Spectrum

# The smallest degree that a row shall have, as a share of the mean degree.
DEGREE_FLOOR = 0.1
# Values that differ by less than this share are the same but for rounding.
EQUAL = 1e-5


def smallest_tie(blocks: PsiBlocks) -> float:
    """The least weight to add to every pair of rows, so that no degree falls below its floor; zero if none does.

    `blocks()` starts a fresh pass over psi (n, D).
    """
    total = np.sum([np.asarray(psi.sum(axis=0, dtype=np.float64)).ravel() for psi in blocks()], axis=0)
    degrees = np.concatenate([np.asarray(psi @ total.astype(psi.dtype), np.float64) for psi in blocks()])
    low, mean = float(degrees.min()), float(degrees.mean())
    # A degree of low + t n must reach the floor's share of mean + t n.
    tie = max(0.0, DEGREE_FLOOR * mean - low) / ((1 - DEGREE_FLOOR) * len(degrees))
    # Nothing but zeros: any weight will do.
    return tie if mean > 0 else 1.0


def with_constant(psi: Psi, tie: float) -> Psi:
    """psi (n, D) and a constant feature that adds `tie` to all inner products: (n, D + 1), or psi where it is zero."""
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
    """k-means on the unit rows of the embedding (n, q), over numbers of eigenvectors `counts`; modularity chooses.

    The graph is the normalised kernel as its leading eigenvectors give it: with the trivial one, sqrt(degrees) (n,),
    they turn its weights into inner products of few coordinates, and the features are not needed again.
    """
    if len(counts) == 1:
        return plain_partition(embedding, n_clusters, n_starts=n_starts, rng=rng)
    # The trivial eigenvector, of length one over all rows as the others are.
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
    """Index of the first value that is the largest but for rounding, which must not choose between equals."""
    return int(np.argmax(values >= values.max() - EQUAL * np.abs(values).max()))
