"""The data folder and the .npz files in it: where they are, whether they are intact, how to write them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.callers import warn_caller
from subspaces._core.errors import InputError, UserFileError
from subspaces._core.files import new_file
from subspaces._core.progress import note

Bytes = NDArray[np.uint8]
Folder = str | os.PathLike[str] | None

FOLDER_VARIABLE = "SUBSPACES_DATA"
REPLACE = "remove it and download it or put it there again."


class MissingDataError(UserFileError, FileNotFoundError):
    """A data file that is not in the data folder."""


class DownloadError(UserFileError, ConnectionError):
    """A data file that could not be downloaded."""


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """Expected shape and content of an array of bytes."""

    shape: tuple[int, ...]
    sha256: str  # of its bytes in row-major order


@dataclass(frozen=True, slots=True)
class Archive:
    """A .npz file of uint8 arrays."""

    file_name: str
    what: str
    arrays: Mapping[str, ArraySpec]
    download: Callable[[], dict[str, Bytes]] | None  # None if no public file is known to hold them


def read_arrays(archive: Archive, names: Sequence[str], *, data_home: Folder, download: bool) -> list[Bytes]:
    """Read and check the named arrays of the data folder; download the file first if it is missing."""
    path = data_folder(data_home) / archive.file_name
    if not path.exists():
        if not download or archive.download is None:
            raise MissingDataError(_how_to_provide(archive, path))
        _save(path, _downloaded(archive, archive.download, path))
    arrays = load_npz(path, names)
    for name in names:
        _check_array(arrays[name], archive, name, source=str(path), remedy=REPLACE)
    return [arrays[name] for name in names]


def data_folder(data_home: Folder = None) -> Path:
    """Folder of the data files: `data_home`, else SUBSPACES_DATA, else the cache folder of the user."""
    chosen = data_home if data_home is not None else os.environ.get(FOLDER_VARIABLE)
    return Path(chosen).expanduser() if chosen else _cache_folder()


def _cache_folder() -> Path:
    # As pooch.os_cache, which is optional: data files can be read without it.
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(local) / "subspaces" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "subspaces"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "subspaces"


def npz_names(path: Path) -> list[str]:
    """Names of the arrays in a .npz file."""
    with _opened(path) as stored:
        return list(stored.files)


def load_npz(path: Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The named arrays of a .npz file; pickled objects are refused."""
    with _opened(path) as stored:
        return {name: stored[name] for name in names}


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with path.open("rb") as stream, np.lib.npyio.NpzFile(stream, allow_pickle=False) as stored:
            yield stored
    except KeyError as error:
        raise InputError(f"{path} lacks an array ({error.args[0]}): {REPLACE}") from error
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{path} is damaged or not a .npz file ({error}): {REPLACE}") from error


def _check_array(array: Bytes, archive: Archive, name: str, *, source: str, remedy: str) -> None:
    expected = archive.arrays[name]
    if array.dtype != np.uint8 or array.shape != expected.shape:
        raise InputError(f"{source} has {name} of {array.dtype} {array.shape}, not of uint8 {expected.shape}: {remedy}")
    if hashlib.sha256(np.ascontiguousarray(array).data).hexdigest() == expected.sha256:
        return
    if archive.download is not None:
        raise InputError(f"{source} holds other values in {name} than {archive.what}: {remedy}")
    # Users make these files themselves, and cropping or scaling may differ in the last bits.
    warn_caller(
        f"{source} holds other values in {name} than the file that published results come from: "
        "expect other numbers, or compare how the images were cropped and scaled."
    )


def _how_to_provide(archive: Archive, path: Path) -> str:
    contents = ", ".join(f"{name} {spec.shape}" for name, spec in archive.arrays.items())
    reason = "no public file is known to hold these arrays" if archive.download is None else "downloads are off"
    return (
        f"{path} is missing, and {reason}: put {archive.what} there as a .npz file of the uint8 arrays "
        f"{contents}, or set {FOLDER_VARIABLE} or data_home to the folder that has {archive.file_name}."
    )


def _downloaded(archive: Archive, download: Callable[[], dict[str, Bytes]], path: Path) -> dict[str, Bytes]:
    elsewhere = f"set {FOLDER_VARIABLE} or data_home to a folder that has {archive.file_name}."
    note(f"downloading {archive.what} to {path}")
    try:
        arrays = download()
    except ConnectionError as error:
        raise DownloadError(
            f"{path} is missing and could not be downloaded ({error}): connect to the network, or {elsewhere}"
        ) from error
    source = f"what was downloaded for {path.name}"
    for name in archive.arrays:
        _check_array(arrays[name], archive, name, source=source, remedy=f"try again later, or {elsewhere}")
    return arrays


def _save(path: Path, arrays: Mapping[str, Bytes]) -> None:
    """Write a complete .npz file or none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_file(path) as stream:
            np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]  # no `allow_pickle` before NumPy 2.1
    except OSError as error:
        raise UserFileError(
            f"{path} cannot be written ({error}): set {FOLDER_VARIABLE} or data_home to a writable folder."
        ) from error
