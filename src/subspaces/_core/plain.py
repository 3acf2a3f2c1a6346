"""Values of any kind as plain values for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def unboxed(value: Any) -> Any:
    """A NumPy scalar, or an array of one, as the Python value in it."""
    return value.item() if isinstance(value, np.generic | np.ndarray) and np.ndim(value) == 0 else value


def plain(value: Any) -> Any:
    """`value` in types that JSON has."""
    value = unboxed(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(each) for each in value]
    return str(value)
