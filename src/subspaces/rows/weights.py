"""Weights of rows: how often each row counts.

A row of weight 2 counts as two equal rows. Decisions are made on rows that are repeated as often as they count, so
that every step of a fit sees the weights; sums over all rows are exact weighted sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Indices, is_device_array, to_host
from subspaces._core.errors import InputError, UserTypeError
from subspaces.rows.thresholds import COPIES

# Up to this number all whole numbers are exact in float64.
MOST_EXACT = 2**53


@dataclass(frozen=True, slots=True, eq=False)
class RowWeights:
    """How often each of n rows counts: whole numbers without a common divisor, or numbers with the mean one."""

    values: NDArray[np.float64]  # (n,), none negative
    are_counts: bool  # whether they are whole numbers

    @property
    def n_used(self) -> int:
        """Number of rows that count at all."""
        return int(np.count_nonzero(self.values))

    def counts(self, most: int, rng: np.random.RandomState) -> tuple[Indices, bool]:
        """How often each row (n,) is repeated, at most `most` rows in all, and whether these are the weights exactly.

        If they are not, rows are drawn: the expected number of copies is proportional to the weight, and the number
        differs from it by less than one (systematic sampling).
        """
        total = float(self.values.sum())
        if self.are_counts and total <= most:
            return self.values.astype(np.intp), True
        size = min(most, COPIES * self.n_used)
        ends = np.cumsum(self.values) * (size / total)
        # Rounding of the sum must not add or lose a row at the end.
        ends[ends >= ends[-1]] = size
        return np.diff(np.floor(ends + rng.uniform()), prepend=0).astype(np.intp), False


def check_weights(sample_weight: Any, n_rows: int) -> RowWeights | None:
    """The weights of `n_rows` rows; None if all rows have the same weight."""
    weights = _as_numbers(sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise InputError(
            f"sample_weight has shape {weights.shape}: give an array of shape ({n_rows},), one number for each row.",
            parameter="sample_weight",
        )
    if not np.isfinite(weights).all():
        raise InputError(
            "sample_weight contains NaN or infinity: give finite numbers, and 0 for rows that must not count.",
            parameter="sample_weight",
        )
    if weights.min() < 0:
        raise InputError(
            f"sample_weight contains {weights.min()}: weights say how often a row counts and must not be negative.",
            parameter="sample_weight",
        )
    largest = float(weights.max())
    if not largest:
        raise InputError(
            "sample_weight is zero for all rows: at least one row must have a positive weight.",
            parameter="sample_weight",
        )
    if weights.min() == largest:
        return None
    if largest <= MOST_EXACT and (weights == np.floor(weights)).all():
        whole = weights.astype(np.int64)
        return RowWeights(whole / math.gcd(*np.unique(whole).tolist()), are_counts=True)
    # Divided first, because the sum of large weights may overflow.
    shares = weights / largest
    return RowWeights(shares * (np.count_nonzero(shares) / shares.sum()), are_counts=False)


def check_used_rows(weights: RowWeights, n_clusters: Any) -> None:
    """Refuse more clusters than rows of positive weight."""
    if isinstance(n_clusters, int | np.integer) and n_clusters > weights.n_used:
        raise InputError(
            f"n_clusters={n_clusters} must be at most {weights.n_used}, the number of rows with a positive "
            "sample_weight.",
            parameter="n_clusters",
        )


def _as_numbers(sample_weight: Any) -> NDArray[np.float64]:
    """`sample_weight` as a NumPy array of float64 of any shape."""
    try:
        found = to_host(sample_weight) if is_device_array(sample_weight) else np.asarray(sample_weight)
        found = found.astype(np.float64) if found.dtype.kind == "O" else found
    except (TypeError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise UserTypeError(
            f"sample_weight must be an array of numbers: {reason}.", parameter="sample_weight"
        ) from None
    if found.dtype.kind not in "fiub":
        raise UserTypeError(
            f"sample_weight holds {found.dtype} values: give numbers, one for each row.", parameter="sample_weight"
        )
    return found.astype(np.float64)
