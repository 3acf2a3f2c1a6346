"""Text for people: results on stdout, lines on stderr, in characters that the terminal can show."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import IO, Any, TextIO

from subspaces._core.errors import UserFileError

LONGEST_LINE = 1000


class ReaderGoneError(Exception):
    """The program that reads stdout has closed it, as `head` does."""


def print_line(message: str) -> None:
    """Print one line to stderr."""
    print_progress(one_line(message))


def print_progress(text: str) -> None:
    """Print text to stderr with its spaces; if stderr is closed it is dropped, because the work matters more."""
    try:
        print(_encodable(text, sys.stderr), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        mute(sys.stderr)


def print_text(text: str) -> None:
    """Print results to stdout."""
    with to_stdout():
        print(_encodable(text, sys.stdout))


def print_json(document: Any, *, indent: int | None = 1) -> None:
    """Print one JSON document to stdout."""
    import json

    # Characters beyond ASCII are escaped, so that any terminal can show them.
    with to_stdout():
        print(json.dumps(document, indent=indent, allow_nan=False))


@contextlib.contextmanager
def to_stdout() -> Iterator[None]:
    """For code that writes results to stdout: a closed pipe is not an error, a full disk is one of the user."""
    try:
        yield
    except BrokenPipeError:
        raise ReaderGoneError from None
    except OSError as error:
        raise UserFileError(error.errno, f"results cannot be written: {error.strerror}", "stdout") from error


@contextlib.contextmanager
def bytes_to_stdout() -> Iterator[IO[bytes]]:
    """A stream for content that is already encoded, such as a CSV file."""
    with to_stdout():
        sys.stdout.flush()
        stream = getattr(sys.stdout, "buffer", None)
        if stream is not None:
            yield stream
            stream.flush()
            return
        content = io.BytesIO()
        yield content
        sys.stdout.write(content.getvalue().decode("utf-8", "backslashreplace"))


def mute(stream: TextIO) -> None:
    """Discard what is still written to a stream; otherwise Python complains when it flushes at the end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def one_line(text: object) -> str:
    """Text in one line of limited length, without control characters."""
    line = " ".join(str(text).split())
    line = "".join(letter if letter.isprintable() else "?" for letter in line)
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 4]} ..."


def table(heads: list[str], rows: list[list[str]], *, left: bool = False) -> str:
    """Rows of cells below their heads: the first column aligned left, the others right, or all left."""
    columns = list(zip(heads, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for row in (heads, *rows):
        cells = [cell.ljust(width) if left else cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *cells[1:]]).rstrip())
    return "\n".join(lines)


def _encodable(text: str, stream: TextIO) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
