"""Rows from a function that returns a new iterator of blocks each time it is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, follow, namespace, to_host
from subspaces._core.errors import InputError, UserTypeError
from subspaces.rows.arrays import pick
from subspaces.rows.checks import array_dtype, check_shape
from subspaces.rows.columns import ColumnChoice
from subspaces.rows.recut import as_block, columns_at, recut
from subspaces.rows.source import FeedOptions, RowSource

Factory = Callable[[], Iterable[Any]]


class StreamRows(RowSource):
    """Rows of the blocks (any, p) that `factory` yields; blocks stay in their array library and on their device."""

    column_names = None

    def __init__(self, factory: Factory, options: FeedOptions, columns: ColumnChoice | None = None) -> None:
        self._factory, self.options = factory, options
        self._n_rows: int | None = None
        first = _first_block(factory)
        self._stored_columns = int(first.shape[1])
        self._columns = pick(columns, self._stored_columns, "a block of X")
        self.n_columns = self._stored_columns if self._columns is None else len(self._columns)
        self.dtype = array_dtype(first, "The first block of X")
        # The first row is compared in each pass: the same array library, the same rows.
        self._example = as_block(first[:1, :], self.dtype) + 0
        self._on_host = to_host(self._example)

    @property
    def n_rows(self) -> int | None:
        return self._n_rows

    def blocks(self, start: int = 0) -> Iterator[Array]:
        return recut(self._pieces(self._first_row(start)), self.block_rows, self.dtype)

    def follow(self, result: NDArray[Any]) -> Any:
        return follow(result, self._example)

    def _no_rows(self) -> Array:
        return columns_at(self._example[:0, :], self._columns)

    def _pieces(self, start: int) -> Iterator[Any]:
        """Checked blocks of the factory from row `start` on."""
        row = number = 0
        iterator = _iterate(self._factory)
        try:
            for block in iterator:
                block = self._check(block, number)
                if not row and block.shape[0]:
                    self._check_same(block)
                row += block.shape[0]
                if self._n_rows is not None and row > self._n_rows:
                    raise self._changed(f"at least {row}")
                if row > start:
                    yield columns_at(block[max(0, start - row + block.shape[0]) :, :], self._columns)
                number += 1
                # Do not hold this block while the next one is made.
                del block
        finally:
            _close(iterator)
        if self._n_rows is not None and row != self._n_rows:
            raise self._changed(str(row))
        self._n_rows = row

    def _check(self, block: Any, number: int) -> Any:
        where = f"Block {number} of X"
        block = _as_array(block, where)
        if namespace(block) is not namespace(self._example):
            raise InputError(f"{where} is of another array library than the first: make all of one kind.")
        _, n_columns = check_shape(block.shape, where)
        if n_columns != self._stored_columns:
            raise InputError(
                f"{where} has {n_columns} columns, but the first has {self._stored_columns}: make all the same."
            )
        if block.shape[0] and array_dtype(block, where).itemsize > self.dtype.itemsize:
            raise InputError(
                f"{where} holds {block.dtype} values, but the first holds {self._example.dtype}: make all the same."
            )
        return block

    def _check_same(self, block: Any) -> None:
        """Refuse a pass that begins with other rows than the first one; devices may round differently."""
        found, first = to_host(as_block(block[:1, :], self.dtype)), self._on_host
        scale = np.max(np.abs(first), initial=0, where=np.isfinite(first))
        if not np.allclose(found, first, rtol=0.01, atol=0.01 * scale, equal_nan=True):
            raise InputError(
                "X began with other rows than before: rows are read several times; make the function return a new "
                "iterator of the same blocks each time, from a fixed seed if it draws them."
            )

    def _changed(self, found: str) -> InputError:
        return InputError(
            f"X gave {found} rows in this pass and {self._n_rows} in an earlier one: make the function return a new "
            "iterator of the same blocks each time."
        )


def _first_block(factory: Factory) -> Any:
    """The first block that has rows, from an iterator of its own."""
    try:
        inspect.signature(factory).bind()
    except TypeError:
        raise UserTypeError("X is a function that needs arguments: pass one without, such as lambda: f(...).") from None
    except ValueError:
        # Functions written in C may have no signature.
        pass
    iterator = _iterate(factory)
    try:
        if _iterate(factory) is iterator:
            raise InputError(
                "X is a function that returns the same iterator each time, which can be read only once: make it "
                "return a new one."
            )
        for number, block in enumerate(iterator):
            block = _as_array(block, f"Block {number} of X")
            if check_shape(block.shape, f"Block {number} of X")[0]:
                return block
    finally:
        _close(iterator)
    raise InputError("X gave no rows: a minimum of 1 is required.")


def _iterate(factory: Factory) -> Iterator[Any]:
    blocks = factory()
    if not hasattr(blocks, "__iter__") or array_api_compat.is_array_api_obj(blocks):
        raise UserTypeError(
            f"X() returned {type(blocks).__name__}: make it return an iterator of blocks (b, p) of rows."
        )
    return iter(blocks)


def _as_array(block: Any, where: str) -> Any:
    if not array_api_compat.is_array_api_obj(block) or isinstance(block, np.ma.MaskedArray):
        raise UserTypeError(f"{where} is {type(block).__name__}: make it an array (b, p) of NumPy, torch or CuPy.")
    return block.detach() if hasattr(block, "detach") else block


def _close(iterator: Iterator[Any]) -> None:
    """Close a generator that was not read to its end, and the files it may hold open."""
    if hasattr(iterator, "close"):
        iterator.close()
