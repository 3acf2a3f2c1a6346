"""Columns of pyarrow, which reads Parquet files and converts dataframes: their types, and their values as numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Indices
from subspaces.rows.formats.base import Content, StoredTable
from subspaces.rows.formats.cells import Tally
from subspaces.rows.formats.keyed import text_array

TEXT = "text"
# Text of more signs is not read as a number.
LONGEST_NUMBER = 400


class ArrowTable(StoredTable):
    """A table whose columns have names and types of pyarrow; missing values become NaN."""

    names: tuple[str, ...]

    def __init__(self, path: Path | str, names: Sequence[str], types: Sequence[Any], n_rows: int) -> None:
        self.path, self.names, self.n_rows = path, tuple(names), n_rows
        self.n_columns, self.row_shape = len(self.names), (len(self.names),)
        self.kinds = {place: kind_of(each) for place, each in enumerate(types) if not is_number(_value_type(each))}
        self._booleans = {place for place, each in enumerate(types) if str(_value_type(each)) == "bool"}
        self._short = [is_short(_value_type(each)) for each in types]

    def survey(self, columns: Sequence[int], text: Sequence[int], room: int) -> list[Content]:
        found = dict(zip(columns, super().survey(columns, text, room), strict=True))
        found |= {column: replace(found[column], booleans=True) for column in columns if column in self._booleans}
        words = [column for column in columns if self.kinds.get(column) == TEXT]
        if words:
            # Text may be numbers, as in a text file, with or without mistakes.
            tally = Tally(len(words))
            for part in self.text_parts(words):
                tally.add([as_text(column) for column in part])
            found.update(zip(words, tally.contents(), strict=True))
        return [found[column] for column in columns]

    @abstractmethod
    def text_parts(self, columns: Sequence[int]) -> Iterator[list[Any]]:
        """All rows of some columns of text in lists of pyarrow arrays, one for each column."""

    def floats(self, position: int, column: Any) -> NDArray[np.floating[Any]]:
        """Values (b,) of the column at `position`, NaN for missing ones; numbers may be stored as text."""
        return Tally(1).add([as_text(column)])[:, 0] if self.kinds.get(position) == TEXT else as_floats(column)

    def dtype_of(self, columns: Indices | None) -> np.dtype[Any]:
        return np.dtype(np.float32 if all(self._short[column] for column in self.listed(columns)) else np.float64)

    def listed(self, columns: Indices | None) -> list[int]:
        """The positions `columns`, or those of all columns."""
        return list(range(self.n_columns)) if columns is None else [int(column) for column in columns]


def is_number(kind: Any) -> bool:
    """Whether a pyarrow type holds real numbers."""
    from pyarrow import types

    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)


def is_short(kind: Any) -> bool:
    """Whether a pyarrow type fits into float32."""
    from pyarrow import types

    return types.is_float16(kind) or types.is_float32(kind)


def kind_of(kind: Any) -> str:
    """An ordinary word for a pyarrow type that does not hold numbers."""
    from pyarrow import types

    words = {
        "category": types.is_dictionary(kind),
        TEXT: types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view",
        "date": types.is_date(kind) or types.is_timestamp(kind),
        "time": types.is_time(kind),
        "duration": types.is_duration(kind) or types.is_interval(kind),
        "list": types.is_nested(kind),
        "bytes": types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind),
        "empty": types.is_null(kind),
    }
    return next((word for word, fits in words.items() if fits), str(kind))


def as_floats(column: Any) -> NDArray[np.floating[Any]]:
    """A pyarrow column (b,) as floats, NaN for missing values."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not pa.types.is_floating(column.type):
        # Integers above 2^53 are rounded.
        column = column.cast(pa.float64(), safe=False)
    return column.to_numpy(zero_copy_only=False)


def as_text(column: Any) -> Any:
    """A pyarrow column as strings, empty for missing values.

    Long cells are cut before they are unpacked from a dictionary, where few bytes may stand for many cells.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    words = (column.dictionary if pa.types.is_dictionary(column.type) else column).cast(pa.string())
    # A sign that is in no number, so that a long one is not taken for its beginning.
    long = pc.greater(pc.utf8_length(words), LONGEST_NUMBER)
    if pc.any(long).as_py():
        start = pc.utf8_slice_codeunits(words, 0, LONGEST_NUMBER)
        words = pc.if_else(long, pc.binary_join_element_wise(start, "...", ""), words)
    if pa.types.is_dictionary(column.type):
        words = words.take(column.indices)
    return words.fill_null("")


def as_cells(values: list[Any], where: str, memory_limit: int) -> NDArray[Any]:
    """Values (n,) of a column of any type as integers, or else as strings."""
    if all(isinstance(value, int) for value in values):
        return np.asarray(values)
    return text_array(["" if value is None else str(value) for value in values], where, memory_limit)


def _value_type(kind: Any) -> Any:
    """The type of the values of a column, also if it is stored as a dictionary of values."""
    import pyarrow.types

    return kind.value_type if pyarrow.types.is_dictionary(kind) else kind
