"""Amounts of memory as people write them, and how much of the limit each use may take."""

from __future__ import annotations

import re

import numpy as np

from subspaces._core.errors import InputError, UserTypeError

UNITS = {"": 1, **{f"{prefix}{end}": 1000**power for power, prefix in enumerate("kmgt", 1) for end in ("", "b")}}
UNITS |= {"b": 1, **{f"{prefix}ib": 1024**power for power, prefix in enumerate("kmgt", 1)}}
# With less memory blocks become so short that reading them takes longer than the work on them.
LEAST_BYTES = 32 * 10**6

# Shares of the memory limit. None of them changes results.
# A block is read, converted and used together with several temporaries of its size, while the next one is read.
BLOCK_SHARE = 16
# Blocks above this size are not faster.
BLOCK_BYTES = 64 * 2**20
# A chunk of a chunked file is unpacked as a whole; reading a part of it unpacks it again each time.
CHUNK_SHARE = 4
# `read_table` holds rows in memory up to this share: work on them takes about as much again.
HELD_SHARE = 2


def parse_bytes(amount: int | float | str) -> int:
    """Bytes of an `amount` of memory, a number or text with a unit; at least 32 MB.

    >>> parse_bytes("500MB"), parse_bytes("1.5 GiB"), parse_bytes(64_000_000)
    (500000000, 1610612736, 64000000)
    """
    if isinstance(amount, str):
        found = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([a-z]*)\s*", amount, re.IGNORECASE)
        if found is None or found[2].lower() not in UNITS:
            raise InputError(
                f'memory_limit={amount!r} is not an amount of memory: write it like "500MB" or "1.5 GiB".',
                parameter="memory_limit",
            )
        count = float(found[1]) * UNITS[found[2].lower()]
    elif isinstance(amount, int | float | np.integer | np.floating) and not isinstance(amount, bool):
        count = float(amount)
    else:
        raise UserTypeError(
            f'memory_limit={amount!r} must be a number of bytes or text like "500MB".', parameter="memory_limit"
        )
    if not LEAST_BYTES <= count < 2**63:
        raise InputError(
            f"memory_limit={amount!r} must be finite and at least 32 MB: blocks of rows need some room.",
            parameter="memory_limit",
        )
    return int(count)
