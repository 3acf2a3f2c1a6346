"""Whether what was found can be rows: two dimensions, real numbers, columns that are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from subspaces._core.arrays import Indices, is_host, namespace
from subspaces._core.errors import InputError, UserTypeError

Columns = Sequence[int] | Sequence[str]


def check_shape(shape: Sequence[int], where: str) -> tuple[int, int]:
    """`shape` as rows and columns, of which there is at least one; `where` names what has it."""
    if len(shape) != 2:
        remedy = "reshape it to (n, 1)" if len(shape) == 1 else "make each row one sequence of numbers"
        raise InputError(f"{where} has shape {tuple(shape)}, but rows and columns are needed: {remedy}.")
    if not shape[1]:
        raise InputError(f"{where} has no columns, shape {tuple(shape)}: a minimum of 1 is required.")
    return int(shape[0]), int(shape[1])


def block_dtype(dtype: np.dtype[Any], where: str) -> np.dtype[Any]:
    """The dtype of blocks made of numbers of `dtype`: float32 for short floats, float64 for all other numbers."""
    if dtype.kind == "c":
        raise InputError(f"{where} holds complex numbers ({dtype}): store real and imaginary parts as columns.")
    if dtype.kind not in "fiub":
        raise InputError(f"{where} holds {dtype} values, which are no real numbers: store floats, integers or bools.")
    return np.dtype(np.float32 if dtype.kind == "f" and dtype.itemsize <= 4 else np.float64)


def array_dtype(x: Any, where: str) -> np.dtype[Any]:
    """The dtype of blocks made of an array `x` of any library."""
    if is_host(x):
        return block_dtype(x.dtype, where)
    xp = namespace(x)
    if xp.isdtype(x.dtype, "complex floating"):
        raise InputError(f"{where} holds complex numbers ({x.dtype}): store real and imaginary parts as columns.")
    short = xp.isdtype(x.dtype, "real floating") and xp.finfo(x.dtype).bits <= 32
    return np.dtype(np.float32 if short else np.float64)


def pick_positions(columns: Columns | None, n_columns: int, where: str) -> Indices | None:
    """Positions (q,) of the `columns` asked for among `n_columns` without names; None for all."""
    if columns is None:
        return None
    check_columns(columns)
    if any(isinstance(column, str) for column in columns):
        raise InputError(f"columns={list(columns)!r} are names, but {where} has none: give positions from 0 on.")
    outside = [int(column) for column in columns if not -n_columns <= int(column) < n_columns]
    if outside:
        raise InputError(
            f"columns holds {outside[0]}, but {where} has {n_columns} columns: the last is {n_columns - 1}."
        )
    return np.asarray([int(column) % n_columns for column in columns], np.intp)


def pick_names(columns: Columns | None, names: Sequence[str], where: str) -> list[str]:
    """Names (q,) of the `columns` asked for, by name or position, among `names`; all without any."""
    if columns is None:
        return list(names)
    check_columns(columns)
    if not all(isinstance(column, str) for column in columns):
        positions = pick_positions(columns, len(names), where)
        assert positions is not None
        return [names[position] for position in positions]
    missing = [column for column in columns if column not in names]
    if missing:
        shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        raise InputError(f"{where} has no column {missing[0]!r}: it has {shown}.")
    return [str(column) for column in columns]


def check_columns(columns: Columns) -> None:
    """Refuse what is no list of names or positions, each once."""
    if isinstance(columns, str) or not hasattr(columns, "__iter__"):
        raise UserTypeError(f"columns={columns!r} must be a list of names or of positions.")
    kinds = {str if isinstance(column, str) else int for column in columns}
    numbers = all(isinstance(column, str | int | np.integer) and not isinstance(column, bool) for column in columns)
    if len(kinds) != 1 or not numbers or len(set(columns)) != len(columns):
        raise InputError(f"columns={list(columns)!r} must hold names or positions, at least one and each once.")
