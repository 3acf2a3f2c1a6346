"""Rows in .npz files, which hold several NumPy arrays."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from numpy.typing import NDArray

from subspaces.rows.formats import npy
from subspaces.rows.formats.base import HeldTable, OpenOptions, open_held
from subspaces.rows.formats.keyed import NamedArray
from subspaces.rows.formats.packed import open_member
from subspaces.rows.reading import UnreadableError, check_file, reading

# Exceptions for damaged and encrypted archives.
ERRORS = (*npy.ERRORS, zipfile.BadZipFile, zlib.error, KeyError, RuntimeError)
SUFFIX = ".npy"
MOST_ARRAYS = 10_000


def open_table(path: Path, options: OpenOptions) -> HeldTable:
    """The array `options.key` of an .npz file, or the only one that can be rows."""
    return open_held(path, options, arrays_in)


def arrays_in(path: Path) -> dict[str, NamedArray]:
    """The arrays of a file by name."""
    check_file(path)
    found = {}
    with reading(path, "NPZ", *ERRORS), zipfile.ZipFile(path) as archive:
        members = [member for member in archive.namelist() if member.endswith(SUFFIX)]
        if len(members) > MOST_ARRAYS:
            raise UnreadableError(f"{path} holds {len(members)} arrays: store at most {MOST_ARRAYS} in one file.")
        for member in members:
            with open_member(archive, member, path) as stream:
                header = npy.read_header(stream, path)
            name = member.removesuffix(SUFFIX)
            load = partial(_load, path, member, header)
            found[name] = NamedArray(path, name, header.shape, str(header.dtype), header.n_bytes, load, header.refusal)
    return found


def _load(path: Path, member: str, header: npy.Header, most: int) -> NDArray[Any]:
    with reading(path, "NPZ", *ERRORS), _member(path, member) as stream:
        if npy.read_header(stream, path) != header:
            raise UnreadableError(f"{path} has changed since it was opened: open it again.")
        return npy.read_values(stream, header)


@contextmanager
def _member(path: Path, member: str) -> Iterator[BinaryIO]:
    with zipfile.ZipFile(path) as archive, open_member(archive, member, path) as stream:
        yield stream
