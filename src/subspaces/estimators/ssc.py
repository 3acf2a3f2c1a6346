"""SSC and SSSC: clusters from rows written as sparse combinations of each other."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from subspaces._core.arrays import Array, Labels, follow, is_dask, namespace, to_host
from subspaces._core.errors import InputError
from subspaces._core.log import report
from subspaces._core.validation import (
    check_integer,
    check_n_clusters,
    check_option,
    check_positive,
    check_rows,
    is_auto,
    warn_if_empty,
)
from subspaces.estimators._fed import FedMixin
from subspaces.flats.kflats import assign_to_flats
from subspaces.flats.per_cluster import cluster_flats
from subspaces.rows.feed import Feed, Rows, open_feed
from subspaces.rows.frames import numeric_columns
from subspaces.rows.open import is_source
from subspaces.rows.preparation import RowPreparation, labels_of_copies
from subspaces.self_expression import ADMM, OMP, ElasticNet, Solver, affinity, homogeneous, self_codes, typical_length
from subspaces.self_expression.residuals import cluster_grams, least_residual
from subspaces.spectral.graph import spectral_labels
from subspaces.spectral.partition import vector_counts

SOLVERS: dict[str, type[Solver]] = {"admm": ADMM, "omp": OMP, "elastic_net": ElasticNet}
# More rows than this share without a finished code are worth a warning.
UNFINISHED_SHARE = 0.1


class _SelfExpressive(FedMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """What SSC and SSSC share: rows are prepared, coded on each other, and the graph of their codes is cut."""

    n_clusters: int
    solver: str | Solver
    affine: bool
    mass: float
    normalize: bool | str
    n_components: int | str
    random_state: Any
    verbose: int

    def _check_parameters(self, x: Array) -> None:
        check_n_clusters(self.n_clusters, x)
        if not isinstance(self.solver, Solver) and not (isinstance(self.solver, str) and self.solver in SOLVERS):
            names = ", ".join(map(repr, SOLVERS))
            raise InputError(f"solver={self.solver!r} is not known: use one of {names}, or an object: ADMM(alpha=20).")
        check_option("affine", self.affine, (True, False))
        check_option("normalize", self.normalize, (True, False, "auto"))
        if check_positive("mass", self.mass) > 1:
            raise InputError(f"mass={self.mass} must be at most 1: it is the share of each code that is kept.")
        if not is_auto(self.n_components):
            check_integer("n_components", self.n_components, low=1)

    def _prepare(self, x: Array) -> Array:
        """Rows (n, p) as they are coded; what new rows need for it is kept."""
        self.normalize_ = not self.affine if is_auto(self.normalize) else bool(self.normalize)
        mean = to_host(namespace(x).mean(x, axis=0))
        # Affine combinations move with the rows: near their mean nothing but their differences counts.
        moved = self.affine and not self.normalize_
        self._preparation = RowPreparation(mean if moved else np.zeros_like(mean), None, self.normalize_)
        return self._preparation(x)

    def _rows_to_fit(self, X: Rows) -> tuple[Array, Feed | None, np.random.RandomState]:
        """Checked rows, where they are if that is an array, the feed they came from if it is none, and a generator."""
        rng = check_random_state(self.random_state)
        if not is_source(X) and not is_dask(X):
            return check_rows(self, numeric_columns(X), reset=True, min_features=2, device=True), None, rng
        feed = open_feed(self, X, rng=rng, min_features=2)
        return feed.rows, feed, feed.rng

    def _cluster(self, rows: Array, rng: np.random.RandomState) -> Labels:
        """Clusters (m,) of rows (m, p) by the graph of their codes; where only copies can share one, these do."""
        solver = self.solver if isinstance(self.solver, Solver) else SOLVERS[self.solver]()
        codes = self_codes(rows, solver, affine=self.affine, verbose=self.verbose)
        self.codes_, self.n_iter_ = codes.matrix, int(codes.n_iter.max())
        unfinished = int((~codes.converged).sum())
        if unfinished > UNFINISHED_SHARE * len(rows):
            warnings.warn(
                f"{unfinished} of {len(rows)} codes are not finished after {self.n_iter_} iterations: raise max_iter "
                f"or tol of {type(solver).__name__}, or lower its alpha.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.affinity_matrix_ = affinity(self.codes_, mass=self.mass)
        copies = labels_of_copies(to_host(rows), self.n_clusters)
        if copies is not None:
            return copies
        report(self.verbose, "cutting the graph of %d rows", len(rows))
        # The trivial eigenvector is one of them here.
        counts = [count + 1 for count in vector_counts(self.n_clusters)]
        if not is_auto(self.n_components):
            counts = [int(self.n_components)]
        return spectral_labels(self.affinity_matrix_, self.n_clusters, counts=counts, rng=rng)


class SSC(_SelfExpressive):
    """Sparse subspace clustering.

    Every row is written as a sparse combination of the others; those it uses are its neighbours in a graph, and
    spectral clustering cuts the graph. The most trusted method for some thousands of rows; its time grows with their
    square, its memory does not: codes are computed in blocks and only their entries that are not zero are kept.

    Parameters
    ----------
    n_clusters : int, default=8
        Number K of clusters.
    solver : {"admm", "elastic_net", "omp"} or Solver, default="admm"
        How a row is written as a combination: `ADMM` is the published method, `ElasticNet` and `OMP` scale further. An
        object of `subspaces.self_expression` brings its own options: `SSC(10, solver=ADMM(alpha=20, outliers=True))`.
    affine : bool, default=False
        Whether coefficients sum to one, for subspaces that do not pass through the origin.
    mass : float, default=0.85
        Share of each code, in sum of magnitudes and largest entries first, that makes edges: the smallest entries join
        what does not belong together. Published: 1 for faces, 0.7 for feature tracks.
    normalize : bool or "auto", default="auto"
        Whether rows are scaled to unit norm. "auto" does so unless `affine`, where the length of a row matters.
    subspace_dim : int or "auto", default="auto"
        Dimension of the flats that `predict` uses. "auto" is the one whose flats give most rows their own label.
    n_components : int or "auto", default="auto"
        Number of eigenvectors that k-means sees, the trivial one among them. "auto" tries several, from K to about 2 K,
        and lets modularity choose; the published method has K.
    random_state : int, RandomState instance or None, default=None
        Seed of the spectral step: the same seed gives the same labels.
    verbose : int, default=0
        Progress on stderr.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row, 0 to K - 1.
    codes_ : csr_matrix of shape (n, n)
        Row i holds the coefficients of row i on the others.
    affinity_matrix_ : csr_matrix of shape (n, n)
        The symmetric graph that was cut.
    outlier_scores_ : ndarray of shape (n,)
        Sum of the magnitudes of each code: a row that lies in no subspace needs a longer combination.
    cluster_bases_ : Flats
        One flat for each cluster, in the coordinates of X; of unit rows where they were scaled and `affine`.
    subspace_dim_ : int
        Their dimension.
    n_iter_ : int
        Most iterations that a row took.
    normalize_ : bool
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

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        solver: str | Solver = "admm",
        affine: bool = False,
        mass: float = 0.85,
        normalize: bool | str = "auto",
        subspace_dim: int | str = "auto",
        n_components: int | str = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.affine = affine
        self.mass = mass
        self.normalize = normalize
        self.subspace_dim = subspace_dim
        self.n_components = n_components
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Rows, y: None = None) -> Self:
        """Cluster the rows of `X` (n, p): an array, or whatever `subspaces.open_rows` takes."""
        x, feed, rng = self._rows_to_fit(X)
        self._check_parameters(x)
        dim = None
        if not is_auto(self.subspace_dim):
            hint = f"X has n_features={x.shape[1]}, and a subspace must leave a direction out"
            dim = check_integer("subspace_dim", self.subspace_dim, low=1, high=x.shape[1] - 1, hint=hint)
        rows = self._prepare(x)
        labels = self._cluster(rows, rng)
        self._flats = cluster_flats(to_host(rows), labels, self.n_clusters, dim=dim, affine=self.affine)
        self.cluster_bases_ = self._preparation.restore(self._flats)
        self.subspace_dim_ = self._flats.dim
        self.outlier_scores_ = follow(np.asarray(abs(self.codes_).sum(axis=1)).ravel(), x)
        self.labels_ = follow(labels, x)
        warn_if_empty(labels, self.n_clusters, "look at the solver and its alpha")
        if feed is not None:
            self._deliver(feed)
        return self

    def predict(self, X: Rows) -> Labels:
        """Cluster (n,) of each row of `X` (n, p) by the nearest flat of a cluster.

        Codes label the rows of `fit` as a whole, flats label one row by itself: on those rows the two agree for most,
        and `labels_` is the better.
        """
        return super().predict(X)

    def _labels_of(self, x: Array) -> Labels:
        return follow(assign_to_flats(to_host(self._preparation(x)), self._flats).labels, x)


