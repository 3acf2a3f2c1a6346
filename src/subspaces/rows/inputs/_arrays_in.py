"""Files of several arrays under names: .npz, .mat, HDF5 and Zarr groups."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces.rows.sources._reading import UnreadableError, check_file, reading, require

MATLAB = ".mat"
NPZ = ".npz"
NO_NUMBERS = ("char", "cell", "struct", "function", "object", "opaque", "unknown")


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """An array in a file that holds several."""

    shape: tuple[int, ...]
    dtype: str  # of NumPy, or the class that MATLAB gives it
    read: Callable[[], NDArray[Any]]

    @property
    def is_table(self) -> bool:
        """Whether it can be rows: numbers in two dimensions or more."""
        return len(self.shape) >= 2 and self.dtype not in NO_NUMBERS and not self.dtype.startswith(("<U", ">U", "|S"))


def arrays_in(path: Path) -> dict[str, Stored]:
    """The arrays of a file by name, none of them read yet; empty for files of one array."""
    suffix = path.suffix.lower()
    if suffix == NPZ:
        return _npz(path)
    if suffix == MATLAB:
        return _mat(path)
    if path.is_dir():
        return _zarr(path)
    return _hdf5(path)


def _npz(path: Path) -> dict[str, Stored]:
    check_file(path)
    found = {}
    with reading(path, "NPZ"), zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            if not member.endswith(".npy"):
                continue
            with archive.open(member) as stream:
                version = np.lib.format.read_magic(stream)
                header = (
                    np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                )
                shape, _, dtype = header(stream)
            name = member.removesuffix(".npy")
            kind = "object" if dtype.hasobject else str(dtype)
            found[name] = Stored(shape, kind, lambda name=name: _read_npz(path, name))  # type: ignore[misc]
    return found


def _read_npz(path: Path, name: str) -> NDArray[Any]:
    with reading(path, "NPZ"), np.load(path, allow_pickle=False) as archive:
        return archive[name]


def _mat(path: Path) -> dict[str, Stored]:
    from scipy.io import whosmat

    check_file(path)
    with path.open("rb") as stream:
        start = stream.read(128)
    if start.startswith((b"MATLAB 7.3", b"\x89HDF")):
        return {name: _transposed(array) for name, array in _hdf5(path).items() if not name.startswith("#")}
    with reading(path, "MATLAB"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        listed = whosmat(path)
    return {
        name: Stored(tuple(shape), kind, lambda name=name: _read_mat(path, name))  # type: ignore[misc]
        for name, shape, kind in listed
    }


def _read_mat(path: Path, name: str) -> NDArray[Any]:
    from scipy.io import loadmat

    with reading(path, "MATLAB"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = loadmat(path, variable_names=[name])[name]
    return found.toarray() if hasattr(found, "toarray") else found


def _transposed(array: Stored) -> Stored:
    # MATLAB stores columns one after another, and its files of version 7.3 tell the shape the other way round.
    return Stored(array.shape[::-1], array.dtype, lambda: array.read().T)


def _hdf5(path: Path) -> dict[str, Stored]:
    check_file(path)
    h5py = require("h5py", path)
    found: dict[str, Stored] = {}

    def add(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            kind = "object" if item.dtype.kind == "V" else str(item.dtype)
            found[name] = Stored(tuple(item.shape or ()), kind, lambda: _read_hdf5(path, name))

    with reading(path, "HDF5"), h5py.File(path, "r") as file:
        file.visititems(add)
    return found


def _read_hdf5(path: Path, name: str) -> NDArray[Any]:
    with reading(path, "HDF5"), require("h5py", path).File(path, "r") as file:
        return np.asarray(file[name][()])


def _zarr(path: Path) -> dict[str, Stored]:
    zarr = require("zarr", path)
    with reading(path, "Zarr"):
        group = zarr.open(path, mode="r")
        if not isinstance(group, zarr.Group):
            return {}
        members = [(name, item) for name, item in group.members(max_depth=None) if isinstance(item, zarr.Array)]
        return {
            name: Stored(tuple(item.shape), str(item.dtype), lambda item=item: np.asarray(item[...]))  # type: ignore[misc]
            for name, item in members
        }


def choose_array(path: Path, arrays: dict[str, Stored], key: str | None) -> str:
    """The name of the array that holds the rows: `key`, or the only one that can."""
    tables = [name for name, array in arrays.items() if array.is_table and min(array.shape) > 1]
    # MATLAB stores vectors with two dimensions; where there is nothing else, one is a table of one column or row.
    tables = tables or [name for name, array in arrays.items() if array.is_table]
    shown = ", ".join(f"{name!r} {'x'.join(map(str, array.shape))}" for name, array in list(arrays.items())[:12])
    has = f"it has {shown}{', ...' if len(arrays) > 12 else ''}" if arrays else "it has no arrays at all"
    if key is not None:
        if key.strip("/") not in arrays:
            raise UnreadableError(f"{path} has no array {key!r} (key): {has}.")
        return key.strip("/")
    if len(tables) == 1:
        return tables[0]
    if not tables:
        raise UnreadableError(f"{path} has no array of rows and columns: {has}.")
    raise UnreadableError(f"{path} has several arrays: name the one with the rows by --key (key=...); {has}.")


def vector(path: Path, name: str, array: Stored, n_rows: int, what: str) -> NDArray[Any]:
    """An array of one entry a row, as names of rows or true classes."""
    # Of MATLAB's matrices of characters each row is one entry.
    entries = array.shape[0] if array.dtype == "char" else int(np.prod(array.shape))
    if entries != n_rows:
        raise UnreadableError(
            f"{path}, array {name!r} has {entries} entries for {n_rows} rows ({what}): name one with as many; "
            "if columns are the points, transpose the array of rows."
        )
    return _flat(array.read())


def _flat(values: NDArray[Any]) -> NDArray[Any]:
    """Entries (n,) of an array of any shape; cells of MATLAB are arrays of one entry."""
    flat = values.ravel()
    if flat.dtype == object:
        entries: Sequence[Any] = [
            entry.item() if isinstance(entry, np.ndarray) and entry.size == 1 else entry for entry in flat
        ]
        return np.asarray([entry.decode() if isinstance(entry, bytes) else str(entry) for entry in entries])
    return np.char.decode(flat, "utf-8", "replace") if flat.dtype.kind == "S" else flat
