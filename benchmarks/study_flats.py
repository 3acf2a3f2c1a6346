"""LBF and its variants: effect of the polish, affine flats and the median loss, and how often K is found.

    python benchmarks/study_flats.py

Writes benchmarks/results/study_flats.json after every row. Data are read from the folder named by SUBSPACES_DATA.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from kept import store

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


def data_sets() -> dict[str, tuple[int, list[tuple[Any, Any]]]]:
    sets = {
        f"{name}, 30 % outliers": (
            len(dims),
            [make_subspaces(dims, space, outliers=0.3, random_state=seed) for seed in range(DRAWS)],
        )
        for name, (dims, space) in MODELS.items()
    }
    sets["MNIST 1, 7"] = (2, [load_mnist([1, 7])])
    sets["Yale, 8 persons"] = (8, [load_yaleb(8, random_state=seed) for seed in range(DRAWS)])
    return sets


def main() -> None:
    record: dict[str, Any] = {"command": "python benchmarks/study_flats.py", "results": {}, "found": {}}
    for name, (n_clusters, draws) in data_sets().items():
        record["results"][name] = {
            variant: round(
                float(
                    np.mean(
                        [clustering_accuracy(y, make(n_clusters, i).fit(X).labels_) for i, (X, y) in enumerate(draws)]
                    )
                ),
                4,
            )
            for variant, make in VARIANTS.items()
        }
        print(name, record["results"][name], flush=True)
        store(RESULTS, record, None)
    for name, (dims, space) in MODELS.items():
        for outliers in (0.05, 0.3):
            found = []
            for seed in range(DRAWS):
                X, _ = make_subspaces(dims, space, outliers=outliers, random_state=seed)
                found.append(LBF("auto", random_state=seed).fit(X).n_clusters_)
            record["found"][f"{name}, {outliers:.0%} outliers"] = {"true": len(dims), "found": found}
            print(name, outliers, found, flush=True)
            store(RESULTS, record, None)
    store(RESULTS, record)


if __name__ == "__main__":
    main()
