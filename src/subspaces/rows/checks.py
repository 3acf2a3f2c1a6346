"""Shapes and types that rows may have: two dimensions of real numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from subspaces._core.arrays import is_host, namespace
from subspaces._core.errors import InputError


def check_shape(shape: Sequence[int], where: str) -> tuple[int, int]:
    """`shape` as a number of rows and a positive number of columns; `where` names the array in the error."""
    if len(shape) != 2:
        remedy = "reshape it to (n, 1)" if len(shape) == 1 else "make each row one sequence of numbers"
        raise InputError(f"{where} has shape {tuple(shape)}, but rows and columns are needed: {remedy}.")
    if not shape[1]:
        raise InputError(f"{where} has no columns, shape {tuple(shape)}: a minimum of 1 is required.")
    return int(shape[0]), int(shape[1])


def block_dtype(dtype: np.dtype[Any], where: str) -> np.dtype[Any]:
    """The dtype of blocks of numbers stored as `dtype`: float32 for float32 and float16, float64 for all others."""
    if dtype.kind == "c":
        raise InputError(f"{where} holds complex numbers ({dtype}): store real and imaginary parts as columns.")
    if dtype.kind not in "fiub":
        raise InputError(f"{where} holds {dtype} values, which are not real numbers: store floats, integers or bools.")
    return np.dtype(np.float32 if dtype.kind == "f" and dtype.itemsize <= 4 else np.float64)


def array_dtype(x: Any, where: str) -> np.dtype[Any]:
    """The dtype of blocks of an array `x` of any library."""
    if is_host(x):
        return block_dtype(x.dtype, where)
    xp = namespace(x)
    if xp.isdtype(x.dtype, "complex floating"):
        raise InputError(f"{where} holds complex numbers ({x.dtype}): store real and imaginary parts as columns.")
    short = xp.isdtype(x.dtype, "real floating") and xp.finfo(x.dtype).bits <= 32
    return np.dtype(np.float32 if short else np.float64)
