"""How much packed data unpacks to, counted without holding it.

Libraries unpack a chunk of a file whole, however much it turns out to be. Some hundred bytes can stand for gigabytes.
"""

from __future__ import annotations

import bz2
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from subspaces.rows.reading import UnreadableError

# Bytes that are unpacked at once to count them.
PIECE = 2**16
# What unpacking with LZMA may take: the most that usual settings need is 65 MB.
LZMA_BYTES = 2**27
# The most by which zlib makes data smaller.
ZLIB_RATIO = 1032
# Methods of zip archives: LZMA is left out, which takes as much memory as the archive claims.
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)


def unpacks_within(packer: str, content: bytes, most: int) -> bool:
    """Whether data that a codec of Zarr or HDF5 packed can be unpacked, to at most this many bytes."""
    if packer in ("gzip", "zlib") and ZLIB_RATIO * len(content) <= most:
        return True
    count = 0
    try:
        for size in SIZES[packer](content):
            count += size
            if count > most:
                return False
    except (OSError, EOFError, ValueError, lzma.LZMAError):
        return False
    return True


def _zlib_sizes(content: bytes) -> Iterator[int]:
    machine, is_new = zlib.decompressobj(47), True
    for start in range(0, len(content), PIECE):
        part = content[start : start + PIECE]
        # Zeros may be between the parts of a gzip file.
        while part := part.lstrip(b"\0") if is_new else part:
            try:
                yield len(machine.decompress(part, PIECE))
            except zlib.error:
                # A checksum may follow; otherwise the library that unpacks it ends here, too.
                return
            part, is_new = machine.unconsumed_tail, machine.eof
            if machine.eof:
                part, machine = machine.unused_data, zlib.decompressobj(47)


def _stream_sizes(opened: Callable[[BinaryIO], BinaryIO]) -> Callable[[bytes], Iterator[int]]:
    def sizes(content: bytes) -> Iterator[int]:
        with opened(io.BytesIO(content)) as stream:
            while part := stream.read(PIECE):
                yield len(part)

    return sizes


def _zstd_sizes(content: bytes) -> Iterator[int]:
    import pyarrow as pa

    with pa.CompressedInputStream(pa.BufferReader(content), "zstd") as stream:
        while part := stream.read(PIECE):
            yield len(part)


def _claimed_size(start: int) -> Callable[[bytes], Iterator[int]]:
    """For formats that unpack to as many bytes as a number in their header says."""
    return lambda content: iter([int.from_bytes(content[start : start + 4], "little")])


class XzReader(io.RawIOBase):
    """The content of an .xz file, which is refused if unpacking it takes much memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._machine = file, lzma.LZMADecompressor(memlimit=LZMA_BYTES)

    def readable(self) -> bool:
        return True

    def readinto(self, out: memoryview) -> int:  # type: ignore[override]
        content = b""
        while not content:
            part = b""
            if self._machine.eof:
                # Another file may follow, after zeros.
                part = (self._machine.unused_data or self._file.read(PIECE)).lstrip(b"\0")
                if not part and not (part := self._file.read(PIECE).lstrip(b"\0")):
                    return 0
                self._machine = lzma.LZMADecompressor(memlimit=LZMA_BYTES)
            elif self._machine.needs_input and not (part := self._file.read(PIECE)):
                raise EOFError("it is cut short")
            content = self._machine.decompress(part, len(out))
        out[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self._file.close()
        super().close()


def open_xz(path: Path) -> BinaryIO:
    """The content of an .xz file."""
    return io.BufferedReader(XzReader(path.open("rb")))


def open_member(archive: zipfile.ZipFile, name: str, path: Path) -> BinaryIO:
    """A member of a zip archive, to be read in parts."""
    member = archive.getinfo(name)
    if member.compress_type not in ZIP_METHODS:
        raise UnreadableError(
            f"{path} is packed with method {member.compress_type} of zip, which is not read: pack it with deflate."
        )
    return archive.open(member)  # type: ignore[return-value]


# By the names of codecs in Zarr.
SIZES: dict[str, Callable[[bytes], Iterator[int]]] = {
    "zlib": _zlib_sizes,
    "gzip": _zlib_sizes,
    "bz2": _stream_sizes(bz2.BZ2File),  # type: ignore[arg-type]
    "lzma": _stream_sizes(lambda stream: io.BufferedReader(XzReader(stream))),
    "zstd": _zstd_sizes,
    "lz4": _claimed_size(0),
    "blosc": _claimed_size(4),
}
