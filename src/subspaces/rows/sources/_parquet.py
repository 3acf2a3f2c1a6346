"""Rows in Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Indices
from subspaces.rows.sources._base import BLOCK_SHARE
from subspaces.rows.sources._checks import Columns, pick_names
from subspaces.rows.sources._reading import UnreadableError, check_file, reading, require
from subspaces.rows.sources._tables import Table

# Bytes of a column that are read at once: fewer where many columns share the memory.
BUFFER_BYTES = (4096, 2**16)
# A page of each column is held unpacked besides the rows.
BATCH_SHARE = 2 * BLOCK_SHARE


@dataclass(frozen=True, eq=False)
class ParquetTable(Table):
    """Columns of a Parquet file, as rows; what is missing becomes NaN."""

    column_names: tuple[str, ...]

    def pieces(self, start: int, rows: int, memory_limit: int) -> Iterator[NDArray[Any]]:
        with self._opened(memory_limit) as file:
            starts = _group_starts(file)
            # Where a group ends with `start` there may be empty ones before the next: the last that begins there.
            first = int(np.searchsorted(starts, start, side="right")) - 1
            groups = range(first, len(starts) - 1)
            yield from self._batches(file, groups, start - int(starts[first]), rows, memory_limit)

    def take_into(self, out: Array, index: Indices, memory_limit: int) -> None:
        with self._opened(memory_limit) as file:
            starts = _group_starts(file)
            bounds = np.searchsorted(index, starts)
            for group in np.flatnonzero(np.diff(bounds)):
                place, stop = int(bounds[group]), int(bounds[group + 1])
                row = int(index[place])
                batches = self._batches(
                    file, range(group, group + 1), row - int(starts[group]), self.n_rows, memory_limit
                )
                for batch in batches:
                    end = place + int(np.searchsorted(index[place:stop], row + len(batch)))
                    out[place:end] = batch[index[place:end] - row]
                    place, row = end, row + len(batch)
                    if place == stop:
                        break

    @contextmanager
    def _opened(self, memory_limit: int) -> Iterator[Any]:
        with reading(self.path, "Parquet"):
            share = memory_limit // BLOCK_SHARE // self.n_columns
            with _parquet_file(self.path, min(max(BUFFER_BYTES[0], share), BUFFER_BYTES[1])) as file:
                if file.metadata.num_rows != self.n_rows:
                    raise UnreadableError(f"{self.path} has changed since it was opened: open it again.")
                yield file

    def _batches(
        self, file: Any, groups: range, skip: int, rows: int, memory_limit: int
    ) -> Iterator[NDArray[np.floating[Any]]]:
        """Rows of some row groups without the first `skip`, as arrays (b, p)."""
        step = max(1, min(rows, memory_limit // BATCH_SHARE // (8 * self.n_columns)))
        for batch in file.iter_batches(step, row_groups=list(groups), columns=list(self.column_names)):
            if skip < batch.num_rows:
                yield self._rows(batch.slice(skip))
            skip = max(0, skip - batch.num_rows)

    def _rows(self, batch: Any) -> NDArray[np.floating[Any]]:
        rows = np.empty((batch.num_rows, self.n_columns), self.dtype)
        for place, name in enumerate(self.column_names):
            rows[:, place] = _numbers(batch.column(batch.schema.get_field_index(name)))
        return rows


def open_parquet(path: Path, columns: Columns | None) -> ParquetTable:
    """The `columns` of a Parquet file, all if none are named."""
    check_file(path)
    with reading(path, "Parquet"), _parquet_file(path, BUFFER_BYTES[1]) as file:
        schema, n_rows = file.schema_arrow, int(file.metadata.num_rows)
    names = pick_names(columns, schema.names, str(path))
    if not names:
        raise UnreadableError(f"{path} has no columns: a minimum of 1 is required.")
    repeated = [name for name in names if schema.names.count(name) > 1]
    if repeated:
        raise UnreadableError(f"{path} has several columns {repeated[0]!r}: give each its own name.")
    _check_types(path, schema, names)
    short = all(_is_short(_value_type(schema.field(name).type)) for name in names)
    dtype = np.dtype(np.float32 if short else np.float64)
    return ParquetTable(path, n_rows, len(names), dtype, tuple(names))


def _parquet_file(path: Path, buffer_bytes: int) -> Any:
    # Read by small buffers, not mapped and not whole row groups ahead: both would count as memory.
    return require("pyarrow.parquet", path).ParquetFile(path, buffer_size=buffer_bytes, pre_buffer=False)


def _group_starts(file: Any) -> Indices:
    """The first row of each row group, and the number of rows."""
    counts = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
    return np.cumsum([0, *counts])


def _check_types(path: Path, schema: Any, names: list[str]) -> None:
    odd = [name for name in names if not _is_number(_value_type(schema.field(name).type))]
    if odd:
        shown = ", ".join(f"{name!r} ({schema.field(name).type})" for name in odd[:5]) + (", ..." if odd[5:] else "")
        good = [name for name in schema.names if _is_number(_value_type(schema.field(name).type))]
        wanted = f"[{', '.join(map(repr, good[:5]))}{', ...' if good[5:] else ''}]"
        raise UnreadableError(
            f"{path} has columns that hold no real numbers: {shown}; "
            + (f"name others by columns={wanted}." if good else "it has no others.")
        )


def _value_type(kind: Any) -> Any:
    """The type of the values of a column, which may be stored as numbers of values in a dictionary."""
    import pyarrow.types

    return kind.value_type if pyarrow.types.is_dictionary(kind) else kind


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)


def _is_short(kind: Any) -> bool:
    from pyarrow import types

    return types.is_float16(kind) or types.is_float32(kind)


def _numbers(column: Any) -> NDArray[np.floating[Any]]:
    """A column (b,) as floats."""
    import pyarrow

    if pyarrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not pyarrow.types.is_floating(column.type):
        # Whole numbers above 2^53 are rounded, as everywhere.
        column = column.cast(pyarrow.float64(), safe=False)
    return column.to_numpy(zero_copy_only=False)
