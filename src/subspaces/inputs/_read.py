"""One way to read rows, whatever file they are in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from subspaces.inputs._table import Table

Selection = str | Sequence[str | int]


def read_table(
    paths: str | Path | Sequence[str | Path],
    *,
    key: str | None = None,
    columns: Selection | None = None,
    drop: Selection | None = None,
    truth: str | int | None = None,
    names: str | int | None = None,
    missing: str = "error",
    image_shape: Sequence[int] | None = None,
    image_size: Sequence[int] | None = None,
    memory_limit: int | str = "1GB",
) -> Table:
    """The rows of files of one kind, one file after another."""
    raise NotImplementedError
