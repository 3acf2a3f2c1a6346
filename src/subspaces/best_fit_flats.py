"""LBF: the best of many local best-fit flats, one for each cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from subspaces._array import Array
from subspaces._log import report
from subspaces._validation import (
    check_integer,
    check_n_clusters,
    check_option,
    check_rows,
    is_auto,
    warn_if_empty,
)
from subspaces.candidate_flats import (
    CANDIDATES_PER_CLUSTER,
    candidate_flats,
    choose_flats,
    distance_table,
    sample_rows,
)
from subspaces.flat_dimension import level_knee, log_level, search_dims
from subspaces.flats import Beta2, as_neighborhood
from subspaces.kflats import (
    FlatsClustering,
    check_dim,
    choose_dim,
    fit_kflats,
    nearest_flats,
    prepare,
    rounding,
)

# The number of clusters is chosen on at most this many rows, with few starts and steps.
SEARCH_ROWS = 2000
SEARCH_STARTS = 2
SEARCH_STEPS = 20


@dataclass(frozen=True, slots=True)
class ClusterCount:
    """A number of clusters, the dimension of their flats, and the evidence."""

    n_clusters: int
    dim: int
    energies: NDArray[np.float64]  # (max_clusters + 1,): mean distance to the best 1, 2, ... flats


def choose_n_clusters(
    x: Array, max_clusters: int, dim: int | None, *, affine: bool, rng: np.random.RandomState, verbose: int = 0
) -> ClusterCount:
    """The number of flats after which the energy W of the rows of `x` (n, p) falls least: the largest
    ln W(k-1) + ln W(k+1) - 2 ln W(k), from 2 to `max_clusters`, or 1 where one flat fits all rows.

    Without a dimension each number of flats is judged with the one that `choose_dim` would give it.
    """
    sample = sample_rows(x, SEARCH_ROWS, rng)
    floor = rounding(sample, affine)
    counts = np.arange(1, min(max_clusters + 1, len(sample)) + 1)
    dims = search_dims(x, affine) if dim is None else [dim]
    energies, levels = np.empty((2, len(counts), len(dims)))
    for j, each in enumerate(dims):
        candidates = candidate_flats(sample, CANDIDATES_PER_CLUSTER * int(counts[-1]), each, affine=affine, rng=rng)
        table = distance_table(sample, candidates, int(counts[-1]), rng)
        for i, k in enumerate(counts):
            choice = choose_flats(table, int(k), n_starts=SEARCH_STARTS, rng=rng)
            fit = fit_kflats(sample, candidates[choice.index], affine=affine, max_iter=SEARCH_STEPS)
            energies[i, j] = max(choice.energy / len(table), floor)
            levels[i, j] = log_level(fit.distances, x.shape[1] - each, floor)
        report(verbose, "energy of 1, 2, ... flats of dimension %d: %s", each, np.round(energies[:, j], 4))
    best = np.array([level_knee(dims, row) for row in levels])
    gains = [_second_difference(energies[:, best[i]], i) for i in range(1, len(counts) - 1)]
    one_fits_all = energies[0, best[0]] <= 2 * floor
    i = 0 if one_fits_all or not gains else 1 + int(np.argmax(gains))
    return ClusterCount(int(counts[i]), dims[best[i]], energies[:, best[i]])


def _second_difference(energies: NDArray[np.float64], i: int) -> float:
    before, here, after = np.log(energies[i - 1 : i + 2])
    return float(before + after - 2 * here)


class LBF(FlatsClustering):
    """Local best-fit flats: the K of many local flats that fit all rows best.

    Flats are fitted to neighbourhoods of random rows, as large as each row's surroundings stay flat; K of them are
    chosen greedily so that the sum of the distances of all rows to the nearest is least. Robust to outliers, and at
    its best where every cluster is flat as a whole. `LBF(K, subspace_dim=d, polish=False)` is the published algorithm.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number K of clusters. "auto" takes the number, from 2 to `max_clusters`, after which the logarithm of the energy
        bends most, or 1 where one flat fits all rows; the search has candidates of its own, as many and as large as
        published.
    subspace_dim : int or "auto", default="auto"
        Dimension d of the flats. "auto" tries 1 to 12 on a sample and takes the one after which the fit gains little;
        with up to three columns also 0, points, as affine flats can be.
    n_candidates : int or "auto", default="auto"
        Number C of candidate flats. "auto" is 70 K, as published; every distinct row gets one where there are fewer.
    neighborhood : int, "beta2" or Beta2, default="beta2"
        How many rows a candidate is fitted to; "beta2" chooses at each, from 2 d rows on in steps of 2, or in the sizes
        that a `Beta2` names.
    affine : bool, default=True
        Whether the flats have centres of their own or pass through the origin.
    normalize : bool, default=False
        Whether rows are scaled to unit norm.
    n_init : int, default=10
        Number of random starts of the greedy choice, of which the least energy wins.
    polish : bool, default=True
        Whether the chosen flats are fitted to all their rows by median K-flats. It corrects what a neighbourhood is too
        small to show.
    max_clusters : int, default=10
        Most clusters that n_clusters="auto" considers.
    max_iter : int, default=100
        Most steps of the polish.
    random_state : int, RandomState instance or None, default=None
        Seed of every random draw: the same seed gives the same labels.
    verbose : int, default=0
        Progress on stderr.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row, 0 to K - 1.
    flats_ : Flats
        The flat of each cluster, in the coordinates of X: `flats_.centers` (K, p) and `flats_.bases` (K, p, d). Affine
        flats of rows scaled to unit norm are flats of the scaled rows.
    energy_ : float
        Sum over rows of the distance to the nearest flat.
    energies_ : ndarray
        With n_clusters="auto", the mean distance of a sample of rows to the best 1, 2, ... flats of dimension
        `subspace_dim_`; else empty.
    n_clusters_, subspace_dim_, n_candidates_ : int
        What was used.
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
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Cluster the rows of `X` (n, p)."""
        x = check_rows(self, X, reset=True, min_features=2)
        self._check_parameters(x)
        rng = check_random_state(self.random_state)
        rows = prepare(x, unit=self.normalize)
        self.n_clusters_, dim = self._choose_size(rows, rng)
        count = CANDIDATES_PER_CLUSTER * self.n_clusters_ if is_auto(self.n_candidates) else int(self.n_candidates)
        candidates = candidate_flats(
            rows, count, dim, affine=self.affine, rng=rng, neighborhood=as_neighborhood(self.neighborhood)
        )
        self.n_candidates_ = len(candidates)
        report(self.verbose, "choosing %d of %d flats of dimension %d", self.n_clusters_, self.n_candidates_, dim)
        table = distance_table(rows, candidates, self.n_clusters_, rng)
        flats = candidates[choose_flats(table, self.n_clusters_, n_starts=self.n_init, rng=rng).index]
        self._keep(
            fit_kflats(rows, flats, affine=self.affine, max_iter=self.max_iter)
            if self.polish
            else nearest_flats(rows, flats)
        )
        warn_if_empty(self.labels_, self.n_clusters_, "look at subspace_dim and n_candidates")
        return self

    def _choose_size(self, rows: Array, rng: np.random.RandomState) -> tuple[int, int]:
        """Number of clusters and dimension of their flats: the user's, or the best of a search."""
        self.energies_ = np.empty(0)
        dim = None if is_auto(self.subspace_dim) else int(self.subspace_dim)
        if is_auto(self.n_clusters):
            found = choose_n_clusters(rows, self.max_clusters, dim, affine=self.affine, rng=rng, verbose=self.verbose)
            self.energies_ = found.energies
            return found.n_clusters, found.dim
        n_clusters = int(self.n_clusters)
        if dim is None:
            dim = choose_dim(rows, n_clusters, affine=self.affine, rng=rng, verbose=self.verbose)
        return n_clusters, dim

    def _check_parameters(self, x: Array) -> None:
        for name in ("n_init", "max_clusters", "max_iter"):
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
