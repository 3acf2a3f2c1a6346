"""`describe`: compute the content of every section of the report."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from subspaces._core.validation import check_integer
from subspaces.selection.verdict import FLAT
from subspaces.show.look import on_host
from subspaces.show.plots.eigengap import EigengapDisplay
from subspaces.show.report.beside import kmeans_beside
from subspaces.show.report.clusters import angle_map, cluster_facts, cluster_table, residual_boxes
from subspaces.show.report.columns import column_facts
from subspaces.show.report.evidence import evidence_boxes
from subspaces.show.report.examples import examples
from subspaces.show.report.landmarks import landmarks
from subspaces.show.report.plain import name_text, number, numbers
from subspaces.show.report.points import drawn_rows, scatter
from subspaces.show.report.profile import profiles
from subspaces.show.report.report import Report
from subspaces.show.report.stability import stability
from subspaces.show.report.subject import Run, Subject, make_subject
from subspaces.show.report.truth import truth_table
from subspaces.show.report.verdict import own_warnings, verdict_data, verdict_on

CITATION = "X. Wang and G. Lerman, Fast Landmark Subspace Clustering, arXiv:1510.08406 (2015)."
# Eigenvalues shown at most, and characters of a long text.
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
    n_stability: int | None = None,
    max_points: int = 4000,
    random_state: int = 0,
) -> Report:
    """Create a report on the clusters of a fitted model.

    Works with every estimator of the package. What a model does not provide is computed from rows and labels, or left
    out.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted model.
    X : array-like of shape (n, p)
        The rows passed to `fit`, or some of them with their `labels`.
    labels : array-like of shape (n,), default=None
        Clusters from 0, and -1 for outliers. By default `labels_` if it has n entries, otherwise `predict(X)`.
    confidence : array-like of shape (n,), default=None
        Confidence of each label, from 0 to 1. By default `confidence_` if the labels are those of `fit`.
    values : array-like of shape (n, q), default=None
        Rows in original units, if X is standardised or projected. By default X.
    columns, row_names : sequence of str, default=None
        Names of the columns of `values`, and of the rows.
    row_numbers : array-like of shape (n,), default=None
        Positions of the rows in the original data. By default 0 to n - 1.
    truth : array-like of shape (n,), default=None
        Known classes to compare with; -1 for outliers.
    image_shape : tuple of int, default=None
        Height and width, or (height, width, 3), if rows are images.
    images : array-like of shape (n, ...), default=None
        Images of the rows, if they are not in X or `values`.
    run : Run, default=None
        How the clustering was computed.
    n_stability : int, default=None
        Number of refits with another seed, on random subsets of at most 10,000 rows; 0 for none. By default up to 3,
        as long as they take no more time than the fit. No further refit starts after one minute.
    max_points : int, default=4000
        Largest number of points in the scatter plot.
    random_state : int, default=0
        Seed of the random choices made for the report.

    Returns
    -------
    report : Report
        The content as `report.data`; `report.save(path)` writes the page.

    Examples
    --------
    >>> from subspaces import KFlats
    >>> from subspaces.datasets import make_subspaces
    >>> from subspaces.report import describe
    >>> X, y = make_subspaces((1, 2), 5, random_state=0)
    >>> page = describe(KFlats(2, random_state=0).fit(X), X, truth=y, n_stability=1)
    >>> page.data["verdict"]["trust"]
    'reliable'
    """
    if n_stability is not None:
        check_integer("n_stability", n_stability, low=0)
    with warnings.catch_warnings():
        # The report uses plain arrays, but the model may have been fitted to a table with column names.
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
        return _report(subject, run or Run(), n_stability, max_points, random_state)


def _report(subject: Subject, run: Run, n_stability: int | None, max_points: int, random_state: int) -> Report:
    facts = cluster_facts(subject)
    refits, kept = stability(subject, n_stability, random_state, run.fit_seconds)
    compared = truth_table(subject)
    verdict = verdict_on(subject, refits, random_state)
    columns = None if subject.pictures is not None else column_facts(subject)
    drawn = drawn_rows(subject.labels, max_points, np.random.RandomState(random_state))
    return Report(
        {
            "title": name_text(run.title, 200) or f"Clusters found by {type(subject.model).__name__}",
            "summary": _summary(subject),
            "verdict": verdict_data(verdict, compared, refits),
            "warnings": _warnings(run, own_warnings(subject, refits)),
            "evidence": evidence_boxes(subject, facts, verdict, refits),
            "clusters": cluster_table(subject, facts, kept),
            "profiles": profiles(subject, columns),
            "kmeans": kmeans_beside(subject, drawn, random_state),
            "eigenvalues": _eigenvalues(subject),
            "scatter": scatter(subject, facts, columns, drawn, are_flat=verdict.structure == FLAT),
            "angles": angle_map(subject, facts),
            "residuals": residual_boxes(subject, facts),
            "examples": examples(subject, facts, columns),
            "landmarks": landmarks(subject),
            "stability": refits,
            "choice": _choice(subject.model),
            "answer": subject.model.choice_.answer if hasattr(subject.model, "choice_") else "",
            "truth": compared,
            "run": _run(subject.model, run),
            "citation": CITATION,
        }
    )


def _warnings(run: Run, own: list[str]) -> list[str]:
    """Warnings of the run, then those of the report that say something else."""
    given = [name_text(f"{each[:1].upper()}{each[1:]}", LONG_TEXT) for each in run.warnings]
    # The remedy after the colon has other words on the command line than in Python.
    said = {each.split(": ")[0].lower() for each in given}
    return given + [name_text(each, LONG_TEXT) for each in own if each.split(": ")[0].lower() not in said]


def _summary(subject: Subject) -> dict[str, Any]:
    return {
        "model": type(subject.model).__name__,
        "n_rows": subject.n_rows,
        "n_columns": int(subject.values.shape[1]),
        "standardised": bool(getattr(subject.model, "standardise_", False)),
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
    """The decisions of the model, their candidates and reasons."""
    return model.choice_.to_dict()["decisions"] if hasattr(model, "choice_") else []


def _run(model: Any, run: Run) -> dict[str, Any]:
    """How the clustering was computed, from `run` or from the model."""
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
