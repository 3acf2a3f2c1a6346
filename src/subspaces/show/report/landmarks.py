"""Statistics of landmarks: how many rows and clusters use each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse, vstack

from subspaces.flats.neighborhoods import Beta2
from subspaces.show.report.plain import number, numbers
from subspaces.show.report.subject import Subject
from subspaces.show.report.thresholds import FEW_LANDMARKS, PURE_LANDMARK
from subspaces.spectral.partition import at_most

# Statistics of landmarks use at most this many rows.
LANDMARK_ROWS = 10_000
# Rows whose weights are dense at a time.
BLOCK_ROWS = 1000
QUARTILES = (0, 25, 50, 75, 100)


def landmarks(subject: Subject) -> dict[str, Any] | None:
    """Statistics of the landmarks of a model; None if it has no landmarks."""
    index = at_most(np.arange(subject.n_rows), LANDMARK_ROWS, np.random.RandomState(0))
    weights = _weights(subject, subject.x[index])
    if weights is None:
        return None
    labels = subject.labels[index]
    nearest = np.asarray(weights.argmax(axis=1)).ravel()
    per_landmark = np.bincount(nearest, minlength=weights.shape[1])
    shares = np.zeros((weights.shape[1], subject.n_clusters))
    for k in range(subject.n_clusters):
        shares[:, k] = np.asarray(weights[labels == k].sum(axis=0)).ravel()
    total = shares.sum(axis=1)
    used = total > 0
    owner = np.where(used, shares.argmax(axis=1), -1)
    purity = shares.max(axis=1)[used] / total[used]
    # With centroids, each row has exactly one.
    effective = None if hasattr(subject.model, "centroids_") else _effective(weights)
    return {
        "count": int(weights.shape[1]),
        "sample": len(index),
        **_settings(subject.model),
        "per_cluster": np.bincount(owner[used], minlength=subject.n_clusters).tolist(),
        "rows_per_landmark": numbers(np.percentile(per_landmark, QUARTILES), 4),
        "unused": int((per_landmark == 0).sum()),
        "mixed": number((purity < PURE_LANDMARK).mean(), 4) if len(purity) else None,
        "effective": None if effective is None else numbers(np.percentile(effective, QUARTILES), 4),
        "few": None if effective is None else number((effective < FEW_LANDMARKS).mean(), 4),
    }


def _weights(subject: Subject, rows: NDArray[Any]) -> csr_matrix | None:
    """Weight of each landmark for each of the rows (m, p): (m, D), rows sum to one; None without landmarks."""
    from subspaces.estimators.access import feature_map, prepared_rows
    from subspaces.features import LandmarkFeatures, SubspaceFeatures
    from subspaces.spectral.kmeans import nearest_centers

    model = subject.model
    if hasattr(model, "centroids_"):
        place = np.asarray(nearest_centers(rows, model.centroids_.astype(rows.dtype)))
        ones = np.ones(len(rows))
        return csr_matrix((ones, place, np.arange(len(rows) + 1)), shape=(len(rows), len(model.centroids_)))
    features = feature_map(model)
    if not isinstance(features, LandmarkFeatures | SubspaceFeatures):
        return None
    blocks = []
    for psi in features.blocks(prepared_rows(model, rows), block_rows=BLOCK_ROWS):
        table: Any = psi if issparse(psi) else csr_matrix(psi)
        sums = np.asarray(table.sum(axis=1)).ravel()
        blocks.append(csr_matrix(table.multiply(1 / np.where(sums > 0, sums, 1)[:, None])))
    return csr_matrix(vstack(blocks))


def _effective(weights: csr_matrix) -> NDArray[np.float64]:
    """Effective number of landmarks of each row, 1 / sum of squared weights: (m,)."""
    squares = np.asarray(weights.multiply(weights).sum(axis=1)).ravel()
    return 1 / np.where(squares > 0, squares, 1)


def _settings(model: Any) -> dict[str, Any]:
    """The settings of the landmarks that the model has as attributes."""
    neighborhood = getattr(model, "neighborhood_", None)
    if isinstance(neighborhood, Beta2):
        start = "twice the dimension" if neighborhood.start_size is None else f"{neighborhood.start_size} rows"
        neighborhood = f"grown from {start} in steps of {neighborhood.step_size} until the fit is best"
    return {
        "kind": "flats" if hasattr(model, "flats_") else "centroids" if hasattr(model, "centroids_") else "points",
        "dim": number(getattr(model, "subspace_dim_", None)),
        "nearest": number(getattr(model, "n_nearest_", None)),
        "neighborhood": None if neighborhood is None else str(neighborhood),
        "affine": getattr(model, "affine_", None),
    }
