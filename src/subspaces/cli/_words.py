"""How things are said: one line on stderr, results on stdout, in letters that the terminal has."""

from __future__ import annotations

import sys
from typing import Any, TextIO

MOST_LETTERS = 1000


def tell(message: str) -> None:
    """One line on stderr."""
    print(_written(one_line(message), sys.stderr), file=sys.stderr, flush=True)


def note(text: str) -> None:
    """Progress on stderr, spaced as it is."""
    print(_written(text, sys.stderr), file=sys.stderr, flush=True)


def say(text: str) -> None:
    """Results on stdout."""
    print(_written(text, sys.stdout))


def say_json(document: Any, *, indent: int | None = 1) -> None:
    """One JSON document on stdout."""
    import json

    # Letters beyond ASCII are escaped, so that any terminal has them.
    print(json.dumps(document, indent=indent, allow_nan=False))


def one_line(text: object) -> str:
    """Words in one line, without what would move the cursor, and not longer than anyone reads."""
    line = " ".join(str(text).split())
    line = "".join(letter if letter.isprintable() else "?" for letter in line)
    return line if len(line) <= MOST_LETTERS else f"{line[: MOST_LETTERS - 4]} ..."


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Rows of cells below their heads: the first column to the left, all others to the right."""
    columns = list(zip(heads, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for row in (heads, *rows):
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *cells[1:]]).rstrip())
    return "\n".join(lines)


def seconds_text(seconds: float) -> str:
    """A time as people read it."""
    if seconds < 100:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{seconds / 3600:.1f} h"


def size_text(count: float) -> str:
    """A number of bytes as people read it."""
    unit = 0
    while count >= 1000 and unit < 4:
        count, unit = count / 1000, unit + 1
    return f"{count:.0f} B" if not unit else f"{count:.3g} {('', 'kB', 'MB', 'GB', 'TB')[unit]}"


def _written(text: str, stream: TextIO) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
