"""Does modularity distinguish linear from affine data?

    python benchmarks/study_regime.py

Fits FLS with linear flats of unit rows, with affine flats of rows as they are, and with its own choice. Writes
benchmarks/results/study_regime.json: the largest modularity of each search and the accuracies.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from kept import store
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from subspaces import FLS
from subspaces.datasets import load_mnist, load_pendigits, load_yaleb, make_motions, make_subspaces
from subspaces.metrics import clustering_accuracy

RESULTS = Path(__file__).parent / "results" / "study_regime.json"


def data_sets():  # type: ignore[no-untyped-def]
    """Name: how to load a draw, number of clusters, number of draws."""
    sets = {}
    for affine in (False, True):
        kind = "affine" if affine else "linear"
        for dims, p in (((2, 2), 6), ((4, 5, 6), 10), ((3, 4, 5, 6, 7), 80)):
            for outliers in (0.05, 0.3):
                sets[f"{kind} {dims} R^{p} {outliers:.0%}"] = (
                    lambda seed, d=dims, p=p, q=outliers, a=affine: make_subspaces(
                        d, p, outliers=q, affine=a, random_state=seed
                    ),
                    len(dims),
                    5,
                )
    for motions, noise in ((2, 0.0), (2, 0.005), (3, 0.01)):
        sets[f"motions {motions} noise {noise}"] = (
            lambda seed, k=motions, s=noise: make_motions(k, noise=s, random_state=seed),
            motions,
            5,
        )
    wine, vintners = load_wine(return_X_y=True)
    sets["wine (standardised)"] = (lambda seed: (StandardScaler().fit_transform(wine), vintners), 3, 1)
    sets["iris"] = (lambda seed: load_iris(return_X_y=True), 3, 1)
    sets["digits (scikit-learn)"] = (lambda seed: load_digits(return_X_y=True), 10, 2)
    sets["yale 8"] = (lambda seed: load_yaleb(8, random_state=seed), 8, 5)
    sets["pendigits"] = (lambda seed: load_pendigits(), 10, 2)
    sets["mnist 49"] = (lambda seed: load_mnist([4, 9]), 2, 1)
    sets["mnist 25789"] = (lambda seed: load_mnist([2, 5, 7, 8, 9]), 5, 1)
    return sets


def study(X, y, n_clusters: int, seed: int) -> dict[str, float]:  # type: ignore[no-untyped-def]
    result = {}
    for name, affine in (("linear", False), ("affine", True), ("auto", "auto")):
        model = FLS(n_clusters, affine=affine, assign="balanced", random_state=seed).fit(X)
        result[f"{name} accuracy"] = clustering_accuracy(y, model.labels_)
        result[f"{name} modularity"] = max(trial["modularity"] for trial in model.choice_["flats"].candidates)
    # The last one made its own choice.
    result["chose affine"] = float(model.affine_)
    return result


def main() -> None:
    results = {}
    for name, (load, n_clusters, draws) in data_sets().items():
        runs = [study(*load(seed), n_clusters, seed) for seed in range(draws)]
        results[name] = {key: round(float(np.mean([run[key] for run in runs])), 4) for key in runs[0]}
        print(f"{name:34s} {results[name]}", flush=True)
        record = {"command": "python benchmarks/study_regime.py", "results": results}
        store(RESULTS, record, None, indent=None)
    store(RESULTS, record, indent=None)


if __name__ == "__main__":
    main()
