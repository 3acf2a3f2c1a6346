"""What every source of rows offers, how large its blocks are, and sources that change the rows of another."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.arrays import Array, Indices, concatenate
from subspaces._core.errors import InputError
from subspaces.rows.memory import BLOCK_BYTES, BLOCK_SHARE
from subspaces.rows.recut import rows_at


@dataclass(frozen=True, slots=True)
class FeedOptions:
    """How rows are read and processed."""

    memory_limit: int = 10**9  # bytes
    block_rows: int | None = None  # None: as the memory limit allows
    checkpoint: Path | None = None  # folder in which a long run keeps its progress
    labels: Path | None = None  # file that labels are written to
    device: str | None = None  # device on which blocks are processed


class RowSource(ABC):
    """Rows (n, p) that can be read in blocks any number of times, always the same rows in the same order."""

    n_columns: int
    dtype: np.dtype[Any]  # of the blocks: float32 for float32 and float16, float64 for all other numbers
    column_names: tuple[str, ...] | None  # None if the columns have no names
    options: FeedOptions

    @property
    @abstractmethod
    def n_rows(self) -> int | None:
        """The number of rows; None if it takes a pass to find out."""

    @abstractmethod
    def blocks(self, start: int = 0) -> Iterator[Array]:
        """Blocks (b, p) from number `start` on, in order, C-contiguous and of `dtype`.

        All but the last have `block_rows` rows. They may be views of the rows: do not write into them.
        """

    @property
    def block_rows(self) -> int:
        """Number of rows of a block."""
        if self.options.block_rows is not None:
            return self.options.block_rows
        room = min(BLOCK_BYTES, self.options.memory_limit // BLOCK_SHARE)
        return max(1, room // (self.n_columns * self.dtype.itemsize))

    @property
    def n_blocks(self) -> int | None:
        """The number of blocks; None if the number of rows is not known."""
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
        """A NumPy `result` for all rows, moved to the array library and device of the rows."""
        return result

    def with_options(self, options: FeedOptions) -> Self:
        """The same rows with other options."""
        other = copy.copy(self)
        other.options = options
        return other

    def __repr__(self) -> str:
        rows = "?" if self.n_rows is None else self.n_rows
        return f"{type(self).__name__}({rows} rows, {self.n_columns} columns, {self.dtype}, {self.block_rows} a block)"

    def _no_rows(self) -> Array:
        return np.empty((0, self.n_columns), self.dtype)

    def _check_index(self, index: ArrayLike) -> Indices:
        """`index` (m,) as existing row numbers in ascending order."""
        wanted = np.asarray(index)
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise InputError(
                f"index is an array of {wanted.dtype} and shape {wanted.shape}: pass row numbers (m,); "
                "np.flatnonzero makes them from a mask."
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


class WrappedRows(RowSource):
    """Base class of sources that read the rows of another source, in blocks of the same length."""

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


def in_memory(source: RowSource) -> NDArray[Any]:
    """All rows (n, p) of a source as one NumPy array; the number of rows must be known."""
    assert source.n_rows is not None
    rows = np.empty((source.n_rows, source.n_columns), source.dtype)
    start = 0
    for block in source.blocks():
        rows[start : start + len(block)] = block
        start += len(block)
    return rows
