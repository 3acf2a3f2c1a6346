"""`subspaces fit`: cluster the rows of files, and keep labels, model, report and how all of it was made."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import to_host
from subspaces._core.files import write_whole
from subspaces.cli import _record as record
from subspaces.cli import _results as results
from subspaces.cli._config import read_run
from subspaces.cli._console import Console
from subspaces.cli._errors import Mistake, settings_of_user
from subspaces.cli._methods import Method, method_of
from subspaces.cli._page import write_report
from subspaces.cli._parser import Asked
from subspaces.cli._rows import Prepared, files_of, fit_rows, known_rows, preparation_of, prepare, read, real_paths
from subspaces.cli._targets import LABEL_FILES, check_target, put_file, put_folder, working_folder
from subspaces.cli._words import say, say_json, seconds_text
from subspaces.rows import Preparation, RowSource, Table, parse_bytes
from subspaces.selection.record import plain

RUN_FILES = ("labels.csv", "labels.npy", "model.subspaces", "preparation.subspaces", "run.json", "report.html")
DEFAULT_OUT = "subspaces-run"


def run(asked: Asked) -> None:
    """Fit what was asked for; with --dry-run, tell what that would take."""
    options = asked.options()
    method, out, model = _checked(options)
    preparation = preparation_of(options)
    with Console(quiet=options["quiet"], verbose=options["verbose"]) as console:
        began = time.monotonic()
        with real_paths(options["data"] or []) as paths:
            table = read(paths, options, console)
            files = record.described_files([] if options["data"] == ["-"] else files_of(paths))
            _compare_with_before(options, files, console)
            results.check_count(table.n_rows, out)
            if options["dry-run"]:
                with settings_of_user(options["set"]):
                    document = _planned(model, method, table, preparation, options)
            else:
                prepared = prepare(table, preparation, console)
                with working_folder(out) as folder:
                    document = _fit(model, method, prepared, folder, options, asked, console, files, began)
                    _put(folder, out)
    if options["json"]:
        say_json({**document, "out": str(out.absolute())} if not options["dry-run"] else document)
    else:
        say(_summary(document, method, out) if not options["dry-run"] else document["text"])


def _checked(options: dict[str, Any]) -> tuple[Method, Path, Any]:
    """The method, the target and the estimator; everything that can be refused without reading a row is."""
    if options["data"]:
        options["data"] = [record.absolute(path) for path in options["data"]]
    for name in ("truth", "names"):
        # A file, in place of a column.
        if options[name] and options[name].lower().endswith(".npy"):
            options[name] = record.absolute(options[name])
    if options["checkpoint"]:
        options["checkpoint"] = record.absolute(options["checkpoint"])
    method = method_of(options["method"])
    method.check(options["clusters"], options["dim"])
    given = dict(options["set"])
    if options["outliers"]:
        if method.name != "fls":
            raise Mistake(f"--outliers: only fls tells outliers, and --method {method.name} does not: leave it out")
        if given.get("detect_outliers", True) is False:
            raise Mistake("--outliers and --set detect_outliers=false contradict each other: leave one out")
        given.setdefault("detect_outliers", True)
    parse_bytes(options["memory-limit"])
    if options["out"] is None:
        options["out"] = DEFAULT_OUT if options["again"] is None else f"{options['again'].rstrip('/')}-again"
    out = record.path_of(options["out"])
    alone = out.suffix.lower() in LABEL_FILES
    if not options["dry-run"]:
        inputs = options["data"] or []
        check_target(out, force=options["force"], ours=() if alone else RUN_FILES, inputs=inputs)
    model = method.build(options["clusters"], options["dim"], options["seed"], given, verbose=int(options["verbose"]))
    return method, out, model


def _fit(
    model: Any,
    method: Method,
    prepared: Prepared,
    folder: Path,
    options: dict[str, Any],
    asked: Asked,
    console: Console,
    files: list[dict[str, Any]],
    began: float,
) -> dict[str, Any]:
    """Fit, and write everything into `folder`; returns what run.json holds."""
    started, table = record.now(), prepared.table
    alone = Path(options["out"]).suffix.lower() in LABEL_FILES
    console.stage("deciding")
    rows = fit_rows(
        prepared,
        console,
        memory_limit=options["memory-limit"],
        labels=folder / "labels.npy",
        checkpoint=options["checkpoint"],
        device=options["device"],
    )
    with settings_of_user(options["set"]):
        model.fit(rows)
    console.stage("writing results")
    labels = _kept_labels(model, folder)
    confidence = getattr(model, "confidence_", None)
    if len(labels) <= results.MOST_CSV_ROWS:
        results.write_csv(folder / "labels.csv", results.label_columns(labels, table, confidence))
    else:
        console.remark(f"{len(labels):,} labels are in labels.npy alone: a table of so many rows serves nobody")
    document = {
        "format": record.FORMAT,
        "version": record.VERSION,
        "command": asked.command.name,
        "line": asked.line(),
        "started": started,
        "options": {name: value for name, value in options.items() if name not in ("config", "again")},
        "method": {"name": method.name, "estimator": method.title, "parameters": plain(model.get_params())},
        "seed": options["seed"],
        "data": files,
        "rows": {
            "n_rows": len(labels),
            "n_columns": len(table.columns),
            "columns": list(table.columns),
            "notes": list(table.notes),
        },
        "environment": record.environment(),
        "fit": results.facts(model, labels),
        "scores": None if table.truth is None else results.scores(table.truth, labels),
    }
    if not alone:
        if prepared.preparation is not None:
            prepared.preparation.save(folder / "preparation.subspaces")
        _save_model(model, folder, is_source=isinstance(prepared.rows, RowSource))
        if options["report"]:
            console.stage("report", whole=True)
            write_report(
                folder / "report.html", model, prepared, labels, {**document, **_so_far(console, began)}, console
            )
    console.stage("finishing")
    document |= _so_far(console, began)
    document["files"] = sorted(path.name for path in folder.iterdir() if path.name in RUN_FILES)
    if not alone:
        document["files"] = sorted([*document["files"], "run.json"])
        write_whole(folder / "run.json", json.dumps(document, indent=1, allow_nan=False) + "\n")
    return document


def _so_far(console: Console, began: float) -> dict[str, Any]:
    """Times, memory and warnings up to now."""
    return {
        "stages": record.rounded_stages(console.stages),
        "seconds": round(time.monotonic() - began, 4),
        "peak_memory": record.peak_memory(),
        "warnings": list(console.warnings),
        "notes": list(console.notes),
    }


def _kept_labels(model: Any, folder: Path) -> NDArray[Any]:
    """Labels (n,) of all rows in `folder`, where they may have been written while they were found."""
    path = folder / "labels.npy"
    if not path.exists():
        results.write_labels(path, model.labels_)
    # Large ones are looked at where they are.
    return np.load(path, mmap_mode="r") if isinstance(model.labels_, np.memmap) else to_host(model.labels_)


def _save_model(model: Any, folder: Path, *, is_source: bool) -> None:
    """The model in a file; labels of rows that do not fit into memory do not fit into it either."""
    labels = model.labels_
    try:
        if is_source:
            del model.labels_
        model.save(folder / "model.subspaces")
    finally:
        model.labels_ = labels


def _put(folder: Path, out: Path) -> None:
    """Results in their place, all at once."""
    suffix = out.suffix.lower()
    if suffix not in LABEL_FILES:
        put_folder(folder, out)
        return
    made = folder / f"labels{suffix}"
    if not made.exists():
        raise results.too_many(out)
    put_file(made, out)


def _compare_with_before(options: Mapping[str, Any], files: list[dict[str, Any]], console: Console) -> None:
    """Tell where a repeated run is not of the same data or version."""
    path = _repeated(options)
    if path is None:
        return
    before = read_run(path)
    for name in record.changed_files(before.get("data") or [], files):
        console.warn(f"{name} is not what it was in the run that is repeated: labels may differ")
    now, then = record.environment(), before.get("environment") or {}
    if now["subspaces"] != then.get("subspaces"):
        console.warn(f"the run was made by subspaces {then.get('subspaces')}: labels may differ")


def _repeated(options: Mapping[str, Any]) -> Path | None:
    if options["again"] is not None:
        return record.path_of(options["again"]) / "run.json"
    if options["config"] is not None and options["config"].lower().endswith(".json"):
        return record.path_of(options["config"])
    return None


def _planned(
    model: Any, method: Method, table: Table, preparation: Preparation | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    """What the fit would do."""
    from dataclasses import asdict

    n, p = known_rows(table.rows), len(table.columns)
    if options["clusters"] != "auto" and options["clusters"] > n:
        raise Mistake(f"-k {options['clusters']} must be between 1 and {n}: there are {n} rows")
    p = p if preparation is None else preparation.count_columns(n, p)
    dtype = table.rows.dtype
    dtype = dtype if dtype in (np.float32, np.float64) else np.dtype(np.float64)
    if hasattr(model, "plan"):
        plan = model.plan(n, p, dtype=dtype, memory_limit=options["memory-limit"])
        return {"rows": n, "columns": p, "plan": asdict(plan), "seconds": plan.seconds, "text": str(plan)}
    guess = method.seconds(n, p)
    text = f"{n:,} rows of {p} columns; {method.title}; roughly {seconds_text(guess)} on one core"
    return {"rows": n, "columns": p, "plan": None, "seconds": guess, "text": text}


def _summary(document: Mapping[str, Any], method: Method, out: Path) -> str:
    """Sizes and dimensions of clusters, how sure they are, and where everything is."""
    found, rows = document["fit"], document["rows"]
    count = found["n_clusters"]
    lines = [
        f"{count} cluster{'s' * (count != 1)} of {rows['n_rows']:,} rows and {rows['n_columns']:,} columns by "
        f"{method.title}, in {seconds_text(document['seconds'])}",
        "",
        results.clusters_text(found),
        "",
    ]
    if found["agreement"] is not None:
        lines.append(f"agreement of other landmarks: {found['agreement']:.2f} (1: the same clusters, 0: chance)")
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
