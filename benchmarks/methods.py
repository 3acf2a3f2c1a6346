"""Accuracy of every method with default parameters on the data of the tables of the paper.

    python benchmarks/methods.py                        # what is missing; finished cells are kept
    python benchmarks/methods.py --methods SSC LBF --data yale   # only these, and data whose name begins so
    python benchmarks/methods.py --again ...            # measure anew
    python benchmarks/methods.py --stale                # measure anew what earlier code measured

Writes benchmarks/results/methods.json after every cell. As in the paper, faces are whitened (the two leading components
dropped) for all methods but SSC and SSSC. Data are read from the folder named by SUBSPACES_DATA.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from accuracy import data_sets
from kept import is_fresh, opened, store
from sklearn.exceptions import ConvergenceWarning

import subspaces
from subspaces.datasets import load_yaleb
from subspaces.metrics import clustering_accuracy
from subspaces.show.baselines import BASELINES, Baseline, fit_baseline

RESULTS = Path(__file__).parent / "results" / "methods.json"


class Ordinary:
    """A method of scikit-learn, fitted to a sample if there are many rows."""

    def __init__(self, baseline: Baseline, n_clusters: int, seed: int) -> None:
        self.baseline, self.n_clusters, self.seed = baseline, n_clusters, seed

    def fit(self, X: Any) -> None:
        self.labels_ = fit_baseline(self.baseline, X, self.n_clusters, self.seed).predict(X)


METHODS: dict[str, Callable[[int, int], Any]] = {
    "LBF": lambda k, seed: subspaces.LBF(k, random_state=seed),
    "SLBF": lambda k, seed: subspaces.SLBF(k, random_state=seed),
    "KFlats": lambda k, seed: subspaces.KFlats(k, random_state=seed),
    "SSC": lambda k, seed: subspaces.SSC(k, random_state=seed),
    "SSC omp": lambda k, seed: subspaces.SSC(k, solver="omp", random_state=seed),
    "SSC elastic_net": lambda k, seed: subspaces.SSC(k, solver="elastic_net", random_state=seed),
    "SSSC": lambda k, seed: subspaces.SSSC(k, random_state=seed),
    "LandmarkSpectralClustering": lambda k, seed: subspaces.LandmarkSpectralClustering(k, random_state=seed),
    "FourierSpectralClustering": lambda k, seed: subspaces.FourierSpectralClustering(k, random_state=seed),
    "NystromSpectralClustering": lambda k, seed: subspaces.NystromSpectralClustering(k, random_state=seed),
    "KASP": lambda k, seed: subspaces.KASP(k, random_state=seed),
    **{name: lambda k, seed, name=name: Ordinary(BASELINES[name], k, seed) for name in BASELINES},
}
# Time of these grows with the square of n: beyond this many rows benchmarks/ssc_large.py measures SSC on a device.
QUADRATIC = ("SLBF", "SSC", "SSC omp", "SSC elastic_net")
MAX_QUADRATIC_ROWS = 8000
# Draws of real data differ in the seed of the method alone.
REAL_DRAWS = 10
SKIPPED = ("affine", "motions", "yale 38", "mnist 0123456789")


def measure(method: str, name: str) -> dict[str, Any] | None:
    """Accuracy and seconds of every draw; None if there are too many rows for the method."""
    load, n_clusters, draws = data_sets()[name]
    if name == "yale 8" and method.startswith(("SSC", "SSSC")):
        load = whole_faces
    runs = []
    for seed in range(draws if name.startswith(("synthetic", "yale")) else REAL_DRAWS):
        X, y = load(seed)
        if method in QUADRATIC and len(X) > MAX_QUADRATIC_ROWS:
            return None
        model = METHODS[method](n_clusters, seed)
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "Graph is not fully connected")
            model.fit(X)
        seconds = time.perf_counter() - started
        runs.append({"accuracy": round(clustering_accuracy(y, model.labels_), 4), "seconds": round(seconds, 2)})
    scores = [run["accuracy"] for run in runs]
    return {"mean": round(float(np.mean(scores)), 4), "min": min(scores), "shape": list(X.shape), "runs": runs}


def whole_faces(seed: int) -> tuple[Any, Any]:
    return load_yaleb(8, random_state=seed, drop_components=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--data", nargs="+", default=[""])
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--stale", action="store_true", help="also measure again what earlier code measured")
    arguments = parser.parse_args()
    for name in data_sets():
        if name.startswith(SKIPPED) or not name.startswith(tuple(arguments.data)):
            continue
        for method in arguments.methods:
            # Read anew each time: several processes may fill the same file.
            fresh = not arguments.stale or is_fresh(kept(), "methods.py", f"{name}, {method}")
            if not arguments.again and fresh and method in kept_results().get(name, {}):
                continue
            cell = measure(method, name)
            if cell is None:
                continue
            record = kept()
            record["results"].setdefault(name, {})[method] = cell
            store(RESULTS, record, f"{name}, {method}")
            print(f"{name:38s} {method:28s} mean {cell['mean']:.4f}  min {cell['min']:.4f}", flush=True)


def kept() -> dict[str, Any]:
    record = opened(RESULTS, "python benchmarks/methods.py")
    record.setdefault("results", {})
    return record


def kept_results() -> dict[str, Any]:
    return kept()["results"]


if __name__ == "__main__":
    main()
