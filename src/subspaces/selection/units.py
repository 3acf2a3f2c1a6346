"""Whether the columns of rows have units of their own: then they are standardised."""

from __future__ import annotations

import numpy as np

from subspaces._core.arrays import Array
from subspaces.flats.description import measure, shortest_code
from subspaces.rows.moments import Moments
from subspaces.rows.preparation import column_variances
from subspaces.rows.thresholds import MAX_COLUMNS
from subspaces.selection.comparison import Floats, clearly_positive
from subspaces.selection.limits import FLAT_ROWS
from subspaces.selection.thresholds import TOP_COLUMN
from subspaces.spectral.partition import at_most


def has_own_units(x: Array, moments: Moments | None = None) -> bool:
    """Whether one column of `x` (n, p) has nearly all of the variance, and standardised columns are better described.

    If `x` is a sample, `moments` are those of all rows. Lengths are of one flat, in the units of `x`, so that they can
    be compared.
    """
    if x.shape[1] > MAX_COLUMNS:
        return False
    variances = column_variances(x, moments)
    if variances.max() <= TOP_COLUMN * variances.sum():
        return False
    used = variances > 0
    scales = np.sqrt(variances[used])
    # A fixed generator: this sample must not move the draws of the fit.
    rows = x[at_most(np.arange(len(x)), FLAT_ROWS, np.random.RandomState(0))][:, used].astype(np.float64)
    if used.sum() < 2 or len(rows) <= rows.shape[1]:
        return False
    as_is, flat = row_lengths(rows)
    standard, standard_flat = row_lengths(rows / scales)
    standard += np.log(scales).sum()
    return clearly_positive(as_is - standard, offset=flat - standard_flat)


def row_lengths(rows: Floats) -> tuple[Floats, float]:
    """Nats (n,) of each of the rows (n, p) by one flat, in their own unit, and nats per row of the flat."""
    space = measure(rows, affine=True)
    code = shortest_code(space, np.zeros(len(rows), np.intp), 1, free=True)
    lengths = code.row_lengths + rows.shape[1] * np.log(space.unit)
    return lengths, float(code.overheads.sum()) / len(rows)
