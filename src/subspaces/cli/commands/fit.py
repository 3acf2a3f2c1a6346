"""`subspaces fit`: cluster the rows of files, and keep labels, model, report and how all of it was made."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click

from subspaces._core.errors import InputError
from subspaces._core.words import duration
from subspaces.cli import options as opt
from subspaces.cli import record, values
from subspaces.cli.configuration import ConfiguredCommand, read_run
from subspaces.cli.console import Console
from subspaces.cli.methods import METHODS, Method
from subspaces.cli.output import bytes_to_stdout, print_json, print_progress, print_text
from subspaces.cli.targets import RUN_FILES, STDOUT, Target, claimed, labels_alone, unplaced
from subspaces.rows.formats import TITLES

DEFAULT_OUT = "subspaces-run"
HELP = f"""Cluster the rows of files.

DATA are files of {TITLES}: one or several, a folder, or a pattern; - is CSV on stdin. The folder --out gets labels.csv,
labels.npy, model.subspaces, run.json and report.html, all of them or none; a name that ends in .npy or .csv gets the
labels alone, and - prints them to stdout as CSV. Rows may be larger than memory; with --checkpoint a run that was
killed can be resumed.
"""


@click.command(cls=ConfiguredCommand, help=HELP)
@opt.data()
@opt.clusters
@click.option(
    "--method", type=values.OneOf(list(METHODS)), default="fls", metavar="NAME", help=", ".join(METHODS) + "."
)
@opt.dim
@opt.settings()
@click.option("--outliers/--no-outliers", help="Label rows that belong to no cluster -1 (fls only).")
@click.option(
    "--whiten",
    type=values.Share(word="auto"),
    default="auto",
    metavar="POWER",
    help='Whiten rows to this power from 0, not at all, to 1, wholly, or "auto" (fls only).',
)
@click.option(
    "--out",
    type=values.Place(),
    metavar="PATH",
    help=f"Folder of the results, or file.npy, file.csv or - (stdout) for labels alone.  [default: {DEFAULT_OUT}]",
)
@opt.reading()
@opt.preparing
@click.option(
    "--checkpoint",
    type=values.Place(folder=True),
    metavar="FOLDER",
    help="Save the state of a long run in this folder; the same command resumes it.",
)
@click.option("--device", type=values.Text(), metavar="NAME", help='Where rows are processed, such as "cuda".')
@click.option(
    "--jobs", type=values.Whole(1), metavar="N", help="Most threads of the fit.  [default: as many as BLAS uses]"
)
@opt.seed
@click.option("--report/--no-report", default=True, help="Write report.html.")
@opt.config
@click.option(
    "--again",
    type=values.Place(folder=True),
    metavar="RUN",
    help="Repeat the run in this folder: same data, same options, same labels.",
)
@click.option("--dry-run", is_flag=True, help="Print the plan with its memory and time, and do nothing.")
@opt.force
@opt.talk
@click.pass_context
def fit(ctx: click.Context, /, **options: Any) -> None:
    """Cluster the rows of files, and write labels, model and report."""
    from subspaces.cli import fitting, results, rows

    method, out = _checked(options)
    model = fitting.build(method, options)
    preparation = rows.preparation_of(options)
    job = fitting.Job(model, method, options, line=shlex.join(["subspaces", *ctx.obj]), began=time.monotonic())
    with _claimed(options, out) as target, rows.session(options) as (console, paths):
        table = rows.read(paths, options, console)
        job.files = record.described_files([] if options["data"] == ["-"] else rows.files_of(paths))
        _compare_with_before(options, job.files, console)
        results.check_count(table.n_rows, out)
        if target is None:
            document = fitting.plan(job, table, preparation)
        else:
            prepared = rows.prepare(table, preparation, console, standardise=options["standardise"])
            document = fitting.fit_into(target.folder, job, prepared, console)
            console.finish()
            _put(target, document, options)
    if options["dry_run"]:
        print_json(document) if options["json"] else print_text(document["text"])
    elif options["json"]:
        print_json({**document, "out": options["out"] if options["out"] == STDOUT else str(out.absolute())})
    elif options["out"] != STDOUT:
        print_text(_summary(document, method, out))
    elif not options["quiet"]:
        # Stdout has the labels.
        print_progress(_summary(document, method, out))


def _checked(options: dict[str, Any]) -> tuple[Method, Path]:
    """The method and the place of results; refuses options that contradict each other."""
    options["data"] = [record.absolute(path) for path in options["data"]]
    for name in ("truth", "names"):
        # A file instead of a column.
        if options[name] and options[name].lower().endswith(".npy"):
            options[name] = record.absolute(options[name])
    if options["checkpoint"]:
        options["checkpoint"] = record.absolute(options["checkpoint"])
    method = METHODS[options["method"]]
    method.check(options["clusters"], options["dim"])
    if options["outliers"]:
        if method.name != "fls":
            raise InputError(f"--outliers: --method {method.name} does not detect outliers, only fls does")
        if options["set"].get("detect_outliers", True) is False:
            raise InputError("--outliers and --set detect_outliers=false contradict each other: leave one out")
    if options["whiten"] != "auto":
        if method.name != "fls":
            raise InputError(f"--whiten: --method {method.name} does not whiten rows, only fls does")
        if "whiten" in options["set"]:
            raise InputError("--whiten and --set whiten contradict each other: leave one out")
    if options["out"] is None:
        options["out"] = DEFAULT_OUT if options["again"] is None else f"{options['again'].rstrip('/')}-again"
    return method, record.path_of(options["out"])


def _claimed(options: Mapping[str, Any], out: Path) -> AbstractContextManager[Target | None]:
    """The place of the results, claimed before a row is read; None for a plan."""
    if options["dry_run"]:
        return nullcontext()
    if options["out"] == STDOUT:
        return unplaced()
    ours = () if labels_alone(options["out"]) else RUN_FILES
    return claimed(out, force=options["force"], ours=ours, inputs=options["data"])


def _put(target: Target, document: dict[str, Any], options: Mapping[str, Any]) -> None:
    """Move the results to their place, all at once; with --out -, print the labels or add them to the document."""
    from subspaces.cli.results import too_many

    to_stdout = options["out"] == STDOUT
    suffix = ".csv" if to_stdout else target.path.suffix.lower()
    name = f"labels{suffix}" if labels_alone(options["out"]) else None
    if name is not None and not (target.folder / name).exists():
        raise too_many(options["out"])
    if not to_stdout:
        target.put(name)
    elif options["json"]:
        import numpy as np

        document["labels"] = np.load(target.folder / "labels.npy").tolist()
    else:
        with (target.folder / "labels.csv").open("rb") as labels, bytes_to_stdout() as stream:
            shutil.copyfileobj(labels, stream)


def _compare_with_before(options: Mapping[str, Any], files: list[dict[str, Any]], console: Console) -> None:
    """Warn if the data or the version differ from those of the run that is repeated."""
    path = _repeated(options)
    if path is None:
        return
    before = read_run(path)
    for name in record.changed_files(before.get("data") or [], files):
        console.warn(f"{name} has changed since the run that is repeated: labels may differ")
    now, then = record.environment(), before.get("environment") or {}
    if now["subspaces"] != then.get("subspaces"):
        console.warn(f"the run was made by subspaces {then.get('subspaces')}: labels may differ")


def _repeated(options: Mapping[str, Any]) -> Path | None:
    if options["again"] is not None:
        return record.path_of(options["again"]) / "run.json"
    if options["config"] is not None and options["config"].lower().endswith(".json"):
        return record.path_of(options["config"])
    return None


def _summary(document: Mapping[str, Any], method: Method, out: Path) -> str:
    """Sizes and dimensions of clusters, the verdict on them, and the paths of the results."""
    from subspaces.cli import results
    from subspaces.selection.verdict import verdict_of

    found, rows = document["fit"], document["rows"]
    count = found["n_clusters"]
    first = "No clusters in" if count == 1 else f"{count} clusters of"
    lines = [
        f"{first} {rows['n_rows']:,} rows and {rows['n_columns']:,} columns by {method.title}, in "
        f"{duration(document['seconds'])}",
        "",
    ]
    if count > 1:
        lines += [results.clusters_text(found), ""]
    if found["verdict"] is not None:
        lines += [str(verdict_of(found["verdict"])), ""]
    if document["scores"] is not None:
        lines.append(results.scores_text(document["scores"]))
    place = out.absolute()
    if labels_alone(str(out)):
        return "\n".join([*lines, f"labels: {place}"] if str(out) != STDOUT else lines).rstrip()
    names = {"labels.csv": "labels", "labels.npy": "labels", "model.subspaces": "model", "report.html": "report"}
    shown: dict[str, str] = {}
    for file, what in names.items():
        if file in document["files"]:
            shown.setdefault(what, file)
    return "\n".join([*lines, *(f"{what}: {place / file}" for what, file in shown.items())])
