"""Flats of the clusters of a labelling, and the dimension that explains the labelling best."""

from __future__ import annotations

import numpy as np

from subspaces._core.arrays import Array, Labels
from subspaces._core.blocks import row_blocks
from subspaces.flats.fitting import fit_flats
from subspaces.flats.flats import Flats


def flats_of_labels(x: Array, labels: Labels, n_clusters: int, dim: int, *, affine: bool) -> Flats:
    """The least-squares flat of each cluster of rows of `x` (n, p); an empty cluster gets the flat of all rows."""
    members = [np.flatnonzero(labels == k) for k in range(n_clusters)]
    return fit_flats(x, [rows if len(rows) else np.arange(len(x)) for rows in members], dim, affine=affine)[0]


def cluster_flats(x: Array, labels: Labels, n_clusters: int, *, dim: int | None, affine: bool) -> Flats:
    """A flat for each cluster of the rows of `x` (n, p); an empty cluster gets the flat of all rows.

    Without `dim`, the smallest dimension at which the nearest flat reproduces the most labels.
    """
    if dim is not None:
        return flats_of_labels(x, labels, n_clusters, dim, affine=affine)
    # Flats of more dimensions would pass through nearly all rows of a cluster. No kept study.
    sizes = np.bincount(labels, minlength=n_clusters)
    most = max(1, min(x.shape[1] - 1, int(np.median(sizes)) // 2))
    flats = flats_of_labels(x, labels, n_clusters, most, affine=affine)
    return Flats(flats.centers, flats.bases[:, :, : agreeing_dim(x, labels, flats)])


def agreeing_dim(x: Array, labels: Labels, flats: Flats) -> int:
    """Number of leading directions of `flats` with which the most rows of `x` (n, p) are nearest to their own flat."""
    right = np.zeros(flats.dim, np.int64)
    count, p, dim = flats.bases.shape
    for block in row_blocks(len(x), 4 * count * (dim + p) * x.itemsize):
        offsets = x[block][:, None, :] - flats.centers
        along = np.einsum("nkp,kpd->nkd", offsets, flats.bases, optimize=True)
        # Squared distances for all dimensions at once: each direction reduces them further.
        left = np.square(offsets).sum(axis=2)[:, :, None] - np.cumsum(np.square(along), axis=2)
        right += (left.argmin(axis=1) == labels[block][:, None]).sum(axis=0)
    return int(right.argmax()) + 1
