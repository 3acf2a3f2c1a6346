"""Files that hold several arrays under names (.npz, .mat, HDF5, Zarr): which of them holds the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces.rows.reading import UnreadableError

# Kinds of arrays, as MATLAB and NumPy name them, that do not hold numbers.
NOT_NUMBERS = ("char", "cell", "struct", "function", "object", "opaque", "unknown", "<U", ">U", "|S")
SHOWN_ARRAYS = 12


@dataclass(frozen=True, slots=True, eq=False)
class NamedArray:
    """An array in a file that holds several; it is not read yet."""

    shape: tuple[int, ...]
    kind: str  # dtype of NumPy, or class of MATLAB
    read: Callable[[], NDArray[Any]]

    @property
    def can_be_rows(self) -> bool:
        """Whether it holds numbers in two dimensions or more."""
        return len(self.shape) >= 2 and not self.kind.startswith(NOT_NUMBERS)

    def entries(self) -> NDArray[Any]:
        """Its entries (n,), such as true classes; cells of MATLAB are arrays of one entry."""
        flat = self.read().ravel()
        if flat.dtype == object:
            found = [entry.item() if isinstance(entry, np.ndarray) and entry.size == 1 else entry for entry in flat]
            return np.asarray([entry.decode() if isinstance(entry, bytes) else str(entry) for entry in found])
        return np.char.decode(flat, "utf-8", "replace") if flat.dtype.kind == "S" else flat


def choose_array(path: Path, arrays: Mapping[str, NamedArray], key: str | None) -> str:
    """The name of the array that holds the rows: `key`, or the only one that can."""
    found = [name for name, array in arrays.items() if array.can_be_rows and min(array.shape) > 1]
    # MATLAB stores vectors with two dimensions: they are rows only if nothing else is there.
    found = found or [name for name, array in arrays.items() if array.can_be_rows]
    shown = ", ".join(
        f"{name!r} {'x'.join(map(str, array.shape))}" for name, array in sorted(arrays.items())[:SHOWN_ARRAYS]
    )
    has = f"it has {shown}{', ...' if len(arrays) > SHOWN_ARRAYS else ''}" if arrays else "it has no arrays at all"
    if key is not None:
        if key.strip("/") not in arrays:
            raise UnreadableError(f"{path} has no array key={key!r}: {has}.")
        return key.strip("/")
    if len(found) == 1:
        return found[0]
    if not found:
        raise UnreadableError(f"{path} has no array of rows and columns: {has}.")
    raise UnreadableError(f"{path} has several arrays: name the one that holds the rows with key=...; {has}.")
