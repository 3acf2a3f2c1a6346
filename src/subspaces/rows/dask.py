"""Rows on a Dask cluster: each block is a task on its worker, sums are added in a tree, labels stay lazy.

The scheduler is the one Dask chooses: that of the user's `Client` if there is one, else threads of this process. Blocks
of a worker that dies are computed again. Every pass computes the rows again; `persist()` them first if the cluster has
the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from subspaces._core.arrays import Array, Indices, namespace, to_host
from subspaces._core.errors import InputError, UserTypeError
from subspaces._core.validation import check_range
from subspaces.rows.checks import block_dtype, check_shape
from subspaces.rows.digest import Digests, Fingerprint, changed_error, fingerprint, is_same
from subspaces.rows.feed import NO_ROWS, BlockFeed, BlockFunction, Check
from subspaces.rows.recut import rows_at
from subspaces.rows.weights import RowWeights

# Number of sums that one task adds.
FAN_IN = 8

BlockSums = tuple[NDArray[Any], ...]


class DaskFeed(BlockFeed):
    """The rows of a Dask array or dataframe."""

    def __init__(self, collection: Any) -> None:
        x, self.column_names = _array_and_names(collection)
        # The number of rows may not be known.
        check_shape((0, *x.shape[1:]), "X")
        self.dtype = block_dtype(x.dtype, "X")
        # One chunk holds whole rows.
        self._x = x.map_blocks(_as_claimed, dtype=x.dtype, meta=x._meta).rechunk({1: -1}).astype(self.dtype)
        self.n_columns = int(x.shape[1])
        self._digests = Digests()

    def draw(
        self, estimator: BaseEstimator, check: Check, rng: np.random.RandomState, weights: RowWeights | None = None
    ) -> None:
        if np.isnan(self._x.chunks[0]).any():
            # On a copy, because compute_chunk_sizes changes the array in place.
            self._x = self._x.copy().compute_chunk_sizes()
        super().draw(estimator, check, rng, weights)

    def sum(self, function: BlockFunction, name: str) -> BlockSums:
        import dask

        shared, parts = _shared(function), self._parts()
        sums = [dask.delayed(_sums_of)(shared, part) for part in parts]
        prints = [dask.delayed(fingerprint)(part) for part in parts]
        while len(sums) > 1:
            sums = [dask.delayed(_add)(sums[i : i + FAN_IN]) for i in range(0, len(sums), FAN_IN)]
        found, prints = dask.compute(sums[0], prints)
        self._compare(dict(enumerate(prints)))
        if found is None:
            raise InputError(NO_ROWS)
        return found

    def map(self, function: BlockFunction) -> Any:
        like = _of_rows(self._no_rows(), function)
        shape = {"drop_axis": 1} if like.ndim == 1 else {"chunks": (self._x.chunks[0], (like.shape[1],))}
        return self._x.map_blocks(_of_rows, function=_shared(function), dtype=like.dtype, meta=like, **shape)

    def label(self, function: BlockFunction) -> Any:
        """Labels are computed later: each chunk is compared with what it was in the fit."""
        checked = _CheckedRows(function, self._digests.fingerprints)
        like = _of_rows(self._no_rows(), function)
        return self._x.map_blocks(_of_chunk, function=_shared(checked), dtype=like.dtype, meta=like, drop_axis=1)

    def deliver(self, labels: NDArray[Any]) -> Any:
        import dask.array as da

        return da.from_array(labels, chunks=(self._x.chunks[0],))

    def _compare(self, prints: dict[int, Fingerprint]) -> None:
        """Refuse chunks that have another number of rows than they claim, or that have changed, by their numbers."""
        sizes = self._x.chunks[0]
        for number, found in prints.items():
            count = found.shape[0]
            if count != sizes[number]:
                raise InputError(
                    f"chunk {number} of X has {count} rows and had {sizes[number]} when its rows were counted: "
                    "compute the same rows each time, or persist() them."
                )
            self._digests.compare_fingerprint(number, found)

    def _parts(self) -> list[Any]:
        return list(self._x.to_delayed().ravel())

    def _no_rows(self) -> Array:
        """A block (0, p) of the library that blocks are of."""
        xp = namespace(self._x._meta)
        return xp.zeros((0, self.n_columns), dtype=getattr(xp, self.dtype.name))

    def _known_rows(self) -> int:
        return int(sum(self._x.chunks[0]))

    def _first_rows(self, count: int) -> Array:
        import dask

        for part, size in zip(self._parts(), self._x.chunks[0], strict=True):
            if size:
                return dask.compute(dask.delayed(_rows_at)(part, np.arange(min(size, count))))[0]
        raise InputError(NO_ROWS)

    def _take(self, index: Indices) -> Array:
        import dask

        parts, sizes = self._parts(), self._x.chunks[0]
        ends = np.cumsum(sizes)
        wanted = np.split(index, np.searchsorted(index, ends[:-1]))
        used = [number for number, rows in enumerate(wanted) if len(rows)]
        found = [dask.delayed(_rows_at)(parts[i], wanted[i] - (ends[i] - sizes[i])) for i in used]
        found, prints = dask.compute(found, [dask.delayed(fingerprint)(parts[i]) for i in used])
        self._compare(dict(zip(used, prints, strict=True)))
        return np.concatenate(found)


def _array_and_names(collection: Any) -> tuple[Any, tuple[str, ...] | None]:
    """A Dask array, or a dataframe as one with the names of its columns if they are names."""
    import dask.array as da

    if isinstance(collection, da.Array):
        return collection, None
    # Objects of `dask.delayed` have every attribute that they are asked for.
    if not isinstance(getattr(collection, "npartitions", None), int) or not hasattr(collection, "to_dask_array"):
        raise UserTypeError(f"X is a Dask {type(collection).__name__}: pass a Dask array (n, p) or dataframe.")
    names = list(getattr(collection, "columns", ()))
    named = all(isinstance(name, str) for name in names)
    return collection.to_dask_array(), tuple(names) if named else None


def _as_claimed(x: Array, block_info: Any = None) -> Array:
    """A chunk, if it has the shape that the collection claims for it; sizes that are not known are not compared."""
    places = (block_info or {}).get(0, {}).get("array-location") or ()
    claimed = [stop - start for start, stop in places]
    if any(not np.isnan(size) and size != found for size, found in zip(claimed, x.shape, strict=False)):
        raise InputError(
            f"a chunk of X has shape {tuple(x.shape)} and claims {tuple(claimed)}: correct the shapes that were given "
            "to dask.array.from_delayed, or the lengths of the chunks."
        )
    return x


def _shared(function: Callable[..., Any]) -> Any:
    """`function` as a task of its own, so that it is sent to each worker once and not with each block."""
    import dask

    return dask.delayed(function, pure=False)


def _of_rows(x: Array, function: BlockFunction) -> Any:
    """The result of `function` for the rows of a block (b, p), checked first; the block may be empty."""
    if x.shape[0]:
        check_range(x, are_all=False)
        return function(x)
    # One row shows the shape and dtype of the result.
    return function(namespace(x).zeros((1, x.shape[1]), dtype=x.dtype))[:0, ...]


@dataclass(frozen=True, slots=True)
class _CheckedRows:
    """A function of chunks that are compared with what they were in the fit; it is sent to each worker once."""

    function: BlockFunction
    known: dict[int, Fingerprint]

    def __call__(self, x: Array, number: int) -> Any:
        if number in self.known and not is_same(self.known[number], fingerprint(x)):
            raise changed_error(number)
        return _of_rows(x, self.function)


def _of_chunk(x: Array, function: _CheckedRows, block_id: Any = None) -> Any:
    return function(x, block_id[0])


def _sums_of(function: BlockFunction, x: Array) -> BlockSums | None:
    """Sums over one block, on the host; None for an empty block."""
    if not x.shape[0]:
        return None
    check_range(x, are_all=False)
    return tuple(map(to_host, function(x)))


def _add(sums: Sequence[BlockSums | None]) -> BlockSums | None:
    found = [each for each in sums if each is not None]
    return tuple(np.sum(values, axis=0) for values in zip(*found, strict=True)) if found else None


def _rows_at(x: Array, index: Indices) -> Array:
    return to_host(rows_at(x, index))
