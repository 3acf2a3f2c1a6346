"""How many rows decisions are made on, and whether the work on them fits into the memory limit."""

from __future__ import annotations

from subspaces._core.errors import InputError
from subspaces.rows.memory import HELD_SHARE
from subspaces.rows.source import FeedOptions
from subspaces.rows.thresholds import FEWEST_ROWS, LEAST_ROWS, MAX_COLUMNS, PRODUCT_SHARE, WHOLE_SHARE, WIDE_SHARE


def sample_rows(
    n_rows: int | None,
    n_columns: int,
    itemsize: int,
    *,
    room: float,
    memory_limit: float,
    most: int,
    whole: bool = False,
) -> int:
    """Number of rows of a sample that may take `room` bytes, at most `most` and at least LEAST_ROWS.

    If these do not fit into a share of what the memory limit leaves for them, there are fewer. `n_rows` is the number
    of all rows, None if it is not known; `whole` says whether all columns are used, not a projection.
    """
    row_bytes = n_columns * itemsize
    left = memory_limit - direction_bytes(n_rows, n_columns)
    largest = left / (_share(whole) * row_bytes)
    size = max(min(LEAST_ROWS, largest), room / row_bytes)
    # Rows that are fewer than their columns are reduced to their span, whose directions are as large as the rows.
    if whole and size < n_columns:
        size = min(size, largest)
    return int(min(most, size))


def _share(whole: bool) -> int:
    return WHOLE_SHARE if whole else WIDE_SHARE


def sums_products(n_columns: int, memory_limit: float) -> bool:
    """Whether the inner products of all columns are summed over all rows; otherwise only their squares are."""
    # The sum, the products of a block, and those about the mean.
    return 3 * 8 * n_columns**2 <= min(memory_limit, FeedOptions().memory_limit) / PRODUCT_SHARE


def direction_bytes(n_rows: int | None, n_columns: int) -> int:
    """Memory to find the principal directions of rows (n, p): the directions, and what their decomposition copies."""
    count = MAX_COLUMNS if n_rows is None else min(n_rows, MAX_COLUMNS)
    return 3 * 8 * n_columns * count if n_columns > MAX_COLUMNS else 0


def check_sample(
    n_rows: int | None, n_columns: int, itemsize: int, *, size: int, memory_limit: float, whole: bool = False
) -> None:
    """Refuse rows whose sample of `size` rows is too small because of the memory limit, before anything is read."""
    fewest = FEWEST_ROWS if n_rows is None else min(n_rows, FEWEST_ROWS)
    if size >= fewest:
        return
    enough = _share(whole) * fewest * n_columns * itemsize + direction_bytes(n_rows, n_columns)
    raise InputError(
        f"the fit does not fit into memory_limit={memory_limit / 1e9:.3g}GB: a row has {n_columns:,} columns and takes "
        f"{n_columns * itemsize / 1e6:.3g} MB, and decisions need at least {fewest} rows and their principal "
        f'directions at once; open the rows with memory_limit="{enough / 1e9 + 0.05:.1f}GB", or use fewer columns.',
        parameter="memory_limit",
    )


def check_model(n_bytes: int, n_columns: int, memory_limit: float) -> None:
    """Refuse a fit whose model takes `n_bytes` for rows of this many columns, before anything is read."""
    if n_bytes > memory_limit / HELD_SHARE:
        raise InputError(
            f"the fit does not fit into memory_limit={memory_limit / 1e9:.3g}GB: a row has {n_columns:,} columns, and "
            f"the features of the model take {n_bytes / 1e6:.0f} MB; open the rows with "
            f'memory_limit="{HELD_SHARE * n_bytes / 1e9 + 0.05:.1f}GB", or use fewer features.',
            parameter="memory_limit",
        )
