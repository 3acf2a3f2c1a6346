"""`subspaces predict`: labels of new rows by the model of a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from subspaces._core.arrays import to_host
from subspaces.cli import _results as results
from subspaces.cli._console import Console
from subspaces.cli._errors import Mistake
from subspaces.cli._parser import Asked
from subspaces.cli._record import absolute, path_of
from subspaces.cli._rows import Prepared, apply, read, real_paths
from subspaces.cli._runs import PastRun, open_run
from subspaces.cli._targets import LABEL_FILES, check_target, put_file, working_folder
from subspaces.cli._watched import WatchedRows
from subspaces.cli._words import say, say_json, to_reader
from subspaces.rows import RowSource, Table, open_rows
from subspaces.selection.record import plain


def run(asked: Asked) -> None:
    """Label the rows and write or print their labels."""
    options = asked.options()
    # What was not given is as in the run.
    for name in ("missing", "memory-limit"):
        options[name] = asked.given.get(name)
    out = None if options["out"] == "-" else path_of(options["out"])
    if out is not None:
        if out.suffix.lower() not in LABEL_FILES:
            raise Mistake(f"--out {options['out']} must end in .csv or .npy, or be - for stdout")
        inputs = [absolute(path) for path in [*options["data"], options["model"]]]
        check_target(out, force=options["force"], inputs=inputs)
    past = open_run(path_of(options["model"]))
    reading = past.reading(options)
    reading["missing"] = reading["missing"] or "error"
    reading["memory-limit"] = reading["memory-limit"] or "1GB"
    with Console(quiet=options["quiet"], verbose=options["verbose"]) as console, real_paths(options["data"]) as paths:
        table = read(paths, reading, console)
        if out is not None:
            results.check_count(table.n_rows, out)
        prepared = _prepared(past, table, console)
        if out is None:
            labels = _labels(past, prepared, None, console)
        else:
            with working_folder(out) as folder:
                labels = _labels(past, prepared, folder, console)
                _write(folder, out, labels, table)
    if options["json"]:
        say_json(_document(past, labels, table, out), indent=None)
    elif out is None:
        _print(labels, table)
    else:
        sizes, outliers = results.cluster_sizes(labels, _count(past, labels))
        told = results.clusters_text({"sizes": sizes, "outliers": outliers, "dimensions": None})
        say(f"{told}\n\nlabels: {out.absolute()}")


def _prepared(past: PastRun, table: Table, console: Console) -> Prepared:
    rows = WatchedRows(table.rows, console) if isinstance(table.rows, RowSource) else table.rows
    wanted = past.model if past.preparation is None else past.preparation
    if len(table.columns) != wanted.n_features_in_:
        raise Mistake(
            f"the rows have {len(table.columns)} columns, and the model is of {wanted.n_features_in_}: name them by "
            "--columns, or leave others out by --drop"
        )
    return Prepared(table, None, rows) if past.preparation is None else apply(past.preparation, table, rows)


def _labels(past: PastRun, prepared: Prepared, folder: Path | None, console: Console) -> Any:
    """Labels (n,) of all rows, on the disk where rows do not fit into memory."""
    console.stage("labels")
    rows = prepared.rows
    if isinstance(rows, RowSource) and folder is not None:
        rows = open_rows(rows, labels=folder / "labels.npy")
    return to_host(past.model.predict(rows))


def _write(folder: Path, out: Path, labels: Any, table: Table) -> None:
    made = folder / f"made{out.suffix.lower()}"
    if out.suffix.lower() == ".npy":
        results.write_labels(made, labels)
    else:
        results.check_count(len(labels), out)
        results.write_csv(made, results.label_columns(labels, table))
    put_file(made, out)


def _print(labels: Any, table: Table) -> None:
    columns = results.label_columns(labels, table)
    stream = getattr(sys.stdout, "buffer", None)
    with to_reader():
        sys.stdout.flush()
        if stream is not None:
            results.stream_csv(stream, columns)
            stream.flush()
            return
        import io

        content = io.BytesIO()
        results.stream_csv(content, columns)
        sys.stdout.write(content.getvalue().decode("utf-8", "backslashreplace"))


def _document(past: PastRun, labels: Any, table: Table, out: Path | None) -> dict[str, Any]:
    sizes, outliers = results.cluster_sizes(labels, _count(past, labels))
    found: dict[str, Any] = {"n_rows": len(labels), "sizes": sizes, "outliers": outliers}
    if out is not None:
        return {**found, "out": str(out.absolute())}
    names = None if table.row_names is None else list(table.row_names)
    return {**found, "names": names, "labels": plain(np.asarray(labels))}


def _count(past: PastRun, labels: Any) -> int:
    known = getattr(past.model, "n_clusters_", None) or past.model.n_clusters
    return max(int(known), int(np.max(labels, initial=-1)) + 1)
