"""Dataframes as tables: pandas, polars (eager and lazy) and pyarrow, all by way of pyarrow columns.

Only pyarrow is imported: an object of another library exists only if that library is loaded already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Indices
from subspaces._core.callers import warn_caller
from subspaces.rows.columns import repeated_note, unique_names
from subspaces.rows.formats.arrow import ArrowTable, as_cells
from subspaces.rows.formats.base import WalkedTable
from subspaces.rows.reading import reading
from subspaces.rows.select_columns import select_rows
from subspaces.rows.source import FeedOptions, in_memory

PANDAS, POLARS, LAZY, ARROW = FRAMES = (
    ("pandas", "DataFrame"),
    ("polars", "DataFrame"),
    ("polars", "LazyFrame"),
    ("pyarrow", "Table"),
)
# Rows of text that are converted at once to find out whether they are numbers.
SURVEY_ROWS = 2**16


class FrameTable(ArrowTable, WalkedTable):
    """A dataframe; its columns are converted to numbers block by block. A lazy one runs its query in each pass."""

    def __init__(self, frame: Any) -> None:
        self.frame, self._library = frame, frame_kind(frame)
        names, types = self._schema()
        words = [str(name) for name in names]
        super().__init__("X", unique_names(words), types, self._count())
        self.notes = repeated_note(words)

    def text_parts(self, columns: Sequence[int]) -> Iterator[list[Any]]:
        return self._parts(columns, 0, SURVEY_ROWS)

    def pieces(self, columns: Indices | None, start: int, rows: int, memory_limit: int) -> Iterator[NDArray[Any]]:
        from pyarrow import ArrowException

        wanted = self.listed(columns)
        for part in self._parts(wanted, start, rows):
            found = np.empty((len(part[0]), len(wanted)), self.dtype_of(columns))
            for place, (position, column) in enumerate(zip(wanted, part, strict=True)):
                with reading("X", "dataframe", ArrowException):
                    found[:, place] = self.floats(position, column)
            yield found

    def cells(self, column: int, memory_limit: int) -> NDArray[Any]:
        found = [cell for part in self._parts([column], 0, self.n_rows) for cell in part[0].to_pylist()]
        return as_cells(found, f"X, column {self.names[column]!r},", memory_limit)

    def select(self, columns: Sequence[int]) -> Any:
        """The dataframe with some columns only."""
        if self._library == PANDAS:
            return self.frame.iloc[:, list(columns)]
        names, _ = self._schema()
        return self.frame.select([names[column] for column in columns])

    def _schema(self) -> tuple[list[Any], list[Any]]:
        """Names and pyarrow types of all columns."""
        if self._library == PANDAS:
            # The type of a column of Python objects depends on all of them.
            return list(self.frame.columns), [_pandas_type(series) for _, series in self.frame.items()]
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
        if self._library == LAZY:
            row = 0
            for batch in self.select(columns).collect_batches(chunk_size=rows, maintain_order=True):
                if row + batch.height > start:
                    yield _arrow_columns(batch[max(0, start - row) :].to_arrow())
                row += batch.height
            return
        selected = self.select(columns)
        for row in range(start, self.n_rows, max(1, rows)):
            if self._library == PANDAS:
                yield [_pandas_column(series) for _, series in selected.iloc[row : row + rows].items()]
            else:
                part = selected.slice(row, rows)
                yield _arrow_columns(part.to_arrow() if self._library == POLARS else part)


def frame_kind(X: Any) -> tuple[str, str] | None:
    """The library and class of a dataframe, or of the one it is derived from; None if `X` is something else."""
    kinds = ((kind.__module__.partition(".")[0], kind.__name__) for kind in type(X).__mro__)
    return next((kind for kind in kinds if kind in FRAMES), None)


def open_frame(X: Any) -> FrameTable | None:
    """The dataframe `X` as a table; None if `X` is something else."""
    return None if frame_kind(X) is None else FrameTable(X)


def numeric_columns(X: Any) -> Any:
    """`X` itself; if it is a dataframe in memory, without the columns that do not hold numbers, with a warning.

    The columns are those that `open_rows` would choose; numbers that are stored as text become floats.
    """
    kind = frame_kind(X)
    if kind in (None, LAZY) or (kind == PANDAS and all(getattr(each, "kind", "O") in "fiub" for each in X.dtypes)):
        return X
    table = FrameTable(X)
    if not table.kinds:
        return X
    selected = select_rows([table], FeedOptions(), columns=None)
    if selected.left_out is not None:
        warn_left_out(selected.left_out)
    positions = {name: position for position, name in enumerate(table.names)}
    kept = [positions[name] for name in selected.columns]
    if table.kinds.keys().isdisjoint(kept):
        return table.select(kept)
    import pyarrow as pa

    return pa.table(list(in_memory(selected.rows).T), names=list(selected.columns))


def warn_left_out(note: str) -> None:
    """Warn that columns of a table are not used."""
    warn_caller(f"{note}; choose the columns with open_rows(X, columns=[...]) to silence this.")


def _arrow_columns(table: Any) -> list[Any]:
    return [column.combine_chunks() for column in table.columns]


def _pandas_type(series: Any) -> Any:
    import pyarrow as pa

    if getattr(series.dtype, "kind", "O") in "fiub" and isinstance(series.dtype, np.dtype):
        return pa.from_numpy_dtype(series.dtype)
    return _pandas_column(series).type


def _pandas_column(series: Any) -> Any:
    """A pandas column as a pyarrow array; text if its objects have no common type."""
    import pyarrow as pa

    try:
        found = pa.array(series, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        cells = zip(series, series.isna(), strict=True)
        return pa.array([None if is_missing else str(cell) for cell, is_missing in cells], pa.string())
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
