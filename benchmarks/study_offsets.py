"""SSC of rows far from the origin: affine codes, linear codes about the mean, or the choice of `affine="auto"`.

    python benchmarks/study_offsets.py

Planes through one point, subspaces with outliers, flats with different offsets and motions, all translated by ten times
their width; and planes through the origin, in which small parts of the graph are joined to clusters. Each cell is the
mean adjusted Rand index of ten draws, and the smallest; "chosen: affine" is the share of draws with affine codes.
Writes benchmarks/results/study_offsets.json. Real motions: benchmarks/study_methods.py.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from kept import store
from sklearn.metrics import adjusted_rand_score

from subspaces import SSC, SSSC
from subspaces.datasets import make_motions, make_subspaces

RESULTS = Path(__file__).parent / "results" / "study_offsets.json"
DRAWS = 10
SOLVERS = ("admm", "omp", "elastic_net")
N_FLATS, ROWS = 3, 60


def flats(seed: int, space: int, *, offset: float = 0.0, noise: float, orthogonal: bool = False, width: float = 10.0):
    """Three planes of 60 rows each; `offset` is the distance of each from a common point, `width` the translation."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(space, space)))[0]
    parts = []
    for k in range(N_FLATS):
        basis = axes[:, 2 * k : 2 * k + 2] if orthogonal else np.linalg.qr(rng.normal(size=(space, 2)))[0]
        center = offset * rng.normal(size=space) / np.sqrt(space)
        parts.append(rng.normal(size=(ROWS, 2)) @ basis.T + center)
    X = np.concatenate(parts)
    X += noise * rng.normal(size=X.shape)
    order = rng.permutation(len(X))
    away = rng.normal(size=space)
    away *= width * X.std() * np.sqrt(space) / np.linalg.norm(away)
    return (X + away)[order], np.repeat(np.arange(N_FLATS), ROWS)[order]


def moved(dims: tuple[int, ...], space: int, outliers: float, seed: int):
    """A model of the paper, with outliers."""
    X, y = make_subspaces(dims, space, outliers=outliers, random_state=seed)
    return X + 10 * X.std(), y


DATA = {
    "planes through the origin": lambda seed: flats(seed, 12, noise=1e-3, orthogonal=True, width=0.0),
    "orthogonal planes R^12": lambda seed: flats(seed, 12, noise=1e-2, orthogonal=True),
    "orthogonal planes R^6": lambda seed: flats(seed, 6, noise=1e-2, orthogonal=True),
    "planes R^20": lambda seed: flats(seed, 20, noise=1e-2),
    "flats R^12, offset 1": lambda seed: flats(seed, 12, offset=1, noise=1e-2),
    "flats R^4, offset 1": lambda seed: flats(seed, 4, offset=1, noise=1e-2),
    "flats R^4, offset 3": lambda seed: flats(seed, 4, offset=3, noise=1e-2),
    "(2, 2) R^6, 30 % outliers": lambda seed: moved((2, 2), 6, 0.3, seed),
    "(4, 5, 6) R^10, 5 % outliers": lambda seed: moved((4, 5, 6), 10, 0.05, seed),
    "(5, 6, 7) R^20, 30 % outliers": lambda seed: moved((5, 6, 7), 20, 0.3, seed),
    "2 motions": lambda seed: make_motions(2, random_state=seed),
    "3 motions": lambda seed: make_motions(3, random_state=seed),
}


def measure(X, y, solver: str) -> dict[str, float]:
    inliers = y >= 0
    k = len(np.unique(y[inliers]))
    found = {}
    for name, model, rows in (
        ("affine", SSC(k, solver=solver, affine=True, random_state=0), X),
        ("about the mean", SSC(k, solver=solver, affine=False, random_state=0), X - X.mean(axis=0)),
        ("auto", SSC(k, solver=solver, random_state=0), X),
        ("auto, SSSC", SSSC(k, solver=solver, n_in_sample=100, random_state=0), X),
    ):
        found[name] = adjusted_rand_score(y[inliers], model.fit(rows).labels_[inliers])
        if name == "auto":
            found["chosen: affine"] = float(model.affine_)
    return found


def main() -> None:
    results = {}
    for solver in SOLVERS:
        for name, load in DATA.items():
            runs = [measure(*load(seed), solver) for seed in range(DRAWS)]
            cell = {key: round(float(np.mean([run[key] for run in runs])), 4) for key in runs[0]}
            cell |= {f"{key}, least": round(min(run[key] for run in runs), 4) for key in runs[0] if "chosen" not in key}
            results[f"{solver}: {name}"] = cell
            print(f"{solver}: {name}: {cell}", flush=True)
    record = {"command": "python benchmarks/study_offsets.py", "results": results}
    store(RESULTS, record, indent=None)


if __name__ == "__main__":
    main()
