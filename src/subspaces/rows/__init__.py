"""Rows: where they come from, and what is done to them before they are clustered.

`open_rows` opens anything as a `RowSource`, which is read in blocks; estimators call it for paths, dataframes and
functions. `read_table` opens tables in the same way and also reads names, true classes and missing values.

=====================  =================================================================================
files                  `paths` (patterns, folders), `formats/` (one file per format, and their registry)
columns                `columns` (names and numbers), `select_columns` (which columns become rows)
other rows             `arrays`, `streams` (functions that yield blocks), `frames` (pandas, polars, pyarrow)
tables of users        `user_table`, `missing`, `unusual`, `user_preparation` (`Preparation`)
blocks                 `source`, `recut`, `prefetch`, `memory`
estimators             `feed`, `weights`, `dask`, `preparation`, `moments`, `checkpoint`, `labels`, `plan`
=====================  =================================================================================

To add a file format, see `subspaces.rows.formats`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subspaces.rows.labels import LabelWriter
    from subspaces.rows.memory import parse_bytes
    from subspaces.rows.open import is_source, open_rows
    from subspaces.rows.source import FeedOptions, MappedRows, RowSource, WrappedRows
    from subspaces.rows.unusual import ScaleWarning
    from subspaces.rows.user_preparation import Preparation
    from subspaces.rows.user_table import Table, read_table

# Names are imported at first use: the command line lists formats in its help, and that must not import everything.
_HOMES = {
    "FeedOptions": "source",
    "LabelWriter": "labels",
    "MappedRows": "source",
    "Preparation": "user_preparation",
    "RowSource": "source",
    "ScaleWarning": "unusual",
    "Table": "user_table",
    "WrappedRows": "source",
    "is_source": "open",
    "open_rows": "open",
    "parse_bytes": "memory",
    "read_table": "user_table",
}

__all__ = [
    "FeedOptions",
    "LabelWriter",
    "MappedRows",
    "Preparation",
    "RowSource",
    "ScaleWarning",
    "Table",
    "WrappedRows",
    "is_source",
    "open_rows",
    "parse_bytes",
    "read_table",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"subspaces.rows.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
