"""The elements of a MATLAB file of version 5: whether they are what they claim, before SciPy reads them.

SciPy takes memory by the sizes that a file claims, at every level of nested cells, and unpacks an element whole. It
looks up types of elements in a table without asking whether they are in it, which can end the process.
The format: a header of 128 bytes, then elements with a tag of type and length; a packed element holds one other.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Literal

from subspaces.rows.reading import UnreadableError

# The flags of a matrix take as many bytes whatever length they claim: SciPy does not read it.
HEADER_BYTES, TAG_BYTES, FLAG_BYTES = 128, 8, 16
MATRIX, PACKED = 14, 15
# Types of elements inside a matrix: numbers, other matrices and text.
TYPES = {*range(1, 8), 9, 12, 13, MATRIX, 16, 17, 18}
# Classes of matrices, from cells to objects.
CLASSES = range(1, 18)
SPARSE = 5
DEPTH = 10
# Enough for the name of a variable.
START_BYTES = 2**12
Order = Literal["little", "big"]


def check(path: Path, name: str, most: int) -> None:
    """Refuse the variable `name` if it unpacks to more than `most` bytes, or claims more entries than it has bytes."""
    with path.open("rb") as file:
        header = file.read(HEADER_BYTES)
        if 0 in header[:4]:
            # Version 4, which is not packed: the claimed shape is all there is to check.
            return
        order: Order = "little" if header[126:128] == b"IM" else "big"
        size, found = path.stat().st_size, False
        while file.tell() + TAG_BYTES <= size:
            kind, length = _tag(file.read(TAG_BYTES), order)
            start = file.tell()
            if length > size - start:
                raise UnreadableError(f"{path} is cut short: write it again.")
            if kind in (MATRIX, PACKED) and _is_named(_content(file, kind, length, START_BYTES), name, order):
                file.seek(start)
                content = _content(file, kind, length, most + 1)
                if len(content) > most:
                    raise UnreadableError(
                        f"{path}, array {name!r}, unpacks to more than memory_limit allows: raise it."
                    )
                _check_matrix(memoryview(content), order, f"{path}, array {name!r},")
                found = True
            file.seek(start + length)
        if not found:
            raise UnreadableError(f"{path}, array {name!r}, is damaged: write it again.")


def _content(file: BinaryIO, kind: int, length: int, most: int) -> bytes:
    """The first bytes of a matrix, up to `most`, without its tag."""
    if kind == MATRIX:
        return file.read(min(length, most))
    return zlib.decompressobj().decompress(file.read(length), most + TAG_BYTES)[TAG_BYTES:]


def _is_named(content: bytes, name: str, order: Order) -> bool:
    parts = [part for _, part in _parts(memoryview(content)[FLAG_BYTES:], order, 2)]
    return len(parts) == 2 and bytes(parts[1]) == name.encode("latin-1", "replace")


def _check_matrix(content: memoryview, order: Order, where: str, depth: int = 0) -> None:
    """Refuse a matrix of unknown class or types, of more entries than bytes, or of cells that are nested too deep."""
    if not content:
        # An empty matrix inside a cell.
        return
    parts = list(_parts(content[FLAG_BYTES:], order))
    if len(parts) < 2:
        raise UnreadableError(f"{where} is cut short: write it again.")
    kind = content[TAG_BYTES if order == "little" else TAG_BYTES + 3]
    if kind not in CLASSES:
        raise UnreadableError(f"{where} has a matrix of class {kind}, which does not exist: write it again.")
    sizes = parts[0][1]
    shape = [int.from_bytes(sizes[i : i + 4], order, signed=True) for i in range(0, len(sizes), 4)]
    if min(shape, default=0) < 0 or (kind != SPARSE and math.prod(shape) > len(content)) or depth > DEPTH:
        raise UnreadableError(f"{where} claims the shape {tuple(shape)} in {len(content)} bytes: write it again.")
    for inner, part in parts:
        if inner not in TYPES:
            raise UnreadableError(f"{where} has an element of type {inner}, which does not exist: write it again.")
        if inner == MATRIX:
            _check_matrix(part, order, where, depth + 1)


def _parts(content: memoryview, order: Order, most: int | None = None) -> Iterator[tuple[int, memoryview]]:
    """The elements inside a matrix; short ones have their content in the tag."""
    at = count = 0
    while at + TAG_BYTES <= len(content) and (most is None or count < most):
        tag = content[at : at + TAG_BYTES]
        kind, length = _tag(tag, order)
        if kind >> 16:
            yield kind & 0xFFFF, tag[4 : 4 + min(4, kind >> 16)]
            at += TAG_BYTES
        else:
            yield kind, content[at + TAG_BYTES : at + TAG_BYTES + length]
            at += TAG_BYTES + -(-length // 8) * 8
        count += 1


def _tag(tag: bytes | memoryview, order: Order) -> tuple[int, int]:
    return int.from_bytes(tag[:4], order), int.from_bytes(tag[4:8], order)
