"""Rows in text tables: CSV, TSV and similar files, read by pyarrow.

pyarrow cuts the text into cells and converts them, block by block. It does not know lines, so if something is wrong the
file is read again with Python's `csv` module, slowly, to find the line. How pyarrow was chosen: docs/design.md.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from subspaces.rows.columns import first_places
from subspaces.rows.formats.base import ARROW_BYTES, Content, OpenOptions
from subspaces.rows.formats.cells import CellTable
from subspaces.rows.formats.dialect import Dialect, find_dialect, limited, rows_of
from subspaces.rows.formats.packed import open_member, open_xz
from subspaces.rows.memory import BLOCK_SHARE
from subspaces.rows.reading import UnreadableError, check_file, read_each, reading, require

SAMPLE_BYTES = 2**20
SAMPLE_LINES = 200
BLOCK_BYTES = 2**20
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Exceptions for damaged or encrypted archives, besides OSError and EOFError, and for text of another encoding.
ERRORS = (lzma.LZMAError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, UnicodeError)
GZIP = b"\x1f\x8b"
# First bytes of files that often have the wrong suffix.
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
REMEDY = "save it as text with one row per line (CSV)"


class TextTable(CellTable):
    """A text file of one row per line."""

    path: Path
    column_bytes = ARROW_BYTES

    def __init__(self, path: Path, dialect: Dialect, encoding: str, block_bytes: int) -> None:
        super().__init__()
        self.path, self._dialect, self._encoding, self._block_bytes = path, dialect, encoding, block_bytes
        self.names, self.n_columns = dialect.header.names, dialect.header.width
        self.row_shape = (self.n_columns,)
        self.index_columns = (0,) if dialect.header.has_index else ()
        self.decimal_comma = dialect.decimal_comma
        self.notes = self._notes()

    def survey(self, columns: Sequence[int], text: Sequence[int], room: int) -> list[Content]:
        try:
            return super().survey(columns, text, room)
        except _NotUtf8Error:
            self._encoding = "latin-1"
            self.notes = self._notes()
            return super().survey(columns, text, room)

    def place(self, row: int) -> str:
        for number, (line, _) in enumerate(self._records()):
            if number == row:
                return f"{self.path}, line {line}"
        return super().place(row)

    def chunks(self, columns: Sequence[int]) -> Iterator[list[Any]]:
        arrow_csv = require("pyarrow.csv", self.path)
        import pyarrow as pa

        unique = list(dict.fromkeys(columns))
        places = first_places(unique)
        space = self._dialect.delimiter == " "
        names = [str(column) for column in range(self.n_columns)]
        read = arrow_csv.ReadOptions(
            use_threads=False,
            block_size=self._block_bytes,
            skip_rows=0 if space else self._dialect.skip,
            column_names=names,
            encoding="utf8" if space or self._encoding in ("utf-8", "utf-8-sig") else self._encoding,
        )
        parse = arrow_csv.ParseOptions(
            delimiter=self._dialect.delimiter, newlines_in_values=True, invalid_row_handler=_skip_blank
        )
        convert = arrow_csv.ConvertOptions(
            include_columns=[str(column) for column in unique],
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=False,
        )
        with unpacked(self.path) as stream:
            source = _Lines(self._spaced(stream)) if space else stream
            batches = self._batches(lambda: arrow_csv.open_csv(source, read, parse, convert))
            for batch in read_each(batches, self.path, "text", *ERRORS):
                if batch.num_rows:
                    yield [batch.column(places[column]) for column in columns]

    def _batches(self, opened: Callable[[], Any]) -> Iterator[Any]:
        """Batches of pyarrow; an error names the line."""
        import pyarrow as pa

        try:
            with opened() as batches:
                yield from batches
        except pa.ArrowInvalid as error:
            self._explain(error)

    def _notes(self) -> tuple[str, ...]:
        notes = list(self._dialect.header.notes)
        if self._encoding == "latin-1":
            notes.append(f"{self.path.name} is not UTF-8 and was read as Latin-1: names may look odd")
        if self.decimal_comma:
            notes.append(f"{self.path.name}: commas in numbers were read as decimal points")
        return tuple(notes)

    def _spaced(self, stream: BinaryIO) -> Iterator[bytes]:
        """Lines below the header, in UTF-8, with single blanks between cells."""
        with io.TextIOWrapper(stream, self._encoding, newline="") as text:
            for line in islice(self._lines(text), self._dialect.skip, None):
                yield f"{' '.join(line.split())}\n".encode()

    def _lines(self, text: TextIO) -> Iterator[str]:
        """Lines of text, none of them longer than a block."""
        while line := text.readline(self._block_bytes):
            if len(line) == self._block_bytes:
                raise _long_line(self.path, self._block_bytes)
            yield line

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """The cells of each row and the line in which it begins; slow, and stricter than pyarrow."""
        with unpacked(self.path) as stream, io.TextIOWrapper(stream, self._encoding, newline="") as text:
            lines = read_each(self._lines(text), self.path, "text", *ERRORS)
            for _ in islice(lines, self._dialect.skip):
                pass
            reader = rows_of(lines, self._dialect.delimiter)
            while True:
                line = self._dialect.skip + reader.line_num + 1
                try:
                    row = next(reader, None)
                except csv.Error as error:
                    raise UnreadableError(f"{self.path}, line {line}: {_quote_problem(error)}.") from None
                if row is None:
                    return
                if row and (self.n_columns == 1 or any(cell.strip() for cell in row) or len(row) > 1):
                    yield line, row

    def _explain(self, error: Exception) -> None:
        """Raise the error of the line that pyarrow could not read."""
        if "UTF8" in str(error) and self._encoding == "utf-8":
            raise _NotUtf8Error(f"{self.path} is not UTF-8 text.") from None
        if "straddl" in str(error) or "block size" in str(error):
            raise _long_line(self.path, self._block_bytes) from None
        for line, row in self._records():
            if len(row) != self.n_columns:
                cells = f"{len(row)} cell{'s' * (len(row) != 1)}"
                raise UnreadableError(
                    f"{self.path}, line {line}: {cells} instead of {self.n_columns} (delimiter "
                    f"{self._dialect.delimiter_name}); correct the line, and quote cells that contain the delimiter."
                ) from None
        raise UnreadableError(f"{self.path} cannot be read as text: {error}.") from error


class _NotUtf8Error(UnreadableError):
    """A byte sequence after the first lines is not UTF-8."""


class _Lines(io.RawIOBase):
    """Lines as a file, for pyarrow."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines, self._rest = lines, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        parts, length = [self._rest], len(self._rest)
        while size < 0 or length < size:
            line = next(self._lines, None)
            if line is None:
                break
            parts.append(line)
            length += len(line)
        content = b"".join(parts)
        stop = len(content) if size < 0 else size
        self._rest = content[stop:]
        return content[:stop]


