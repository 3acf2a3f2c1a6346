"""How a table is written as text: what is between its cells, whether it has a header, what the decimal point is."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from subspaces.rows.inputs._cells import is_number, number
from subspaces.rows.inputs._columns import numbered_names, unique_names
from subspaces.rows.inputs._text import TextFile
from subspaces.rows.sources._reading import UnreadableError

SAMPLE_LINES = 200
SAMPLE_CHARACTERS = 2**20
# In order of preference where several fit equally well; a blank stands for any white space.
DELIMITERS = ("\t", ";", ",", "|", " ")
WORDS = {"\t": "tab", " ": "white space"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the rows of a file of text are written."""

    delimiter: str
    decimal_comma: bool
    skip: int  # lines before the first row
    names: tuple[str, ...]  # of the columns
    has_header: bool
    index: bool  # whether the first column has no name and the others do, as pandas and R write names of rows

    @property
    def delimiter_name(self) -> str:
        return WORDS.get(self.delimiter, repr(self.delimiter))


def rows_of(lines: Iterable[str], delimiter: str, *, strict: bool = True) -> Iterator[list[str]]:
    """The cells of each row; an iterator with `line_num` as that of `csv.reader`."""
    if delimiter == " ":
        lines = (line.replace("\t", " ").strip() for line in lines)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)


def find_dialect(file: TextFile) -> Dialect:
    """The dialect of a file, from its first lines."""
    with file.lines() as text:
        lines = list(islice(_limited(text), SAMPLE_LINES))
    start, comment, told = _preamble(lines)
    sample = lines[start:]
    if not any(line.strip() for line in sample):
        raise UnreadableError(f"{file.path} holds no rows: write one row a line.")
    delimiter = told or ("\t" if _is_tabbed(file, sample) else _best_delimiter(sample))
    rows = _sample_rows(sample, delimiter)
    if not rows:
        raise UnreadableError(f"{file.path} holds no cells, or a quoted one that does not end: mend its quotes.")
    # Between commas, a comma is no decimal point.
    decimal_comma = delimiter in (";", "\t", " ", "|") and any(
        re.fullmatch(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*", cell) for row in rows for cell in row
    )
    has_header = _has_header(rows, decimal_comma)
    header = rows[0] if has_header else None
    data = rows[1:] if has_header else rows
    if has_header:
        start += _header_lines(sample, delimiter)
        if not data:
            raise UnreadableError(f"{file.path} holds a header and no rows: write one row a line below it.")
    width = Counter(map(len, data)).most_common(1)[0][0]
    if header is None and comment is not None:
        named = next(rows_of([comment], delimiter, strict=False), [])
        header = named if len(named) == width else None
    if header is not None and len(header) == width - 1:
        # R writes no name above names of rows; others end each row, but not the header, with a delimiter.
        ends = all(not row[-1].strip() for row in data if len(row) == width)
        header = [*header, ""] if ends else ["", *header]
    if header is not None and len(header) != width:
        raise UnreadableError(
            f"{file.path} has a header of {len(header)} names above rows of {width} cells (line {start + 1}): "
            "give each column one name, and quote cells that hold the delimiter."
        )
    index = header is not None and width > 1 and not header[0].strip() and all(name.strip() for name in header[1:])
    names = numbered_names(width) if header is None else unique_names(header)
    return Dialect(delimiter, decimal_comma, start, names, header is not None, index)


def _limited(lines: Iterable[str]) -> Iterator[str]:
    """Lines up to a number of characters."""
    total = 0
    for line in lines:
        yield line
        total += len(line)
        if total > SAMPLE_CHARACTERS:
            return


def _preamble(lines: Sequence[str]) -> tuple[int, str | None, str | None]:
    """The number of lines before the table, the last comment among them, and a delimiter told as Excel does."""
    start, comment, told = 0, None, None
    for line in lines:
        plain = line.strip()
        if re.fullmatch(r"sep=.", plain, re.IGNORECASE):
            told = plain[-1]
        elif plain.startswith("#"):
            comment = plain.lstrip("#").strip()
        elif plain:
            break
        start += 1
    return start, comment, told


def _is_tabbed(file: TextFile, sample: Sequence[str]) -> bool:
    suffixes = [suffix.lower() for suffix in file.path.suffixes[-2:]]
    return bool({".tsv", ".tab"} & set(suffixes)) and any("\t" in line for line in sample)


def _sample_rows(sample: Sequence[str], delimiter: str) -> list[list[str]]:
    try:
        return [row for row in rows_of(sample, delimiter, strict=False) if any(cell.strip() for cell in row)]
    except csv.Error:
        return []


def _header_lines(sample: Sequence[str], delimiter: str) -> int:
    """How many lines the first row takes, and blank ones before it; a quoted name may reach over several."""
    reader: Any = rows_of(sample, delimiter, strict=False)
    for row in reader:
        if any(cell.strip() for cell in row):
            break
    return int(reader.line_num)


def _best_delimiter(sample: Sequence[str]) -> str:
    """The delimiter by which most rows have as many cells, and most cells are numbers."""
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


def _has_header(rows: Sequence[Sequence[str]], decimal_comma: bool) -> bool:
    """Whether the first row names columns: a text stands above numbers, or it is text alone and nothing follows."""

    def is_text(cell: str) -> bool:
        return number(cell, decimal_comma=decimal_comma) is None

    first, rest = rows[0], rows[1:]
    if not rest:
        return all(is_text(cell) for cell in first)
    shift = max(0, Counter(map(len, rest)).most_common(1)[0][0] - len(first))
    for place, cell in enumerate(first):
        if is_text(cell) and any(
            len(row) > place + extra and is_number(row[place + extra], decimal_comma=decimal_comma)
            for row in rest
            for extra in {0, min(shift, 1)}
        ):
            return True
    return False
