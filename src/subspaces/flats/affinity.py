"""Affinities between rows with a flat at each, and votes of flats: the mathematics of SLBF."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from subspaces._core.arrays import Array, Labels
from subspaces._core.blocks import row_blocks
from subspaces._core.progress import advance
from subspaces._core.smallest import smallest
from subspaces.flats.distances import distances_to
from subspaces.flats.flats import Flats
from subspaces.flats.thresholds import LEAST_SCALE_SHARE


def flat_affinity(x: Array, flats: Flats, scales: Array, *, n_nearest: int) -> csr_matrix:
    """Symmetric weights (n, n) between rows of `x` (n, p) with a flat at each; each row keeps the `n_nearest` largest.

    The weight is exp(-s_ij / (2 scale_i)) + exp(-s_ij / (2 scale_j)), where s_ij is the geometric mean of the distances
    dist(x_i, L_j) and dist(x_j, L_i).
    """
    n = len(x)
    count = min(n_nearest + 1, n)
    to_all = distances_to(flats)
    index = np.empty((n, count), np.intp)
    weights = np.empty((n, count), x.dtype)
    blocks = list(row_blocks(n, n * (flats.dim + 8) * x.itemsize))
    for done, rows in enumerate(blocks):
        # Take roots before the product, because products of squares can overflow.
        lengths = np.sqrt(np.sqrt(to_all(x[rows]))) * np.sqrt(np.sqrt(distances_to(flats[rows])(x).T))
        table = np.exp(-lengths / (2 * scales)) + np.exp(-lengths / (2 * scales[rows, None]))
        index[rows] = smallest(-table, count)
        weights[rows] = np.take_along_axis(table, index[rows], 1)
        advance("affinity", done + 1, len(blocks))
    weights[index == np.arange(n)[:, None]] = 0
    graph = csr_matrix((weights.ravel(), index.ravel(), np.arange(0, n * count + 1, count)), shape=(n, n))
    graph.eliminate_zeros()
    return graph.maximum(graph.T).tocsr()


def flat_scales(residuals: Array, floor: float, *, squared: bool) -> Array:
    """The scale of each flat: the root of its mean squared residual (m,), or its square if `squared`.

    The root is at least `floor` and a share of the median, so that a flat that happens to fit exactly has neighbours.
    """
    lengths = np.sqrt(residuals)
    lengths = np.maximum(lengths, max(floor, LEAST_SCALE_SHARE * float(np.median(lengths)))).astype(residuals.dtype)
    return np.square(lengths) if squared else lengths


def labels_by_votes(x: Array, flats: Flats, scales: Array, labels: Labels, *, n_nearest: int) -> Labels:
    """Cluster (n,) of each row of `x` (n, p), by votes of its `n_nearest` nearest flats.

    A flat votes for its cluster, in `labels` (m,), with the weight exp(-dist / (2 scale)).
    """
    n_clusters = int(labels.max()) + 1
    squared_distances = distances_to(flats)
    result = np.empty(len(x), np.int32)
    for rows in row_blocks(len(x), len(flats) * (flats.dim + 4) * x.itemsize):
        exponents = np.sqrt(squared_distances(x[rows])) / (2 * scales)
        index = smallest(exponents, min(n_nearest, len(flats)))
        near = np.take_along_axis(exponents, index, 1)
        # Relative to the nearest flat, so that the weights of far rows do not underflow.
        shares = np.exp(near.min(axis=1, keepdims=True) - near)
        sums = np.zeros((len(near), n_clusters))
        np.add.at(sums, (np.arange(len(near))[:, None], labels[index]), shares)
        result[rows] = sums.argmax(axis=1)
    return result
