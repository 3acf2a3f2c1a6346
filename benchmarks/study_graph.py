"""From the codes of SSC to labels: the published recipe compared with the one of this library.

    python benchmarks/study_graph.py --jobs 16

The same codes (`ADMM` with its defaults) are cut four times: all entries and K eigenvectors, as published; the largest
entries that hold 85 % of a code; the number of eigenvectors chosen by modularity; and both. "oracle" takes the number
of eigenvectors that the classes like best: what a perfect choice would give. "unscaled" is both, on rows that are not
scaled to unit norm. Writes benchmarks/results/study_graph.json. Data are read from the folder named by SUBSPACES_DATA.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from measuring import Record, measure, parser
from scipy.sparse import csr_matrix

from subspaces._core.arrays import unit_rows
from subspaces.datasets import load_mnist, load_pendigits, load_yaleb, make_subspaces
from subspaces.metrics import clustering_accuracy
from subspaces.self_expression import ADMM, affinity, self_codes
from subspaces.spectral.graph import spectral_labels
from subspaces.spectral.partition import vector_counts

RESULTS = Path(__file__).parent / "results" / "study_graph.json"
MAX_ROWS = 4000
MASS = 0.85


def data_sets():
    """Name: number of clusters, number of draws, how to load one."""
    sets = {}
    for digits in ("0123456789", "25789", "368", "248", "49", "17"):
        sets[f"MNIST {digits}"] = (
            len(digits),
            1,
            lambda _, d=digits: some_rows(*load_mnist([int(digit) for digit in d])),
        )
    sets["penDigits"] = (10, 1, lambda _: some_rows(*load_pendigits()))
    sets["Yale, 8 persons"] = (8, 5, lambda seed: load_yaleb(8, random_state=seed, drop_components=0))
    for dims, space in (((2, 2), 6), ((4, 5, 6), 10), ((5, 6, 7), 20), ((3, 4, 5, 6, 7), 80)):
        sets[f"({', '.join(map(str, dims))}) R^{space} 30%"] = (
            len(dims),
            3,
            lambda seed, d=dims, p=space: make_subspaces(d, p, outliers=0.3, random_state=seed),
        )
    return sets


def some_rows(X, y):
    rows = np.random.RandomState(0).choice(len(X), MAX_ROWS, replace=False)
    return X[rows], y[rows]


def measured(X, y, n_clusters: int) -> dict[str, float]:
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


def one_draw(task: tuple[str, int]) -> dict[str, float]:
    name, seed = task
    n_clusters, _, load = data_sets()[name]
    return measured(*load(seed), n_clusters)


def build(results: dict[tuple[str, int], dict[str, float]]) -> Record:
    found: Record = {}
    for name, (_, draws, _) in sorted(data_sets().items()):
        runs = [results[name, seed] for seed in range(draws)]
        found[name] = {key: round(float(np.mean([run[key] for run in runs])), 4) for key in runs[0]}
    return {"results": found}


def main() -> None:
    tasks = [(name, seed) for name, (_, draws, _) in data_sets().items() for seed in range(draws)]
    measure(RESULTS, tasks, one_draw, build, parser(__doc__).parse_args())


if __name__ == "__main__":
    main()
