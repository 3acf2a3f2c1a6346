"""The score of a clustering without true labels: how short the clusters make the description of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from subspaces._core.arrays import Array, Labels, to_host
from subspaces.flats.cluster_model import ClusterModel, model_clusters
from subspaces.flats.thresholds import SCORE_BYTES, SCORE_COLUMNS, SCORE_ROWS
from subspaces.rows.preparation import RowPreparation, prepare_rows
from subspaces.rows.thresholds import FEWEST_ROWS
from subspaces.spectral.partition import at_most


@dataclass(frozen=True, slots=True, eq=False)
class ClusterCode:
    """Gaussians of the clusters of a fit, in principal directions of its rows, which do not depend on the clusters."""

    preparation: RowPreparation
    clusters: ClusterModel
    overhead: float  # nats of all flats, per row of the fit

    def nats(self, x: Array, labels: Labels) -> float:
        """Sum of the nats of rows (b, p) in their clusters (b,)."""
        rows = self.preparation(to_host(x).astype(np.float64))
        return float(self.clusters.row_lengths(rows, to_host(labels)).sum() + self.overhead * len(rows))


def fit_code(x: Array, labels: Labels, n_clusters: int, *, n_columns: int = SCORE_COLUMNS) -> ClusterCode:
    """The code of the clusters (n,) of rows (n, p), -1 for none, in `n_columns` principal directions of the rows."""
    # A fixed generator: the sample must not move the draws of the fit.
    room = max(FEWEST_ROWS, SCORE_BYTES // (8 * x.shape[1]))
    index = at_most(np.arange(len(x)), min(SCORE_ROWS, room), np.random.RandomState(0))
    rows = to_host(x)[index].astype(np.float64)
    preparation = prepare_rows(rows, center=True, unit=False, max_columns=n_columns)
    clusters = model_clusters(preparation(rows), to_host(labels)[index], n_clusters, affine=True)
    return ClusterCode(preparation, clusters, clusters.overhead / len(x))


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """Labels rows by a model and encodes them by its clusters; can be sent to workers."""

    model: Any
    code: ClusterCode

    def sums(self, x: Array) -> tuple[Any, ...]:
        """Number of rows (b, p), and the sum of their nats."""
        return np.asarray(float(x.shape[0])), np.asarray(self.code.nats(x, self.model.labels(x)))
