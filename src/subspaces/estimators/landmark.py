"""Spectral clustering by landmark points."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from subspaces._core import progress
from subspaces._core.arrays import Array
from subspaces._core.validation import check_integer, check_n_clusters, is_auto, warn_if_empty
from subspaces.estimators._base import SpectralClusterer, check_n_components
from subspaces.estimators._spectral import (
    cluster_features,
    cut_setting,
    given_landmarks,
    spectral_attributes,
    spectral_model,
)
from subspaces.features import LandmarkFeatures
from subspaces.features.bandwidth import check_scale
from subspaces.features.base import check_landmark_choice
from subspaces.rows.feed import Rows, open_feed
from subspaces.rows.preparation import prepare_rows
from subspaces.selection.choosing import nearest_count


class LandmarkSpectralClustering(SpectralClusterer):
    """Landmark-based spectral clustering (LSC): rows are described by the landmark points nearest to them.

    Use it for clusters of any shape that are denser inside than between, at any number of rows; for flats that cross,
    use `FLS`. With `n_components=K` and `n_nearest=5` it is LSC-K of Chen and Cai, LSC-R if `landmarks="random"`; by
    default modularity selects the number of eigenvectors and labels are refined on the landmarks. `n_nearest=None` is
    Example II of Wang and Lerman.

    Parameters
    ----------
    n_clusters : int, default=8
        Number K of clusters.
    n_landmarks : int, default=2000
        Number D of landmarks; at most n are used. With fewer, modularity separates similar partitions less well.
    n_nearest : int, "auto" or None, default="auto"
        How many of its nearest landmarks describe a row, with weights that sum to one. "auto" is 5, or 8 if every row
        is a landmark; None keeps all of them.
    sigma : float or "auto", default="auto"
        Scale of exp(-dist^2 / (2 sigma^2)). "auto" is a scale per row: the gap in squared distance between its nearest
        landmark and the last one kept; with n_nearest=None, one scale from the typical distance to the fifth landmark.
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
    outlier_scores_ : ndarray of shape (n,)
        Distance of each row to the nearest landmark.
    sigma_ : float
        The scale in use; the median over rows if each row has its own.
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

    landmarks_: Array
    n_clusters_: int
    n_nearest_: int
    outlier_scores_: Array
    sigma_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_landmarks: int = 2000,
        n_nearest: int | str | None = "auto",
        sigma: float | str = "auto",
        landmarks: str | ArrayLike = "kmeans",
        n_components: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_landmarks = n_landmarks
        self.n_nearest = n_nearest
        self.sigma = sigma
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
            # Distances do not change if all rows move, and near the origin they lose no digits.
            preparation = prepare_rows(feed.rows, center=True, unit=False, max_columns=None, moments=feed.moments)
            rows = preparation(feed.rows)
            landmarks, count = given_landmarks(self.landmarks, preparation, self.n_landmarks, rows)
            progress.stage("landmarks", f"describing rows by {count:,} landmarks")
            n_nearest = nearest_count(self.n_nearest, count, len(rows))
            features = LandmarkFeatures(
                count, sigma=self.sigma, n_nearest=n_nearest, landmarks=landmarks, random_state=feed.rng
            ).fit(rows)
            setting = cut_setting(self.n_clusters, self.n_components)
            found = cluster_features(features, rows, preparation, setting, feed)
            warn_if_empty(found.labels, self.n_clusters, "look at n_landmarks, n_nearest and sigma")
            fitted = self._fitted(
                feed,
                spectral_model(found, preparation),
                found.labels,
                landmarks_=features.landmarks_ + preparation.mean,
                sigma_=features.sigma_,
                n_nearest_=features.n_nearest_,
                n_clusters_=int(self.n_clusters),
                **spectral_attributes(found),
            )
        return self._keep(fitted)

    def _check_parameters(self, x: Array) -> None:
        check_n_clusters(self.n_clusters, x)
        check_n_components(self.n_components)
        check_integer("n_landmarks", self.n_landmarks, low=1)
        if self.n_nearest is not None and not is_auto(self.n_nearest):
            check_integer("n_nearest", self.n_nearest, low=1, hint='give a number, "auto", or None for all')
        check_scale(self.sigma, x)
        check_landmark_choice(self.landmarks, x)
