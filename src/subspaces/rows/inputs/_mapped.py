"""Rows of a source, changed as they are read."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, Self

from numpy.typing import ArrayLike, NDArray

from subspaces._core.arrays import Array
from subspaces.rows.sources import FeedOptions, RowSource


class WrappedRows(RowSource):
    """Rows that come from another source, in blocks of the same length, and follow its options."""

    def __init__(self, source: RowSource) -> None:
        self.source, self.options, self.dtype = source, source.options, source.dtype
        self.n_columns, self.column_names = source.n_columns, source.column_names

    @property
    def n_rows(self) -> int | None:
        return self.source.n_rows

    @property
    def block_rows(self) -> int:
        return self.source.block_rows

    def follow(self, result: NDArray[Any]) -> Any:
        return self.source.follow(result)

    def with_options(self, options: FeedOptions) -> Self:
        other = copy.copy(self)
        other.source, other.options = self.source.with_options(options), options
        return other


class MappedRows(WrappedRows):
    """Rows (n, q): `function` of each block (b, p) of `source`, computed when it is read."""

    def __init__(
        self,
        source: RowSource,
        function: Callable[[Array], Array],
        n_columns: int,
        column_names: tuple[str, ...] | None,
    ) -> None:
        super().__init__(source)
        self.n_columns, self.column_names = n_columns, column_names
        self._function = function

    def blocks(self, start: int = 0) -> Iterator[Array]:
        return map(self._function, self.source.blocks(start))

    def take(self, index: ArrayLike) -> Array:
        return self._function(self.source.take(index))
