"""Rows on a Dask cluster: every block is a task where it lies, sums are added up in a tree, labels stay lazy.

Whatever scheduler Dask would use is used: that of the user's `Client` if there is one, else the threads of this
process. A worker that dies takes its blocks with it, and Dask computes those again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.random import sample_without_replacement

from subspaces._array import Array, namespace, to_host
from subspaces._engine import FIT_ROWS, BlockFunction, Feed, lean
from subspaces._validation import check_range
from subspaces.moments import Moments, block_sums, moments_of_sums

# How many sums are added up by one task.
FAN_IN = 8


class DaskFeed(Feed):
    """The rows of a Dask array or dataframe."""

    def __init__(self, collection: Any) -> None:
        self.column_names = None
        if hasattr(collection, "to_dask_array"):
            names = list(collection.columns)
            self.column_names = tuple(names) if all(isinstance(name, str) for name in names) else None
            collection = collection.to_dask_array()
        if collection.ndim != 2:
            raise ValueError(f"Expected 2D array, got a Dask array of {collection.ndim} dimensions instead: reshape X.")
        if collection.dtype.kind not in "biuf":
            raise ValueError(f"X has dtype {collection.dtype}: pass columns of real numbers only.")
        # Rows are worked on as a whole.
        self._x = collection.rechunk({1: -1}).astype(_float_of(collection.dtype))
        self.n_columns = int(self._x.shape[1])
        self._moments: Moments | None = None
        self.is_sampled = True

    def draw(self, estimator: BaseEstimator, rng: np.random.RandomState) -> None:
        """Learn the moments of all rows and hold a sample of them, or all if they are few."""
        del estimator
        self.rng = rng
        parts = self._parts()
        sizes = self._sizes(parts)
        first = next((part for part, size in zip(parts, sizes, strict=True) if size), None)
        if first is None:
            raise ValueError("X has no rows: a minimum of 1 is required.")
        origin = dask.compute(dask.delayed(_rows_at)(first, [0]))[0][0].astype(np.float64)
        count, total, products = self.sum(_OriginSums(origin), "moments")
        self._moments = moments_of_sums(count, total, products, origin)
        self.n_rows = self._moments.n_rows
        self.is_sampled = self.n_rows > FIT_ROWS
        index = np.arange(self.n_rows)
        if self.is_sampled:
            index = np.sort(sample_without_replacement(self.n_rows, FIT_ROWS, random_state=rng))
        ends = np.cumsum(sizes)
        owners = np.searchsorted(ends, index, side="right")
        wanted = [
            dask.delayed(_rows_at)(part, index[owners == i] - (ends[i] - sizes[i]))
            for i, part in enumerate(parts)
            if (owners == i).any()
        ]
        self.rows = np.concatenate(dask.compute(wanted)[0])

    @property
    def moments(self) -> Moments | None:
        return self._moments if self.is_sampled else None

    def sum(self, function: BlockFunction, name: str) -> tuple[NDArray[Any], ...]:
        # One object for all tasks: what it knows goes to each worker once.
        shared = dask.delayed(function, pure=False)
        sums = [dask.delayed(_sums_of)(shared, part) for part in self._parts()]
        while len(sums) > 1:
            sums = [dask.delayed(_add)(sums[i : i + FAN_IN]) for i in range(0, len(sums), FAN_IN)]
        return dask.compute(sums[0])[0]

    def map(self, function: BlockFunction) -> Any:
        function = lean(function)
        sample = np.zeros((1, self.n_columns), self._x.dtype) if self._moments is None else self.rows[:1]
        like = function(sample)
        shape = {} if like.ndim == 1 else {"chunks": (self._x.chunks[0], (like.shape[1],))}
        if like.ndim == 1:
            return self._x.map_blocks(_Checked(function), dtype=like.dtype, drop_axis=1, meta=like[:0])
        return self._x.map_blocks(_Checked(function), dtype=like.dtype, meta=like[:0], **shape)

    def deliver(self, result: NDArray[Any]) -> Any:
        sizes = self._sizes(self._parts())
        return da.from_array(result, chunks=(tuple(sizes), *result.shape[1:]))

    def _parts(self) -> list[Any]:
        return list(self._x.to_delayed().ravel())

    def _sizes(self, parts: Sequence[Any]) -> list[int]:
        """Rows of each block; a pass over them where Dask does not know."""
        known = self._x.chunks[0]
        if not np.isnan(known).any():
            return [int(size) for size in known]
        return [int(size) for size in dask.compute([dask.delayed(len)(part) for part in parts])[0]]


class _OriginSums:
    """`block_sums` about an origin; None for a block without rows."""

    def __init__(self, origin: NDArray[np.float64]) -> None:
        self.origin = origin

    def __call__(self, x: Array) -> tuple[Any, ...]:
        return block_sums(x, self.origin)


class _Checked:
    """A function of blocks that are checked first."""

    def __init__(self, function: BlockFunction) -> None:
        self.function = function

    def __call__(self, x: Array) -> Any:
        if x.shape[0]:
            check_range(x)
            return self.function(x)
        return self.function(namespace(x).zeros((1, x.shape[1]), dtype=x.dtype))[:0]


def _sums_of(function: BlockFunction, x: Array) -> tuple[NDArray[Any], ...] | None:
    """Sums over one block, on the host; none for a block without rows."""
    if not x.shape[0]:
        return None
    check_range(x)
    return tuple(map(to_host, function(x)))


def _add(sums: Sequence[tuple[NDArray[Any], ...] | None]) -> tuple[NDArray[Any], ...] | None:
    found = [each for each in sums if each is not None]
    return tuple(np.sum(values, axis=0) for values in zip(*found, strict=True)) if found else None


def _rows_at(x: Array, index: Sequence[int]) -> NDArray[Any]:
    return to_host(x[np.asarray(index)])


def _float_of(dtype: np.dtype[Any]) -> type:
    return np.float32 if dtype.kind == "f" and dtype.itemsize <= 4 else np.float64
