"""K-flats: k-means with flats instead of centres."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from subspaces._core import progress
from subspaces._core.arrays import Array
from subspaces._core.errors import InputError
from subspaces._core.offload import offloaded
from subspaces._core.validation import MOST_REPEATS, check_integer, check_n_clusters, check_option, is_auto
from subspaces.estimators._flats import FlatsClusterer, check_dim
from subspaces.estimators._published import Published
from subspaces.flats.candidates import lbf_starts, random_starts
from subspaces.flats.flats import Flats
from subspaces.flats.kflats import LOSSES, best_kflats
from subspaces.flats.per_cluster import flats_of_labels
from subspaces.rows.feed import Feed, Rows, open_feed


class KFlats(Published, FlatsClusterer):
    """K-flats: rows in K clusters, each near a flat of its own.

    Like k-means with flats instead of centres: rows go to the nearest flat, flats are fitted to their rows. Use it if
    clusters are flat as a whole; a step costs one pass over the rows. It needs a good start, which local best-fit flats
    give.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number K of clusters. "auto" takes the number of flats, from 1 to `max_clusters` and of any dimensions, with the
        shortest description of a sample of the rows; a background describes rows that no flat reaches.
    subspace_dim : int or "auto", default="auto"
        Dimension d of the flats. "auto" tries 1 to 12 on a sample and takes the one after which the fit gains little;
        with up to three columns and affine flats also 0, points.
    affine : bool, default=True
        Whether the flats have centres of their own or pass through the origin.
    loss : {"median", "squared"}, default="median"
        The objective: the sum of distances, which is robust to outliers, or of squared distances.
    init : {"lbf", "random"} or array-like of shape (n,), default="lbf"
        The start: flats chosen among local best-fit flats, flats through random rows, or labels from 0 to K - 1, with
        -1 for rows to leave out.
    n_init : int, default=10
        Number of starts; the least energy wins. Labels are one start.
    normalize : bool, default=False
        Whether rows are scaled to unit norm.
    max_clusters : int, default=10
        Largest number that n_clusters="auto" considers.
    max_iter : int, default=100
        Most steps from each start.
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
    flats_ : Flats
        The flat of each cluster, in the coordinates of X: `flats_.centers` (K, p) and `flats_.bases` (K, p, d). Affine
        flats of rows scaled to unit norm are flats of the scaled rows.
    energy_ : float
        Sum of the distances to the nearest flat, or of their squares, over at most 100,000 rows.
    n_iter_ : int
        Steps from the best start.
    n_clusters_, subspace_dim_ : int
        The values in use.
    cluster_dims_ : ndarray of shape (K,)
        Dimension of each cluster, estimated from its rows without outliers: the number of directions that each shorten
        the description of a row by a nat; 0 for a blob. All flats have the dimension `subspace_dim_`.
    choice_ : Choice
        The decisions "n_clusters" and "subspace_dim", if they were "auto", with the evidence for each candidate.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    References
    ----------
    Bradley, P. S. and Mangasarian, O. L. (2000). k-plane clustering. Journal of Global Optimization 16, 23-32.
    https://doi.org/10.1023/A:1008324625522

    Zhang, T., Szlam, A. and Lerman, G. (2009). Median K-flats for hybrid linear modeling with many outliers.
    https://doi.org/10.1109/ICCVW.2009.5457695

    Examples
    --------
    >>> from subspaces import KFlats
    >>> from subspaces.datasets import make_subspaces
    >>> from subspaces.metrics import clustering_accuracy
    >>> X, y = make_subspaces((2, 2), 6, outliers=0.3, random_state=0)
    >>> model = KFlats(n_clusters=2, subspace_dim=2, random_state=0).fit(X)
    >>> clustering_accuracy(y, model.labels_) > 0.98
    True
    >>> model.transform(X).shape
    (715, 2)
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        subspace_dim: int | str = "auto",
        affine: bool = True,
        loss: str = "median",
        init: str | ArrayLike = "lbf",
        n_init: int = 10,
        normalize: bool = False,
        max_clusters: int = 10,
        max_iter: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.subspace_dim = subspace_dim
        self.affine = affine
        self.loss = loss
        self.init = init
        self.n_init = n_init
        self.normalize = normalize
        self.max_clusters = max_clusters
        self.max_iter = max_iter
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
            feed = open_feed(self, X, self._check_parameters, sample_weight=sample_weight, min_features=2)
            with offloaded(feed.pattern):
                rows, used = self._prepared(feed.rows)
                n_clusters, dim, choice = self._choose_size(rows, feed.rng)
                progress.stage("flats of clusters", f"moving {n_clusters} flats of dimension {dim}")
                starts = self._starts(rows, n_clusters, dim, feed)
                fit = best_kflats(rows, starts, affine=self.affine, loss=self.loss, max_iter=self.max_iter)
                remedy = "look at subspace_dim and init"
                fitted = self._fitted_flats(feed, rows, used, fit, choice, loss=self.loss, remedy=remedy)
        return self._keep(fitted)

    def _starts(self, rows: Array, n_clusters: int, dim: int, feed: Feed) -> list[Flats]:
        """Flats to start from."""
        if not isinstance(self.init, str):
            labels = feed.copied(np.asarray(self.init, np.int32))
            return [flats_of_labels(rows, labels, n_clusters, dim, affine=self.affine)]
        make = lbf_starts if self.init == "lbf" else random_starts
        return make(rows, n_clusters, dim, affine=self.affine, n_starts=self.n_init, rng=feed.rng)

    @staticmethod
    def _settings(n_clusters: int) -> dict[str, dict[str, Any]]:
        return {"motions": {"subspace_dim": 3, "init": "random"}}

    def _check_parameters(self, x: Array) -> None:
        if not is_auto(self.n_clusters):
            check_n_clusters(self.n_clusters, x)
        for name in ("affine", "normalize"):
            check_option(name, getattr(self, name), (True, False))
        check_dim(self.subspace_dim, x, affine=self.affine)
        check_option("loss", self.loss, LOSSES)
        check_integer("n_init", self.n_init, low=1, high=MOST_REPEATS)
        for name in ("max_clusters", "max_iter"):
            check_integer(name, getattr(self, name), low=1)
        if isinstance(self.init, str):
            check_option("init", self.init, ("lbf", "random"))
        elif is_auto(self.n_clusters):
            raise InputError('n_clusters="auto" leaves labels given as init no meaning: give their number of clusters.')
        else:
            check_labels("init", self.init, len(x), int(self.n_clusters))


def check_labels(name: str, value: Any, n_rows: int, n_clusters: int) -> None:
    """Whole numbers (n_rows,) from -1 to `n_clusters` - 1."""
    labels = np.asarray(value)
    if labels.shape != (n_rows,) or not np.issubdtype(labels.dtype, np.integer):
        raise InputError(
            f"{name} is an array of {labels.dtype} of shape {labels.shape}: give whole numbers, one for each of the "
            f'n_samples={n_rows} rows of X, or "lbf" or "random".'
        )
    if labels.min() < -1 or labels.max() >= n_clusters:
        raise InputError(
            f"{name} has labels from {labels.min()} to {labels.max()}: number the clusters from 0 to "
            f"n_clusters - 1 = {n_clusters - 1}, or -1 for rows to be left out."
        )
