"""`subspaces report`: the page about a run, made from its results and its data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subspaces._core.errors import InputError
from subspaces._core.files import write_whole
from subspaces.cli import options as opt
from subspaces.cli import record, values
from subspaces.cli.command import Command
from subspaces.cli.configuration import by_parameter
from subspaces.cli.console import Console
from subspaces.cli.output import print_json, print_text
from subspaces.cli.targets import claimed

if TYPE_CHECKING:
    from subspaces.cli.rows import Prepared
    from subspaces.cli.runs import PastRun


@click.command(cls=Command)
@click.argument("run", type=values.Place(folder=True), metavar="RUN")
@click.option(
    "--out",
    type=values.Place(),
    metavar="FILE.html",
    help="File of the report.  [default: report.html in the folder of the run]",
)
@opt.truth
@opt.force
@opt.talk
def report(**options: Any) -> None:
    """Write the report of a run again.

    RUN is the folder of a run. Its data is read again.
    """
    from subspaces.cli.page import page
    from subspaces.cli.runs import open_run

    folder = record.path_of(options["run"])
    out = folder / "report.html" if options["out"] is None else record.path_of(options["out"])
    if not folder.is_dir():
        raise InputError(f"{folder} is not the folder of a run")
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--out {options['out']} must end in .html")
    console = Console(quiet=options["quiet"], verbose=options["verbose"])
    with claimed(out, force=options["force"]) as target, console:
        past = open_run(folder)
        assert past.document is not None
        reading = _reading(past, past.document, options["truth"], folder)
        prepared, labels = _rows(past, reading, folder, console)
        console.stage("report", whole=True)
        document = {"stages": [], "peak_memory": None, "warnings": [], "notes": [], **past.document}
        write_whole(target.folder / out.name, page(past.model, prepared, labels, document).to_html())
        target.put(out.name)
    if options["json"]:
        print_json({"report": str(out.absolute())})
    else:
        print_text(f"report: {out.absolute()}")


def _reading(past: PastRun, document: dict[str, Any], truth: str | None, folder: Path) -> dict[str, Any]:
    """Options to read the rows of the run by; with a `truth` that may not have been given then."""
    reading = by_parameter(document["options"])
    if truth:
        if truth in document["rows"]["columns"]:
            raise InputError(f"--truth {truth} is a column that the run clustered by: fit again with it as --truth")
        # The columns are those of the run, whichever column was the truth.
        reading = past.reading({**reading, "truth": truth, "columns": None, "drop": None})
    if reading.get("data") in (None, [], ["-"]):
        raise InputError(f"{folder} is a run of rows from standard input, which were not kept: fit again from a file")
    return reading


def _check_data(known: list[dict[str, Any]], data: list[str]) -> None:
    """Refuse data that has changed: the labels of the run do not apply to other rows."""
    from subspaces.cli.rows import files_of

    files = record.described_files(files_of(data))
    gone = sorted({entry["path"] for entry in known} - {entry["path"] for entry in files})
    if gone:
        raise InputError(f"{gone[0]} does not exist any more, and the labels of the run belong to its rows: fit again")
    changed = record.changed_files(known, files)
    if changed:
        raise InputError(
            f"{changed[0]} has changed since the run was made, and the labels belong to the earlier rows: fit again"
        )


def _rows(past: PastRun, options: dict[str, Any], folder: Path, console: Console) -> tuple[Prepared, Any]:
    """The rows of the run, prepared as in the run, and their labels."""
    from subspaces.cli.results import read_labels
    from subspaces.cli.rows import Prepared, apply, read, watched

    assert past.document is not None
    _check_data(past.document["data"], options["data"])
    table = read(options["data"], options, console)
    rows = watched(table, console)
    prepared = Prepared(table, None, rows)
    if past.preparation is not None:
        prepared = apply(past.preparation, table, rows)
    model = past.model
    labels = read_labels(folder / "labels.npy", int(getattr(model, "n_clusters_", None) or model.n_clusters))
    count = prepared.n_rows
    if count is not None and count != len(labels):
        raise InputError(f"the data has {count} rows, and labels.npy has shape {labels.shape}: fit again")
    return prepared, labels
