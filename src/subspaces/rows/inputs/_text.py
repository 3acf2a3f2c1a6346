"""Files of text: what they are encoded in, and whether they are text at all."""

from __future__ import annotations

import codecs
import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from subspaces.rows.sources._reading import UnreadableError, check_file, reading

PIECE = 2**20
# A line longer than this share of the memory limit is no row that could be worked on.
LINE_SHARE = 16
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
GZIP = b"\x1f\x8b"
# How files begin that are often given the wrong name.
BINARY = {
    b"PK\x03\x04": "an Excel workbook or a zip archive",
    b"\xd0\xcf\x11\xe0": "an Excel workbook",
    b"PAR1": "a Parquet file",
    b"\x93NUMPY": "an .npy file",
    b"\x89HDF": "an HDF5 file",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"GIF8": "an image",
    b"%PDF": "a PDF document",
    b"MATLAB 5.0": "a .mat file",
    b"SQLite format": "a database",
}
REMEDY = "save it as text with one row a line (CSV)"


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file of text that was looked through: it can be decoded, and no line is too long."""

    path: Path
    encoding: str
    packed: bool  # by gzip

    @contextmanager
    def lines(self) -> Iterator[TextIO]:
        """The file open for reading; lines end as they do in the file."""
        with (
            reading(self.path, "text"),
            self.bytes() as stream,
            io.TextIOWrapper(stream, self.encoding, newline="") as text,
        ):
            yield text

    def bytes(self) -> Any:
        """The file open for reading as it is, but unpacked."""
        return gzip.open(self.path, "rb") if self.packed else self.path.open("rb")


def open_text(path: Path, memory_limit: int) -> TextFile:
    """The file `path` as text; what is no text is refused."""
    check_file(path)
    with path.open("rb") as stream:
        start = stream.read(32)
    packed = start.startswith(GZIP)
    if packed:
        with reading(path, "gzip"), gzip.open(path, "rb") as unpacked:
            start = unpacked.read(32)
    for mark, kind in BINARY.items():
        if start.startswith(mark):
            raise UnreadableError(f"{path} is {kind} and no text: {REMEDY}, or give it the ending of its kind.")
    encoding = next((name for mark, name in MARKS.items() if start.startswith(mark)), "utf-8")
    file = TextFile(path, encoding, packed)
    return file if _decodes(file, memory_limit) else TextFile(path, "latin-1", packed)


def _decodes(file: TextFile, memory_limit: int) -> bool:
    """Whether the encoding is that of the file; NUL bytes and endless lines are refused on the way."""
    decoder = codecs.getincrementaldecoder(file.encoding)()
    line, length, decodes = 1, 0, True
    with reading(file.path, "gzip" if file.packed else "text"), file.bytes() as stream:
        while piece := stream.read(PIECE):
            text = piece if file.encoding in ("utf-8", "utf-8-sig") else decoder.decode(piece).encode("utf-8")
            if b"\0" in text:
                at = line + text[: text.index(b"\0")].count(b"\n")
                raise UnreadableError(f"{file.path} holds a NUL byte in line {at}, so it is no plain text: {REMEDY}.")
            if decodes and text is piece:
                decodes = _decoded(decoder, piece)
            newlines = text.count(b"\n") or text.count(b"\r")
            last = max(text.rfind(b"\n"), text.rfind(b"\r"))
            length = length + len(text) if last < 0 else len(text) - last - 1
            line += newlines
            if length > memory_limit // LINE_SHARE:
                raise UnreadableError(
                    f"{file.path} has a line of more than {length / 1e6:.0f} MB (line {line}): end each row with a "
                    "newline, or raise the memory limit (--memory-limit)."
                )
    if file.encoding in ("utf-8", "utf-8-sig"):
        return decodes and _decoded(decoder, b"", final=True)
    return True


def _decoded(decoder: codecs.IncrementalDecoder, piece: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(piece, final)
    except UnicodeDecodeError:
        return False
    return True
