"""The program that reads a workbook for `excel.py`, in a process of its own with a limit of memory.

A workbook of a kilobyte may claim billions of cells, for which its reader takes memory until the process ends. This
file is run as a script, without the package: it prints a line of JSON for the names of the sheets, for the name of each
sheet that is read, and for each of its rows.
"""

from __future__ import annotations

import contextlib
import json
import sys
from datetime import date, datetime, time
from pathlib import Path
from typing import Any


def limit_memory(room: int) -> None:
    """Let this process take `room` bytes more than now, on systems with such a limit."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + room,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def text(cell: Any) -> str:
    """A cell as text."""
    if isinstance(cell, bool):
        return str(cell).lower()
    return cell.isoformat() if isinstance(cell, date | datetime | time) else str(cell)


def main(path: str, key: str | None, room: int) -> None:
    """Print the sheet `key` of a workbook, or all of them."""
    from python_calamine import CalamineError, CalamineWorkbook

    def write(line: Any) -> None:
        sys.stdout.write(json.dumps(line) + "\n")

    limit_memory(room)
    try:
        book = CalamineWorkbook.from_path(path)
        write({"sheets": book.sheet_names})
        for name in book.sheet_names if key is None else [key] if key in book.sheet_names else []:
            write({"sheet": name})
            for row in book.get_sheet_by_name(name).to_python(skip_empty_area=False):
                write([text(cell) for cell in row])
    except (CalamineError, OSError) as error:
        write({"error": str(error)})
    write({"done": True})


if __name__ == "__main__":
    path, key, room, sys.path = json.loads(sys.argv[1])
    main(path, key, room)
