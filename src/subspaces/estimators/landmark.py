"""Spectral clustering by landmark points: the siblings of FLS whose features look at the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from subspaces._core.arrays import Array
from subspaces._core.log import report
from subspaces._core.validation import check_integer
from subspaces.estimators._base import FeatureClustering
from subspaces.features import LandmarkFeatures, NystromFeatures, exact
from subspaces.features.bandwidth import check_scale
from subspaces.features.base import check_landmark_choice


class LandmarkSpectralClustering(FeatureClustering):
    """Landmark-based spectral clustering (LSC): rows are described by the landmark points nearest to them.

    Use it for clusters of any shape that are denser inside than between, at any number of rows; where clusters are
    flats that cross, use `FLS`. With `n_components=K` it is LSC-K of Chen and Cai, LSC-R if `landmarks="random"`; by
    default modularity chooses the number of eigenvectors and refines the labels on the landmarks. `n_nearest=None` is
    Example II of Wang and Lerman.

    Parameters
    ----------
    n_clusters : int, default=8
        Number K of clusters.
    n_landmarks : int, default=1000
        Number D of landmarks; at most n are used.
    n_nearest : int or None, default=5
        How many of its nearest landmarks describe a row, with weights that sum to one. None keeps all of them.
    sigma : float or "auto", default="auto"
        Scale of exp(-dist^2 / (2 sigma^2)). "auto" is a scale per row: the gap in squared distance between its nearest
        landmark and the last one kept; with n_nearest=None, one scale from the typical distance to the fifth landmark.
    landmarks : {"kmeans", "random"} or array-like of shape (D, p), default="kmeans"
        How landmark points are chosen, or the points themselves.
    n_components : int or "auto", default="auto"
        Number of eigenvectors that k-means sees, the trivial one not counted: K - 1 or K in the literature. "auto"
        tries several, from K - 1 to about 2 K, and lets modularity choose.
    random_state : int, RandomState instance or None, default=None
        Seed of every random draw: the same seed gives the same labels.
    verbose : int, default=0
        Progress on stderr.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row, 0 to K - 1.
    landmarks_ : ndarray of shape (D, p)
    eigenvalues_ : ndarray
        Leading eigenvalues of the normalised kernel matrix, beginning with the trivial one.
    outlier_scores_ : ndarray of shape (n,)
        Distance of each row to the nearest landmark.
    sigma_ : float
        The scale in use; the median over rows where each row has its own.
    n_nearest_ : int or None
    n_components_ : int
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    References
    ----------
    Chen, X. and Cai, D. (2011). Large scale spectral clustering with landmark-based representation. AAAI.
    https://doi.org/10.1609/aaai.v25i1.7900

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from subspaces import LandmarkSpectralClustering
    >>> from subspaces.metrics import clustering_accuracy
    >>> X, y = make_moons(500, noise=0.05, random_state=0)
    >>> model = LandmarkSpectralClustering(2, random_state=0).fit(X)
    >>> clustering_accuracy(y, model.labels_) > 0.99
    True
    """

    _features: LandmarkFeatures
    _remedy = "look at n_landmarks, n_nearest and sigma"
    _center_rows = True

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_landmarks: int = 1000,
        n_nearest: int | None = 5,
        sigma: float | str = "auto",
        landmarks: str | ArrayLike = "kmeans",
        n_components: int | str = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_landmarks = n_landmarks
        self.n_nearest = n_nearest
        self.sigma = sigma
        self.landmarks = landmarks
        self.n_components = n_components
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self, x: Array) -> None:
        super()._check_parameters(x)
        check_integer("n_landmarks", self.n_landmarks, low=1)
        if self.n_nearest is not None:
            check_integer("n_nearest", self.n_nearest, low=1, hint="give a number, or None for all")
        check_scale(self.sigma, x)
        check_landmark_choice(self.landmarks, x)

    def _fit_features(self, rows: Array, rng: np.random.RandomState) -> LandmarkFeatures:
        landmarks, count = self._prepare_landmarks(self.landmarks, self.n_landmarks, rows)
        report(self.verbose, "describing rows by %d landmarks", count)
        features = LandmarkFeatures(
            count, sigma=self.sigma, n_nearest=self.n_nearest, landmarks=landmarks, random_state=rng
        ).fit(rows)
        self.landmarks_ = features.landmarks_ + self._preparation.mean
        self.sigma_, self.n_nearest_ = features.sigma_, features.n_nearest_
        return features


class NystromSpectralClustering(FeatureClustering):
    """Spectral clustering of a kernel matrix of which only the columns at landmark points are computed.

    Use it where the kernel is given: with as many landmarks as rows it is spectral clustering of the kernel matrix
    itself, and with few it comes near. The estimate of a degree can dip below zero; where it does, every pair of
    rows gets a small weight in addition, just enough.

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
        Number of eigenvectors that k-means sees, the trivial one not counted: K - 1 or K in the literature. "auto"
        tries several, from K - 1 to about 2 K, and lets modularity choose.
    random_state : int, RandomState instance or None, default=None
        Seed of every random draw: the same seed gives the same labels.
    verbose : int, default=0
        Progress on stderr.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row, 0 to K - 1.
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

    _features: NystromFeatures
    _remedy = "look at n_landmarks and sigma"

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
        self.verbose = verbose

    def _check_parameters(self, x: Array) -> None:
        super()._check_parameters(x)
        check_integer("n_landmarks", self.n_landmarks, low=1)
        exact.check_kernel(self.kernel, self.nu)
        check_scale(self.sigma, x)
        check_landmark_choice(self.landmarks, x)

    def _fit_features(self, rows: Array, rng: np.random.RandomState) -> NystromFeatures:
        landmarks, count = self._prepare_landmarks(self.landmarks, self.n_landmarks, rows)
        report(self.verbose, "columns of the kernel at %d landmarks", count)
        features = NystromFeatures(
            count, kernel=self.kernel, sigma=self.sigma, nu=self.nu, landmarks=landmarks, random_state=rng
        ).fit(rows)
        self.landmarks_, self.sigma_ = features.landmarks_, features.sigma_
        return features
