"""The report of a run."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.errors import UserError, UserFileError
from subspaces._core.files import write_whole
from subspaces.cli.console import Console
from subspaces.cli.errors import one_line_of, write_traceback
from subspaces.cli.record import versions
from subspaces.cli.rows import Prepared, sample
from subspaces.rows import RowSource
from subspaces.show.report import Report, Run, describe


def write_report(
    path: Path,
    model: Any,
    prepared: Prepared,
    labels: NDArray[Any],
    document: Mapping[str, Any],
    console: Console,
) -> dict[str, Any] | None:
    """Write the report of a run; returns its verdict and profiles.

    If that fails, warn: the labels are worth more than the page.
    """
    try:
        made = page(model, prepared, labels, document)
        write_whole(path, made.to_html())
    except UserFileError:
        raise
    except UserError as error:
        console.warn(f"the report could not be made: {one_line_of(error)}")
    except Exception as error:
        trace = write_traceback(error, [document["line"]])
        place = f"; the traceback is in {trace}" if trace else ""
        console.warn(
            f"the report could not be made, because of a bug in subspaces: {type(error).__name__}: {error}{place}"
        )
    else:
        # The terminal and run.json say what the page says.
        for warning in made.data["warnings"][len(document["warnings"]) :]:
            console.warn(warning)
        shown = made.data["verdict"]
        verdict = {name: value for name, value in shown.items() if name not in ("level", "badge", "text", "meaning")}
        words = {each["cluster"]: each["words"] for each in made.data["profiles"] if "words" in each}
        count = len(document["fit"]["sizes"])
        return {"verdict": verdict, "profiles": [words.get(k) for k in range(count)] if words else None}
    return None


def page(model: Any, prepared: Prepared, labels: NDArray[Any], document: Mapping[str, Any]) -> Report:
    """The report; of a sample if rows are not in memory."""
    table = prepared.table
    index, rows = sample(prepared, document["seed"])
    chosen: Any = slice(None) if index is None else index
    names = table.row_names
    if names is not None:
        names = tuple(np.asarray(names, dtype=object)[chosen])
    # People know the rows as they were read, not as they were prepared.
    values: Any = None if prepared.preparation is None else table.rows
    if isinstance(values, RowSource) and index is not None:
        values = np.asarray(values.take(index))
    confidence = getattr(model, "confidence_", None)
    hide = _without_folders(document)
    notes = [hide(each) for each in document["notes"]]
    title = ", ".join(Path(entry["path"]).name for entry in document["data"][:3]) or "rows from standard input"
    if index is not None and len(index) < len(labels):
        title += f": {len(index):,} of {len(labels):,} rows"
        notes.append(f"This page shows a random sample of {len(index):,} of {len(labels):,} rows.")
    run = Run(
        title=title,
        command=_short_command(document["line"]),
        seed=document["seed"],
        fit_seconds=document.get("fit_seconds"),
        stages=tuple((each["name"], each["seconds"]) for each in document["stages"]),
        peak_memory=document["peak_memory"],
        versions=versions(document["environment"]),
        data=tuple(Path(entry["path"]).name for entry in document["data"]),
        warnings=tuple(hide(each) for each in document["warnings"]),
        notes=tuple(notes),
    )
    return describe(
        model,
        rows,
        labels=np.asarray(labels[chosen]),
        confidence=confidence[chosen] if confidence is not None and len(confidence) == len(labels) else None,
        values=values,
        columns=table.columns,
        row_names=names,
        row_numbers=index if table.kept is None else table.kept[chosen],
        truth=None if table.truth is None else table.truth[chosen],
        image_shape=table.image_shape,
        run=run,
        random_state=document["seed"],
    )


def _short_command(line: str) -> str:
    """A command without folders of this machine: a page is given to other people."""
    try:
        words = shlex.split(line)
    except ValueError:  # a record that was edited
        words = line.split()
    return shlex.join(_short_word(word) for word in words)


def _short_word(word: str) -> str:
    option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    is_long = os.path.isabs(value) or value.startswith("~")
    return f"{option}{equals}{Path(value).name or value}" if is_long else word


def _without_folders(document: Mapping[str, Any]) -> Callable[[str], str]:
    """A function that removes the folders of the data and of this machine from a text."""
    known = {str(Path(entry["path"]).parent) for entry in document["data"]} | {os.path.expanduser("~")}
    folders = sorted((each.rstrip(os.sep) + os.sep for each in known), key=len, reverse=True)

    def hide(text: str) -> str:
        for folder in folders:
            # The root of all files is a part of every path.
            text = text if folder == os.sep else text.replace(folder, "")
        return text

    return hide
