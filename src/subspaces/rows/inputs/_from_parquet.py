"""Parquet files as rows: columns of numbers, and of text as names or true classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces.rows.inputs._columns import choose, listed, shown
from subspaces.rows.inputs._found import Found, Places, Request, as_truth
from subspaces.rows.inputs._from_arrays import in_memory
from subspaces.rows.sources import RowSource, open_rows
from subspaces.rows.sources._parquet import _is_number, _value_type
from subspaces.rows.sources._reading import UnreadableError, check_file, reading, require


def read_parquet(request: Request) -> Found:
    """The rows of Parquet files: in memory where they fit, and else read in blocks."""
    path = request.paths[0]
    check_file(path)
    parquet = require("pyarrow.parquet", path)
    with reading(path, "Parquet"):
        schema = parquet.read_schema(path)
    names = schema.names
    if not names:
        raise UnreadableError(f"{path} has no columns: a minimum of 1 is required.")
    wanted = choose(
        names, str(path), columns=request.columns, drop=request.drop, truth=request.truth, row_names=request.names
    )
    notes = []
    chosen = [names[place] for place in wanted.rows]
    text = [name for place, name in zip(wanted.rows, chosen, strict=True) if not _is_numeric(schema, place)]
    if text and wanted.explicit:
        raise UnreadableError(f"{path}, column {shown(text[0])} holds no numbers: leave it out of columns.")
    index = [] if wanted.explicit else [name for name in chosen if name.startswith("__index_level_")]
    kept = [name for name in chosen if name not in text and name not in index]
    if not kept:
        raise UnreadableError(f"{path} has no column of numbers: it has {listed(names)}.")
    if text:
        notes.append(f"{len(text)} column{'s' * (len(text) > 1)} of no numbers left out: {listed(text)}")
    if index:
        notes.append(f"names of rows that pandas wrote left out: {listed(index)}")
    source = open_rows(list(map(str, request.paths)), columns=kept, memory_limit=request.memory_limit)
    counts = tuple(table.n_rows for table in source.tables)  # type: ignore[attr-defined]
    rows: NDArray[Any] | RowSource = source
    if request.fits(sum(counts), len(kept), source.dtype.itemsize):
        rows = in_memory(source)
    truth = None if wanted.truth is None else as_truth(_cells(request, names[wanted.truth]))
    row_names = None if wanted.names is None else [str(name) for name in _cells(request, names[wanted.names])]
    return Found(rows, tuple(kept), Places(request.paths, counts), row_names, truth, None, notes)


def _is_numeric(schema: Any, place: int) -> bool:
    return bool(_is_number(_value_type(schema.field(place).type)))


def _cells(request: Request, name: str) -> NDArray[Any]:
    """A column (n,) of any type, as integers or strings."""
    found = []
    for path in request.paths:
        with reading(path, "Parquet"):
            column = require("pyarrow.parquet", path).read_table(path, columns=[name]).column(0)
            values = column.to_pylist()
        whole = all(isinstance(value, int) for value in values)
        found.append(np.asarray(values if whole else ["" if value is None else str(value) for value in values]))
    return np.concatenate(found)
