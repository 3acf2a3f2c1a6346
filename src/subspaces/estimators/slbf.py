"""SLBF: spectral clustering of rows by the local best-fit flats of all of them."""

from __future__ import annotations

from typing import Any, Self

from scipy.sparse import csr_matrix

from subspaces._core import progress
from subspaces._core.arrays import Array, Labels, unit_rows
from subspaces._core.validation import (
    check_integer,
    check_n_clusters,
    check_option,
    check_power,
    is_auto,
    warn_if_empty,
)
from subspaces.estimators._base import Clusterer
from subspaces.estimators._flats import check_dim
from subspaces.estimators._models import FlatVotesModel
from subspaces.estimators._published import Published
from subspaces.flats.affinity import flat_affinity, flat_scales
from subspaces.flats.dimension import choose_dim
from subspaces.flats.flats import Flats
from subspaces.flats.kflats import rounding
from subspaces.flats.neighborhoods import Beta2, as_neighborhood, local_flats, rows_to_fit
from subspaces.rows.feed import Rows, open_feed
from subspaces.rows.preparation import drop_unused, labels_of_copies
from subspaces.spectral.graph import spectral_labels

# More than any graph has rows: every row keeps all weights.
ALL_ROWS = 10**9


class SLBF(Published, Clusterer):
    """Spectral clustering by local best-fit flats.

    A flat is fitted to the neighbourhood of every row; two rows are similar if each lies near the flat of the other.
    Spectral clustering cuts the graph of the most similar rows. Use it if clusters are curved, so that no single flat
    fits one, and n is at most some ten thousand: time grows with n^2, memory with n p d.

    Parameters
    ----------
    n_clusters : int, default=8
        Number K of clusters.
    subspace_dim : int or "auto", default="auto"
        Dimension d of the flats. "auto" takes the one after which K flats fit the rows hardly better.
    neighborhood : int, "beta2" or Beta2, default="beta2"
        How many rows a flat is fitted to; "beta2" chooses the number for each, from 2 d rows on in steps of 2, or among
        the sizes that a `Beta2` names.
    n_nearest : int, default=20
        How many of its largest weights each row keeps.
    scale : {"residual", "published"}, default="residual"
        With s_ij the geometric mean of the distances of two rows to each other's flat and sigma_j the root mean squared
        residual of a neighbourhood, weights are exp(-s / (2 sigma_j)) + exp(-s / (2 sigma_i)). "published" divides by
        sigma^2, as the formula is printed: a length over a squared length, so that labels depend on the unit of X.
    affine : bool, default=True
        Whether the flats have centres of their own or pass through the origin.
    normalize : bool, default=False
        Whether rows are scaled to unit norm.
    tie : float, default=0.03
        Weight between all pairs of rows, as a share of the mean degree, which keeps stray rows from becoming clusters;
        0 in the published method.
    random_state : int, RandomState instance or None, default=None
        Seed of every random draw: the same seed gives the same labels.
    n_jobs : int or None, default=None
        Most threads that `fit` uses; -1 is one for each processor, -2 all but one. None leaves the number to BLAS.
        Results do not depend on it.
    verbose : int, default=0
        Show progress: a bar in a terminal or notebook, log lines elsewhere.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row, 0 to K - 1 in the order of their first rows, from the graph; `predict` may give some of
        them another one.
    flats_ : Flats
        The flat of each row, in the coordinates of X: `flats_.centers` (n, p) and `flats_.bases` (n, p, d). Affine
        flats of rows scaled to unit norm are flats of the scaled rows.
    affinity_matrix_ : csr_matrix of shape (n, n)
        Symmetric weights between rows.
    subspace_dim_ : int
        Dimension in use.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    References
    ----------
    Zhang, T., Szlam, A., Wang, Y. and Lerman, G. (2012). Hybrid linear modeling via local best-fit flats. International
    Journal of Computer Vision 100, 217-240. https://doi.org/10.1007/s11263-012-0535-6

    Examples
    --------
    >>> from subspaces import SLBF
    >>> from subspaces.datasets import make_subspaces
    >>> from subspaces.metrics import clustering_accuracy
    >>> X, y = make_subspaces((2, 2), 6, random_state=0)
    >>> slbf = SLBF(n_clusters=2, subspace_dim=2, random_state=0).fit(X)
    >>> clustering_accuracy(y, slbf.labels_) > 0.9
    True
    """

    affinity_matrix_: csr_matrix
    flats_: Flats
    subspace_dim_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        subspace_dim: int | str = "auto",
        neighborhood: int | str | Beta2 = "beta2",
        n_nearest: int = 20,
        scale: str = "residual",
        affine: bool = True,
        normalize: bool = False,
        tie: float = 0.03,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.subspace_dim = subspace_dim
        self.neighborhood = neighborhood
        self.n_nearest = n_nearest
        self.scale = scale
        self.affine = affine
        self.normalize = normalize
        self.tie = tie
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
            feed = open_feed(self, X, self._check_parameters, min_features=2)
            rng = feed.rng
            dim = None if is_auto(self.subspace_dim) else int(self.subspace_dim)
            scaled = unit_rows(feed.rows) if self.normalize else feed.rows
            # A constant column would count as a direction without noise.
            rows, used = drop_unused(scaled, center=self.affine, min_columns=1 + (dim or 1))
            if dim is None:
                dim = choose_dim(rows, self.n_clusters, affine=self.affine, rng=rng)
            progress.stage("fitting flats", f"fitting {len(rows):,} flats of dimension {dim}")
            sizes = as_neighborhood(self.neighborhood)
            flats, residuals = local_flats(rows_to_fit(rows, dim), rows, dim, sizes, affine=self.affine)
            scales = flat_scales(residuals, rounding(rows, self.affine), squared=self.scale == "published")
            affinity = flat_affinity(rows, flats, scales, n_nearest=self.n_nearest)
            labels = labels_of_copies(rows, self.n_clusters)
            if labels is None:
                labels = spectral_labels(affinity, self.n_clusters, tie=float(self.tie), rng=rng)
            flats = used.restore(flats)
            warn_if_empty(labels, self.n_clusters, "look at subspace_dim, neighborhood and n_nearest")
            fitted = self._fitted(
                feed,
                FlatVotesModel(flats, bool(self.normalize), scales, labels, self.n_nearest),
                labels,
                flats_=flats,
                affinity_matrix_=affinity,
                subspace_dim_=dim,
            )
        return self._keep(fitted)

    def predict(self, X: Rows) -> Labels:
        """Cluster (n,) of each row of `X` (n, p), by a vote of its nearest flats.

        A new row has no flat of its own, so it is labelled by its distances to the flats of `fit`. A row of `fit` can
        get another label than in `labels_`, which comes from the graph.
        """
        return super().predict(X)

    @staticmethod
    def _settings(n_clusters: int) -> dict[str, dict[str, Any]]:
        return {"motions": {"subspace_dim": 3, "n_nearest": ALL_ROWS, "tie": 0.0}}

    def _check_parameters(self, x: Array) -> None:
        check_n_clusters(self.n_clusters, x)
        as_neighborhood(self.neighborhood)
        check_integer("n_nearest", self.n_nearest, low=1)
        check_power("tie", self.tie, hint="0 adds no weights")
        check_option("scale", self.scale, ("residual", "published"))
        for name in ("affine", "normalize"):
            check_option(name, getattr(self, name), (True, False))
        check_dim(self.subspace_dim, x, affine=self.affine)
