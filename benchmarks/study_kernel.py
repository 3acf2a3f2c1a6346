"""Sparse or dense psi, the distance or its square?

    python benchmarks/study_kernel.py

Fits FLS with each of the four, everything else by default. Writes benchmarks/results/study_kernel.json: accuracies, the
mean over draws.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from kept import store
from study_regime import data_sets

from subspaces import FLS
from subspaces.metrics import clustering_accuracy

RESULTS = Path(__file__).parent / "results" / "study_kernel.json"
KERNELS = {
    "sparse, squared": {},
    "sparse, distance": {"power": 1},
    "dense, squared": {"n_nearest": None},
    "dense, distance": {"n_nearest": None, "power": 1},
}


def main() -> None:
    warnings.simplefilter("ignore")
    results = {}
    for name, (load, n_clusters, draws) in data_sets().items():
        found: dict[str, list[float]] = {kernel: [] for kernel in KERNELS}
        for seed in range(draws):
            X, y = load(seed)
            for kernel, options in KERNELS.items():
                labels = FLS(n_clusters, random_state=seed, **options).fit_predict(X)
                found[kernel].append(clustering_accuracy(y, labels))
        results[name] = {kernel: round(float(np.mean(each)), 4) for kernel, each in found.items()}
        print(f"{name:34s} {results[name]}", flush=True)
        record = {"command": "python benchmarks/study_kernel.py", "results": results}
        store(RESULTS, record, None, indent=None)
    store(RESULTS, record, indent=None)


if __name__ == "__main__":
    main()
