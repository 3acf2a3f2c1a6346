"""FLS with default parameters and K given, on all kinds of data, and the methods that it is compared with.

    SUBSPACES_DATA=folder python benchmarks/defaults.py fls benchmarks/results/defaults.json --jobs 16
    SUBSPACES_DATA=folder python benchmarks/defaults.py relatives benchmarks/results/defaults_relatives.json --jobs 16
    python benchmarks/defaults.py fls benchmarks/results/defaults.json --table

`--only PART` measures one part (motions, mnist, pendigits, unequal, faces, synthetic, robustness, tables, none, held)
or the data sets whose name contains it; other results are kept. `--tables FILE.npz` adds tables of your own (arrays
X_NAME and y_NAME) as part "held". `--table` prints a summary of both files and whether the targets are reached.

Each fit runs in a process of its own with one BLAS thread. A fit that fails or takes more than `--limit` seconds is
recorded as such. Results are written as they come. Seconds are of CPU time.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from multiprocessing import connection
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import numpy as np
from default_sets import RELATIVES, DataSet, data_sets, nearest_neighbor_spectral
from default_table import print_tables
from kept import ALL, opened, script_source
from sklearn.metrics import adjusted_rand_score

from subspaces import FLS
from subspaces.metrics import clustering_accuracy

SECONDS_BETWEEN_WRITES = 5.0
# Data and methods to begin with: the slowest ones.
SLOW_SETS = ("faces 38", "yale 38", "gauss50", "held", "mnist 0", "mnist 1", "unequal mnist", "mnist", "pendigits")
SLOW_METHODS = ("FLS", "KFlats", "LBF", "FLS auto", "SSC affine", "spectral rbf")

Task = tuple[str, str, int]  # data set, method, seed
Run = dict[str, Any]


def tasks(sets: dict[str, DataSet], relatives: bool) -> list[Task]:
    """All fits, the slowest first."""
    todo = []
    for name, each in sets.items():
        if relatives:
            todo += [
                (name, method, seed)
                for method, relative in RELATIVES.items()
                for seed in range(min(each.draws, each.relative_draws))
                if each.n_clusters <= (relative.max_clusters or each.n_clusters)
            ]
            continue
        todo += [(name, "FLS", seed) for seed in range(each.draws)]
        todo += [(name, "FLS auto", 0)] if each.part == "motions" else []
    return sorted(todo, key=lambda task: (_rank(task[0], SLOW_SETS), _rank(task[1], SLOW_METHODS)))


def _rank(name: str, order: tuple[str, ...]) -> int:
    return next((i for i, word in enumerate(order) if name.startswith(word)), len(order))


def measure(sets: dict[str, DataSet], task: Task) -> Run:
    """One fit."""
    name, method, seed = task
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
        if each.part in ("tables", "held"):
            run["spectral_seconds"] = fitted(nearest_neighbor_spectral(each.n_clusters, seed), X)[1]
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in run.items()}


def fitted(model: Any, X: Any) -> tuple[Any, float]:
    """Labels and seconds of CPU time, which depend little on the other processes."""
    start = time.process_time()
    labels = np.asarray(model.fit_predict(X))
    return labels, time.process_time() - start


def described(model: FLS) -> Run:
    """What was chosen, and how reliable the clusters are said to be."""
    names = ("n_clusters", "affine", "subspace_dim", "neighborhood", "n_components", "agreement")
    found = {name: getattr(model, f"{name}_", None) for name in names}
    found |= {"structure": model.verdict_.structure, "trust": model.verdict_.trust}
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in found.items()}


def each_in_its_process(
    work: Callable[[Task], Run], todo: Iterable[Task], *, jobs: int, limit: float
) -> Iterator[tuple[Task, Run]]:
    """Results as they come; {"error": ...} of tasks that failed or took too long."""
    context = multiprocessing.get_context("fork")
    waiting = deque(todo)
    running: dict[Any, tuple[Task, Any, float]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=_send, args=(work, waiting[0], sender))
            process.start()
            sender.close()
            running[receiver] = (waiting.popleft(), process, time.monotonic())
        ready = connection.wait(list(running), timeout=1.0)
        for receiver, (task, process, start) in list(running.items()):
            if receiver in ready:
                run = _received(receiver)
            elif time.monotonic() - start > limit:
                process.kill()
                run = {"error": f"more than {limit:.0f} s"}
            else:
                continue
            process.join()
            receiver.close()
            del running[receiver]
            yield task, run


def _send(work: Callable[[Task], Run], task: Task, sender: Any) -> None:
    warnings.simplefilter("ignore")
    try:
        run = work(task)
    except Exception as error:
        run = {"error": repr(error)[:200]}
    sender.send(run)


def _received(receiver: Any) -> Run:
    try:
        return receiver.recv()
    except EOFError:
        return {"error": "the process ended"}


def warm_up() -> None:
    """Import what fits import, so that no measured fit does."""
    warnings.simplefilter("ignore")
    X = np.random.default_rng(0).normal(size=(60, 3))
    for model in (FLS(2, random_state=0), *(each.make(2, 0) for each in RELATIVES.values())):
        model.fit_predict(X)


def write(path: Path, record: Run) -> None:
    """JSON with one line for each method on each data set."""
    text = json.dumps(record, indent=1)
    # Runs are the fourth level: join their lines.
    path.write_text(re.sub(r"\n {5,}|\n {4}(?=\})", " ", text) + "\n")


def run_tasks(options: argparse.Namespace, record: Run) -> None:
    """Measure, print failures and progress, and write the record every few seconds."""
    sets = data_sets(options.tables)
    chosen = {name: each for name, each in sets.items() if options.only in ("", each.part)}
    chosen = chosen or {name: each for name, each in sets.items() if options.only in name}
    todo = [task for task in tasks(chosen, options.methods == "relatives") if task[2] < options.draws]
    warm_up()
    start = written = time.monotonic()
    runs = each_in_its_process(partial(measure, chosen), todo, jobs=options.jobs, limit=options.limit)
    for done, (task, run) in enumerate(runs, 1):
        name, method, seed = task
        each = chosen[name]
        entry = record["results"].setdefault(name, {"part": each.part, "n_clusters": each.n_clusters, "runs": {}})
        entry["runs"].setdefault(method, {})[str(seed)] = run
        if "error" in run:
            print(f"{name}, {method}, seed {seed}: {run['error']}", flush=True)
        if done == len(todo) and chosen == sets:
            record["sources"] = {ALL: script_source(Path(__file__))}
        if time.monotonic() - written > SECONDS_BETWEEN_WRITES or done == len(todo):
            written = time.monotonic()
            write(options.out, record)
            print(f"{written - start:.0f} s: {done} of {len(todo)} fits", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", choices=("fls", "relatives"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="a part, or part of the name of a data set")
    parser.add_argument("--draws", type=int, default=100, help="at most this many draws")
    parser.add_argument("--limit", type=float, default=200.0, help="seconds after which a fit is ended")
    parser.add_argument("--tables", type=Path, help="a .npz file with arrays X_NAME and y_NAME")
    parser.add_argument("--table", action="store_true", help="print a summary and stop")
    options = parser.parse_args()
    record = opened(options.out, f"python benchmarks/defaults.py {options.methods} {options.out}")
    record.setdefault("results", {})
    if not options.table:
        run_tasks(options, record)
    if options.methods == "fls":
        relatives = options.out.with_name(f"{options.out.stem}_relatives.json")
        print_tables(record["results"], json.loads(relatives.read_text())["results"] if relatives.exists() else {})


if __name__ == "__main__":
    main()
