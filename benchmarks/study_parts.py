"""Clusters of unequal sizes: in how many eigenvectors are parts made, and how many further landmark sets are needed?

    SUBSPACES_DATA=folder python benchmarks/study_parts.py benchmarks/results/study_parts.json --jobs 16
    python benchmarks/study_parts.py benchmarks/results/study_parts.json --table

Accuracy of `FLS(K)` on MNIST and penDigits with unequal numbers of each digit, for several values of PART_VECTORS
(spectral/thresholds.py; 0 for no more than k-means tries) with the present number of sets, and for several values of
UNSURE_DRAWS (selection/limits.py) with the present number of eigenvectors. Both were chosen on the first draws of these
data; the draws here are others.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from measuring import measure, parser
from paper_sets import unequal_sets

from subspaces import FLS
from subspaces.metrics import clustering_accuracy
from subspaces.selection import choosing, consensus
from subspaces.selection.limits import UNSURE_DRAWS
from subspaces.spectral.thresholds import PART_VECTORS

VECTORS = (0, 8, 16, 24)
SETS = (2, 4, 6)
SEEDS = range(100, 103)
SETTINGS = tuple(dict.fromkeys([*((each, UNSURE_DRAWS) for each in VECTORS), *((PART_VECTORS, each) for each in SETS)]))

Task = tuple[str, int, int, int]  # data set, eigenvectors, landmark sets, seed


def tasks() -> list[Task]:
    """All fits, the slowest first."""
    names = sorted((name for name in unequal_sets() if "R^" not in name), key=lambda name: "0-9" not in name)
    return [(name, *setting, seed) for name in names for setting in SETTINGS for seed in SEEDS]


def study(task: Task) -> float:
    """The accuracy of one fit."""
    warnings.simplefilter("ignore")
    name, vectors, sets, seed = task
    load, n_clusters = unequal_sets()[name]
    X, y = load(seed)
    with mock.patch.object(choosing, "PART_VECTORS", vectors), mock.patch.object(consensus, "UNSURE_DRAWS", sets):
        labels = FLS(n_clusters, random_state=seed).fit_predict(X)
    return round(clustering_accuracy(y, labels), 4)


def build(results: dict[Task, float]) -> dict[str, Any]:
    """Accuracies by data set and setting."""
    found: dict[str, Any] = {}
    for (name, vectors, sets, _), value in results.items():
        found.setdefault(name, {}).setdefault(f"{vectors} {sets}", []).append(value)
    return {"results": found}


def print_table(results: dict[str, Any]) -> None:
    """Mean and lowest accuracy by data set; columns are eigenvectors and landmark sets."""
    columns = [f"{vectors} {sets}" for vectors, sets in SETTINGS]
    print(f"{'eigenvectors, sets':52}" + "".join(f"{each:>16}" for each in columns))
    for name, runs in results.items():
        print(f"{name:52}" + "".join(f"{np.mean(runs[each]):8.3f} ({min(runs[each]):.3f})" for each in columns))


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--table", action="store_true", help="print the stored results and stop")
    options = arguments.parse_args()
    if not options.table:
        measure(options.out, tasks(), study, build, options)
    if options.out.exists():
        print_table(json.loads(options.out.read_text())["results"])


if __name__ == "__main__":
    main()
