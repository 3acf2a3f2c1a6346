"""Choices of FLS without labels: unequal classes, motions, number of clusters, outliers, confidence, cost.

    python benchmarks/choosing.py                    # all parts; rows of earlier runs are replaced
    python benchmarks/choosing.py unequal outliers   # some of them

Defaults only. Writes benchmarks/results/choosing.json: every figure of every draw. Data are read from the folder named
by SUBSPACES_DATA.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from kept import opened, store
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import recall_score, roc_auc_score

from subspaces import FLS
from subspaces.datasets import load_mnist, load_pendigits, load_yaleb, make_motions, make_subspaces
from subspaces.metrics import clustering_accuracy, match_labels
from subspaces.selection.search import choose_setting

RESULTS = Path(__file__).parent / "results" / "choosing.json"
MODELS = {"R^6": ((2, 2), 6), "R^10": ((4, 5, 6), 10), "R^20": ((5, 6, 7), 20), "R^80": ((3, 4, 5, 6, 7), 80)}
POWERS = [0.8**k for k in range(10)]

Rows = tuple[Any, Any]


def thinned(X: Any, y: Any, shares: dict[int, float], seed: int) -> Rows:
    """A random subset of the rows, with the given share of each class."""
    rng = np.random.RandomState(1000 + seed)
    kept = []
    for label, share in shares.items():
        rows = np.flatnonzero(y == label)
        kept.append(rng.choice(rows, round(share * len(rows)), replace=False))
    index = np.sort(np.concatenate(kept))
    return X[index], y[index]


def mnist(digits: str, shares: list[float]) -> Callable[[int], Rows]:
    chosen = [int(digit) for digit in digits]
    return lambda seed: thinned(*load_mnist(chosen), dict(zip(chosen, shares, strict=True)), seed)


def unequal_sets() -> dict[str, tuple[Callable[[int], Rows], int]]:
    sets = {
        "mnist 1, 7 at 1 : .05": (mnist("17", [1, 0.05]), 2),
        "mnist 3, 6, 8 at 1 : .5 : .1": (mnist("368", [1, 0.5, 0.1]), 3),
        "mnist 2, 5, 7, 8, 9 at 1 : .5 : .3 : .2 : .1": (mnist("25789", [1, 0.5, 0.3, 0.2, 0.1]), 5),
        "mnist 4, 9 at 1 : .1": (mnist("49", [1, 0.1]), 2),
        "pendigits at .8^k": (
            lambda seed: thinned(*load_pendigits(), dict(zip(range(10), POWERS, strict=True)), seed), 10,
        ),
        "mnist 0, 6 at 1 : .03": (mnist("06", [1, 0.03]), 2),
        "mnist 9, 4 at 1 : .1": (mnist("94", [1, 0.1]), 2),
        "mnist 3, 5, 8 at 1 : .3 : .1": (mnist("358", [1, 0.3, 0.1]), 3),
        "mnist 0-9 at .8^k": (mnist("0123456789", POWERS), 10),
    }  # fmt: skip
    for space, (dims, ambient_dim) in MODELS.items():
        sizes = [400] + [40] * (len(dims) - 1)
        sets[f"{dims} {space}, 400 : 40 rows"] = (
            lambda seed, d=dims, p=ambient_dim, n=sizes: make_subspaces(d, p, points_per_subspace=n, random_state=seed),
            len(dims),
        )
    return sets


def balanced_accuracy(y: Any, labels: Any) -> float:
    return float(recall_score(y, match_labels(y, labels), labels=np.unique(y), average="macro"))


def confidence_auc(y: Any, labels: Any, confidence: Any) -> float | None:
    """AUC of confidence for right against wrong labels; None if all labels are right."""
    right = match_labels(y, labels) == y
    return None if right.all() else round(float(roc_auc_score(right, confidence)), 4)


def described(model: FLS) -> dict[str, Any]:
    return {
        "agreement": round(model.agreement_, 3),
        "affine": model.affine_,
        "subspace_dim": model.subspace_dim_,
        "neighborhood": model.neighborhood_,
        "cluster_dims": model.cluster_dims_.tolist(),
    }


def run(load: Callable[[int], Rows], n_clusters: int, seed: int) -> dict[str, Any]:
    X, y = load(seed)
    model = FLS(n_clusters, random_state=seed).fit(X)
    known = y >= 0
    labels, truth = model.labels_[known], y[known]
    return {
        "accuracy": round(clustering_accuracy(y, model.labels_), 4),
        "balanced_accuracy": round(balanced_accuracy(truth, labels), 4),
        "confidence_auc": confidence_auc(truth, labels, model.confidence_[known]),
        **described(model),
    }


def summary(runs: list[dict[str, Any]], *keys: str) -> dict[str, Any]:
    means = {key: round(float(np.mean([each[key] for each in runs if each[key] is not None])), 4) for key in keys}
    return {**means, "runs": runs}


def unequal() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, (load, n_clusters) in unequal_sets().items():
        # These differ most from draw to draw.
        draws = 12 if name.startswith(("mnist 1,", "mnist 2,", "mnist 4,")) else 3
        yield name, summary([run(load, n_clusters, seed) for seed in range(draws)], "accuracy", "balanced_accuracy")


def motions() -> Iterator[tuple[str, dict[str, Any]]]:
    kinds = ("general", "planar", "translation", "mixed")
    for n_motions in (2, 3):
        sizes = [[100] * n_motions, [200, 50, 20][:n_motions]]
        runs = []
        for seed, (kind, noise, size) in zip(
            range(30), 2 * list(product(kinds, (0, 0.005, 0.01), sizes)), strict=False
        ):
            X, y = make_motions(n_motions, size, noise=noise, kind=kind, random_state=seed)
            model = FLS(n_motions, random_state=seed).fit(X)
            wrong = round(1 - clustering_accuracy(y, model.labels_), 4)
            runs.append({"kind": kind, "noise": noise, "sizes": size, "wrong": wrong, **described(model)})
        yield f"{n_motions} motions", summary(runs, "wrong")


def count() -> Iterator[tuple[str, dict[str, Any]]]:
    for (space, (dims, ambient_dim)), outliers in product(MODELS.items(), (0.05, 0.3)):
        runs = []
        for seed in range(10):
            X, _ = make_subspaces(dims, ambient_dim, outliers=outliers, random_state=seed)
            model = FLS("auto", random_state=seed).fit(X)
            runs.append({"found": model.n_clusters_, "right": model.n_clusters_ == len(dims), **described(model)})
        yield f"{dims} {space} {outliers:.0%}", summary(runs, "right")
    real = {
        "mnist 1, 7": lambda: load_mnist([1, 7])[0],
        "mnist 4, 9": lambda: load_mnist([4, 9])[0],
        "mnist 3, 6, 8": lambda: load_mnist([3, 6, 8])[0],
        "mnist 0-9": lambda: load_mnist()[0],
        "pendigits": lambda: load_pendigits()[0],
        "digits": lambda: load_digits(return_X_y=True)[0],
        "yale 8": lambda: load_yaleb(8, random_state=0)[0],
        "moons lifted to R^10": lambda: lifted_moons()[0],
    }
    for name, load in real.items():
        model = FLS("auto", max_clusters=14, random_state=0).fit(load())
        yield name, {"found": model.n_clusters_, "evidence": model.choice_["n_clusters"].to_dict()}


def lifted_moons() -> Rows:
    rng = np.random.default_rng(0)
    X, y = make_moons(600, noise=0.05, random_state=0)
    return X @ rng.normal(size=(2, 10)) + 0.02 * rng.normal(size=(600, 10)), y


def outliers() -> Iterator[tuple[str, dict[str, Any]]]:
    for (space, (dims, ambient_dim)), share in product(MODELS.items(), (0.05, 0.3)):
        runs = []
        for seed in range(5):
            X, y = make_subspaces(dims, ambient_dim, outliers=share, random_state=seed)
            model = FLS(len(dims), detect_outliers=True, random_state=seed).fit(X)
            marked = model.labels_ < 0
            runs.append(
                {
                    "auc": round(float(roc_auc_score(y < 0, model.outlier_scores_)), 4),
                    "inliers_lost": round(float(marked[y >= 0].mean()), 4),
                    "outliers_found": round(float(marked[y < 0].mean()), 4),
                }
            )
        yield f"{dims} {space} {share:.0%}", summary(runs, "auc", "inliers_lost", "outliers_found")


def confidence() -> Iterator[tuple[str, dict[str, Any]]]:
    sets: dict[str, tuple[Callable[[int], Rows], int, int]] = {
        "mnist 0-9": (lambda seed: load_mnist(), 10, 3),
        "mnist 4, 9": (lambda seed: load_mnist([4, 9]), 2, 3),
        "pendigits": (lambda seed: load_pendigits(), 10, 3),
        "yale 8": (lambda seed: load_yaleb(8, random_state=seed), 8, 3),
        "digits": (lambda seed: load_digits(return_X_y=True), 10, 3),
    }
    for name, (load, n_clusters, draws) in sets.items():
        yield name, summary([run(load, n_clusters, seed) for seed in range(draws)], "accuracy", "confidence_auc")
    for (space, (dims, ambient_dim)), share in product(MODELS.items(), (0.05, 0.3)):
        draws = [make_subspaces(dims, ambient_dim, outliers=share, random_state=seed)[0] for seed in range(5)]
        yield f"{dims} {space} {share:.0%}", summary(warned(draws, len(dims)), "warned", "agreement")
    for n, p, n_clusters in ((500, 6, 2), (1000, 20, 3), (1000, 80, 5), (5000, 20, 5)):
        draws = [np.random.RandomState(seed).normal(size=(n, p)) for seed in range(5)]
        yield (
            f"Gaussian noise {n} x {p}, {n_clusters} clusters",
            summary(warned(draws, n_clusters), "warned", "agreement"),
        )


def warned(draws: list[Any], n_clusters: int) -> list[dict[str, Any]]:
    runs = []
    for seed, X in enumerate(draws):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = FLS(n_clusters, random_state=seed).fit(X)
        said = any(issubclass(each.category, ConvergenceWarning) for each in caught)
        runs.append({"warned": said, "agreement": round(model.agreement_, 3)})
    return runs


def search() -> Iterator[tuple[str, dict[str, Any]]]:
    """Seconds of the search divided by the seconds of the rest of the same fit."""
    sets = {
        "(4,5,6) R^10 30%": (make_subspaces((4, 5, 6), 10, outliers=0.3, random_state=0)[0], 3),
        "pendigits": (load_pendigits()[0], 10),
        "mnist 4, 9": (load_mnist([4, 9])[0], 2),
        "mnist 3, 6, 8": (load_mnist([3, 6, 8])[0], 3),
        "mnist 0-9": (load_mnist()[0], 10),
    }
    spent = []

    def timed(*arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        found = choose_setting(*arguments, **options)
        spent.append(time.perf_counter() - start)
        return found

    with mock.patch("subspaces.selection.choosing.choose_setting", timed):
        for name, (X, n_clusters) in sets.items():
            start = time.perf_counter()
            FLS(n_clusters, random_state=0).fit(X)
            total = time.perf_counter() - start
            yield name, {"search_over_final_fit": round(spent[-1] / (total - spent[-1]), 2), "seconds": round(total, 1)}


PARTS = {part.__name__: part for part in (unequal, motions, count, outliers, confidence, search)}


def main(names: list[str]) -> None:
    kept = opened(RESULTS, "python benchmarks/choosing.py")
    results = kept.setdefault("results", {})
    for part in names or PARTS:
        warnings.simplefilter("ignore", ConvergenceWarning)
        results[part] = {}
        for name, row in PARTS[part]():
            results[part][name] = row
            shown = {key: value for key, value in row.items() if key not in ("runs", "evidence")}
            print(f"{part:10s} {name:46s} {shown}", flush=True)
            store(RESULTS, kept, None)
        store(RESULTS, kept, part)


if __name__ == "__main__":
    main(sys.argv[1:])
