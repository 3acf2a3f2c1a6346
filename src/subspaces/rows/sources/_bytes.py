"""Amounts of memory as people write them."""

from __future__ import annotations

import re

import numpy as np

from subspaces._core.errors import InputError, UserTypeError

UNITS = {"": 1, **{f"{prefix}{end}": 1000**power for power, prefix in enumerate("kmgt", 1) for end in ("", "b")}}
UNITS |= {"b": 1, **{f"{prefix}ib": 1024**power for power, prefix in enumerate("kmgt", 1)}}
# Below this, blocks are so short that reading them costs more than the work on them.
LEAST = 32 * 10**6


def parse_bytes(amount: int | float | str) -> int:
    """Bytes of an `amount` of memory, a number or text with a unit; at least 32 MB.

    >>> parse_bytes("500MB"), parse_bytes("1.5 GiB"), parse_bytes(64_000_000)
    (500000000, 1610612736, 64000000)
    """
    if isinstance(amount, str):
        found = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([a-z]*)\s*", amount, re.IGNORECASE)
        if found is None or found[2].lower() not in UNITS:
            raise InputError(f'memory_limit={amount!r} is no amount of memory: write it like "500MB" or "1.5 GiB".')
        count = float(found[1]) * UNITS[found[2].lower()]
    elif isinstance(amount, int | float | np.integer | np.floating) and not isinstance(amount, bool):
        count = float(amount)
    else:
        raise UserTypeError(f'memory_limit={amount!r} must be a number of bytes or text like "500MB".')
    if not LEAST <= count < 2**63:
        raise InputError(f"memory_limit={amount!r} must be at least 32 MB, and finite: blocks of rows need some room.")
    return int(count)
