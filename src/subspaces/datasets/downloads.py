"""Files from the network, by pooch, and parsers of the formats they come in."""

from __future__ import annotations

import gzip
import logging
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from subspaces._core.errors import InputError, MissingPackageError
from subspaces.datasets.archives import Bytes

TIMEOUT_SECONDS = 60


def fetch(addresses: Sequence[str], *, known_hash: str | None = None) -> bytes:
    """Download from the first of the `addresses` that answers with a file of the `known_hash`, if one is given.

    ConnectionError with the reason of the last address if none does.
    """
    try:
        import pooch
    except ImportError:
        raise MissingPackageError(
            "Downloading data needs pooch: pip install 'subspaces[data]', or set SUBSPACES_DATA to a folder that has "
            "the file."
        ) from None
    downloader = pooch.HTTPDownloader(timeout=TIMEOUT_SECONDS, headers={"User-Agent": "subspaces"})
    # Without a hash to compare, pooch prints one to copy into the code.
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)
    failure: Exception = OSError("there is no address to download from")
    try:
        with tempfile.TemporaryDirectory() as folder:
            for address in addresses:
                try:
                    return Path(pooch.retrieve(address, known_hash, path=folder, downloader=downloader)).read_bytes()
                except (OSError, ValueError) as error:
                    failure = error
    finally:
        logger.setLevel(level)
    raise ConnectionError(f"{addresses[-1]}: {failure}") from failure


def parse_idx(contents: bytes, *, source: str) -> Bytes:
    """The array in a gzipped IDX file of bytes; errors name the file `source`."""
    try:
        raw = gzip.decompress(contents)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{source} is not a complete gzip file ({error}): download it again.") from error
    # Two zero bytes, the type (8: unsigned bytes), the number of axes, then each length in four bytes.
    n_axes = raw[3] if raw[:3] == b"\0\0\x08" and len(raw) > 3 else 0
    start = 4 + 4 * n_axes
    shape = tuple(int.from_bytes(raw[i : i + 4], "big") for i in range(4, start, 4))
    if not n_axes or len(raw) - start != np.prod(shape, dtype=np.int64):
        raise InputError(f"{source} is not a complete IDX file of bytes: download it again.")
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
