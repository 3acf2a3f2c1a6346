"""K-flats: k-means with flats in the place of centres."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from subspaces._core.arrays import Array, Labels, is_host, namespace, to_host, unit_rows
from subspaces._core.blocks import row_blocks
from subspaces._core.errors import InputError
from subspaces._core.progress import shown
from subspaces._core.validation import (
    check_integer,
    check_n_clusters,
    check_option,
    is_auto,
    warn_if_empty,
)
from subspaces.estimators._fed import FedMixin
from subspaces.flats.candidates import lbf_starts, random_starts
from subspaces.flats.description import describe
from subspaces.flats.device import DeviceFlats
from subspaces.flats.distances import distance_row_bytes, distances_to
from subspaces.flats.flats import Flats
from subspaces.flats.kflats import LOSSES, FlatsFit, assign_to_flats, best_kflats
from subspaces.flats.per_cluster import flats_of_labels
from subspaces.flats.thresholds import MODEL_ROWS
from subspaces.rows.feed import Rows, open_feed
from subspaces.selection.flat_count import decide_n_clusters
from subspaces.selection.flat_dimension import decide_dim
from subspaces.selection.record import Choice
from subspaces.spectral.partition import at_most


class FlatsClustering(
    FedMixin,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ClusterMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """What estimators share that give each row to the nearest of `flats_`, one flat for each cluster."""

    flats_: Flats
    n_clusters: int | str
    subspace_dim: int | str
    max_clusters: int
    affine: bool
    normalize: bool
    verbose: int
    _unit: bool  # whether the rows of fit were scaled

    def transform(self, X: Rows) -> Array:
        """Distance of each row of `X` (n, p) to the flat of each cluster: (n, K)."""
        return self._map(X, self._distances_of)

    def score(self, X: Rows, y: None = None) -> float:
        """Minus the mean energy of the rows of `X` (n, p): larger is better. It grows with subspace_dim and K."""
        check_is_fitted(self)
        count, energy = open_feed(self, X).sum(self._energy_of, "energy")
        return -float(energy) / float(count)

    def _labels_of(self, x: Array) -> Labels:
        rows = prepare(x, unit=self._unit)
        if is_host(x):
            return assign_to_flats(rows, self.flats_).labels
        xp = namespace(x)
        return xp.astype(DeviceFlats(self.flats_).nearest(rows, 1)[1][:, 0], xp.int32)

    def _distances_of(self, x: Array) -> Array:
        rows = prepare(x, unit=self._unit)
        xp = namespace(rows)
        if not is_host(x):
            return xp.sqrt(DeviceFlats(self.flats_).table(rows))
        squared_distances = distances_to(self.flats_)
        blocks = row_blocks(len(rows), distance_row_bytes(self.flats_, rows.dtype))
        return np.concatenate([np.sqrt(squared_distances(rows[block])) for block in blocks])

    def _energy_of(self, x: Array) -> tuple[Any, ...]:
        rows = prepare(to_host(x), unit=self._unit)
        fit = assign_to_flats(rows, self.flats_, loss=getattr(self, "loss", "median"))
        return np.asarray(float(len(rows))), np.asarray(fit.energy)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _choose_size(self, rows: Array, rng: np.random.RandomState) -> int:
        """Find the number of clusters and return the dimension of their flats: the user's, or the best of a search."""
        dim = None if is_auto(self.subspace_dim) else int(self.subspace_dim)
        decisions = []
        if is_auto(self.n_clusters):
            found = decide_n_clusters(
                rows, self.max_clusters, affine=self.affine, rng=rng, max_dim=dim, verbose=self.verbose
            )
            decisions.append(found)
            self.n_clusters_ = int(found.chosen["n_clusters"])
        else:
            self.n_clusters_ = int(self.n_clusters)
        if dim is None:
            with shown(self.verbose):
                decisions.append(decide_dim(rows, self.n_clusters_, affine=self.affine, rng=rng))
            dim = int(decisions[-1].chosen["subspace_dim"])
        self.choice_ = Choice(tuple(decisions))
        return dim

    def _keep(self, rows: Array, fit: FlatsFit, rng: np.random.RandomState) -> None:
        """Store a fit of `rows` (n, p); flats through the origin are those of X too, however long its rows are."""
        self.labels_, self.energy_, self.n_iter_ = fit.labels, fit.energy, fit.n_iter
        self.flats_, self._unit = fit.flats, self.normalize
        self.subspace_dim_ = fit.flats.dim
        self._n_features_out = len(fit.flats)
        some = at_most(np.arange(len(rows)), MODEL_ROWS, rng)
        self.cluster_dims_ = describe(rows[some], fit.labels[some], self.n_clusters_, affine=self.affine).dims


