"""`subspaces predict`: labels of new rows by the model of a run."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subspaces._core.errors import InputError, memory_errors
from subspaces.cli import options as opt
from subspaces.cli import values
from subspaces.cli.command import Command
from subspaces.cli.console import Console
from subspaces.cli.output import bytes_to_stdout, print_json, print_text
from subspaces.cli.record import absolute, path_of
from subspaces.cli.targets import LABEL_FILES, STDOUT, Target, claimed

if TYPE_CHECKING:
    from subspaces.cli.rows import Prepared
    from subspaces.cli.runs import PastRun
    from subspaces.rows import Table


@click.command(cls=Command)
@click.argument("model", type=values.Place(), metavar="MODEL")
@opt.data(required=True)
@click.option(
    "--out",
    type=values.Place(),
    default=STDOUT,
    metavar="FILE",
    help="file.csv or file.npy of the labels; - is CSV on stdout.",
)
@opt.reading(of_run=True)
@opt.force
@opt.talk
def predict(**options: Any) -> None:
    """Label new rows by a model.

    MODEL is the folder of a run, or a .subspaces file; its columns and preparation are applied. DATA are files as for
    subspaces fit. Labels go to stdout as CSV, or to --out, with the
    confidence and the outlier score of each row if the method gives them.
    """
    from subspaces.cli import results, rows
    from subspaces.cli.runs import open_run

    out = _checked_target(options)
    past = open_run(path_of(options["model"]))
    reading = past.reading(options)
    reading["missing"] = past.means() if reading["missing"] == "mean" else reading["missing"] or "error"
    reading["memory_limit"] = reading["memory_limit"] or "1GB"
    with _claimed(options, out) as target, rows.session(options) as (console, paths):
        table = rows.read(paths, reading, console)
        if out is not None:
            results.check_count(table.n_rows, out)
        prepared = _prepared(past, table, console)
        labels = _labels(past, prepared, target, console)
        # A file of labels alone needs no further pass over the rows.
        per_row = {} if out is not None and out.suffix.lower() == ".npy" else _per_row(past.model, prepared, console)
        if target is not None:
            _write(target, labels, table, per_row)
    if options["json"]:
        print_json(_document(past, labels, table, out, per_row), indent=None)
    elif out is None:
        with bytes_to_stdout() as stream:
            results.stream_csv(stream, results.label_columns(labels, table, **per_row))
    else:
        sizes, outliers = results.cluster_sizes(labels, _count(past, labels))
        text = results.clusters_text({"sizes": sizes, "outliers": outliers, "dimensions": None})
        print_text(f"{text}\n\nlabels: {out.absolute()}")


def _checked_target(options: dict[str, Any]) -> Path | None:
    """The file of the labels; None for stdout."""
    if options["out"] == STDOUT:
        return None
    out = path_of(options["out"])
    if out.suffix.lower() not in LABEL_FILES:
        raise InputError(f"--out {options['out']} must end in .csv or .npy, or be - for stdout")
    return out


def _claimed(options: dict[str, Any], out: Path | None) -> AbstractContextManager[Target | None]:
    if out is None:
        return nullcontext()
    inputs = [absolute(path) for path in [*options["data"], options["model"]]]
    return claimed(out, force=options["force"], inputs=inputs)


def _prepared(past: PastRun, table: Table, console: Console) -> Prepared:
    from subspaces.cli.rows import Prepared, apply, watched

    rows = watched(table, console)
    wanted = past.model if past.preparation is None else past.preparation
    if len(table.columns) != wanted.n_features_in_:
        raise InputError(
            f"the rows have {len(table.columns)} columns, and the model needs {wanted.n_features_in_}: name them by "
            "--columns, or leave others out by --drop"
        )
    return Prepared(table, None, rows) if past.preparation is None else apply(past.preparation, table, rows)


def _labels(past: PastRun, prepared: Prepared, target: Target | None, console: Console) -> Any:
    """Labels (n,) of all rows, written to disk if rows do not fit into memory."""
    from subspaces._core.arrays import to_host
    from subspaces.rows import RowSource, open_rows

    console.stage("labels")
    rows = prepared.rows
    if isinstance(rows, RowSource) and target is not None:
        rows = open_rows(rows, labels=target.folder / "labels.npy")
    with memory_errors():
        return to_host(past.model.predict(rows))


def _per_row(model: Any, prepared: Prepared, console: Console) -> dict[str, Any]:
    """Confidence and outlier score (n,) of each row, as far as the model gives them."""
    from subspaces._core.arrays import to_host

    found = {}
    with memory_errors():
        for name in ("confidence", "outlier_scores"):
            if hasattr(model, name):
                console.stage(name.replace("_", " "))
                found[name] = to_host(getattr(model, name)(prepared.rows))
    return found


def _write(target: Target, labels: Any, table: Table, per_row: dict[str, Any]) -> None:
    from subspaces.cli import results

    out = target.path
    made = target.folder / f"made{out.suffix.lower()}"
    if out.suffix.lower() == ".npy":
        results.write_labels(made, labels)
    else:
        results.check_count(len(labels), out)
        results.write_csv(made, results.label_columns(labels, table, **per_row))
    target.put(made.name)


def _document(past: PastRun, labels: Any, table: Table, out: Path | None, per_row: dict[str, Any]) -> dict[str, Any]:
    import numpy as np

    from subspaces._core.plain import plain
    from subspaces.cli import results

    sizes, outliers = results.cluster_sizes(labels, _count(past, labels))
    found: dict[str, Any] = {"n_rows": len(labels), "sizes": sizes, "outliers": outliers}
    if out is not None:
        return {**found, "out": str(out.absolute())}
    names = None if table.row_names is None else list(table.row_names)
    return {**found, "names": names, "labels": plain(np.asarray(labels)), **plain(per_row)}


def _count(past: PastRun, labels: Any) -> int:
    import numpy as np

    known = getattr(past.model, "n_clusters_", None) or past.model.n_clusters
    return max(int(known), int(np.max(labels, initial=-1)) + 1)
