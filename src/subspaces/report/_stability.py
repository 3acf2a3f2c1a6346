"""Would other seeds give the same clusters?"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from subspaces.metrics import adjusted_rand, clustering_accuracy, match_labels
from subspaces.partition import at_most
from subspaces.plots._look import OUTLIER, cluster_names, label_array, on_host
from subspaces.report._plain import name_text, number
from subspaces.report._subject import Subject

# Refits take no more rows; methods whose time grows with the square of their number take fewer.
SAMPLE_ROWS = 10_000
SQUARE_ROWS = 2_000


def stability(subject: Subject, count: int, seed: int) -> tuple[dict[str, Any] | None, NDArray[np.float64] | None]:
    """How far copies of the model with other seeds agree, and the share (K,) of each cluster that they keep together.

    None where `count` is zero, or the model has no seed.
    """
    if count == 0 or "random_state" not in subject.model.get_params():
        return None, None
    index = np.sort(at_most(np.arange(subject.n_rows), _most(subject.model), np.random.RandomState(seed)))
    labels = subject.labels[index]
    fits, kept = [], []
    for other in _seeds(subject.model, count, seed):
        start = time.perf_counter()
        try:
            found, warned = _refit(subject.model, subject.x[index], other)
        except (ValueError, RuntimeError, MemoryError) as error:
            fits.append({"seed": other, "failed": name_text(error, 300)})
            continue
        entry = {
            "seed": other,
            "clusters": len(cluster_names(found)),
            "seconds": number(time.perf_counter() - start, 3),
            "warned": warned,
        }
        if (labels != OUTLIER).any():
            entry["adjusted_rand"] = number(adjusted_rand(labels, found), 4)
            entry["accuracy"] = number(clustering_accuracy(labels, found), 4)
            kept.append(match_labels(labels, found) == labels)
        fits.append(entry)
    scores = [fit["adjusted_rand"] for fit in fits if fit.get("adjusted_rand") is not None]
    summary = {
        "n_rows": len(index),
        "sampled": len(index) < subject.n_rows,
        "fits": fits,
        "mean": number(np.mean(scores), 4) if scores else None,
        "lowest": number(np.min(scores), 4) if scores else None,
    }
    return summary, _kept_shares(labels, kept, subject.n_clusters)


def _most(model: Any) -> int:
    from subspaces.self_expressive import SSC
    from subspaces.spectral_flats import SLBF

    return SQUARE_ROWS if isinstance(model, SSC | SLBF) else SAMPLE_ROWS


def _seeds(model: Any, count: int, seed: int) -> list[int]:
    """Seeds that are not the model's own."""
    return [each for each in range(seed + 1, seed + count + 2) if each != model.random_state][:count]


def _refit(model: Any, x: NDArray[Any], seed: int) -> tuple[NDArray[Any], bool]:
    """Labels of a copy of the model with another seed, and whether it warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = clone(model).set_params(random_state=seed, verbose=0).fit(x).labels_
    return label_array(on_host(labels)), bool(caught)


def _kept_shares(labels: NDArray[Any], kept: list[NDArray[Any]], n_clusters: int) -> NDArray[np.float64] | None:
    if not kept:
        return None
    together = np.mean(kept, axis=0)
    shares = np.full(n_clusters, np.nan)
    for k in range(n_clusters):
        if (labels == k).any():
            shares[k] = together[labels == k].mean()
    return shares
