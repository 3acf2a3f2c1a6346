"""Spectral clustering of centroids: their choice, their affinity and its eigenvectors."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from subspaces._core.arrays import Array, inverse
from subspaces._core.eigen import largest_eigenpairs
from subspaces._core.threads import one_thread
from subspaces.spectral.kmeans import lloyd
from subspaces.spectral.thresholds import (
    CENTROID_STEPS,
    CENTROID_TIE,
    CENTROIDS_PER_CLUSTER,
    FEW_CENTROIDS,
    MAX_CENTROIDS,
    ROWS_PER_CENTROID,
    SCALE_NEIGHBOR,
)


def centroid_count(n_rows: int, n_clusters: int) -> int:
    """Default number of centroids."""
    most = max(FEW_CENTROIDS, CENTROIDS_PER_CLUSTER * n_clusters, min(n_rows // ROWS_PER_CENTROID, MAX_CENTROIDS))
    return min(n_rows, most)


def choose_centroids(x: Array, count: int, rng: np.random.RandomState) -> Array:
    """Distinct centres of k-means on all rows of `x` (n, p), at most `count`: (m, p)."""
    if count >= len(x):
        return np.unique(x, axis=0)
    start = x[rng.choice(len(x), count, replace=False)]
    # Copies of a centre would count as neighbours of each other.
    return np.unique(lloyd(x, start[None], max_iter=CENTROID_STEPS).points[0], axis=0)


def scaled_affinity(points: Array) -> Array:
    """exp(-|x_i - x_j|^2 / (s_i s_j)) for distinct points (m, p), s the distance to a near neighbour: (m, m).

    A scale per point suits clusters of different density (Zelnik-Manor and Perona, NIPS 2004).
    """
    distances = cdist(points, points)
    scales = np.sort(distances, axis=1)[:, min(SCALE_NEIGHBOR, len(points) - 1)]
    with np.errstate(under="ignore"):
        scaled = distances / np.where(scales > 0, scales, 1)
        return np.exp(-scaled * scaled.T)


def dense_spectrum(affinity: Array, count: int) -> tuple[Array, Array, Array]:
    """Leading eigenvalues (q,) and eigenvectors (m, q) of a normalised affinity (m, m), and its degrees (m,).

    The trivial eigenvector, the root of the degrees, is left out; q is `count`, or m if that is less.
    """
    # Weak ties between all points order the pieces of a disconnected graph: large ones come first.
    affinity = affinity + CENTROID_TIE * affinity.mean()
    degrees = affinity.sum(axis=1)
    scale = inverse(degrees, 0.5)
    trivial = np.sqrt(degrees / degrees.sum())
    # Subtracted twice, so that its eigenvalue becomes -1: at zero it would mix with the null space.
    matrix = affinity * scale[:, None] * scale - 2 * np.outer(trivial, trivial)
    with one_thread():
        values, vectors = largest_eigenpairs(matrix, count)
    return np.maximum(values[::-1], 0), np.ascontiguousarray(vectors[:, ::-1]), degrees
