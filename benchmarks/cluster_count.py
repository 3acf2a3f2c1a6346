"""How often n_clusters="auto" of LBF and KFlats finds the number of clusters, and the dimension of each.

    python benchmarks/cluster_count.py --jobs 16

Writes benchmarks/results/cluster_count_flats.json.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Record, measure, parser
from sklearn.datasets import load_iris, make_blobs

from subspaces import LBF, KFlats
from subspaces.datasets import make_motions, make_subspaces
from subspaces.metrics import clustering_accuracy

RESULTS = Path(__file__).parent / "results" / "cluster_count_flats.json"
MODELS = {
    "2, 2 in R^6": ((2, 2), 6),
    "4, 5, 6 in R^10": ((4, 5, 6), 10),
    "5, 6, 7 in R^20": ((5, 6, 7), 20),
    "3-7 in R^80": ((3, 4, 5, 6, 7), 80),
}
DRAWS = 10
METHODS = {"LBF": LBF, "KFlats": KFlats}

Draw = Callable[[int], tuple[Any, Any]]
Task = tuple[str, str, int]  # data set, method, seed


def paper_models() -> dict[str, tuple[int, Draw]]:
    return {
        f"{name}, {outliers:.0%} outliers": (
            len(dims),
            lambda seed, dims=dims, space=space, outliers=outliers: make_subspaces(
                dims, space, outliers=outliers, random_state=seed
            ),
        )
        for name, (dims, space) in MODELS.items()
        for outliers in (0.05, 0.3)
    }


def other_models() -> dict[str, tuple[int, Draw]]:
    def rows(dims: tuple[int, ...], space: int, **options: Any) -> Draw:
        return lambda seed: make_subspaces(dims, space, random_state=seed, **options)

    def motions(count: int, noise: float) -> Draw:
        return lambda seed: make_motions(count, noise=noise, random_state=seed)

    return {
        "affine 2, 2 in R^6, 30% outliers": (2, rows((2, 2), 6, affine=True, outliers=0.3)),
        "affine 5, 6, 7 in R^20, 30% outliers": (3, rows((5, 6, 7), 20, affine=True, outliers=0.3)),
        "2, 2 in R^6, 400 and 40 rows": (2, rows((2, 2), 6, points_per_subspace=[400, 40])),
        "5, 6, 7 in R^20, 400, 200, 100 rows": (3, rows((5, 6, 7), 20, points_per_subspace=[400, 200, 100])),
        "one of dimension 3 in R^10, 30% outliers": (1, rows((3,), 10, outliers=0.3)),
        "2, 2 in R^6, noise 0.15": (2, rows((2, 2), 6, noise=0.15)),
        "2, 2 in R^200, 30 rows each": (2, rows((2, 2), 200, points_per_subspace=30)),
        "two motions": (2, motions(2, 0)),
        "two motions, noise 0.01": (2, motions(2, 0.01)),
        "three motions": (3, motions(3, 0)),
        "three motions, noise 0.01": (3, motions(3, 0.01)),
        "Gaussian noise in R^5": (
            1,
            lambda seed: (np.random.default_rng(seed).normal(size=(500, 5)), np.zeros(500, int)),
        ),
        "iris": (3, lambda seed: load_iris(return_X_y=True)),
        "three blobs in the plane": (3, lambda seed: make_blobs(300, random_state=seed)),
        "five blobs in R^10": (5, lambda seed: make_blobs(500, n_features=10, centers=5, random_state=seed)),
    }


def one_fit(task: Task) -> dict[str, Any]:
    """Number of clusters, their dimensions and accuracy."""
    name, method, seed = task
    _, draw = (paper_models() | other_models())[name]
    X, y = draw(seed)
    model = METHODS[method]("auto", random_state=seed).fit(X)
    return {
        "found": model.n_clusters_,
        "cluster_dims": sorted(model.cluster_dims_.tolist()),
        "accuracy": round(float(clustering_accuracy(y, model.labels_)), 4),
    }


def build(results: dict[Task, dict[str, Any]]) -> Record:
    """What was found in every draw, and how often it was right."""
    rows: Record = {}
    for name, (count, _) in (paper_models() | other_models()).items():
        for method in METHODS:
            runs = [results[name, method, seed] for seed in range(DRAWS)]
            right = float(np.mean([run["found"] == count for run in runs]))
            lists = {key: [run[key] for run in runs] for key in runs[0]}
            rows.setdefault(name, {})[method] = {"true": count, "right": right, **lists}
    return {"draws": DRAWS, "results": rows}


def main() -> None:
    names = paper_models() | other_models()
    tasks = [(name, method, seed) for name in reversed(names) for method in METHODS for seed in range(DRAWS)]
    measure(RESULTS, tasks, one_fit, build, parser(__doc__).parse_args())


if __name__ == "__main__":
    main()
