"""Spectral clustering by the feature map of any kernel."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from subspaces._core import progress
from subspaces._core.arrays import Array
from subspaces._core.errors import UserTypeError
from subspaces._core.validation import check_n_clusters, warn_if_empty
from subspaces.estimators._base import SpectralClusterer, check_n_components
from subspaces.estimators._spectral import cluster_features, cut_setting, spectral_attributes, spectral_model
from subspaces.features import FeatureMap, LandmarkFeatures
from subspaces.features.transformer import TransformerFeatures, seeded_clone
from subspaces.rows.feed import Rows, open_feed
from subspaces.rows.preparation import prepare_rows


class KernelSpectralClustering(SpectralClusterer):
    """Spectral clustering of your own kernel, given by its feature map.

    Any map of `subspaces.kernels` can be used, such as `CustomFeatures`, whose function f and sampler define a kernel
    k(x1, x2) = E f(x1, y) f(x2, y), and any transformer of scikit-learn whose inner products are a kernel.

    Parameters
    ----------
    n_clusters : int, default=8
        Number K of clusters.
    feature_map : FeatureMap or transformer, default=None
        It is cloned, never fitted itself; seeds that it leaves open are drawn from `random_state`. Sparse output must
        hold no negative entry. None is `LandmarkFeatures(n_nearest=5)`.
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
    feature_map_ : FeatureMap or transformer
        The fitted clone.
    eigenvalues_ : ndarray
        Leading eigenvalues of the normalised kernel matrix, beginning with the trivial one.
    n_components_ : int
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    References
    ----------
    Wang, X. and Lerman, G. (2015). Fast landmark subspace clustering. https://doi.org/10.48550/arXiv.1510.08406

    Examples
    --------
    Half-spaces through the origin: rows are alike if they lie in the same direction.

    >>> import numpy as np
    >>> from subspaces import KernelSpectralClustering
    >>> from subspaces.kernels import CustomFeatures
    >>> half_spaces = CustomFeatures(
    ...     lambda X, normals: X @ normals.T > 0, lambda X, size, rng: rng.normal(size=(size, X.shape[1]))
    ... )
    >>> X = np.array([[1.0, 0.1], [5.0, 0.2], [0.1, 2.0], [0.0, 9.0]])
    >>> labels = KernelSpectralClustering(2, feature_map=half_spaces, random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    feature_map_: FeatureMap
    n_clusters_: int
    outlier_scores_: Array

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        feature_map: Any = None,
        n_components: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.feature_map = feature_map
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
            preparation = prepare_rows(feed.rows, center=False, unit=False, max_columns=None, moments=feed.moments)
            rows = preparation(feed.rows)
            template = LandmarkFeatures(n_nearest=5) if self.feature_map is None else self.feature_map
            progress.stage("features", f"fitting {type(template).__name__}")
            if isinstance(template, FeatureMap):
                fitted_map = features = seeded_clone(template, feed.rng).fit(rows)
            else:
                features = TransformerFeatures(template, random_state=feed.rng).fit(rows)
                fitted_map = features.transformer_
            setting = cut_setting(self.n_clusters, self.n_components)
            found = cluster_features(features, rows, preparation, setting, feed)
            warn_if_empty(found.labels, self.n_clusters, "look at feature_map")
            fitted = self._fitted(
                feed,
                spectral_model(found, preparation),
                found.labels,
                feature_map_=fitted_map,
                n_clusters_=int(self.n_clusters),
                **spectral_attributes(found),
            )
        return self._keep(fitted)

    def _check_parameters(self, x: Array) -> None:
        check_n_clusters(self.n_clusters, x)
        check_n_components(self.n_components)
        missing = [name for name in ("fit", "transform", "get_params") if not hasattr(self.feature_map, name)]
        if self.feature_map is not None and (missing or isinstance(self.feature_map, type)):
            raise UserTypeError(
                f"feature_map={self.feature_map!r} must be a feature map or transformer, with fit and transform: give "
                "one of subspaces.kernels, or wrap a function by CustomFeatures."
            )
