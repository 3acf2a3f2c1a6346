"""Rows that tell how many of them have been read."""

from __future__ import annotations

from collections.abc import Iterator

from numpy.typing import ArrayLike

from subspaces._core.arrays import Array
from subspaces.cli._console import Console
from subspaces.rows import RowSource, WrappedRows


class WatchedRows(WrappedRows):
    """The rows (n, p) of another source; a console hears of every pass over them."""

    def __init__(self, source: RowSource, console: Console) -> None:
        super().__init__(source)
        self._console = console

    def blocks(self, start: int = 0) -> Iterator[Array]:
        """Blocks (b, p) of the source, counted."""
        done, before, begun = start * self.block_rows, None, False
        for block in self.source.blocks(start):
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
        return self.source.take(index)
