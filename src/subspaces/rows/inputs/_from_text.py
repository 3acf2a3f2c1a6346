"""Tables of text as rows: which columns are numbers, and which are left out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces.rows.inputs._columns import Wanted, choose, listed, shown
from subspaces.rows.inputs._csv import Chunk, CsvRows, Part, chunks
from subspaces.rows.inputs._dialect import find_dialect
from subspaces.rows.inputs._found import Found, Places, Request, as_truth
from subspaces.rows.inputs._text import open_text
from subspaces.rows.sources import FeedOptions
from subspaces.rows.sources._reading import UnreadableError


class _Tally:
    """What each of q columns has held so far."""

    def __init__(self, count: int) -> None:
        self.numbers = np.zeros(count, np.int64)
        self.texts = np.zeros(count, np.int64)
        self.first: dict[int, tuple[Path, int, str]] = {}  # the first text of a column: where and what

    def add(self, chunk: Chunk, path: Path) -> None:
        self.numbers += len(chunk.values) - np.isnan(chunk.values).sum(axis=0)
        for place, count, line, cell in chunk.odd:
            self.texts[place] += count
            self.first.setdefault(place, (path, line, cell))


def read_text(request: Request) -> Found:
    """The rows of files of text, in memory where they fit, and else read again in each pass."""
    parts = _open_parts(request)
    names, where = parts[0].dialect.names, str(parts[0].file.path)
    wanted = choose(
        names, where, columns=request.columns, drop=request.drop, truth=request.truth, row_names=request.names
    )
    notes = _notes_of_parts(parts)
    if parts[0].dialect.index and not wanted.explicit and 0 in wanted.rows and len(wanted.rows) > 1:
        wanted = Wanted([column for column in wanted.rows if column], False, wanted.truth, wanted.names)
        notes.append("the first column has no name, as names of rows that pandas and R write: it is left out")
    tally = _Tally(len(wanted.rows))
    as_text = [column for column in (wanted.truth, wanted.names) if column is not None]
    # None once they do not fit.
    blocks: list[NDArray[np.float64]] | None = []
    lines: list[list[NDArray[np.int64]]] = [[] for _ in parts]
    counts = [0] * len(parts)
    cells: list[list[str]] = [[] for _ in as_text]
    for number, part in enumerate(parts):
        for chunk in chunks(part, wanted.rows, as_text):
            tally.add(chunk, part.file.path)
            counts[number] += len(chunk.values)
            for column, found in zip(cells, chunk.cells, strict=True):
                column.extend(found)
            if blocks is not None and request.fits(sum(counts), len(wanted.rows), 8):
                blocks.append(chunk.values)
                lines[number].append(chunk.lines)
            else:
                blocks, lines = None, []
    kept = _numeric(tally, wanted, names, where, sum(counts), notes)
    columns = tuple(names[wanted.rows[place]] for place in kept)
    rows: Any
    if blocks is None:
        source = [wanted.rows[place] for place in kept]
        rows = CsvRows(parts, source, columns, sum(counts), FeedOptions(memory_limit=request.memory_limit))
    else:
        rows = _stacked(blocks, kept)
    known = None if blocks is None else tuple(np.concatenate([np.zeros(0, np.int64), *each]) for each in lines)
    place = Places(request.paths, tuple(counts), known)
    texts = dict(zip(as_text, cells, strict=True))
    truth = None if wanted.truth is None else as_truth(texts[wanted.truth])
    row_names = None if wanted.names is None else texts[wanted.names]
    return Found(rows, columns, place, row_names, truth, None, notes)


def _open_parts(request: Request) -> list[Part]:
    """The files, with the columns of each in the order of the first."""
    parts: list[Part] = []
    for path in request.paths:
        file = open_text(path, request.memory_limit)
        dialect = find_dialect(file)
        names = dialect.names
        order: Sequence[int] = range(len(names))
        if parts:
            first, first_path = parts[0].dialect, parts[0].file.path
            if len(names) != len(first.names):
                raise UnreadableError(
                    f"{path} has {len(names)} columns, but {first_path} has {len(first.names)}: give all files the "
                    "same columns."
                )
            if dialect.has_header and first.has_header and names != first.names:
                odd = sorted(set(names) ^ set(first.names))
                if odd:
                    raise UnreadableError(
                        f"{path} and {first_path} differ in column {shown(odd[0])}: give all files the same columns."
                    )
                order = [names.index(name) for name in first.names]
        parts.append(Part(file, dialect, tuple(order)))
    return parts


def _notes_of_parts(parts: Sequence[Part]) -> list[str]:
    notes = []
    odd = [part.file.path.name for part in parts if part.file.encoding == "latin-1"]
    if odd:
        notes.append(f"{listed(odd)} is not UTF-8 and was read as Latin-1: names may look odd")
    if any(part.dialect.decimal_comma for part in parts):
        notes.append("commas in numbers were read as decimal points")
    return notes


def _numeric(
    tally: _Tally, wanted: Wanted, names: Sequence[str], where: str, n_rows: int, notes: list[str]
) -> list[int]:
    """The columns of numbers, by place among those wanted; others are left out with a note, or refused."""
    left_out: dict[str, list[str]] = {"text": [], "mostly text": [], "nothing": []}
    kept = []
    for place, column in enumerate(wanted.rows):
        numbers, texts, name = int(tally.numbers[place]), int(tally.texts[place]), names[column]
        if texts and (numbers > texts or (wanted.explicit and numbers)):
            path, line, cell = tally.first[place]
            raise UnreadableError(
                f"{path}, line {line}: column {shown(name)} holds {shown(cell)} among numbers ({texts} such "
                f"of {n_rows} cells): mend it, leave it empty, or leave the column out (--drop {column + 1})."
            )
        if wanted.explicit and not numbers:
            held = "text" if texts else "nothing"
            raise UnreadableError(
                f"{where}, column {shown(name)} holds {held} and no numbers: leave it out of columns."
            )
        if numbers and not texts:
            kept.append(place)
        else:
            left_out["mostly text" if numbers else "text" if texts else "nothing"].append(name)
    if not kept:
        raise UnreadableError(
            f"{where} has no column that holds numbers alone, in {listed([names[each] for each in wanted.rows])}: "
            "check that it is a table of numbers with one delimiter (comma, semicolon, tab or white space)."
        )
    for held, found in left_out.items():
        if found:
            notes.append(f"{len(found)} column{'s' * (len(found) > 1)} of {held} left out: {listed(found)}")
    return kept


def _stacked(blocks: list[NDArray[np.float64]], kept: Sequence[int]) -> NDArray[np.float64]:
    """All rows (n, p) of the columns kept; blocks are let go as they are copied."""
    n_rows = sum(map(len, blocks))
    rows = np.empty((n_rows, len(kept)))
    start = 0
    blocks.reverse()
    while blocks:
        block = blocks.pop()
        rows[start : start + len(block)] = block if block.shape[1] == len(kept) else block[:, kept]
        start += len(block)
    return rows
