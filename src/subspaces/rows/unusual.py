"""Notice columns that are unlikely to be meant for clustering, or that decide alone because of their unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subspaces._core.callers import warn_caller
from subspaces.rows.columns import listed

# From this many rows on, values that all increase are not a coincidence.
LEAST_ROWS = 10
# Names of columns such as "id", "customer_id", "Patient ID" and "passengerId".
ID = re.compile(r"(?i:(?<![^\W_])id$)|(?<=[a-z])I[Dd]$")
# A column of at most this many whole numbers, each in this many rows on average, may hold classes or categories; all
# other columns have at least this many times as many values.
MOST_CLASSES, ROWS_OF_CLASS, TIMES_AS_VARIED = 20, 10, 5
# One column, or up to three of at least five times as many, dominate distances if they have this share of the variance.
MOST_DOMINANT, TIMES_AS_MANY, DOMINANT_SHARE = 3, 5, 0.95


@dataclass(frozen=True, slots=True)
class DominantColumns:
    """A few columns that have nearly all of the variance."""

    columns: tuple[int, ...]
    n_columns: int
    share: float  # of the variance

    def sentence(self, names: Sequence[str] | None = None) -> str:
        """Which columns dominate distances, as the beginning of a message."""
        one = len(self.columns) == 1
        shown = ", ".join(map(str, self.columns)) if names is None else listed([names[j] for j in self.columns])
        return (
            f"{'column' if one else 'columns'} {shown} of {self.n_columns} "
            f"{'has' if one else 'have'} {min(self.share, 0.999):.1%} of the variance and "
            f"{'dominates' if one else 'dominate'} distances"
        )


class ScaleWarning(UserWarning):
    """Columns of very different scale: a few of them decide the clusters."""

    def __init__(
        self, found: DominantColumns, names: Sequence[str] | None = None, *, has_parameter: bool = False
    ) -> None:
        self.found = found
        how = "pass standardise=True" if has_parameter else "standardise the columns of X, such as by StandardScaler"
        also = " (then standardise=False)" if has_parameter else ""
        super().__init__(f"{found.sentence(names)}: {how}, unless all have the same unit{also}.")


def dominant_columns(variances: NDArray[np.floating]) -> DominantColumns | None:
    """The columns that dominate distances by their variances (p,); None if there are none."""
    used, total = int((variances > 0).sum()), float(variances.sum())
    order = np.argsort(-variances, kind="stable")
    most = min(MOST_DOMINANT, max(used // TIMES_AS_MANY, 1)) if used > 1 else 0
    for count in range(1, most + 1):
        share = float(variances[order[:count]].sum()) / total
        if share >= DOMINANT_SHARE:
            return DominantColumns(tuple(order[:count].tolist()), len(variances), share)
    return None


def warn_of_scale(variances: NDArray[np.floating], names: Sequence[str] | None, *, has_parameter: bool) -> None:
    """Warn if a few of the columns with these variances (p,) dominate distances.

    The warning names the parameter `standardise`, if the estimator has it.
    """
    found = dominant_columns(variances)
    if found is not None:
        warn_caller(ScaleWarning(found, names, has_parameter=has_parameter))


def row_numbers(rows: NDArray[np.floating], names: Sequence[str]) -> list[str]:
    """Names of the columns of rows (n, p) that number the rows: whole numbers, each once.

    They increase, or they are consecutive in any order, or the column is called an ID.
    """
    if len(rows) < LEAST_ROWS or rows.shape[1] < 2:
        return []
    whole = np.flatnonzero((rows[: 10 * LEAST_ROWS] % 1 == 0).all(axis=0))
    return [names[j] for j in whole.tolist() if _numbers_rows(rows[:, j], names[j])]


def _numbers_rows(values: NDArray[np.floating], name: str) -> bool:
    if not (values % 1 == 0).all():
        return False
    if (np.diff(values) > 0).all():
        return True
    is_candidate = ID.search(name) or np.ptp(values) == len(values) - 1
    return bool(is_candidate) and len(np.unique(values)) == len(values)


def class_numbers(rows: NDArray[np.floating], names: Sequence[str]) -> tuple[str, int] | None:
    """The only column of rows (n, p) that may hold classes or categories as numbers, and how many; None if unclear."""
    if rows.shape[1] < 3:
        return None
    # Most columns of numbers have many values in the first rows.
    first = rows[: ROWS_OF_CLASS * (MOST_CLASSES + 1)]
    few = [j for j in range(rows.shape[1]) if len(np.unique(first[:, j])) <= MOST_CLASSES]
    if len(few) != 1:
        return None
    (j,) = few
    values = np.unique(rows[:, j])
    is_class = 2 <= len(values) <= min(MOST_CLASSES, len(rows) // ROWS_OF_CLASS) and (values % 1 == 0).all()
    others = [len(np.unique(first[:, i])) for i in range(rows.shape[1]) if i != j]
    return (names[j], len(values)) if is_class and min(others) >= TIMES_AS_VARIED * len(values) else None
