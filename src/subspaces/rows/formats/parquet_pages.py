"""The page headers of a Parquet file: how much memory its pages take, before pyarrow reads them.

A column is stored in pages, which are unpacked one at a time. pyarrow takes as much memory as the header of a page
claims before it looks at the page. Headers are structures of Thrift's compact protocol; what is needed of them is read
here, and the pages between them are skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
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
# Fields of a page header.
TYPE, UNPACKED, PACKED = 1, 2, 3
DICTIONARY = 2
# For both types of pages with values, the field of the part that is special to the type, and its fields for the number
# of values and for their encoding.
PARTS = {0: (5, 1, 2), 3: (8, 1, 4)}
# Encodings of values: one after another, by the number of an entry of the dictionary, or by what differs from the value
# before.
PLAIN, CODED, PREFIXED = 0, (2, 8), 7
# More bytes than there are, for cells that pyarrow cannot read as a dictionary.
NEVER = 2**40
# pyarrow reads this many bytes beyond the end of a column, because some writers left out the length of a header.
PADDING = 100
# Types of Thrift. True and false are types of their own in fields, and one byte in lists.
TRUE, FALSE, BYTE, SHORT, INTEGER, LONG, DOUBLE, TEXT, LIST, SET, MAP, STRUCT = range(1, 13)


# What is known of the pages of a column of a row group.
PAGES = np.dtype(
    [
        ("held", np.int64),  # bytes of its dictionary and its largest page, which are held together; -1: not known
        ("cell", np.int64),  # most bytes that a cell takes, on the average of a page
        ("word", np.int64),  # the same if cells are read as numbers of entries of a dictionary
        ("collected", np.int64),  # bytes of all cells that pyarrow would add to the dictionary then
    ]
)


class PageSizes:
    """Bytes that the pages of each column take; they are found once, as long as the file stays the same."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp: tuple[int, int] | None = None
        self._found: NDArray[Any] = np.zeros((0, 0), PAGES)

    def check(self, metadata: Any, groups: Sequence[int], leaves: Sequence[int], memory_limit: int) -> NDArray[Any]:
        """Refuse row groups whose stored columns `leaves` have pages that do not fit into memory.

        Returns what is known of the pages, of dtype PAGES (number of groups, number of leaves).
        """
        status = self.path.stat()
        if self._stamp != (status.st_size, status.st_mtime_ns):
            self._stamp = (status.st_size, status.st_mtime_ns)
            self._found = np.full((metadata.num_row_groups, metadata.num_columns), np.array((-1, 0, 0, 0), PAGES))
        with self.path.open("rb", buffering=0) as file:
            for group in groups:
                stored = metadata.row_group(group)
                if stored.num_columns != metadata.num_columns:
                    raise self._damaged("a part has another number of columns")
                for leaf in np.asarray(leaves)[self._found["held"][group, leaves] < 0]:
                    self._found[group, leaf] = self._pages(file, stored.column(int(leaf)), status.st_size)
                self._check_sum(int(self._found["held"][group, leaves].sum()), memory_limit)
        return self._found[np.ix_(groups, leaves)]

    def _pages(self, file: BinaryIO, chunk: Any, file_bytes: int) -> tuple[int, int, int, int]:
        """What is known of the pages of a column of a row group, as in PAGES."""
        at, dictionary, largest, seen, cell, word, collected = _start(chunk), 0, 0, 0, 0, 0, 0
        end, n_values = at + chunk.total_compressed_size + PADDING, chunk.num_values
        while 0 <= at < end and seen < n_values:
            header, length = self._header(file, at)
            kind, unpacked, packed = (header.numbers.get(field, -1) for field in (TYPE, UNPACKED, PACKED))
            at += length + packed
            if unpacked < 0 or packed < 0 or at > file_bytes:
                raise self._damaged("a page is longer than the file")
            largest = max(largest, unpacked, packed)
            if kind == DICTIONARY:
                dictionary = max(dictionary, unpacked)
            elif kind in PARTS:
                part, *fields = PARTS[kind]
                numbers = header.parts[part].numbers if part in header.parts else {}
                count, encoding = (max(0, numbers.get(field, 0)) for field in fields)
                seen += count
                mean = -(-unpacked // max(1, count))
                # Cells may repeat all that comes before them in their page, or in the dictionary.
                cell = max(cell, unpacked if encoding == PREFIXED else dictionary if encoding in CODED else mean)
                word = max(word, mean)
                collected += 0 if encoding in CODED else unpacked if encoding == PLAIN else NEVER
        if seen > n_values:
            raise self._damaged("its pages have more values than it says")
        return dictionary + largest, cell, word, collected

    def _header(self, file: BinaryIO, at: int) -> tuple[Fields, int]:
        """The page header at some byte, and its length."""
        size = HEADER_BYTES
        while True:
            file.seek(at)
            content = file.read(size)
            reader = ThriftReader(content)
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


class ThriftReader:
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
