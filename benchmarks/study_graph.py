"""From the codes of SSC to labels: the published recipe compared with the one of this library.

    python benchmarks/study_graph.py

The same codes (`ADMM` with its defaults) are cut four times: all entries and K eigenvectors, as published; the largest
entries that hold 85 % of a code; the number of eigenvectors chosen by modularity; and both. "oracle" takes the number
of eigenvectors that the classes like best: what a perfect choice would give. "unscaled" is both, on rows that are not
scaled to unit norm. For faces the codes of the published recipe, with gross errors, are cut as published too. Writes
benchmarks/results/study_graph.json. Data are read from the folder named by SUBSPACES_DATA.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from kept import store
from scipy.sparse import csr_matrix

from subspaces import SSC
from subspaces._core.arrays import unit_rows
from subspaces.datasets import load_mnist, load_pendigits, load_yaleb, make_subspaces
from subspaces.metrics import clustering_accuracy
from subspaces.self_expression import ADMM, affinity, self_codes
from subspaces.spectral.graph import spectral_labels
from subspaces.spectral.partition import vector_counts

MAX_ROWS = 4000
MASS = 0.85


def data_sets():
    """Name, number of clusters, draws."""
    for dims, space in (((2, 2), 6), ((4, 5, 6), 10), ((5, 6, 7), 20), ((3, 4, 5, 6, 7), 80)):
        draws = [make_subspaces(dims, space, outliers=0.3, random_state=seed) for seed in range(3)]
        yield f"({', '.join(map(str, dims))}) R^{space} 30%", len(dims), draws
    yield "Yale, 8 persons", 8, [load_yaleb(8, random_state=seed, drop_components=0) for seed in range(5)]
    for digits in ("17", "49", "248", "368", "25789", "0123456789"):
        yield f"MNIST {digits}", len(digits), [some_rows(*load_mnist([int(digit) for digit in digits]))]
    yield "penDigits", 10, [some_rows(*load_pendigits())]


def some_rows(X, y):
    rows = np.random.RandomState(0).choice(len(X), MAX_ROWS, replace=False)
    return X[rows], y[rows]


def measure(X, y, n_clusters: int) -> dict[str, float]:
    scaled, unscaled = (self_codes(rows, ADMM(), affine=False).matrix for rows in (unit_rows(X), X))
    counts = [count + 1 for count in vector_counts(n_clusters)]

    def accuracy(mass: float, counts: list[int], codes: csr_matrix = scaled) -> float:
        labels = spectral_labels(affinity(codes, mass=mass), n_clusters, counts=counts, rng=np.random.RandomState(0))
        return clustering_accuracy(y, labels)

    return {
        "published": accuracy(1.0, [n_clusters]),
        "largest entries": accuracy(MASS, [n_clusters]),
        "chosen vectors": accuracy(1.0, counts),
        "both": accuracy(MASS, counts),
        "oracle": max(accuracy(MASS, [count]) for count in counts),
        "unscaled": accuracy(MASS, counts, unscaled),
    }


def main() -> None:
    results = {}
    for name, n_clusters, draws in data_sets():
        runs = [measure(X, y, n_clusters) for X, y in draws]
        results[name] = {key: round(float(np.mean([run[key] for run in runs])), 4) for key in runs[0]}
        print(name, results[name], flush=True)
    record = {"command": "python benchmarks/study_graph.py", "results": results, "published faces": published_faces()}
    path = Path(__file__).parent / "results" / "study_graph.json"
    store(path, record)


def published_faces() -> float:
    """Mean accuracy on faces of the recipe published for them."""
    scores = []
    for seed in range(5):
        X, y = load_yaleb(8, random_state=seed, drop_components=0)
        model = SSC(8, solver=ADMM(20, outliers=True), mass=1.0, n_components=8, random_state=seed).fit(X)
        scores.append(clustering_accuracy(y, model.labels_))
    return round(float(np.mean(scores)), 4)


if __name__ == "__main__":
    main()
