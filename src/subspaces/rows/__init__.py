"""Rows: where they come from, and what is done to them before they are clustered.

`open_rows` opens anything as a `RowSource`, which is read in blocks; estimators call it for paths, dataframes and
functions. `read_table` opens tables in the same way and also reads names, true classes and missing values.

=====================  =================================================================================
files                  `paths` (patterns, folders), `formats/` (one file per format, and their registry)
columns                `columns` (the selector), `tables` (which columns become rows)
other rows             `arrays`, `streams` (functions that yield blocks), `frames` (pandas, polars, pyarrow)
tables of users        `table`, `missing`, `unusual`, `standardize` (`Preparation`)
blocks                 `source`, `recut`, `prefetch`, `memory`
estimators             `feed`, `dask`, `preparation`, `moments`, `checkpoint`, `labels`, `plan`
=====================  =================================================================================

To add a file format, see `subspaces.rows.formats`.
"""

from subspaces.rows.labels import LabelWriter
from subspaces.rows.memory import parse_bytes
from subspaces.rows.open import is_source, open_rows
from subspaces.rows.source import FeedOptions, MappedRows, RowSource, WrappedRows
from subspaces.rows.standardize import Preparation
from subspaces.rows.table import Table, read_table
from subspaces.rows.unusual import unusual_columns

__all__ = [
    "FeedOptions",
    "LabelWriter",
    "MappedRows",
    "Preparation",
    "RowSource",
    "Table",
    "WrappedRows",
    "is_source",
    "open_rows",
    "parse_bytes",
    "read_table",
    "unusual_columns",
]
