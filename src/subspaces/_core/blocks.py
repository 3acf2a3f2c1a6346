"""Rows in blocks: every pass over the data uses these slices, so memory does not grow with n x D."""

from __future__ import annotations

from collections.abc import Iterator

# Small enough for the last-level cache, large enough for full speed of BLAS. Changes results within rounding.
BLOCK_BYTES = 16 * 2**20


def row_blocks(
    n_rows: int, row_bytes: int, *, block_rows: int | None = None, budget: int = BLOCK_BYTES
) -> Iterator[slice]:
    """Slices that cover `n_rows` rows, each of about `budget` bytes if a row needs `row_bytes`.

    >>> list(row_blocks(5, 1, block_rows=2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = block_rows or max(16, budget // max(1, row_bytes))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
