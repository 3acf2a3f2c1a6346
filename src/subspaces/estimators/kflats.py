"""K-flats: k-means with flats in the place of centres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from subspaces._core.arrays import Array, Indices, Labels, is_host, namespace, to_host, unit_rows
from subspaces._core.blocks import row_blocks
from subspaces._core.errors import InputError
from subspaces._core.log import report
from subspaces._core.threads import one_thread
from subspaces._core.validation import (
    check_integer,
    check_n_clusters,
    check_option,
    is_auto,
    warn_if_empty,
)
from subspaces.estimators._fed import FedMixin
from subspaces.flats.candidates import lbf_starts, random_starts, sample_rows
from subspaces.flats.cluster_model import MODEL_ROWS
from subspaces.flats.description import describe
from subspaces.flats.device import DeviceFlats
from subspaces.flats.dimension import level_knee, log_level, search_dims
from subspaces.flats.flats import Flats, distance_row_bytes, distances_to, fit_flats, principal_bases
from subspaces.rows.feed import Rows, open_feed
from subspaces.selection.flat_count import decide_n_clusters
from subspaces.selection.record import Choice, Decision
from subspaces.spectral.partition import at_most

LOSSES = ("squared", "median")
# Labels that stand still while the energy falls by a smaller share have arrived.
TOLERANCE = 1e-5
# The dimension is chosen on at most this many rows, with few starts and steps.
SEARCH_ROWS = 4000
SEARCH_STARTS = 3
SEARCH_STEPS = 30


@dataclass(frozen=True, slots=True, eq=False)
class FlatsFit:
    """Flats fitted to rows, the nearest of them for each row, and how near they are."""

    flats: Flats
    labels: Labels  # (n,)
    distances: Array  # (n,), of each row to its own flat
    energy: float  # sum of the distances, or of their squares
    n_iter: int = 1  # steps tried; the assignment of rows to given flats is one


def nearest_flats(x: Array, flats: Flats, *, loss: str = "median") -> FlatsFit:
    """The nearest of the `flats` for each row of `x` (n, p); ties go to the lower index.

    The energy is the sum of the distances for `loss="median"` and of their squares for `"squared"`.
    """
    squared_distances = distances_to(flats)
    labels = np.empty(len(x), np.int32)
    squares = np.empty(len(x), x.dtype)
    for rows in row_blocks(len(x), distance_row_bytes(flats, x.dtype)):
        table = squared_distances(x[rows])
        labels[rows] = table.argmin(axis=1)
        squares[rows] = table.min(axis=1)
    distances = np.sqrt(squares)
    return FlatsFit(flats, labels, distances, float((squares if loss == "squared" else distances).sum(dtype=float)))


def flats_of_labels(x: Array, labels: Labels, n_clusters: int, dim: int, *, affine: bool) -> Flats:
    """The least-squares flat of each cluster of rows of `x` (n, p); that of all rows where a cluster is empty."""
    members = [np.flatnonzero(labels == k) for k in range(n_clusters)]
    return fit_flats(x, [rows if len(rows) else np.arange(len(x)) for rows in members], dim, affine=affine)[0]


def fit_kflats(x: Array, start: Flats, *, affine: bool, loss: str = "median", max_iter: int = 100) -> FlatsFit:
    """Flats that fit the rows of `x` (n, p) better and better, from starting flats.

    Rows go to their nearest flat, each flat is fitted to its rows, and so on. The sum of squared distances
    (`loss="squared"`) or of distances (`"median"`, one step of reweighted least squares at a time, which outliers
    hardly move) never rises. A flat that loses all rows begins again at the rows fitted worst. Stops when labels stand
    still and the energy falls no more, or after `max_iter` steps. Use it by itself, or to polish the labels of another
    method, whose flats `flats_of_labels` gives.
    """
    smallest = rounding(x, affine)
    current = nearest_flats(x, start, loss=loss)
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        weights = None if loss == "squared" else 1 / np.maximum(current.distances.astype(np.float64), smallest)
        after = nearest_flats(x, _refit(x, current, weights, affine), loss=loss)
        # A step that gains nothing but rounding could go on for ever.
        if after.energy >= current.energy:
            break
        arrived = after.energy > (1 - TOLERANCE) * current.energy and (after.labels == current.labels).all()
        current = after
        if arrived:
            break
    return replace(current, n_iter=n_iter)


def rounding(x: Array, affine: bool) -> float:
    """The distance below which that of a row of `x` (n, p) to a flat is rounding."""
    origin = x.mean(axis=0, dtype=np.float64) if affine else np.zeros(x.shape[1])
    total = sum(float(np.square(x[rows] - origin).sum()) for rows in row_blocks(len(x), 16 * x.shape[1]))
    tiny = float(np.finfo(x.dtype).tiny)
    return max(float(np.sqrt(np.finfo(x.dtype).eps * total / len(x))), float(np.sqrt(tiny)))


def _refit(x: Array, fit: FlatsFit, weights: NDArray[np.float64] | None, affine: bool) -> Flats:
    """The best flat of each cluster, rows counted by `weights` (n,); clusters without rows get those fitted worst."""
    centers, bases = fit.flats.centers.copy(), fit.flats.bases.copy()
    dim = fit.flats.dim
    sizes = np.bincount(fit.labels, minlength=len(fit.flats))
    order = np.argsort(fit.labels, kind="stable")
    for k, members in enumerate(np.split(order, np.cumsum(sizes)[:-1])):
        if sizes[k]:
            centers[k], bases[k] = _weighted_flat(x, members, weights, dim, affine)
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        size = max(dim + 1, len(x) // len(sizes))
        worst = np.argsort(-fit.distances, kind="stable")[: size * len(empty)]
        for slot, members in zip(empty, np.array_split(worst, len(empty)), strict=True):
            if len(members):
                centers[slot], bases[slot] = _weighted_flat(x, members, None, dim, affine)
    return Flats(centers, bases)


def _weighted_flat(
    x: Array, members: Indices, weights: NDArray[np.float64] | None, dim: int, affine: bool
) -> tuple[Array, Array]:
    """Centre (p,) and basis (p, dim) of the flat of the least weighted sum of squared distances to some rows of `x`."""
    p = x.shape[1]
    own = np.ones(len(members)) if weights is None else weights[members] / weights[members].max()
    blocks = list(row_blocks(len(members), 3 * p * 8))
    center = np.zeros(p)
    if affine:
        center = np.sum([own[rows] @ x[members[rows]].astype(np.float64) for rows in blocks], axis=0) / own.sum()
    if dim == 0:
        return center.astype(x.dtype), np.zeros((p, 0), x.dtype)
    if len(members) < p:
        points = np.sqrt(own)[:, None] * (x[members] - center)
        return center.astype(x.dtype), principal_bases(points[None], dim)[0][0].astype(x.dtype)
    scatter = np.zeros((p, p))
    for rows in blocks:
        points = np.sqrt(own[rows])[:, None] * (x[members[rows]] - center)
        scatter += points.T @ points
    with one_thread():
        vectors = scipy.linalg.eigh(scatter, subset_by_index=[p - dim, p - 1])[1]
    return center.astype(x.dtype), vectors[:, ::-1].astype(x.dtype)


def best_kflats(
    x: Array, starts: Sequence[Flats], *, affine: bool, loss: str, max_iter: int, verbose: int = 0
) -> FlatsFit:
    """The fit of the least energy among those from several starts; see `fit_kflats`."""
    best = None
    for i, start in enumerate(starts, 1):
        fit = fit_kflats(x, start, affine=affine, loss=loss, max_iter=max_iter)
        report(verbose, "start %d of %d: energy %.6g after %d steps", i, len(starts), fit.energy, fit.n_iter)
        if best is None or fit.energy < best.energy:
            best = fit
    assert best is not None
    return best


def decide_dim(x: Array, n_clusters: int, *, affine: bool, rng: np.random.RandomState, verbose: int = 0) -> Decision:
    """The dimension of flats beyond which `n_clusters` of them fit the rows of `x` (n, p) hardly better.

    The level of noise that the distances of rows speak of falls while d grows to the dimension of the subspaces, and
    not after: the knee of its logarithm, the point farthest below the chord between its ends, is the choice.
    """
    sample = sample_rows(x, SEARCH_ROWS, rng)
    dims = search_dims(x, affine)
    levels = []
    for dim in dims:
        starts = lbf_starts(sample, n_clusters, dim, affine=affine, n_starts=SEARCH_STARTS, rng=rng)
        fit = best_kflats(sample, starts, affine=affine, loss="median", max_iter=SEARCH_STEPS)
        levels.append(log_level(fit.distances, x.shape[1] - dim, rounding(sample, affine)))
    report(verbose, "logarithm of the noise level for subspace_dim=%s: %s", dims, np.round(levels, 3))
    return Decision(
        "subspace_dim",
        level_knee(dims, np.array(levels)),
        "log_noise",
        "the dimension after which the noise that rows seem to have falls no more",
        tuple({"subspace_dim": dim, "log_noise": level} for dim, level in zip(dims, levels, strict=True)),
        larger_is_better=False,
    )


def choose_dim(x: Array, n_clusters: int, *, affine: bool, rng: np.random.RandomState, verbose: int = 0) -> int:
    """The dimension that `decide_dim` decides for."""
    return int(decide_dim(x, n_clusters, affine=affine, rng=rng, verbose=verbose).chosen["subspace_dim"])


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
            return nearest_flats(rows, self.flats_).labels
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
        fit = nearest_flats(rows, self.flats_, loss=getattr(self, "loss", "median"))
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
            decisions.append(decide_dim(rows, self.n_clusters_, affine=self.affine, rng=rng, verbose=self.verbose))
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
        fit = best_kflats(
            rows,
            self._starts(rows, dim, rng),
            affine=self.affine,
            loss=self.loss,
            max_iter=self.max_iter,
            verbose=self.verbose,
        )
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
