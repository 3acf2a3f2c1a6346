"""The plan of a fit: passes over the rows, blocks, memory, and an estimate of the time on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from subspaces._core.arrays import Array, largest_entry, to_device, to_host
from subspaces._core.threads import n_threads
from subspaces._core.validation import check_integer
from subspaces._core.words import duration
from subspaces.features.psi import MANY_LANDMARKS
from subspaces.flats.device import DeviceFlats
from subspaces.flats.distances import nearest
from subspaces.flats.flats import Flats
from subspaces.rows.checks import block_dtype
from subspaces.rows.memory import BLOCK_BYTES, BLOCK_SHARE, parse_bytes
from subspaces.rows.moments import block_sums
from subspaces.rows.sample import check_sample, direction_bytes, sample_rows, sums_products
from subspaces.rows.thresholds import FIT_ROWS, SAMPLE_SHARE

# Rows on which the speed of this machine is measured, how many times as many on a device, and the shortest measurement.
TRIAL_ROWS = 2048
DEVICE_TRIALS = 128
TRIAL_SECONDS = 0.1
# Decisions take about as long as this many passes over the sample, and a time that does not depend on landmarks: a
# constant, for each row, for each entry, and at most. benchmarks/speed/cpu.py compares plans with fits.
SAMPLE_PASSES = 2.0
DECISION_SECONDS = 0.15
ROW_SECONDS = 3e-4
ENTRY_SECONDS = 8e-6
MOST_DECISION_SECONDS = 2.5
# If clusters are flat beyond doubt: the most that the search for flats takes, passes over the rows of the graph that
# draws them, and how many times as long as reading a row it takes to label it, and to describe a row of the sample.
MOST_FLAT_SECONDS = 0.7
DRAWN_PASSES = 2.0
LABEL_READINGS = 10
DESCRIBED_READINGS = 30


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass over all rows, or the work on the sample."""

    name: str
    rows: int
    blocks: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Plan:
    """What a fit will do. Print it."""

    n_rows: int
    n_columns: int
    n_landmarks: int
    subspace_dim: int
    usual_dim: int  # of which the time is; smaller than `subspace_dim` if the dimension is searched
    sample_rows: int
    block_rows: int
    memory: dict[str, int]  # bytes, of everything that is in memory at the same time
    passes: tuple[Pass, ...]
    n_threads: int
    device: str | None = None  # on which blocks are processed; None for the host
    if_flat: tuple[Pass, ...] = ()  # the passes if clusters are flat beyond doubt; empty if that is not asked

    @property
    def peak_bytes(self) -> int:
        """Peak memory, without the rows themselves if they are an array."""
        return sum(self.memory.values())

    @property
    def seconds(self) -> float:
        """Estimated time of the fit on this machine, without reading from disk."""
        return sum(each.seconds for each in self.passes)

    @property
    def seconds_if_flat(self) -> float:
        """The same if clusters are flat beyond doubt: labels do not depend on a graph then."""
        return sum(each.seconds for each in self.if_flat or self.passes)

    def __str__(self) -> str:
        dim = f"{'' if self.usual_dim == self.subspace_dim else 'at most '}{self.subspace_dim}"
        lines = [
            f"{self.n_rows:,} rows of {self.n_columns} columns; {self.n_landmarks} flats of dimension {dim}; "
            f"decided on {self.sample_rows:,} rows; blocks of {self.block_rows:,} rows",
            "",
            f"{'step':34}{'rows':>20}{'blocks':>14}{'time':>13}",
        ]
        for each in self.passes:
            lines.append(f"{each.name:34}{each.rows:>20,}{each.blocks:>14,}{duration(each.seconds):>13}")
        threads = "1 thread" if self.n_threads == 1 else f"{self.n_threads} threads"
        threads = threads if self.device is None else self.device
        lines += [
            f"{'all, on ' + threads:68}{duration(self.seconds):>13}",
            *(
                [f"{'if clusters are flat beyond doubt':68}{duration(self.seconds_if_flat):>13}"]
                if self.if_flat
                else []
            ),
            "",
            "memory beside the rows: " + ", ".join(f"{name} {_size(count)}" for name, count in self.memory.items()),
            f"together {_size(self.peak_bytes)}",
        ]
        return "\n".join(lines)


