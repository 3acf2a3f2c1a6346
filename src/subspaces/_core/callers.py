"""Warnings that name the line of the user, however deep in the library they are raised."""

from __future__ import annotations

import sys
import warnings

# A warning names the first line outside of these packages.
OURS = ("subspaces", "sklearn", "contextlib")


def warn_caller(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called the library."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in OURS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
