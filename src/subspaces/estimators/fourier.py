"""Spectral clustering by random features and by a user's own: the siblings of FLS without landmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from subspaces._core.arrays import Array
from subspaces._core.errors import UserTypeError
from subspaces._core.log import report
from subspaces._core.validation import check_integer
from subspaces.estimators._base import FeatureClustering
from subspaces.features import FeatureMap, FourierFeatures, LandmarkFeatures, exact
from subspaces.features.bandwidth import check_scale
from subspaces.features.transformer import TransformerFeatures, seeded_clone


class FourierSpectralClustering(FeatureClustering):
    """Spectral clustering of a shift-invariant kernel by random waves, which look at no data: Example I.

    Use it for compact clusters, or where features must not depend on the rows. Waves estimate the kernel with an error
    of 1 / sqrt(n_features) everywhere, so a kernel so narrow that most pairs of rows have none of it drowns: for
    winding clusters take `LandmarkSpectralClustering` or `NystromSpectralClustering`, which need far fewer features.
    The estimate of a degree can dip below zero; where it does, every pair of rows gets a small weight in addition,
    just enough.

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
        Number D of waves.
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

    _remedy = "look at n_features and sigma"
    _center_rows = True

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
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.sigma = sigma
        self.nu = nu
        self.n_features = n_features
        self.n_components = n_components
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self, x: Array) -> None:
        super()._check_parameters(x)
        check_integer("n_features", self.n_features, low=1)
        exact.check_kernel(self.kernel, self.nu)
        check_scale(self.sigma, x)

    def _fit_features(self, rows: Array, rng: np.random.RandomState) -> FourierFeatures:
        report(self.verbose, "drawing %d waves", self.n_features)
        features = FourierFeatures(
            self.n_features, kernel=self.kernel, sigma=self.sigma, nu=self.nu, random_state=rng
        ).fit(rows)
        self.sigma_ = features.sigma_
        return features


class KernelSpectralClustering(FeatureClustering):
    """Spectral clustering of your own kernel, given by its feature map.

    Any map of `subspaces.features` serves, `CustomFeatures` among them, whose function f and sampler define a kernel
    k(x1, x2) = E f(x1, y) f(x2, y); so does any transformer of scikit-learn whose inner products are a kernel.

    Parameters
    ----------
    n_clusters : int, default=8
        Number K of clusters.
    feature_map : FeatureMap or transformer, default=None
        It is cloned, never fitted itself; seeds that it leaves open are drawn from `random_state`. Sparse output must
        hold no negative entry. None is `LandmarkFeatures(n_nearest=5)`.
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
    >>> from subspaces.features import CustomFeatures
    >>> half_spaces = CustomFeatures(
    ...     lambda X, normals: X @ normals.T > 0, lambda X, size, rng: rng.normal(size=(size, X.shape[1]))
    ... )
    >>> X = np.array([[1.0, 0.1], [5.0, 0.2], [0.1, 2.0], [0.0, 9.0]])
    >>> labels = KernelSpectralClustering(2, feature_map=half_spaces, random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    _remedy = "look at feature_map"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        feature_map: Any = None,
        n_components: int | str = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.feature_map = feature_map
        self.n_components = n_components
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self, x: Array) -> None:
        super()._check_parameters(x)
        missing = [name for name in ("fit", "transform", "get_params") if not hasattr(self.feature_map, name)]
        if self.feature_map is not None and (missing or isinstance(self.feature_map, type)):
            raise UserTypeError(
                f"feature_map={self.feature_map!r} must be a feature map or transformer, with fit and transform: give "
                "one of subspaces.features, or wrap a function by CustomFeatures."
            )

    def _fit_features(self, rows: Array, rng: np.random.RandomState) -> FeatureMap:
        template = LandmarkFeatures(n_nearest=5) if self.feature_map is None else self.feature_map
        report(self.verbose, "fitting %s", type(template).__name__)
        if isinstance(template, FeatureMap):
            features: FeatureMap = seeded_clone(template, rng).fit(rows)
            self.feature_map_ = features
        else:
            features = TransformerFeatures(template, random_state=rng).fit(rows)
            self.feature_map_ = features.transformer_
        return features
