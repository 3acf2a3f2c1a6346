"""One JSON document and numbered arrays in one zip file, without compression and without pickle.

A file is no larger in memory than on the disk: members are stored as they are, and the size that the header of an array
tells must be that of its member.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.errors import InputError
from subspaces.saving._codec import ARRAY_KINDS, Damaged

DOCUMENT = "model.json"
MAX_DOCUMENT_BYTES = 64 * 2**20
CHUNK_BYTES = 2**24
# The earliest that zip files know: the same model gives the same bytes.
DATE = (1980, 1, 1, 0, 0, 0)
MAGIC = b"\x93NUMPY\x01\x00"
# What NumPy writes, and nothing that would have to be evaluated.
HEADER = re.compile(
    rb"\{'descr': '([<>|][" + ARRAY_KINDS.encode() + rb"]\d{1,2})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,18}, ?)*(?:\d{1,18})?)\), \} *\n"
)
# What `zipfile` raises for files that are damaged.
BROKEN = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    ValueError,
    LookupError,
    OverflowError,
    struct.error,
    zlib.error,
)


def member_of(number: int) -> str:
    """The name of an array in the file."""
    return f"arrays/{number}.npy"


def write_archive(stream: IO[bytes], document: dict[str, Any], arrays: Sequence[NDArray[Any]]) -> None:
    """Write both; arrays go out in pieces."""
    text = json.dumps(document, indent=1, allow_nan=False).encode()
    if len(text) > MAX_DOCUMENT_BYTES:
        raise InputError(
            f"the model holds {len(text) >> 20} MiB of values that are not in arrays, and {MAX_DOCUMENT_BYTES >> 20} "
            "can be saved: give parameters as NumPy arrays, not as lists."
        )
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(DOCUMENT, DATE), text)
        for number, array in enumerate(arrays):
            with archive.open(zipfile.ZipInfo(member_of(number), DATE), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


def read_archive(stream: IO[bytes]) -> tuple[Any, list[NDArray[Any]]]:
    """The document and the arrays; `Damaged` says what is wrong with a file that has none."""
    try:
        with zipfile.ZipFile(stream) as archive:
            members = _members(archive, os.fstat(stream.fileno()).st_size)
            document = _document(archive, members[DOCUMENT])
            arrays = [_array(archive, members[member_of(number)]) for number in range(len(members) - 1)]
    except Damaged:
        raise
    except BROKEN as error:
        raise Damaged(f"it is no zip file, or a damaged one ({error})") from None
    except OSError as error:
        # A place before the beginning of the file; other errors are those of the disk.
        if error.errno != errno.EINVAL:
            raise
        raise Damaged(f"it is a damaged zip file ({error})") from None
    return document, arrays


def _members(archive: zipfile.ZipFile, file_size: int) -> dict[str, zipfile.ZipInfo]:
    """What is in the file, by name: the document, and arrays numbered without gaps."""
    found = archive.infolist()
    names = [info.filename for info in found]
    if DOCUMENT not in names:
        raise Damaged(f"it has no {DOCUMENT}")
    expected = {DOCUMENT, *(member_of(number) for number in range(len(names) - 1))}
    strange = sorted(set(names) - expected)
    if strange:
        raise Damaged(f"its member {strange[0]!r:.80} is none of a saved model, or an array before it is missing")
    if len(set(names)) < len(names):
        raise Damaged("it has two members of the same name")
    for info in found:
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size or info.flag_bits & 1:
            raise Damaged(f"its member {info.filename} is compressed or encrypted, and none of ours is")
    if sum(info.file_size for info in found) > file_size:
        raise Damaged("its members tell of more bytes than it has")
    return {info.filename: info for info in found}


def _document(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    if info.file_size > MAX_DOCUMENT_BYTES:
        raise Damaged(f"its {DOCUMENT} takes {info.file_size >> 20} MiB, more than {MAX_DOCUMENT_BYTES >> 20}")
    text = archive.read(info)
    try:
        return json.loads(text.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise Damaged(f"its {DOCUMENT} is nested too deep") from None
    except Damaged:
        raise
    except ValueError as error:
        raise Damaged(f"its {DOCUMENT} is no JSON ({error!s:.200})") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Damaged(f"its {DOCUMENT} names something twice")
    return found


def _no_constant(name: str) -> None:
    raise Damaged(f"its {DOCUMENT} holds {name}, which is no JSON")


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(info) as member:
        start = member.read(len(MAGIC) + 2)
        if start[: len(MAGIC)] != MAGIC or len(start) < len(MAGIC) + 2:
            raise Damaged(f"its member {info.filename} is no array of NumPy's format 1.0")
        header = member.read(int.from_bytes(start[len(MAGIC) :], "little"))
        described = HEADER.fullmatch(header)
        if described is None:
            raise Damaged(f"its member {info.filename} is no array of numbers: {header[:80]!r}")
        dtype, order, shape = _described(described, info.filename)
        room = info.file_size - len(start) - len(header)
        if math.prod(shape) * dtype.itemsize != room:
            raise Damaged(f"its member {info.filename} has {room} bytes for shape {shape} of {dtype}")
        values = np.empty(room // dtype.itemsize, dtype)
        content = values.view(np.uint8)
        done = 0
        while part := member.read(CHUNK_BYTES):
            content[done : done + len(part)] = np.frombuffer(part, np.uint8)
            done += len(part)
    if done != room:
        raise Damaged(f"its member {info.filename} ends after {done} of {room} bytes")
    return values.reshape(shape, order=order)


def _described(header: re.Match[bytes], name: str) -> tuple[np.dtype[Any], Any, tuple[int, ...]]:
    """What the header of an array says: dtype, order and shape."""
    descr, fortran, shape = header.groups()
    try:
        dtype = np.dtype(descr.decode())
    except TypeError:
        raise Damaged(f"its member {name} is an array of unknown type {descr.decode()}") from None
    if not dtype.itemsize:
        raise Damaged(f"its member {name} is an array of {dtype}, which takes no room")
    return dtype, "F" if fortran == b"True" else "C", tuple(int(size) for size in shape.split(b",") if size.strip())
