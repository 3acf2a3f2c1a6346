"""Rows that tell how many of them have been read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from numpy.typing import ArrayLike, NDArray

from subspaces._array import Array
from subspaces.cli._console import Console
from subspaces.sources import FeedOptions, RowSource


class WatchedRows(RowSource):
    """The rows (n, p) of another source; a console hears of every pass over them."""

    def __init__(self, source: RowSource, console: Console) -> None:
        self._source, self._console = source, console
        self.n_columns, self.dtype, self.column_names = source.n_columns, source.dtype, source.column_names
        self.options = source.options

    @property
    def n_rows(self) -> int | None:
        """The number of rows; None where it takes a pass to know."""
        return self._source.n_rows

    @property
    def block_rows(self) -> int:
        """How many rows a block has."""
        return self._source.block_rows

    def blocks(self, start: int = 0) -> Iterator[Array]:
        """Blocks (b, p) of the source, counted."""
        done, before, begun = start * self.block_rows, None, False
        for block in self._source.blocks(start):
            done += int(block.shape[0])
            yield block
            # Whoever looks at the first block only makes no pass.
            if not begun:
                before, begun = self._console.begin_pass(), True
            self._console.advance(done, self.n_rows)
        if begun:
            self._console.stage(before or "fit")

    def take(self, index: ArrayLike) -> Array:
        """The rows (m, p) at ascending `index` (m,)."""
        return self._source.take(index)

    def follow(self, result: NDArray[Any]) -> Any:
        """A `result` for all rows where the rows are."""
        return self._source.follow(result)

    def with_options(self, options: FeedOptions) -> Self:
        """The same rows, fed in another way."""
        return type(self)(self._source.with_options(options), self._console)
