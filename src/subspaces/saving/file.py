"""States in safetensors files: each array is a tensor named by its place, all other values are one JSON document.

The document is the only entry of the metadata, because the order of several is not the same in each run. Arrays are
stored in the order of C; `orders` gives the order of axes in memory of those that had another one, because products are
the same to the last bit only in the same order.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import subspaces
from subspaces._core.errors import InputError
from subspaces._core.files import open_regular
from subspaces.saving.fields import DamagedError, State, require

FORMAT = "subspaces model"
# Version 1 was the zip archive of subspaces 0.1.0.
VERSION = 2
KEYS = {"format", "version", "library", "estimator", "state", "orders"}
# A number that JSON cannot express.
SPECIAL = "not finite"
# Bounds of what is read before anything is checked. Values of JSON take up to twelve times their text in memory, and
# empty groups much more.
MAX_DOCUMENT_BYTES = 16 * 2**20
MOST_GROUPS, MOST_VALUES = 200_000, 1_000_000
MOST_ARRAYS = 100_000
DEPTH = 64
# The document with the descriptions of all arrays; quotes and line ends in the document take two bytes.
MAX_HEADER_BYTES = 3 * MAX_DOCUMENT_BYTES
# Types of arrays, and the bytes of an entry.
DTYPES = {"BOOL": 1, "I8": 1, "U8": 1, "I16": 2, "U16": 2, "F16": 2}
DTYPES |= {"I32": 4, "U32": 4, "F32": 4, "I64": 8, "U64": 8, "F64": 8}
# The first bytes of a zip archive.
ZIP = b"PK\x03\x04"


def content_of(name: str, state: State) -> bytes:
    """The content of a file with the state of the estimator called `name`; equal states give equal bytes."""
    import safetensors.numpy

    arrays: dict[str, NDArray[Any]] = {}
    plain = _without_arrays(state, "", arrays)
    orders = {place: order for place, array in arrays.items() if (order := _order(array)) is not None}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "library": subspaces.__version__,
        "estimator": name,
        "state": plain,
        "orders": orders,
    }
    text = json.dumps(document, allow_nan=False)
    excess = _excess(text)
    if excess is not None:
        raise InputError(f"the model cannot be saved, {excess}: give parameters as NumPy arrays, not as lists.")
    little = {place: _stored(array) for place, array in sorted(arrays.items())}
    return safetensors.numpy.save(little, {FORMAT: text})


def read(path: Path) -> tuple[str, State]:
    """The name and the state of the estimator in a file; `DamagedError` says what is wrong with other files."""
    import safetensors

    with open_regular(path) as stream:
        start = stream.read(8)
    require(
        not start.startswith(ZIP),
        "it is a zip archive; subspaces 0.1.0 saved models in such archives, which later versions do not read: fit the "
        "model again, or load it with subspaces 0.1.0",
    )
    claimed = int.from_bytes(start, "little")
    require(claimed <= MAX_HEADER_BYTES, f"it is not a safetensors file, or its header of {claimed} bytes is too long")
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            document = _document(file.metadata())
            require(len(file.keys()) <= MOST_ARRAYS, f"it holds more than {MOST_ARRAYS} arrays")
            arrays = {place: _read(file, place, document["orders"].get(place)) for place in file.keys()}  # noqa: SIM118
    except MemoryError:
        raise DamagedError("its arrays do not fit into memory") from None
    except safetensors.SafetensorError as error:
        raise DamagedError(f"it is not a safetensors file, or it is damaged ({error!s:.200})") from None
    state = _with_numbers(document["state"])
    require(set(document["orders"]) <= set(arrays), "it orders arrays that it does not hold")
    for place, array in arrays.items():
        _insert(state, place, array)
    return document["estimator"], state


def _document(metadata: Mapping[str, str] | None) -> dict[str, Any]:
    """The document, if it was written by this library in a version that this one reads."""
    require(metadata and FORMAT in metadata, "it was not written by subspaces")
    assert metadata is not None
    text = metadata[FORMAT]
    excess = _excess(text)
    require(excess is None, excess or "")
    try:
        document = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except RecursionError:
        raise DamagedError("its values are nested too deep") from None
    except DamagedError:
        raise
    except ValueError as error:
        raise DamagedError(f"its values are not JSON ({error!s:.200})") from None
    require(isinstance(document, dict) and document.get("format") == FORMAT, "it was not written by subspaces")
    version, library = document.get("version"), document.get("library")
    require(
        type(version) is int and version > 1 and isinstance(library, str), f"its version {version!r:.40} is unknown"
    )
    require(
        version == VERSION,
        f"it was made by a newer version: subspaces {library!s:.40} writes format {version!r:.40}, and subspaces "
        f"{subspaces.__version__} reads format {VERSION}; upgrade subspaces",
    )
    require(set(document) == KEYS, f"it has the entries {sorted(document)!r:.120} instead of {sorted(KEYS)}")
    require(isinstance(document["state"], dict), "its state is not a group of values")
    require(isinstance(document["orders"], dict), "its orders are not a group of values")
    return document


def _excess(text: str) -> str | None:
    """Which bound a document exceeds, before it is read; letters in text are counted, too."""
    if len(text) > MAX_DOCUMENT_BYTES:
        return f"its values that are not arrays take more than {MAX_DOCUMENT_BYTES >> 20} MiB"
    if text.count("{") + text.count("[") > MOST_GROUPS:
        return f"its values have more than {MOST_GROUPS} groups and lists"
    return f"it has more than {MOST_VALUES} values that are not arrays" if text.count(",") > MOST_VALUES else None


def _without_arrays(value: Any, place: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """Values that JSON can hold; arrays go to `arrays`, by their place."""
    if isinstance(value, Mapping):
        plain = {}
        for name, each in value.items():
            inner = f"{place}.{name}" if place else name
            if isinstance(each, np.ndarray):
                arrays[inner] = each
            else:
                plain[name] = _without_arrays(each, inner, arrays)
        return plain
    if isinstance(value, list):
        return [_without_arrays(each, f"{place}.{i}", arrays) for i, each in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        return {SPECIAL: repr(value)}
    return value


def _with_numbers(value: Any, depth: int = 0) -> Any:
    """The same values, with the numbers that JSON cannot express."""
    require(depth <= DEPTH, "its values are nested too deep")
    if isinstance(value, list):
        return [_with_numbers(each, depth + 1) for each in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {SPECIAL}:
        require(value[SPECIAL] in ("nan", "inf", "-inf"), f"{value[SPECIAL]!r:.40} is not a number")
        return float(value[SPECIAL])
    return {name: _with_numbers(each, depth + 1) for name, each in value.items()}


def _insert(state: Any, place: str, array: NDArray[Any]) -> None:
    """Put an array at its place in the state."""
    *groups, name = place.split(".")
    for group in groups:
        if isinstance(state, list) and group.isdecimal() and int(group[:9]) < len(state):
            state = state[int(group[:9])]
        else:
            require(isinstance(state, dict) and group in state, f"its array {place!r:.80} belongs to nothing")
            state = state[group]
    require(isinstance(state, dict) and name not in state, f"its array {place!r:.80} belongs to nothing")
    state[name] = array


def _order(array: NDArray[Any]) -> list[int] | None:
    """Axes in the order of memory, the slowest first; None if that is their own order."""
    axes = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    return None if array.flags.c_contiguous or axes == sorted(axes) else axes


def _stored(array: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(array, array.dtype.newbyteorder("<"), order="C")


def _read(file: Any, place: str, order: Any) -> NDArray[Any]:
    claimed = file.get_slice(place)
    dtype = claimed.get_dtype()
    require(dtype in DTYPES, f"its array {place!r:.80} is of type {dtype!r:.40}")
    # Without memory for an array safetensors panics, where NumPy raises MemoryError.
    np.empty(math.prod(claimed.get_shape()) * DTYPES[dtype], np.uint8)
    array = file.get_tensor(place)
    if order is None:
        return array
    is_order = isinstance(order, list) and all(type(axis) is int for axis in order)
    require(is_order and sorted(order) == list(range(array.ndim)), f"its order of {place!r:.80} is not one of axes")
    return np.ascontiguousarray(array.transpose(order)).transpose(np.argsort(order))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    require(len(found) == len(pairs), "its values name something twice")
    return found


def _refuse_constant(name: str) -> None:
    raise DamagedError(f"its values hold {name}, which is not JSON")
