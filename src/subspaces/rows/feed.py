"""Rows wherever they are: a sample in memory, sums over all rows, and a result for each row.

An estimator makes all decisions on the rows of a `Feed`: all rows, or a sample if there are many. From the other rows
it needs sums over blocks and functions of each block. How these are computed depends on where the rows are: in this
process, from an array or from files (`SourceFeed`), or on a cluster (`DaskFeed`).
"""

from __future__ import annotations

import contextlib
import copy
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
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
from subspaces.rows.digest import Digests
from subspaces.rows.feed_base import ArrayFeed, BlockFunction, Check, Columns, Feed, Rows
from subspaces.rows.frames import numeric_columns
from subspaces.rows.labels import LabelWriter, check_label_path, partial_path
from subspaces.rows.moments import block_sums, moments_of_sums
from subspaces.rows.open import is_source, open_rows
from subspaces.rows.prefetch import prefetched
from subspaces.rows.sample import check_model, check_sample, sample_rows, sums_products
from subspaces.rows.source import FeedOptions, RowSource
from subspaces.rows.thresholds import FIT_ROWS, SAMPLE_SHARE
from subspaces.rows.weights import RowWeights, check_used_rows, check_weights

__all__ = ["NO_ROWS", "BlockFeed", "BlockFunction", "Check", "Feed", "Rows", "SourceFeed", "open_feed", "open_new_rows"]


# Moments are summed about the mean of this many rows: near the mean of all rows, sums of squares lose no digits.
ORIGIN_ROWS = 1000
NO_ROWS = "X has no rows: a minimum of 1 is required."


class BlockFeed(Feed):
    """Rows in blocks; `draw` computes their moments and takes a sample, or all rows if there are few."""

    n_columns: int
    column_names: tuple[str, ...] | None
    dtype: np.dtype[Any]  # of blocks
    memory_limit: float = np.inf
    sample_bytes: float = FeedOptions().memory_limit / SAMPLE_SHARE
    _weights: NDArray[np.float64] | None = None  # (n,), of all rows in sums

    def draw(
        self, estimator: BaseEstimator, check: Check, rng: np.random.RandomState, weights: RowWeights | None = None
    ) -> None:
        """Pass over all rows once, then take the rows that decisions are made on."""
        self.rng = rng
        known = self._known_rows() if weights is None else len(weights.values)
        if weights is not None:
            check_used_rows(weights, getattr(estimator, "n_clusters", None))
        if known:
            # Check parameters before anything is read: zeros of the right shape, which take no memory.
            check(np.broadcast_to(np.zeros((), self.dtype), (known, self.n_columns)))
        needed = getattr(estimator, "_model_bytes", lambda *_: 0)
        check_model(needed(self.n_columns, self.dtype.itemsize), self.n_columns, self.memory_limit)
        limit, whole = self.memory_limit, bool(getattr(estimator, "_uses_all_columns", False))
        size = self._sample_size(known, whole)
        check_sample(known, self.n_columns, self.dtype.itemsize, size=size, memory_limit=limit, whole=whole)
        self._begin(estimator)
        if weights is not None:
            self.copies, exact = weights.counts(size, self.rng)
            if exact:
                self.is_sampled, self.n_rows = False, len(self.copies)
                self.rows = self._take_copies(self.copies)
                return
            self._weights = weights.values
        elif known is not None and 0 < known <= size:
            # Few rows: read them all.
            self.is_sampled, self.n_rows = False, known
            self.rows = self._take(np.arange(known))
            check_range(self.rows)
            return
        first = self._first_rows(ORIGIN_ROWS)
        check_range(first, are_all=False)
        if self._weights is not None and self._weights[: len(first)].any():
            first = first[self._weights[: len(first)] > 0]
        origin = first.mean(axis=0, dtype=np.float64)
        products = sums_products(self.n_columns, self.memory_limit)
        count, total, squares = self.sum(partial(block_sums, origin=origin, products=products), "moments")
        moments = moments_of_sums(count, total, squares, origin)
        if self.copies is not None:
            self.is_sampled, self.n_rows, self.moments = True, len(self.copies), moments
            self.rows = self._take_copies(self.copies)
            return
        self.n_rows = moments.n_rows
        self.is_sampled = size < self.n_rows
        index = np.arange(min(size, self.n_rows))
        if self.is_sampled:
            self.moments = moments
            index = np.sort(sample_without_replacement(self.n_rows, size, random_state=self.rng))
        self.rows = self._take(index)
        check_range(self.rows)

    def _take_copies(self, copies: Indices) -> Array:
        """Each row in turn, as often as `copies` (n,) says."""
        used = np.flatnonzero(copies)
        rows = self._take(used)
        check_range(rows)
        return np.repeat(rows, copies[used], axis=0)

    def _begin(self, estimator: BaseEstimator) -> None:
        """Prepare the first pass."""

    def _sample_size(self, n_rows: int | None, whole: bool) -> int:
        return sample_rows(
            n_rows,
            self.n_columns,
            self.dtype.itemsize,
            room=self.sample_bytes,
            memory_limit=self.memory_limit,
            most=FIT_ROWS,
            whole=whole,
        )

    def count_for_weights(self) -> int:
        """The number of rows, each of which has a weight."""
        raise InputError(
            "sample_weight is not supported for Dask collections: pass rows in memory, or files that open_rows reads.",
            parameter="sample_weight",
        )

    @abstractmethod
    def _known_rows(self) -> int | None:
        """The number of rows; None if it takes a pass over them to count them."""

    @abstractmethod
    def _first_rows(self, count: int) -> Array:
        """Some rows (m, p) of the first block that has any, at most `count`, as NumPy."""

    @abstractmethod
    def _take(self, index: Indices) -> Array:
        """The rows (m, p) at ascending `index` (m,), as NumPy."""


