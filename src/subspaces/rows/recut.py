"""Join and cut pieces of rows into blocks of equal length, in any array library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import array_api_compat
import numpy as np

from subspaces._core.arrays import Array, Indices, is_host, namespace


def recut(
    pieces: Iterator[Any], block_rows: int, dtype: np.dtype[Any], *, n_rows: int | None = None, fresh: bool = False
) -> Iterator[Array]:
    """The rows of `pieces` (any, p) in blocks (block_rows, p) of `dtype`, of which the last may be shorter.

    `n_rows` is the total number of rows if it is known. If pieces are `fresh`, arrays that nothing else writes into,
    those that are blocks already are passed on; otherwise they are copied, because readers may reuse a buffer.
    """
    block: Any = None
    filled = 0
    for piece in pieces:
        at, length = 0, piece.shape[0]
        while at < length:
            size = block_rows if n_rows is None else min(block_rows, n_rows)
            if block is None and fresh and at == 0 and length == size and _is_block(piece, dtype):
                at, n_rows = length, None if n_rows is None else n_rows - size
                yield piece
                continue
            if block is None:
                block = empty_like(piece, size, dtype)
            count = min(size - filled, length - at)
            block[filled : filled + count, :] = piece[at : at + count, :]
            at, filled = at + count, filled + count
            if filled == size:
                yield block
                block, filled, n_rows = None, 0, None if n_rows is None else n_rows - size
        # Do not hold this piece while the next one is made.
        del piece
    if filled:
        yield block[:filled, :]


def as_block(x: Any, dtype: np.dtype[Any]) -> Array:
    """`x` (b, p) as a C-contiguous array of `dtype`, without a copy if it is one."""
    if is_host(x):
        return np.ascontiguousarray(x, dtype=dtype)
    xp = namespace(x)
    x = xp.astype(x, getattr(xp, dtype.name), copy=False)
    # The array API does not specify memory order: torch has its own name for it, CuPy that of NumPy.
    if hasattr(x, "contiguous"):
        return x.contiguous()
    return xp.ascontiguousarray(x) if hasattr(xp, "ascontiguousarray") else x


def empty_like(x: Any, n_rows: int, dtype: np.dtype[Any]) -> Any:
    """An array (n_rows, p) of `dtype` to be filled, in the library and on the device of `x` (b, p)."""
    if is_host(x):
        return np.empty((n_rows, x.shape[1]), dtype)
    xp = namespace(x)
    return xp.empty((n_rows, x.shape[1]), dtype=getattr(xp, dtype.name), device=array_api_compat.device(x))


def rows_at(x: Any, index: Indices) -> Any:
    """Rows (m, p) of `x` at `index` (m,), as a copy."""
    return x[index] if is_host(x) else _take(x, index, 0)


def columns_at(x: Any, index: Indices | None) -> Any:
    """Columns (b, q) of `x` at `index` (q,); `x` itself if `index` is None."""
    if index is None:
        return x
    return x[:, index] if is_host(x) else _take(x, index, 1)


def _take(x: Any, index: Indices, axis: int) -> Any:
    xp = namespace(x)
    return xp.take(x, xp.asarray(index, device=array_api_compat.device(x)), axis=axis)


def _is_block(piece: Any, dtype: np.dtype[Any]) -> bool:
    return is_host(piece) and piece.dtype == dtype and piece.dtype.isnative and piece.flags.c_contiguous
