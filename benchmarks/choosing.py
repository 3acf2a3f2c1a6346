"""Choices of FLS without labels: number of clusters, outliers, confidence, cost of the search.

    python benchmarks/choosing.py --jobs 16
    python benchmarks/choosing.py --only outliers   # one part

Defaults only. Writes benchmarks/results/choosing.json: every figure of every draw. The same command goes on where it
was interrupted. Data are read from the folder named by SUBSPACES_DATA.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from measuring import Record, measure, parser
from paper_sets import MODELS, Load, Rows
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from subspaces import FLS
from subspaces.datasets import load_mnist, load_pendigits, load_yaleb, make_subspaces
from subspaces.metrics import clustering_accuracy, match_labels
from subspaces.selection.search import choose_setting

RESULTS = Path(__file__).parent / "results" / "choosing.json"
NOISE = {
    f"{n} x {p}, {k} clusters": (n, p, k) for n, p, k in ((500, 6, 2), (1000, 20, 3), (1000, 80, 5), (5000, 20, 5))
}
MOST_CLUSTERS = 14

Task = tuple[str, str, int]  # part, data set, seed
Run = dict[str, Any]


def models() -> dict[str, tuple[Load, int]]:
    """The synthetic models of the paper, with 5 % and 30 % outliers."""
    return {
        f"{dims} {space} {share:.0%}": (
            lambda seed, d=dims, p=ambient_dim, q=share: make_subspaces(d, p, outliers=q, random_state=seed),
            len(dims),
        )
        for (space, (dims, ambient_dim)), share in product(MODELS.items(), (0.05, 0.3))
    }


def real_sets() -> dict[str, tuple[Load, int]]:
    return {
        "mnist 1, 7": (lambda seed: load_mnist([1, 7]), 2),
        "mnist 4, 9": (lambda seed: load_mnist([4, 9]), 2),
        "mnist 3, 6, 8": (lambda seed: load_mnist([3, 6, 8]), 3),
        "mnist 0-9": (lambda seed: load_mnist(), 10),
        "pendigits": (lambda seed: load_pendigits(), 10),
        "digits": (lambda seed: load_digits(return_X_y=True), 10),
        "yale 8": (lambda seed: load_yaleb(8, random_state=seed), 8),
        "moons lifted to R^10": (lambda seed: lifted_moons(), 2),
    }


def lifted_moons() -> Rows:
    rng = np.random.default_rng(0)
    X, y = make_moons(600, noise=0.05, random_state=0)
    return X @ rng.normal(size=(2, 10)) + 0.02 * rng.normal(size=(600, 10)), y


def noise(name: str) -> tuple[Load, int]:
    n, p, n_clusters = NOISE[name]
    return (lambda seed: (np.random.RandomState(seed).normal(size=(n, p)), None)), n_clusters


def data(name: str) -> tuple[Load, int]:
    """How to load a draw, and the number of clusters."""
    if name.startswith("Gaussian noise"):
        return noise(name.removeprefix("Gaussian noise "))
    return (models() | real_sets())[name]


def tasks() -> list[Task]:
    """All fits."""
    todo: list[Task] = []
    judged = ("mnist 0-9", "mnist 4, 9", "pendigits", "yale 8", "digits")
    todo += [("count", name, 0) for name in real_sets()] + [
        ("confidence", name, s) for name in judged for s in range(3)
    ]
    todo += [("search", name, 0) for name in ("mnist 0-9", "mnist 3, 6, 8", "mnist 4, 9", "pendigits")]
    todo += [("confidence", f"Gaussian noise {name}", seed) for name in NOISE for seed in range(5)]
    for name in models():
        todo += [("count", name, seed) for seed in range(10)]
        todo += [(part, name, seed) for part in ("outliers", "confidence") for seed in range(5)]
    return todo


def one_fit(task: Task) -> Run:
    part, name, seed = task
    load, n_clusters = data(name)
    return PARTS[part](*load(seed), n_clusters, seed)


def count(X: Any, y: Any, n_clusters: int, seed: int) -> Run:
    """The number of clusters that is found."""
    model = FLS("auto", max_clusters=MOST_CLUSTERS, random_state=seed).fit(X)
    return {
        "found": model.n_clusters_,
        "right": model.n_clusters_ == n_clusters,
        "evidence": model.choice_["n_clusters"].to_dict(),
    }


def outliers(X: Any, y: Any, n_clusters: int, seed: int) -> Run:
    """How well outliers are told from other rows."""
    model = FLS(n_clusters, detect_outliers=True, random_state=seed).fit(X)
    marked = model.labels_ < 0
    return {
        "auc": round(float(roc_auc_score(y < 0, model.outlier_scores_)), 4),
        "inliers_lost": round(float(marked[y >= 0].mean()), 4),
        "outliers_found": round(float(marked[y < 0].mean()), 4),
    }


def confidence(X: Any, y: Any, n_clusters: int, seed: int) -> Run:
    """Agreement, whether there was a warning, and how well confidence separates right from wrong labels."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = FLS(n_clusters, random_state=seed).fit(X)
    said = any(issubclass(each.category, ConvergenceWarning) for each in caught)
    found: Run = {"warned": said, "agreement": round(model.agreement_, 3)}
    if y is None:
        return found
    known = y >= 0
    right = match_labels(y[known], model.labels_[known]) == y[known]
    if not right.all():
        found["confidence_auc"] = round(float(roc_auc_score(right, model.confidence_[known])), 4)
    return {**found, "accuracy": round(clustering_accuracy(y, model.labels_), 4)}


def search(X: Any, y: Any, n_clusters: int, seed: int) -> Run:
    """Seconds of the search divided by the seconds of the rest of the same fit."""
    spent = []

    def timed(*arguments: Any, **options: Any) -> Any:
        start = time.process_time()
        found = choose_setting(*arguments, **options)
        spent.append(time.process_time() - start)
        return found

    with mock.patch("subspaces.selection.choosing.choose_setting", timed):
        start = time.process_time()
        FLS(n_clusters, random_state=seed).fit(X)
        total = time.process_time() - start
    return {"search_over_final_fit": round(spent[-1] / (total - spent[-1]), 2), "seconds": round(total, 1)}


PARTS: dict[str, Callable[..., Run]] = {part.__name__: part for part in (count, outliers, confidence, search)}


def build(results: dict[Task, Run]) -> Record:
    """Runs by part and data set, with means over the draws."""
    found: Record = {part: {} for part in PARTS}
    for (part, name, _), run in sorted(results.items(), key=lambda pair: pair[0][2]):
        found[part].setdefault(name, {"runs": []})["runs"].append(run)
    for rows in found.values():
        for row in rows.values():
            for key in row["runs"][0]:
                values = [run[key] for run in row["runs"] if isinstance(run.get(key), int | float)]
                if values:
                    row[key] = round(float(np.mean(values)), 4)
    return {"results": found}


def main() -> None:
    measure(RESULTS, tasks(), one_fit, build, parser(__doc__).parse_args())


if __name__ == "__main__":
    main()
