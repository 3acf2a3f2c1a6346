"""What every source of rows offers, and how large its blocks are."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.arrays import Array, Indices, concatenate
from subspaces._core.errors import InputError
from subspaces.rows.sources._recut import rows_at

# A block is read, converted and worked on with several temporaries of its size, while the next one is read.
BLOCK_SHARE = 16
# Larger blocks gain no speed.
BLOCK_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class FeedOptions:
    """How rows are to be read and worked on."""

    memory_limit: int = 10**9  # bytes
    block_rows: int | None = None  # None: as the memory limit allows
    checkpoint: Path | None = None  # folder where a long run keeps how far it is
    labels: Path | None = None  # file that labels are written to
    device: str | None = None  # where blocks are worked on


class RowSource(ABC):
    """Rows (n, p) that are read in blocks, as often as needed and each time the same."""

    n_columns: int
    dtype: np.dtype[Any]  # of the blocks: float32 for float32 and shorter, float64 for all other numbers
    column_names: tuple[str, ...] | None  # where the rows are those of a table
    options: FeedOptions

    @property
    @abstractmethod
    def n_rows(self) -> int | None:
        """The number of rows; None where it takes a pass to know."""

    @abstractmethod
    def blocks(self, start: int = 0) -> Iterator[Array]:
        """Blocks (b, p) from number `start` on, in order, C-contiguous and of `dtype`.

        All have `block_rows` rows but the last. They may be views of the rows: do not write into them.
        """

    @property
    def block_rows(self) -> int:
        """How many rows a block has."""
        if self.options.block_rows is not None:
            return self.options.block_rows
        room = min(BLOCK_BYTES, self.options.memory_limit // BLOCK_SHARE)
        return max(1, room // (self.n_columns * self.dtype.itemsize))

    @property
    def n_blocks(self) -> int | None:
        """The number of blocks; None where the number of rows is not known."""
        return None if self.n_rows is None else -(-self.n_rows // self.block_rows)

    def take(self, index: ArrayLike) -> Array:
        """The rows (m, p) at ascending `index` (m,)."""
        wanted = self._check_index(index)
        found = [self._no_rows()]
        first, done = 0, 0
        for block in self.blocks() if len(wanted) else ():
            last = first + int(block.shape[0])
            stop = int(np.searchsorted(wanted, last))
            if stop > done:
                found.append(rows_at(block, wanted[done:stop] - first))
            first, done = last, stop
            if done == len(wanted):
                break
        if done < len(wanted):
            raise IndexError(f"index holds {wanted[-1]}, but there are {first} rows: the last one is {first - 1}.")
        return concatenate(found[1:] or found)

    def follow(self, result: NDArray[Any]) -> Any:
        """A NumPy `result` for all rows in the library and on the device of the rows."""
        return result

    def with_options(self, options: FeedOptions) -> Self:
        """The same rows, fed in another way."""
        other = copy.copy(self)
        other.options = options
        return other

    def __repr__(self) -> str:
        rows = "?" if self.n_rows is None else self.n_rows
        return f"{type(self).__name__}({rows} rows, {self.n_columns} columns, {self.dtype}, {self.block_rows} a block)"

    def _no_rows(self) -> Array:
        return np.empty((0, self.n_columns), self.dtype)

    def _check_index(self, index: ArrayLike) -> Indices:
        """`index` (m,) as row numbers that are there, ascending."""
        wanted = np.asarray(index)
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise InputError(
                f"index is an array of {wanted.dtype} and shape {wanted.shape}: pass row numbers (m,); "
                "np.flatnonzero makes them of a mask."
            )
        wanted = wanted.astype(np.intp, copy=False)
        if wanted.size and (wanted[0] < 0 or (np.diff(wanted) < 0).any()):
            raise InputError("index must hold row numbers from 0 on in ascending order: sort it.")
        if wanted.size and self.n_rows is not None and wanted[-1] >= self.n_rows:
            raise IndexError(
                f"index holds {wanted[-1]}, but there are {self.n_rows} rows: the last one is {self.n_rows - 1}."
            )
        return wanted

    def _first_row(self, start: int) -> int:
        """The first row of block number `start`."""
        if start < 0:
            raise InputError(f"start={start} must be at least 0: blocks are numbered from there.")
        return start * self.block_rows
