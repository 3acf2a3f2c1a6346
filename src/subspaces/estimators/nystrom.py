"""Spectral clustering by columns of a kernel matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from numpy.typing import ArrayLike

from subspaces._core import progress
from subspaces._core.arrays import Array
from subspaces._core.validation import check_integer, check_n_clusters, warn_if_empty
from subspaces.estimators._base import SpectralClusterer, check_n_components
from subspaces.estimators._spectral import (
    cluster_features,
    cut_setting,
    given_landmarks,
    spectral_attributes,
    spectral_model,
)
from subspaces.features import NystromFeatures, exact
from subspaces.features.bandwidth import check_scale
from subspaces.features.base import check_landmark_choice
from subspaces.rows.feed import Rows, open_feed
from subspaces.rows.preparation import prepare_rows


class NystromSpectralClustering(SpectralClusterer):
    """Spectral clustering of a kernel matrix of which only the columns at landmark points are computed.

    Use it if the kernel is given: with as many landmarks as rows it is spectral clustering of the kernel matrix, and
    with few it approximates that. The estimate of a degree can be negative; then every pair of rows gets a
    small additional weight, just large enough.

    Parameters
    ----------
    n_clusters : int, default=8
        Number K of clusters.
    kernel : {"gaussian", "laplacian", "matern"} or callable, default="gaussian"
        A callable takes two arrays of rows and returns the matrix of their kernel values, which must be a positive
        semi-definite kernel.
    sigma : float or "auto", default="auto"
        Length scale of a named kernel. "auto" is twice the typical distance of a row to its seventh nearest row.
    nu : float, default=1.5
        Smoothness of the Matern kernel.
    n_landmarks : int, default=1000
        Number D of landmarks; at most n are used.
    landmarks : {"kmeans", "random"} or array-like of shape (D, p), default="kmeans"
        How landmark points are chosen, or the points themselves.
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
    landmarks_ : ndarray of shape (D, p)
    eigenvalues_ : ndarray
        Leading eigenvalues of the normalised kernel matrix, beginning with the trivial one.
    sigma_ : float
    n_components_ : int
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    References
    ----------
    Fowlkes, C., Belongie, S., Chung, F. and Malik, J. (2004). Spectral grouping using the Nystrom method. IEEE
    Transactions on Pattern Analysis and Machine Intelligence. https://doi.org/10.1109/TPAMI.2004.1262185

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from subspaces import NystromSpectralClustering
    >>> from subspaces.metrics import clustering_accuracy
    >>> X, y = make_circles(500, noise=0.05, factor=0.5, random_state=0)
    >>> model = NystromSpectralClustering(2, n_landmarks=200, random_state=0).fit(X)
    >>> clustering_accuracy(y, model.labels_) > 0.99
    True
    """

    landmarks_: Array
    n_clusters_: int
    sigma_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: str | Callable[[Array, Array], Array] = "gaussian",
        sigma: float | str = "auto",
        nu: float = 1.5,
        n_landmarks: int = 1000,
        landmarks: str | ArrayLike = "kmeans",
        n_components: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.sigma = sigma
        self.nu = nu
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
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
            # Not centred: a kernel of the user's own may depend on where the origin is.
            preparation = prepare_rows(feed.rows, center=False, unit=False, max_columns=None, moments=feed.moments)
            rows = preparation(feed.rows)
            landmarks, count = given_landmarks(self.landmarks, preparation, self.n_landmarks, rows)
            progress.stage("columns of the kernel", f"columns of the kernel at {count:,} landmarks")
            features = NystromFeatures(
                count, kernel=self.kernel, sigma=self.sigma, nu=self.nu, landmarks=landmarks, random_state=feed.rng
            ).fit(rows)
            setting = cut_setting(self.n_clusters, self.n_components)
            found = cluster_features(features, rows, preparation, setting, feed)
            warn_if_empty(found.labels, self.n_clusters, "look at n_landmarks and sigma")
            fitted = self._fitted(
                feed,
                spectral_model(found, preparation),
                found.labels,
                landmarks_=features.landmarks_,
                sigma_=features.sigma_,
                n_clusters_=int(self.n_clusters),
                **spectral_attributes(found),
            )
        return self._keep(fitted)

    def _check_parameters(self, x: Array) -> None:
        check_n_clusters(self.n_clusters, x)
        check_n_components(self.n_components)
        check_integer("n_landmarks", self.n_landmarks, low=1)
        exact.check_kernel(self.kernel, self.nu)
        check_scale(self.sigma, x)
        check_landmark_choice(self.landmarks, x)
