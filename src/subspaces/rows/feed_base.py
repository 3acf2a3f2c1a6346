"""What an estimator reads rows from: a sample in memory, sums over all rows, and a result for each row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Indices, to_host
from subspaces.rows.moments import Moments

# Rows as estimators take them: an array, or anything that `open_rows` opens.
Rows: TypeAlias = Any
# A function of a block of rows (b, p), in the library and on the device of the block; those that are summed also take
# `weights` (b,) of the rows.
BlockFunction: TypeAlias = Callable[..., Any]
# Raises if the parameters of an estimator do not suit rows of the shape and dtype of an array.
Check: TypeAlias = Callable[[Array], None]


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of the rows that an estimator was fitted to."""

    count: int
    names: NDArray[np.object_] | None  # (count,)


class Feed(ABC):
    """The rows that an estimator was given."""

    n_rows: int
    rows: Array  # (m, p): all of them, or a sample; NumPy unless `open_feed` was asked to leave them on their device
    is_sampled: bool  # whether there are more rows than `rows`
    columns: Columns
    moments: Moments | None = None  # of all rows, if `rows` is a sample
    pattern: Any = None  # an array where the blocks are, if that is not NumPy; for `offloaded`
    copies: Indices | None = None  # (n_rows,), how often `rows` holds each row in turn; None if rows have no weights
    rng: np.random.RandomState  # for every random draw of the fit

    @abstractmethod
    def sum(self, function: BlockFunction, name: str) -> tuple[NDArray[Any], ...]:
        """Sums over all blocks of the arrays that `function` returns for each; `name` identifies the pass."""

    @abstractmethod
    def map(self, function: BlockFunction) -> Any:
        """The results of `function` for all blocks, concatenated, where the rows are."""

    def label(self, function: BlockFunction) -> Any:
        """The labels that `function` returns for all blocks, where the rows are or where labels are to be written."""
        return self.map(function)

    def deliver(self, labels: NDArray[Any]) -> Any:
        """NumPy `labels` of all rows, moved to where the rows are or where labels are to be written."""
        return labels

    def copied(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values (n,) of all rows as values of `rows`, if rows have weights."""
        return values if self.copies is None else np.repeat(values, self.copies, axis=0)

    def original(self, values: NDArray[Any]) -> NDArray[Any] | None:
        """Numbers (m,) of `rows` as numbers of all rows; None if `rows` is a sample of many rows.

        If rows have weights, those that are not in `rows` get NaN.
        """
        if self.copies is None or (self.is_sampled and len(self.copies) > len(values)):
            return None if self.is_sampled else values
        found = np.full(len(self.copies), np.nan, values.dtype)
        used = self.copies > 0
        found[used] = values[(np.cumsum(self.copies) - self.copies)[used]]
        return found


class ArrayFeed(Feed):
    """Rows of one array, in one block."""

    is_sampled = False

    def __init__(self, x: Array, rng: np.random.RandomState | None) -> None:
        self.rows, self.n_rows = x, len(x)
        if rng is not None:
            self.rng = rng

    def sum(self, function: BlockFunction, name: str) -> tuple[NDArray[Any], ...]:
        return tuple(map(to_host, function(self.rows)))

    def map(self, function: BlockFunction) -> Any:
        return function(self.rows)