def make_plan(
    n_rows: int,
    n_columns: int,
    *,
    n_landmarks: int,
    subspace_dim: int,
    usual_dim: int | None = None,
    max_columns: int | None,
    n_nearest: int | None,
    n_draws: int,
    drawn: tuple[int, int] | None = None,
    dtype: Any = np.float32,
    memory_limit: int | str = "1GB",
    device: str | None = None,
) -> Plan:
    """The plan of a fit of `n_rows` rows with these settings.

    If clusters are flat beyond doubt, only some rows are described, by fewer landmarks: `drawn` has their numbers; None
    if that is not asked. The time is that of flats of dimension `usual_dim`, if it is given; memory is enough for
    `subspace_dim`. With `device`, it is that of rows on a device of torch, such as "cuda".
    """
    n = check_integer("n_rows", n_rows, low=1)
    p = check_integer("n_columns", n_columns, low=2)
    kind = block_dtype(np.dtype(dtype), "dtype")
    limit = parse_bytes(memory_limit)
    room, whole = limit / SAMPLE_SHARE, max_columns is None
    size = sample_rows(n, p, kind.itemsize, room=room, memory_limit=limit, most=FIT_ROWS, whole=whole)
    check_sample(n, p, kind.itemsize, size=size, memory_limit=limit, whole=whole)
    sample = min(n, size)
    # Fewer rows than columns are projected on their span.
    width = min(p, max(2, sample) if max_columns is None else max_columns)
    dim = min(subspace_dim, width - 1)
    count = min(n_landmarks, sample)
    block_rows = max(1, min(BLOCK_BYTES, limit // BLOCK_SHARE) // (p * kind.itemsize))
    blocks = -(-n // block_rows)
    timed = dim if usual_dim is None else min(dim, usual_dim)
    if device is None:
        row_seconds = seconds_per_row(width, count, timed, kind, n_nearest)
        reading = row_seconds * p / max(1, count * (timed + 1))
    else:
        row_seconds, reading = device_seconds_per_row((p, width), count, timed, kind, device, n_nearest)
    searching = DECISION_SECONDS + sample * (ROW_SECONDS + ENTRY_SECONDS * width)
    deciding = min(searching, MOST_DECISION_SECONDS) + SAMPLE_PASSES * sample * row_seconds
    passes = [Pass("decide on the sample", sample, 1, deciding)]
    if n > sample:
        sums = 1 if n_nearest is not None else 2
        passes.insert(0, Pass("check rows, means and products", n, blocks, n * reading))
        passes += [Pass("sums over all rows", n, sums * n_draws * blocks, sums * n_draws * n * row_seconds)]
        passes += [Pass("labels of all rows", n, blocks, n_draws * n * row_seconds)]
    if_flat: tuple[Pass, ...] = ()
    if drawn is not None:
        drawing = DRAWN_PASSES * min(sample, drawn[0]) * row_seconds * min(drawn[1], count) / count
        if_flat = _if_flat(passes, searching, drawing, reading)
    held = {
        "blocks": 4 * min(n, block_rows) * p * kind.itemsize,
        "sample": sample * (p + 2 * width) * kind.itemsize,
        "weights of the sample": sample * (n_nearest or 0) * (kind.itemsize + 4),
        "flats": 2 * count * width * (dim + 1) * kind.itemsize,
        "products of flats": 32 * _product_entries(n, count, n_nearest),
        "products of columns": _product_bytes(p, limit) if n > sample else 0,
        "principal directions": direction_bytes(sample, p) if width < p else 0,
        "labels": 4 * n,
    }
    return Plan(n, p, count, dim, timed, sample, block_rows, held, tuple(passes), n_threads(), device, if_flat)


def _if_flat(passes: Sequence[Pass], searching: float, drawing: float, reading: float) -> tuple[Pass, ...]:
    """The passes if clusters are flat beyond doubt, from those of other clusters.

    `searching` and `drawing` are seconds to search for flats and to draw clusters, `reading` seconds to read a row.
    """
    first, last = passes[0], passes[-1]
    sample = passes[min(1, len(passes) - 1)]
    seconds = min(searching, MOST_FLAT_SECONDS) + drawing + DESCRIBED_READINGS * sample.rows * reading
    deciding = replace(sample, seconds=seconds)
    if len(passes) == 1:
        return (deciding,)
    return first, deciding, replace(last, blocks=first.blocks, seconds=LABEL_READINGS * last.rows * reading)


def _product_entries(n_rows: int, n_landmarks: int, n_nearest: int | None) -> int:
    """Entries of the matrix whose eigenvectors are computed: of the products, or of sparse psi if there are fewer."""
    whole = n_landmarks**2
    return whole if n_nearest is None or n_landmarks < MANY_LANDMARKS else min(whole, n_rows * n_nearest)


def _product_bytes(n_columns: int, limit: int) -> int:
    return 3 * 8 * n_columns * (n_columns if sums_products(n_columns, limit) else 1)


def seconds_per_row(
    n_columns: int, n_landmarks: int, dim: int, dtype: np.dtype[Any], n_nearest: int | None = None
) -> float:
    """Seconds per row to find its nearest flats on this machine, measured on a few thousand rows."""
    rows, flats = _trial(TRIAL_ROWS, n_columns, n_landmarks, dim, dtype)
    return _seconds(lambda: nearest(rows, flats, min(n_nearest or 1, n_landmarks))) / len(rows)


def device_seconds_per_row(
    n_columns: tuple[int, int],
    n_landmarks: int,
    dim: int,
    dtype: np.dtype[Any],
    device: str,
    n_nearest: int | None = None,
) -> tuple[float, float]:
    """The same on a device, and seconds per row to read it once, from `n_columns` before and after projection."""
    rows, flats = _trial(TRIAL_ROWS, n_columns[1], n_landmarks, dim, dtype)
    found, wide = DeviceFlats(flats), np.zeros((TRIAL_ROWS, n_columns[0]), dtype)
    # Enough rows to keep a device busy.
    moved, read = (to_device(np.tile(each, (DEVICE_TRIALS, 1)), device) for each in (rows, wide))
    origin = np.zeros(n_columns[0])
    # A copy to the host waits for the device.
    near = _seconds(lambda: to_host(found.nearest(moved, min(n_nearest or 1, n_landmarks))[0][:1, :]))
    products = sums_products(n_columns[0], np.inf)
    once = _seconds(lambda: (largest_entry(read), to_host(block_sums(read, origin, products=products)[1])))
    return near / len(moved), once / len(read)


def _trial(n_rows: int, n_columns: int, n_landmarks: int, dim: int, dtype: np.dtype[Any]) -> tuple[Array, Flats]:
    """Random rows and flats."""
    rng = np.random.RandomState(0)
    bases = rng.standard_normal((n_landmarks, n_columns, dim)).astype(dtype)
    flats = Flats(np.zeros((n_landmarks, n_columns), dtype), bases)
    return rng.standard_normal((n_rows, n_columns)).astype(dtype), flats


def _seconds(work: Callable[[], Any]) -> float:
    """Seconds that one call takes after the first."""
    work()
    start, done = time.perf_counter(), 0
    while time.perf_counter() - start < TRIAL_SECONDS:
        work()
        done += 1
    return (time.perf_counter() - start) / done


class planned:
    """A method that can be called on an object or, with default parameters, on its class."""

    def __init__(self, function: Callable[..., Plan]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance: Any, owner: type) -> Callable[..., Plan]:
        bound = partial(self._function, owner() if instance is None else instance)
        # `help` and the reference show this docstring, not that of `partial`.
        bound.__doc__ = self.__doc__
        return bound


def _size(count: int) -> str:
    """A number of bytes with a unit."""
    size, unit = float(count), 0
    while size >= 1000 and unit < 4:
        size, unit = size / 1000, unit + 1
    return f"{size:.0f} B" if not unit else f"{size:.3g} {('', 'kB', 'MB', 'GB', 'TB')[unit]}"
