"""The published algorithm with affine flats (algorithm box) and linear flats (text); d given, sigma "auto".

    python benchmarks/study_paper.py

Writes benchmarks/results/study_paper.json: mean accuracy over three draws.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from subspaces import FLS
from subspaces.datasets import load_mnist, load_yaleb, make_subspaces
from subspaces.metrics import clustering_accuracy

RESULTS = Path(__file__).parent / "results" / "study_paper.json"
DRAWS = 3


def data_sets():  # type: ignore[no-untyped-def]
    """Name: how to load a draw, number of clusters, dimension given to the algorithm."""
    sets = {}
    for dims, p, dim in (((2, 2), 6, 2), ((4, 5, 6), 10, 5), ((5, 6, 7), 20, 6), ((3, 4, 5, 6, 7), 80, 5)):
        for outliers in (0.05, 0.3):
            sets[f"{dims} R^{p} {outliers:.0%}"] = (
                lambda seed, d=dims, p=p, q=outliers: make_subspaces(d, p, outliers=q, random_state=seed),
                len(dims),
                dim,
            )
    for digits in ([1, 7], [4, 9]):
        name = f"MNIST {', '.join(map(str, digits))}, test images"
        sets[name] = (lambda seed, d=digits: load_mnist(d, subset="test"), 2, 3)
    sets["Extended Yale B, 8 persons"] = (lambda seed: load_yaleb(8, random_state=seed), 8, 3)
    return sets


def main() -> None:
    results = {}
    for name, (load, n_clusters, dim) in data_sets().items():
        scores: dict[str, list[float]] = {"affine": [], "linear": []}
        for seed in range(DRAWS):
            X, y = load(seed)
            for kind, values in scores.items():
                model = FLS.paper(n_clusters, subspace_dim=dim, affine=kind == "affine", random_state=seed)
                values.append(clustering_accuracy(y, model.fit_predict(X)))
        results[name] = {kind: round(float(np.mean(values)), 4) for kind, values in scores.items()}
        print(f"{name:34s} {results[name]}", flush=True)
    RESULTS.write_text(json.dumps({"command": "python benchmarks/study_paper.py", "results": results}) + "\n")


if __name__ == "__main__":
    main()
