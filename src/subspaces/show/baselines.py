"""Ordinary clustering methods beside ours, on the same rows: k-means, spectral clustering, Gaussian mixture, HDBSCAN.

They are those of scikit-learn. Methods whose time grows faster than the number of rows are fitted to a sample, and
other rows take the label of the nearest row of the sample.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.errors import InputError

# Neighbours in the graph that spectral clustering cuts.
NEIGHBORS = 10
# Mixtures of more columns have diagonal covariances: full ones need more rows than most data have.
FULL_COLUMNS = 20
# A cluster of HDBSCAN has at least this share of an average cluster, and at least this many rows.
SMALLEST_SHARE = 0.1
SMALLEST = 5


@dataclass(frozen=True, slots=True)
class Baseline:
    """One method: how it is made for K clusters and rows (n, p), and how many rows it is fitted to at most."""

    name: str
    title: str
    most_rows: int
    make: Callable[[int, tuple[int, int], int], Any]
    finds_number: bool = False  # whether it needs no number of clusters


def _kmeans(k: int, shape: tuple[int, int], seed: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=10, random_state=seed)


def _spectral(k: int, shape: tuple[int, int], seed: int) -> Any:
    from sklearn.cluster import SpectralClustering

    neighbors = min(NEIGHBORS, shape[0] - 1)
    return SpectralClustering(k, affinity="nearest_neighbors", n_neighbors=neighbors, random_state=seed)


def _mixture(k: int, shape: tuple[int, int], seed: int) -> Any:
    from sklearn.mixture import GaussianMixture

    kind = "full" if shape[1] <= FULL_COLUMNS else "diag"
    return GaussianMixture(k, covariance_type=kind, reg_covar=1e-6, random_state=seed)


def _hdbscan(k: int, shape: tuple[int, int], seed: int) -> Any:
    from sklearn.cluster import HDBSCAN

    smallest = max(SMALLEST, int(SMALLEST_SHARE * shape[0] / k))
    return HDBSCAN(min_cluster_size=min(smallest, shape[0]), copy=True)


BASELINES = {
    each.name: each
    for each in (
        Baseline("k-means", "KMeans", 100_000, _kmeans),
        Baseline("spectral", "SpectralClustering", 4000, _spectral),
        Baseline("mixture", "GaussianMixture", 10_000, _mixture),
        Baseline("hdbscan", "HDBSCAN", 5000, _hdbscan, finds_number=True),
    )
}
# With so few rows, a method that fails needs more of them.
FEW_ROWS = 4
# Clusters that HDBSCAN expects if their number is not known.
EXPECTED_CLUSTERS = 8


@dataclass(frozen=True, slots=True)
class FittedBaseline:
    """A fitted method; `predict` labels any rows."""

    rows: NDArray[Any]  # (m, p), those that it was fitted to
    labels: NDArray[np.int64]  # (m,), -1 for noise of HDBSCAN
    model: Any

    @property
    def n_clusters(self) -> int:
        return len(np.unique(self.labels[self.labels >= 0]))

    def predict(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """Labels (n,): those of the model, or of the nearest row of the fit if the model has none for new rows."""
        if rows is self.rows:
            return self.labels
        if hasattr(self.model, "predict"):
            return np.asarray(self.model.predict(rows), np.int64)
        from sklearn.neighbors import NearestNeighbors

        nearest = NearestNeighbors(n_neighbors=1).fit(self.rows).kneighbors(rows, return_distance=False)
        return self.labels[nearest[:, 0]]


def fit_baseline(baseline: Baseline, rows: NDArray[Any], n_clusters: int | None, seed: int) -> FittedBaseline:
    """Fit a method to rows (n, p), or to a sample of them; `n_clusters` None only if it finds the number itself."""
    if len(rows) > baseline.most_rows:
        chosen = np.random.RandomState(seed).choice(len(rows), baseline.most_rows, replace=False)
        rows = rows[np.sort(chosen)]
    model = baseline.make(min(n_clusters or EXPECTED_CLUSTERS, len(rows)), rows.shape, seed)
    with warnings.catch_warnings():
        # About graphs in pieces, equal rows and runs that did not converge: the figures show what came out.
        warnings.simplefilter("ignore")
        try:
            labels = model.fit_predict(rows)
        # Rows that are equal or lie in a subspace are too much for some of them.
        except (ValueError, TypeError, ArithmeticError, RuntimeError) as error:
            if len(rows) <= FEW_ROWS:
                raise InputError(f"{baseline.title} of scikit-learn needs more than {len(rows)} rows.") from None
            raise InputError(f"{baseline.title} of scikit-learn failed: {str(error).splitlines()[0]}") from None
    return FittedBaseline(rows, np.asarray(labels, np.int64), model)
