"""Rules for the sigma of `FLS.paper` that need no labels, on the data of Tables 1 to 4.

    python benchmarks/study_sigma.py --jobs 16

For each draw, flats are fitted once and the rows are clustered with each sigma of a grid. A rule chooses one of them
from figures that need no labels. Writes benchmarks/results/study_sigma.json: mean accuracy of each rule on each data
set, and the curves. Images are projected without centring them; of MNIST, 6,000 rows are drawn, on which results are
lower than on all rows (`subspaces reproduce reading`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Record, measure, parser

from subspaces._core.arrays import unit_rows
from subspaces.flats.distances import distances_to
from subspaces.flats.neighborhoods import Beta2
from subspaces.kernels import SubspaceFeatures
from subspaces.metrics import clustering_accuracy
from subspaces.paper.reproduce.data import load
from subspaces.paper.reproduce.methods import METHODS
from subspaces.paper.reproduce.reading import CELLS
from subspaces.paper.reproduce.tables import Cell
from subspaces.spectral.kernel_graph import kernel_modularity
from subspaces.spectral.kmeans import nearest_centers
from subspaces.spectral.modularity import cluster_shares
from subspaces.spectral.partition import plain_partition
from subspaces.spectral.spectrum import compute_spectrum, embed

RESULTS = Path(__file__).parent / "results" / "study_sigma.json"
SIGMAS = (0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7)
MOST_ROWS = 6000
N_LANDMARKS = 1000
# Typical distances to the flat of these ranks, as shares of the number of flats.
RANKS = {"5th": 5 / N_LANDMARKS, "20th": 20 / N_LANDMARKS, "100th": 100 / N_LANDMARKS}
SAMPLE = 500
DRAWS = 3

Task = tuple[str, str, int]  # kind of flats, data set, seed


def curve(cell: Cell, seed: int, *, affine: bool) -> dict[str, Any]:
    """Accuracy and figures without labels for each sigma, on one draw."""
    x, y = load(cell.data_for(METHODS["fls-paper"]), seed)
    chosen = np.random.RandomState(seed).permutation(len(x))[:MOST_ROWS]
    x, y = unit_rows(x[chosen]), y[chosen]
    features = SubspaceFeatures(
        N_LANDMARKS, subspace_dim=cell.dim, affine=affine, neighborhood=Beta2(), random_state=seed
    ).fit(x)
    squared = np.maximum(distances_to(features.flats_)(x), 0)
    typical = np.median(np.sqrt(np.sort(squared[:SAMPLE], axis=1)), axis=0)
    ranks = {name: float(typical[max(0, round(share * len(typical)) - 1)]) for name, share in RANKS.items()}
    return {"ranks": ranks, "sigmas": [cluster(squared, sigma, y, cell.n_clusters, seed) for sigma in SIGMAS]}


def cluster(squared: Any, sigma: float, y: Any, k: int, seed: int) -> dict[str, float]:
    """The steps of the paper from squared distances (n, D), and figures without labels."""
    psi = np.exp(-squared / sigma**2) / np.sqrt(squared.shape[1])
    spectrum = compute_spectrum(lambda: iter([psi]), k, balanced=False)
    embedding = embed(psi, spectrum, k - 1)
    rows = unit_rows(embedding)
    partition = plain_partition(embedding, k, n_starts=10, rng=np.random.RandomState(seed))
    labels = nearest_centers(rows, partition.centers)
    before, after = spectrum.eigenvalues[k - 2], spectrum.eigenvalues[k - 1]
    wide = psi[:SAMPLE].astype(np.float64)
    flats = np.square(wide.sum(axis=1)) / np.maximum(np.square(wide).sum(axis=1), np.finfo(float).tiny)
    found = {
        "accuracy": float(clustering_accuracy(y, labels)),
        "modularity": kernel_modularity(cluster_shares(psi.astype(np.float64), labels, k)),
        "eigengap": float(before - after),
        "relative gap": float((1 - after) / max(1 - before, 1e-9)),
        "inertia": float(np.square(rows - partition.centers[labels]).sum() / len(rows)),
        "effective flats": float(np.median(flats)),
    }
    return {name: float(f"{value:.4g}") for name, value in found.items()}


def nearest_sigma(value: float) -> int:
    return int(np.abs(np.log(np.array(SIGMAS) / value)).argmin())


def figures(found: dict[str, Any], name: str) -> np.ndarray:
    return np.array([each[name] for each in found["sigmas"]])


def times_rank(factor: float, rank: str) -> Callable[[dict[str, Any]], int]:
    return lambda found: nearest_sigma(factor * found["ranks"][rank])


# Each chooses an index of SIGMAS for one draw.
RULES: dict[str, Callable[[dict[str, Any]], int]] = {
    **{f"{value}": lambda _, value=value: SIGMAS.index(value) for value in (0.1, 0.15, 0.2, 0.3)},
    '"auto": distance to the 5th flat': times_rank(1, "5th"),
    '0.4 "auto"': times_rank(0.4, "5th"),
    "0.4 distance to the 20th flat": times_rank(0.4, "20th"),
    "0.25 distance to the 100th flat": times_rank(0.25, "100th"),
    "10 effective flats": lambda found: int(np.abs(np.log(figures(found, "effective flats") / 10)).argmin()),
    "largest modularity": lambda found: int(figures(found, "modularity").argmax()),
    "largest eigengap": lambda found: int(figures(found, "eigengap").argmax()),
    "largest relative gap": lambda found: int(figures(found, "relative gap").argmax()),
    "least inertia of k-means": lambda found: int(figures(found, "inertia").argmin()),
    "oracle": lambda found: int(figures(found, "accuracy").argmax()),
}


def rule_means(found: dict[str, list[dict[str, Any]]]) -> dict[str, dict[str, float]]:
    """Mean accuracy of each rule on each data set, and over all."""
    rules: dict[str, dict[str, float]] = {}
    for rule, choose in RULES.items():
        scores = {
            name: float(np.mean([draw["sigmas"][choose(draw)]["accuracy"] for draw in draws]))
            for name, draws in found.items()
        }
        rules[rule] = {name: round(score, 4) for name, score in scores.items()}
        rules[rule]["mean"] = round(float(np.mean(list(scores.values()))), 4)
    return rules


def one_draw(task: Task) -> dict[str, Any]:
    kind, name, seed = task
    return curve(CELLS[name], seed, affine=kind == "affine")


def build(results: dict[Task, dict[str, Any]]) -> Record:
    draws: Record = {kind: {name: [] for name in CELLS} for kind in ("affine", "linear")}
    for (kind, name, _), found in results.items():
        draws[kind][name].append(found)
    rules = {kind: {"sigmas": SIGMAS, "rules": rule_means(found)} for kind, found in draws.items()}
    return {"draws": draws, "results": rules}


def main() -> None:
    tasks = [(kind, name, seed) for kind in ("affine", "linear") for name in CELLS for seed in range(DRAWS)]
    measure(RESULTS, tasks, one_draw, build, parser(__doc__).parse_args())


if __name__ == "__main__":
    main()
