"""Self-expressive methods compared: solvers, published settings, and methods that were left out.

    python benchmarks/study_methods.py --jobs 16
    python benchmarks/study_methods.py --only motions    # one data set or method

Accuracy without labels of outliers, and CPU seconds of a fit, of every method on small sets: planes that are
orthogonal and nearly free of noise, three models of the paper, faces, 2,000 rows of handwritten digits, and the motion
sequences. Methods that are not part of the library are written here in a few lines:

- EKSS: the share of 200 short runs of K-flats in which two rows have the same label, as a graph;
- "ssc doubly stochastic", "lsr doubly stochastic": the graph of SSC or LSR, scaled to row sums of one;
- ESC: 300 exemplars, each the row that those before it represent worst, and a graph of similar codes on them;
- "low-rank mixture": a mixture of Gaussians with d free variances and one for all other directions.

Writes benchmarks/results/study_methods.json. The same command goes on where it was interrupted. Data are read from the
folder named by SUBSPACES_DATA.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Record, measure, parser
from scipy.sparse import csr_matrix, identity
from scipy.special import logsumexp
from sklearn.datasets import load_digits
from sklearn.decomposition import sparse_encode

from subspaces import LBF, SLBF, SSC, SSSC, KFlats
from subspaces._core.arrays import unit_rows
from subspaces.datasets import load_mnist, load_motions, load_pendigits, load_yaleb, make_subspaces
from subspaces.flats.candidates import random_starts
from subspaces.flats.dimension import choose_dim
from subspaces.flats.kflats import fit_kflats
from subspaces.metrics import clustering_accuracy
from subspaces.rows.preparation import mean_offset
from subspaces.rows.thresholds import FAR_OFFSET
from subspaces.spectral.graph import spectral_labels
from subspaces.spectral.partition import vector_counts

RESULTS = Path(__file__).parent / "results" / "study_methods.json"
SOME_ROWS = 2000
# EKSS: runs, steps of each, and edges of a row.
RUNS, STEPS, NEAREST = 200, 3, 20
# ESC: exemplars, weight of fidelity, rows that are coded together, and edges of a row.
EXEMPLARS, FIDELITY, CODED_TOGETHER, CODE_NEIGHBORS = 300, 20.0, 50, 5
# Low-rank mixture: runs, and steps of each.
MIXTURE_STARTS, MIXTURE_STEPS = 5, 30

Draw = tuple[np.ndarray, np.ndarray]
Task = tuple[str, str, int]  # data set, method, draw

METHODS: dict[str, Callable[[np.ndarray, int], Any]] = {
    "ssc": lambda X, k: SSC(k, random_state=0).fit(X).labels_,
    "ssc elastic net": lambda X, k: SSC(k, solver="elastic_net", random_state=0).fit(X).labels_,
    "ssc omp": lambda X, k: SSC(k, solver="omp", random_state=0).fit(X).labels_,
    "ssc omp published": lambda X, k: SSC.published("omp faces", k, random_state=0).fit(X).labels_,
    "tsc": lambda X, k: SSC(k, solver="thresholding", random_state=0).fit(X).labels_,
    "lsr": lambda X, k: SSC(k, solver="least_squares", random_state=0).fit(X).labels_,
    "lrsc": lambda X, k: SSC(k, solver="low_rank", random_state=0).fit(X).labels_,
    "ssc doubly stochastic": lambda X, k: doubly_stochastic(X, k, "admm"),
    "lsr doubly stochastic": lambda X, k: doubly_stochastic(X, k, "least_squares"),
    "sssc": lambda X, k: SSSC(k, n_in_sample=EXEMPLARS, random_state=0).fit(X).labels_,
    "sssc, 1000 rows": lambda X, k: SSSC(k, random_state=0).fit(X).labels_,
    "esc": lambda X, k: esc(X, k),
    "kflats": lambda X, k: KFlats(k, random_state=0).fit(X).labels_,
    "ekss": lambda X, k: ekss(X, k),
    "low-rank mixture": lambda X, k: low_rank_mixture(X, k),
    "ssc motions": lambda X, k: SSC.published("motions", k, random_state=0).fit(X).labels_,
    "ssc motions, 4 K columns": lambda X, k: SSC.published("motions", k, random_state=0).fit(projected(X, k)).labels_,
    "lbf motions": lambda X, k: LBF.published("motions", k, random_state=0).fit(X).labels_,
    "slbf motions": lambda X, k: SLBF.published("motions", k, random_state=0).fit(X).labels_,
    "kflats motions": lambda X, k: KFlats.published("motions", k, random_state=0).fit(X).labels_,
}
# Published settings for motions, which are measured on nothing else.
FOR_MOTIONS = tuple(name for name in METHODS if " motions" in name)


def data_sets() -> dict[str, list[Callable[[], Draw]]]:
    """How to load each draw of rows and classes, -1 for outliers."""
    sets: dict[str, list[Callable[[], Draw]]] = {
        "orthogonal planes": [lambda seed=seed: orthogonal_planes(seed) for seed in range(4)]
    }
    for dims, space, outliers in (((2, 2), 6, 0.3), ((4, 5, 6), 10, 0.05), ((5, 6, 7), 20, 0.3)):
        sets[f"({', '.join(map(str, dims))}) R^{space} {100 * outliers:.0f}%"] = [
            lambda d=dims, p=space, o=outliers, seed=seed: make_subspaces(d, p, outliers=o, random_state=seed)
            for seed in range(5)
        ]
    sets["faces, 8 persons"] = [
        lambda seed=seed: load_yaleb(8, random_state=seed, drop_components=0) for seed in range(5)
    ]
    for digits in ("17", "248", "0123456789"):
        sets[f"MNIST {digits}"] = [lambda d=digits: some_rows(*load_mnist([int(each) for each in d]))]
    sets["penDigits"] = [lambda: some_rows(*load_pendigits())]
    sets["digits of scikit-learn"] = [lambda: load_digits(return_X_y=True)]
    tracks = load_motions()
    for count in (2, 3):
        sets[f"motions, {count}"] = [lambda each=each: each for each in tracks.values() if each[1].max() + 1 == count]
    return sets


def tasks() -> list[Task]:
    """All fits, those of images first, which take longest."""
    found = [
        (name, method, draw)
        for name, draws in data_sets().items()
        for method in METHODS
        if name.startswith("motions") or method not in FOR_MOTIONS
        for draw in range(len(draws))
    ]
    return sorted(found, key=lambda task: not task[0].startswith(("MNIST", "penDigits", "digits")))


def orthogonal_planes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four orthogonal planes of 30 rows each, with noise of a thousandth."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    X = np.vstack([rng.normal(size=(30, 2)) @ axes[:, 2 * k : 2 * k + 2].T for k in range(4)])
    return X + 1e-3 * rng.normal(size=X.shape), np.repeat(np.arange(4), 30)


def some_rows(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows = np.random.RandomState(0).choice(len(X), SOME_ROWS, replace=False)
    return X[rows], y[rows]


def cut(graph: csr_matrix, k: int) -> np.ndarray:
    counts = [count + 1 for count in vector_counts(k)]
    return spectral_labels(graph, k, counts=counts, rng=np.random.RandomState(0))


def doubly_stochastic(X: np.ndarray, k: int, solver: str) -> np.ndarray:
    """The graph of SSC scaled to row sums of one (Sinkhorn), with small weights of rows with themselves."""
    graph = SSC(k, solver=solver, random_state=0).fit(X).affinity_matrix_
    graph = (graph + 1e-3 * graph.sum() / len(X) * identity(len(X))).tocsr()
    scale = np.ones(len(X))
    for _ in range(200):
        scale = np.sqrt(scale / (graph @ scale))
    return cut(graph.multiply(scale[:, None]).multiply(scale).tocsr(), k)


def exemplar_codes(rows: np.ndarray) -> np.ndarray:
    """Codes (n, m) on exemplars, each the row that those before it represent worst, and not a random sample.

    A row is represented by the c that minimises |c|_1 + lambda / 2 |x - c E|^2. This cost falls with every exemplar, so
    that only rows whose last cost is the largest are coded again.
    """
    chosen = [0]
    cost = np.full(len(rows), np.inf)
    cost[0] = 0
    while len(chosen) < min(EXEMPLARS, len(rows)):
        checked = np.zeros(len(rows), bool)
        while not checked[cost.argmax()]:
            some = np.argsort(-cost)[:CODED_TOGETHER]
            some = some[~checked[some]]
            codes = lasso(rows[some], rows[chosen])
            errors = np.square(rows[some] - codes @ rows[chosen]).sum(axis=1)
            cost[some] = np.abs(codes).sum(axis=1) + FIDELITY / 2 * errors
            checked[some] = True
        chosen.append(int(cost.argmax()))
        cost[chosen[-1]] = 0
    return lasso(rows, rows[chosen])


def lasso(rows: np.ndarray, atoms: np.ndarray) -> np.ndarray:
    return sparse_encode(rows, atoms, algorithm="lasso_cd", alpha=1 / FIDELITY, max_iter=200)


def esc(X: np.ndarray, k: int) -> np.ndarray:
    """Exemplar-based subspace clustering: codes on exemplars; rows with similar codes are joined."""
    codes = unit_rows(np.abs(exemplar_codes(unit_rows(X.astype(np.float64)))))
    near = codes @ codes.T
    np.fill_diagonal(near, 0)
    limits = -np.partition(-near, CODE_NEIGHBORS, axis=1)[:, CODE_NEIGHBORS]
    kept = csr_matrix(np.where(near > limits[:, None], near, 0))
    return cut((kept + kept.T).tocsr(), k)


def ekss(X: np.ndarray, k: int) -> np.ndarray:
    """Ensembles of K-subspaces: the share of short runs in which two rows have the same label, largest weights kept."""
    rng = np.random.RandomState(0)
    affine = bool(mean_offset(X) > FAR_OFFSET)
    rows = X.astype(np.float64) if affine else unit_rows(X.astype(np.float64))
    dim = max(1, choose_dim(rows, k, affine=affine, rng=rng))
    shares = np.zeros((len(X), len(X)), np.float32)
    for start in random_starts(rows, k, dim, affine=affine, n_starts=RUNS, rng=rng):
        labels = fit_kflats(rows, start, affine=affine, loss="squared", max_iter=STEPS).labels
        shares += (labels[:, None] == labels) / np.float32(RUNS)
    np.fill_diagonal(shares, 0)
    limits = -np.partition(-shares, NEAREST, axis=1)[:, NEAREST]
    kept = csr_matrix(np.where(shares > limits[:, None], shares, 0))
    return cut((kept + kept.T).tocsr(), k)


def low_rank_mixture(X: np.ndarray, k: int) -> np.ndarray:
    """A mixture of Gaussians of low rank (probabilistic principal components) that begins at K-flats."""
    rows = X.astype(np.float64)
    rng = np.random.RandomState(0)
    dim = max(1, choose_dim(rows, k, affine=True, rng=rng))
    starts = random_starts(rows, k, dim, affine=True, n_starts=MIXTURE_STARTS, rng=rng)
    fits = [expectation_maximization(rows, fit_kflats(rows, start, affine=True).labels, k, dim) for start in starts]
    return max(fits, key=lambda fit: fit[1])[0]


def expectation_maximization(rows: np.ndarray, labels: np.ndarray, k: int, dim: int) -> tuple[np.ndarray, float]:
    """Labels (n,) and log-likelihood."""
    n, p = rows.shape
    floor = 1e-6 * rows.var(axis=0).mean()
    shares = np.eye(k)[labels]
    for _ in range(MIXTURE_STEPS):
        logs = np.empty((n, k))
        for j in range(k):
            weight = shares[:, j].sum() + 1e-9
            moved = rows - shares[:, j] @ rows / weight
            values, axes = np.linalg.eigh((moved * shares[:, j, None]).T @ moved / weight)
            values, axes = np.maximum(values[::-1], floor), axes[:, ::-1][:, :dim]
            noise = values[dim:].mean()
            inside = np.square(moved @ axes)
            squares = (np.square(moved).sum(axis=1) - inside.sum(axis=1)) / noise + inside @ (1 / values[:dim])
            volume = np.log(values[:dim]).sum() + (p - dim) * np.log(noise)
            logs[:, j] = np.log(weight / n) - (volume + squares) / 2
        total = logsumexp(logs, axis=1)
        shares = np.exp(logs - total[:, None])
    return shares.argmax(axis=1), float(total.sum())


def projected(X: np.ndarray, k: int) -> np.ndarray:
    """Leading 4 K directions of the rows, without subtracting their mean."""
    return X @ np.linalg.svd(X, full_matrices=False)[2][: 4 * k].T


def one_fit(task: Task) -> dict[str, float]:
    name, method, draw = task
    X, y = data_sets()[name][draw]()
    started = time.process_time()
    labels = METHODS[method](X, len(np.unique(y[y >= 0])))
    seconds = time.process_time() - started
    return {"accuracy": float(clustering_accuracy(y[y >= 0], labels[y >= 0])), "seconds": seconds}


def build(results: dict[Task, dict[str, float]]) -> Record:
    """Mean and lowest accuracy and mean seconds by data set and method."""
    found: Record = {}
    for name in data_sets():
        for method in METHODS:
            runs = [run for (data, which, _), run in results.items() if (data, which) == (name, method)]
            if runs:
                scores = [run["accuracy"] for run in runs]
                found.setdefault(name, {})[method] = {
                    "mean": round(float(np.mean(scores)), 4),
                    "min": round(min(scores), 4),
                    "seconds": round(float(np.mean([run["seconds"] for run in runs])), 2),
                    "draws": len(runs),
                }
    return {"results": found}


def main() -> None:
    measure(RESULTS, tasks(), one_fit, build, parser(__doc__).parse_args())


if __name__ == "__main__":
    main()
