"""Public home of `read_table`, `Table` and `Preparation`, which live in `subspaces.rows`."""

from subspaces.rows import Preparation, Table, read_table

__all__ = ["Preparation", "Table", "read_table"]
