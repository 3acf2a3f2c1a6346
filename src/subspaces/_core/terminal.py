"""Progress bars in terminals."""

from __future__ import annotations

import os
from typing import Any, TextIO


def is_terminal(stream: TextIO) -> bool:
    """Whether text written to `stream` appears on a terminal that can move its cursor."""
    try:
        return stream.isatty() and os.environ.get("TERM", "") != "dumb"
    except (AttributeError, ValueError):
        return False


def new_bar(*columns: Any, **options: Any) -> Any:
    """A bar of Rich on stderr, not started, with further `columns`; it disappears at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    usual = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    return Progress(*usual, *columns, console=Console(stderr=True), transient=True, **options)
