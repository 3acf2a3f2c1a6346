"""SSC: sparse subspace clustering."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Labels, follow, to_host
from subspaces._core.validation import check_integer, is_auto, warn_if_empty
from subspaces.estimators._models import NearestFlatModel
from subspaces.estimators._self_expressive import SelfExpressiveClusterer, as_published, coded_attributes
from subspaces.flats.flats import Flats
from subspaces.flats.per_cluster import cluster_flats
from subspaces.rows.feed import Rows, open_feed
from subspaces.self_expression import ADMM, OMP, ElasticNet, Solver

# Iterations of published ADMM, with relaxation: about as many as the 120 after which the published one stops.
PUBLISHED_STEPS = 70


class SSC(SelfExpressiveClusterer):
    """Sparse subspace clustering.

    Every row is written as a sparse combination of the others, which become its neighbours in a graph, and spectral
    clustering cuts the graph. Use it for up to some thousands of rows: time grows with the square of their number.
    Memory does not, because codes are computed in blocks and only nonzero entries are kept. The graph labels the rows
    of the fit together; a new row is not in it, so `predict` takes the nearest flat of a cluster, and some rows of the
    fit get another label than in `labels_`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number K of clusters.
    solver : {"admm", "elastic_net", "omp", "thresholding", "least_squares", "low_rank"} or Solver, default="admm"
        How a row is written as a combination: `ADMM` is the published method, `ElasticNet` and `OMP` scale further, and
        `Thresholding` (TSC), `LeastSquares` (LSR) and `LowRank` (LRR, LRSC) have closed forms. An object of
        `subspaces.self_expression` brings its own options: `SSC(10, solver=ADMM(alpha=20, outliers=True))`.
    affine : bool or "auto", default="auto"
        Whether coefficients sum to one, for subspaces that do not pass through the origin. If the mean of the rows is
        farther from the origin than chance explains, "auto" tries this on up to 600 rows, and the subtraction of the
        mean, for subspaces that meet there. What affine flats describe better is used.
    mass : float, default=0.85
        Share of each code that makes edges, in sum of magnitudes and largest entries first, but at least three entries;
        the smallest entries often join different clusters. Published: 1 for faces, 0.7 for feature tracks.
    normalize : bool or "auto", default="auto"
        Whether rows are scaled to unit norm. "auto" does so unless codes are affine, where the length of a row matters.
    subspace_dim : int or "auto", default="auto"
        Dimension of the flats that `predict` uses. "auto" is the one whose flats reproduce the labels best.
    n_components : int or "auto", default="auto"
        Number of eigenvectors that k-means uses, including the trivial one. "auto" tries several, from K to about 2 K,
        and takes, of those with nearly the smallest normalised cut, the one with the largest modularity; the published
        method has K.
    tie : float, default=0.03
        Weight between all pairs of rows, as a share of the mean degree, which keeps stray rows from becoming clusters;
        0 in the published method.
    random_state : int, RandomState instance or None, default=None
        Seed of the spectral step: the same seed gives the same labels.
    n_jobs : int or None, default=None
        Most threads that `fit` uses; -1 is one for each processor, -2 all but one. None leaves the number to BLAS.
        Results do not depend on it.
    verbose : int, default=0
        Show progress: a bar in a terminal or notebook, log lines elsewhere.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row, 0 to K - 1 in the order of their first rows.
    codes_ : csr_matrix of shape (n, n)
        Row i holds the coefficients of row i on the others.
    affinity_matrix_ : csr_matrix of shape (n, n)
        The symmetric graph that was cut.
    outlier_scores_ : ndarray of shape (n,)
        Sum of the magnitudes of each code: a row outside all subspaces needs larger coefficients.
    cluster_bases_ : Flats
        One flat for each cluster, in the coordinates of X, or of unit rows if they were scaled and affine.
    subspace_dim_ : int
        Their dimension.
    n_iter_ : int
        Largest number of iterations of a row.
    affine_, normalize_ : bool
        The values in use.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    See Also
    --------
    SSSC : the same on a sample; other rows follow.
    FLS : linear in the number of rows.

    References
    ----------
    Elhamifar, E. and Vidal, R. (2013). Sparse subspace clustering: algorithm, theory, and applications. IEEE TPAMI.
    https://doi.org/10.1109/TPAMI.2013.57

    Examples
    --------
    >>> from subspaces import SSC
    >>> from subspaces.datasets import make_subspaces
    >>> from subspaces.metrics import clustering_accuracy
    >>> X, y = make_subspaces((2, 2), 6, random_state=0)
    >>> ssc = SSC(n_clusters=2, random_state=0).fit(X)
    >>> clustering_accuracy(y, ssc.labels_) > 0.95
    True
    """

    cluster_bases_: Flats
    outlier_scores_: NDArray[np.float64]
    subspace_dim_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        solver: str | Solver = "admm",
        affine: bool | str = "auto",
        mass: float = 0.85,
        normalize: bool | str = "auto",
        subspace_dim: int | str = "auto",
        n_components: int | str = "auto",
        tie: float = 0.03,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.affine = affine
        self.mass = mass
        self.normalize = normalize
        self.subspace_dim = subspace_dim
        self.n_components = n_components
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
            feed = open_feed(self, X, self._check_parameters, min_features=2, on_device=True)
            kind = self._kind(feed.rows)
            preparation = self._preparation(feed.rows, kind)
            rows = preparation(feed.rows)
            coded = self._cluster(rows, kind, feed.rng)
            dim = None if is_auto(self.subspace_dim) else int(self.subspace_dim)
            flats = cluster_flats(to_host(rows), coded.labels, self.n_clusters, dim=dim, affine=kind.affine)
            warn_if_empty(coded.labels, self.n_clusters, "look at the solver and its alpha")
            lengths = np.asarray(abs(coded.codes).sum(axis=1)).ravel()
            fitted = self._fitted(
                feed,
                NearestFlatModel(preparation, flats),
                follow(coded.labels, feed.rows),
                cluster_bases_=preparation.restore(flats),
                subspace_dim_=flats.dim,
                outlier_scores_=follow(lengths, feed.rows),
                **coded_attributes(coded, preparation, affine=kind.affine),
            )
        return self._keep(fitted)

    def predict(self, X: Rows) -> Labels:
        """Cluster (n,) of each row of `X` (n, p) by the nearest flat of a cluster.

        The graph of codes labels the rows of `fit` together, flats label each row alone. For most rows of `fit` the two
        agree; `labels_` is more accurate.
        """
        return super().predict(X)

    @staticmethod
    def _settings(n_clusters: int) -> dict[str, dict[str, Any]]:
        k, steps = n_clusters, PUBLISHED_STEPS
        return {
            "motions": as_published(k, ADMM(800, penalty=800, tol=None, max_iter=steps), affine=True, mass=0.7),
            "faces": as_published(k, ADMM(20, penalty=20, outliers=True, tol=None, max_iter=steps)),
            "omp faces": as_published(k, OMP(5, tol=1e-6, min_rows=1), normalize=True),
            "omp digits": as_published(k, OMP(10, tol=1e-6, min_rows=1), normalize=True),
            "elastic net": as_published(k, ElasticNet(50, l1_ratio=0.95), normalize=True),
        }

    def _check_parameters(self, x: Array) -> None:
        super()._check_parameters(x)
        if not is_auto(self.subspace_dim):
            hint = f"X has n_features={x.shape[1]}, and a subspace must leave a direction out"
            check_integer("subspace_dim", self.subspace_dim, low=1, high=x.shape[1] - 1, hint=hint)
