"""Heavy products of a fit on the device of its rows.

Decisions are made on the host. If the rows of a fit are on a device, the products that take long are computed there:
functions with such products call `on_device` and compute with what it returns, if anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from subspaces._core.arrays import Array, fixed, has_own_memory

# Products of fewer multiplications are faster on the host. Changes results within rounding.
LEAST_WORK = 2 * 10**7

# An array on the device that is in use; None on the host.
_PATTERN: ContextVar[Any] = ContextVar("pattern", default=None)


@contextmanager
def offloaded(pattern: Any | None) -> Iterator[None]:
    """A context in which heavy products run on the device of `pattern`; no effect if that is None or on the host."""
    token = _PATTERN.set(pattern if pattern is not None and has_own_memory(pattern) else None)
    try:
        yield
    finally:
        _PATTERN.reset(token)


def on_device(x: Array, work: float) -> Any | None:
    """NumPy rows `x`, which never change, on the device in use, in their dtype; None to stay on the host.

    `work` is the number of multiplications that are to be done with them.
    """
    pattern = _PATTERN.get()
    return None if pattern is None or work < LEAST_WORK else fixed(x, pattern, own_dtype=True)
