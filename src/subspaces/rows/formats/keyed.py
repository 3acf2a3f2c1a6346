"""Arrays in files: what a file says about them, which of them holds the rows, and one bounded way to read them.

A file may claim any size and any type. A `NamedArray` is made from the header alone; `read` checks its size and type
before a byte of its values is read, for all formats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces.rows.memory import HELD_SHARE
from subspaces.rows.reading import UnreadableError

# Kinds of arrays, as MATLAB and NumPy name them, that do not hold numbers.
NOT_NUMBERS = ("char", "cell", "struct", "function", "object", "opaque", "unknown", "<U", ">U", "|S", "StringDType")
SHOWN_ARRAYS = 12


@dataclass(frozen=True, slots=True, eq=False)
class NamedArray:
    """An array in a file; it is not read yet."""

    path: Path
    name: str
    shape: tuple[int, ...]
    kind: str  # dtype of NumPy, or class of MATLAB
    n_bytes: int  # that reading it takes, by its header
    load: Callable[[int], NDArray[Any]]  # called with the number of bytes that it may take
    refusal: str | None = None  # why its values must not be read

    @property
    def can_be_rows(self) -> bool:
        """Whether it holds numbers in two dimensions or more."""
        return self.refusal is None and len(self.shape) >= 2 and not self.kind.startswith(NOT_NUMBERS)

    def read(self, memory_limit: int) -> NDArray[Any]:
        """All its values, if they fit into half of `memory_limit` and are safe to read."""
        where = f"{self.path}, array {self.name!r},"
        check_safe(self.refusal, where)
        if any(size < 0 for size in self.shape):
            raise UnreadableError(f"{where} has the shape {self.shape} in its header: write it again.")
        if self.n_bytes > memory_limit // HELD_SHARE:
            raise UnreadableError(
                f"{where} takes {self.n_bytes / 1e9:.3g} GB by its header, which do not fit into half of "
                f"memory_limit={memory_limit / 1e9:.3g}GB: raise it, or store rows as .npy (n, p), which is read in "
                "blocks."
            )
        return self.load(memory_limit // HELD_SHARE)

    def entries(self, memory_limit: int) -> NDArray[Any]:
        """Its entries (n,), such as true classes; cells of MATLAB are arrays of one entry."""
        flat = self.read(memory_limit).ravel()
        if flat.dtype == object:
            found = [entry.item() if isinstance(entry, np.ndarray) and entry.size == 1 else entry for entry in flat]
            words = [entry.decode("utf-8", "replace") if isinstance(entry, bytes) else str(entry) for entry in found]
            return text_array(words, f"{self.path}, array {self.name!r},", memory_limit)
        if flat.dtype.kind == "T":
            return text_array(flat.tolist(), f"{self.path}, array {self.name!r},", memory_limit)
        return np.char.decode(flat, "utf-8", "replace") if flat.dtype.kind == "S" else flat


def check_safe(refusal: str | None, where: str) -> None:
    """Refuse an array whose values must not be read."""
    if refusal is not None:
        raise UnreadableError(f"{where} {refusal}, which is never read: store plain numbers or text.")


def text_array(words: Sequence[str], where: str, memory_limit: int) -> NDArray[np.str_]:
    """Text (n,) as an array, in which the longest entry decides how much memory each of them takes."""
    longest = max(map(len, words), default=0)
    if 4 * longest * len(words) > memory_limit // HELD_SHARE:
        raise UnreadableError(
            f"{where} holds {len(words)} entries of up to {longest} characters, which do not fit into half of "
            f"memory_limit={memory_limit / 1e9:.3g}GB: shorten them."
        )
    return np.asarray(words, dtype=np.str_)


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
        refused = next((array for array in arrays.values() if array.refusal is not None), None)
        if refused is not None:
            check_safe(refused.refusal, f"{path}, array {refused.name!r},")
        raise UnreadableError(f"{path} has no array of rows and columns: {has}.")
    raise UnreadableError(f"{path} has several arrays: name the one that holds the rows with key=...; {has}.")
