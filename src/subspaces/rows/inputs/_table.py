"""What reading a file gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from subspaces._core.arrays import Indices
from subspaces.rows.sources import RowSource


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows to be clustered, and what is known about them."""

    rows: NDArray[Any] | RowSource  # (n, p); an array where they fit the memory limit, otherwise read in blocks
    columns: tuple[str, ...]  # names of the p columns: "column 1", ... where there are none, "pixel 1", ... of images
    row_names: tuple[str, ...] | None  # names of the n rows: a column that the user named, or the files of images
    truth: NDArray[Any] | None  # (n,) the true classes, integers or strings
    image_shape: tuple[int, ...] | None  # (height, width) or (height, width, 3) where a row is an image
    notes: tuple[str, ...]  # what the user should know: columns left out, rows dropped, ...
    kept: Indices | None = None  # (n,) numbers, from 0 on, of the rows that were not dropped; None: all are there

    @property
    def n_rows(self) -> int | None:
        """The number of rows; None where it takes a pass to know."""
        return self.rows.n_rows if isinstance(self.rows, RowSource) else len(self.rows)
