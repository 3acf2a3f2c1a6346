"""A score without truth: the share of rows that lies outside the subspaces of their clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.errors import InputError, UserTypeError
from subspaces._core.validation import check_integer

# Share of the rows of a cluster, the nearest ones, to which its subspace is refitted. No kept study.
KEPT = 0.8


def residual_share(X: ArrayLike, labels: ArrayLike, dim: int) -> float:
    """Squared distance of a typical row to the affine subspace of its cluster, relative to that to the mean.

    It is the median over rows of |x - projection of x|^2 / |x - mean|^2. The subspace of a cluster is fitted to every
    other row and measured on the rows between, so that more clusters do not improve the score by chance. It is refitted
    without the farthest rows, so that outliers have little effect. A row that is alone in its cluster counts as 1.

    Parameters
    ----------
    X : array-like of shape (n, p)
        The rows.
    labels : array-like of shape (n,)
        Their clusters, integers; rows with negative labels are ignored.
    dim : int
        The dimension of the subspaces, between 0 and p.

    Returns
    -------
    share : float
        0 if clusters are flat, about 1 if clusters are random; 1 if no row is in a cluster.

    Examples
    --------
    >>> from subspaces.metrics import residual_share
    >>> X = [[0, 1], [0, 2], [0, 4], [0, 5], [1, 0], [2, 0], [4, 0], [5, 0]]
    >>> residual_share(X, [0, 0, 0, 0, 1, 1, 1, 1], dim=1)
    0.0
    """
    rows, clusters = _checked(X, labels)
    check_integer("dim", dim, low=0, high=rows.shape[1], hint=f"X has {rows.shape[1]} columns")
    # Scaled, because squares of the largest numbers would overflow.
    rows = rows / max(float(np.abs(rows).max(initial=0.0)), np.finfo(np.float64).tiny)
    inside = clusters >= 0
    if not inside.any():
        return 1.0
    lengths = ((rows - rows[inside].mean(axis=0)) ** 2).sum(axis=1)
    shares = []
    for label in np.unique(clusters[inside]):
        members = np.flatnonzero(clusters == label)
        if len(members) == 1:
            shares.append(np.ones(1))
            continue
        for fitted, measured in ((members[::2], members[1::2]), (members[1::2], members[::2])):
            residuals = _robust_residuals(rows[measured], rows[fitted], dim)
            shares.append(residuals / np.maximum(lengths[measured], np.finfo(np.float64).tiny))
    return float(np.median(np.concatenate(shares)))


def _checked(X: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.integer]]:
    """Finite rows (n, p) and whole numbers (n,)."""
    try:
        rows = np.asarray(X, np.float64)
    except (TypeError, ValueError) as error:
        raise UserTypeError(f"X must be a table of numbers: {error}.") from None
    clusters = np.asarray(labels)
    if rows.ndim != 2 or clusters.shape != rows.shape[:1]:
        raise InputError(f"X has shape {rows.shape}, labels {clusters.shape}: pass rows (n, p) and labels (n,).")
    if clusters.dtype.kind not in "iu" and clusters.size:
        raise UserTypeError(f"labels have dtype {clusters.dtype}: pass whole numbers.")
    if not np.isfinite(rows).all():
        raise InputError("X contains NaN or infinite values: drop or fill them.")
    return rows, clusters


def _robust_residuals(rows: NDArray[np.float64], base: NDArray[np.float64], dim: int) -> NDArray[np.float64]:
    """Squared distances (n,) of `rows` (n, p) to the affine subspace that fits most rows of `base` (m, p)."""
    own = _residuals(base, base, dim)
    return _residuals(rows, base[own <= np.quantile(own, KEPT)], dim)


def _residuals(rows: NDArray[np.float64], base: NDArray[np.float64], dim: int) -> NDArray[np.float64]:
    """Squared distances (n,) of `rows` (n, p) to the affine subspace that fits `base` (m, p) best."""
    centre = base.mean(axis=0)
    directions = np.linalg.svd(base - centre, full_matrices=False)[2][:dim]
    apart = rows - centre
    # Rounding can make them slightly negative.
    return np.maximum((apart**2).sum(axis=1) - ((apart @ directions.T) ** 2).sum(axis=1), 0.0)
