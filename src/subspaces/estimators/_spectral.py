"""The steps that estimators with a feature map share: psi, eigenvectors, cut."""

from __future__ import annotations

from typing import Any

import numpy as np

from subspaces._core import progress
from subspaces._core.arrays import Array
from subspaces._core.validation import is_auto
from subspaces.estimators._models import SpectralModel
from subspaces.features import FeatureMap
from subspaces.features.psi import compute_psi, leading_vectors
from subspaces.rows.feed import Feed
from subspaces.rows.preparation import RowPreparation
from subspaces.selection.clustering import Clustering, CutSetting, cut
from subspaces.spectral.partition import vector_counts


def cluster_features(
    features: FeatureMap, rows: Array, preparation: RowPreparation, setting: CutSetting, feed: Feed
) -> Clustering:
    """Spectral clustering of prepared rows (n, q) row_features by a fitted feature map."""
    row_features = compute_psi(features, rows)
    progress.stage("eigenvectors", f"eigenvectors of {features.n_components:,} features of {len(rows):,} rows")
    spectrum = leading_vectors(row_features, max(setting.n_vectors), feed=feed, prepare=preparation)
    return cut(row_features, spectrum, rows, setting, feed.rng)


def cut_setting(n_clusters: int, n_components: int | str) -> CutSetting:
    """k-means on a given number of eigenvectors, or the best of several numbers by modularity."""
    if is_auto(n_components):
        return CutSetting(n_clusters, tuple(vector_counts(n_clusters)))
    return CutSetting(n_clusters, (int(n_components),), plain=True)


def spectral_model(found: Clustering, preparation: RowPreparation) -> SpectralModel:
    """The model that labels new rows."""
    return SpectralModel(preparation, found.features, found.spectrum, found.partition, found.tie)


def spectral_attributes(found: Clustering) -> dict[str, Any]:
    """Fitted attributes that all of these estimators have."""
    n_vectors = found.partition.n_vectors
    fitted: dict[str, Any] = {
        "n_components_": n_vectors,
        "_n_features_out": n_vectors,
        "eigenvalues_": np.concatenate([[1.0], found.spectrum.eigenvalues]),
    }
    return fitted if found.distances is None else {**fitted, "outlier_scores_": found.distances}


def given_landmarks(landmarks: Any, preparation: RowPreparation, count: int, rows: Array) -> tuple[Any, int]:
    """Landmarks for prepared rows (n, q), and their number: given points are prepared as rows are."""
    if isinstance(landmarks, str):
        return landmarks, count
    points = preparation(np.asarray(landmarks, rows.dtype))
    return points, len(points)
