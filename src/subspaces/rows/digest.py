"""Digests of blocks of rows: rows that change between two passes, or before a run is resumed, are noticed."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, is_host
from subspaces._core.errors import InputError


def digest(block: NDArray[Any], start: int = 0) -> int:
    """A checksum (CRC-32) of the values of an array, continued from that of another.

    Blocks are checked by the thread that reads them. Chance changes are found; a forger could make one that is not.
    """
    return zlib.crc32(np.ascontiguousarray(block).data, start)


class Digests:
    """The digests of the blocks that were read so far.

    Blocks on a device are not compared: those that a function computes there may differ in their last digits.
    """

    def __init__(self) -> None:
        self.known: list[int] = []

    def watch(self, blocks: Iterable[Array], start: int = 0) -> Iterator[Array]:
        """The same blocks, of which the first is number `start`; an InputError if one has changed."""
        for number, block in enumerate(blocks, start):
            if is_host(block):
                self._compare(number, digest(block))
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
            raise InputError(
                f"the rows have changed while they were used: block {number} is not what it was in an earlier pass; "
                "begin again with rows that stay as they are (a function must return the same blocks each time), and "
                "with an empty checkpoint."
            )
