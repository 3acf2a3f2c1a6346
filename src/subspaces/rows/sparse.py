"""Rows of a sparse matrix in memory, of which only blocks become dense."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from subspaces._core.arrays import Array
from subspaces._core.errors import InputError, UserTypeError
from subspaces.rows.arrays import pick
from subspaces.rows.checks import block_dtype, check_shape
from subspaces.rows.columns import ColumnChoice
from subspaces.rows.recut import as_block, columns_at
from subspaces.rows.source import FeedOptions, RowSource


def is_sparse(X: Any) -> bool:
    """Whether `X` is a sparse matrix or array, of SciPy or another library."""
    return hasattr(X, "tocsr")


class SparseMatrixRows(RowSource):
    """Rows of a sparse matrix or array (n, p) of SciPy, in any format; blocks are dense."""

    column_names = None

    def __init__(self, x: Any, options: FeedOptions, columns: ColumnChoice | None = None) -> None:
        from scipy.sparse import issparse

        if not issparse(x):
            raise UserTypeError(
                f"X is a sparse {type(x).__name__} of {type(x).__module__.partition('.')[0]}: pass a sparse matrix or "
                "array of SciPy."
            )
        n_rows, n_columns = check_shape(x.shape, "X")
        if not n_rows:
            raise InputError(f"X has no rows, shape {tuple(x.shape)}: a minimum of 1 is required.")
        self.dtype, self.options = block_dtype(x.dtype, "X"), options
        # Rows are sliced quickly in this format only.
        self._x = x.tocsr()
        try:
            # A wrong index would read or write beyond the array.
            self._x.check_format(full_check=True)
        except ValueError as error:
            raise InputError(f"X is a damaged sparse matrix: {error}; make it again.") from None
        self._columns = pick(columns, n_columns, "X")
        self.n_columns = n_columns if self._columns is None else len(self._columns)

    @property
    def n_rows(self) -> int:
        return int(self._x.shape[0])

    def blocks(self, start: int = 0) -> Iterator[Array]:
        size = self.block_rows
        return (self._dense(self._x[row : row + size]) for row in range(self._first_row(start), self.n_rows, size))

    def take(self, index: ArrayLike) -> Array:
        return self._dense(self._x[self._check_index(index)])

    def _dense(self, rows: Any) -> Array:
        return as_block(columns_at(np.asarray(rows.toarray()), self._columns), self.dtype)
