"""Dataframes as tables: pandas, polars (eager and lazy) and pyarrow.

The libraries are not imported here: an object of theirs exists only if its library is loaded already.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Indices
from subspaces.rows.columns import left_out_note, shown, unique_names
from subspaces.rows.formats.parquet import as_cells, as_floats, is_number, is_short, value_type
from subspaces.rows.formats.stored import WalkedTable

# Kinds of pandas columns of Python objects that are numbers, as `pandas.api.types.infer_dtype` names them.
NUMBER_OBJECTS = ("integer", "floating", "mixed-integer-float", "decimal", "boolean")


class FrameTable(WalkedTable):
    """A dataframe; its columns are converted to numbers block by block."""

    path = "X"
    names: tuple[str, ...]

    def __init__(self, frame: Any, names: Sequence[str], n_rows: int) -> None:
        self.frame, self.names, self.n_rows = frame, unique_names([str(name) for name in names]), n_rows
        self.n_columns, self.row_shape = len(self.names), (len(self.names),)
        found = [self._kind(column) for column in range(self.n_columns)]
        self.kinds = {column: kind for column, (kind, _) in enumerate(found) if kind is not None}
        self._short = [short for _, short in found]

    @abstractmethod
    def _kind(self, column: int) -> tuple[str | None, bool]:
        """What a column holds if it does not hold numbers, and whether its numbers fit into float32."""

    @abstractmethod
    def _part(self, start: int, stop: int, columns: Sequence[int]) -> Any:
        """The dataframe of some rows and columns."""

    @abstractmethod
    def _floats(self, part: Any, place: int, short: bool) -> NDArray[Any]:
        """A column of a part as float32 or float64, NaN for missing values."""

    @abstractmethod
    def select(self, columns: Sequence[int]) -> Any:
        """The dataframe with some columns only."""

    @abstractmethod
    def cells(self, column: int) -> NDArray[Any]: ...

    def dtype_of(self, columns: Indices | None) -> np.dtype[Any]:
        wanted = range(self.n_columns) if columns is None else columns
        return np.dtype(np.float32 if all(self._short[column] for column in wanted) else np.float64)

    def pieces(self, columns: Indices | None, start: int, rows: int, memory_limit: int) -> Iterator[NDArray[Any]]:
        wanted = list(range(self.n_columns)) if columns is None else [int(column) for column in columns]
        for part in self._parts(wanted, start, rows):
            found = np.empty((len(part), len(wanted)), self.dtype_of(columns))
            for place, column in enumerate(wanted):
                found[:, place] = self._floats(part, place, self._short[column])
            yield found

    def _parts(self, columns: Sequence[int], start: int, rows: int) -> Iterator[Any]:
        """The rows from `start` on in dataframes of `rows` rows."""
        for row in range(start, self.n_rows, rows):
            yield self._part(row, row + rows, columns)


class PandasTable(FrameTable):
    """A pandas DataFrame."""

    def __init__(self, frame: Any) -> None:
        super().__init__(frame, list(frame.columns), len(frame))

    def select(self, columns: Sequence[int]) -> Any:
        return self.frame.iloc[:, list(columns)]

    def cells(self, column: int) -> NDArray[Any]:
        series = self.frame.iloc[:, column]
        return as_cells(series.astype(object).where(series.notna(), None).tolist())

    def _kind(self, column: int) -> tuple[str | None, bool]:
        dtype = self.frame.dtypes.iloc[column]
        values = getattr(getattr(dtype, "categories", None), "dtype", dtype)
        kind = getattr(values, "kind", "O")
        if kind in "fiub":
            return None, kind == "f" and values.itemsize <= 4
        if kind == "O" and str(dtype) == "object":
            from pandas.api.types import infer_dtype

            found = infer_dtype(self.frame.iloc[:, column], skipna=True)
            return (None if found in NUMBER_OBJECTS else found), False
        return str(dtype), False

    def _part(self, start: int, stop: int, columns: Sequence[int]) -> Any:
        return self.frame.iloc[start:stop, list(columns)]

    def _floats(self, part: Any, place: int, short: bool) -> NDArray[Any]:
        series = part.iloc[:, place]
        if hasattr(series.dtype, "categories"):
            series = series.astype(np.float64)
        return series.to_numpy(dtype=np.float32 if short else np.float64, na_value=np.nan)


class PolarsTable(FrameTable):
    """A polars DataFrame."""

    def __init__(self, frame: Any) -> None:
        super().__init__(frame, frame.columns, frame.height)

    @cached_property
    def _types(self) -> list[Any]:
        return list(self.frame.collect_schema().dtypes())

    def select(self, columns: Sequence[int]) -> Any:
        names = self.frame.collect_schema().names()
        return self.frame.select([names[column] for column in columns])

    def cells(self, column: int) -> NDArray[Any]:
        return as_cells(self.select([column]).lazy().collect().to_series().to_list())

    def _kind(self, column: int) -> tuple[str | None, bool]:
        kind = self._types[column]
        short = str(kind) in ("Float16", "Float32")
        return (None if kind.is_numeric() or str(kind) == "Boolean" else str(kind)), short

    def _part(self, start: int, stop: int, columns: Sequence[int]) -> Any:
        return self.select(columns)[start:stop]

    def _floats(self, part: Any, place: int, short: bool) -> NDArray[Any]:
        import polars

        return part.to_series(place).cast(polars.Float32 if short else polars.Float64).to_numpy()


class PolarsLazyTable(PolarsTable):
    """A polars LazyFrame: each pass runs the query and streams its result."""

    def __init__(self, frame: Any) -> None:
        import polars

        n_rows = int(frame.select(polars.len()).collect().item())
        FrameTable.__init__(self, frame, frame.collect_schema().names(), n_rows)

    def _parts(self, columns: Sequence[int], start: int, rows: int) -> Iterator[Any]:
        row = 0
        for part in self.select(columns).collect_batches(chunk_size=rows, maintain_order=True):
            if row + part.height > start:
                yield part[max(0, start - row) :]
            row += part.height


class ArrowTable(FrameTable):
    """A pyarrow Table."""

    def __init__(self, frame: Any) -> None:
        super().__init__(frame, frame.column_names, frame.num_rows)

    def select(self, columns: Sequence[int]) -> Any:
        return self.frame.select(list(columns))

    def cells(self, column: int) -> NDArray[Any]:
        return as_cells(self.frame.column(column).to_pylist())

    def _kind(self, column: int) -> tuple[str | None, bool]:
        kind = value_type(self.frame.schema.field(column).type)
        return (None if is_number(kind) else str(kind)), is_short(kind)

    def _part(self, start: int, stop: int, columns: Sequence[int]) -> Any:
        return self.frame.slice(start, stop - start).select(list(columns)).combine_chunks()

    def _floats(self, part: Any, place: int, short: bool) -> NDArray[Any]:
        return as_floats(part.column(place).combine_chunks())


OPENERS: dict[tuple[str, str], Callable[[Any], FrameTable]] = {
    ("pandas", "DataFrame"): PandasTable,
    ("polars", "DataFrame"): PolarsTable,
    ("polars", "LazyFrame"): PolarsLazyTable,
    ("pyarrow", "Table"): ArrowTable,
}


def frame_kind(X: Any) -> tuple[str, str] | None:
    """The library and class of a dataframe, or of the one it is derived from; None if `X` is something else."""
    kinds = ((kind.__module__.partition(".")[0], kind.__name__) for kind in type(X).__mro__)
    return next((kind for kind in kinds if kind in OPENERS), None)


def open_frame(X: Any) -> FrameTable | None:
    """The dataframe `X` as a table; None if `X` is something else."""
    kind = frame_kind(X)
    return None if kind is None else OPENERS[kind](X)


def numeric_columns(X: Any) -> Any:
    """`X` itself; if it is a dataframe in memory, without the columns that do not hold numbers, with a warning."""
    kind = frame_kind(X)
    if kind is None or kind == ("polars", "LazyFrame"):
        return X
    table = OPENERS[kind](X)
    if not table.kinds:
        return X
    kept = [column for column in range(table.n_columns) if column not in table.kinds]
    if not kept:
        # The check of rows that follows explains what is wrong.
        return X
    odd = [f"{shown(table.names[column])} ({kind})" for column, kind in table.kinds.items()]
    warn_left_out(left_out_note(odd))
    return table.select(kept)


def warn_left_out(note: str) -> None:
    """Warn that columns of a table are not used."""
    warnings.warn(f"{note}; choose the columns with open_rows(X, columns=[...]) to silence this.", stacklevel=3)
