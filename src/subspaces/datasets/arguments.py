"""Checks of the arguments of this room: lists of whole numbers, shares, seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.errors import InputError, UserTypeError
from subspaces._core.validation import check_integer

WholeNumbers = Sequence[int] | NDArray[np.integer[Any]]
Counts = int | WholeNumbers
RandomSource = int | np.random.Generator | np.random.RandomState | None


def whole_numbers(values: object, *, name: str, low: int, high: int | None = None, hint: str) -> list[int]:
    """The items of a non-empty list, each between `low` and `high`."""
    if isinstance(values, str | bytes) or not isinstance(values, Sequence | np.ndarray):
        raise UserTypeError(f"{name}={values!r} must be a list of whole numbers: {hint}.")
    numbers = [check_integer(f"{name}[{i}]", value, low=low, high=high, hint=hint) for i, value in enumerate(values)]
    if not numbers:
        raise InputError(f"{name}={values!r} is empty: {hint}.")
    return numbers


def count_for_each(values: Counts, n_groups: int, *, name: str, groups: str) -> list[int]:
    """One count for each of `n_groups` groups, from a list or from one number for all."""
    hint = f"pass one number, or a list with one for each of the {n_groups} {groups}"
    if not isinstance(values, Sequence | np.ndarray):
        return [check_integer(name, values, low=1, hint=hint)] * n_groups
    numbers = whole_numbers(values, name=name, low=1, hint=hint)
    if len(numbers) != n_groups:
        raise InputError(f"{name} has {len(numbers)} items for {n_groups} {groups}: {hint}.")
    return numbers


def number_from_zero(value: object, *, name: str, below: float = math.inf, hint: str) -> float:
    """`value` as a float in [0, below)."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise UserTypeError(f"{name}={value!r} must be a number: {hint}.")
    number = float(value)
    if not 0 <= number < below:
        limits = "finite and not negative" if math.isinf(below) else f"in [0, {below:.6g})"
        raise InputError(f"{name}={number:.6g} must be {limits}: {hint}.")
    return number


def random_generator(source: RandomSource) -> np.random.Generator:
    """A Generator; from a RandomState, it is seeded with the next numbers of that."""
    if isinstance(source, np.random.RandomState):
        return np.random.default_rng(source.randint(2**32, size=4, dtype=np.uint32))
    return np.random.default_rng(source)
