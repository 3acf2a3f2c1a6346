"""Cells of text as numbers: which are numbers, which are missing, which are something else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "?"})
SWITCHES = {"true": 1.0, "false": 0.0}


def number(cell: str, *, decimal_comma: bool = False) -> float | None:
    """The number in a cell, NaN where it is missing, None for text; true and false are 1 and 0.

    >>> number(" 1.5 "), number("NA"), number("x"), number("1,5", decimal_comma=True)
    (1.5, nan, None, 1.5)
    """
    plain = cell.strip()
    if plain.lower() in MISSING:
        return float("nan")
    # Python reads 1_000 as a number, and nobody writes one so: it is a name.
    if "_" in plain or (decimal_comma and "." in plain):
        return None
    try:
        return float(plain.replace(",", ".", 1) if decimal_comma and not plain.endswith(",") else plain)
    except ValueError:
        return SWITCHES.get(plain.lower())


def is_number(cell: str, *, decimal_comma: bool = False) -> bool:
    """Whether a cell holds a number, neither text nor nothing."""
    value = number(cell, decimal_comma=decimal_comma)
    return value is not None and value == value


def numbers(cells: Sequence[str], *, decimal_comma: bool) -> tuple[NDArray[np.float64], list[int]]:
    """Cells (b,) as numbers, NaN where they are missing or text, and the positions of text."""
    if not decimal_comma and "_" not in "".join(cells):
        try:
            return np.fromiter(map(float, cells), np.float64, len(cells)), []
        except ValueError:
            pass
    found = [number(cell, decimal_comma=decimal_comma) for cell in cells]
    text = [place for place, value in enumerate(found) if value is None]
    return np.asarray([np.nan if value is None else value for value in found], np.float64), text
