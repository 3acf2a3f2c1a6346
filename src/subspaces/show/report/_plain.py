"""Numbers, names and whole pages as plain values that JSON and HTML can hold."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

# Longer names would push everything else off the page.
NAME_LENGTH = 120
# What could end a script block, or a line of old JavaScript.
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def name_text(value: Any, most: int = NAME_LENGTH) -> str:
    """One line of printable characters, no longer than `most`."""
    words = " ".join(str(value).split())
    line = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in words)
    return line if len(line) <= most else line[: most - 1] + "…"


def number(value: Any, digits: int = 6) -> float | int | None:
    """A Python number of so many significant digits; None for what is not finite or not there."""
    if value is None:
        return None
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    value = float(value)
    if not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def numbers(values: Iterable[Any], digits: int = 6) -> list[float | int | None]:
    """The same of many."""
    return [number(value, digits) for value in values]


def to_json(data: Any) -> str:
    """JSON for a script block: ASCII alone, and nothing in it that HTML reads. What is not finite is refused."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for letter, escape in ESCAPES.items():
        text = text.replace(letter, escape)
    return text
