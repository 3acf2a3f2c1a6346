"""Choose the partition before or after refinement?

    python benchmarks/study_partition.py --jobs 16

The same sparse psi is clustered in three ways: (a) the smallest number of eigenvectors whose modularity is within two
standard errors of the best, not refined; (b) the same, refined afterwards; (c) every candidate refined, the largest
modularity taken. `oracle` is the best refined candidate by its labels: what a perfect choice among them would reach.
Writes benchmarks/results/study_partition.json.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from measuring import Record, measure, parser

from subspaces._core.arrays import unit_rows
from subspaces.datasets import load_mnist, load_pendigits
from subspaces.kernels import SubspaceFeatures
from subspaces.metrics import clustering_accuracy
from subspaces.selection.limits import FINAL_ROUNDS
from subspaces.selection.partition import choose_partition
from subspaces.spectral.partition import assign, inlier_rows, refine, vector_counts
from subspaces.spectral.spectrum import compute_spectrum

RESULTS = Path(__file__).parent / "results" / "study_partition.json"
SEEDS = 3


def study(X: np.ndarray, y: np.ndarray, dim: int, size: int, seed: int) -> dict[str, float]:
    rng = np.random.RandomState(seed)
    n_clusters = len(np.unique(y))
    rows = unit_rows(X - X.mean(axis=0))
    features = SubspaceFeatures(
        2000, subspace_dim=dim, n_nearest=5, neighborhood=size, affine=False, trim=True, random_state=rng
    ).fit(rows)
    ((psi, distances),) = features.described_blocks(rows)
    inliers = inlier_rows(distances, rows)
    counts = vector_counts(n_clusters)
    spectrum = compute_spectrum(lambda: iter((psi,)), max(counts), balanced=True)

    def accuracy(partition) -> float:  # type: ignore[no-untyped-def]
        return round(clustering_accuracy(y, assign(psi, spectrum, partition)), 4)

    def chosen(tried: list[int], *, polish: bool):  # type: ignore[no-untyped-def]
        return choose_partition(
            psi,
            spectrum,
            inliers,
            n_clusters,
            counts=tried,
            n_starts=10,
            polish=polish,
            rng=np.random.RandomState(0),
            kind="balanced",
        ).winner

    plain = chosen(counts, polish=False)
    return {
        "a": accuracy(plain),
        "b": accuracy(refine(plain, psi[inliers], spectrum, n_rounds=FINAL_ROUNDS)),
        "c": accuracy(chosen(counts, polish=True)),
        "oracle": max(accuracy(chosen([count], polish=True)) for count in counts),
    }


def data_sets():  # type: ignore[no-untyped-def]
    """How to load the rows, dimension and neighbourhood of flats."""
    sets = {
        digits: (lambda digits=digits: load_mnist([int(digit) for digit in digits]), 9, 20)
        for digits in ("0123456789", "25789", "368", "17", "49")
    }
    return {**sets, "pendigits": (load_pendigits, 4, 28)}


def one_draw(task: tuple[str, int]) -> dict[str, float]:
    name, seed = task
    load, dim, size = data_sets()[name]
    return study(*load(), dim, size, seed)


def build(results: dict[tuple[str, int], dict[str, float]]) -> Record:
    found: Record = {}
    for name in ("17", "49", "368", "25789", "0123456789", "pendigits"):
        runs = [results[name, seed] for seed in range(SEEDS)]
        found[name] = {key: [run[key] for run in runs] for key in runs[0]}
    return {"results": found}


def main() -> None:
    tasks = [(name, seed) for name in data_sets() for seed in range(SEEDS)]
    measure(RESULTS, tasks, one_draw, build, parser(__doc__).parse_args())


if __name__ == "__main__":
    main()
