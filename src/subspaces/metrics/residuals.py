"""How much of the rows clusters leave beside their subspaces: a score that needs no truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Share of the rows of a cluster that its subspace is fitted to, the nearest.
KEPT = 0.8


def residual_share(rows: NDArray[np.float64], labels: NDArray[Any], dim: int) -> float:
    """How much of a typical row is left beside the affine subspace of its cluster.

    The median over rows of |x - its projection|^2 / |x - mean|^2. Subspaces are fitted to every other row of a cluster
    and measured on those between, so that more clusters gain nothing by chance, and refitted without the farthest, so
    that outliers do not decide. A row alone in its cluster has none to be measured by: all of it is left.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
        The rows.
    labels : ndarray of shape (n,)
        Their clusters; rows of negative labels are in none, and are left out.
    dim : int
        The dimension of the subspaces, between 0 and p.

    Returns
    -------
    share : float
        0 where clusters are flat, about 1 where they tell nothing; 1 where no row is in a cluster.
    """
    # Squares of the largest numbers would overflow.
    rows = rows / max(float(np.abs(rows).max(initial=0.0)), np.finfo(np.float64).tiny)
    inside = labels >= 0
    if not inside.any():
        return 1.0
    lengths = ((rows - rows[inside].mean(axis=0)) ** 2).sum(axis=1)
    shares = []
    for label in np.unique(labels[inside]):
        members = np.flatnonzero(labels == label)
        if len(members) == 1:
            shares.append(np.ones(1))
            continue
        for fitted, measured in ((members[::2], members[1::2]), (members[1::2], members[::2])):
            left = _squared_distances(rows[measured], rows[fitted], dim)
            shares.append(left / np.maximum(lengths[measured], np.finfo(np.float64).tiny))
    return float(np.median(np.concatenate(shares)))


def _squared_distances(rows: NDArray[np.float64], base: NDArray[np.float64], dim: int) -> NDArray[np.float64]:
    """Squared distances (n,) of `rows` (n, p) to the affine subspace that fits most rows of `base` (m, p)."""
    left = _left(base, base, dim)
    return _left(rows, base[left <= np.quantile(left, KEPT)], dim)


def _left(rows: NDArray[np.float64], base: NDArray[np.float64], dim: int) -> NDArray[np.float64]:
    """Squared distances (n,) of `rows` (n, p) to the affine subspace that fits `base` (m, p) best."""
    centre = base.mean(axis=0)
    directions = np.linalg.svd(base - centre, full_matrices=False)[2][:dim]
    apart = rows - centre
    # Rounding can dip below zero.
    return np.maximum((apart**2).sum(axis=1) - ((apart @ directions.T) ** 2).sum(axis=1), 0.0)
