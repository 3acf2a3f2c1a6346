"""Rows in MATLAB files (.mat), of version 7.3 (which is HDF5) and of earlier ones."""

from __future__ import annotations

import math
import warnings
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io.matlab import MatReadError

from subspaces.rows.formats import hdf5, mat_elements
from subspaces.rows.formats.base import HeldTable, OpenOptions, open_held
from subspaces.rows.formats.keyed import NamedArray
from subspaces.rows.reading import check_file, reading

# Exceptions of scipy.io for damaged files.
ERRORS = (
    AttributeError,
    IndexError,
    KeyError,
    MatReadError,
    MemoryError,
    NotImplementedError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
    zlib.error,
)
# Classes of MATLAB that are read, besides numbers; cells may hold names.
READ = ("char", "cell", "logical", "sparse", "double", "single")
NUMBERS = ("int", "uint")


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
            name: replace(array, shape=array.shape[::-1], load=partial(_transposed, array.load))
            for name, array in hdf5.arrays_in(path).items()
            if not name.startswith("#")
        }
    with reading(path, "MATLAB", *ERRORS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        listed = whosmat(path)
    return {name: _named(path, name, tuple(shape), kind) for name, shape, kind in listed}


def _named(path: Path, name: str, shape: tuple[int, ...], kind: str) -> NamedArray:
    refusal = None if kind.startswith((*READ, *NUMBERS)) else f"is a MATLAB {kind}"
    # A sparse matrix becomes a full one.
    n_bytes = math.prod(map(int, shape)) * np.dtype(np.float64).itemsize
    return NamedArray(path, name, shape, kind, n_bytes, partial(_load, path, name), refusal)


def _load(path: Path, name: str, most: int) -> NDArray[Any]:
    from scipy.io import loadmat

    with reading(path, "MATLAB", *ERRORS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mat_elements.check(path, name, most)
        found = loadmat(path, variable_names=[name])[name]
    return found.toarray() if hasattr(found, "toarray") else found


def _transposed(load: Callable[[int], NDArray[Any]], most: int) -> NDArray[Any]:
    return load(most).T
