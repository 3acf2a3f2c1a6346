"""Spectral clustering by random Fourier features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from subspaces._core import progress
from subspaces._core.arrays import Array
from subspaces._core.validation import check_integer, check_n_clusters, warn_if_empty
from subspaces.estimators._base import SpectralClusterer, check_n_components
from subspaces.estimators._spectral import (
    cluster_features,
    cut_setting,
    spectral_attributes,
    spectral_model,
)
from subspaces.features import FourierFeatures, exact
from subspaces.features.bandwidth import check_scale
from subspaces.rows.feed import Rows, open_feed
from subspaces.rows.preparation import prepare_rows


class FourierSpectralClustering(SpectralClusterer):
    """Spectral clustering of a shift-invariant kernel by random Fourier features, independent of the data: Example I.

    Use it for compact clusters, or if features must not depend on the rows. Random features estimate the kernel with an
    error of 1 / sqrt(n_features) everywhere, which drowns a narrow kernel that is nearly zero for most pairs of rows:
    for winding clusters take `LandmarkSpectralClustering` or `NystromSpectralClustering`, which need far fewer
    features. The estimate of a degree can be negative; then every pair of rows gets a small additional weight, just
    large enough.

    Parameters
    ----------
    n_clusters : int, default=8
        Number K of clusters.
    kernel : {"gaussian", "laplacian", "matern"} or callable, default="gaussian"
        A callable `kernel(shape, rng)` returns frequencies of `shape` (p, D), drawn from a measure of your own.
    sigma : float or "auto", default="auto"
        Length scale of the kernel. "auto" is twice the typical distance of a row to its seventh nearest row.
    nu : float, default=1.5
        Smoothness of the Matern kernel.
    n_features : int, default=1000
        Number D of random features.
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
    eigenvalues_ : ndarray
        Leading eigenvalues of the normalised kernel matrix, beginning with the trivial one.
    sigma_ : float
    n_components_ : int
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    References
    ----------
    Rahimi, A. and Recht, B. (2007). Random features for large-scale kernel machines. NIPS.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from subspaces import FourierSpectralClustering
    >>> from subspaces.metrics import clustering_accuracy
    >>> X, y = make_blobs(300, centers=4, n_features=5, random_state=0)
    >>> model = FourierSpectralClustering(4, random_state=0).fit(X)
    >>> clustering_accuracy(y, model.labels_) > 0.98
    True
    """

    n_clusters_: int
    sigma_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: str | Callable[[tuple[int, int], np.random.RandomState], Array] = "gaussian",
        sigma: float | str = "auto",
        nu: float = 1.5,
        n_features: int = 1000,
        n_components: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.sigma = sigma
        self.nu = nu
        self.n_features = n_features
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
            # A shift-invariant kernel does not change if all rows move, and near the origin no digits are lost.
            preparation = prepare_rows(feed.rows, center=True, unit=False, max_columns=None, moments=feed.moments)
            rows = preparation(feed.rows)
            progress.stage("random features", f"drawing {self.n_features:,} random features")
            features = FourierFeatures(
                self.n_features, kernel=self.kernel, sigma=self.sigma, nu=self.nu, random_state=feed.rng
            ).fit(rows)
            setting = cut_setting(self.n_clusters, self.n_components)
            found = cluster_features(features, rows, preparation, setting, feed)
            warn_if_empty(found.labels, self.n_clusters, "look at n_features and sigma")
            fitted = self._fitted(
                feed,
                spectral_model(found, preparation),
                found.labels,
                sigma_=features.sigma_,
                n_clusters_=int(self.n_clusters),
                **spectral_attributes(found),
            )
        return self._keep(fitted)

    def _model_bytes(self, n_columns: int, itemsize: int) -> int:
        """What the frequencies take: all columns of all features."""
        return n_columns * int(self.n_features) * itemsize

    def _check_parameters(self, x: Array) -> None:
        check_n_clusters(self.n_clusters, x)
        check_n_components(self.n_components)
        check_integer("n_features", self.n_features, low=1)
        exact.check_kernel(self.kernel, self.nu)
        check_scale(self.sigma, x)
