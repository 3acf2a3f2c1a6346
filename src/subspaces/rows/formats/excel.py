"""Rows in sheets of workbooks: Excel (.xlsx, .xls) and OpenDocument (.ods), read by python-calamine.

It runs in a process of its own, which may end without harm if a workbook takes all its memory (`excel_process.py`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

from subspaces.rows.formats.base import OpenOptions
from subspaces.rows.formats.cells import CELL_BYTES, CellTable
from subspaces.rows.formats.dialect import find_header
from subspaces.rows.memory import HELD_SHARE
from subspaces.rows.reading import UnreadableError, check_file, reading, require


class SheetTable(CellTable):
    """One sheet of a workbook, which is held in memory."""

    def __init__(self, path: Path, sheet: str, rows: Sequence[list[str]], count_from: int) -> None:
        super().__init__()
        self.path, self._sheet = path, sheet
        cells = [(number, row) for number, row in enumerate(rows, 1) if any(cell.strip() for cell in row)]
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
    require("python_calamine", path)
    names: list[str] = []
    sheets: dict[str, list[list[str]]] = {}
    rows: list[list[str]] = []
    room = options.memory_limit // HELD_SHARE
    with _lines(path, options.key, room) as lines:
        for line in lines:
            # Each cell has a comma or a bracket behind it.
            room -= len(line) + CELL_BYTES * (line.count(b",") + 1)
            if room < 0:
                raise _too_large(path, options.memory_limit)
            found = json.loads(line)
            if isinstance(found, list):
                rows.append(found)
            elif "sheets" in found:
                names = found["sheets"]
            elif "sheet" in found:
                sheets[found["sheet"]] = rows = []
            elif "error" in found:
                with reading(path, "workbook", _WorkbookError):
                    raise _WorkbookError(found["error"])
            elif "done" in found:
                return _chosen(path, names, sheets, options)
    # The process has ended early.
    raise _too_large(path, options.memory_limit)


def _chosen(path: Path, names: list[str], sheets: dict[str, list[list[str]]], options: OpenOptions) -> SheetTable:
    if options.key is not None and options.key not in names:
        raise UnreadableError(f"{path} has no sheet key={options.key!r}: it has {', '.join(names)}.")
    found = {name: rows for name, rows in sheets.items() if any(cell != "" for row in rows for cell in row)}
    if not found:
        raise UnreadableError(f"{path} holds no rows: fill a sheet with one row per line.")
    if len(found) > 1:
        raise UnreadableError(f"{path} has several sheets: name one with key=...; it has {', '.join(found)}.")
    ((name, rows),) = found.items()
    return SheetTable(path, name, rows, options.count_from)


class _WorkbookError(Exception):
    """What the reader of workbooks reports."""


def _too_large(path: Path, memory_limit: int) -> UnreadableError:
    return UnreadableError(
        f"{path} does not fit into memory_limit={memory_limit / 1e9:.3g}GB, or is damaged: raise it, or save the sheet "
        "as CSV."
    )


@contextmanager
def _lines(path: Path, key: str | None, room: int) -> Iterator[Iterator[bytes]]:
    """What the process that reads a workbook prints; it ends with this context."""
    script = Path(__file__).with_name("excel_process.py")
    arguments = json.dumps([str(path), key, room, [each for each in sys.path if isinstance(each, str) and each]])
    process = subprocess.Popen(
        # Not the folder of the script, nor the current one, is searched for modules.
        [sys.executable, "-P", str(script), arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        try:
            yield iter(partial(cast(Any, process.stdout).readline, room + 1), b"")
        finally:
            process.kill()
