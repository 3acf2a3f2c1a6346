"""Numbers of landmarks and of nearest flats, and dimensions of landmark flats: each given, with all else by default.

    python benchmarks/study_landmarks.py --jobs 16

Writes benchmarks/results/study_landmarks.json: mean and lowest accuracy. On data of more than 3,000 rows landmarks are
fewer than rows; on the others every row is one. Data are read from the folder named by SUBSPACES_DATA.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import known_data
import numpy as np
from measuring import Record, measure, parser

from subspaces import FLS
from subspaces.datasets import load_pendigits, load_yaleb
from subspaces.metrics import clustering_accuracy
from subspaces.selection.thresholds import DIMS, N_LANDMARKS, N_NEAREST, N_NEAREST_ALL

RESULTS = Path(__file__).parent / "results" / "study_landmarks.json"
DRAWS = 3
# Rows and classes by seed, and the number of clusters.
MANY_ROWS: dict[str, tuple[int, Callable[[int], Any]]] = {
    "MNIST 4, 9": (2, lambda seed: known_data.load("mnist 49 6000", seed)),
    "MNIST 2, 5, 7, 8, 9": (5, lambda seed: known_data.load("mnist 25789 6000", seed)),
    "penDigits": (10, lambda seed: load_pendigits()),
}
FEW_ROWS: dict[str, tuple[int, Callable[[int], Any]]] = {
    "digits": (10, lambda seed: known_data.load("digits", seed)),
    "Yale, 8 persons": (8, lambda seed: load_yaleb(8, random_state=seed)),
}
DATA = MANY_ROWS | FEW_ROWS
FEWER_AND_MORE = {f"{count} landmarks": {"n_landmarks": count} for count in (500, 1000, 2000, 5000)}
DIMENSIONS = {f"dimension {dim}": {"subspace_dim": dim} for dim in DIMS}
VARIANTS: dict[str, dict[str, dict[str, int]]] = {
    name: {
        "default": {},
        **(
            {f"{count} landmarks": {"n_landmarks": count} for count in (500, 1000, 2000, 5000)}
            if name in MANY_ROWS
            else {}
        ),
        **{f"{count} nearest": {"n_nearest": count} for count in (3, 5, 6, 8, 12) if count != default},
        **DIMENSIONS,
    }
    for name, default in [*((each, N_NEAREST) for each in MANY_ROWS), *((each, N_NEAREST_ALL) for each in FEW_ROWS)]
}


def one_fit(task: tuple[str, str, int]) -> float:
    name, variant, seed = task
    n_clusters, load = DATA[name]
    X, y = load(seed)
    model = FLS(n_clusters, random_state=seed, **VARIANTS[name][variant])
    return float(clustering_accuracy(y, model.fit(X).labels_))


def build(results: dict[tuple[str, str, int], float]) -> Record:
    found: Record = {}
    for name, variants in VARIANTS.items():
        found[name] = {}
        for variant in variants:
            each = [results[name, variant, seed] for seed in range(DRAWS)]
            found[name][variant] = {"mean": round(float(np.mean(each)), 4), "lowest": round(min(each), 4)}
    defaults = {"n_landmarks": N_LANDMARKS, "n_nearest": N_NEAREST, "n_nearest if every row is one": N_NEAREST_ALL}
    return {"defaults": defaults, "draws": DRAWS, "results": found}


def main() -> None:
    tasks = [
        (name, variant, seed) for name, variants in VARIANTS.items() for variant in variants for seed in range(DRAWS)
    ]
    measure(RESULTS, tasks, one_fit, build, parser(__doc__).parse_args())


if __name__ == "__main__":
    main()
