"""Rows in MATLAB files (.mat), of version 7.3 (which is HDF5) and of earlier ones."""

from __future__ import annotations

import warnings
import zlib
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from scipy.io.matlab import MatReadError

from subspaces.rows.formats import hdf5
from subspaces.rows.formats.base import HeldTable, OpenOptions, open_held
from subspaces.rows.formats.keyed import NamedArray
from subspaces.rows.reading import check_file, reading

# Exceptions of scipy.io for damaged files.
ERRORS = (AttributeError, IndexError, KeyError, MatReadError, NotImplementedError, TypeError, ValueError, zlib.error)


def open_table(path: Path, options: OpenOptions) -> HeldTable:
    """The matrix `options.key` of a MATLAB file, or the only one that can be rows."""
    return open_held(path, options, arrays_in)


def arrays_in(path: Path) -> dict[str, NamedArray]:
    """The matrices of a file by name."""
    from scipy.io import whosmat

    check_file(path)
    with reading(path, "MATLAB"), path.open("rb") as stream:
        start = stream.read(128)
    if start.startswith((b"MATLAB 7.3", b"\x89HDF")):
        # MATLAB stores columns one after another, so its HDF5 files hold the transpose.
        return {
            name: NamedArray(array.shape[::-1], array.kind, partial(_transposed, array))
            for name, array in hdf5.arrays_in(path).items()
            if not name.startswith("#")
        }
    with reading(path, "MATLAB", *ERRORS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        listed = whosmat(path)
    return {name: NamedArray(tuple(shape), kind, partial(_read, path, name)) for name, shape, kind in listed}


def _read(path: Path, name: str) -> NDArray[Any]:
    from scipy.io import loadmat

    with reading(path, "MATLAB", *ERRORS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = loadmat(path, variable_names=[name])[name]
    return found.toarray() if hasattr(found, "toarray") else found


def _transposed(array: NamedArray) -> NDArray[Any]:
    return array.read().T
