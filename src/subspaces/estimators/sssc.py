"""SSSC: sparse subspace clustering of a sample, and of all other rows by it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from subspaces._core import progress
from subspaces._core.arrays import Array, Indices, Labels, follow
from subspaces._core.numbering import number_clusters
from subspaces._core.validation import check_integer, check_positive, warn_if_empty
from subspaces.estimators._models import ResidualModel, residual_rows
from subspaces.estimators._self_expressive import SelfExpressiveClusterer, as_published, coded_attributes
from subspaces.rows.feed import Rows, open_feed
from subspaces.self_expression import ADMM, Solver, typical_length
from subspaces.self_expression.residuals import cluster_grams


class SSSC(SelfExpressiveClusterer):
    """Scalable sparse subspace clustering: SSC on a sample; other rows join the cluster that reproduces them best.

    Linear in the number of rows, but structure that the sample does not show is lost.

    Parameters
    ----------
    n_clusters : int, default=8
        Number K of clusters.
    n_in_sample : int, default=1000
        Number m of rows, drawn at random, that are clustered by SSC; at most n are used.
    solver : str or Solver, default="admm"
        As in `SSC`.
    affine, mass, normalize, n_components, tie :
        As in `SSC`.
    ridge : float, default=1e-6
        Weight of the squared l2 norm of the coefficients of a new row on the sample, against its residual.
    random_state : int, RandomState instance or None, default=None
        Seed of the sample and of the spectral step: the same seed gives the same labels.
    n_jobs : int or None, default=None
        Most threads that `fit` uses; -1 is one for each processor, -2 all but one. None leaves the number to BLAS.
        Results do not depend on it.
    verbose : int, default=0
        Show progress: a bar in a terminal or notebook, log lines elsewhere.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row, 0 to K - 1 in the order of their first rows; that of the sample is from the graph, and
        `predict` may give some of its rows another one.
    sample_indices_ : ndarray of shape (m,)
        Indices of the sample; for rows read in blocks, among the at most 100,000 rows in memory.
    codes_, affinity_matrix_ : csr_matrix of shape (m, m)
        Codes and graph of the sample.
    n_iter_ : int
        Largest number of iterations of a row.
    affine_, normalize_ : bool
        The values in use.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    References
    ----------
    Peng, X., Zhang, L. and Yi, Z. (2013). Scalable sparse subspace clustering. CVPR.
    https://doi.org/10.1109/CVPR.2013.62

    Examples
    --------
    >>> from subspaces import SSSC
    >>> from subspaces.datasets import make_subspaces
    >>> from subspaces.metrics import clustering_accuracy
    >>> X, y = make_subspaces((2, 2), 6, random_state=0)
    >>> sssc = SSSC(n_clusters=2, n_in_sample=200, random_state=0).fit(X)
    >>> clustering_accuracy(y, sssc.labels_) > 0.9
    True
    """

    sample_indices_: Indices

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_in_sample: int = 1000,
        solver: str | Solver = "admm",
        affine: bool | str = "auto",
        mass: float = 0.85,
        normalize: bool | str = "auto",
        n_components: int | str = "auto",
        tie: float = 0.03,
        ridge: float = 1e-6,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_in_sample = n_in_sample
        self.solver = solver
        self.affine = affine
        self.mass = mass
        self.normalize = normalize
        self.n_components = n_components
        self.tie = tie
        self.ridge = ridge
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Rows, y: None = None) -> Self:
        """Cluster the rows of `X`.

        Parameters
        ----------
        X : array-like of shape (n, p), or anything that `subspaces.open_rows` takes
        y : ignored

        Returns
        -------
        self : the fitted estimator
        """
        with self._working():
            feed = open_feed(self, X, self._check_parameters, min_features=2, on_device=True)
            x, rng = feed.rows, feed.rng
            sample_indices = np.sort(rng.choice(len(x), min(self.n_in_sample, len(x)), replace=False))
            kind = self._kind(x)
            preparation = self._preparation(x, kind)
            rows = preparation(x)
            sample = rows[sample_indices]
            coded = self._cluster(sample, kind if len(sample) == len(x) else replace(kind, codes=None), rng)
            progress.stage("labels", f"labelling {len(x):,} rows by the sample")
            length = typical_length(sample) if kind.affine else None
            grams = cluster_grams(residual_rows(sample, length), coded.labels, self.n_clusters, ridge=float(self.ridge))
            model = ResidualModel(preparation, length, grams)
            model, labels = label_all(model, rows, sample_indices, coded.labels)
            warn_if_empty(labels, self.n_clusters, "look at n_in_sample, or the solver and its alpha")
            fitted = self._fitted(
                feed,
                model,
                follow(labels, x),
                sample_indices_=sample_indices,
                **coded_attributes(coded, preparation, affine=kind.affine),
            )
        return self._keep(fitted)

    def predict(self, X: Rows) -> Labels:
        """Cluster (n,) of each row of `X` (n, p) that reproduces it best: the rule for all rows outside the sample."""
        return super().predict(X)

    @staticmethod
    def _settings(n_clusters: int) -> dict[str, dict[str, Any]]:
        return {"faces": as_published(n_clusters, ADMM(20), normalize=True) | {"ridge": 1e-6}}

    def _check_parameters(self, x: Array) -> None:
        super()._check_parameters(x)
        check_positive("ridge", self.ridge)
        hint = f"every one of n_clusters={self.n_clusters} clusters needs a row in the sample"
        check_integer("n_in_sample", self.n_in_sample, low=self.n_clusters, hint=hint)


def label_all(model: ResidualModel, rows: Array, sample: Indices, labels: Labels) -> tuple[ResidualModel, Labels]:
    """The model, and labels (n,) of prepared rows (n, p): those given at `sample` (m,), by residuals elsewhere.

    Clusters are in the order of their first rows.
    """

    def label(made: tuple[ResidualModel, Labels]) -> Labels:
        found = made[0].prepared_labels(rows)
        found[sample] = made[1]
        return found

    def reorder(made: tuple[ResidualModel, Labels], order: Indices) -> tuple[ResidualModel, Labels]:
        return replace(made[0], grams=made[0].grams.reordered(order)), np.argsort(order)[made[1]].astype(np.int32)

    made = (model, labels)
    (model, _), found = number_clusters(made, label, reorder, label(made), len(model.grams.grams))
    return model, found
