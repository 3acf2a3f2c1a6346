"""The facts of a clustering, section by section."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from subspaces._core.validation import check_integer
from subspaces.show.plots._eigengap import EigengapDisplay
from subspaces.show.plots._look import on_host
from subspaces.show.report._clusters import angle_map, cluster_facts, cluster_table, residual_boxes
from subspaces.show.report._examples import examples
from subspaces.show.report._landmarks import landmarks
from subspaces.show.report._plain import name_text, number, numbers
from subspaces.show.report._points import scatter
from subspaces.show.report._report import Report
from subspaces.show.report._run import Run
from subspaces.show.report._stability import stability
from subspaces.show.report._subject import Subject, make_subject
from subspaces.show.report._truth import truth_table
from subspaces.show.report._verdict import own_warnings, verdict

CITATION = "X. Wang and G. Lerman, Fast Landmark Subspace Clustering, arXiv:1510.08406 (2015)."
# Further eigenvalues say nothing about so few clusters.
MOST_EIGENVALUES = 120
LONG_TEXT = 2000


def describe(
    model: Any,
    X: Any,
    *,
    labels: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
    values: Any = None,
    columns: Sequence[str] | None = None,
    row_names: Sequence[str] | None = None,
    row_numbers: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    image_shape: tuple[int, ...] | None = None,
    images: ArrayLike | None = None,
    run: Run | None = None,
    n_stability: int = 3,
    max_points: int = 4000,
    random_state: int = 0,
) -> Report:
    """A page about the clusters that a fitted model found.

    Works with every estimator of the package; what a model does not know is found from rows and labels, or left out.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted.
    X : array-like of shape (n, p)
        The rows of `fit`, or some of them with their `labels`.
    labels : array-like of shape (n,) or None
        Clusters from 0, and -1 for outliers. None takes `labels_` where X has as many rows, else `predict`.
    confidence : array-like of shape (n,) or None
        How sure labels are, from 0 to 1. None takes `confidence_` where the labels are those of `fit`.
    values : array-like of shape (n, q) or None
        Rows as people know them, where X is standardised or projected. None is X.
    columns, row_names : sequence of str or None
        Names of the columns of `values` and of the rows.
    row_numbers : array-like of shape (n,) or None
        Their numbers where they come from. None is 0 to n - 1.
    truth : array-like of shape (n,) or None
        Classes to compare with; -1 for rows that belong to none.
    image_shape : tuple of int or None
        Height and width of the images that rows are; (height, width, 3) for coloured ones.
    images : array-like of shape (n, ...) or None
        The images, where X and `values` are not.
    run : Run or None
        How the clustering was made.
    n_stability : int
        How many times the model is fitted again with another seed, to most of the rows and at most 10,000 of them; 0
        is not at all. No further fit begins after a minute.
    max_points : int
        Most points of the picture.
    random_state : int
        Seed of what is drawn for the page.

    Examples
    --------
    >>> from subspaces import KFlats
    >>> from subspaces.datasets import make_subspaces
    >>> from subspaces.show.report import describe
    >>> X, y = make_subspaces((1, 2), 5, random_state=0)
    >>> page = describe(KFlats(2, random_state=0).fit(X), X, truth=y, n_stability=1)
    >>> page.data["verdict"]["level"]
    'good'
    """
    check_integer("n_stability", n_stability, low=0)
    with warnings.catch_warnings():
        # Rows are plain arrays here, though the model may have been fitted to columns with names.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        subject = make_subject(
            model,
            X,
            labels=labels,
            confidence=confidence,
            values=values,
            columns=columns,
            row_names=row_names,
            row_numbers=row_numbers,
            truth=truth,
            image_shape=image_shape,
            images=images,
        )
        return _described(subject, run or Run(), n_stability, max_points, random_state)


def _described(subject: Subject, run: Run, n_stability: int, max_points: int, random_state: int) -> Report:
    facts = cluster_facts(subject)
    eigenvalues = _eigenvalues(subject)
    refits, kept = stability(subject, n_stability, random_state)
    compared = truth_table(subject)
    return Report(
        {
            "title": name_text(run.title, 200) or f"Clusters found by {type(subject.model).__name__}",
            "summary": _summary(subject),
            "verdict": verdict(subject, facts, eigenvalues=eigenvalues, stability=refits, truth=compared),
            "warnings": [name_text(each, LONG_TEXT) for each in run.warnings] + own_warnings(subject),
            "clusters": cluster_table(subject, facts, kept),
            "eigenvalues": eigenvalues,
            "scatter": scatter(subject, facts, max_points, np.random.RandomState(random_state)),
            "angles": angle_map(subject, facts),
            "residuals": residual_boxes(subject, facts),
            "examples": examples(subject, facts),
            "landmarks": landmarks(subject),
            "stability": refits,
            "choice": _choice(subject.model),
            "truth": compared,
            "run": _run(subject.model, run),
            "citation": CITATION,
        }
    )


def _summary(subject: Subject) -> dict[str, Any]:
    return {
        "model": type(subject.model).__name__,
        "n_rows": subject.n_rows,
        "n_columns": int(subject.values.shape[1]),
        "n_clusters": int((subject.sizes > 0).sum()),
        "n_outliers": int((subject.labels < 0).sum()),
        "images": subject.pictures is not None,
    }


def _eigenvalues(subject: Subject) -> dict[str, Any] | None:
    values = getattr(subject.model, "eigenvalues_", None)
    if values is None or len(values) < 2:
        return None
    display = EigengapDisplay(on_host(values)[:MOST_EIGENVALUES], subject.n_clusters)
    return {
        "values": numbers(display.eigenvalues),
        "n_clusters": subject.n_clusters,
        "gap": number(display.gap),
        "largest_gap_at": display.largest_gap_at,
    }


def _choice(model: Any) -> list[dict[str, Any]]:
    """What was chosen without labels, from what, and why."""
    return model.choice_.to_dict()["decisions"] if hasattr(model, "choice_") else []


def _run(model: Any, run: Run) -> dict[str, Any]:
    """How the clustering was made, as the user told or as the model knows."""
    seed = getattr(model, "random_state", None) if run.seed is None else run.seed
    return {
        "model": name_text(repr(model), LONG_TEXT),
        "command": name_text(run.command, LONG_TEXT),
        "seed": int(seed) if isinstance(seed, int | np.integer) else None,
        "stages": [[name_text(name), number(seconds)] for name, seconds in run.stages],
        "peak_memory": number(run.peak_memory),
        "versions": [[name_text(name), name_text(each)] for name, each in (run.versions or _versions()).items()],
        "data": [name_text(each, 400) for each in run.data],
        "notes": [name_text(each, LONG_TEXT) for each in run.notes],
    }


def _versions() -> dict[str, str]:
    import scipy
    import sklearn

    import subspaces

    found = {"subspaces": subspaces.__version__, "Python": platform.python_version(), "NumPy": np.__version__}
    return found | {"SciPy": scipy.__version__, "scikit-learn": sklearn.__version__}
