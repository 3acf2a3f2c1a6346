"""The work of `subspaces compare`: fit several methods to the same rows and measure them."""

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
from subspaces._core.errors import UserError
from subspaces._core.files import write_whole
from subspaces._core.plain import plain
from subspaces._core.words import duration
from subspaces.cli import record, results
from subspaces.cli.configuration import by_long_name
from subspaces.cli.console import Console
from subspaces.cli.errors import one_line_of
from subspaces.cli.fitting import fit_model
from subspaces.cli.methods import Method
from subspaces.cli.rows import Prepared, fit_rows, known_rows, sample
from subspaces.cli.targets import Target
from subspaces.cli.values import LARGEST_SEED
from subspaces.metrics import residual_share
from subspaces.metrics.labels import labels_agreement
from subspaces.rows import RowSource
from subspaces.rows.thresholds import FIT_ROWS
from subspaces.show.baselines import BASELINES, Baseline, FittedBaseline, fit_baseline

# Residuals are compared at this dimension if neither --dim nor a model gives one.
DIM = 3


@dataclass(slots=True)
class Outcome:
    """Result of one method."""

    method: Method | Baseline
    labels: NDArray[Any] | None = None  # (n,), of the first seed
    seconds: float | None = None  # of a fit, the mean over seeds
    n_clusters: int | None = None
    agreement: float | None = None  # of halves of the landmarks, if the model measures it
    stability: float | None = None  # mean adjusted Rand index between labels of different seeds
    residual: float | None = None
    scores: dict[str, float] = field(default_factory=dict)
    dim: int | None = None  # of the clusters
    n_fitted: int | None = None  # rows that it was fitted to, if fewer than all
    not_run: str | None = None  # why the method has no labels

    def as_dict(self) -> dict[str, Any]:
        """All but the labels, in values that JSON can hold."""
        return {
            "method": self.method.name,
            "estimator": self.method.title,
            "seconds": plain(self.seconds),
            "n_clusters": self.n_clusters,
            **{name: plain(value) for name, value in self.scores.items()},
            "residual": plain(self.residual),
            "agreement": plain(self.agreement),
            "stability": plain(self.stability),
            "n_fitted": self.n_fitted,
            "not_run": self.not_run,
        }


def run_method(method: Method, prepared: Prepared, options: dict[str, Any], console: Console) -> Outcome:
    """Fit one method with every seed; the outcome of a method that cannot run contains the reason."""
    outcome = Outcome(method)
    dim = options["dim"] if method.takes_dim else "auto"
    outcome.not_run = _reason_not_to_run(method, dim, prepared, options)
    if outcome.not_run is not None:
        return outcome
    console.prefix = f"{method.name}: "
    console.stage("fit")
    began = time.monotonic()
    try:
        models = [_fitted(method, dim, number, prepared, options, console) for number in range(options["repeats"])]
    except UserError as error:
        outcome.not_run = one_line_of(error)
        return outcome
    outcome.seconds = (time.monotonic() - began) / len(models)
    found = [to_host(model.labels_) for model in models]
    first, outcome.labels = models[0], found[0]
    outcome.agreement = getattr(first, "agreement_", None)
    outcome.n_clusters = int(getattr(first, "n_clusters_", None) or first.n_clusters)
    outcome.dim = _middle_dim(first)
    pairs = [_agreement(a, b) for i, a in enumerate(found) for b in found[:i]]
    outcome.stability = float(np.mean(pairs)) if pairs else None
    return outcome


