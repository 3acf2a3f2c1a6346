"""What all solvers share: the walk over blocks of rows, sparse codes, the graph they make."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix, vstack
from sklearn.base import BaseEstimator

from subspaces._core.arrays import Array, Indices, follow, is_host, like, namespace, to_host
from subspaces._core.blocks import BLOCK_BYTES
from subspaces._core.log import report
from subspaces._core.threads import n_threads, one_thread

# Accelerators want large matrices.
DEVICE_BLOCK_BYTES = 4 * 2**30
MIN_ROWS = 16
# Progress is told this often, in seconds.
REPORT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Codes:
    """Codes of some rows: entry (i, j) says how much of row j is in the i-th of them."""

    matrix: csr_matrix  # (b, n)
    n_iter: NDArray[np.int64]  # (b,), iterations that each row took
    converged: NDArray[np.bool_]  # (b,)


class Interrupted(Exception):
    """Raised in a block of rows whose codes nobody waits for any more."""


class Patience:
    """Whether someone still waits for codes: blocks ask it now and then, so that an interrupt ends them all soon."""

    def __init__(self) -> None:
        self._gone = Event()

    def lose(self) -> None:
        """Nobody waits any more."""
        self._gone.set()

    def check(self) -> None:
        """Raise `Interrupted` if nobody waits."""
        if self._gone.is_set():
            raise Interrupted


Coder: TypeAlias = Callable[[Indices, Patience], Codes]


class Solver(BaseEstimator, ABC):  # type: ignore[misc]
    """How a row is written as a combination of the others."""

    @abstractmethod
    def coder(self, x: Array, *, affine: bool) -> Coder:
        """A function from row indices (b,) to the codes of these rows on all other rows of `x` (n, p).

        All that depends on `x` alone is done here, once. With `affine` the coefficients of a row sum to one, or nearly.
        The function also takes a `Patience`, to be checked between steps.
        """

    def block_size(self, x: Array) -> int:
        """How many rows of `x` (n, p) one call of the coder should take."""
        return rows_in_cache(2 * len(x) * x.itemsize, x)


def rows_in_cache(row_bytes: int, x: Array) -> int:
    """How many rows fit a block where each needs `row_bytes`: an accelerator has more room than the cache of a core."""
    # With fewer rows a product would be no faster than row by row.
    return max(MIN_ROWS, (BLOCK_BYTES if is_host(x) else DEVICE_BLOCK_BYTES) // row_bytes)


def self_codes(x: Array, solver: Solver, *, affine: bool, verbose: int = 0) -> Codes:
    """Codes (n, n) of all rows of `x` (n, p) on each other.

    Blocks of rows are coded side by side, as many as BLAS has threads, with one BLAS thread each: the elementwise half
    of the work gains from threads only in this way. Memory is that of the blocks and of the entries that are not zero.
    """
    n = len(x)
    if n == 1:
        return Codes(csr_matrix((1, 1), dtype=to_host(x).dtype), np.zeros(1, np.int64), np.ones(1, bool))
    coder = solver.coder(x, affine=affine)
    n_workers = n_threads() if is_host(x) else 1
    # Blocks of equal size, so that no worker waits for a last large one.
    n_blocks = n_workers * -(-n // (n_workers * solver.block_size(x)))
    blocks = [block for block in np.array_split(np.arange(n), n_blocks) if len(block)]

    patience = Patience()

    def work(rows: Indices) -> Codes:
        patience.check()
        with one_thread():
            return coder(rows, patience)

    parts = []
    started = last = time.monotonic()
    with one_thread(), ThreadPoolExecutor(n_workers) as pool:
        try:
            for block, part in zip(blocks, pool.map(work, blocks), strict=True):
                parts.append(part)
                now = time.monotonic()
                if now - last > REPORT_SECONDS:
                    last = now
                    share = (int(block[-1]) + 1) / n
                    left = (now - started) * (1 - share) / share
                    report(verbose, "coded %d of %d rows, about %.0f s left", block[-1] + 1, n, left)
        except BaseException:
            patience.lose()
            raise
    return Codes(
        vstack([part.matrix for part in parts], format="csr"),
        np.concatenate([part.n_iter for part in parts]),
        np.concatenate([part.converged for part in parts]),
    )


def affinity(codes: csr_matrix, *, mass: float = 1.0) -> csr_matrix:
    """Symmetric weights (n, n) between rows from their codes (n, n).

    Each row keeps its largest entries, up to the share `mass` of their sum of magnitudes, relative to the largest.
    """
    weights = abs(codes).tocsr()
    owner = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    order = np.lexsort((-weights.data, owner))
    data, columns = weights.data[order].astype(np.float64), weights.indices[order]
    # Relative to the row's largest before anything is summed: rows of any size stand beside each other.
    peaks = data[weights.indptr[owner]]
    data = np.divide(data, peaks, out=np.zeros_like(data), where=peaks > 0)
    sums = np.concatenate([[0], np.cumsum(data)])
    before = sums[:-1] - sums[weights.indptr[owner]]
    total = (sums[weights.indptr[1:]] - sums[weights.indptr[:-1]])[owner]
    # The entry that passes the share is kept, so that no row loses all.
    kept = (before < mass * total) & (data > 0)
    relative = data[kept]
    picked = csr_matrix((relative, (owner[kept], columns[kept])), shape=weights.shape)
    return (picked + picked.T).tocsr()


def as_csr(values: Array, rows: Array, columns: Array, *, shape: tuple[int, int]) -> csr_matrix:
    """Entries given by their places, on any device, as a CSR matrix in memory of the host."""
    matrix = coo_matrix((to_host(values), (to_host(rows), to_host(columns))), shape=shape).tocsr()
    matrix.eliminate_zeros()
    return matrix


def in_order(finished: list[tuple[Indices, csr_matrix]]) -> csr_matrix:
    """Codes of rows that finished in any order, given with their places, one under another: (b, n)."""
    order = np.argsort(np.concatenate([places for places, _ in finished]))
    return vstack([codes for _, codes in finished], format="csr")[order]


def dense_as_csr(table: Array) -> csr_matrix:
    """A table (b, n) on any device, mostly zeros, as a CSR matrix in memory of the host."""
    rows, columns = namespace(table).nonzero(table)
    return as_csr(table[rows, columns], rows, columns, shape=tuple(table.shape))


def coherence(x: Array, rows: Indices) -> Array:
    """Largest |x_i . x_j| over j != i for each of the given rows i of `x` (n, p): (b,)."""
    xp = namespace(x)
    own = follow(rows, x)
    products = xp.abs(x[own] @ x.T)
    products[follow(np.arange(len(rows)), x), own] = 0
    return xp.max(products, axis=1)


def homogeneous(x: Array, length: float) -> Array:
    """Rows (n, p) with a further coordinate `length`: what was an affine combination becomes a linear one."""
    return namespace(x).concat([x, like(np.full((len(x), 1), length), x)], axis=1)


def typical_length(x: Array) -> float:
    """Root mean square length of the rows of `x` (n, p); one where all are zero."""
    xp = namespace(x)
    return float(xp.sqrt(xp.mean(xp.sum(x**2, axis=1)))) or 1.0
