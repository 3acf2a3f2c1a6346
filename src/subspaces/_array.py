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
    # The largest entry first: squares of tiny numbers vanish.
    peaks = np.abs(x).max(axis=1, keepdims=True, initial=0)
    rows = np.divide(x, peaks, out=np.zeros_like(x), where=peaks > 0)
    norms = np.sqrt(np.einsum("np,np->n", rows, rows))[:, None]
    return np.divide(rows, norms, out=rows, where=norms > 0)


def inverse(x: Array, power: float = 1.0) -> Array:
    """Entrywise x^(-power), with 0 where `x` is no positive normal number, so that empty landmarks drop out."""
    positive = x > np.finfo(x.dtype).tiny
    safe = np.where(positive, x, 1)
    return np.where(positive, safe**-power, 0).astype(x.dtype, copy=False)


def within_mad(values: Array, *, width: float, scale: float) -> NDArray[np.bool_]:
    """Which `values` (n,) lie below median + `width` normal standard deviations (MAD estimate).

    `scale` is the size of the data the values were computed from: differences below its rounding
    do not count, so that clean data, where median and MAD vanish, lose no rows to noise in the last bits.
    """
    middle = np.median(values)
    spread = 1.4826 * np.median(np.abs(values - middle))
    rounding = scale * np.sqrt(np.finfo(values.dtype).eps)
    return values <= middle + width * spread + rounding
