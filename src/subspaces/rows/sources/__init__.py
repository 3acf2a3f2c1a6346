"""Rows that come in blocks from wherever they are: files, arrays, functions that make them.

`open_rows` opens them, estimators take what it returns, or the path itself, in place of an array.
"""

from subspaces.rows.sources._base import FeedOptions, RowSource
from subspaces.rows.sources._bytes import parse_bytes
from subspaces.rows.sources._labels import LabelWriter, check_label_path, partial_path
from subspaces.rows.sources._open import is_source, open_rows
from subspaces.rows.sources._prefetch import prefetched

__all__ = [
    "FeedOptions",
    "LabelWriter",
    "RowSource",
    "check_label_path",
    "is_source",
    "open_rows",
    "parse_bytes",
    "partial_path",
    "prefetched",
]
