"""Rows as people have them: tables of text, arrays, images; and what is done to them before they are clustered."""

from subspaces.rows.inputs._preparation import Preparation
from subspaces.rows.inputs._read import read_table
from subspaces.rows.inputs._table import Table

__all__ = ["Preparation", "Table", "read_table"]
