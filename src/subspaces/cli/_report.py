"""`subspaces report`: the page about a run, made of what it kept and of its data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from subspaces._core.files import write_whole
from subspaces.cli import _record as record
from subspaces.cli._console import Console
from subspaces.cli._errors import Mistake
from subspaces.cli._page import page
from subspaces.cli._parser import Asked
from subspaces.cli._rows import Prepared, apply, files_of, read
from subspaces.cli._runs import PastRun, open_run
from subspaces.cli._targets import check_target
from subspaces.cli._watched import WatchedRows
from subspaces.cli._words import say, say_json
from subspaces.rows import RowSource


def run(asked: Asked) -> None:
    """Read the data of a run again and write its page."""
    options = asked.options()
    folder = record.path_of(options["run"])
    out = folder / "report.html" if options["out"] is None else record.path_of(options["out"])
    if not folder.is_dir():
        raise Mistake(f"{folder} is not the folder of a run")
    if out.suffix.lower() not in (".html", ".htm"):
        raise Mistake(f"--out {options['out']} must end in .html")
    check_target(out, force=options["force"])
    past = open_run(folder)
    assert past.document is not None
    asked_then = past.document["options"]
    if options["truth"]:
        if options["truth"] in past.document["rows"]["columns"]:
            raise Mistake(
                f"--truth {options['truth']} is a column that the run clustered by: fit again with it as --truth"
            )
        # The columns are those of then, whatever was the truth.
        asked_then = past.reading({**asked_then, "truth": options["truth"], "columns": None, "drop": None})
    if asked_then.get("data") in (None, [], ["-"]):
        raise Mistake(f"{folder} is a run of rows from standard input, which are gone: fit again from a file")
    with Console(quiet=options["quiet"], verbose=options["verbose"]) as console:
        prepared, labels = _rows(past, asked_then, folder, console)
        console.stage("report", whole=True)
        document = {"stages": [], "peak_memory": None, "warnings": [], "notes": [], **past.document}
        write_whole(out, page(past.model, prepared, labels, document))
    if options["json"]:
        say_json({"report": str(out.absolute())})
    else:
        say(f"report: {out.absolute()}")


def _check_data(known: list[dict[str, Any]], data: list[str]) -> None:
    """Refuse data that is not what the run labelled: its labels say nothing about other rows."""
    files = record.described_files(files_of(data))
    gone = sorted({entry["path"] for entry in known} - {entry["path"] for entry in files})
    if gone:
        raise Mistake(f"{gone[0]} is not there any more, and the labels of the run are of its rows: fit again")
    changed = record.changed_files(known, files)
    if changed:
        raise Mistake(
            f"{changed[0]} is not what it was when the run was made, and its labels are of the rows of then: fit again"
        )


def _rows(past: PastRun, options: dict[str, Any], folder: Path, console: Console) -> tuple[Prepared, Any]:
    """The rows of the run, prepared as then, and their labels."""
    assert past.document is not None
    _check_data(past.document["data"], options["data"])
    table = read(options["data"], options, console)
    rows = WatchedRows(table.rows, console) if isinstance(table.rows, RowSource) else table.rows
    prepared = Prepared(table, None, rows)
    if past.preparation is not None:
        prepared = apply(past.preparation, table, rows)
    try:
        labels = np.load(folder / "labels.npy", mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise Mistake(f"{folder / 'labels.npy'} is damaged ({error}): fit again") from None
    count = prepared.n_rows
    if labels.ndim != 1 or (count is not None and count != len(labels)):
        raise Mistake(f"the data has {count} rows, and the run labelled {labels.shape}: fit again")
    return prepared, labels