def _middle_dim(model: Any) -> int | None:
    """The middle dimension of the clusters of a model, or None; landmark flats often have fewer than the clusters."""
    dims = getattr(model, "cluster_dims_", ())
    return int(np.sort(dims)[(len(dims) - 1) // 2]) if len(dims) else None


def run_baselines(prepared: Prepared, options: dict[str, Any], console: Console) -> list[Outcome]:
    """Results of the ordinary methods."""
    return [run_baseline(each, prepared, options, console) for each in BASELINES.values()]


def run_baseline(baseline: Baseline, prepared: Prepared, options: dict[str, Any], console: Console) -> Outcome:
    """Fit an ordinary method with every seed, to a sample if there are too many rows for it."""
    outcome = Outcome(baseline)
    n_clusters = None if options["clusters"] == "auto" else int(options["clusters"])
    if n_clusters is None and not baseline.finds_number:
        outcome.not_run = "needs the number of clusters, such as -k 10"
        return outcome
    console.prefix = f"{baseline.name}: "
    console.stage("fit")
    began = time.monotonic()
    found, fits = [], []
    for number in range(options["repeats"]):
        seed = (options["seed"] + number) % (LARGEST_SEED + 1)
        rows = np.asarray(sample(prepared, seed, FIT_ROWS)[1], np.float64)
        try:
            fits.append(fit_baseline(baseline, rows, n_clusters, seed))
        except UserError as error:
            outcome.not_run = one_line_of(error)
            return outcome
        if not fits[-1].n_clusters:
            outcome.not_run = "found no clusters: all rows are noise"
            return outcome
        found.append(_baseline_labels(fits[-1], prepared))
    outcome.seconds = (time.monotonic() - began) / len(fits)
    outcome.labels, outcome.n_clusters = found[0], fits[0].n_clusters
    fitted = len(fits[0].rows)
    outcome.n_fitted = fitted if fitted < known_rows(prepared.rows) else None
    pairs = [_agreement(a, b) for i, a in enumerate(found) for b in found[:i]]
    outcome.stability = float(np.mean(pairs)) if pairs else None
    return outcome


def _baseline_labels(fitted: FittedBaseline, prepared: Prepared) -> NDArray[Any]:
    """Labels (n,) of all rows."""
    rows = prepared.rows
    if isinstance(rows, RowSource):
        return np.concatenate([fitted.predict(np.asarray(to_host(block), np.float64)) for block in rows.blocks()])
    if len(fitted.rows) == len(rows):
        return fitted.labels
    return fitted.predict(np.asarray(rows, np.float64))


def _reason_not_to_run(method: Method, dim: int | str, prepared: Prepared, options: dict[str, Any]) -> str | None:
    refusal = method.refusal(options["clusters"], dim)
    if refusal is not None:
        return refusal.reason
    guess = method.seconds(min(known_rows(prepared.rows), FIT_ROWS), prepared.n_columns)
    if "all" in options["methods"] and guess * options["repeats"] > options["time_limit"]:
        return f"would take about {duration(guess)} a fit; --methods {method.name} runs it"
    return None


def _fitted(
    method: Method, dim: int | str, number: int, prepared: Prepared, options: dict[str, Any], console: Console
) -> Any:
    seed = (options["seed"] + number) % (LARGEST_SEED + 1)
    model = method.build(options["clusters"], dim, seed, {})
    fit_model(model, fit_rows(prepared, console, memory_limit=options["memory_limit"]))
    return model


def measure(outcomes: Sequence[Outcome], prepared: Prepared, options: dict[str, Any], console: Console) -> int:
    """Measure each outcome; returns the dimension at which residuals are compared."""
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
    """Adjusted Rand index of every pair of methods."""
    done = [(outcome.method.name, outcome.labels) for outcome in outcomes if outcome.labels is not None]
    return {name: {other: 1.0 if name == other else _agreement(a, b) for other, b in done} for name, a in done}


def _agreement(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Adjusted Rand index of two clusterings (n,), in any order; rows labelled -1 are a group of their own in both."""
    return labels_agreement(first + 1, second + 1)


def document_of(
    outcomes: Sequence[Outcome],
    prepared: Prepared,
    options: dict[str, Any],
    line: str,
    console: Console,
    dim: int,
    files: list[Path],
) -> dict[str, Any]:
    return {
        "format": "subspaces comparison",
        "version": 1,
        "command": "compare",
        "line": line,
        "options": by_long_name(options),
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


def write(target: Target, document: dict[str, Any], outcomes: Sequence[Outcome], prepared: Prepared) -> None:
    """Write the comparison as JSON and CSV, and the labels of all methods."""
    folder, rows = target.folder, document["methods"]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: ["" if row.get(name) is None else row[name] for row in rows] for name in names}
    results.write_csv(folder / "comparison.csv", columns)
    done = [outcome for outcome in outcomes if outcome.labels is not None]
    if known_rows(prepared.rows) <= results.MOST_CSV_ROWS and done[0].labels is not None:
        columns_of_rows = results.label_columns(done[0].labels, prepared.table)
        columns_of_rows.pop("label")
        columns_of_rows |= {outcome.method.name: outcome.labels for outcome in done if outcome.labels is not None}
        results.write_csv(folder / "labels.csv", columns_of_rows)
    write_whole(folder / "comparison.json", json.dumps(document, indent=1, allow_nan=False) + "\n")
    target.put()
