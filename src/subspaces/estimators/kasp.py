"""KASP: spectral clustering of the centres of many small clusters."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core import progress
from subspaces._core.arrays import Array, Labels, unit_rows
from subspaces._core.numbering import order_of_clusters
from subspaces._core.validation import check_integer, check_n_clusters, is_auto, warn_if_empty
from subspaces.estimators._base import EmbeddingClusterer, check_n_components
from subspaces.estimators._models import CentroidModel
from subspaces.features.bandwidth import check_scale
from subspaces.features.exact import gaussian_kernel
from subspaces.rows.feed import Rows, open_feed
from subspaces.rows.preparation import prepare_rows
from subspaces.spectral.centroids import centroid_count, choose_centroids, dense_spectrum, scaled_affinity
from subspaces.spectral.kernel_graph import best_plain_partition
from subspaces.spectral.kmeans import nearest_centers
from subspaces.spectral.partition import assign_embedded, vector_counts
from subspaces.spectral.thresholds import CENTROID_STARTS


class KASP(EmbeddingClusterer):
    """Fast approximate spectral clustering by k-means.

    k-means replaces the rows by up to a thousand centroids, exact spectral clustering labels these, and every row takes
    the label of its centroid. Use it for clusters of any shape, as the simplest of the fast methods and as a baseline.

    Parameters
    ----------
    n_clusters : int, default=8
        Number K of clusters.
    n_centroids : int or "auto", default="auto"
        Number of centroids; at most n are used, and then it is spectral clustering of the rows. "auto" is a fifth of
        the rows, between 50 and 1000.
    sigma : float or "auto", default="auto"
        Scale of exp(-dist^2 / (2 sigma^2)). "auto" is a scale per centroid, exp(-dist^2 / (s_i s_j)), where s is the
        distance to the seventh nearest centroid.
    n_components : int or "auto", default="auto"
        Number of eigenvectors that k-means uses, not counting the trivial one: K - 1 or K in the literature. "auto"
        tries several, from K - 1 to about 2 K, and takes the one with the largest modularity.
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
        Cluster of each row, 0 to K - 1 in the order of their first rows.
    centroids_ : ndarray of shape (m, p)
    centroid_labels_ : ndarray of shape (m,)
    eigenvalues_ : ndarray
        Leading eigenvalues of the normalised affinity of the centroids, beginning with the trivial one.
    n_components_ : int
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    References
    ----------
    Yan, D., Huang, L. and Jordan, M. I. (2009). Fast approximate spectral clustering. KDD.
    https://doi.org/10.1145/1557019.1557118

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from subspaces import KASP
    >>> from subspaces.metrics import clustering_accuracy
    >>> X, y = make_moons(500, noise=0.05, random_state=0)
    >>> clustering_accuracy(y, KASP(2, random_state=0).fit_predict(X)) > 0.99
    True
    """

    centroids_: Array
    centroid_labels_: Labels
    eigenvalues_: NDArray[np.float64]
    n_components_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_centroids: int | str = "auto",
        sigma: float | str = "auto",
        n_components: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_centroids = n_centroids
        self.sigma = sigma
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Rows, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the rows of `X`.

        Parameters
        ----------
        X : array-like of shape (n, p), or anything that `subspaces.open_rows` takes
        y : ignored
        sample_weight : array-like of shape (n,), optional
            How often each row counts: a row of weight 2 as two equal rows, a row of weight 0 not at all, though it is
            labelled. "Weights of rows" in the guide says what they enter.

        Returns
        -------
        self : the fitted estimator
        """
        with self._working():
            feed = open_feed(self, X, self._check_parameters, sample_weight=sample_weight)
            # Distances do not change if all rows move, and near the origin they lose no digits.
            preparation = prepare_rows(feed.rows, center=True, unit=False, max_columns=None, moments=feed.moments)
            rows = preparation(feed.rows)
            count = self._count(len(rows))
            progress.stage("centroids", f"moving {count:,} centroids")
            centroids = choose_centroids(rows, count, feed.rng)
            progress.stage("eigenvectors", f"eigenvectors of {len(centroids):,} centroids")
            affinity = centroid_affinity(centroids, self.sigma)
            counts = vector_counts(self.n_clusters) if is_auto(self.n_components) else [int(self.n_components)]
            values, vectors, degrees = dense_spectrum(affinity, max(counts))
            partition = best_plain_partition(
                vectors, degrees, values, self.n_clusters, counts=counts, n_starts=CENTROID_STARTS, rng=feed.rng
            )
            found, nearest = assign_embedded(vectors, partition), nearest_centers(rows, centroids)
            order = order_of_clusters(found[nearest], self.n_clusters)
            centroid_labels = np.argsort(order)[found].astype(np.int32)
            embedding = unit_rows(vectors[:, : partition.n_vectors]).astype(centroids.dtype)
            labels = centroid_labels[nearest]
            warn_if_empty(labels, self.n_clusters, "look at n_centroids and sigma")
            fitted = self._fitted(
                feed,
                CentroidModel(preparation, centroids, centroid_labels, embedding),
                labels,
                centroids_=centroids + preparation.mean,
                centroid_labels_=centroid_labels,
                n_components_=partition.n_vectors,
                _n_features_out=partition.n_vectors,
                eigenvalues_=np.concatenate([[1.0], values]),
            )
        return self._keep(fitted)

    def _count(self, n: int) -> int:
        """Number of centroids for `n` rows."""
        if not is_auto(self.n_centroids):
            return min(n, int(self.n_centroids))
        return centroid_count(n, self.n_clusters)

    def _check_parameters(self, x: Array) -> None:
        check_n_clusters(self.n_clusters, x)
        if not is_auto(self.n_centroids):
            hint = f"every one of n_clusters={self.n_clusters} clusters needs a centroid"
            check_integer("n_centroids", self.n_centroids, low=self.n_clusters, hint=hint)
        check_scale(self.sigma, x)
        check_n_components(self.n_components)


def centroid_affinity(centroids: Array, sigma: float | str) -> Array:
    """Affinity (m, m) of centroids (m, p): one scale, or with "auto" a scale for each of them."""
    if is_auto(sigma):
        return scaled_affinity(centroids)
    return gaussian_kernel(centroids, centroids, sigma=float(sigma))
