"""What the modules agree on about arrays: their type, safe division, unit rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]
Labels = NDArray[np.int32]
Indices = NDArray[np.intp]


def unit_rows(x: Array) -> Array:
    """Rows of `x` (n, p) scaled to norm one; zero rows stay zero."""
    norms = np.sqrt(np.einsum("np,np->n", x, x))[:, None]
    return np.divide(x, norms, out=np.zeros_like(x), where=norms > 0)


def distinct_rows(x: Array) -> Array:
    """The rows of `x` (n, p) without repetitions, in their order."""
    rows = np.ascontiguousarray(x)
    first = np.unique(rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel(), return_index=True)[1]
    return x if len(first) == len(x) else x[np.sort(first)]


def inverse(x: Array, power: float = 1.0) -> Array:
    """Entrywise x^(-power), with 0 where `x` is not positive, so that empty landmarks drop out."""
    safe = np.where(x > 0, x, 1)
    return np.where(x > 0, safe**-power, 0).astype(x.dtype, copy=False)


def within_mad(values: Array, *, width: float, scale: float) -> NDArray[np.bool_]:
    """Which `values` (n,) lie below median + `width` normal standard deviations (MAD estimate).

    `scale` is the size of the data the values were computed from: differences below its rounding
    do not count, so that clean data, where median and MAD vanish, lose no rows to noise in the last bits.
    """
    middle = np.median(values)
    spread = 1.4826 * np.median(np.abs(values - middle))
    rounding = scale * np.sqrt(np.finfo(values.dtype).eps)
    return values <= middle + width * spread + rounding
