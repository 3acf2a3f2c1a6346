"""How things are said: one line on stderr, results on stdout, in letters that the terminal has."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

MOST_LETTERS = 1000


class ReaderGoneError(Exception):
    """Whoever read the results has seen enough."""


def tell(message: str) -> None:
    """One line on stderr."""
    note(one_line(message))


def note(text: str) -> None:
    """Progress on stderr, spaced as it is; where nobody listens any more it is lost, for the work is worth more."""
    try:
        print(_written(text, sys.stderr), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        mute(sys.stderr)


@contextlib.contextmanager
def to_reader() -> Iterator[None]:
    """Where results are written to stdout: a reader who is gone is told from every other broken pipe."""
    try:
        yield
    except BrokenPipeError:
        raise ReaderGoneError from None


def mute(stream: TextIO) -> None:
    """Let what is still written to a stream go nowhere; Python would complain when it flushes at the end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def say(text: str) -> None:
    """Results on stdout."""
    with to_reader():
        print(_written(text, sys.stdout))


def say_json(document: Any, *, indent: int | None = 1) -> None:
    """One JSON document on stdout."""
    import json

    # Letters beyond ASCII are escaped, so that any terminal has them.
    with to_reader():
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


def _written(text: str, stream: TextIO) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
