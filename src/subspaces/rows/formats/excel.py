"""Rows in sheets of workbooks: Excel (.xlsx, .xls) and OpenDocument (.ods), read by python-calamine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from subspaces.rows.formats.base import OpenOptions
from subspaces.rows.formats.cells import CellTable
from subspaces.rows.formats.dialect import find_header
from subspaces.rows.reading import UnreadableError, check_file, reading, require


class SheetTable(CellTable):
    """One sheet of a workbook, which is held in memory."""

    def __init__(self, path: Path, sheet: str, rows: Sequence[Sequence[Any]], count_from: int) -> None:
        super().__init__()
        self.path, self._sheet = path, sheet
        cells = [(number, [_text(cell) for cell in row]) for number, row in enumerate(rows, 1)]
        cells = [(number, row) for number, row in cells if any(cell.strip() for cell in row)]
        header = find_header([row for _, row in cells[:200]], f"{path}, sheet {sheet!r},", count_from=count_from)
        self._rows = cells[1:] if header.in_first_row else cells
        self.names, self.n_columns, self.row_shape = header.names, header.width, (header.width,)
        self.index_columns, self.notes = (0,) if header.has_index else (), header.notes

    def chunks(self, columns: Sequence[int]) -> Iterator[list[Any]]:
        import pyarrow as pa

        yield [pa.array([row[column] for _, row in self._rows], pa.string()) for column in columns]

    def place(self, row: int) -> str:
        return f"{self.path}, sheet {self._sheet!r}, row {self._rows[row][0]}"


def open_table(path: Path, options: OpenOptions) -> SheetTable:
    """The sheet `options.key` of a workbook, or the only one that is not empty."""
    check_file(path)
    calamine = require("python_calamine", path)
    with reading(path, "workbook", calamine.CalamineError):
        book = calamine.CalamineWorkbook.from_path(str(path))
    if options.key is not None and options.key not in book.sheet_names:
        raise UnreadableError(f"{path} has no sheet key={options.key!r}: it has {', '.join(book.sheet_names)}.")
    names = book.sheet_names if options.key is None else [options.key]
    with reading(path, "workbook", calamine.CalamineError):
        sheets = {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in names}
    found = {name: rows for name, rows in sheets.items() if any(cell != "" for row in rows for cell in row)}
    if not found:
        raise UnreadableError(f"{path} holds no rows: fill a sheet with one row per line.")
    if len(found) > 1:
        raise UnreadableError(f"{path} has several sheets: name one with key=...; it has {', '.join(found)}.")
    ((name, rows),) = found.items()
    return SheetTable(path, name, rows, options.count_from)


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    return cell.isoformat() if isinstance(cell, date | datetime | time) else str(cell)
