"""Files of real data: where they are, whether they are whole, and how to get those that are missing."""

from __future__ import annotations

import gzip
import hashlib
import logging
import os
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from subspaces._core.errors import InputError

Bytes = NDArray[np.uint8]
Folder = str | os.PathLike[str] | None

FOLDER_VARIABLE = "SUBSPACES_DATA"
TIMEOUT_SECONDS = 60
PUT_AGAIN = "remove it, so that it can be downloaded or put there again."

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """What an array of bytes must be."""

    shape: tuple[int, ...]
    sha256: str  # of its bytes in row-major order


@dataclass(frozen=True, slots=True)
class Archive:
    """A .npz file of uint8 arrays."""

    file_name: str
    what: str
    arrays: Mapping[str, ArraySpec]
    download: Callable[[], dict[str, Bytes]] | None  # None where no public file is known to hold them


def read_arrays(archive: Archive, names: Sequence[str], *, data_home: Folder, download: bool) -> list[Bytes]:
    """The named arrays, checked, from the data folder; downloaded into it first if the file is not there."""
    path = data_folder(data_home) / archive.file_name
    if not path.exists():
        if not download or archive.download is None:
            raise FileNotFoundError(_how_to_provide(archive, path))
        _save(path, _downloaded(archive, archive.download, path))
    arrays = _load(path, names)
    for name in names:
        _check_array(arrays[name], archive, name, source=str(path), remedy=PUT_AGAIN)
    return [arrays[name] for name in names]


def data_folder(data_home: Folder = None) -> Path:
    """The folder of the data files: `data_home`, else the environment's, else the user's cache."""
    chosen = data_home if data_home is not None else os.environ.get(FOLDER_VARIABLE)
    return Path(chosen).expanduser() if chosen else _cache_folder()


def _cache_folder() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(local) / "subspaces" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "subspaces"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "subspaces"


def _load(path: Path, names: Sequence[str]) -> dict[str, Bytes]:
    try:
        with path.open("rb") as stream, np.lib.npyio.NpzFile(stream, allow_pickle=False) as stored:
            return {name: stored[name] for name in names}
    except KeyError as error:
        raise InputError(f"{path} lacks an array ({error.args[0]}): {PUT_AGAIN}") from error
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{path} is damaged or not a .npz file ({error}): {PUT_AGAIN}") from error


def _check_array(array: Bytes, archive: Archive, name: str, *, source: str, remedy: str) -> None:
    expected = archive.arrays[name]
    if array.dtype != np.uint8 or array.shape != expected.shape:
        raise InputError(f"{source} has {name} of {array.dtype} {array.shape}, not of uint8 {expected.shape}: {remedy}")
    if hashlib.sha256(np.ascontiguousarray(array).data).hexdigest() == expected.sha256:
        return
    if archive.download is not None:
        raise InputError(f"{source} holds other values in {name} than {archive.what}: {remedy}")
    # Files that people must make themselves cannot be held to the last byte.
    warnings.warn(
        f"{source} holds other values in {name} than the file that published results come from: "
        "expect other numbers, or compare how the images were cropped and scaled.",
        stacklevel=4,
    )


def _how_to_provide(archive: Archive, path: Path) -> str:
    contents = ", ".join(f"{name} {spec.shape}" for name, spec in archive.arrays.items())
    reason = "no public file is known to hold these very arrays" if archive.download is None else "downloads are off"
    return (
        f"{path} is missing, and {reason}: put {archive.what} there as a .npz file of the uint8 arrays "
        f"{contents}, or set {FOLDER_VARIABLE} or data_home to the folder that has {archive.file_name}."
    )


def _downloaded(archive: Archive, download: Callable[[], dict[str, Bytes]], path: Path) -> dict[str, Bytes]:
    elsewhere = f"set {FOLDER_VARIABLE} or data_home to a folder that has {archive.file_name}."
    logger.info("downloading %s to %s", archive.what, path)
    try:
        arrays = download()
    except OSError as error:
        raise ConnectionError(
            f"{path} is missing and could not be downloaded ({error}): connect to the network, or {elsewhere}"
        ) from error
    source = f"what was downloaded for {path.name}"
    for name in archive.arrays:
        _check_array(arrays[name], archive, name, source=source, remedy=f"try again later, or {elsewhere}")
    return arrays


def _save(path: Path, arrays: Mapping[str, Bytes]) -> None:
    """Write a .npz file that is there in full or not at all."""
    partial = path.with_name(f"{path.name}.{uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("xb") as stream:
                np.savez_compressed(stream, allow_pickle=False, **arrays)
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(
            f"{path} cannot be written ({error}): set {FOLDER_VARIABLE} or data_home to a folder that can."
        ) from error


def fetch(addresses: Sequence[str]) -> bytes:
    """The bytes at the first of the `addresses` that answers; OSError with the last reason if none does."""
    from http.client import HTTPException
    from urllib.request import Request, urlopen

    failure: Exception = OSError("no address to fetch from")
    for address in addresses:
        try:
            request = Request(address, headers={"User-Agent": "subspaces"})
            with urlopen(request, timeout=TIMEOUT_SECONDS) as reply:
                contents: bytes = reply.read()
                return contents
        except (OSError, HTTPException) as error:
            logger.info("%s: %s", address, error)
            failure = error
    raise ConnectionError(f"{addresses[-1]}: {failure}") from failure


def parse_idx(contents: bytes, *, source: str) -> Bytes:
    """The array of bytes in a gzipped IDX file; `source` names the file if it is not one."""
    try:
        raw = gzip.decompress(contents)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{source} is not a whole gzip file ({error}): download it again.") from error
    # Two zero bytes, the type (8: unsigned bytes), the number of axes, then each length in four bytes.
    n_axes = raw[3] if raw[:3] == b"\0\0\x08" and len(raw) > 3 else 0
    start = 4 + 4 * n_axes
    shape = tuple(int.from_bytes(raw[i : i + 4], "big") for i in range(4, start, 4))
    if not n_axes or len(raw) - start != np.prod(shape, dtype=np.int64):
        raise InputError(f"{source} is not a whole IDX file of bytes: download it again.")
    return np.frombuffer(raw, dtype=np.uint8, offset=start).reshape(shape)


def parse_pen_digits(contents: bytes, *, source: str) -> tuple[Bytes, Bytes]:
    """Features (n, 16) and digits (n,) from the comma-separated text of the UCI repository."""
    try:
        lines = contents.decode("ascii").split("\n")
        table = np.array([line.split(",") for line in lines if line.strip()], dtype=np.int64)
    except ValueError as error:
        raise InputError(f"{source} is not a table of whole numbers ({error}): download it again.") from error
    if table.ndim != 2 or table.shape[1] != 17 or table.min() < 0 or table.max() > 100:
        raise InputError(f"{source} is not a table of 16 features and a digit: download it again.")
    return table[:, :16].astype(np.uint8), table[:, 16].astype(np.uint8)
