"""The comparison behind `subspaces demo`: FLS, k-means and spectral clustering on subspaces and handwritten digits."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_digits

from subspaces._core import progress
from subspaces._core.arrays import Array
from subspaces._core.drawing import check_matplotlib
from subspaces._core.errors import ForbiddenFileError, InputError, MissingFileError
from subspaces._core.files import new_file
from subspaces.datasets import make_subspaces
from subspaces.estimators.fls import FLS
from subspaces.metrics import clustering_accuracy

STAGE = "demo"  # of progress events


@dataclass(frozen=True, slots=True)
class Score:
    """Accuracy and time of one method."""

    method: str
    accuracy: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """One data set and the scores of every method on it."""

    title: str
    rows: Array  # (n, p)
    truth: NDArray[np.int64]  # (n,), -1 for outliers
    embedding: Array  # (n, q), of FLS
    scores: list[Score]


def run(seed: int) -> list[Outcome]:
    """Cluster both data sets with every method. Progress events have the stage "demo"."""
    data_sets = [
        ("subspaces of dimension 4, 5, 6 in R¹⁰, 5 % outliers", *make_subspaces((4, 5, 6), 10, random_state=seed)),
        ("1,797 handwritten digits, 64 pixels", *load_digits(return_X_y=True)),
    ]
    outcomes = []
    for title, rows, truth in data_sets:
        progress.stage(STAGE, title)
        n_clusters = len(np.unique(truth[truth >= 0]))
        scores = []
        methods = _methods(n_clusters, seed)
        for method, model in methods:
            scores.append(_score(method, model, rows, truth))
            line = f"  {method:22s} accuracy {scores[-1].accuracy:.3f}  {scores[-1].seconds:6.2f} s"
            progress.advance(STAGE, len(scores), len(methods), detail=line)
        # After the loop, `model` is the fitted FLS.
        outcomes.append(Outcome(title, rows, truth, model.transform(rows), scores))
    return outcomes


def _methods(n_clusters: int, seed: int) -> list[tuple[str, ClusterMixin]]:
    return [
        ("k-means", KMeans(n_clusters, n_init=10, random_state=seed)),
        ("spectral clustering", SpectralClustering(n_clusters, affinity="nearest_neighbors", random_state=seed)),
        ("FLS", FLS(n_clusters, random_state=seed)),
    ]


def _score(method: str, model: ClusterMixin, rows: Array, truth: NDArray[np.int64]) -> Score:
    start = time.perf_counter()
    with warnings.catch_warnings():
        # Spectral clustering warns if its graph is not connected.
        warnings.simplefilter("ignore", UserWarning)
        labels = model.fit_predict(rows)
    seconds = time.perf_counter() - start
    return Score(method, clustering_accuracy(truth, labels), seconds)


def table(outcomes: Sequence[Outcome]) -> str:
    """The scores as text, one table per data set."""
    lines = []
    for outcome in outcomes:
        lines += ["", outcome.title, f"  {'method':22s} {'accuracy':>8s} {'seconds':>8s}"]
        lines += [f"  {score.method:22s} {score.accuracy:8.3f} {score.seconds:8.2f}" for score in outcome.scores]
    return "\n".join(lines)


def check_picture(path: Path) -> None:
    """Raise an error, before any work is done, if a figure cannot be written to `path`."""
    check_matplotlib()
    if path.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise InputError(f"the name of the figure, {path}, must end in .png, .pdf or .svg", parameter="picture")
    if not path.parent.is_dir():
        raise MissingFileError(
            f"cannot write the figure {path}: the folder {path.parent} does not exist", parameter="picture"
        )
    if not os.access(path.parent, os.W_OK):
        raise ForbiddenFileError(
            f"cannot write the figure {path}: no permission to write to the folder {path.parent}", parameter="picture"
        )


def draw(outcomes: Sequence[Outcome], path: Path) -> None:
    """Draw rows, their embedding and the scores: one line of plots per data set."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3.9 * len(outcomes)), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(outcomes), 3, squeeze=False, width_ratios=(1, 1, 0.8))
    for axes, outcome in zip(grid, outcomes, strict=True):
        _scatter(axes[0], _plane(outcome.rows), outcome.truth, f"{outcome.title}\ntwo principal components")
        _scatter(axes[1], _plane(outcome.embedding), outcome.truth, "embedding of FLS\ntwo principal components")
        _bars(axes[2], outcome.scores)
    with new_file(path) as stream:
        figure.savefig(stream, dpi=110, format=path.suffix[1:].lower())


def _plane(rows: Array) -> Array:
    """The first two principal components: (n, 2); the second is zero if there is only one."""
    centered = rows - rows.mean(axis=0)
    plane = centered @ np.linalg.svd(centered, full_matrices=False)[2][:2].T
    return np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))


def _scatter(axes, points: Array, truth: NDArray[np.int64], title: str) -> None:  # type: ignore[no-untyped-def]
    outlier = truth < 0
    axes.scatter(*points[outlier].T, s=8, c="0.6", marker="x", linewidths=0.8, label="outliers")
    axes.scatter(*points[~outlier].T, s=8, c=truth[~outlier], cmap="tab10", vmin=0, vmax=9, linewidths=0)
    axes.set_title(title, fontsize=10)
    axes.set_xticks([])
    axes.set_yticks([])
    if outlier.any():
        axes.legend(loc="upper right", fontsize=8)


def _bars(axes, scores: Sequence[Score]) -> None:  # type: ignore[no-untyped-def]
    colors = ["0.7"] * (len(scores) - 1) + ["tab:blue"]
    bars = axes.barh([score.method for score in scores], [score.accuracy for score in scores], color=colors)
    axes.bar_label(bars, [f"{score.accuracy:.3f}" for score in scores], padding=3, fontsize=9)
    axes.set_xlim(0, 1.2)
    axes.set_xticks([0, 0.5, 1])
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title("accuracy", fontsize=10)
