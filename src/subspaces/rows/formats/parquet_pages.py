"""The page headers of a Parquet file: how much memory its pages take, before pyarrow reads them.

A column is stored in pages, which are unpacked one at a time. pyarrow takes as much memory as the header of a page
claims before it looks at the page. Headers are structures of Thrift's compact protocol; what is needed of them is read
here, and the pages between them are skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from subspaces.rows.reading import UnreadableError

# Pages may take this share of the memory limit: blocks of rows are made beside them.
PAGES_SHARE = 3 / 4
# Headers are short, unless they hold the least and the largest value of a column of text.
HEADER_BYTES, MOST_HEADER_BYTES = 256, 2**24
# Values of a header that are read, and groups inside groups; headers have about twenty values, and three levels.
MOST_VALUES, DEPTH = 1000, 16
# Fields of a page header, and of the part that is special to a type of page.
TYPE, UNPACKED, PACKED, COUNT = 1, 2, 3, 1
DICTIONARY = 2
# The part of each type that holds the number of values.
PARTS = {0: 5, 3: 8}
# pyarrow reads this many bytes beyond the end of a column, because some writers left out the length of a header.
PADDING = 100
# Types of Thrift. True and false are types of their own in fields, and one byte in lists.
TRUE, FALSE, BYTE, SHORT, INTEGER, LONG, DOUBLE, TEXT, LIST, SET, MAP, STRUCT = range(1, 13)


class PageSizes:
    """Bytes that the pages of each column take; they are found once, as long as the file stays the same."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp: tuple[int, int] | None = None
        self._bytes: NDArray[np.int64] = np.zeros((0, 0), np.int64)

    def check(self, metadata: Any, groups: Iterable[int], leaves: Sequence[int], memory_limit: int) -> None:
        """Refuse row groups whose stored columns `leaves` have pages that do not fit into memory."""
        status = self.path.stat()
        if self._stamp != (status.st_size, status.st_mtime_ns):
            self._stamp = (status.st_size, status.st_mtime_ns)
            self._bytes = np.full((metadata.num_row_groups, metadata.num_columns), -1)
        with self.path.open("rb", buffering=0) as file:
            for group in groups:
                stored = metadata.row_group(group)
                if stored.num_columns != metadata.num_columns:
                    raise self._damaged("a part has another number of columns")
                for leaf in np.asarray(leaves)[self._bytes[group, leaves] < 0]:
                    self._bytes[group, leaf] = self._page_bytes(file, stored.column(int(leaf)), status.st_size)
                self._check_sum(int(self._bytes[group, leaves].sum()), memory_limit)

    def _page_bytes(self, file: BinaryIO, chunk: Any, file_bytes: int) -> int:
        """Bytes that a column of a row group takes while it is read: those of its dictionary and its largest page."""
        at, dictionary, largest, seen = _start(chunk), 0, 0, 0
        end, count = at + chunk.total_compressed_size + PADDING, chunk.num_values
        while 0 <= at < end and seen < count:
            header, length = self._header(file, at)
            kind, unpacked, packed = (header.numbers.get(field, -1) for field in (TYPE, UNPACKED, PACKED))
            at += length + packed
            if unpacked < 0 or packed < 0 or at > file_bytes:
                raise self._damaged("a page is longer than the file")
            if kind == DICTIONARY:
                dictionary = max(dictionary, unpacked)
            largest = max(largest, unpacked, packed)
            if kind in PARTS and PARTS[kind] in header.parts:
                seen += max(0, header.parts[PARTS[kind]].numbers.get(COUNT, 0))
        return dictionary + largest

    def _header(self, file: BinaryIO, at: int) -> tuple[Fields, int]:
        """The page header at some byte, and its length."""
        size = HEADER_BYTES
        while True:
            file.seek(at)
            content = file.read(size)
            reader = _Reader(content)
            try:
                return reader.struct(), reader.at
            except IndexError:
                if len(content) < size or size >= MOST_HEADER_BYTES:
                    raise self._damaged("a page header is cut short") from None
                size *= 16
            except ValueError as error:
                raise self._damaged(str(error)) from None

    def _check_sum(self, n_bytes: int, memory_limit: int) -> None:
        if n_bytes > PAGES_SHARE * memory_limit:
            raise UnreadableError(
                f"{self.path} has pages that take {n_bytes / 1e6:.0f} MB together, one for each column, too many for "
                f'memory_limit={memory_limit}: pass memory_limit="{int(n_bytes / PAGES_SHARE / 1e6) + 1}MB", or write '
                "it in smaller pages."
            )

    def _damaged(self, reason: str) -> UnreadableError:
        return UnreadableError(f"{self.path} is damaged: {reason}; write it again.")


def _start(chunk: Any) -> int:
    """The first byte of a column of a row group, as pyarrow finds it."""
    first, dictionary = chunk.data_page_offset, chunk.dictionary_page_offset
    return dictionary if chunk.has_dictionary_page and 0 < dictionary < first else first


@dataclass(frozen=True, slots=True)
class Fields:
    """What a structure of Thrift holds, by the numbers of its fields."""

    numbers: dict[int, int]  # of 32 bits
    parts: dict[int, Fields]


class _Reader:
    """Reads a structure of Thrift, of which numbers of 32 bits and structures are kept."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at, self.left = content, 0, MOST_VALUES

    def struct(self, depth: int = 0) -> Fields:
        found = Fields({}, {})
        field = 0
        while head := self.byte():
            field = field + (head >> 4) if head >> 4 else self.integer()
            # Larger numbers would stand for others after an overflow.
            if not 0 < field < 2**15:
                raise ValueError("a page header has a field that does not exist")
            if head & 15 == INTEGER:
                found.numbers[field] = self.integer()
            elif head & 15 == STRUCT:
                self.count_value(depth)
                found.parts[field] = self.struct(depth + 1)
            else:
                self.skip(head & 15, depth)
        return found

    def skip(self, kind: int, depth: int) -> None:
        self.count_value(depth)
        if kind in (SHORT, INTEGER, LONG):
            self.varint()
        elif kind == STRUCT:
            self.struct(depth + 1)
        elif kind in (LIST, SET):
            head = self.byte()
            self._skip_all([head & 15], head >> 4 if head >> 4 < 15 else self.varint(), depth)
        elif kind == MAP:
            count = self.varint()
            kinds = self.byte() if count else 0
            self._skip_all([kinds >> 4, kinds & 15], count, depth)
        elif kind in (BYTE, DOUBLE, TEXT):
            length = self.varint() if kind == TEXT else 1 if kind == BYTE else 8
            self.at += length
        elif kind not in (TRUE, FALSE):
            raise ValueError("a page header has a type that does not exist")

    def count_value(self, depth: int) -> None:
        """Refuse a header that would take long."""
        self.left -= 1
        if depth > DEPTH or self.left < 0:
            raise ValueError("a page header is too long")

    def _skip_all(self, kinds: Sequence[int], count: int, depth: int) -> None:
        for _ in range(count):
            for kind in kinds:
                self.skip(BYTE if kind in (TRUE, FALSE) else kind, depth + 1)

    def byte(self) -> int:
        found = self.content[self.at]
        self.at += 1
        return found

    def varint(self) -> int:
        found = shift = 0
        while True:
            byte = self.byte()
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found
            if shift > 63:
                raise ValueError("a page header has a number that is too long")

    def integer(self) -> int:
        found = self.varint()
        return (found >> 1) ^ -(found & 1)
