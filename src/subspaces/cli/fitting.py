"""The work of `subspaces fit`: fit a model, write the results into a folder, and describe the run."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import to_host
from subspaces._core.errors import InputError, file_errors, memory_errors
from subspaces._core.files import write_whole
from subspaces._core.plain import plain
from subspaces._core.words import duration
from subspaces.cli import record, results
from subspaces.cli.configuration import by_long_name
from subspaces.cli.console import Console
from subspaces.cli.methods import Method
from subspaces.cli.page import write_report
from subspaces.cli.rows import Prepared, fit_rows, known_rows
from subspaces.cli.targets import RUN_FILES, labels_alone
from subspaces.estimators.access import wrap
from subspaces.rows import Preparation, RowSource, Table, parse_bytes
from subspaces.saving import RUN_MODEL
from subspaces.show.report.stability import MOST_SECONDS

# Time of a report besides its refits.
PAGE_SECONDS = 1.0


@dataclass(slots=True)
class Job:
    """A fit with everything that the run records about it."""

    model: Any  # not fitted yet
    method: Method
    options: dict[str, Any]
    line: str  # the command as it was typed
    began: float  # of time.monotonic()
    files: list[dict[str, Any]] = field(default_factory=list)

    @property
    def labels_alone(self) -> bool:
        """Whether --out is a place of labels alone."""
        return labels_alone(self.options["out"])


def build(method: Method, options: dict[str, Any]) -> Any:
    """The estimator, not fitted."""
    parse_bytes(options["memory_limit"])
    given = dict(options["set"])
    if options["outliers"]:
        given.setdefault("detect_outliers", True)
    if options["whiten"] != "auto":
        given["whiten"] = options["whiten"]
    if options["standardise"] is False and method.name == "fls":
        given.setdefault("standardise", False)
    return method.build(options["clusters"], options["dim"], options["seed"], given, n_jobs=options["jobs"])


def fit_into(folder: Path, job: Job, prepared: Prepared, console: Console) -> dict[str, Any]:
    """Fit, and write everything into `folder`; returns the content of run.json."""
    started, table, options = record.now(), prepared.table, job.options
    began = time.monotonic()
    _fit(folder, job, prepared, console)
    fit_seconds = round(time.monotonic() - began, 4)
    if getattr(job.model, "standardise_", False):
        console.remark(
            "columns were divided by their standard deviations, because their units differ: --no-standardise keeps them"
        )
    console.stage("writing results")
    labels = _kept_labels(job.model, folder)
    if len(labels) <= results.MOST_CSV_ROWS:
        per_row = [getattr(job.model, name, None) for name in ("confidence_", "outlier_scores_")]
        results.write_csv(folder / "labels.csv", results.label_columns(labels, table, *per_row))
    else:
        console.remark(f"labels.csv is skipped above {results.MOST_CSV_ROWS:,} rows: the labels are in labels.npy")
    document = {"started": started, **_document(job, table, labels), "fit_seconds": fit_seconds}
    if not job.labels_alone:
        _save_model(job.model, folder, prepared)
        if options["report"]:
            console.stage("report", whole=True)
            so_far = {**document, **_so_far(console, job.began)}
            shown = write_report(folder / "report.html", job.model, prepared, labels, so_far, console)
            if shown is not None:
                document["fit"]["verdict"] = document["fit"]["verdict"] or shown["verdict"]
                document["fit"]["profiles"] = shown["profiles"]
    console.stage("finishing")
    document |= _so_far(console, job.began)
    document["files"] = sorted(path.name for path in folder.iterdir() if path.name in RUN_FILES)
    if not job.labels_alone:
        document["files"] = sorted([*document["files"], "run.json"])
        write_whole(folder / "run.json", json.dumps(document, indent=1, allow_nan=False) + "\n")
    return document


def plan(job: Job, table: Table, preparation: Preparation | None) -> dict[str, Any]:
    """What the fit would do, with its memory and time."""
    options, method = job.options, job.method
    n, p = known_rows(table.rows), len(table.columns)
    if options["clusters"] != "auto" and options["clusters"] > n:
        raise InputError(f"-k: {options['clusters']} must be between 1 and {n}: there are {n} rows")
    p = p if preparation is None else preparation.count_columns(n, p)
    dtype = table.rows.dtype
    dtype = dtype if dtype in (np.float32, np.float64) else np.dtype(np.float64)
    if hasattr(job.model, "plan"):
        made = job.model.plan(n, p, dtype=dtype, memory_limit=options["memory_limit"])
        found, guess, text = asdict(made), made.seconds, str(made)
    else:
        found, guess = None, method.seconds(n, p)
        text = f"{n:,} rows of {p} columns; {method.title}; roughly {duration(guess)} on one core"
    document = {"rows": n, "columns": p, "plan": found, "seconds": guess, "report_seconds": 0.0, "text": text}
    if options["report"] and not job.labels_alone:
        # Refits to measure stability take at most as long as the fit, and at most about a minute.
        document["report_seconds"] = min(guess, MOST_SECONDS) + PAGE_SECONDS
        document["text"] += (
            f"\nthe report takes up to {duration(document['report_seconds'])} more; --no-report skips it"
        )
    return document


def _fit(folder: Path, job: Job, prepared: Prepared, console: Console) -> None:
    console.stage("fit")
    # A fit of rows in files reads them, and writes labels and checkpoints.
    with file_errors():
        rows = fit_rows(
            prepared,
            console,
            memory_limit=job.options["memory_limit"],
            labels=folder / "labels.npy",
            checkpoint=job.options["checkpoint"],
            device=job.options["device"],
        )
    fit_model(job.model, rows)


def fit_model(model: Any, rows: Any) -> None:
    """Fit a model; too little memory, and a disk that fails while rows are read from it, are not bugs."""
    with memory_errors():
        if not isinstance(rows, RowSource):
            model.fit(rows)
            return
        with file_errors():
            model.fit(rows)


def _document(job: Job, table: Table, labels: NDArray[Any]) -> dict[str, Any]:
    options, model = job.options, job.model
    return {
        "format": record.FORMAT,
        "version": record.VERSION,
        "command": "fit",
        "line": job.line,
        "options": by_long_name({name: value for name, value in options.items() if name not in ("config", "again")}),
        "method": {"name": job.method.name, "estimator": job.method.title, "parameters": plain(model.get_params())},
        "seed": options["seed"],
        "data": job.files,
        "rows": {
            "n_rows": len(labels),
            "n_columns": len(table.columns),
            "columns": list(table.columns),
            "means": plain(table.means),
            "notes": list(table.notes),
        },
        "environment": record.environment(),
        "fit": results.facts(model, labels),
        "scores": None if table.truth is None else results.scores(table.truth, labels),
    }


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
    """Labels (n,) of all rows, which the fit may already have written into `folder`."""
    path = folder / "labels.npy"
    if not path.exists():
        results.write_labels(path, model.labels_)
    # Labels on disk stay there.
    return np.load(path, mmap_mode="r") if isinstance(model.labels_, np.memmap) else to_host(model.labels_)


def _save_model(model: Any, folder: Path, prepared: Prepared) -> None:
    """Save the model with its preparation and the names of columns; without labels if rows do not fit into memory."""
    table = prepared.table
    wrapped = wrap(model, prepared.preparation, table.columns if table.has_names else None)
    if isinstance(prepared.rows, RowSource):
        del wrapped.labels_
    wrapped.save(folder / RUN_MODEL)
