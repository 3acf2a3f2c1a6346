"""Rows as a command gets them: read, prepared, and ready to be fitted."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces.cli._console import Console
from subspaces.cli._errors import Mistake, files_of_user
from subspaces.cli._watched import WatchedRows
from subspaces.cli.columns import column_of, columns_of
from subspaces.rows import Preparation, RowSource, Table, open_rows, parse_bytes, read_table, unusual_columns
from subspaces.rows.feed import FIT_ROWS, SAMPLE_SHARE

# Of rows that are not in memory, at most so many are looked at for reports and figures.
SAMPLE_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class Prepared:
    """Rows as they were read, and as a model sees them."""

    table: Table
    preparation: Preparation | None
    rows: NDArray[Any] | RowSource  # (n, q)

    @property
    def n_rows(self) -> int | None:
        """The number of rows; None where it takes a pass to know."""
        return self.rows.n_rows if isinstance(self.rows, RowSource) else len(self.rows)

    @property
    def n_columns(self) -> int:
        """Columns that a model sees."""
        return self.rows.n_columns if isinstance(self.rows, RowSource) else int(self.rows.shape[1])


@contextlib.contextmanager
def real_paths(data: Sequence[str]) -> Iterator[list[str]]:
    """Paths of files for `data`; what comes from stdin is kept in one until the end."""
    if "-" not in data:
        yield list(data)
        return
    if len(data) > 1:
        raise Mistake("DATA - is standard input, which cannot be joined with files: give one or the other")
    folder = Path(tempfile.mkdtemp(prefix="subspaces-"))
    try:
        with (folder / "stdin.csv").open("wb") as copy:
            shutil.copyfileobj(getattr(sys.stdin, "buffer", sys.stdin), copy)
        yield [str(folder / "stdin.csv")]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read(paths: Sequence[str], options: Mapping[str, Any], console: Console) -> Table:
    """The rows of `paths` by the options of reading; what the user should know of them is told."""
    if not paths:
        raise Mistake("no DATA is given: name a file, or data = [...] in the configuration")
    for path in paths:
        # Rows are read several times, and whoever opens a pipe without a writer waits for ever.
        if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
            raise Mistake(f"{path} is no file: write the rows to one, or pipe CSV into subspaces fit -")
    console.stage("reading rows")
    names = ("key", "columns", "drop", "truth", "names", "missing", "memory-limit")
    given: dict[str, Any] = {name.replace("-", "_"): options.get(name) for name in names}
    given |= {name: columns_of(f"--{name}", options.get(name)) for name in ("columns", "drop")}
    given |= {name: column_of(f"--{name}", options.get(name)) for name in ("truth", "names")}
    shapes = {name: tuple(options[name]) if options.get(name) else None for name in ("image-shape", "image-size")}
    with files_of_user():
        table = read_table(list(paths), **given, image_shape=shapes["image-shape"], image_size=shapes["image-size"])
    for note in table.notes:
        console.remark(note)
    return table


def preparation_of(options: Mapping[str, Any]) -> Preparation | None:
    """What was asked for before rows are clustered, not fitted; what does for no rows is refused."""
    given = {name.replace("-", "_"): options[name] for name in ("standardise", "pca", "whiten-drop")}
    return Preparation(**given).check_parameters() if any(given.values()) else None


def prepare(table: Table, preparation: Preparation | None, console: Console) -> Prepared:
    """Rows after a preparation that is fitted to them."""
    rows = WatchedRows(table.rows, console) if isinstance(table.rows, RowSource) else table.rows
    if isinstance(rows, np.ndarray) and table.image_shape is None and not (preparation and preparation.standardise):
        for each in unusual_columns(rows, table.columns):
            console.warn(each)
    if preparation is None:
        return Prepared(table, None, rows)
    console.stage("preparing rows")
    return apply(preparation.fit(rows), table, rows)


def apply(preparation: Preparation, table: Table, rows: NDArray[Any] | RowSource) -> Prepared:
    """Rows (n, p) after a preparation that is known."""
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
    """What an estimator is given to fit: an array where there are few rows, else a source that tells of its passes."""
    rows = prepared.rows
    options: dict[str, Any] = {"checkpoint": checkpoint, "device": device}
    if isinstance(rows, RowSource):
        # A checkpoint keeps labels in its own folder: it knows a run by where labels go.
        return open_rows(rows, labels=None if checkpoint else labels, **options)
    if len(rows) <= FIT_ROWS and checkpoint is None and device is None:
        return rows
    # Rows that are in memory anyway are no reason for a smaller sample.
    limit = max(parse_bytes(memory_limit), SAMPLE_SHARE * rows.nbytes)
    return WatchedRows(open_rows(rows, memory_limit=limit, **options), console)


def sample(prepared: Prepared, seed: int, most: int = SAMPLE_ROWS) -> tuple[NDArray[np.intp] | None, NDArray[Any]]:
    """Numbers (m,) and prepared rows (m, q) to look at: all rows of an array (no numbers), or some of a source."""
    rows = prepared.rows
    if not isinstance(rows, RowSource):
        return None, rows
    count = known_rows(rows)
    index = np.arange(count)
    if count > most:
        index = np.sort(np.random.RandomState(seed).choice(count, most, replace=False))
    return index, np.asarray(rows.take(index))


def known_rows(rows: NDArray[Any] | RowSource) -> int:
    """The number of rows, by a pass if need be."""
    if not isinstance(rows, RowSource):
        return len(rows)
    known = rows.n_rows
    return sum(int(block.shape[0]) for block in rows.blocks()) if known is None else known


def files_of(data: Sequence[str]) -> list[Path]:
    """The files and folders that words of the command line stand for, absolute; patterns as they are found."""
    found = []
    for word in data:
        text = os.path.abspath(os.path.expanduser(word))
        matches = sorted(glob.glob(text, recursive=True)) if not os.path.exists(text) else [text]
        found += [Path(match) for match in matches]
    return found
