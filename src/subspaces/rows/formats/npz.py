"""Rows in .npz files, which hold several NumPy arrays."""

from __future__ import annotations

import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces.rows.formats.keyed import NamedArray, choose_array
from subspaces.rows.formats.npy import HEADERS
from subspaces.rows.formats.stored import HeldTable, OpenOptions
from subspaces.rows.reading import check_file, reading


def open_table(path: Path, options: OpenOptions) -> HeldTable:
    """The array `options.key` of an .npz file, or the only one that can be rows."""
    arrays = arrays_in(path)
    chosen = arrays[choose_array(path, arrays, options.key)]
    table = HeldTable(path, chosen.shape, chosen.read, options.memory_limit)
    table.arrays_in = arrays_in
    return table


def arrays_in(path: Path) -> dict[str, NamedArray]:
    """The arrays of a file by name."""
    check_file(path)
    found = {}
    with reading(path, "NPZ"), zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            if not member.endswith(".npy"):
                continue
            with archive.open(member) as stream:
                version = np.lib.format.read_magic(stream)
                shape, _, dtype = HEADERS.get(version, HEADERS[2, 0])(stream)
            name = member.removesuffix(".npy")
            found[name] = NamedArray(shape, "object" if dtype.hasobject else str(dtype), partial(_read, path, name))
    return found


def _read(path: Path, name: str) -> NDArray[Any]:
    with reading(path, "NPZ"), np.load(path, allow_pickle=False) as archive:
        return archive[name]
