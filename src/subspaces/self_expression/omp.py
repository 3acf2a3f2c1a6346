"""Orthogonal matching pursuit for many rows at a time."""

from __future__ import annotations

import numpy as np

from subspaces._core.arrays import Array, Indices, follow, like, namespace, to_host
from subspaces._core.validation import check_integer, check_positive
from subspaces.self_expression.base import (
    Cancellation,
    Coder,
    Codes,
    Solver,
    as_csr,
    homogeneous,
    rows_in_cache,
    typical_length,
)
from subspaces.self_expression.thresholds import ROUNDING


class OMP(Solver):
    """A given number of rows, chosen greedily: orthogonal matching pursuit.

    Each step chooses the row with the smallest angle to the residual, and projects onto all chosen rows. The fastest
    solver; the graph has few edges. Use it for subspaces of low dimension in a space of high dimension: with few
    columns, such as the 16 of penDigits, the chosen rows carry little information.

    Parameters
    ----------
    n_nonzero : int, default=5
        Largest number of rows in a code. About the dimension of the subspaces is best: more rows only fit noise.
    tol : float, default=1e-6
        A row has converged if its residual is shorter than this share of the row.

    References
    ----------
    You, C., Robinson, D. and Vidal, R. (2016). Scalable sparse subspace clustering by orthogonal matching pursuit.
    CVPR. https://doi.org/10.1109/CVPR.2016.425
    """

    def __init__(self, n_nonzero: int = 5, *, tol: float = 1e-6) -> None:
        self.n_nonzero = n_nonzero
        self.tol = tol

    def block_size(self, x: Array) -> int:
        """As many rows as fit into the cache with their similarities and bases."""
        return rows_in_cache((2 * len(x) + self.n_nonzero * (x.shape[1] + self.n_nonzero)) * x.itemsize, x)

    def coder(self, x: Array, *, affine: bool) -> Coder:
        """A function from row indices (b,) to the codes of these rows of `x` (n, p)."""
        count = min(check_integer("n_nonzero", self.n_nonzero, low=1), len(x) - 1)
        tol = check_positive("tol", self.tol)
        dictionary = homogeneous(x, typical_length(x)) if affine else x
        return lambda rows, cancellation: pursue(dictionary, rows, n_nonzero=count, tol=tol, cancellation=cancellation)


def pursue(x: Array, rows: Indices, *, n_nonzero: int, tol: float, cancellation: Cancellation) -> Codes:
    """Codes of the given rows (b,) of `x` (n, p), with at most `n_nonzero` entries each.

    Chosen rows are orthogonalised one after another: y = sum_s w_s q_s, and the chosen rows are triangular in the q_s.
    """
    xp = namespace(x)
    (b, n), p = (len(rows), len(x)), x.shape[1]
    slot, own = follow(np.arange(b), x), follow(rows, x)
    left = xp.asarray(x[own], copy=True)
    floor = tol * xp.linalg.vector_norm(left, axis=1)
    lengths = xp.linalg.vector_norm(x, axis=1)
    # A row of zeros is never chosen.
    scale = xp.where(lengths > 0, 1 / xp.where(lengths > 0, lengths, 1.0), 0.0)
    bases = like(np.zeros((b, n_nonzero, p)), x)
    triangles = like(np.tile(np.eye(n_nonzero), (b, 1, 1)), x)
    weights = like(np.zeros((b, n_nonzero)), x)
    picks = follow(np.zeros((b, n_nonzero), np.intp), x)
    active = xp.linalg.vector_norm(left, axis=1) > floor
    steps = np.zeros(b, np.int64)
    for step in range(n_nonzero):
        cancellation.check()
        similarity = xp.abs(left @ x.T) * scale
        similarity[slot, own] = -1
        for before in range(step):
            similarity[slot, picks[:, before]] = -1
        pick = xp.argmax(similarity, axis=1)
        atom = x[pick]
        parts = xp.zeros_like(weights)
        for _ in range(2):
            # Twice is enough: the second pass removes the rounding errors of the first.
            again = (bases @ atom[:, :, None])[:, :, 0]
            atom = atom - (again[:, None, :] @ bases)[:, 0, :]
            parts += again
        length = xp.linalg.vector_norm(atom, axis=1)
        active = active & (length > ROUNDING * xp.finfo(x.dtype).eps * lengths[pick])
        direction = xp.where(active[:, None], atom / xp.where(length > 0, length, 1.0)[:, None], 0.0)
        weight = xp.sum(direction * left, axis=1)
        left = left - weight[:, None] * direction
        bases[:, step, :], weights[:, step], picks[:, step] = direction, weight, pick
        triangles[:, :step, step] = xp.where(active[:, None], parts[:, :step], 0.0)
        triangles[:, step, step] = xp.where(active, length, 1.0)
        steps += to_host(active)
        active = active & (xp.linalg.vector_norm(left, axis=1) > floor)
        if not xp.any(active):
            break
    codes = xp.linalg.solve(triangles, weights[:, :, None])[:, :, 0]
    owner = xp.broadcast_to(slot[:, None], picks.shape)
    matrix = as_csr(xp.reshape(codes, (-1,)), xp.reshape(owner, (-1,)), xp.reshape(picks, (-1,)), shape=(b, n))
    return Codes(matrix, steps, np.ones(b, bool))
