"""Rows for a command: read, prepared, and ready for a fit."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.errors import InputError, MissingFileError, file_errors, memory_errors
from subspaces.cli.columns import FIRST_COLUMN, ExactNames, column_of, column_word, columns_of
from subspaces.cli.console import Console, scale_line
from subspaces.cli.watched import WatchedRows
from subspaces.rows import Preparation, RowSource, Table, open_rows, parse_bytes, read_table
from subspaces.rows.paths import find_files
from subspaces.rows.preparation import column_variances
from subspaces.rows.thresholds import FIT_ROWS, SAMPLE_SHARE
from subspaces.rows.unusual import class_numbers, dominant_columns, row_numbers
from subspaces.spectral.partition import at_most

# Reports and figures use at most this many of the rows that are not in memory.
SAMPLE_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class Prepared:
    """Rows as they were read, and as a model sees them."""

    table: Table
    preparation: Preparation | None
    rows: NDArray[Any] | RowSource  # (n, q)

    @property
    def n_rows(self) -> int | None:
        """The number of rows; None if it takes a pass over them to count."""
        return self.rows.n_rows if isinstance(self.rows, RowSource) else len(self.rows)

    @property
    def n_columns(self) -> int:
        """Columns that a model sees."""
        return self.rows.n_columns if isinstance(self.rows, RowSource) else int(self.rows.shape[1])


@contextlib.contextmanager
def session(options: Mapping[str, Any]) -> Iterator[tuple[Console, list[str]]]:
    """A console for the command, and the paths of its data."""
    with Console(quiet=options["quiet"], verbose=options["verbose"]) as console, real_paths(options["data"]) as paths:
        yield console, paths


@contextlib.contextmanager
def real_paths(data: Sequence[str]) -> Iterator[list[str]]:
    """Paths of files for `data`; stdin is copied to a file, which is removed at the end."""
    if "-" not in data:
        yield list(data)
        return
    if len(data) > 1:
        raise InputError("DATA: - is standard input, which cannot be combined with files: give one or the other")
    # Python sets a stream that is closed, as by <&-, to None.
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("DATA: - is standard input, which is closed: pipe CSV into the command, or name a file")
    with file_errors():
        folder = Path(tempfile.mkdtemp(prefix="subspaces-"))
    try:
        with file_errors(), (folder / "stdin.csv").open("wb") as copy:
            shutil.copyfileobj(getattr(sys.stdin, "buffer", sys.stdin), copy)
        yield [str(folder / "stdin.csv")]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read(paths: Sequence[str], options: Mapping[str, Any], console: Console) -> Table:
    """The rows of `paths` by the options of reading; the console keeps the notes about them."""
    if not paths:
        raise InputError("DATA is missing: name a file, or data = [...] in the configuration")
    for path in paths:
        # Rows are read several times, and opening a pipe without a writer would wait for ever.
        if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
            raise InputError(f"{path} is not a file: write the rows to one, or pipe CSV into subspaces fit -")
    console.stage("reading rows")
    given: dict[str, Any] = {name: options.get(name) for name in ("key", "missing", "memory_limit")}
    given |= {name: columns_of(f"--{name}", options.get(name)) for name in ("columns", "drop")}
    given |= {name: column_of(f"--{name}", options.get(name)) for name in ("truth", "names")}
    given |= {name: tuple(options[name]) if options.get(name) else None for name in ("image_shape", "image_size")}
    with file_errors(), memory_errors(), needed_columns(options):
        table = read_table(list(paths), **given, count_from=FIRST_COLUMN)
    for note in table.notes:
        console.remark(note)
    return table


@contextlib.contextmanager
def needed_columns(options: Mapping[str, Any]) -> Iterator[None]:
    """Say that a run needs a column that is missing, rather than name an option that was not given."""
    try:
        yield
    except InputError as error:
        if error.parameter != "columns" or not isinstance(options.get("columns"), ExactNames):
            raise
        raise InputError(str(error).replace(" (columns)", ", which the run was fitted to", 1)) from error


def watched(table: Table, console: Console) -> NDArray[Any] | RowSource:
    """The rows of a table; those that are not in memory report passes over them."""
    return WatchedRows(table.rows, console) if isinstance(table.rows, RowSource) else table.rows


def preparation_of(options: Mapping[str, Any]) -> Preparation | None:
    """The preparation that the options describe, not fitted; None if there is none. Checks what it can."""
    given = {name: options[name] for name in ("standardise", "pca", "whiten_drop")}
    given["standardise"] = bool(given["standardise"])
    return Preparation(**given).check_parameters() if any(given.values()) else None


def prepare(
    table: Table, preparation: Preparation | None, console: Console, *, standardise: bool | None = None
) -> Prepared:
    """Rows after a preparation that is fitted to them; scales are not warned of if `standardise` is given."""
    rows = watched(table, console)
    is_table = table.image_shape is None
    if isinstance(rows, np.ndarray) and is_table:
        for name in row_numbers(rows, table.columns):
            console.warn(f"column {name!r} numbers the rows: leave it out by --drop {column_word(name)}")
        classes = class_numbers(rows, table.columns)
        if classes is not None:
            name, count = classes
            console.warn(
                f"column {name!r} has only {count} different values, whole numbers: if they are classes or categories, "
                f"leave it out by --truth {shlex.quote(name)} or --drop {column_word(name)}"
            )
    has_scales = is_table and standardise is None
    if preparation is None:
        # The fit knows whether it standardises the columns itself.
        console.column_names = table.columns if has_scales else None
        return Prepared(table, None, rows)
    if isinstance(rows, np.ndarray) and has_scales:
        found = dominant_columns(column_variances(rows))
        if found is not None:
            console.warn(scale_line(found.sentence(table.columns)))
    console.stage("preparing rows")
    with memory_errors():
        return apply(preparation.fit(rows), table, rows)


def apply(preparation: Preparation, table: Table, rows: NDArray[Any] | RowSource) -> Prepared:
    """Rows (n, p) after a fitted preparation."""
    return Prepared(table, preparation, preparation.transform(rows))


def fit_rows(
    prepared: Prepared,
    console: Console,
    *,
    memory_limit: int | str,
    labels: Path | None = None,
    checkpoint: str | None = None,
    device: str | None = None,
) -> Any:
    """The rows for an estimator: an array if there are few, otherwise a source that reports its passes."""
    rows = prepared.rows
    options: dict[str, Any] = {"checkpoint": checkpoint, "device": device}
    if isinstance(rows, RowSource):
        # A checkpoint identifies a run by the place of its labels, and keeps them in its own folder.
        return open_rows(rows, labels=None if checkpoint else labels, **options)
    if len(rows) <= FIT_ROWS and checkpoint is None and device is None:
        return rows
    # Rows that are in memory anyway do not call for a smaller sample.
    limit = max(parse_bytes(memory_limit), SAMPLE_SHARE * rows.nbytes)
    return WatchedRows(open_rows(rows, memory_limit=limit, **options), console)


def sample(prepared: Prepared, seed: int, most: int = SAMPLE_ROWS) -> tuple[NDArray[np.intp] | None, NDArray[Any]]:
    """Numbers (m,) and prepared rows (m, q) for figures: all rows of an array (numbers None), or some of a source."""
    rows = prepared.rows
    if not isinstance(rows, RowSource):
        return None, rows
    index = np.sort(at_most(np.arange(known_rows(rows)), most, np.random.RandomState(seed)))
    return index, np.asarray(rows.take(index))


def known_rows(rows: NDArray[Any] | RowSource) -> int:
    """The number of rows, counted by a pass if necessary."""
    if not isinstance(rows, RowSource):
        return len(rows)
    known = rows.n_rows
    return sum(int(block.shape[0]) for block in rows.blocks()) if known is None else known


def files_of(data: Sequence[str]) -> list[Path]:
    """Absolute paths of the files and folders that DATA names; patterns are expanded."""
    found: dict[Path, None] = {}
    for word in data:
        # The caller reports files that are missing.
        with contextlib.suppress(MissingFileError):
            found |= dict.fromkeys(file.root or file.path for file in find_files(word)[0])
    return list(found)
