"""Errors in one line, and traceback files of bugs."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from pathlib import Path

from subspaces._core.errors import DISK_FULL
from subspaces.cli.output import one_line

DEBUG_VARIABLE = "SUBSPACES_DEBUG"


def is_debugging() -> bool:
    """Whether errors are to be raised with their traceback."""
    return os.environ.get(DEBUG_VARIABLE, "0") not in ("", "0")


def one_line_of(error: BaseException) -> str:
    """What is wrong with the input or the machine, what to do about it, and the notes of the error."""
    notes = [one_line(note) for note in getattr(error, "__notes__", ())]
    return "; ".join([_reason(error).rstrip("."), *notes]) if notes else _reason(error)


def _reason(error: BaseException) -> str:
    text = one_line(error)
    if isinstance(error, MemoryError):
        detail = f" ({text})" if text else ""
        return f"there is not enough memory{detail}: give fewer rows or columns, or a lower --memory-limit"
    if isinstance(error, OSError) and error.strerror is not None:
        reason = one_line(error.strerror)
        reason = (
            "the disk is full: free some space, or name another place by --out" if error.errno in DISK_FULL else reason
        )
        place = "" if error.filename is None else f"{one_line(error.filename)}: "
        return f"{place}{reason[:1].lower()}{reason[1:]}"
    return text or type(error).__name__


def bug_line(error: BaseException, arguments: list[str]) -> str:
    """The line that reports a bug; its traceback is written to a file."""
    path = write_traceback(error, arguments)
    place = f"the traceback is in {path}" if path else f"set {DEBUG_VARIABLE}=1 to see the traceback"
    return one_line(
        f"subspaces: internal error, {type(error).__name__}: {error}; this is a bug in subspaces, not a mistake of "
        f"yours; please report it: {'; '.join([*getattr(error, '__notes__', ()), place])}"
    )


def write_traceback(error: BaseException, arguments: list[str]) -> Path | None:
    """Write the traceback of a bug to a new file among the temporary ones; None if that fails."""
    from subspaces import __version__

    head = f"subspaces {__version__}, Python {sys.version}\narguments: {arguments!r}\n\n"
    try:
        handle, name = tempfile.mkstemp(prefix="subspaces-error-", suffix=".txt")
        with os.fdopen(handle, "w", errors="backslashreplace") as stream:
            stream.write(head + "".join(traceback.format_exception(error)))
    except OSError:
        return None
    return Path(name)
