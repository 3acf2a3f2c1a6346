"""The interface of solvers, and the codes of all rows, computed in blocks."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import Any, TypeAlias

import array_api_compat
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix, vstack
from sklearn.base import BaseEstimator

from subspaces._core.arrays import Array, Indices, follow, is_host, like, lowest, namespace, to_host
from subspaces._core.blocks import BLOCK_BYTES
from subspaces._core.errors import UserTypeError
from subspaces._core.progress import advance, shown
from subspaces._core.smallest import smallest
from subspaces._core.threads import n_threads, one_thread
from subspaces._core.validation import check_positive
from subspaces._core.words import duration

# Size of a block on an accelerator, which works best on large matrices. Does not change results.
DEVICE_BLOCK_BYTES = 4 * 2**30
# Least number of rows in a block: with fewer, a product is not faster than row by row. Does not change results.
MIN_ROWS = 16
# Least number of seconds between two reports of progress.
REPORT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Codes:
    """Codes of b rows: entry (i, j) is the coefficient of row j in the combination for the i-th of them."""

    matrix: csr_matrix  # (b, n)
    n_iter: NDArray[np.int64]  # (b,), iterations of each row
    converged: NDArray[np.bool_]  # (b,)


class Cancelled(Exception):
    """Raised in a block of rows after another block failed or the user interrupted."""


class Cancellation:
    """A flag that all blocks check between steps, so that they end soon after an error or an interrupt."""

    def __init__(self) -> None:
        self._event = Event()

    def cancel(self) -> None:
        """Let all blocks end."""
        self._event.set()

    def check(self) -> None:
        """Raise `Cancelled` if `cancel` was called."""
        if self._event.is_set():
            raise Cancelled


Coder: TypeAlias = Callable[[Indices, Cancellation], Codes]


class Solver(BaseEstimator, ABC):  # type: ignore[misc]
    """A way to write each row as a combination of the other rows."""

    @abstractmethod
    def coder(self, x: Array, *, affine: bool) -> Coder:
        """A function from row indices (b,) to the codes of these rows on all other rows of `x` (n, p).

        Everything that depends on `x` alone is computed here, once. With `affine` the coefficients of a row sum to one,
        or nearly. The function also takes a `Cancellation`, which it checks between steps.
        """

    def block_size(self, x: Array) -> int:
        """Number of rows of `x` (n, p) for one call of the coder."""
        return rows_in_cache(2 * len(x) * x.itemsize, x)


def rows_in_cache(row_bytes: int, x: Array) -> int:
    """Number of rows in a block if each needs `row_bytes`, to fit the cache of a core or part of an accelerator."""
    return max(MIN_ROWS, (BLOCK_BYTES if is_host(x) else DEVICE_BLOCK_BYTES) // row_bytes)


def self_codes(x: Array, solver: Solver, *, affine: bool, verbose: int = 0) -> Codes:
    """Codes (n, n) of all rows of `x` (n, p) on each other.

    Blocks of rows run in parallel, as many as BLAS has threads, with one BLAS thread each, because elementwise
    operations, about half of the work, gain from threads only in this way. Memory is that of the blocks and of the
    nonzero entries. `verbose` shows progress.
    """
    check_matrix(x)
    if not isinstance(solver, Solver):
        raise UserTypeError(f"solver={solver!r:.80} must be a solver, such as ADMM(alpha=20).", parameter="solver")
    n = len(x)
    if n == 1:
        return Codes(csr_matrix((1, 1), dtype=to_host(x).dtype), np.zeros(1, np.int64), np.ones(1, bool))
    coder = solver.coder(x, affine=affine)
    n_workers = n_threads() if is_host(x) else 1
    # Blocks of equal size, so that workers finish at about the same time.
    n_blocks = n_workers * -(-n // (n_workers * solver.block_size(x)))
    blocks = [block for block in np.array_split(np.arange(n), n_blocks) if len(block)]

    cancellation = Cancellation()

    def work(rows: Indices) -> Codes:
        cancellation.check()
        with one_thread():
            return coder(rows, cancellation)

    parts = []
    started = last = time.monotonic()
    with shown(verbose), one_thread(), ThreadPoolExecutor(n_workers) as pool:
        try:
            for block, part in zip(blocks, pool.map(work, blocks), strict=True):
                parts.append(part)
                now = time.monotonic()
                if now - last > REPORT_SECONDS:
                    last = now
                    done = int(block[-1]) + 1
                    left = (now - started) * (n - done) / done
                    advance("codes", done, n, detail=f"coded {done} of {n} rows, about {duration(left)} left")
        except BaseException:
            cancellation.cancel()
            raise
    return Codes(
        vstack([part.matrix for part in parts], format="csr"),
        np.concatenate([part.n_iter for part in parts]),
        np.concatenate([part.converged for part in parts]),
    )


def as_csr(values: Array, rows: Array, columns: Array, *, shape: tuple[int, int]) -> csr_matrix:
    """Entries given by their rows and columns, on any device, as a CSR matrix on the host."""
    matrix = coo_matrix((to_host(values), (to_host(rows), to_host(columns))), shape=shape).tocsr()
    matrix.eliminate_zeros()
    return matrix


def in_order(finished: list[tuple[Indices, csr_matrix]]) -> csr_matrix:
    """Stack codes of rows that finished in any order, given with their positions: (b, n)."""
    order = np.argsort(np.concatenate([places for places, _ in finished]))
    return vstack([codes for _, codes in finished], format="csr")[order]


def dense_as_csr(table: Array) -> csr_matrix:
    """A mostly zero table (b, n) on any device as a CSR matrix on the host."""
    rows, columns = namespace(table).nonzero(table)
    return as_csr(table[rows, columns], rows, columns, shape=tuple(table.shape))


def largest_entries(table: Array, own: Indices, count: int) -> csr_matrix:
    """The `count` entries of each row of a table (b, n) with the largest magnitudes, without that of the row itself.

    `table` is modified.
    """
    table[follow(np.arange(len(own)), table), follow(own, table)] = 0
    xp = namespace(table)
    sizes = -xp.abs(table)
    index = smallest(sizes, count) if is_host(table) else lowest(sizes, count)[1]
    owner = xp.broadcast_to(follow(np.arange(len(own)), table)[:, None], index.shape)
    flat = [xp.reshape(part, (-1,)) for part in (owner, index)]
    return as_csr(table[flat[0], flat[1]], *flat, shape=tuple(table.shape))


def coherence(x: Array, rows: Indices) -> Array:
    """Largest |x_i . x_j| over j != i for each of the given rows i of `x` (n, p): (b,)."""
    xp = namespace(x)
    own = follow(rows, x)
    products = xp.abs(x[own] @ x.T)
    products[follow(np.arange(len(rows)), x), own] = 0
    return xp.max(products, axis=1)


def homogeneous(x: Array, length: float) -> Array:
    """Rows (n, p) with one more coordinate, `length`, so that affine combinations become linear ones."""
    check_matrix(x)
    column = np.full((len(x), 1), check_positive("length", length))
    return namespace(x).concat([x, like(column, x)], axis=1)


def typical_length(x: Array) -> float:
    """Root mean square length of the rows of `x` (n, p); one if all are zero."""
    check_matrix(x)
    xp = namespace(x)
    return float(xp.sqrt(xp.mean(xp.sum(x**2, axis=1)))) or 1.0


def check_matrix(x: Any) -> None:
    """Refuse rows that are not an array of floats (n, p); values are checked by estimators."""
    if not array_api_compat.is_array_api_obj(x) or x.ndim != 2 or not x.shape[0]:
        found = f"an array of shape {tuple(x.shape)}" if hasattr(x, "shape") else type(x).__name__
        raise UserTypeError(f"x is {found}: pass an array (n, p) of NumPy, torch or CuPy.", parameter="x")
    if not namespace(x).isdtype(x.dtype, "real floating"):
        raise UserTypeError(f"x holds {x.dtype} values: pass floats.", parameter="x")