def open_table(path: Path, options: OpenOptions) -> TextTable:
    """The table in a text file; its dialect and encoding are found from its first lines."""
    check_file(path)
    most = options.memory_limit // BLOCK_SHARE
    with unpacked(path) as stream, reading(path, "text", *ERRORS):
        sample = stream.read(SAMPLE_BYTES)
        # A header and the row below it, however long they are.
        while sample and len(sample.splitlines()) <= 2 and len(sample) <= 2 * most:
            more = stream.read(SAMPLE_BYTES)
            if not more:
                break
            sample += more
        is_whole = not stream.read(1)
    longest = max(map(len, sample.splitlines()), default=0)
    if longest > most:
        raise _long_line(path, most)
    for mark, kind in BINARY.items():
        if sample.startswith(mark):
            raise UnreadableError(f"{path} is {kind}, not text: {REMEDY}, or give it the suffix of its format.")
    with reading(path, "text", UnicodeError):
        encoding, text = _decoded(sample, is_whole)
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise UnreadableError(f"{path} holds a NUL byte in line {line}, so it is not plain text: {REMEDY}.")
    lines = io.StringIO(text, newline="").readlines()
    if not is_whole and len(lines) > 1:
        # The sample may end within a line.
        lines.pop()
    dialect = find_dialect(path, list(limited(lines, SAMPLE_LINES, SAMPLE_BYTES)), options.count_from)
    return TextTable(path, dialect, encoding, min(most, max(BLOCK_BYTES, 16 * longest)))


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked if it is compressed."""
    with ExitStack() as opened:
        with reading(path, "text", *ERRORS):
            with path.open("rb") as raw:
                packed = raw.read(2) == GZIP
            suffix = path.suffix.lower()
            if suffix == ".zip":
                archive = opened.enter_context(zipfile.ZipFile(path))
                members = [name for name in archive.namelist() if not name.endswith("/")]
                if len(members) != 1:
                    raise UnreadableError(f"{path} holds {len(members)} files instead of one table: unpack it first.")
                stream: Any = open_member(archive, members[0], path)
            else:
                opener: Any = gzip.open if packed else {".bz2": bz2.open, ".xz": open_xz}.get(suffix)
                stream = path.open("rb") if opener is None else opener(path)
            opened.enter_context(stream)
        yield stream


def _decoded(sample: bytes, is_whole: bool) -> tuple[str, str]:
    """The encoding of a file and the text of its first bytes."""
    encoding = next((name for mark, name in MARKS.items() if sample.startswith(mark)), "utf-8")
    try:
        return encoding, codecs.getincrementaldecoder(encoding)().decode(sample, is_whole)
    except UnicodeDecodeError:
        if encoding != "utf-8":
            raise
        return "latin-1", sample.decode("latin-1")


def _skip_blank(row: Any) -> str:
    return "error" if row.text.strip() else "skip"


def _long_line(path: Path, size: int) -> UnreadableError:
    return UnreadableError(
        f"{path} has a line of more than {size / 1e6:.0f} MB: end each row with a newline, or raise memory_limit."
    )


def _quote_problem(error: csv.Error) -> str:
    if "field larger" in str(error) or "unexpected end" in str(error):
        return "a quoted cell that begins here does not end; correct the quotes of this row"
    return f"a cell is not quoted correctly ({error}); correct the quotes of this row"
