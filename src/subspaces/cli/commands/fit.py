"""`subspaces fit`: cluster the rows of files, and keep labels, model, report and how all of it was made."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping
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
from subspaces.cli.output import print_json, print_text
from subspaces.cli.targets import LABEL_FILES, RUN_FILES, check_target, put_file, put_folder, working_folder
from subspaces.rows.formats import TITLES

DEFAULT_OUT = "subspaces-run"
HELP = f"""Cluster the rows of files.

DATA are files of {TITLES}: one or several, a folder, or a pattern; - is CSV on stdin. The folder --out gets labels.csv,
labels.npy, model.subspaces, run.json and report.html, all of them or none; a name that ends in .npy or .csv gets the
labels alone. Rows may be larger than memory; with --checkpoint a run that was killed can be resumed.
"""


@click.command(cls=ConfiguredCommand, help=HELP)
@opt.data()
@opt.clusters
@click.option(
    "--method", type=values.OneOf(list(METHODS)), default="fls", metavar="NAME", help=", ".join(METHODS) + "."
)
@opt.dim
@opt.settings
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
    help=f"Folder of the results, or file.npy or file.csv for labels alone.  [default: {DEFAULT_OUT}]",
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
    with rows.session(options) as (console, paths):
        table = rows.read(paths, options, console)
        job.files = record.described_files([] if options["data"] == ["-"] else rows.files_of(paths))
        _compare_with_before(options, job.files, console)
        results.check_count(table.n_rows, out)
        if options["dry_run"]:
            document = fitting.plan(job, table, preparation)
        else:
            prepared = rows.prepare(table, preparation, console)
            with working_folder(out) as folder:
                document = fitting.fit_into(folder, job, prepared, console)
                _put(folder, out)
    if options["json"]:
        print_json(document if options["dry_run"] else {**document, "out": str(out.absolute())})
    else:
        print_text(document["text"] if options["dry_run"] else _summary(document, method, out))


def _checked(options: dict[str, Any]) -> tuple[Method, Path]:
    """The method and the target; refuses all that can be refused without reading a row."""
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
    out = record.path_of(options["out"])
    if not options["dry_run"]:
        alone = out.suffix.lower() in LABEL_FILES
        check_target(out, force=options["force"], ours=() if alone else RUN_FILES, inputs=options["data"])
    return method, out


def _put(folder: Path, out: Path) -> None:
    """Move the results to their place, all at once."""
    from subspaces.cli.results import too_many

    suffix = out.suffix.lower()
    if suffix not in LABEL_FILES:
        put_folder(folder, out)
        return
    made = folder / f"labels{suffix}"
    if not made.exists():
        raise too_many(out)
    put_file(made, out)


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
    lines = [
        f"{count} cluster{'s' * (count != 1)} of {rows['n_rows']:,} rows and {rows['n_columns']:,} columns by "
        f"{method.title}, in {duration(document['seconds'])}",
        "",
        results.clusters_text(found),
        "",
    ]
    if found["verdict"] is not None:
        lines += [str(verdict_of(found["verdict"])), ""]
    if document["scores"] is not None:
        lines.append(results.scores_text(document["scores"]))
    place = out.absolute()
    if out.suffix.lower() in LABEL_FILES:
        return "\n".join([*lines, f"labels: {place}"])
    names = {"labels.csv": "labels", "labels.npy": "labels", "model.subspaces": "model", "report.html": "report"}
    shown: dict[str, str] = {}
    for file, what in names.items():
        if file in document["files"]:
            shown.setdefault(what, file)
    return "\n".join([*lines, *(f"{what}: {place / file}" for what, file in shown.items())])
