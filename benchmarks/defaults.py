"""FLS with default parameters and K given, on all kinds of data, and the methods that it is compared with.

    SUBSPACES_DATA=folder python benchmarks/defaults.py fls benchmarks/results/defaults.json --jobs 16
    SUBSPACES_DATA=folder python benchmarks/defaults.py relatives benchmarks/results/defaults_relatives.json --jobs 16
    python benchmarks/defaults.py fls benchmarks/results/defaults.json --table

`--only WORD` measures and prints the tasks with WORD in their name: a part (motions, mnist, pendigits, unequal, faces,
synthetic, robustness, tables, none, held), a data set or a method. `--tables FILE.npz` adds tables of your
own (arrays X_NAME and y_NAME) as part "held". `--table` prints a summary of both files and whether the targets are
reached.

Each fit runs in a process of its own with one BLAS thread. A fit that fails or takes more than `--limit` seconds is
recorded as such. The same command goes on where it was interrupted. Seconds are of CPU time, for tables the least of
three fits.
"""

from __future__ import annotations

import json
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from default_sets import RELATIVES, DataSet, data_sets, nearest_neighbor_spectral
from default_table import print_tables
from measuring import Parts, Record, measure, parser
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from subspaces import FLS
from subspaces.metrics import clustering_accuracy

# Data and methods to begin with: the slowest ones.
SLOW_SETS = ("faces 38", "yale 38", "gauss50", "held", "mnist 0", "mnist 1", "unequal mnist", "mnist", "pendigits")
SLOW_METHODS = ("FLS", "KFlats", "LBF", "FLS auto", "SSC affine", "spectral rbf")
N_TIMINGS = 3

Task = tuple[str, str, str, int]  # part, data set, method, seed
Run = dict[str, Any]


def tasks(sets: dict[str, DataSet], relatives: bool) -> list[Task]:
    """All fits, the slowest first."""
    todo = []
    for name, each in sets.items():
        if relatives:
            todo += [
                (each.part, name, method, seed)
                for method, relative in RELATIVES.items()
                for seed in range(min(each.draws, each.relative_draws))
                if each.n_clusters <= (relative.max_clusters or each.n_clusters)
            ]
            continue
        todo += [(each.part, name, "FLS", seed) for seed in range(each.draws)]
        todo += [(each.part, name, "FLS auto", 0)] if each.part == "motions" else []
    return sorted(todo, key=lambda task: (_rank(task[1], SLOW_SETS), _rank(task[2], SLOW_METHODS)))


def _rank(name: str, order: tuple[str, ...]) -> int:
    return next((i for i, word in enumerate(order) if name.startswith(word)), len(order))


def one_fit(sets: dict[str, DataSet], task: Task) -> Run:
    """One fit."""
    _, name, method, seed = task
    each = sets[name]
    X, y = each.load(seed)
    if method in RELATIVES:
        relative = RELATIVES[method]
        X, y = relative.rows(X, y, each.n_clusters, seed)
        model = relative.make(each.n_clusters, seed)
    else:
        model = FLS("auto" if method == "FLS auto" else each.n_clusters, random_state=seed)
    labels, seconds = fitted(model, X)
    known = y >= 0
    run = {
        "accuracy": clustering_accuracy(y, labels),
        "ari": adjusted_rand_score(y[known], labels[known]),
        "seconds": seconds,
    }
    if isinstance(model, FLS):
        run |= described(model)
        if each.part == "tables":
            run["seconds"] = least_seconds(model, X)
            run["spectral_seconds"] = least_seconds(nearest_neighbor_spectral(each.n_clusters, seed), X)
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in run.items()}


def fitted(model: Any, X: Any) -> tuple[Any, float]:
    """Labels and seconds of CPU time, which depend little on the other processes."""
    start = time.process_time()
    labels = np.asarray(model.fit_predict(X))
    return labels, time.process_time() - start


def least_seconds(model: Any, X: Any) -> float:
    """The least CPU time of a few fits: a process that has just begun is slow."""
    return min(fitted(clone(model), X)[1] for _ in range(N_TIMINGS))


def described(model: FLS) -> Run:
    """What was chosen, and how reliable the clusters are said to be."""
    names = ("n_clusters", "affine", "subspace_dim", "neighborhood", "n_components", "agreement")
    found = {name: getattr(model, f"{name}_", None) for name in names}
    found |= {"structure": model.verdict_.structure, "trust": model.verdict_.trust}
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in found.items()}


def warm_up() -> None:
    """Import what fits import, so that no measured fit does."""
    warnings.simplefilter("ignore")
    X = np.random.default_rng(0).normal(size=(60, 3))
    for model in (FLS(2, random_state=0), *(each.make(2, 0) for each in RELATIVES.values())):
        model.fit_predict(X)


def build(sets: dict[str, DataSet], results: dict[Task, Run]) -> Record:
    """Runs by data set, method and seed."""
    found: Record = {}
    for name, each in sets.items():
        found[name] = {"part": each.part, "n_clusters": each.n_clusters, "runs": {}}
    for (_, name, method, seed), run in sorted(results.items(), key=lambda pair: pair[0][3]):
        found[name]["runs"].setdefault(method, {})[str(seed)] = run
    return {"results": {name: entry for name, entry in found.items() if entry["runs"]}}


def estimator(task: Task) -> str:
    """The class that a task measures."""
    return type(RELATIVES[task[2]].make(2, 0)).__name__ if task[2] in RELATIVES else "FLS"


def known(record: Record) -> dict[Task, Any]:
    """The results in what `build` made."""
    return {
        (entry["part"], name, method, int(seed)): run
        for name, entry in record["results"].items()
        for method, runs in entry["runs"].items()
        for seed, run in runs.items()
    }


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("methods", choices=("fls", "relatives"))
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--limit", type=float, default=200.0, help="seconds after which a fit is ended")
    arguments.add_argument("--tables", type=Path, help="a .npz file with arrays X_NAME and y_NAME")
    arguments.add_argument("--table", action="store_true", help="print a summary and stop")
    options = arguments.parse_args()
    if not options.table:
        sets = data_sets(options.tables)
        todo = tasks(sets, options.methods == "relatives")
        warm_up()
        work, made = partial(one_fit, sets), partial(build, sets)
        measure(options.out, todo, work, made, options, limit=options.limit, parts=Parts(estimator, known))
    if options.methods == "fls" and options.out.exists():
        relatives = options.out.with_name(f"{options.out.stem}_relatives.json")
        found = json.loads(relatives.read_text())["results"] if relatives.exists() else {}
        print_tables(json.loads(options.out.read_text())["results"], found)


if __name__ == "__main__":
    main()
