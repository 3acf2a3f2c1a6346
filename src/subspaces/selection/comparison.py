"""When one candidate is clearly better than another: paired differences, row by row, and their standard error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Indices
from subspaces.selection.thresholds import N_ERRORS

Floats = NDArray[np.float64]


def clearly_positive(differences: Floats, groups: Indices | None = None, *, offset: float = 0.0) -> bool:
    """Whether the mean of `differences` (n,) plus `offset` exceeds zero by `N_ERRORS` standard errors.

    Rows that share landmarks are not independent: with `groups` (n,), rows of a group count as one observation.
    """
    return bool(float(np.mean(differences)) + offset > N_ERRORS * standard_error(differences, groups))


def standard_error(differences: Floats, groups: Indices | None = None) -> float:
    """Standard error of the mean of `differences` (n,), whose rows may depend on each other within `groups` (n,)."""
    if not np.isfinite(differences).all():
        return np.inf
    deviations = differences - np.mean(differences)
    sums = deviations if groups is None else np.bincount(groups, weights=deviations)
    return float(np.sqrt(np.square(sums).sum())) / len(differences)
