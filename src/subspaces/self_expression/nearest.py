"""The rows with the smallest angles, for many rows at a time: thresholding."""

from __future__ import annotations

import numpy as np

from subspaces._core.arrays import Array, Indices, follow, namespace, unit_rows
from subspaces._core.validation import check_integer
from subspaces.self_expression.base import (
    Cancellation,
    Coder,
    Codes,
    Solver,
    homogeneous,
    largest_entries,
    typical_length,
)


class Thresholding(Solver):
    """The rows with the smallest angles to a row, with weights that fall with the angle: thresholding (TSC).

    No optimisation, so that it is the fastest of all: one product of the rows. Rows near an intersection of subspaces
    get neighbours of both. Use it if subspaces are far from each other or rows are many and dense.

    Parameters
    ----------
    n_nearest : int, default=10
        Number of neighbours of each row.

    References
    ----------
    Heckel, R. and Boelcskei, H. (2015). Robust subspace clustering via thresholding. IEEE Transactions on Information
    Theory 61. https://doi.org/10.1109/TIT.2015.2472520
    """

    def __init__(self, n_nearest: int = 10) -> None:
        self.n_nearest = n_nearest

    def coder(self, x: Array, *, affine: bool) -> Coder:
        """A function from row indices (b,) to the codes of these rows of `x` (n, p)."""
        count = min(check_integer("n_nearest", self.n_nearest, low=1), len(x) - 1)
        directions = unit_rows(homogeneous(x, typical_length(x)) if affine else x)
        return lambda rows, cancellation: nearest_angles(directions, rows, count, cancellation)


def nearest_angles(directions: Array, rows: Indices, count: int, cancellation: Cancellation) -> Codes:
    """Codes of the given rows (b,) of unit rows (n, p): exp(-2 angle) for the `count` smallest angles."""
    cancellation.check()
    xp = namespace(directions)
    own = follow(rows, directions)
    cosines = xp.clip(xp.abs(directions[own] @ directions.T), 0.0, 1.0)
    # A row of zeros has no angle, and no neighbours.
    weights = xp.where(cosines > 0, xp.exp(-2 * xp.acos(cosines)), 0.0)
    matrix = largest_entries(weights, rows, count)
    return Codes(matrix, np.ones(len(rows), np.int64), np.ones(len(rows), bool))
