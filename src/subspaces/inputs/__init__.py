"""Rows as people have them: tables of text, arrays, images; and what is done to them before they are clustered."""

from subspaces.inputs._preparation import Preparation
from subspaces.inputs._read import read_table
from subspaces.inputs._table import Table

__all__ = ["Preparation", "Table", "read_table"]
