"""Rows wherever they are: a sample of them here, sums over all of them, and a result for each.

An estimator decides everything on the rows of a `Feed`, which are all there are, or a sample where they are many. What
it needs of all rows are sums over blocks and functions of each block, and how these are computed is the business of the
feed: in this process, from an array or from files (`SourceFeed`), or on a cluster (`_dask.py`).
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

from subspaces._core.arrays import (
    Array,
    Indices,
    concatenate,
    follow,
    is_dask,
    is_device_array,
    is_host,
    to_device,
    to_host,
)
from subspaces._core.errors import InputError
from subspaces._core.validation import check_columns, check_range, check_rows
from subspaces.rows.checkpoint import Checkpoint, has_begun
from subspaces.rows.frames import numeric_columns
from subspaces.rows.labels import LabelWriter, check_label_path, partial_path
from subspaces.rows.moments import Moments, block_sums, moments_of_sums
from subspaces.rows.open import is_source, open_rows
from subspaces.rows.prefetch import prefetched
from subspaces.rows.source import FeedOptions, RowSource

# Everything is decided on at most this many rows; all others take part in sums and are labelled.
FIT_ROWS = 100_000
# A sample of rows that are not in memory takes at most this share of the memory limit, since rows are copied, projected
# and scaled; but it is never smaller than the second number.
SAMPLE_SHARE = 8
LEAST_ROWS = 1000
# Moments are summed about the mean of this many rows: near the mean of all, sums of squares lose no digits.
ORIGIN_ROWS = 1000
# Attributes of estimators that tell something of each row beside its label; only of those at hand.
PER_ROW = ("outlier_scores_", "confidence_")
NO_ROWS = "X has no rows: a minimum of 1 is required."

# What estimators take: an array, or whatever `open_rows` opens.
Rows: TypeAlias = Any
# A function of a block of rows (b, p), in the library and on the device of the block.
BlockFunction: TypeAlias = Callable[[Array], Any]


class Feed(ABC):
    """The rows that an estimator was given."""

    n_rows: int
    rows: Array  # (m, p), NumPy: all of them, or a sample
    is_sampled: bool  # whether there are more rows than those
    moments: Moments | None = None  # of all rows, where there are more than those, which know their own
    rng: np.random.RandomState  # of every draw

    @abstractmethod
    def sum(self, function: BlockFunction, name: str) -> tuple[NDArray[Any], ...]:
        """The sums over all blocks of what `function` returns for each, several arrays; `name` tells passes apart."""

    @abstractmethod
    def map(self, function: BlockFunction) -> Any:
        """What `function` returns for the rows of each block, one after another, where the rows are."""

    def label(self, function: BlockFunction) -> Any:
        """The labels that `function` returns for the rows of each block, where the rows are or labels are wanted."""
        return self.map(function)

    def deliver(self, labels: NDArray[Any]) -> Any:
        """NumPy `labels` of all rows, which are at hand, where the rows came from or labels are wanted."""
        return labels


class ArrayFeed(Feed):
    """Rows that are all here, in one block."""

    is_sampled = False

    def __init__(self, x: Array, rng: np.random.RandomState | None) -> None:
        self.rows, self.n_rows = x, len(x)
        if rng is not None:
            self.rng = rng

    def sum(self, function: BlockFunction, name: str) -> tuple[NDArray[Any], ...]:
        return tuple(map(to_host, function(self.rows)))

    def map(self, function: BlockFunction) -> Any:
        return function(self.rows)


class BlockFeed(Feed):
    """Rows in blocks; after `draw` their moments are known, and a sample is here, or all of them if they are few."""

    n_columns: int
    column_names: tuple[str, ...] | None
    dtype: np.dtype[Any]  # of blocks
    sample_bytes: float = FeedOptions().memory_limit / SAMPLE_SHARE

    def draw(self, estimator: BaseEstimator, rng: np.random.RandomState) -> None:
        """Walk over all rows once, then take the rows to decide on."""
        self.rng = rng
        known = self._known_rows()
        if known:
            # Before anything is read: zeros that take no memory have the shape of the rows.
            estimator._check_parameters(np.broadcast_to(np.zeros((), self.dtype), (known, self.n_columns)))
        self._begin(estimator)
        if known is not None and 0 < known <= self._sample_size():
            # Few rows: they are all that is read.
            self.is_sampled, self.n_rows = False, known
            self.rows = self._take(np.arange(known))
            check_range(self.rows)
            return
        first = self._first_rows(ORIGIN_ROWS)
        check_range(first, are_all=False)
        origin = first.mean(axis=0, dtype=np.float64)
        count, total, products = self.sum(partial(block_sums, origin=origin), "moments")
        moments = moments_of_sums(count, total, products, origin)
        self.n_rows = moments.n_rows
        size = self._sample_size()
        self.is_sampled = size < self.n_rows
        index = np.arange(min(size, self.n_rows))
        if self.is_sampled:
            self.moments = moments
            index = np.sort(sample_without_replacement(self.n_rows, size, random_state=self.rng))
        self.rows = self._take(index)
        check_range(self.rows)

    def _begin(self, estimator: BaseEstimator) -> None:
        """What is to be done before the first pass."""

    def _sample_size(self) -> int:
        room = self.sample_bytes / (self.n_columns * self.dtype.itemsize)
        return int(min(FIT_ROWS, max(LEAST_ROWS, room)))

    @abstractmethod
    def _known_rows(self) -> int | None:
        """The number of rows, where it is known without a pass."""

    @abstractmethod
    def _first_rows(self, count: int) -> Array:
        """Some rows (m, p) of the first block that has any, at most `count`, as NumPy."""

    @abstractmethod
    def _take(self, index: Indices) -> Array:
        """The rows (m, p) at ascending `index` (m,), as NumPy."""


class SourceFeed(BlockFeed):
    """Rows that are read in blocks by this process, each block while the one before is worked on."""

    def __init__(self, source: RowSource, *, in_memory: bool = False) -> None:
        self._source, self._options = source, source.options
        if source.options.device is not None:
            # A device that is not there is told before anything is read.
            to_device(np.zeros((1, 1), np.float32), source.options.device)
        self.n_columns, self.column_names, self.dtype = source.n_columns, source.column_names, source.dtype
        # Nobody sets a limit for rows that are in memory already.
        self.sample_bytes = np.inf if in_memory else source.options.memory_limit / SAMPLE_SHARE
        self._checkpoint: Checkpoint | None = None
        self._passes: Counter[str] = Counter()

    def _begin(self, estimator: BaseEstimator) -> None:
        folder = self._options.checkpoint
        if self._options.labels is not None:
            # A file that is there already is a result of the run that goes on, or none of ours.
            check_label_path(self._options.labels, overwrite=folder is not None and has_begun(folder))
        if folder is not None:
            self._checkpoint = Checkpoint(folder, estimator, self._source, self.rng)
            self.rng = self._checkpoint.rng

    def sum(self, function: BlockFunction, name: str) -> tuple[NDArray[Any], ...]:
        self._passes[name] += 1
        name = f"{name}-{self._passes[name]}"
        done, totals, over = self._reached(name)
        if not over:
            with prefetched(self._blocks(done)) as blocks:
                for number, block in enumerate(blocks, start=done + 1):
                    found = function(block)
                    totals = found if totals is None else tuple(map(_plus, totals, found))
                    self._keep(name, number, totals)
                    done = number
        if totals is None:
            raise InputError(NO_ROWS)
        totals = tuple(map(to_host, totals))
        if not over:
            self._keep(name, done, totals, over=True)
        return totals

    def map(self, function: BlockFunction) -> Any:
        moved = self._options.device is not None
        with prefetched(self._blocks()) as blocks:
            found = concatenate([to_host(function(block)) if moved else function(block) for block in blocks])
        return self._source.follow(found) if moved else found

    def label(self, function: BlockFunction) -> Any:
        if self._options.labels is None and self._checkpoint is None:
            return self.map(function)
        return self._write(function)

    def deliver(self, labels: NDArray[Any]) -> Any:
        path = self._options.labels
        if path is None:
            return self._source.follow(labels)
        with LabelWriter(path, len(labels), overwrite=self._checkpoint is not None) as writer:
            writer.write(0, labels)
        return np.load(path, mmap_mode="r")

    def _write(self, function: BlockFunction) -> NDArray[np.int32]:
        """Labels written as they are found; the file is there when all of them are."""
        path, kept = self._options.labels, self._checkpoint is not None
        if path is None:
            assert self._checkpoint is not None
            path = self._checkpoint.folder / "labels.npy"
        check_label_path(path, overwrite=kept)
        done, reached, over = self._reached("labels")
        row = 0 if reached is None else int(reached[0])
        if over and path.exists():
            return np.load(path, mmap_mode="r")
        if over or not partial_path(path).exists():
            # What was written has been removed.
            done = row = 0
        count = self._count()
        with (
            LabelWriter(path, count, resumable=kept, resume=done > 0, overwrite=kept) as writer,
            prefetched(self._blocks(done)) as blocks,
        ):
            for number, block in enumerate(blocks, start=done + 1):
                labels = to_host(function(block))
                writer.write(row, labels)
                row += len(labels)
                # A writer that resumes needs something to write.
                if row < count:
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
        known = getattr(self, "n_rows", self._source.n_rows)
        return sum(int(block.shape[0]) for block in self._source.blocks()) if known is None else known

    def _blocks(self, start: int = 0) -> Iterator[Array]:
        """Blocks of checked rows from number `start` on, where they are to be worked on."""
        for block in self._source.blocks(start):
            if self._options.device is not None:
                block = to_device(to_host(block), self._options.device)
            check_range(block, are_all=False)
            yield block
            # Not to be held while the next one is read.
            del block

    def _known_rows(self) -> int | None:
        return self._source.n_rows

    def _first_rows(self, count: int) -> Array:
        for block in self._source.blocks():
            return to_host(block[: min(count, block.shape[0]), :])
        raise InputError(NO_ROWS)

    def _take(self, index: Indices) -> Array:
        return to_host(self._source.take(index))


def open_feed(
    estimator: BaseEstimator, X: Rows, *, rng: np.random.RandomState | None = None, min_features: int = 1
) -> Feed:
    """The rows of `X` for an estimator: to be fitted, with a generator `rng`, or already fitted."""
    fits = rng is not None
    feed = _block_feed(X)
    if feed is not None:
        check_columns(estimator, feed.n_columns, feed.column_names, reset=fits, min_features=min_features)
    else:
        x = check_rows(estimator, numeric_columns(X), reset=fits, min_features=min_features)
        if len(x) <= FIT_ROWS or not fits:
            return ArrayFeed(x, rng)
        feed = SourceFeed(open_rows(x), in_memory=True)
    if rng is not None:
        feed.draw(estimator, rng)
    return feed


def _block_feed(X: Rows) -> BlockFeed | None:
    """The rows of `X` in blocks; None where it is an array of NumPy, or what becomes one."""
    if is_dask(X):
        from subspaces.rows.dask import DaskFeed

        return DaskFeed(X)
    if is_source(X):
        return SourceFeed(open_rows(X))
    return SourceFeed(open_rows(X), in_memory=True) if is_device_array(X) else None


def lean(function: BlockFunction) -> BlockFunction:
    """A method of an estimator as that of a copy without what it knows of single rows, to be sent elsewhere."""
    estimator = getattr(function, "__self__", None)
    if estimator is None:
        return function
    light = copy.copy(estimator)
    for name in ("labels_", *PER_ROW):
        light.__dict__.pop(name, None)
    return getattr(light, function.__name__)


def _plus(total: Any, found: Any) -> Any:
    """One more block; a total that was kept on disk goes where the blocks are."""
    return (follow(total, found) if is_host(total) else total) + found