class SourceFeed(BlockFeed):
    """Rows that this process reads in blocks, each block while the one before is processed."""

    def __init__(self, source: RowSource, *, in_memory: bool = False) -> None:
        self._source, self._options = source, source.options
        if source.options.device is not None:
            # Refuse a missing device before anything is read.
            self.pattern = to_device(np.zeros((1, 1), np.float32), source.options.device)
        self.n_columns, self.column_names, self.dtype = source.n_columns, source.column_names, source.dtype
        # The memory limit does not concern rows that are in memory already.
        self.memory_limit = np.inf if in_memory else source.options.memory_limit
        self.sample_bytes = self.memory_limit / SAMPLE_SHARE
        self._checkpoint: Checkpoint | None = None
        self._passes: Counter[str] = Counter()
        self._digests = Digests()
        # Whether there is one pass: then rows cannot change between two.
        self.is_read_once = False

    def _begin(self, estimator: BaseEstimator) -> None:
        folder = self._options.checkpoint
        if self._options.labels is not None:
            # An existing file may be overwritten only if it belongs to the run that is resumed.
            check_label_path(self._options.labels, overwrite=folder is not None and has_begun(folder))
        if folder is not None:
            self._checkpoint = Checkpoint(folder, estimator, self._source, self.rng)
            self.rng = self._checkpoint.rng

    def sum(self, function: BlockFunction, name: str) -> tuple[NDArray[Any], ...]:
        self._passes[name] += 1
        name = f"{name}-{self._passes[name]}"
        done, totals, over = self._reached(name)
        if totals is not None:
            self._check_kept(name, totals, function)
        if not over:
            with prefetched(self._blocks(done)) as blocks:
                row = 0
                for number, block in enumerate(blocks, start=done + 1):
                    found = function(block) if self._weights is None else function(block, weights=self._own(row, block))
                    row += int(block.shape[0])
                    totals = found if totals is None else tuple(map(_plus, totals, found))
                    self._keep(name, number, totals)
                    done = number
        if totals is None:
            raise InputError(NO_ROWS)
        totals = tuple(map(to_host, totals))
        if not over:
            self._keep(name, done, totals, over=True)
        return totals

    def _own(self, row: int, block: Array) -> NDArray[np.float64]:
        """The weights (b,) of a block whose first row has the number `row`."""
        assert self._weights is not None
        return self._weights[row : row + int(block.shape[0])]

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
        """Labels written block by block; the file appears when all of them are written."""
        path, kept = self._options.labels, self._checkpoint is not None
        if path is None:
            assert self._checkpoint is not None
            path = self._checkpoint.folder / "labels.npy"
        check_label_path(path, overwrite=kept)
        done, _, over = self._reached("labels")
        if over and path.exists():
            return np.load(path, mmap_mode="r")
        if over or not partial_path(path).exists():
            # The partial file has been removed: begin again.
            done = 0
        count, row = self._count(), done * self._source.block_rows
        with (
            LabelWriter(path, count, resumable=kept, resume=done > 0, overwrite=kept) as writer,
            prefetched(self._blocks(done)) as blocks,
        ):
            for number, block in enumerate(blocks, start=done + 1):
                labels = to_host(function(block))
                writer.write(row, labels)
                row += len(labels)
                # A resumed writer must have something left to write.
                if row < count:
                    self._keep("labels", number, (np.asarray(row),), before=writer.flush)
        self._keep("labels", 0, (np.asarray(row),), over=True)
        return np.load(path, mmap_mode="r")

    def _reached(self, name: str) -> tuple[int, tuple[Any, ...] | None, bool]:
        """State of a pass; blocks that an earlier process has read are compared with what it has read."""
        if self._checkpoint is None:
            return 0, None, False
        kept = self._checkpoint.load(name)
        if len(kept.digests) > len(self._digests.known):
            self._digests.verify(kept.digests, self._source.blocks())
        return kept.done, kept.sums, kept.over

    def _keep(self, name: str, done: int, sums: tuple[Any, ...], **options: Any) -> None:
        if self._checkpoint is not None:
            self._checkpoint.save(name, done, sums, self._digests.known, **options)

    def _check_kept(self, name: str, totals: tuple[Any, ...], function: BlockFunction) -> None:
        """Refuse sums of a checkpoint that are not those of this function."""
        assert self._checkpoint is not None
        row = self._on_device(self._source.take([0]))
        if [np.shape(each) for each in totals] != [tuple(each.shape) for each in function(row)]:
            raise self._checkpoint.damaged(name, "its sums have other shapes")

    def _count(self) -> int:
        """The number of rows, counted by a pass if necessary."""
        known = getattr(self, "n_rows", self._source.n_rows)
        return sum(int(block.shape[0]) for block in self._source.blocks()) if known is None else known

    def _blocks(self, start: int = 0) -> Iterator[Array]:
        """Blocks of checked rows from number `start` on, on the device they are to be processed on."""
        blocks = self._source.blocks(start)
        watched = self._checkpoint is not None or not self.is_read_once
        for block in self._digests.watch(blocks, start) if watched else blocks:
            block = self._on_device(block)
            check_range(block, are_all=False)
            yield block
            # Release it before the next one is read.
            del block

    def _on_device(self, block: Array) -> Array:
        return block if self._options.device is None else to_device(to_host(block), self._options.device)

    def count_for_weights(self) -> int:
        if self._options.checkpoint is not None:
            raise InputError(
                "sample_weight cannot be used with a checkpoint, which does not keep weights: open the rows without.",
                parameter="sample_weight",
            )
        return self._count()

    def _known_rows(self) -> int | None:
        return self._source.n_rows

    def _first_rows(self, count: int) -> Array:
        for block in self._source.blocks():
            return to_host(block[: min(count, block.shape[0]), :])
        raise InputError(NO_ROWS)

    def _take(self, index: Indices) -> Array:
        rows = self._source.take(index)
        if is_device_array(rows):
            self.pattern = rows[:1, :]
        return to_host(rows)


