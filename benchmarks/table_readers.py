"""Which library should read text tables: pyarrow, polars and DuckDB on the same hostile files.

Each reader is given the delimiter, the encoding and the number of columns, reads all cells as text, and must return
exactly the cells that are there, or raise an error. "silent" is the bad outcome: other cells, without an error.

    python benchmarks/table_readers.py

writes benchmarks/results/table_readers.json and prints the table of docs/design.md. DuckDB and polars are needed for
this script only.
"""

from __future__ import annotations

import gzip
import importlib.metadata
import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kept import opened

RESULT = Path(__file__).parent / "results" / "table_readers.json"
Cells = list[list[str]]


@dataclass(frozen=True)
class Case:
    """A file, and the cells that it holds; None if it must be refused."""

    name: str
    content: bytes
    cells: Cells | None
    columns: int = 2
    delimiter: str = ","
    encoding: str = "utf-8"
    suffix: str = ".csv"
    line: int | None = None  # that the error should name


def make_cases() -> list[Case]:
    """Files as people have them, without headers."""
    good: Cells = [["1", "2"], ["3", "4"]]
    long = ["x" * 200_000, "2"]
    return [
        Case("plain", b"1,2\n3,4\n", good),
        Case("Windows line ends", b"1,2\r\n3,4\r\n", good),
        Case("old Mac line ends", b"1,2\r3,4\r", good),
        Case("no newline at the end", b"1,2\n3,4", good),
        Case("byte order mark", b"\xef\xbb\xbf1,2\n3,4\n", good),
        Case("UTF-16", "1,2\n3,é\n".encode("utf-16"), [["1", "2"], ["3", "é"]], encoding="utf-16"),
        Case("Latin-1", "1,2\n3,é\n".encode("latin-1"), [["1", "2"], ["3", "é"]], encoding="latin-1"),
        Case("Latin-1 read as UTF-8", "1,2\n3,é\n".encode("latin-1"), None),
        Case("blank lines", b"1,2\n\n3,4\n\n", good),
        Case("lines of blanks", b"1,2\n   \n3,4\n", good),
        Case("a cell too few", b"1,2\n3\n5,6\n", None, line=2),
        Case("a cell too many", b"1,2\n3,4,5\n5,6\n", None, line=2),
        Case("quote that does not end", b'1,2\n"3,4\n5,6\n', None, line=2),
        Case("stray quote", b'1,2\n"3"x,4\n', None, line=2),
        Case("quoted delimiter and line end", b'"1,5","2\n7"\n3,4\n', [["1,5", "2\n7"], ["3", "4"]]),
        Case("doubled quotes", b'"1""5",2\n3,4\n', [['1"5', "2"], ["3", "4"]]),
        Case("decimal commas", b"1,5;2\n3;4\n", [["1,5", "2"], ["3", "4"]], delimiter=";"),
        Case("tabs", b"1\t2\n3\t4\n", good, delimiter="\t"),
        Case("missing values", b"NA,\n?,nan\n", [["NA", ""], ["?", "nan"]]),
        Case("huge integers", b"123456789012345678901234567890,2\n3,4\n", [["1234567890" * 3, "2"], ["3", "4"]]),
        Case("text among numbers", b"1,2\n" * 5000 + b"x,4\n", [["1", "2"]] * 5000 + [["x", "4"]]),
        Case("blanks around cells", b" 1 , 2\n3,4\n", [[" 1 ", " 2"], ["3", "4"]]),
        Case("one column", b"1\n2\n", [["1"], ["2"]], columns=1),
        Case("one column with an empty quoted cell", b'1\n""\n2\n', [["1"], [""], ["2"]], columns=1),
        Case("NUL byte", b"1,2\n3,\x004\n", [["1", "2"], ["3", "\x004"]]),
        Case("a long cell", ",".join(long).encode() + b"\n3,4\n", [long, ["3", "4"]]),
        Case("gzip", gzip.compress(b"1,2\n3,4\n"), good, suffix=".csv.gz"),
        Case("gzip cut short", gzip.compress(b"1,2\n3,4\n" * 999)[:-20], None, suffix=".csv.gz"),
        Case("empty file", b"", None),
    ]


