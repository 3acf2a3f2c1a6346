"""Self-expressive methods compared: solvers, published settings, and methods that were left out.

    python benchmarks/study_methods.py                   # what is missing
    python benchmarks/study_methods.py --methods tsc lsr --data motions
    python benchmarks/study_methods.py --page            # write the tables of docs/which-method.md

Accuracy without labels of outliers, and CPU seconds of a fit, of every method on small sets: planes that are
orthogonal and nearly free of noise, three models of the paper, faces, 2,000 rows of handwritten digits, and the motion
sequences. Methods that are not part of the library are written here in a few lines:

- EKSS: the share of 50 short runs of K-flats in which two rows have the same label, as a graph;
- "ssc doubly stochastic", "lsr doubly stochastic": the graph of SSC or LSR, scaled to row sums of one;
- "sssc exemplars": SSSC with a sample of rows far from each other in angle in place of a random one.

Writes benchmarks/results/study_methods.json after every cell. Data are read from the folder named by SUBSPACES_DATA.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from kept import opened, store
from scipy.sparse import csr_matrix, identity
from sklearn.datasets import load_digits

from subspaces import LBF, SLBF, SSC, SSSC, KFlats
from subspaces._core.arrays import unit_rows
from subspaces.datasets import load_mnist, load_motions, load_pendigits, load_yaleb, make_subspaces
from subspaces.flats.candidates import random_starts
from subspaces.flats.dimension import choose_dim
from subspaces.flats.kflats import fit_kflats
from subspaces.metrics import clustering_accuracy
from subspaces.rows.preparation import mean_offset
from subspaces.rows.thresholds import FAR_OFFSET
from subspaces.self_expression.residuals import cluster_grams, least_residual
from subspaces.spectral.graph import spectral_labels
from subspaces.spectral.partition import vector_counts

RESULTS = Path(__file__).parent / "results" / "study_methods.json"
SOME_ROWS = 2000
RUNS, STEPS, NEAREST = 50, 3, 20
EXEMPLARS = 300
BEGIN, END = "<!-- solvers: made by benchmarks/study_methods.py -->", "<!-- end of solvers -->"

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
    "sssc exemplars": lambda X, k: exemplars(X, k),
    "kflats": lambda X, k: KFlats(k, random_state=0).fit(X).labels_,
    "ekss": lambda X, k: ekss(X, k),
    "ssc motions": lambda X, k: SSC.published("motions", k, random_state=0).fit(X).labels_,
    "lbf motions": lambda X, k: LBF.published("motions", k, random_state=0).fit(X).labels_,
    "slbf motions": lambda X, k: SLBF.published("motions", k, random_state=0).fit(X).labels_,
    "kflats motions": lambda X, k: KFlats.published("motions", k, random_state=0).fit(X).labels_,
    "ssc faces": lambda X, k: SSC.published("faces", k, random_state=0).fit(X).labels_,
}
# Only on the data that the settings were published for; raw faces are for nothing else.
ONLY = {"ssc motions": "motions", "lbf motions": "motions", "slbf motions": "motions", "kflats motions": "motions"}
ONLY |= {"ssc faces": "raw faces"}


def data_sets() -> Iterator[tuple[str, Callable[[], list[tuple[np.ndarray, np.ndarray]]]]]:
    """Names, and functions that load draws of rows and classes, -1 for outliers."""
    yield "orthogonal planes", lambda: [orthogonal_planes(seed) for seed in range(4)]
    for dims, space, outliers in (((2, 2), 6, 0.3), ((4, 5, 6), 10, 0.05), ((5, 6, 7), 20, 0.3)):
        name = f"({', '.join(map(str, dims))}) R^{space} {100 * outliers:.0f}%"
        yield (
            name,
            lambda d=dims, p=space, o=outliers: [make_subspaces(d, p, outliers=o, random_state=s) for s in (0, 1)],
        )
    yield "faces, 8 persons", lambda: [load_yaleb(8, random_state=seed, drop_components=0) for seed in (0, 1)]
    for digits in ("17", "248", "0123456789"):
        yield f"MNIST {digits}", lambda d=digits: [some_rows(*load_mnist([int(each) for each in d]))]
    yield "penDigits", lambda: [some_rows(*load_pendigits())]
    yield "digits of scikit-learn", lambda: [load_digits(return_X_y=True)]
    for count in (2, 3):
        yield f"motions, {count}", lambda c=count: [each for each in load_motions().values() if each[1].max() + 1 == c]
    yield "raw faces, persons 1 to 8", lambda: [load_yaleb(persons=range(1, 9), n_components=None)]


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


def exemplars(X: np.ndarray, k: int) -> np.ndarray:
    """SSC of rows chosen one after another, each at the largest angle to those before; others by their residuals."""
    rows = unit_rows(X.astype(np.float64))
    chosen = [0]
    nearest = np.abs(rows @ rows[0])
    for _ in range(min(EXEMPLARS, len(X)) - 1):
        chosen.append(int(nearest.argmin()))
        nearest = np.maximum(nearest, np.abs(rows @ rows[chosen[-1]]))
    labels = SSC(k, random_state=0).fit(X[chosen]).labels_
    return least_residual(rows, cluster_grams(rows[chosen], labels, k, ridge=1e-6))


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


def measure(method: str, draws: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, Any]:
    scores, seconds = [], []
    for X, y in draws:
        started = time.process_time()
        labels = METHODS[method](X, len(np.unique(y[y >= 0])))
        seconds.append(time.process_time() - started)
        scores.append(clustering_accuracy(y[y >= 0], labels[y >= 0]))
    return {
        "mean": round(float(np.mean(scores)), 4),
        "min": round(min(scores), 4),
        "seconds": round(float(np.mean(seconds)), 2),
        "draws": len(scores),
    }


def page(results: dict[str, dict[str, Any]]) -> str:
    """Tables of docs/which-method.md: mean accuracies of solvers, and errors on motions."""
    names = [name for name in results if not name.startswith(("motions", "raw faces"))]
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for method in METHODS:
        means = [results[name][method]["mean"] if method in results[name] else None for name in names]
        if method not in ONLY:
            lines.append(f"| {method} | {' | '.join('–' if mean is None else f'{mean:.3f}' for mean in means)} |")
    lines += ["", "| error in % | two motions | three motions |", "|---|---|---|"]
    two, three = (results[f"motions, {count}"] for count in (2, 3))
    for method in METHODS:
        if method in two and method in three:
            errors = [100 * (1 - cells[method]["mean"]) for cells in (two, three)]
            lines.append(f"| {method} | {errors[0]:.1f} | {errors[1]:.1f} |")
    return "\n".join(lines)


def write_page() -> None:
    path = Path(__file__).parents[1] / "docs" / "which-method.md"
    before, rest = path.read_text().split(BEGIN)
    results = opened(RESULTS, "python benchmarks/study_methods.py")["results"]
    path.write_text(f"{before}{BEGIN}\n{page(results)}\n{END}{rest.split(END)[1]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--data", nargs="+", default=[""])
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    if arguments.page:
        write_page()
        return
    warnings.simplefilter("ignore")
    for name, load in data_sets():
        if not name.startswith(tuple(arguments.data)):
            continue
        draws = load()
        for method in arguments.methods:
            record = opened(RESULTS, "python benchmarks/study_methods.py")
            cells = record.setdefault("results", {}).setdefault(name, {})
            wanted = name.startswith(ONLY[method]) if method in ONLY else not name.startswith("raw faces")
            if not wanted or (method in cells and not arguments.again):
                continue
            cells[method] = measure(method, draws)
            store(RESULTS, record, f"{name}, {method}")
            print(f"{name:28s} {method:24s} {cells[method]}", flush=True)


if __name__ == "__main__":
    main()
