"""The smallest entries of each row of a table."""

from __future__ import annotations

import numpy as np

from subspaces._core.arrays import Array, Indices

# Up to this many smallest entries are found one by one. Changes the order of the result, but not the set.
FEW_SMALLEST = 16
# With at least this many columns per entry, minima of groups of columns are found first. Does not change results.
COLUMNS_PER_SMALLEST = 32


def smallest(table: Array, count: int) -> Indices:
    """Column indices (n, count) of the `count` smallest entries of each row: in ascending order if few, else unordered.

    A few are found one after another, which is faster than a partition; ties go to the lower index. `table` is modified
    meanwhile and restored.
    """
    if count >= table.shape[1]:
        return np.broadcast_to(np.arange(table.shape[1]), table.shape)
    if count > FEW_SMALLEST:
        if table.shape[1] >= COLUMNS_PER_SMALLEST * count:
            return _smallest_by_groups(table, count)
        return np.argpartition(table, count - 1, axis=1)[:, :count]
    rows = np.arange(len(table))
    index = np.empty((len(table), count), np.intp)
    values = np.empty((len(table), count), table.dtype)
    for j in range(count):
        index[:, j] = table.argmin(axis=1)
        values[:, j] = table[rows, index[:, j]]
        table[rows, index[:, j]] = np.inf
    table[rows[:, None], index] = values
    return index


def _smallest_by_groups(table: Array, count: int) -> Indices:
    """The same for tables with many columns: the smallest entries lie in the groups with the smallest minima."""
    n_columns = table.shape[1]
    height = int(np.sqrt(n_columns // count))
    n_groups = n_columns // height
    # Column j is in group j mod n_groups, so that minima are taken over contiguous rows; the last few are in no group.
    whole = table[:, : height * n_groups].reshape(len(table), height, n_groups)
    groups = smallest(whole.min(axis=1), count)
    members = (groups[:, None, :] + n_groups * np.arange(height)[:, None]).reshape(len(table), -1)
    last = np.broadcast_to(np.arange(height * n_groups, n_columns), (len(table), n_columns - height * n_groups))
    members = np.concatenate([members, last], axis=1)
    return np.take_along_axis(members, smallest(np.take_along_axis(table, members, 1), count), 1)


def in_order(table: Array, index: Indices) -> tuple[Indices, Array]:
    """Sort the column indices (n, r) of each row by their entries, ascending; returns them and the entries (n, r)."""
    values = np.take_along_axis(table, index, 1)
    order = np.argsort(values, axis=1, kind="stable")
    return np.take_along_axis(index, order, 1), np.take_along_axis(values, order, 1)
