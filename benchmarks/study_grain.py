"""Does it help to describe rounded values no more finely than they are rounded?

    python benchmarks/study_grain.py benchmarks/results/study_grain.json [--tables tables.npz] [--jobs 16]
    python benchmarks/study_grain.py benchmarks/results/study_grain.json --table

Accuracy of `FLS(K)` on tables with and without `value_grain` (rows/preparation.py). `--tables` adds those that
benchmarks/fetch_tables.py collects, which no number was chosen on. Only tables for which labels differ are listed.
"""

from __future__ import annotations

import argparse
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from default_sets import DataSet, data_sets
from kept import opened, store

from subspaces import FLS
from subspaces.metrics import clustering_accuracy
from subspaces.rows import preparation

MOST_ROWS = 2500
SEEDS = 3


def sets_of(tables: Path | None) -> dict[str, DataSet]:
    return {name: each for name, each in data_sets(tables).items() if each.part in ("tables", "held")}


def measure(name: str, tables: Path | None, seed: int) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    each = sets_of(tables)[name]
    X, y = each.load(seed)
    if len(X) > MOST_ROWS:
        index = np.random.RandomState(seed).permutation(len(X))[:MOST_ROWS]
        X, y = X[index], y[index]
    found: dict[str, Any] = {"grain": preparation.value_grain(X, X.std(axis=0) + (X.std(axis=0) == 0))}
    known = preparation.value_grain
    for label, function in (("with", known), ("without", lambda x, scale=None: 0.0)):
        preparation.value_grain = function
        found[label] = round(clustering_accuracy(y, FLS(each.n_clusters, random_state=seed).fit_predict(X)), 4)
    preparation.value_grain = known
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--table", action="store_true", help="print a summary and stop")
    options = parser.parse_args()
    record = opened(options.out, f"python benchmarks/study_grain.py {options.out}")
    if not options.table:
        record["results"] = {}
        with ProcessPoolExecutor(options.jobs) as pool:
            waiting = {
                (name, seed): pool.submit(measure, name, options.tables, seed)
                for name in sets_of(options.tables)
                for seed in range(SEEDS)
            }
            for (name, _), each in waiting.items():
                record["results"].setdefault(name, []).append(each.result())
        store(options.out, record)
    runs = [run for each in record["results"].values() for run in each]
    for name, each in record["results"].items():
        with_, without = (np.mean([run[key] for run in each]) for key in ("with", "without"))
        if any(run["with"] != run["without"] for run in each):
            print(f"{name:26} grain {each[0]['grain']:.3f} of a deviation: {without:.3f} -> {with_:.3f}")
    without, with_ = (np.mean([run[key] for run in runs]) for key in ("without", "with"))
    print(f"mean of {len(runs)} runs: {without:.4f} -> {with_:.4f}")


if __name__ == "__main__":
    main()
