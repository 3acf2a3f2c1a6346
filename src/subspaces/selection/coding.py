"""Comparison of descriptions of the same rows by flats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from subspaces._core.arrays import Array
from subspaces._core.pca import principal_directions
from subspaces.flats.description import Code
from subspaces.flats.thresholds import MAX_DIM_SHARE
from subspaces.selection.comparison import clearly_positive
from subspaces.selection.thresholds import FEW_COLUMNS, FLAT_SHARE, LEAST_ROWS, MANY_COLUMNS
from subspaces.spectral.thresholds import SMALL_CLUSTER


def code_directions(rows: Array, *, affine: bool = True) -> Array:
    """The principal columns (q, c) of rows (m, q) in which clusters are encoded: few, because others add noise."""
    n, q = rows.shape
    count = min(q, MANY_COLUMNS, max(min(n, 2), n // LEAST_ROWS))
    if count == q:
        return np.eye(q, dtype=rows.dtype)
    mean = rows.mean(axis=0, dtype=np.float64) if affine else np.zeros(q)
    return principal_directions(rows, mean, count).astype(rows.dtype)


def spread(code: Code) -> float:
    """Mean share of the columns that flats use; directions that save little count twice: the cluster may be bent."""
    used = [2 * cell.basis.shape[1] - cell.dim for cell in code.cells if cell]
    return float(np.mean(used)) / code.space.rows.shape[1] if used else np.inf


def is_low_dimensional(code: Code) -> bool:
    """Whether flats use few of the columns; always true if the rows have few columns."""
    return code.space.rows.shape[1] <= FEW_COLUMNS or spread(code) <= MAX_DIM_SHARE


def is_described(code: Code, one: Code, least: float) -> bool:
    """Whether flats describe the rows: few directions, and most of the shortening that any number of flats reaches.

    `one` is the code of one flat, `least` the length with the best number. If no number is better than one, flats must
    have directions: there are fewer clusters than asked for, or too few rows to see more. Blobs must be clearly better
    than one.
    """
    if not (is_sound(code) and is_low_dimensional(code)):
        return False
    if one.length <= least:
        return mean_directions(code) >= 1
    is_short = shortening(code, one.length, least) >= FLAT_SHARE
    return is_short and (mean_dim(code) >= 1 or clearly_longer(one, code))


def is_sound(code: Code) -> bool:
    """Whether no cluster is too small to be one."""
    sizes = [cell.size if cell else 0 for cell in code.cells]
    average = len(code.chosen) / len(sizes)
    return min(sizes) >= max(SMALL_CLUSTER * average, min(LEAST_ROWS, average / 2))


def mean_dim(code: Code) -> float:
    """Mean dimension of the clusters."""
    return float(np.mean([cell.dim for cell in code.cells if cell]))


def mean_directions(code: Code) -> float:
    """Mean number of directions of the flats, those that save little included."""
    return float(np.mean([cell.basis.shape[1] for cell in code.cells if cell]))


def shortening(code: Code, one: float, least: float) -> float:
    """The share of the shortening from `one` flat to the `least` length that a code reaches; 0 if it is longer."""
    return (one - code.length) / (one - min(least, code.length)) if code.length < one else 0.0


def clearly_longer(code: Code, shortest: Code, *, mixed: bool = False) -> bool:
    """Whether a code of the same rows is clearly longer, compared row by row; `mixed` is as in `most_even`."""
    if not np.isfinite(code.length):
        return bool(np.isfinite(shortest.length))
    flats = (code.overheads.sum() - shortest.overheads.sum()) / len(code.chosen)
    rows, others = (each.mixed_lengths if mixed else each.row_lengths for each in (code, shortest))
    return clearly_positive(rows - others, offset=float(flats))


def most_even(codes: Sequence[Code]) -> Code:
    """The code with the most similar sizes of clusters among those not clearly longer than the shortest.

    Overlapping blobs have many cuts of nearly equal length, so lengths are those under the mixture of all clusters.
    """

    def length(code: Code) -> float:
        return float(code.mixed_lengths.sum() + code.overheads.sum())

    def entropy(code: Code) -> float:
        sizes = np.array([cell.size for cell in code.cells if cell]) / len(code.chosen)
        return -float((sizes * np.log(sizes)).sum())

    shortest = min(codes, key=length)
    return max((code for code in codes if not clearly_longer(code, shortest, mixed=True)), key=entropy)
