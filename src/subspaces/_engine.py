"""Rows wherever they are: a sample of them here, sums over all of them, and a result for each.

An estimator decides everything on the rows of a `Feed`, which are all there are, or a sample where they are many or not
in memory. What it needs of all rows are sums over blocks and functions of each block, and how these are computed is the
business of the feed: in this process, from an array or from files (`SourceFeed`), or on a cluster (`_dask.py`).
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.random import sample_without_replacement

from subspaces._array import Array, concatenate, is_dask, is_device_array, to_device, to_host
from subspaces._checkpoint import Checkpoint
from subspaces._validation import check_columns, check_range, check_rows
from subspaces.moments import Moments, block_sums, moments_of_sums
from subspaces.sources import LabelWriter, RowSource, is_source, open_rows, prefetched

# Everything is decided on at most this many rows; all others take part in sums and are labelled.
FIT_ROWS = 100_000
# Attributes of estimators that tell something of each row beside its label; only of those at hand.
PER_ROW = ("outlier_scores_", "confidence_")
# A sample takes at most this share of the memory limit: rows are copied, projected and scaled.
SAMPLE_SHARE = 8


# What estimators take: an array, or whatever `open_rows` opens.
Rows: TypeAlias = Any
# A function of a block of rows (b, p), in the library and on the device of the block.
BlockFunction: TypeAlias = Callable[[Array], Any]


class Feed(ABC):
    """The rows that an estimator was given."""

    n_rows: int
    rows: Array  # (m, p), NumPy: all of them, or a sample
    is_sampled: bool  # whether there are more rows than those
    rng: np.random.RandomState  # of every draw

    @property
    def moments(self) -> Moments | None:
        """Moments of all rows where there are more than the sample, which knows its own."""
        return None

    @abstractmethod
    def sum(self, function: BlockFunction, name: str) -> tuple[NDArray[Any], ...]:
        """The sums over all blocks of what `function` returns for each, several arrays; `name` tells passes apart."""

    @abstractmethod
    def map(self, function: BlockFunction) -> Any:
        """What `function` returns for the rows of each block, one after another, where the rows are."""

    def deliver(self, result: NDArray[Any]) -> Any:
        """A NumPy `result` for all rows, which are at hand, where they came from or where it is wanted."""
        return result


class ArrayFeed(Feed):
    """Few rows, all of them here."""

    is_sampled = False

    def __init__(self, x: Array, rng: np.random.RandomState | None) -> None:
        self.rows, self.n_rows = x, len(x)
        if rng is not None:
            self.rng = rng

    def sum(self, function: BlockFunction, name: str) -> tuple[NDArray[Any], ...]:
        return tuple(map(to_host, function(self.rows)))

    def map(self, function: BlockFunction) -> Any:
        return function(self.rows)


class SourceFeed(Feed):
    """Rows that are read in blocks by this process, each block while the one before is worked on."""

    def __init__(self, source: RowSource) -> None:
        self._source = source
        self.n_columns, self.column_names = source.n_columns, source.column_names
        self._checkpoint: Checkpoint | None = None
        self._moments: Moments | None = None
        self._passes: Counter[str] = Counter()

    def draw(self, estimator: BaseEstimator, rng: np.random.RandomState) -> None:
        """Learn the moments of all rows and hold a sample of them, or all if they are few."""
        options = self._source.options
        if options.checkpoint is not None:
            self._checkpoint = Checkpoint(options.checkpoint, estimator, self._source)
            rng = self._checkpoint.generator(rng)
        self.rng = rng
        origin = to_host(next(iter(self._source.blocks()))[:1, :])[0].astype(np.float64)
        count, total, products = self.sum(partial(block_sums, origin=origin), "moments")
        self._moments = moments_of_sums(count, total, products, origin)
        self.n_rows = self._moments.n_rows
        self.is_sampled = self._sample_size() < self.n_rows
        index = np.arange(self.n_rows)
        if self.is_sampled:
            index = np.sort(sample_without_replacement(self.n_rows, self._sample_size(), random_state=rng))
        self.rows = to_host(self._source.take(index))

    def _sample_size(self) -> int:
        row_bytes = self._source.n_columns * np.dtype(self._source.dtype).itemsize
        return max(1000, min(FIT_ROWS, self._source.options.memory_limit // (SAMPLE_SHARE * row_bytes)))

    @property
    def moments(self) -> Moments | None:
        return self._moments if self.is_sampled else None

    def sum(self, function: BlockFunction, name: str) -> tuple[NDArray[Any], ...]:
        self._passes[name] += 1
        name = f"{name}-{self._passes[name]}"
        done, totals, over = self._reached(name)
        for number, block in enumerate(() if over else self._blocks(done), start=done + 1):
            found = function(block)
            totals = found if totals is None else tuple(old + new for old, new in zip(totals, found, strict=True))
            self._keep(name, number, totals)
            done = number
        if totals is None:
            raise ValueError("X has no rows: a minimum of 1 is required.")
        totals = tuple(map(to_host, totals))
        self._keep(name, done, totals, over=True)
        return totals

    def map(self, function: BlockFunction) -> Any:
        if self._source.options.labels is not None or self._checkpoint is not None:
            return self._map_to_disk(function)
        return concatenate([self._result(function(block)) for block in self._blocks()])

    def deliver(self, result: NDArray[Any]) -> Any:
        if self._source.options.labels is None:
            return self._source.follow(result)
        with LabelWriter(self._source.options.labels, len(result)) as writer:
            writer.write(0, result)
        return np.load(self._source.options.labels, mmap_mode="r")

    def _map_to_disk(self, function: BlockFunction) -> NDArray[Any]:
        """Labels written as they are found; the file is there when all of them are."""
        path = self._source.options.labels
        if path is None:
            assert self._checkpoint is not None
            path = self._checkpoint.folder / "labels.npy"
        done, reached, over = self._reached("labels")
        row = 0 if reached is None else int(reached[0])
        kept = self._checkpoint is not None
        if not over:
            with LabelWriter(path, self._count(), resumable=kept, resume=done > 0, overwrite=kept) as writer:
                for number, block in enumerate(self._blocks(done), start=done + 1):
                    labels = to_host(function(block))
                    writer.write(row, labels)
                    row += len(labels)
                    self._keep("labels", number, (np.asarray(row),), before=writer.flush)
            self._keep("labels", 0, (np.asarray(row),), over=True)
        return np.load(path, mmap_mode="r")

    def _reached(self, name: str) -> tuple[int, tuple[Any, ...] | None, bool]:
        return (0, None, False) if self._checkpoint is None else self._checkpoint.load(name)

    def _keep(self, name: str, done: int, sums: tuple[Any, ...], **options: Any) -> None:
        if self._checkpoint is not None:
            self._checkpoint.save(name, done, sums, **options)

    def _count(self) -> int:
        """The number of rows, by a pass if need be."""
        known = self._moments.n_rows if self._moments is not None else self._source.n_rows
        return sum(len(block) for block in self._source.blocks()) if known is None else known

    def _blocks(self, start: int = 0) -> Iterator[Array]:
        """Blocks of checked rows where they are to be worked on."""
        blocks = self._source.blocks(start)
        device = self._source.options.device
        for block in prefetched(blocks if device is None else (to_device(block, device) for block in blocks)):
            check_range(block)
            yield block

    def _result(self, values: Any) -> Any:
        """What was computed on a device for rows that came from the host goes back there."""
        return values if self._source.options.device is None else to_host(values)


def open_feed(
    estimator: BaseEstimator, X: Rows, *, rng: np.random.RandomState | None = None, min_features: int = 1
) -> Feed:
    """The rows of `X` for an estimator: to be fitted, with a generator `rng`, or already fitted."""
    fits = rng is not None
    if is_dask(X):
        from subspaces._dask import DaskFeed

        feed: Any = DaskFeed(X)
    elif is_source(X) or is_device_array(X):
        feed = SourceFeed(open_rows(X))
    else:
        x = check_rows(estimator, X, reset=fits, min_features=min_features)
        if len(x) <= FIT_ROWS or not fits:
            return ArrayFeed(x, rng)
        feed = SourceFeed(open_rows(x))
    check_columns(estimator, feed.n_columns, feed.column_names, reset=fits, min_features=min_features)
    if rng is not None:
        feed.draw(estimator, rng)
    return feed


def lean(function: BlockFunction) -> BlockFunction:
    """A method of an estimator as that of a copy without what it knows of single rows, to be sent elsewhere."""
    estimator = getattr(function, "__self__", None)
    if estimator is None:
        return function
    light = copy.copy(estimator)
    for name in ("labels_", *PER_ROW):
        light.__dict__.pop(name, None)
    return getattr(light, function.__name__)
