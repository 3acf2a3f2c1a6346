"""Rows in MATLAB files (.mat), of version 7.3 (which is HDF5) and of earlier ones."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from subspaces.rows.formats import hdf5
from subspaces.rows.formats.keyed import NamedArray, choose_array
from subspaces.rows.formats.stored import HeldTable, OpenOptions
from subspaces.rows.reading import check_file, reading


def open_table(path: Path, options: OpenOptions) -> HeldTable:
    """The matrix `options.key` of a MATLAB file, or the only one that can be rows."""
    arrays = arrays_in(path)
    chosen = arrays[choose_array(path, arrays, options.key)]
    table = HeldTable(path, chosen.shape, chosen.read, options.memory_limit)
    table.arrays_in = arrays_in
    return table


def arrays_in(path: Path) -> dict[str, NamedArray]:
    """The matrices of a file by name."""
    from scipy.io import whosmat

    check_file(path)
    with path.open("rb") as stream:
        start = stream.read(128)
    if start.startswith((b"MATLAB 7.3", b"\x89HDF")):
        # MATLAB stores columns one after another, so its HDF5 files hold the transpose.
        return {
            name: NamedArray(array.shape[::-1], array.kind, partial(_transposed, array))
            for name, array in hdf5.arrays_in(path).items()
            if not name.startswith("#")
        }
    with reading(path, "MATLAB"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        listed = whosmat(path)
    return {name: NamedArray(tuple(shape), kind, partial(_read, path, name)) for name, shape, kind in listed}


def _read(path: Path, name: str) -> NDArray[Any]:
    from scipy.io import loadmat

    with reading(path, "MATLAB"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = loadmat(path, variable_names=[name])[name]
    return found.toarray() if hasattr(found, "toarray") else found


def _transposed(array: NamedArray) -> NDArray[Any]:
    return array.read().T
