"""Stability of the clusters: refits with other seeds on random subsets of the rows."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from subspaces.metrics import adjusted_rand, clustering_accuracy, match_labels
from subspaces.show.look import OUTLIER, cluster_names, label_array, on_host
from subspaces.show.models import has_pairwise_graph
from subspaces.show.report.plain import name_text, number
from subspaces.show.report.subject import Subject
from subspaces.spectral.partition import at_most

# Refits use this share of the rows, at most SAMPLE_ROWS, or SQUARE_ROWS if time grows with the square of their number.
ROW_SHARE = 0.8
SAMPLE_ROWS = 10_000
SQUARE_ROWS = 2_000
# No further refit starts after this time.
MOST_SECONDS = 60.0
# Refits if their number is not given, as long as they take no more time than the fit.
MOST_REFITS = 3


def stability(
    subject: Subject, count: int | None, seed: int, fit_seconds: float | None = None
) -> tuple[dict[str, Any] | None, NDArray[np.float64] | None]:
    """Agreement of refits with the labels, and the share (K,) of each cluster that stays together in them.

    If `count` is None, the refits together take no longer than the fit, which took `fit_seconds`. Both results are None
    if `count` is zero or the model has no `random_state`.
    """
    if count == 0 or "random_state" not in subject.model.get_params():
        return None, None
    fits: list[dict[str, Any]] = []
    kept = []
    began = time.perf_counter()
    most = MOST_SECONDS
    for other in _seeds(subject.model, MOST_REFITS if count is None else count, seed):
        spent = time.perf_counter() - began
        # The next refit takes about as long as those before it.
        ahead = spent / len(fits) if fits and count is None else 0.0
        if fits and spent + ahead > most:
            break
        index = _other_rows(subject, np.random.RandomState(other))
        entry, shares = _attempt(subject, index, other)
        fits.append(entry)
        if shares is not None:
            kept.append(shares)
        if count is None and len(fits) == 1:
            most = min(
                MOST_SECONDS, _time_of_fit(subject.n_rows / len(index), time.perf_counter() - began, fit_seconds)
            )
    scores = [fit["adjusted_rand"] for fit in fits if fit.get("adjusted_rand") is not None]
    summary = {
        "asked": count,
        "fits": fits,
        "mean": number(np.mean(scores), 4) if scores else None,
        "lowest": number(np.min(scores), 4) if scores else None,
    }
    return summary, _mean_known(kept) if kept else None


def _time_of_fit(ratio: float, refit_seconds: float, fit_seconds: float | None) -> float:
    """Seconds of the fit; if unknown, an estimate from a refit of a share 1 / `ratio` of its rows."""
    # Decisions take a constant time, so that the time of a fit grows more slowly than its rows.
    return refit_seconds * math.sqrt(ratio) if fit_seconds is None else fit_seconds


def _attempt(subject: Subject, index: NDArray[np.intp], seed: int) -> tuple[dict[str, Any], NDArray[np.float64] | None]:
    """A refit of the rows `index`: what the page shows of it, and the share (K,) of each cluster that it keeps."""
    labels = subject.labels[index]
    start = time.perf_counter()
    try:
        found, warned = _refit(subject.model, subject.x[index], seed)
    except (ValueError, RuntimeError, MemoryError) as error:
        return {"seed": seed, "failed": name_text(error, 300)}, None
    entry: dict[str, Any] = {
        "seed": seed,
        "rows": len(index),
        "clusters": len(cluster_names(found)),
        "seconds": number(time.perf_counter() - start, 3),
        "warned": warned,
    }
    if not (labels != OUTLIER).any():
        return entry, None
    entry["adjusted_rand"] = number(adjusted_rand(labels, found), 4)
    entry["accuracy"] = number(clustering_accuracy(labels, found), 4)
    return entry, _kept_shares(labels, match_labels(labels, found) == labels, subject.n_clusters)


def _other_rows(subject: Subject, rng: np.random.RandomState) -> NDArray[np.intp]:
    """A random subset of the rows, in order.

    Not all rows: in small data sets every row is a landmark, so that another seed alone would change nothing.
    """
    limit = SQUARE_ROWS if has_pairwise_graph(subject.model) else SAMPLE_ROWS
    most = max(subject.n_clusters, min(limit, round(ROW_SHARE * subject.n_rows)))
    return np.sort(at_most(np.arange(subject.n_rows), most, rng))


def _seeds(model: Any, count: int, seed: int) -> list[int]:
    """`count` seeds that differ from the seed of the model."""
    others = (each % 2**32 for each in range(seed + 1, seed + count + 2))
    return [each for each in others if each != model.random_state][:count]


def _refit(model: Any, x: NDArray[Any], seed: int) -> tuple[NDArray[Any], bool]:
    """Labels of a copy of the model with another seed, and whether it warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = clone(model).set_params(random_state=seed, verbose=0).fit(x).labels_
    return label_array(on_host(labels)), bool(caught)


def _kept_shares(labels: NDArray[Any], kept: NDArray[np.bool_], n_clusters: int) -> NDArray[np.float64]:
    """Share (K,) of the rows of each cluster that stay in it; NaN for empty clusters."""
    shares = [kept[labels == k].mean() if (labels == k).any() else np.nan for k in range(n_clusters)]
    return np.array(shares, np.float64)


def _mean_known(tables: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Means (K,) over tables (K,), ignoring NaN."""
    stacked = np.array(tables)
    known = np.isfinite(stacked)
    sums, counts = np.where(known, stacked, 0).sum(axis=0), known.sum(axis=0)
    return np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