def by_pyarrow(path: Path, case: Case) -> Cells:
    """As `subspaces` uses it: a stream of batches, one thread, blank lines skipped."""
    import pyarrow as pa
    from pyarrow import csv

    names = [str(column) for column in range(case.columns)]
    read = csv.ReadOptions(use_threads=False, column_names=names, encoding=case.encoding)
    parse = csv.ParseOptions(
        delimiter=case.delimiter,
        newlines_in_values=True,
        invalid_row_handler=lambda row: "error" if row.text.strip() else "skip",
    )
    convert = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    found: Cells = []
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        for batch in csv.open_csv(stream, read, parse, convert):
            found += [list(row.values()) for row in batch.to_pylist()]
    return found


def by_polars(path: Path, case: Case) -> Cells:
    """The eager reader, all columns as text."""
    import polars

    encoding = "utf8" if case.encoding == "utf-8" else case.encoding
    frame = polars.read_csv(
        path,
        separator=case.delimiter,
        has_header=False,
        encoding=encoding,
        infer_schema=False,
        schema={str(column): polars.String for column in range(case.columns)},
    )
    # Empty cells are null.
    return [[cell or "" for cell in row] for row in frame.rows()]


def by_duckdb(path: Path, case: Case) -> Cells:
    """Strict mode, all columns as text, no guessing."""
    import duckdb

    columns = ", ".join(f"'c{column}': 'VARCHAR'" for column in range(case.columns))
    compression = "gzip" if path.suffix == ".gz" else "none"
    query = (
        f"SELECT * FROM read_csv('{path}', delim='{case.delimiter}', header=false, auto_detect=false, quote='\"', "
        f"escape='\"', columns={{{columns}}}, encoding='{case.encoding}', compression='{compression}', "
        "strict_mode=true, null_padding=false, nullstr='\x01', max_line_size=10000000)"
    )
    return [list(row) for row in duckdb.sql(query).fetchall()]


READERS: dict[str, Callable[[Path, Case], Cells]] = {"pyarrow": by_pyarrow, "polars": by_polars, "duckdb": by_duckdb}


def try_case(read: Callable[[Path, Case], Cells], case: Case, folder: Path) -> dict[str, str]:
    """What a reader does with a file: right, refused, or silent (other cells without an error)."""
    path = folder / f"rows{case.suffix}"
    path.write_bytes(case.content)
    try:
        cells = read(path, case)
    except Exception as error:
        text = " ".join(str(error).split())
        outcome = "right" if case.cells is None else "refused"
        # A row number will do: the number itself is found again from it.
        named = case.line is not None and re.search(rf"\b(line|row)\b[^0-9]*{case.line}\b", text, re.IGNORECASE)
        return {"outcome": outcome, "message": text[:200], **({"names the line": "yes"} if named else {})}
    return {"outcome": "right" if cells == case.cells else "silent", "cells": repr(cells)[:200]}


def main() -> None:
    """Try all readers on all files, keep the outcome and print it."""
    kept = opened(RESULT, "python benchmarks/table_readers.py")
    kept["readers"] = {name: importlib.metadata.version(name) for name in READERS}
    found: dict[str, dict[str, dict[str, str]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in make_cases():
            found[case.name] = {name: try_case(read, case, Path(folder)) for name, read in READERS.items()}
    text = json.dumps(found).replace(folder, "FOLDER")
    kept["cases"] = json.loads(text)
    RESULT.write_text(json.dumps(kept, indent=1) + "\n")
    print("| file | " + " | ".join(READERS) + " |\n|---|" + "---|" * len(READERS))
    for name, outcomes in found.items():
        shown = [each["outcome"] + ", with the line" * ("names the line" in each) for each in outcomes.values()]
        print(f"| {name} | " + " | ".join(shown) + " |")


if __name__ == "__main__":
    main()
