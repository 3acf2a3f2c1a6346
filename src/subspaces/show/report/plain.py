"""Conversion of numbers and names to values that are safe in JSON and HTML."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

# Longer names are shortened, so that they fit the page.
NAME_LENGTH = 120
# Characters that could end a script block.
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def name_text(value: Any, most: int = NAME_LENGTH) -> str:
    """Convert to one line of printable characters, at most `most` long."""
    words = " ".join(str(value).split())
    line = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in words)
    return line if len(line) <= most else line[: most - 1] + "…"


def number(value: Any, digits: int = 6) -> float | int | None:
    """Round to `digits` significant digits; None for missing or non-finite values."""
    if value is None:
        return None
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    value = float(value)
    if not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def numbers(values: Iterable[Any], digits: int = 6) -> list[float | int | None]:
    """Round each of the values, see `number`."""
    return [number(value, digits) for value in values]


def to_json(data: Any) -> str:
    """JSON for a script block: ASCII without HTML characters. Non-finite numbers raise an error."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for letter, escape in ESCAPES.items():
        text = text.replace(letter, escape)
    return text
