"""Orthogonal matching pursuit for many rows at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Indices, concatenate, follow, like, namespace, to_host
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
    """A few rows, chosen greedily: orthogonal matching pursuit.

    Each step chooses the row with the smallest angle to the residual, and projects onto all chosen rows. The fastest
    solver; the graph has few edges. A row that is reproduced by very few others is written several times, each time by
    rows that were not used before: otherwise rows of low-dimensional subspaces would be joined in pairs only.

    Parameters
    ----------
    n_nonzero : int, default=5
        Largest number of rows in a combination. About the dimension of the subspaces is best: more rows only fit noise.
    tol : float, default=0.2
        A combination is complete if its residual is shorter than this share of the row.
    min_rows : int, default=10
        While fewer rows are used, a row whose combinations are all complete is written again. `OMP(n, tol=1e-6,
        min_rows=1)` is the published algorithm.

    References
    ----------
    You, C., Robinson, D. and Vidal, R. (2016). Scalable sparse subspace clustering by orthogonal matching pursuit.
    CVPR. https://doi.org/10.1109/CVPR.2016.425
    """

    def __init__(self, n_nonzero: int = 5, *, tol: float = 0.2, min_rows: int = 10) -> None:
        self.n_nonzero = n_nonzero
        self.tol = tol
        self.min_rows = min_rows

    def block_size(self, x: Array) -> int:
        """As many rows as fit into the cache with their similarities and bases."""
        return rows_in_cache((2 * len(x) + self.n_nonzero * (x.shape[1] + self.n_nonzero)) * x.itemsize, x)

    def coder(self, x: Array, *, affine: bool) -> Coder:
        """A function from row indices (b,) to the codes of these rows of `x` (n, p)."""
        count = min(check_integer("n_nonzero", self.n_nonzero, low=1), len(x) - 1)
        least = min(check_integer("min_rows", self.min_rows, low=1), len(x) - 1)
        tol = check_positive("tol", self.tol)
        dictionary = homogeneous(x, typical_length(x)) if affine else x
        return lambda rows, cancellation: pursue(
            dictionary, rows, n_nonzero=count, tol=tol, min_rows=least, cancellation=cancellation
        )


def pursue(x: Array, rows: Indices, *, n_nonzero: int, tol: float, min_rows: int, cancellation: Cancellation) -> Codes:
    """Codes of the given rows (b,) of `x` (n, p): sums of combinations of at most `n_nonzero` rows each.

    An incomplete combination is kept only if it is the first.
    """
    slots = np.arange(len(rows))  # of the rows that are still written
    used = follow(rows[:, None], x)  # (slots, ...), rows that may not be chosen: the row itself and those before
    counts = np.zeros(len(rows), np.int64)
    entries = []
    while len(slots):
        picks, values, chosen, complete = _combination(x, rows[slots], used, n_nonzero, tol, cancellation)
        kept = follow(np.flatnonzero(complete | (counts[slots] == 0)), x)
        owner = namespace(x).broadcast_to(follow(slots, x)[:, None], picks.shape)
        entries.append((values[kept], owner[kept], picks[kept]))
        counts[slots] += chosen
        again = np.flatnonzero(complete & (chosen > 0) & (counts[slots] < min_rows))
        used = namespace(x).concat([used, picks], axis=1)[follow(again, x)]
        slots = slots[again]
    flat = [concatenate([namespace(x).reshape(part, (-1,)) for part in parts]) for parts in zip(*entries, strict=True)]
    matrix = as_csr(*flat, shape=(len(rows), len(x)))
    return Codes(matrix, counts, np.ones(len(rows), bool))


def _combination(
    x: Array, rows: Indices, used: Array, n_nonzero: int, tol: float, cancellation: Cancellation
) -> tuple[Array, Array, NDArray[np.int64], NDArray[np.bool_]]:
    """One combination for each of the given rows (b,) of `x` (n, p), without the rows `used` (b, u).

    Returns the rows of each combination (b, s) and their coefficients, zero if fewer were chosen; how many were chosen
    (b,); and whether the combination is complete (b,). Chosen rows are orthogonalised one after another:
    y = sum_s w_s q_s, and the chosen rows are triangular in the q_s.
    """
    xp = namespace(x)
    b, p = len(rows), x.shape[1]
    slot, own = follow(np.arange(b), x), follow(rows, x)
    left = xp.asarray(x[own], copy=True)
    floor = tol * xp.linalg.vector_norm(left, axis=1)
    lengths = xp.linalg.vector_norm(x, axis=1)
    # A row of zeros is never chosen.
    scale = xp.where(lengths > 0, 1 / xp.where(lengths > 0, lengths, 1.0), 0.0)
    bases = like(np.zeros((b, n_nonzero, p)), x)
    triangles = like(np.tile(np.eye(n_nonzero), (b, 1, 1)), x)
    weights = like(np.zeros((b, n_nonzero)), x)
    picks = xp.asarray(xp.broadcast_to(own[:, None], (b, n_nonzero)), copy=True)
    active = xp.linalg.vector_norm(left, axis=1) > floor
    steps = np.zeros(b, np.int64)
    for step in range(n_nonzero):
        cancellation.check()
        similarity = xp.abs(left @ x.T) * scale
        similarity[slot[:, None], used] = -1
        similarity[slot[:, None], picks] = -1
        pick = xp.argmax(similarity, axis=1)
        active = active & (similarity[slot, pick] > 0)
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
        bases[:, step, :], weights[:, step] = direction, weight
        picks[:, step] = xp.where(active, pick, own)
        triangles[:, :step, step] = xp.where(active[:, None], parts[:, :step], 0.0)
        triangles[:, step, step] = xp.where(active, length, 1.0)
        steps += to_host(active)
        active = active & (xp.linalg.vector_norm(left, axis=1) > floor)
        if not xp.any(active):
            break
    values = xp.linalg.solve(triangles, weights[:, :, None])[:, :, 0]
    return picks, values, steps, to_host(xp.linalg.vector_norm(left, axis=1) <= floor)