@dataclass(frozen=True, slots=True)
class Composed:
    """The function of a block that applies `first` and then `second`; it can be sent to workers."""

    second: BlockFunction
    first: BlockFunction

    def __call__(self, x: Array) -> Any:
        return self.second(self.first(x))


class PreparedFeed(Feed):
    """New rows whose blocks are prepared before they are processed."""

    def __init__(self, feed: Feed, prepare: BlockFunction) -> None:
        self._feed, self._prepare = feed, prepare

    def sum(self, function: BlockFunction, name: str) -> tuple[NDArray[Any], ...]:
        return self._feed.sum(Composed(function, self._prepare), name)

    def map(self, function: BlockFunction) -> Any:
        return self._feed.map(Composed(function, self._prepare))

    def label(self, function: BlockFunction) -> Any:
        return self._feed.label(Composed(function, self._prepare))


def open_feed(
    estimator: BaseEstimator,
    X: Rows,
    check: Check,
    *,
    sample_weight: Any = None,
    min_features: int = 1,
    on_device: bool = False,
) -> Feed:
    """The rows of `X` to fit an estimator to; the estimator itself is not changed.

    `check` is called with rows before long work begins. With `on_device`, an array of another library than NumPy stays
    where it is, as one block.
    """
    # Validation writes the number and names of columns to the estimator it is given: to this copy.
    probe = copy.copy(estimator)
    rng = check_random_state(estimator.random_state)
    feed = None if on_device and is_device_array(X) else _block_feed(X)
    x: Any = None
    if feed is not None:
        check_columns(probe, feed.n_columns, feed.column_names, reset=True, min_features=min_features)
    else:
        x = check_rows(probe, numeric_columns(X), reset=True, min_features=min_features, device=on_device)
    weights = None
    if sample_weight is not None:
        weights = check_weights(sample_weight, len(x) if feed is None else feed.count_for_weights())
    if x is not None and (x.shape[0] > FIT_ROWS or weights is not None) and is_host(x) and not on_device:
        feed = SourceFeed(open_rows(x), in_memory=True)
    found: Feed
    if feed is None:
        check(x)
        found = ArrayFeed(x, rng)
    else:
        feed.draw(estimator, check, rng, weights)
        if weights is None:
            check(feed.rows)
        found = feed
    found.columns = Columns(probe.n_features_in_, getattr(probe, "feature_names_in_", None))
    return found


