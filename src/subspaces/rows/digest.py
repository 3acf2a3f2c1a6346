"""Digests of blocks of rows: rows that change between two passes, or before a run is resumed, are noticed.

Blocks in memory of this process have a checksum of all bits. Blocks that are computed elsewhere, on a device or by
tasks of a cluster, may differ in their last digits each time: they have a fingerprint, which differs beyond rounding.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Constants, device, is_host, namespace, to_host
from subspaces._core.errors import InputError

# Number of values that are added to one weighted sum: a change of one value shows less among more of them.
WIDTH = 4096
# The largest number of sums that are kept of a block: 8 bytes each in single precision.
MOST_SUMS = 1024
# Sums that the host computes at once: the values stay in the cache while their largest is found.
CHUNK = 32
# Sums of the same rows differ by up to this multiple of the root of the precision.
ROUNDING = 1.0


def _weights() -> NDArray[np.float64]:
    """Weights (WIDTH,) of either sign: sums of rows far from the origin stay small, and lose few digits."""
    rng = np.random.default_rng(0)
    return rng.choice([-1.0, 1.0], WIDTH) * rng.uniform(0.5, 1.0, WIDTH)


WEIGHTS = _weights()
_CONSTANTS = Constants(WEIGHTS)


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprint:
    """Weighted sums of the values of a block, in which each place has a weight of its own."""

    shape: tuple[int, ...]  # of the block
    sums: NDArray[np.floating[Any]]  # (m,), of runs of values in the order of the rows
    peaks: NDArray[np.floating[Any]]  # (m,), the largest size of a value of each run


def digest(block: NDArray[Any], start: int = 0) -> int:
    """A checksum (CRC-32) of the values of an array, continued from that of another.

    Blocks are checked by the thread that reads them. Chance changes are found; a forger could make one that is not.
    """
    return zlib.crc32(np.ascontiguousarray(block).data, start)


def fingerprint(block: Array) -> Fingerprint:
    """Sums of a block (b, p) in any array library that show where it has changed; it is read once or twice."""
    on_host = str(device(block)) == "cpu"
    rows = np.ascontiguousarray(to_host(block)) if on_host else block
    xp, find = namespace(rows), _sums_on_host if on_host else _sums_on_device
    flat = xp.reshape(rows, (-1,))
    stop = flat.shape[0] // WIDTH * WIDTH
    # Whole runs of values, and what is left over.
    parts = ((flat[:stop], WIDTH), (flat[stop:], flat.shape[0] - stop))
    found = [find(xp.reshape(part, (-1, width))) for part, width in parts if part.shape[0]]
    sums, peaks = (np.concatenate(each) for each in zip(*found, strict=True)) if found else (np.zeros(0), np.zeros(0))
    return Fingerprint(tuple(map(int, block.shape)), *_joined(sums, peaks))


def _sums_on_host(runs: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sum and largest size of the values of each run (m, w), in steps that stay in the cache."""
    weights = WEIGHTS[: runs.shape[1]].astype(runs.dtype)
    sums, peaks = np.empty(len(runs), runs.dtype), np.empty(len(runs), runs.dtype)
    with np.errstate(all="ignore"):
        for start in range(0, len(runs), CHUNK):
            part = runs[start : start + CHUNK]
            sums[start : start + CHUNK] = part @ weights
            peaks[start : start + CHUNK] = np.maximum(part.max(axis=1), -part.min(axis=1))
    return sums, peaks


def _sums_on_device(runs: Array) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same by two functions of the array library that read the values and make no other array of their size."""
    xp = namespace(runs)
    (weights,) = _CONSTANTS.like(runs)
    return to_host(runs @ weights[: runs.shape[1]]), to_host(xp.linalg.vector_norm(runs, axis=1, ord=float("inf")))


def _joined(sums: NDArray[Any], peaks: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """At most MOST_SUMS sums and peaks: neighbours are added, again with weights."""
    size = -(-len(sums) // MOST_SUMS)
    if size <= 1:
        return sums, peaks
    room = -len(sums) % size
    weights = np.resize(WEIGHTS, size)
    with np.errstate(all="ignore"):
        added = np.pad(sums, (0, room)).reshape(-1, size).astype(np.float64) @ weights
    return added.astype(sums.dtype), np.pad(peaks, (0, room)).reshape(-1, size).max(axis=1)


def is_same(one: Fingerprint, other: Fingerprint) -> bool:
    """Whether fingerprints are equal up to rounding."""
    if one.shape != other.shape:
        return False
    if not (np.isfinite(other.sums).all() and np.isfinite(other.peaks).all()):
        # Such rows are refused for another reason.
        return True
    # Rounding errors of single values add up like the root of their number.
    count = np.prod(other.shape) / max(1, len(other.sums))
    allowed = ROUNDING * np.sqrt(np.finfo(other.sums.dtype).eps * count) * np.maximum(one.peaks, other.peaks)
    return bool((np.abs(one.sums - other.sums) <= allowed).all())


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
                self.compare_fingerprint(number, fingerprint(block))
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

    def compare_fingerprint(self, number: int, found: Fingerprint) -> None:
        """Compare a block with what it was in an earlier pass, or remember what it is."""
        if not is_same(self._fingerprints.setdefault(number, found), found):
            raise changed_error(number)

    @property
    def fingerprints(self) -> dict[int, Fingerprint]:
        """Those that are known, by the number of the block."""
        return dict(self._fingerprints)