def prepare(x: Array, *, unit: bool) -> Array:
    """Rows (n, p) as flats are fitted to them."""
    return unit_rows(x) if unit else x


def check_dim(value: Any, x: Array, *, affine: bool) -> None:
    """A dimension of subspaces of the space of `x` (n, p), or "auto"; only affine ones can be points."""
    if not is_auto(value):
        hint = f'X has n_features={x.shape[1]}, and a subspace must leave a direction out; give a number or "auto"'
        check_integer("subspace_dim", value, low=0 if affine else 1, high=x.shape[1] - 1, hint=hint)


class KFlats(FlatsClustering):
    """K-flats: rows in K clusters, each near a flat of its own.

    Like k-means, with flats in the place of centres: rows go to the nearest flat, flats are fitted to their rows. Use
    it where clusters are flat as a whole; a step costs one pass over the rows. It needs a good start, which local
    best-fit flats give.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number K of clusters. "auto" takes the number, from 1 to `max_clusters`, of flats of any dimensions that tell a
        sample of the rows in the fewest nats, with a background for the rows that no flat reaches.
    subspace_dim : int or "auto", default="auto"
        Dimension d of the flats. "auto" tries 1 to 12 on a sample and takes the one after which the fit gains little;
        with up to three columns also 0, points, as affine flats can be.
    affine : bool, default=True
        Whether the flats have centres of their own or pass through the origin.
    loss : {"median", "squared"}, default="median"
        What is minimised: the sum of distances, which outliers hardly move, or of squared distances.
    init : {"lbf", "random"} or array-like of shape (n,), default="lbf"
        Where to start: at flats chosen among local best-fit flats, at flats through random rows, or at labels from 0 to
        K - 1, with -1 for rows that are to be left out of the start.
    n_init : int, default=10
        Number of starts, of which the least energy wins. Labels are one start.
    normalize : bool, default=False
        Whether rows are scaled to unit norm.
    max_clusters : int, default=10
        Most clusters that n_clusters="auto" considers.
    max_iter : int, default=100
        Most steps from each start.
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
        Sum over rows of the distance to the nearest flat, or of its square; of those at hand, at most 100,000.
    n_iter_ : int
        Steps from the best start.
    n_clusters_, subspace_dim_ : int
        What was used.
    cluster_dims_ : ndarray of shape (K,)
        Dimension of the flat that each cluster needs by the shortest description of its rows, outliers left out; what
        is beyond counts as noise. It may be below or above `subspace_dim_`, which all flats share.
    choice_ : Choice
        What was decided, "n_clusters" and "subspace_dim" where they were "auto", with the evidence for each candidate.
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
        self.verbose = verbose

    def fit(self, X: Rows, y: None = None) -> Self:
        """Cluster the rows of `X` (n, p): an array, or whatever `subspaces.open_rows` takes."""
        feed = open_feed(self, X, rng=check_random_state(self.random_state), min_features=2)
        rng = feed.rng
        self._check_parameters(feed.rows)
        rows = prepare(feed.rows, unit=self.normalize)
        dim = self._choose_size(rows, rng)
        starts = self._starts(rows, dim, rng)
        with shown(self.verbose):
            fit = best_kflats(rows, starts, affine=self.affine, loss=self.loss, max_iter=self.max_iter)
        self._keep(rows, fit, rng)
        warn_if_empty(self.labels_, self.n_clusters_, "look at subspace_dim and init")
        self._deliver(feed)
        return self

    def _starts(self, rows: Array, dim: int, rng: np.random.RandomState) -> list[Flats]:
        if not isinstance(self.init, str):
            labels = np.asarray(self.init, np.int32)
            return [flats_of_labels(rows, labels, self.n_clusters_, dim, affine=self.affine)]
        make = lbf_starts if self.init == "lbf" else random_starts
        return make(rows, self.n_clusters_, dim, affine=self.affine, n_starts=self.n_init, rng=rng)

    def _check_parameters(self, x: Array) -> None:
        if not is_auto(self.n_clusters):
            check_n_clusters(self.n_clusters, x)
        for name in ("affine", "normalize"):
            check_option(name, getattr(self, name), (True, False))
        check_dim(self.subspace_dim, x, affine=self.affine)
        check_option("loss", self.loss, LOSSES)
        for name in ("n_init", "max_clusters", "max_iter"):
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
