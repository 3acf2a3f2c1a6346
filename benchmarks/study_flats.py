"""LBF and its variants: effect of the polish, affine flats and the median loss.

    python benchmarks/study_flats.py --jobs 16

Writes benchmarks/results/study_flats.json: mean accuracies. Data are read from the folder named by SUBSPACES_DATA.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from measuring import Record, measure, parser

from subspaces import LBF, KFlats
from subspaces.datasets import load_mnist, load_yaleb, make_subspaces
from subspaces.metrics import clustering_accuracy

RESULTS = Path(__file__).parent / "results" / "study_flats.json"
MODELS = {
    "2, 2 in R^6": ((2, 2), 6),
    "4, 5, 6 in R^10": ((4, 5, 6), 10),
    "5, 6, 7 in R^20": ((5, 6, 7), 20),
    "3-7 in R^80": ((3, 4, 5, 6, 7), 80),
}
DRAWS = 3
VARIANTS = {
    "LBF": lambda k, seed: LBF(k, random_state=seed),
    "no polish": lambda k, seed: LBF(k, polish=False, random_state=seed),
    "linear, unit rows": lambda k, seed: LBF(k, affine=False, normalize=True, random_state=seed),
    "K-flats, median": lambda k, seed: KFlats(k, random_state=seed),
    "K-flats, squared": lambda k, seed: KFlats(k, loss="squared", random_state=seed),
}


def data_sets() -> dict[str, tuple[int, int, Any]]:
    """Name: number of clusters, number of draws, how to load one."""
    sets: dict[str, tuple[int, int, Any]] = {
        f"{name}, 30 % outliers": (
            len(dims),
            DRAWS,
            lambda seed, d=dims, p=space: make_subspaces(d, p, outliers=0.3, random_state=seed),
        )
        for name, (dims, space) in MODELS.items()
    }
    sets["MNIST 1, 7"] = (2, 1, lambda seed: load_mnist([1, 7]))
    sets["Yale, 8 persons"] = (8, DRAWS, lambda seed: load_yaleb(8, random_state=seed))
    return sets


def one_fit(task: tuple[str, str, int]) -> float:
    name, variant, seed = task
    n_clusters, _, load = data_sets()[name]
    X, y = load(seed)
    return float(clustering_accuracy(y, VARIANTS[variant](n_clusters, seed).fit(X).labels_))


def build(results: dict[tuple[str, str, int], float]) -> Record:
    found: Record = {}
    for name, (_, draws, _) in data_sets().items():
        means = {variant: np.mean([results[name, variant, seed] for seed in range(draws)]) for variant in VARIANTS}
        found[name] = {variant: round(float(mean), 4) for variant, mean in means.items()}
    return {"results": found}


def main() -> None:
    tasks = [
        (name, variant, seed)
        for name, (_, draws, _) in data_sets().items()
        for variant in VARIANTS
        for seed in range(draws)
    ]
    measure(RESULTS, tasks, one_fit, build, parser(__doc__).parse_args())


if __name__ == "__main__":
    main()
