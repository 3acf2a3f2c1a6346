"""What the modules agree on about arrays: their type and library, safe division, unit rows.

Only this file knows array libraries by name. What it leaves to the array API works on any of them.
"""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]
Labels = NDArray[np.int32]
Indices = NDArray[np.intp]


def unit_rows(x: Array) -> Array:
    """Rows of `x` (n, p) scaled to norm one; zero rows stay zero."""
    if not is_host(x):
        xp = namespace(x)
        norms = xp.linalg.vector_norm(x, axis=1, keepdims=True)
        return x / xp.where(norms > 0, norms, 1.0)
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


def namespace(x: Array) -> Any:
    """The array API functions of the library that `x` belongs to."""
    return array_api_compat.array_namespace(x)


def is_host(x: Any) -> bool:
    """Whether `x` is a NumPy array, and not one of another library or on a device."""
    return isinstance(x, np.ndarray)


def to_host(x: Any) -> NDArray[Any]:
    """`x` as a NumPy array."""
    return x if is_host(x) else np.asarray(array_api_compat.to_device(x, "cpu"))


def device(x: Array) -> Any:
    """Where `x` lives."""
    return array_api_compat.device(x)


def like(values: NDArray[Any], x: Array) -> Array:
    """NumPy `values` in the library, on the device and in the dtype of `x`."""
    return namespace(x).asarray(values, dtype=x.dtype, device=device(x))


def follow(result: NDArray[Any], x: Array) -> Any:
    """A NumPy `result`, in its own dtype, in the library and on the device of the rows `x` that it belongs to."""
    return result if is_host(x) else namespace(x).asarray(result, device=device(x))


def clip_into(x: Array, limit: float, out: Array) -> None:
    """out = `x` clipped to [-limit, limit], without a new array where the library allows it."""
    if hasattr(namespace(x), "clamp"):
        namespace(x).clamp(x, -limit, limit, out=out)
    elif is_host(x):
        bound = x.dtype.type(limit)
        np.clip(x, -bound, bound, out=out)
    else:
        out[...] = namespace(x).clip(x, -limit, limit)


def subtract_product(out: Array, a: Array, b: Array, scratch: Array) -> None:
    """out (n, m) -= a (n, q) @ b (m, q)^T; `scratch` is an array like `out` that may be overwritten."""
    if hasattr(out, "addmm_"):
        out.addmm_(a, b.T, alpha=-1)
    elif is_host(out):
        # Not BLAS by way of SciPy, which would do it in one call: it does not let other threads run meanwhile.
        np.matmul(a, b.T, out=scratch)
        np.subtract(out, scratch, out=out)
    else:
        out -= a @ b.T
