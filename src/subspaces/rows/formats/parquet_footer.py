"""Statistics in the footer of a Parquet file that pyarrow cannot refuse: a wrong size of them ends the interpreter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from subspaces.rows.formats.parquet_pages import (
    DEPTH,
    INTEGER,
    LIST,
    LONG,
    SET,
    SHORT,
    STRUCT,
    ThriftReader,
)
from subspaces.rows.reading import UnreadableError

# The length of the footer and the four bytes that follow it.
TAIL_BYTES = 8
# Fields: row groups of a file, columns of a group, metadata of a column, and their statistics of sizes, with the bytes
# of text before it is stored, and numbers of values by repetition and by definition level.
GROUPS, COLUMNS, METADATA, SIZES = 4, 1, 3, 16
TEXT_BYTES, REPETITIONS, DEFINITIONS = 1, 2, 3


def check_levels(path: Path, schema: Any) -> None:
    """Refuse a file whose statistics of sizes do not suit its columns; `schema` is that of pyarrow."""
    levels = [
        (each.max_repetition_level, each.max_definition_level, each.physical_type)
        for each in map(schema.column, range(len(schema)))
    ]
    for group in _structures(_footer(path).get(GROUPS)):
        for chunk, (repetition, definition, kind) in zip(_structures(group.get(COLUMNS)), levels, strict=False):
            for metadata in _structures([chunk.get(METADATA)]):
                for sizes in _structures([metadata.get(SIZES)]):
                    known = ((sizes.get(REPETITIONS), repetition), (sizes.get(DEFINITIONS), definition))
                    if any(isinstance(each, list) and len(each) not in (0, level + 1) for each, level in known):
                        raise UnreadableError(f"{path} is damaged: statistics have a wrong size; write it again.")
                    if TEXT_BYTES in sizes and kind != "BYTE_ARRAY":
                        raise UnreadableError(f"{path} is damaged: numbers have a length of text; write it again.")


def _structures(values: Any) -> list[dict[int, Any]]:
    """Those of the `values` that are structures."""
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


def _footer(path: Path) -> dict[int, Any]:
    """The footer of a file, as `_structure` returns it; empty if it cannot be read, which pyarrow reports."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL_BYTES))
        length = int.from_bytes(file.read(4), "little")
        if length > size - TAIL_BYTES:
            return {}
        file.seek(size - TAIL_BYTES - length)
        content = file.read(length)
    reader = ThriftReader(content)
    # Each value takes a byte or more.
    reader.left = len(content)
    try:
        return _structure(reader, 0)
    except (IndexError, ValueError):
        return {}


def _structure(reader: ThriftReader, depth: int) -> dict[int, Any]:
    """A structure as a dictionary by field, of numbers, lists and structures; None stands for other values."""
    found: dict[int, Any] = {}
    field = 0
    while head := reader.byte():
        field = field + (head >> 4) if head >> 4 else reader.integer()
        found[field] = _value(reader, head & 15, depth)
    return found


def _value(reader: ThriftReader, kind: int, depth: int) -> Any:
    if depth > DEPTH:
        raise ValueError("too deep")
    if kind == STRUCT:
        return _structure(reader, depth + 1)
    if kind in (LIST, SET):
        head = reader.byte()
        count = head >> 4 if head >> 4 < 15 else reader.varint()
        if count > len(reader.content):
            raise ValueError("too long")
        return [_item(reader, head & 15, depth + 1) for _ in range(count)]
    if kind in (SHORT, INTEGER, LONG):
        return reader.integer()
    return reader.skip(kind, depth)


def _item(reader: ThriftReader, kind: int, depth: int) -> Any:
    """A value of a list, in which true and false take one byte."""
    return reader.byte() if kind in (1, 2) else _value(reader, kind, depth)
