"""`subspaces compare`: several methods on the same rows."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import to_host
from subspaces._core.files import write_whole
from subspaces.cli import _record as record
from subspaces.cli import _results as results
from subspaces.cli._console import Console
from subspaces.cli._errors import Mistake, explain, is_mistake
from subspaces.cli._methods import METHODS, Method, method_of
from subspaces.cli._parser import Asked
from subspaces.cli._rows import (
    Prepared,
    files_of,
    fit_rows,
    known_rows,
    preparation_of,
    prepare,
    read,
    real_paths,
    sample,
)
from subspaces.cli._targets import check_target, put_folder, working_folder
from subspaces.cli._values import LARGEST_SEED
from subspaces.cli._words import say, say_json, seconds_text, table
from subspaces.metrics import adjusted_rand
from subspaces.metrics.residuals import residual_share
from subspaces.rows.feed import FIT_ROWS
from subspaces.selection.record import plain

FILES = ("comparison.json", "comparison.csv", "labels.csv")
# Flats of clusters are compared at this dimension where nothing says another.
DIM = 3


@dataclass(slots=True)
class Outcome:
    """What one method did."""

    method: Method
    labels: NDArray[Any] | None = None  # (n,), of the first seed
    seconds: float | None = None  # of a fit, the mean over seeds
    n_clusters: int | None = None
    agreement: float | None = None  # of halves of the landmarks, where the model tells it
    stability: float | None = None  # adjusted Rand index of labels by other seeds, the mean
    residual: float | None = None
    scores: dict[str, float] = field(default_factory=dict)
    dim: int | None = None  # of the subspaces that it fitted
    told: str | None = None  # why there is nothing

    def as_dict(self) -> dict[str, Any]:
        """All but the labels, as JSON can hold it."""
        return {
            "method": self.method.name,
            "estimator": self.method.title,
            "seconds": plain(self.seconds),
            "n_clusters": self.n_clusters,
            **{name: plain(value) for name, value in self.scores.items()},
            "residual": plain(self.residual),
            "agreement": plain(self.agreement),
            "stability": plain(self.stability),
            "not_run": self.told,
        }


def run(asked: Asked) -> None:
    """Fit the methods one after another and tell how they did."""
    options = asked.options()
    options["data"] = [record.absolute(path) for path in options["data"] or []]
    methods, preparation = _chosen(options["methods"]), preparation_of(options)
    out = None if options["out"] is None else record.path_of(options["out"])
    if out is not None:
        check_target(out, force=options["force"], ours=FILES, inputs=options["data"])
    with Console(quiet=options["quiet"], verbose=options["verbose"]) as console, real_paths(options["data"]) as paths:
        prepared = prepare(read(paths, options, console), preparation, console)
        outcomes = [_outcome(method, prepared, options, console) for method in methods]
        if all(outcome.labels is None for outcome in outcomes):
            raise Mistake(f"no method ran: {outcomes[0].method.name}: {outcomes[0].told}")
        dim = _measure(outcomes, prepared, options, console)
        document = _document(outcomes, prepared, options, asked, console, dim, files_of(paths))
        if out is not None:
            _write(out, document, outcomes, prepared)
    if options["json"]:
        say_json(document)
    else:
        say(_text(outcomes, document))


def _chosen(names: Sequence[str]) -> list[Method]:
    if "all" in names:
        return list(METHODS.values())
    return [method_of(name, "--methods") for name in dict.fromkeys(names)]


def _outcome(method: Method, prepared: Prepared, options: dict[str, Any], console: Console) -> Outcome:
    """Fit one method; a method that cannot is told in a line."""
    outcome = Outcome(method)
    clusters, dim = options["clusters"], options["dim"]
    dim = dim if method.takes_dim else "auto"
    try:
        method.check(clusters, dim)
    except Mistake as error:
        outcome.told = str(error).replace(f"--method {method.name} ", "").split(":")[0]
        return outcome
    n = min(known_rows(prepared.rows), FIT_ROWS)
    guess = method.seconds(n, prepared.n_columns)
    if "all" in options["methods"] and guess * options["repeats"] > options["time-limit"]:
        outcome.told = f"would take about {seconds_text(guess)} a fit; --methods {method.name} runs it"
        return outcome
    found: list[NDArray[Any]] = []
    console.prefix = f"{method.name}: "
    console.stage("deciding")
    began = time.monotonic()
    for repeat in range(options["repeats"]):
        seed = (options["seed"] + repeat) % (LARGEST_SEED + 1)
        try:
            model = method.build(clusters, dim, seed, {}, verbose=options["verbose"])
            model.fit(fit_rows(prepared, console, memory_limit=options["memory-limit"]))
        except Exception as error:
            if not is_mistake(error):
                raise
            outcome.told = explain(error)
            return outcome
        found.append(to_host(model.labels_))
        if not repeat:
            outcome.agreement = getattr(model, "agreement_", None)
            outcome.n_clusters = int(getattr(model, "n_clusters_", None) or model.n_clusters)
            outcome.dim = getattr(model, "subspace_dim_", None)
    outcome.seconds = (time.monotonic() - began) / len(found)
    outcome.labels = found[0]
    pairs = [adjusted_rand(a, b) for i, a in enumerate(found) for b in found[:i]]
    outcome.stability = float(np.mean(pairs)) if pairs else None
    return outcome


def _measure(outcomes: Sequence[Outcome], prepared: Prepared, options: dict[str, Any], console: Console) -> int:
    """Figures of each outcome; returns the dimension at which residuals are compared."""
    console.prefix = ""
    console.stage("figures")
    dims = [outcome.dim for outcome in outcomes if outcome.dim is not None]
    dim = options["dim"] if options["dim"] != "auto" else dims[0] if dims else DIM
    dim = max(0, min(int(dim), prepared.n_columns - 1))
    index, rows = sample(prepared, options["seed"])
    rows = np.asarray(rows, np.float64)
    for outcome in outcomes:
        if outcome.labels is None:
            continue
        labels = np.asarray(outcome.labels if index is None else outcome.labels[index])
        outcome.residual = residual_share(rows, labels, dim)
        if prepared.table.truth is not None:
            outcome.scores = results.scores(prepared.table.truth, outcome.labels)
    return dim


def _agreements(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Adjusted Rand index of every two methods."""
    done = [(outcome.method.name, outcome.labels) for outcome in outcomes if outcome.labels is not None]
    return {
        name: {other: 1.0 if name == other else float(adjusted_rand(b, a)) for other, b in done} for name, a in done
    }


