"""Dataframes as tables: pandas, polars (eager and lazy) and pyarrow, all by way of pyarrow columns.

Only pyarrow is imported: an object of another library exists only if that library is loaded already.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Indices
from subspaces.rows.columns import left_out_note, shown, unique_names
from subspaces.rows.formats.parquet import as_cells, as_floats, is_number, is_short, value_type
from subspaces.rows.formats.stored import WalkedTable
from subspaces.rows.reading import reading

PANDAS, POLARS, LAZY, ARROW = FRAMES = (
    ("pandas", "DataFrame"),
    ("polars", "DataFrame"),
    ("polars", "LazyFrame"),
    ("pyarrow", "Table"),
)
# The type of a pandas column of Python objects is found from this many of them.
OBJECTS = 1000


class FrameTable(WalkedTable):
    """A dataframe; its columns are converted to numbers block by block. A lazy one runs its query in each pass."""

    path = "X"
    names: tuple[str, ...]

    def __init__(self, frame: Any) -> None:
        self.frame, self._library = frame, frame_kind(frame)
        names, types = self._schema()
        self.names, self.n_rows = unique_names([str(name) for name in names]), self._count()
        self.n_columns, self.row_shape = len(self.names), (len(self.names),)
        values = [value_type(each) for each in types]
        self.kinds = {place: str(each) for place, each in enumerate(values) if not is_number(each)}
        self._short = [is_short(each) for each in values]

    def dtype_of(self, columns: Indices | None) -> np.dtype[Any]:
        wanted = range(self.n_columns) if columns is None else columns
        return np.dtype(np.float32 if all(self._short[column] for column in wanted) else np.float64)

    def pieces(self, columns: Indices | None, start: int, rows: int, memory_limit: int) -> Iterator[NDArray[Any]]:
        wanted = list(range(self.n_columns)) if columns is None else [int(column) for column in columns]
        for part in self._parts(wanted, start, rows):
            found = np.empty((len(part[0]), len(wanted)), self.dtype_of(columns))
            with reading("X", "dataframe"):
                for place, column in enumerate(part):
                    found[:, place] = as_floats(column)
            yield found

    def cells(self, column: int) -> NDArray[Any]:
        return as_cells([cell for part in self._parts([column], 0, self.n_rows) for cell in part[0].to_pylist()])

    def select(self, columns: Sequence[int]) -> Any:
        """The dataframe with some columns only."""
        if self._library == PANDAS:
            return self.frame.iloc[:, list(columns)]
        names, _ = self._schema()
        return self.frame.select([names[column] for column in columns])

    def _schema(self) -> tuple[list[Any], list[Any]]:
        """Names and pyarrow types of all columns."""
        import pyarrow as pa

        if self._library == PANDAS:
            head = self.frame.iloc[:OBJECTS]
            return list(head.columns), [_pandas_column(head.iloc[:, i], pa).type for i in range(head.shape[1])]
        if self._library == ARROW:
            return self.frame.column_names, self.frame.schema.types
        empty = self.frame.limit(0).lazy().collect().to_arrow()
        return empty.column_names, empty.schema.types

    def _count(self) -> int:
        if self._library == LAZY:
            import polars

            return int(self.frame.select(polars.len()).collect().item())
        return len(self.frame)

    def _parts(self, columns: Sequence[int], start: int, rows: int) -> Iterator[list[Any]]:
        """The rows from `start` on in lists of pyarrow arrays, one for each column."""
        import pyarrow as pa

        if self._library == LAZY:
            row = 0
            for batch in self.select(columns).collect_batches(chunk_size=rows, maintain_order=True):
                if row + batch.height > start:
                    yield _arrow_columns(batch[max(0, start - row) :].to_arrow())
                row += batch.height
            return
        for row in range(start, self.n_rows, max(1, rows)):
            if self._library == PANDAS:
                part = self.frame.iloc[row : row + rows, list(columns)]
                yield [_pandas_column(part.iloc[:, place], pa) for place in range(len(columns))]
            else:
                part = self.select(columns).slice(row, rows)
                yield _arrow_columns(part.to_arrow() if self._library == POLARS else part)


def frame_kind(X: Any) -> tuple[str, str] | None:
    """The library and class of a dataframe, or of the one it is derived from; None if `X` is something else."""
    kinds = ((kind.__module__.partition(".")[0], kind.__name__) for kind in type(X).__mro__)
    return next((kind for kind in kinds if kind in FRAMES), None)


def open_frame(X: Any) -> FrameTable | None:
    """The dataframe `X` as a table; None if `X` is something else."""
    return None if frame_kind(X) is None else FrameTable(X)


def numeric_columns(X: Any) -> Any:
    """`X` itself; if it is a dataframe in memory, without the columns that do not hold numbers, with a warning."""
    kind = frame_kind(X)
    if kind in (None, LAZY) or (kind == PANDAS and all(getattr(each, "kind", "O") in "fiub" for each in X.dtypes)):
        return X
    table = FrameTable(X)
    kept = [column for column in range(table.n_columns) if column not in table.kinds]
    # If no column is left, the check of rows that follows explains what is wrong.
    if not table.kinds or not kept:
        return X
    warn_left_out(left_out_note([f"{shown(table.names[column])} ({kind})" for column, kind in table.kinds.items()]))
    return table.select(kept)


def warn_left_out(note: str) -> None:
    """Warn that columns of a table are not used."""
    warnings.warn(f"{note}; choose the columns with open_rows(X, columns=[...]) to silence this.", stacklevel=3)


def _arrow_columns(table: Any) -> list[Any]:
    return [column.combine_chunks() for column in table.columns]


def _pandas_column(series: Any, pa: Any) -> Any:
    """A pandas column as a pyarrow array; nulls if its objects have no common type."""
    try:
        found = pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        return pa.DictionaryArray.from_arrays(pa.nulls(len(series), pa.int32()), pa.array([str(series.dtype)]))
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
