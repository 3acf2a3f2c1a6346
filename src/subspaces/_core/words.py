"""Numbers in words, for messages."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """A time with a unit, rounded for people: 0.12 s, 42 s, 5 min, 2.5 h."""
    if seconds < 100:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{seconds / 3600:.1f} h"
