"""Accuracy of every method with default parameters on the data of the tables of the paper.

    python benchmarks/methods.py --jobs 16
    python benchmarks/methods.py --only "yale 8"        # one data set, or one method

Writes benchmarks/results/methods.json: accuracy and CPU seconds of every draw, one process and one BLAS thread for each
fit. The same command goes on where it was interrupted. As in the paper, faces are whitened (the two leading components
dropped) for all methods but SSC and SSSC. Data are read from the folder named by SUBSPACES_DATA.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Parts, Record, measure, parser
from paper_sets import paper_sets

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
# Data and methods to begin with: the slowest ones.
SLOW_SETS = ("mnist 1", "mnist 2", "mnist", "pendigits", "yale")
SLOW_METHODS = ("KFlats", "NystromSpectralClustering", "LBF", "SSC", "SLBF")
DRAWS = 10
SKIPPED = ("affine", "motions", "yale 38", "mnist 0123456789", "digits")

Task = tuple[str, str, int]  # data set, method, seed


def tasks() -> list[Task]:
    """All fits, the slowest first."""
    todo = []
    for name, (load, _) in paper_sets().items():
        if name.startswith(SKIPPED):
            continue
        many = name.startswith("mnist") and len(load(0)[0]) > MAX_QUADRATIC_ROWS
        todo += [
            (name, method, seed) for method in METHODS if not (many and method in QUADRATIC) for seed in range(DRAWS)
        ]
    return sorted(todo, key=lambda task: (_rank(task[0], SLOW_SETS), _rank(task[1], SLOW_METHODS)))


def _rank(name: str, order: tuple[str, ...]) -> int:
    return next((i for i, word in enumerate(order) if name.startswith(word)), len(order))


def one_fit(task: Task) -> dict[str, Any]:
    name, method, seed = task
    load, n_clusters = paper_sets()[name]
    if name == "yale 8" and method.startswith(("SSC", "SSSC")):
        load = whole_faces
    X, y = load(seed)
    model = METHODS[method](n_clusters, seed)
    started = time.process_time()
    model.fit(X)
    seconds = time.process_time() - started
    return {"accuracy": round(clustering_accuracy(y, model.labels_), 4), "seconds": round(seconds, 2)}


def whole_faces(seed: int) -> tuple[Any, Any]:
    return load_yaleb(8, random_state=seed, drop_components=0)


def estimator(task: Task) -> str:
    """The class that a task measures."""
    model = METHODS[task[1]](2, 0)
    return model.baseline.title if isinstance(model, Ordinary) else type(model).__name__


def known(record: Record) -> dict[Task, Any]:
    """The results in what `build` made."""
    return {
        (name, method, seed): run
        for name, methods in record["results"].items()
        for method, cell in methods.items()
        for seed, run in enumerate(cell["runs"])
    }


def build(results: dict[Task, dict[str, Any]]) -> Record:
    """Mean, lowest and all draws by data set and method."""
    found: Record = {}
    for name in paper_sets():
        for method in METHODS:
            runs = [results[name, method, seed] for seed in range(DRAWS) if (name, method, seed) in results]
            if runs:
                scores = [run["accuracy"] for run in runs]
                cell = {"mean": round(float(np.mean(scores)), 4), "min": min(scores), "runs": runs}
                found.setdefault(name, {})[method] = cell
    return {"results": found}


def main() -> None:
    measure(RESULTS, tasks(), one_fit, build, parser(__doc__).parse_args(), parts=Parts(estimator, known))


if __name__ == "__main__":
    main()
