"""LBF: the best of many local best-fit flats, one for each cluster."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from subspaces._core import progress
from subspaces._core.arrays import Array
from subspaces._core.offload import offloaded
from subspaces._core.validation import MOST_REPEATS, check_integer, check_n_clusters, check_option, is_auto
from subspaces.estimators._flats import FlatsClusterer, check_dim
from subspaces.estimators._published import Published
from subspaces.flats.candidates import candidate_flats, choose_flats, distance_table
from subspaces.flats.kflats import assign_to_flats, fit_kflats
from subspaces.flats.neighborhoods import Beta2, as_neighborhood
from subspaces.flats.thresholds import CANDIDATES_PER_CLUSTER
from subspaces.rows.feed import Feed, Rows, open_feed


class LBF(Published, FlatsClusterer):
    """Local best-fit flats: the K of many local flats that fit all rows best.

    Flats are fitted to neighbourhoods of random rows, as large as the surroundings of each row are flat; K of them are
    chosen greedily to minimise the sum of the distances of all rows to the nearest. Use it if every cluster is flat as
    a whole; it is robust to outliers. `LBF(K, subspace_dim=d, polish=False)` is the published algorithm.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number K of clusters. "auto" takes the number of flats, from 1 to `max_clusters` and of any dimensions, with the
        shortest description of a sample of the rows; a background describes rows that no flat reaches.
    subspace_dim : int or "auto", default="auto"
        Dimension d of the flats. "auto" tries 1 to 12 on a sample and takes the one after which the fit gains little;
        with up to three columns and affine flats also 0, points.
    n_candidates : int or "auto", default="auto"
        Number C of candidate flats. "auto" is 70 K, as published, or the number of distinct rows if that is less.
    neighborhood : int, "beta2" or Beta2, default="beta2"
        How many rows a candidate is fitted to; "beta2" chooses the number for each, from 2 d rows on in steps of 2, or
        among the sizes that a `Beta2` names.
    affine : bool, default=True
        Whether the flats have centres of their own or pass through the origin.
    normalize : bool, default=False
        Whether rows are scaled to unit norm.
    n_init : int, default=10
        Number of random starts of the greedy choice; the least energy wins.
    polish : bool, default=True
        Whether the chosen flats are fitted to all their rows by median K-flats, which is more accurate than a
        neighbourhood.
    max_clusters : int, default=10
        Largest number that n_clusters="auto" considers.
    max_iter : int, default=100
        Most steps of the polish.
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
        Sum of the distances to the nearest flat, over at most 100,000 rows.
    n_clusters_, subspace_dim_, n_candidates_ : int
        The values in use.
    cluster_dims_ : ndarray of shape (K,)
        Dimension of each cluster, estimated from its rows without outliers: the number of directions that each shorten
        the description of a row by a nat; 0 for a blob. All flats have the dimension `subspace_dim_`.
    choice_ : Choice
        The decisions "n_clusters" and "subspace_dim", if they were "auto", with the evidence for each candidate.
    n_iter_ : int
        Steps of the polish; 1 without it.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    References
    ----------
    Zhang, T., Szlam, A., Wang, Y. and Lerman, G. (2012). Hybrid linear modeling via local best-fit flats. International
    Journal of Computer Vision 100, 217-240. https://doi.org/10.1007/s11263-012-0535-6

    Examples
    --------
    >>> from subspaces import LBF
    >>> from subspaces.datasets import make_subspaces
    >>> from subspaces.metrics import clustering_accuracy
    >>> X, y = make_subspaces((2, 2), 6, outliers=0.3, random_state=0)
    >>> lbf = LBF(n_clusters=2, random_state=0).fit(X)
    >>> clustering_accuracy(y, lbf.labels_) > 0.98
    True
    >>> lbf.subspace_dim_
    2
    """

    n_candidates_: int

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        subspace_dim: int | str = "auto",
        n_candidates: int | str = "auto",
        neighborhood: int | str | Beta2 = "beta2",
        affine: bool = True,
        normalize: bool = False,
        n_init: int = 10,
        polish: bool = True,
        max_clusters: int = 10,
        max_iter: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.subspace_dim = subspace_dim
        self.n_candidates = n_candidates
        self.neighborhood = neighborhood
        self.affine = affine
        self.normalize = normalize
        self.n_init = n_init
        self.polish = polish
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
                fitted = self._fit_rows(feed)
        return self._keep(fitted)

    def _fit_rows(self, feed: Feed) -> dict[str, Any]:
        """All fitted attributes."""
        rows, used = self._prepared(feed.rows)
        n_clusters, dim, choice = self._choose_size(rows, feed.rng)
        count = CANDIDATES_PER_CLUSTER * n_clusters if is_auto(self.n_candidates) else int(self.n_candidates)
        sizes = as_neighborhood(self.neighborhood)
        candidates = candidate_flats(rows, count, dim, affine=self.affine, rng=feed.rng, neighborhood=sizes)
        progress.stage("choosing flats", f"choosing {n_clusters} of {len(candidates):,} flats of dimension {dim}")
        table = distance_table(rows, candidates, n_clusters, feed.rng)
        flats = candidates[choose_flats(table, n_clusters, n_starts=self.n_init, rng=feed.rng).index]
        if self.polish:
            fit = fit_kflats(rows, flats, affine=self.affine, max_iter=self.max_iter)
        else:
            fit = assign_to_flats(rows, flats)
        return self._fitted_flats(
            feed,
            rows,
            used,
            fit,
            choice,
            loss="median",
            remedy="look at subspace_dim and n_candidates",
            n_candidates_=len(candidates),
        )

    @staticmethod
    def _settings(n_clusters: int) -> dict[str, dict[str, Any]]:
        return {"motions": {"subspace_dim": 3, "polish": False}}

    def _check_parameters(self, x: Array) -> None:
        check_integer("n_init", self.n_init, low=1, high=MOST_REPEATS)
        for name in ("max_clusters", "max_iter"):
            check_integer(name, getattr(self, name), low=1)
        if not is_auto(self.n_clusters):
            check_n_clusters(self.n_clusters, x)
        if not is_auto(self.n_candidates):
            low = self.max_clusters if is_auto(self.n_clusters) else int(self.n_clusters)
            check_integer("n_candidates", self.n_candidates, low=low, hint="each cluster takes one of them")
        as_neighborhood(self.neighborhood)
        for name in ("affine", "normalize", "polish"):
            check_option(name, getattr(self, name), (True, False))
        check_dim(self.subspace_dim, x, affine=self.affine)