def open_new_rows(estimator: BaseEstimator, X: Rows) -> Feed:
    """The rows of `X` for a fitted estimator, checked against the columns it was fitted to.

    If the estimator was saved with a preparation, it is applied to each block.
    """
    feed: Feed
    blocks = _block_feed(_with_names(X, getattr(estimator, "feature_names_in_", None)))
    if blocks is None:
        feed = ArrayFeed(check_rows(estimator, numeric_columns(X), reset=False), None)
    else:
        check_columns(estimator, blocks.n_columns, blocks.column_names, reset=False)
        if isinstance(blocks, SourceFeed):
            blocks.is_read_once = True
        feed = blocks
    preparation = getattr(estimator, "_table_preparation", None)
    return feed if preparation is None else PreparedFeed(feed, preparation.prepared)


def _with_names(X: Rows, names: Sequence[str] | None) -> Rows:
    """If `X` is a path of a table, its columns of these names, which it may hold among others; otherwise `X`."""
    if names is None or not isinstance(X, str | PathLike):
        return X
    # Without such columns the rows are opened as they are, and checked.
    with contextlib.suppress(InputError):
        return open_rows(X, columns=list(names))
    return X


def _block_feed(X: Rows) -> BlockFeed | None:
    """The rows of `X` in blocks; None if it is a NumPy array or becomes one."""
    if is_dask(X):
        from subspaces.rows.dask import DaskFeed

        return DaskFeed(X)
    if is_source(X):
        return SourceFeed(open_rows(X))
    return SourceFeed(open_rows(X), in_memory=True) if is_device_array(X) else None


def _plus(total: Any, found: Any) -> Any:
    """Add one more block; a total that was kept on disk moves to where the blocks are."""
    return (follow(total, found) if is_host(total) else total) + found
