"""Accuracy of FLS with default parameters on all available data sets.

    python benchmarks/accuracy.py                 # all data sets; rows of earlier runs are replaced
    python benchmarks/accuracy.py yale pendigits  # those whose name begins so
    python benchmarks/accuracy.py --stale         # those measured by earlier code

Writes benchmarks/results/accuracy.json: for each data set the accuracy of every draw and what was chosen. Data are read
from the folder named by SUBSPACES_DATA.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from kept import is_fresh, opened, store
from sklearn.datasets import load_digits

from subspaces import FLS
from subspaces.datasets import load_mnist, load_pendigits, load_yaleb, make_motions, make_subspaces
from subspaces.metrics import clustering_accuracy

RESULTS = Path(__file__).parent / "results" / "accuracy.json"

Load = Callable[[int], tuple[Any, Any]]


def synthetic(dims: tuple[int, ...], ambient_dim: int, outliers: float, affine: bool = False) -> Load:
    return lambda seed: make_subspaces(dims, ambient_dim, outliers=outliers, affine=affine, random_state=seed)


def data_sets() -> dict[str, tuple[Load, int, int]]:
    """Name: how to load a draw, number of clusters, number of draws."""
    sets: dict[str, tuple[Load, int, int]] = {}
    models = {
        "R^6": ((2, 2), 6),
        "R^10": ((4, 5, 6), 10),
        "R^20": ((5, 6, 7), 20),
        "R^80": ((3, 4, 5, 6, 7), 80),
    }
    for space, (dims, ambient_dim) in models.items():
        for outliers in (0.05, 0.3):
            shown = ",".join(map(str, dims))
            sets[f"synthetic ({shown}) {space} {outliers:.0%}"] = (
                synthetic(dims, ambient_dim, outliers), len(dims), 10,
            )  # fmt: skip
    sets["affine (2,2) R^6 5%"] = (synthetic((2, 2), 6, 0.05, affine=True), 2, 10)
    sets["affine (4,5,6) R^10 5%"] = (synthetic((4, 5, 6), 10, 0.05, affine=True), 3, 10)
    for motions in (2, 3):
        for noise in (0.0, 0.01):
            sets[f"motions {motions} noise {noise}"] = (
                lambda seed, k=motions, s=noise: make_motions(k, noise=s, random_state=seed), motions, 10,
            )  # fmt: skip
    for digits in ("17", "49", "248", "368", "25789", "123456789", "0123456789"):
        chosen = [int(digit) for digit in digits]
        sets[f"mnist {digits}"] = (lambda seed, d=chosen: load_mnist(d), len(digits), 10)
    sets["pendigits"] = (lambda seed: load_pendigits(), 10, 10)
    sets["yale 8"] = (lambda seed: load_yaleb(8, random_state=seed), 8, 10)
    sets["yale 38"] = (lambda seed: load_yaleb(), 38, 5)
    sets["digits (scikit-learn)"] = (lambda seed: load_digits(return_X_y=True), 10, 5)
    return sets


def measure(load: Load, n_clusters: int, draws: int) -> dict[str, Any]:
    runs = []
    for seed in range(draws):
        X, y = load(seed)
        start = time.perf_counter()
        model = FLS(n_clusters, random_state=seed).fit(X)
        seconds = time.perf_counter() - start
        runs.append(
            {
                "accuracy": round(clustering_accuracy(y, model.labels_), 4),
                "seconds": round(seconds, 2),
                "subspace_dim": model.subspace_dim_,
                "neighborhood": model.neighborhood_,
                "n_components": model.n_components_,
                "affine": model.affine_,
                "center": model.center_,
                "n_landmarks": model.n_landmarks_,
            }
        )
    scores = [run["accuracy"] for run in runs]
    return {
        "mean": round(float(np.mean(scores)), 4),
        "min": min(scores),
        "shape": list(X.shape),
        "runs": runs,
    }


def main(prefixes: list[str], stale: bool = False) -> None:
    kept = opened(RESULTS, "python benchmarks/accuracy.py")
    results = kept.setdefault("results", {})
    for name, (load, n_clusters, draws) in data_sets().items():
        if prefixes and not name.startswith(tuple(prefixes)):
            continue
        if stale and name in results and is_fresh(kept, "accuracy.py", name):
            continue
        results[name] = measure(load, n_clusters, draws)
        print(f"{name:38s} mean {results[name]['mean']:.4f}  min {results[name]['min']:.4f}", flush=True)
        store(RESULTS, kept, name)


if __name__ == "__main__":
    main([word for word in sys.argv[1:] if word != "--stale"], stale="--stale" in sys.argv)
