"""Spectral clustering of a sparse graph whose nodes are the rows."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import LinearOperator, eigsh

from subspaces._array import Array, Labels, inverse, unit_rows
from subspaces._threads import one_thread
from subspaces.kmeans import kmeans, nearest_centers

# Every pair of nodes is tied this strongly, as a share of the mean degree spread over all nodes. Ties order the
# pieces of a graph that falls apart: large ones come first, and a stray node is no cluster.
TIE = 1e-3
# Up to this many nodes the dense eigenproblem is the faster one.
DENSE_NODES = 500
N_STARTS = 20


def spectral_labels(affinity: csr_matrix, n_clusters: int, *, rng: np.random.RandomState) -> Labels:
    """Clusters (n,) of the nodes of a graph with symmetric weights `affinity` (n, n), none negative.

    Normalised spectral clustering (Ng, Jordan and Weiss, 2001): k-means of the unit rows of the leading eigenvectors.
    """
    if n_clusters == 1:
        return np.zeros(affinity.shape[0], np.int32)
    rows = unit_rows(spectral_vectors(affinity, n_clusters, rng=rng))
    runs = kmeans(rows, n_clusters, n_starts=N_STARTS, rng=rng)
    return nearest_centers(rows, runs.points[int(runs.inertia.argmin())])


def spectral_vectors(affinity: csr_matrix, count: int, *, rng: np.random.RandomState) -> Array:
    """Leading eigenvectors (n, count) of the normalised weights of a graph, the trivial one first."""
    n = affinity.shape[0]
    weights = csr_matrix(affinity, dtype=np.float64)
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    tie = TIE * degrees.mean() / n if degrees.any() else 1.0
    scale = inverse(degrees + n * tie, 0.5)

    def multiply(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        scaled = (scale * vectors.T).T
        return (scale * (weights @ scaled + tie * scaled.sum(axis=0)).T).T

    with one_thread():
        if n <= max(DENSE_NODES, 4 * count):
            vectors = scipy.linalg.eigh(multiply(np.eye(n)), subset_by_index=[max(0, n - count), n - 1])[1]
        else:
            operator = LinearOperator((n, n), matvec=multiply, matmat=multiply, dtype=np.float64)
            start = rng.uniform(-1, 1, n)
            vectors = eigsh(operator, count, which="LA", v0=start, ncv=max(4 * count, 40))[1]
    return np.ascontiguousarray(vectors[:, ::-1])
