"""Find out how a table is written as text: its delimiter, its header, its decimal point."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subspaces.rows.columns import repeated_note, unique_names
from subspaces.rows.formats.cells import is_number, to_number
from subspaces.rows.reading import UnreadableError

# In order of preference if several fit equally well; a blank stands for any white space.
DELIMITERS = ("\t", ";", ",", "|", " ")
DELIMITER_NAMES = {"\t": "tab", " ": "white space"}


@dataclass(frozen=True, slots=True)
class Header:
    """Names of the columns of a table."""

    names: tuple[str, ...] | None  # None if the file does not contain them
    width: int  # number of columns
    in_first_row: bool
    has_index: bool  # whether only the first column has no name: pandas and R write row names like this
    notes: tuple[str, ...] = ()  # what the user should know


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the rows of a text file are written."""

    delimiter: str
    decimal_comma: bool
    skip: int  # lines before the first row
    header: Header

    @property
    def delimiter_name(self) -> str:
        return DELIMITER_NAMES.get(self.delimiter, repr(self.delimiter))


def rows_of(lines: Iterable[str], delimiter: str, *, strict: bool = True) -> Any:
    """The cells of each row, by `csv.reader`."""
    if delimiter == " ":
        lines = (" ".join(line.split()) for line in lines)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)