class SSSC(_SelfExpressive):
    """Scalable sparse subspace clustering: SSC on a sample, and every other row where the sample reproduces it best.

    Linear in the number of rows, but what the sample does not show is lost.

    Parameters
    ----------
    n_clusters : int, default=8
        Number K of clusters.
    n_in_sample : int, default=1000
        Number m of rows, drawn at random, that are clustered by SSC; all of them where there are no more.
    solver : {"admm", "elastic_net", "omp"} or Solver, default="admm"
        As in `SSC`.
    affine, mass, normalize, n_components :
        As in `SSC`.
    ridge : float, default=1e-6
        Squared l2 norm of the coefficients of a new row on the sample, against its residual.
    random_state : int, RandomState instance or None, default=None
        Seed of the sample and of the spectral step: the same seed gives the same labels.
    verbose : int, default=0
        Progress on stderr.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row, 0 to K - 1.
    sample_indices_ : ndarray of shape (m,)
        The rows of the sample; where rows are read in blocks, their places among those at hand, at most 100,000.
    codes_, affinity_matrix_ : csr_matrix of shape (m, m)
        Codes and graph of the sample.
    n_iter_ : int
        Most iterations that a row took.
    normalize_ : bool
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

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_in_sample: int = 1000,
        solver: str | Solver = "admm",
        affine: bool = False,
        mass: float = 0.85,
        normalize: bool | str = "auto",
        n_components: int | str = "auto",
        ridge: float = 1e-6,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_in_sample = n_in_sample
        self.solver = solver
        self.affine = affine
        self.mass = mass
        self.normalize = normalize
        self.n_components = n_components
        self.ridge = ridge
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Rows, y: None = None) -> Self:
        """Cluster the rows of `X` (n, p): an array, or whatever `subspaces.open_rows` takes."""
        x, feed, rng = self._rows_to_fit(X)
        self._check_parameters(x)
        ridge = check_positive("ridge", self.ridge)
        hint = f"every one of n_clusters={self.n_clusters} clusters needs a row in the sample"
        size = min(check_integer("n_in_sample", self.n_in_sample, low=self.n_clusters, hint=hint), len(x))
        self.sample_indices_ = np.sort(rng.choice(len(x), size, replace=False))
        rows = self._prepare(x)
        sample = rows[self.sample_indices_]
        labels = self._cluster(sample, rng)
        report(self.verbose, "labelling %d rows by the sample", len(x))
        self._length = typical_length(sample) if self.affine else None
        self._grams = cluster_grams(self._residual_rows(sample), labels, self.n_clusters, ridge=ridge)
        everyone = least_residual(self._residual_rows(rows), self._grams)
        everyone[self.sample_indices_] = labels
        self.labels_ = follow(everyone, x)
        warn_if_empty(everyone, self.n_clusters, "look at n_in_sample, or the solver and its alpha")
        if feed is not None:
            self._deliver(feed)
        return self

    def predict(self, X: Rows) -> Labels:
        """Cluster (n,) of each row of `X` (n, p) that reproduces it best: the rule for all rows outside the sample."""
        return super().predict(X)

    def _labels_of(self, x: Array) -> Labels:
        return follow(least_residual(self._residual_rows(self._preparation(x)), self._grams), x)

    def _residual_rows(self, rows: Array) -> Array:
        return to_host(rows if self._length is None else homogeneous(rows, self._length))
