"""Accuracy against time for increasing numbers of landmarks, candidate flats or sampled rows."""

from __future__ import annotations

from collections.abc import Sequence

from subspaces.paper.reproduce.methods import METHODS, rough_seconds
from subspaces.paper.reproduce.task import Spec, Task

TRADEOFF_METHODS = ("fls", "lbf", "sssc", "fls-paper", "fls-linear", "lbf-paper")
DRAWS = 3
# The varied parameter of each method, and its name in the figure.
KNOBS = {
    "fls": ("n_landmarks", "landmarks"),
    "lbf": ("n_candidates", "candidate flats"),
    "sssc": ("n_in_sample", "sampled rows"),
    "fls-paper": ("n_landmarks", "landmarks"),
    "fls-linear": ("n_landmarks", "landmarks"),
    "lbf-paper": ("n_candidates", "candidate flats"),
}
CANDIDATES_PER_CLUSTER = (5, 10, 20, 40, 80, 160)

_R10: Spec = {"set": "subspaces", "dims": [4, 5, 6], "ambient_dim": 10, "outliers": 0.3}
_R80: Spec = {"set": "subspaces", "dims": [3, 4, 5, 6, 7], "ambient_dim": 80, "outliers": 0.3}
_368: Spec = {"set": "mnist", "digits": [3, 6, 8], "n_components": 80}
_ALL: Spec = {"set": "mnist", "digits": list(range(10)), "n_components": 80}
SMALL, MEDIUM, LARGE = (25, 50, 100, 200, 400, 800), (100, 250, 500, 1000, 2000, 4000), (250, 500, 1000, 2000, 4000)
# Name: data, number of clusters, dimension for methods that are given it, shape, numbers of landmarks or sampled rows.
DATA = {
    "(4, 5, 6) in R¹⁰, 30 % outliers": (_R10, 3, 5, (1072, 10), SMALL),
    "(3, 4, 5, 6, 7) in R⁸⁰, 30 % outliers": (_R80, 5, 5, (1786, 80), (*SMALL, 1600)),
    "MNIST [3, 6, 8]": (_368, 3, 3, (17_900, 80), MEDIUM),
    "MNIST, all ten digits": (_ALL, 10, 3, (60_000, 80), LARGE),
}


def values(key: str, name: str) -> list[int]:
    """Values of the varied parameter of a method on one data set."""
    _, n_clusters, _, _, counts = DATA[name]
    if KNOBS[key][0] == "n_candidates":
        return [count * n_clusters for count in CANDIDATES_PER_CLUSTER]
    return list(counts)


def _with(spec: Spec, name: str, value: int) -> Spec:
    return {**spec, "given": {**spec["given"], name: value}}


def tradeoff_tasks(methods: Sequence[str], draws: int | None) -> list[Task]:
    """All methods with all values on all data sets."""
    return [
        Task(
            cell=name,
            method=f"{key} {KNOBS[key][0]}={value}",
            data=data,
            estimator=_with(METHODS[key].spec(dim), KNOBS[key][0], value),
            n_clusters=n_clusters,
            seed=seed,
            weight=rough_seconds(key, *shape) * (0.3 + 0.7 * value / values(key, name)[-1]),
            tags={"curve": name, "value": value, "series": key},
        )
        for name, (data, n_clusters, dim, shape, _) in DATA.items()
        for key in methods
        for value in values(key, name)
        for seed in range(draws or DRAWS)
    ]