def _document(
    outcomes: Sequence[Outcome],
    prepared: Prepared,
    options: dict[str, Any],
    asked: Asked,
    console: Console,
    dim: int,
    files: list[Path],
) -> dict[str, Any]:
    return {
        "format": "subspaces comparison",
        "version": 1,
        "command": asked.command.name,
        "line": asked.line(),
        "options": options,
        "data": [] if options["data"] == ["-"] else record.described_files(files),
        "environment": record.environment(),
        "n_rows": known_rows(prepared.rows),
        "n_columns": prepared.n_columns,
        "residual_dimension": dim,
        "methods": [outcome.as_dict() for outcome in outcomes],
        "agreement": plain(_agreements(outcomes)),
        "warnings": list(console.warnings),
        "notes": list(console.notes),
    }


def _write(out: Path, document: dict[str, Any], outcomes: Sequence[Outcome], prepared: Prepared) -> None:
    with working_folder(out) as folder:
        rows = document["methods"]
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns = {name: ["" if row.get(name) is None else row[name] for row in rows] for name in names}
        results.write_csv(folder / "comparison.csv", columns)
        done = [outcome for outcome in outcomes if outcome.labels is not None]
        if known_rows(prepared.rows) <= results.MOST_CSV_ROWS and done[0].labels is not None:
            told = results.label_columns(done[0].labels, prepared.table)
            told.pop("label")
            told |= {outcome.method.name: outcome.labels for outcome in done if outcome.labels is not None}
            results.write_csv(folder / "labels.csv", told)
        write_whole(folder / "comparison.json", json.dumps(document, indent=1, allow_nan=False) + "\n")
        put_folder(folder, out)


def _text(outcomes: Sequence[Outcome], document: dict[str, Any]) -> str:
    done = [outcome for outcome in outcomes if outcome.labels is not None]
    shown: list[tuple[str, Any]] = [("seconds", lambda o: f"{o.seconds:.2f}"), ("K", lambda o: str(o.n_clusters))]
    if any(outcome.scores for outcome in done):
        for head, name in (("accuracy", "accuracy"), ("ARI", "adjusted_rand"), ("NMI", "normalized_mutual_info")):
            shown.append((head, lambda o, name=name: _figure(o.scores.get(name))))
    shown.append(("residual", lambda o: _figure(o.residual)))
    if any(outcome.agreement is not None for outcome in done):
        shown.append(("agreement", lambda o: _figure(o.agreement)))
    if any(outcome.stability is not None for outcome in done):
        shown.append(("stability", lambda o: _figure(o.stability)))
    rows = [[outcome.method.name, *(cell(outcome) for _, cell in shown)] for outcome in done]
    lines = [
        f"{document['n_rows']:,} rows of {document['n_columns']:,} columns",
        "",
        table(["method", *(head for head, _ in shown)], rows),
        "",
        f"residual: what is left of a typical row beside the subspace of dimension {document['residual_dimension']} of "
        "its cluster, fitted to other rows",
    ]
    if any(outcome.agreement is not None for outcome in done):
        lines.append("agreement: how far other landmarks of the same fit give the same clusters, where a method tells")
    if any(outcome.stability is not None for outcome in done):
        lines.append("stability: adjusted Rand index of the labels by other seeds")
    lines += [f"{outcome.method.name}: {outcome.told}" for outcome in outcomes if outcome.told is not None]
    if len(done) > 1:
        found = document["agreement"]
        names = [outcome.method.name for outcome in done]
        cells = [[name, *(_figure(found[name][other], 2) for other in names)] for name in names]
        lines += ["", "adjusted Rand index of every two:", table(["", *names], cells)]
    return "\n".join(lines)


def _figure(value: float | None, digits: int = 3) -> str:
    # Adding zero takes the sign off a zero.
    return "-" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"
