"""Which number of clusters a grid search by `score` takes: mean over three folds, 2 to 8 clusters.

    SUBSPACES_DATA=folder python benchmarks/study_score.py --jobs 16

Writes benchmarks/results/study_score.json and draws docs/_static/score.svg. `score` encodes rows in 20 principal
directions; the same fits are scored in other numbers of them, too. A few minutes on two cores.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Record, measure, parser
from numpy.typing import NDArray
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.model_selection import KFold
from sklearn.preprocessing import scale

from subspaces import FLS, LBF
from subspaces.datasets import load_mnist, load_motions, make_subspaces
from subspaces.estimators._score import Scorer, fit_code
from subspaces.flats.thresholds import SCORE_COLUMNS

RESULTS = Path(__file__).parent / "results" / "study_score.json"
FIGURE = Path(__file__).parent.parent / "docs" / "_static" / "score.svg"
COUNTS = (2, 3, 4, 5, 6, 8)
COLUMNS = (12, SCORE_COLUMNS, 32, 80)
FOLDS = 3
DRAWS = 1
MNIST_ROWS = 600
MODELS = {"2, 2 in R^6": ((2, 2), 6), "4, 5, 6 in R^10": ((4, 5, 6), 10), "5, 6, 7 in R^20": ((5, 6, 7), 20)}
DIGITS = ((1, 7), (4, 9), (2, 4, 8), (3, 6, 8))
SHOWN = ("4, 5, 6 in R^10, 30% outliers", "four blobs", "motion 1R2RC", "motion two_cranes", "iris", "MNIST 2, 4, 8")

Case = tuple[str, str, int, NDArray[Any], int]  # name, method, seed, rows, true number of clusters


def make_model(method: str, n_clusters: int, seed: int) -> Any:
    """The estimator with settings that make a fit short."""
    if method == "FLS":
        return FLS(n_clusters, n_landmarks=300, n_draws=1, random_state=seed)
    # Rigid motions have dimension 3 or less.
    return LBF(n_clusters, subspace_dim=3, n_init=3, random_state=seed)


def cases() -> Iterator[Case]:
    digits, classes = load_mnist()
    for seed in range(DRAWS):
        for name, (dims, space) in MODELS.items():
            for outliers in (0.05, 0.3):
                rows = make_subspaces(dims, space, outliers=outliers, random_state=seed)[0]
                yield f"{name}, {outliers:.0%} outliers", "FLS", seed, rows, len(dims)
        rows = make_subspaces((4, 5, 6), 10, noise=0.1, random_state=seed)[0]
        yield "4, 5, 6 in R^10, noise 0.1", "FLS", seed, rows, 3
        yield "four blobs", "FLS", seed, make_blobs(500, n_features=4, centers=4, random_state=seed)[0], 4
        yield "iris", "FLS", seed, load_iris().data, 3
        yield "wine, standardised", "FLS", seed, scale(load_wine().data), 3
        for kept in DIGITS:
            some = np.random.default_rng(seed).permutation(np.flatnonzero(np.isin(classes, kept)))[:MNIST_ROWS]
            yield f"MNIST {', '.join(map(str, kept))}", "FLS", seed, np.asarray(digits)[np.sort(some)], len(kept)
    for name, (rows, objects) in load_motions().items():
        yield f"motion {name}", "LBF", 0, rows, int(objects.max()) + 1


def searched(case: Case) -> dict[str, Any]:
    """Mean scores (columns, counts) over the folds, and the numbers of clusters with the largest."""
    name, method, seed, rows, true = case
    scores = np.zeros((FOLDS, len(COLUMNS), len(COUNTS)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fold, (fitted, held) in enumerate(KFold(FOLDS, shuffle=True, random_state=seed).split(rows)):
            for j, count in enumerate(COUNTS):
                model = make_model(method, count, seed).fit(rows[fitted])
                for i, n_columns in enumerate(COLUMNS):
                    code = fit_code(rows[fitted].astype(np.float64), model.labels_, count, n_columns=n_columns)
                    n, nats = Scorer(model._model, code).sums(rows[held])
                    scores[fold, i, j] = -nats / n
    means = scores.mean(axis=0)
    found = {str(n): COUNTS[int(each.argmax())] for n, each in zip(COLUMNS, means, strict=True)}
    shown = means[COLUMNS.index(SCORE_COLUMNS)].round(3).tolist()
    return {"data": name, "method": method, "seed": seed, "true": true, "found": found, "scores": shown}


def right_shares(results: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Share of right numbers of clusters by kind of data, for each number of columns."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for each in results:
        kind = each["data"].split()[0]
        kind = f"{each['true']} motions" if kind == "motion" else kind if kind == "MNIST" else each["data"]
        kinds.setdefault(kind, []).append(each)
    return {
        kind: {str(n): round(float(np.mean([r["found"][str(n)] == r["true"] for r in rows])), 3) for n in COLUMNS}
        for kind, rows in kinds.items()
    }


def draw(results: list[dict[str, Any]]) -> None:
    """Scores against the number of clusters, for data where they are right and where they are wrong."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "score", "svg.fonttype": "none"}
    import matplotlib.pyplot as plt

    first = {each["data"]: each for each in reversed(results)}
    figure, axes = plt.subplots(2, 3, figsize=(9, 5), layout="constrained")
    for ax, name in zip(axes.flat, SHOWN, strict=True):
        each = first[name]
        found = each["found"][str(SCORE_COLUMNS)]
        ax.plot(COUNTS, each["scores"], "o-", color="#0072B2", markersize=4)
        ax.axvline(each["true"], color="0.6", linestyle=":")
        ax.plot(found, max(each["scores"]), "o", color="#D55E00", markersize=9, fillstyle="none")
        verdict = "right" if found == each["true"] else f"wrong: {found} instead of {each['true']}"
        ax.set_title(f"{name} ({each['method']})\n{verdict}", fontsize=9)
        ax.tick_params(labelsize=8)
    figure.supxlabel("n_clusters", fontsize=9)
    figure.supylabel("score (minus nats per row)", fontsize=9)
    figure.savefig(FIGURE, metadata={"Date": None})


def build(results: dict[str, dict[str, Any]]) -> Record:
    found = list(results.values())
    return {"right": right_shares(found), "results": found}


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--figure", action="store_true", help="only draw the figure from the kept results")
    options = arguments.parse_args()
    if not options.figure:
        todo = {f"{case[0]}, {case[2]}": case for case in cases()}
        measure(RESULTS, todo, lambda name: searched(todo[name]), build, options)
    kept = json.loads(RESULTS.read_text())
    for kind, shares in kept["right"].items():
        print(f"{kind:32s}", "  ".join(f"{n} columns {share:.2f}" for n, share in shares.items()))
    if find_spec("matplotlib"):
        draw(kept["results"])


if __name__ == "__main__":
    main()
