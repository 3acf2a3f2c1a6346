"""Does it help to describe rounded values no more finely than they are rounded?

    python benchmarks/study_grain.py [--tables tables.npz] [--jobs 16]
    python benchmarks/study_grain.py --table

Accuracy of `FLS(K)` on tables with and without `value_grain` (rows/preparation.py). `--tables` adds those that
benchmarks/fetch_tables.py collects. The rule was made after a look at these (Wisconsin), so they are not a fair test of
it. Only tables whose accuracy differs are listed.
"""

from __future__ import annotations

import json
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from default_sets import DataSet, data_sets
from measuring import measure, parser

from subspaces import FLS
from subspaces.metrics import clustering_accuracy
from subspaces.rows import preparation

RESULTS = Path(__file__).parent / "results" / "study_grain.json"
MOST_ROWS = 2500
SEEDS = 3

Task = tuple[str, str, int]  # data set, file of tables, seed


@lru_cache(maxsize=2)
def tables_of(path: str) -> dict[str, DataSet]:
    return {
        name: each for name, each in data_sets(Path(path) if path else None).items() if each.part in ("tables", "held")
    }


def study(task: Task) -> dict[str, Any]:
    """Accuracy with and without the step of values, and that step in standard deviations."""
    warnings.simplefilter("ignore")
    name, path, seed = task
    each = tables_of(path)[name]
    X, y = each.load(seed)
    if len(X) > MOST_ROWS:
        index = np.random.RandomState(seed).permutation(len(X))[:MOST_ROWS]
        X, y = X[index], y[index]
    known, scales = preparation.value_grain, X.std(axis=0)
    found: dict[str, Any] = {"grain": round(known(X, np.where(scales > 0, scales, 1)), 4)}
    for label, function in (("with", known), ("without", lambda x, scale=None: 0.0)):
        preparation.value_grain = function
        found[label] = round(clustering_accuracy(y, FLS(each.n_clusters, random_state=seed).fit_predict(X)), 4)
    preparation.value_grain = known
    return found


def build(results: dict[Task, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for (name, _, _), run in results.items():
        found.setdefault(name, []).append(run)
    return {"results": found}


def print_table(results: dict[str, Any]) -> None:
    runs = [run for each in results.values() for run in each]
    for name, each in results.items():
        if any(run["with"] != run["without"] for run in each):
            without, with_ = (np.mean([run[key] for run in each]) for key in ("without", "with"))
            print(f"{name:26} step {each[0]['grain']:.3f} deviations: {without:.3f} -> {with_:.3f}")
    without, with_ = (np.mean([run[key] for run in runs]) for key in ("without", "with"))
    print(f"mean of {len(runs)} runs: {without:.4f} -> {with_:.4f}")


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--tables", default="", help=".npz file of benchmarks/fetch_tables.py")
    arguments.add_argument("--table", action="store_true", help="print the stored results and stop")
    options = arguments.parse_args()
    if not options.table:
        tasks = [(name, options.tables, seed) for name in tables_of(options.tables) for seed in range(SEEDS)]
        measure(RESULTS, tasks, study, build, options)
    print_table(json.loads(RESULTS.read_text())["results"])


if __name__ == "__main__":
    main()
