"""Rows that report how many of them have been read."""

from __future__ import annotations

from collections.abc import Iterator

from numpy.typing import ArrayLike

from subspaces._core.arrays import Array
from subspaces._core.errors import file_errors
from subspaces.cli.console import Console
from subspaces.rows import RowSource, WrappedRows


class WatchedRows(WrappedRows):
    """The rows (n, p) of another source; a console shows every pass over them."""

    def __init__(self, source: RowSource, console: Console) -> None:
        super().__init__(source)
        self._console = console

    def blocks(self, start: int = 0) -> Iterator[Array]:
        """Blocks (b, p) of the source, counted."""
        done, before, begun = start * self.block_rows, None, False
        blocks = iter(self.source.blocks(start))
        while True:
            with file_errors():
                block = next(blocks, None)
            if block is None:
                break
            done += int(block.shape[0])
            yield block
            # Reading only the first block is not a pass.
            if not begun:
                before, begun = self._console.begin_pass(), True
            self._console.advance(done, self.n_rows)
        if begun:
            self._console.stage(before or "fit")

    def take(self, index: ArrayLike) -> Array:
        """The rows (m, p) at ascending `index` (m,)."""
        with file_errors():
            return self.source.take(index)
