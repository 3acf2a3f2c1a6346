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


def flat_affinity(x: Array, flats: Flats, scales: Array, *, n_nearest: int) -> csr_matrix:
    """Symmetric weights (n, n) between rows of `x` (n, p) with a flat at each, the `n_nearest` largest of each row.

    With s_ij the geometric mean of dist(x_i, L_j) and dist(x_j, L_i), the weight is
    exp(-s_ij / (2 scale_i)) + exp(-s_ij / (2 scale_j)).
    """
    n = len(x)
    count = min(n_nearest + 1, n)
    to_all = distances_to(flats)
    index = np.empty((n, count), np.intp)
    weights = np.empty((n, count), x.dtype)
    blocks = list(row_blocks(n, n * (flats.dim + 8) * x.itemsize))
    for done, rows in enumerate(blocks):
        # A root before the product: squares of squares overflow.
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
    """The scale of each flat from its mean squared residual (m,): the root of it, or itself if `squared`.

    At least `floor`, a length, and a tenth of the median: a flat that happens to fit exactly still has neighbours.
    """
    lengths = np.sqrt(residuals)
    lengths = np.maximum(lengths, max(floor, 0.1 * float(np.median(lengths)))).astype(residuals.dtype)
    return np.square(lengths) if squared else lengths


def labels_by_votes(x: Array, flats: Flats, scales: Array, labels: Labels, *, n_nearest: int) -> Labels:
    """Cluster (n,) of each row of `x` (n, p): the one with the largest sum of exp(-dist / (2 scale)) over the
    `n_nearest` nearest flats, whose clusters are `labels` (m,).
    """
    n_clusters = int(labels.max()) + 1
    squared_distances = distances_to(flats)
    result = np.empty(len(x), np.int32)
    for rows in row_blocks(len(x), len(flats) * (flats.dim + 4) * x.itemsize):
        exponents = np.sqrt(squared_distances(x[rows])) / (2 * scales)
        index = smallest(exponents, min(n_nearest, len(flats)))
        near = np.take_along_axis(exponents, index, 1)
        # Relative to the nearest flat, so that the weights of far rows do not all vanish.
        shares = np.exp(near.min(axis=1, keepdims=True) - near)
        sums = np.zeros((len(near), n_clusters))
        np.add.at(sums, (np.arange(len(near))[:, None], labels[index]), shares)
        result[rows] = sums.argmax(axis=1)
    return result