def find_dialect(path: Path, lines: Sequence[str], count_from: int = 0) -> Dialect:
    """The dialect of a file, from its first lines."""
    start, comment, named = _preamble(lines)
    sample = lines[start:]
    if not any(line.strip() for line in sample):
        raise UnreadableError(f"{path} holds no rows: write one row per line.")
    tabbed = {".tsv", ".tab"} & {suffix.lower() for suffix in path.suffixes[-2:]} and any(
        "\t" in line for line in sample
    )
    delimiter = named or ("\t" if tabbed else _best_delimiter(sample))
    rows = _sample_rows(sample, delimiter)
    if not rows:
        raise UnreadableError(f"{path} holds no cells, or a quoted one that does not end: correct its quotes.")
    # Between commas, a comma cannot be a decimal point.
    decimal_comma = delimiter != "," and any(
        re.fullmatch(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*", cell) for row in rows for cell in row
    )
    words: list[str] | None = None if comment is None else next(rows_of([comment], delimiter, strict=False), [])
    header = find_header(rows, str(path), decimal_comma=decimal_comma, comment=words, count_from=count_from)
    if header.in_first_row:
        start += _header_lines(sample, delimiter)
    return Dialect(delimiter, decimal_comma, start, header)


def find_header(
    rows: Sequence[Sequence[str]],
    where: str,
    *,
    decimal_comma: bool = False,
    comment: Sequence[str] | None = None,
    count_from: int = 0,
) -> Header:
    """The names of the columns: from the first row if it is a header, or from the comment above the table.

    A column without a name among others is numbered; `count_from` is the number of the first column.
    """
    in_first_row = _is_header(rows, decimal_comma)
    header = list(rows[0]) if in_first_row else None
    data = rows[1:] if in_first_row else rows
    if not data:
        raise UnreadableError(f"{where} holds a header and no rows: write one row per line below it.")
    width = Counter(map(len, data)).most_common(1)[0][0]
    if header is None and comment is not None and len(comment) == width:
        header = list(comment)
    if header is not None and len(header) == width - 1:
        # R writes no name above row names; other programs end each row, but not the header, with a delimiter.
        ends = all(not row[-1].strip() for row in data if len(row) == width)
        header = [*header, ""] if ends else ["", *header]
    if header is None:
        return Header(None, width, False, False)
    if len(header) != width:
        raise UnreadableError(
            f"{where} has a header of {len(header)} names above rows of {width} cells: give each column one name, and "
            "quote cells that contain the delimiter."
        )
    has_index = width > 1 and not header[0].strip() and all(name.strip() for name in header[1:])
    return Header(unique_names(header, count_from), width, in_first_row, has_index, repeated_note(header))


def _preamble(lines: Sequence[str]) -> tuple[int, str | None, str | None]:
    """The number of lines before the table, the last comment among them, and the delimiter if a line like sep=; names
    it, as Excel does.
    """
    start, comment, delimiter = 0, None, None
    for line in lines:
        plain = line.strip()
        if re.fullmatch(r"sep=.", plain, re.IGNORECASE):
            delimiter = plain[-1]
        elif plain.startswith("#"):
            comment = plain.lstrip("#").strip()
        elif plain:
            break
        start += 1
    return start, comment, delimiter


def _sample_rows(sample: Sequence[str], delimiter: str) -> list[list[str]]:
    try:
        return [row for row in rows_of(sample, delimiter, strict=False) if any(cell.strip() for cell in row)]
    except csv.Error:
        return []


def _header_lines(sample: Sequence[str], delimiter: str) -> int:
    """How many lines the first row takes, with blank ones before it; a quoted name may contain line ends."""
    reader = rows_of(sample, delimiter, strict=False)
    for row in reader:
        if any(cell.strip() for cell in row):
            break
    return int(reader.line_num)


def _best_delimiter(sample: Sequence[str]) -> str:
    """The delimiter with which most rows have equally many cells, and most cells are numbers."""
    scores = {delimiter: _score(_sample_rows(sample, delimiter), delimiter) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda delimiter: scores[delimiter])
    return best if scores[best] > 0 else ","


def _score(rows: list[list[str]], delimiter: str) -> float:
    if not rows:
        return 0.0
    width, alike = Counter(map(len, rows)).most_common(1)[0]
    if width < 2:
        return 0.0
    cells = [cell for row in rows for cell in row]
    count = sum(is_number(cell) or (delimiter != "," and is_number(cell, decimal_comma=True)) for cell in cells)
    return alike / len(rows) + count / len(cells)


def _is_header(rows: Sequence[Sequence[str]], decimal_comma: bool) -> bool:
    """Whether the first row names columns: it has text above numbers, is text alone and nothing follows, or counts the
    columns above numbers that are not whole, as dataframes without names are written."""

    def is_text(cell: str) -> bool:
        return to_number(cell, decimal_comma=decimal_comma) is None

    first, rest = rows[0], rows[1:]
    if not rest:
        return all(is_text(cell) for cell in first)
    if _counts_columns(first) and any(_is_fraction(cell, decimal_comma) for row in rest for cell in row):
        return True
    shift = max(0, Counter(map(len, rest)).most_common(1)[0][0] - len(first))
    return any(
        is_text(cell) and any(_numbers_below(rest, place + extra, decimal_comma) for extra in {0, min(shift, 1)})
        for place, cell in enumerate(first)
    )


def _counts_columns(cells: Sequence[str]) -> bool:
    """Whether cells are 0, 1, ... or 1, 2, ..., perhaps after an empty one above an index."""
    names = [cell.strip() for cell in cells]
    names = names[1:] if names and not names[0] else names
    return len(names) > 1 and names in ([str(i + start) for i in range(len(names))] for start in (0, 1))


def _is_fraction(cell: str, decimal_comma: bool) -> bool:
    number = to_number(cell, decimal_comma=decimal_comma)
    return number is not None and math.isfinite(number) and not number.is_integer()


def _numbers_below(rows: Iterable[Sequence[str]], place: int, decimal_comma: bool) -> bool:
    return any(len(row) > place and is_number(row[place], decimal_comma=decimal_comma) for row in rows)


def limited(lines: Iterable[str], most_lines: int, most_characters: int) -> Iterator[str]:
    """The first lines, up to a number of lines and of characters, but two at least: a header and a row."""
    total = 0
    for number, line in enumerate(lines):
        total += len(line)
        if number == most_lines or (number > 1 and total > most_characters):
            return
        yield line
