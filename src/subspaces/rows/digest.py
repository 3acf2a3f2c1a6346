"""Digests of blocks of rows: rows that change between two passes, or before a run is resumed, are noticed.

Blocks in memory of this process have a checksum of all bits. Blocks that are computed elsewhere, on a device or by
tasks of a cluster, may differ in their last digits each time: they have a fingerprint, which differs beyond rounding.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, is_host, like, namespace
from subspaces._core.errors import InputError

# Fingerprints within this multiple of the root of the precision are those of the same rows.
ROUNDING = 1.0
GOLDEN = 0.6180339887498949

# Number of rows, a weighted sum of all entries, and the same sum of their sizes.
Fingerprint = tuple[int, float, float]


def digest(block: NDArray[Any], start: int = 0) -> int:
    """A checksum (CRC-32) of the values of an array, continued from that of another.

    Blocks are checked by the thread that reads them. Chance changes are found; a forger could make one that is not.
    """
    return zlib.crc32(np.ascontiguousarray(block).data, start)


def fingerprint(block: Array) -> Fingerprint:
    """A few sums of a block (b, p) in any array library, with other weights for each row and column."""
    xp = namespace(block)
    rows, columns = (like(0.5 + np.arange(1, size + 1) * GOLDEN % 1, block) for size in block.shape)
    entries = block * columns[None, :]
    totals = [xp.sum(xp.sum(each, axis=1, dtype=xp.float64) * rows) for each in (entries, xp.abs(entries))]
    return int(block.shape[0]), float(totals[0]), float(totals[1])


def is_same(one: Fingerprint, other: Fingerprint, dtype: np.dtype[Any]) -> bool:
    """Whether fingerprints of blocks of `dtype` are equal up to rounding."""
    if not np.isfinite(other).all():
        # Such rows are refused for another reason.
        return one[0] == other[0]
    allowed = ROUNDING * float(np.sqrt(np.finfo(dtype).eps)) * max(one[2], other[2])
    return one[0] == other[0] and bool(np.abs(np.subtract(one[1:], other[1:])).max() <= allowed)


def changed_error(number: int) -> InputError:
    """The error for a block that is not what it was."""
    return InputError(
        f"the rows have changed while they were used: block {number} is not what it was in an earlier pass; "
        "begin again with rows that stay as they are (a function must return the same blocks each time), and "
        "with an empty checkpoint."
    )


class Digests:
    """The digests of the blocks that were read so far."""

    def __init__(self) -> None:
        self.known: list[int] = []
        # Of blocks that are not on the host, by number; checkpoints do not keep them.
        self._fingerprints: dict[int, Fingerprint] = {}

    def watch(self, blocks: Iterable[Array], start: int = 0) -> Iterator[Array]:
        """The same blocks, of which the first is number `start`; an InputError if one has changed."""
        for number, block in enumerate(blocks, start):
            if is_host(block):
                self._compare(number, digest(block))
            else:
                self.compare_fingerprint(number, fingerprint(block), np.dtype(str(block.dtype).rpartition(".")[2]))
            yield block
            # Release it before the next one is read.
            del block

    def verify(self, kept: list[int], blocks: Iterable[Array]) -> None:
        """Compare blocks from the first one on with the digests that an earlier process kept of them."""
        self.known = list(kept)
        # The digests come first: zip must not read a block more.
        for _ in zip(kept, self.watch(blocks), strict=False):
            pass

    def _compare(self, number: int, found: int) -> None:
        if number == len(self.known):
            self.known.append(found)
        elif number < len(self.known) and self.known[number] != found:
            raise changed_error(number)

    def compare_fingerprint(self, number: int, found: Fingerprint, dtype: np.dtype[Any]) -> None:
        """Compare a block of `dtype` with what it was in an earlier pass, or remember what it is."""
        if not is_same(self._fingerprints.setdefault(number, found), found, dtype):
            raise changed_error(number)

    @property
    def fingerprints(self) -> dict[int, Fingerprint]:
        """Those that are known, by the number of the block."""
        return dict(self._fingerprints)
