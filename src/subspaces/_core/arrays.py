"""Types of arrays, array libraries and devices, and small operations that differ between libraries.

Only this file refers to array libraries by name; all other code uses the array API.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from subspaces._core.errors import InputError, MissingPackageError

# Rows of more columns do not fit into one tile of the CUDA kernel of distances. Changes results within rounding.
MAX_TILE_COLUMNS = 128

Array = NDArray[np.floating[Any]]
Labels = NDArray[np.int32]
Indices = NDArray[np.intp]


def unit_rows(x: Array) -> Array:
    """Rows of `x` (n, p) scaled to norm one; zero rows stay zero."""
    if not is_host(x):
        xp = namespace(x)
        norms = xp.linalg.vector_norm(x, axis=1, keepdims=True)
        return x / xp.where(norms > 0, norms, 1.0)
    # Divide by the largest entry first, because squares of tiny numbers underflow.
    peaks = np.abs(x).max(axis=1, keepdims=True, initial=0)
    rows = np.divide(x, peaks, out=np.zeros_like(x), where=peaks > 0)
    norms = np.sqrt(np.einsum("np,np->n", rows, rows))[:, None]
    return np.divide(rows, norms, out=rows, where=norms > 0)


def inverse(x: Array, power: float = 1.0) -> Array:
    """Entrywise x^(-power), and 0 if an entry is not a positive normal number, so that empty landmarks drop out."""
    if is_device_array(x):
        return _inverse_on_device(x, power)
    positive = x > np.finfo(x.dtype).tiny
    safe = np.where(positive, x, 1)
    return np.where(positive, safe**-power, 0).astype(x.dtype, copy=False)


def _inverse_on_device(x: Any, power: float) -> Any:
    xp = namespace(x)
    positive = x > float(xp.finfo(x.dtype).smallest_normal)
    return xp.where(positive, xp.where(positive, x, 1.0) ** -power, 0.0)


def with_fixed_signs(vectors: NDArray[Any]) -> NDArray[Any]:
    """Make the signs of the columns of `vectors` (n, q) deterministic: the largest entry of each is positive."""
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return vectors * np.where(largest < 0, -1.0, 1.0)


def within_mad(values: Array, *, width: float, scale: float) -> NDArray[np.bool_]:
    """Which `values` (n,) lie below median + `width` standard deviations, estimated by the MAD.

    `scale` is the size of the data from which the values were computed. Differences below its rounding error do not
    count, so that clean data, whose median and MAD are zero, do not lose rows to rounding.
    """
    middle = np.median(values)
    spread = 1.4826 * np.median(np.abs(values - middle))
    rounding = scale * np.sqrt(np.finfo(values.dtype).eps)
    return values <= middle + width * spread + rounding


def namespace(x: Any) -> Any:
    """The array API functions of the library that `x` belongs to."""
    return array_api_compat.array_namespace(x)


def is_host(x: Any) -> bool:
    """Whether `x` is a NumPy array, and not one of another library or on a device."""
    return isinstance(x, np.ndarray)


def is_device_array(x: Any) -> bool:
    """Whether `x` is an array of a library other than NumPy, and not lazy."""
    return not isinstance(x, np.ndarray | np.generic) and array_api_compat.is_array_api_obj(x) and not is_dask(x)


def is_dask(x: Any) -> bool:
    """Whether `x` is a Dask array or dataframe. Dask is not imported for this."""
    return type(x).__module__.partition(".")[0] in ("dask", "dask_expr")


def to_host(x: Any) -> NDArray[Any]:
    """`x` as a NumPy array."""
    if isinstance(x, np.ndarray | np.generic):
        return np.asarray(x)
    if array_api_compat.is_torch_array(x):
        return x.detach().cpu().numpy()
    # CuPy has its own method; all other libraries support DLPack.
    return x.get() if hasattr(x, "get") else np.from_dlpack(x)


def device(x: Any) -> Any:
    """The device of `x`."""
    return array_api_compat.device(x)


def like(values: NDArray[Any], x: Array) -> Array:
    """NumPy `values` in the library, on the device and in the dtype of `x`."""
    return namespace(x).asarray(_plain(values, x), dtype=x.dtype, device=device(x))


# Copies of NumPy arrays on devices, by the identity of the array, library, device and dtype; see `fixed`.
_COPIES: dict[tuple[Any, ...], tuple[weakref.ref[Any], Any]] = {}


def fixed(values: NDArray[Any], x: Array, *, own_dtype: bool = False) -> Array:
    """`like` for `values` that never change, such as those of a fitted model: copied once to each device.

    The copy lives as long as `values`. A copy in every block would wait for all work of the device each time. If
    `own_dtype`, they keep their dtype.
    """
    if is_host(x):
        return values if own_dtype else values.astype(x.dtype, copy=False)
    key = (id(values), namespace(x).__name__, str(device(x)), str(values.dtype if own_dtype else x.dtype))
    known = _COPIES.get(key)
    if known is None or known[0]() is not values:
        copied = follow(values, x) if own_dtype else like(values, x)
        known = _COPIES[key] = (weakref.ref(values, partial(_forget, _COPIES, key)), copied)
    return known[1]


def _forget(copies: dict[Any, Any], key: Any, _: Any) -> None:
    copies.pop(key, None)


def follow(result: NDArray[Any], x: Array) -> Any:
    """A NumPy `result` in the library and on the device of `x`; its dtype stays."""
    return result if is_host(x) else namespace(x).asarray(_plain(result, x), device=device(x))


def _plain(values: NDArray[Any], x: Array) -> NDArray[Any]:
    """NumPy `values` as the library of `x` takes them: torch refuses reversed arrays and warns of read-only ones."""
    return values if is_host(x) else np.require(values, requirements=["C", "W"])


def to_device(x: NDArray[Any], name: str) -> Any:
    """NumPy `x` as a torch tensor on the device `name`, such as "cuda" or "cuda:1"."""
    try:
        import torch
    except ImportError:
        raise MissingPackageError(
            f"device={name!r} needs torch: pip install 'subspaces[gpu]'.", parameter="device"
        ) from None
    tensor = torch.from_numpy(np.require(x, requirements="W"))
    try:
        # From pinned memory the copy overlaps with the work on the previous block.
        return tensor.pin_memory().to(name, non_blocking=True) if name.startswith("cuda") else tensor.to(name)
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        raise InputError(
            f'device={name!r} cannot be used here ({reason}): give "cpu", "cuda" or "cuda:1".', parameter="device"
        ) from None


def concatenate(parts: Sequence[Any]) -> Any:
    """Concatenate arrays (b, ...) of one library."""
    return parts[0] if len(parts) == 1 else namespace(parts[0]).concat(parts, axis=0)


class Constants:
    """NumPy arrays that are copied once to each library, device and dtype in which they are used."""

    def __init__(self, *values: NDArray[Any]) -> None:
        self._values = values
        self._copies: dict[Any, tuple[Any, ...]] = {}

    def like(self, x: Array) -> tuple[Any, ...]:
        """The arrays in the library, on the device and in the dtype of `x`."""
        key = (namespace(x).__name__, str(device(x)), str(x.dtype))
        if key not in self._copies:
            self._copies[key] = tuple(like(value, x) for value in self._values)
        return self._copies[key]

    def __getstate__(self) -> dict[str, Any]:
        return {"_values": self._values, "_copies": {}}


def has_fused_kernel(x: Any) -> bool:
    """Whether the Triton kernel of distances can be used for rows `x` (n, p)."""
    return has_kernels(x) and x.shape[1] <= MAX_TILE_COLUMNS


def has_kernels(x: Any) -> bool:
    """Whether Triton kernels can be used for `x`: single precision on CUDA."""
    if not array_api_compat.is_torch_array(x) or not x.is_cuda or str(x.dtype) != "torch.float32":
        return False
    return find_spec("triton") is not None


def memory_of(x: Any) -> int:
    """Bytes of memory of the CUDA device of a torch tensor `x`; 16 GiB for all others."""
    if not array_api_compat.is_torch_array(x) or not x.is_cuda:
        return 2**34
    return int(namespace(x).cuda.get_device_properties(x.device).total_memory)


def largest_entry(x: Any) -> float:
    """The largest absolute value of `x` (n, p), which has entries; not finite if one of them is not."""
    xp = namespace(x)
    if array_api_compat.is_torch_array(x):
        # One pass, and one number to wait for.
        return float(xp.linalg.vector_norm(x, ord=float("inf")))
    return max(float(xp.max(x)), -float(xp.min(x)))


def has_own_memory(x: Any) -> bool:
    """Whether `x` is an array in the memory of a device, not in that of the host."""
    return is_device_array(x) and "cpu" not in str(device(x)).lower()


def smallest_in_order(table: Any, count: int) -> Any:
    """Columns (n, count) of the `count` smallest entries of each row of `table` (n, m), ascending."""
    if hasattr(table, "topk"):
        return table.topk(count, dim=1, largest=False, sorted=True).indices
    return namespace(table).argsort(table, axis=1)[:, :count]


def lowest(table: Array, count: int) -> tuple[Array, Any]:
    """The `count` smallest entries (n, count) of each row of `table` (n, m), ascending, and their columns (n, count).

    They are found one after another: for a few, this is faster than a partial sort. `table` is overwritten.
    """
    xp = namespace(table)
    columns = xp.arange(table.shape[1], device=device(table))
    values, index = [], []
    for _ in range(count):
        best = xp.argmin(table, axis=1, keepdims=True)
        values.append(xp.take_along_axis(table, best, axis=1))
        index.append(best)
        if hasattr(table, "scatter_"):
            table.scatter_(1, best, float("inf"))
        else:
            table = xp.where(columns[None, :] == best, float("inf"), table)
    return xp.concat(values, axis=1), xp.concat(index, axis=1)


def sums_at(index: Any, values: Any, size: int) -> Any:
    """Sums (size,), in float64, of the `values` (n,) with equal `index` (n,)."""
    xp = namespace(values)
    if is_host(values):
        return np.bincount(index, weights=values, minlength=size)
    if hasattr(values, "index_add_"):
        return xp.zeros(size, dtype=xp.float64, device=device(values)).index_add_(0, index, values.to(xp.float64))
    if hasattr(xp, "bincount"):
        return xp.bincount(index, weights=xp.astype(values, xp.float64), minlength=size)
    return follow(np.bincount(to_host(index), weights=to_host(values), minlength=size), values)


def clip_into(x: Array, limit: float, out: Array) -> None:
    """out = `x` clipped to [-limit, limit], without a new array if the library allows it."""
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
        # The BLAS call of SciPy would do it in one step, but it holds the global interpreter lock.
        np.matmul(a, b.T, out=scratch)
        np.subtract(out, scratch, out=out)
    else:
        out -= a @ b.T
