"""Base of KFlats and LBF: labels by the nearest of K flats, and the choice of K and the dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, unit_rows
from subspaces._core.validation import check_integer, is_auto, unless_auto, warn_if_empty
from subspaces.estimators._base import EmbeddingClusterer
from subspaces.estimators._models import FlatsModel
from subspaces.flats.description import describe
from subspaces.flats.flats import Flats
from subspaces.flats.kflats import FlatsFit, number_flats
from subspaces.flats.thresholds import MODEL_ROWS
from subspaces.rows.feed import Feed
from subspaces.rows.preparation import RowPreparation, drop_unused
from subspaces.selection.flat_count import decide_n_clusters
from subspaces.selection.flat_dimension import decide_dim
from subspaces.selection.record import Choice
from subspaces.spectral.partition import at_most


class FlatsClusterer(EmbeddingClusterer):
    """Base of estimators that give each row to the nearest of `flats_`, one flat for each cluster."""

    n_clusters: int | str
    subspace_dim: int | str
    max_clusters: int
    affine: bool
    normalize: bool
    flats_: Flats
    energy_: float
    n_iter_: int
    n_clusters_: int
    subspace_dim_: int
    cluster_dims_: NDArray[np.int64]
    choice_: Choice

    def _prepared(self, x: Array) -> tuple[Array, RowPreparation]:
        """Rows (n, q) to which flats are fitted, without unused directions, and the projection of scaled rows to them.

        A constant column would count as a direction without noise.
        """
        dim = unless_auto(self.subspace_dim) or 1
        return drop_unused(unit_rows(x) if self.normalize else x, center=self.affine, min_columns=1 + dim)

    def _choose_size(self, rows: Array, rng: np.random.RandomState) -> tuple[int, int, Choice]:
        """Number of clusters and dimension of their flats, given or chosen from the rows (n, p)."""
        dim = None if is_auto(self.subspace_dim) else int(self.subspace_dim)
        decisions = []
        if is_auto(self.n_clusters):
            decisions.append(decide_n_clusters(rows, self.max_clusters, affine=self.affine, rng=rng, max_dim=dim))
        n_clusters = int(decisions[0].chosen["n_clusters"] if decisions else self.n_clusters)
        if dim is None:
            decisions.append(decide_dim(rows, n_clusters, affine=self.affine, rng=rng))
            dim = int(decisions[-1].chosen["subspace_dim"])
        return n_clusters, dim, Choice(tuple(decisions))

    def _fitted_flats(
        self,
        feed: Feed,
        rows: Array,
        used: RowPreparation,
        fit: FlatsFit,
        choice: Choice,
        *,
        loss: str,
        remedy: str,
        **fitted: Any,
    ) -> dict[str, Any]:
        """All fitted attributes of a fit of `rows` (n, q)."""
        fit, n_clusters = number_flats(rows, fit), len(fit.flats)
        some = at_most(np.arange(len(rows)), MODEL_ROWS, feed.rng)
        dims = describe(rows[some], fit.labels[some], n_clusters, affine=self.affine).dims
        flats = used.restore(fit.flats)
        warn_if_empty(fit.labels, n_clusters, remedy)
        return self._fitted(
            feed,
            FlatsModel(flats, bool(self.normalize), loss),
            fit.labels,
            flats_=flats,
            energy_=fit.energy,
            n_iter_=fit.n_iter,
            n_clusters_=n_clusters,
            subspace_dim_=flats.dim,
            cluster_dims_=dims,
            choice_=choice,
            _n_features_out=n_clusters,
            **fitted,
        )


def check_dim(value: Any, x: Array, *, affine: bool) -> None:
    """A dimension of subspaces of the space of `x` (n, p), or "auto"; only affine flats can be points."""
    if not is_auto(value):
        hint = f'X has n_features={x.shape[1]}, and a subspace must leave a direction out; give a number or "auto"'
        check_integer("subspace_dim", value, low=0 if affine else 1, high=x.shape[1] - 1, hint=hint)
