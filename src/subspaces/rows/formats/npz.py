"""Rows in .npz files, which hold several NumPy arrays."""

from __future__ import annotations

import zipfile
import zlib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces.rows.formats import npy
from subspaces.rows.formats.base import HeldTable, OpenOptions, open_held
from subspaces.rows.formats.keyed import NamedArray
from subspaces.rows.reading import check_file, reading

# Exceptions for damaged and encrypted archives, and for arrays of objects.
ERRORS = (*npy.ERRORS, zipfile.BadZipFile, zlib.error, KeyError, RuntimeError)


def open_table(path: Path, options: OpenOptions) -> HeldTable:
    """The array `options.key` of an .npz file, or the only one that can be rows."""
    return open_held(path, options, arrays_in)


def arrays_in(path: Path) -> dict[str, NamedArray]:
    """The arrays of a file by name."""
    check_file(path)
    headers = {}
    with reading(path, "NPZ", *ERRORS), zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            if member.endswith(".npy"):
                with archive.open(member) as stream:
                    version = np.lib.format.read_magic(stream)
                    headers[member.removesuffix(".npy")] = npy.HEADERS.get(version, npy.HEADERS[2, 0])(stream)
    return {
        name: NamedArray(shape, "object" if dtype.hasobject else str(dtype), partial(_read, path, name))
        for name, (shape, _, dtype) in headers.items()
    }


def _read(path: Path, name: str) -> NDArray[Any]:
    with reading(path, "NPZ", *ERRORS), np.load(path, allow_pickle=False) as archive:
        return archive[name]
