"""FLS: fast landmark subspace clustering."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from subspaces._core.arrays import Array, Labels, device, namespace, to_host, unit_rows
from subspaces._core.log import report
from subspaces._core.validation import (
    check_integer,
    check_n_clusters,
    check_option,
    check_positive,
    check_share,
    check_sigma,
    is_auto,
)
from subspaces.estimators._base import Draw, FeatureClustering, unless_auto
from subspaces.features import FeatureMap, SubspaceFeatures
from subspaces.features.base import check_landmark_choice
from subspaces.flats.cluster_model import limit_of_share, model_clusters
from subspaces.flats.flats import Flats
from subspaces.flats.least_noise import least_noise_flat
from subspaces.flats.neighborhoods import Beta2, as_neighborhood
from subspaces.flats.thresholds import MODEL_ROWS
from subspaces.rows.feed import Rows
from subspaces.rows.plan import Plan, make_plan, planned
from subspaces.rows.preparation import FAR_OFFSET, MAX_COLUMNS, NEAR_OFFSET, mean_offset, prepare_rows, prepared_columns
from subspaces.selection.confidence import Confidence, confidence, half_confidence, warn_if_coin_toss
from subspaces.selection.decisions import draws_decision, flats_decision, partition_decision
from subspaces.selection.flat_count import decide_n_clusters
from subspaces.selection.graph_count import decide_by_graph
from subspaces.selection.record import Choice, Decision
from subspaces.selection.search import (
    AFFINE_MARGIN,
    AFFINE_MARGIN_AT_ORIGIN,
    DIMS,
    LOW_COLUMNS,
    FlatSetting,
    candidate_settings,
    choose_setting,
)
from subspaces.selection.voting import Voter, elect, is_doubtful, named_opinion, of_one_kind, rank_draws, vote
from subspaces.selection.whole_flats import FIRST_STARTS, MAX_STARTS, flat_partition
from subspaces.spectral.partition import KINDS, SURE_AGREEMENT, Partition, PartitionChoice, at_most
from subspaces.spectral.spectrum import Spectrum

N_LANDMARKS = 2000
# Whether clusters are flat is seen on this many rows.
FLAT_ROWS = 2000
# Flats that fit their rows badly are dropped; not those at this many medians where clusters differ in size, for then
# those of a small cluster are the unusual ones.
UNEVEN_TRIM = 6.0
# Landmarks are drawn this often where halves of the first draw do not agree, or separation nearly objects to it.
UNSURE_DRAWS = 4
# Where every row is a landmark, or landmarks are given, further draws take this share of them.
FEWER_LANDMARKS = 0.6


class FLS(FeatureClustering):
    """Fast landmark subspace clustering.

    Clusters rows that lie near different low-dimensional subspaces, in time linear in their number: local flats are
    fitted at landmark points, every row is described by its nearness to them, and the leading singular vectors of
    that description give the clusters. Nothing has to be known about them; `choice_` tells what was chosen and why.
    Rows may be in memory, in files, on a GPU or on a cluster: see `open_rows` and `plan`. `FLS.paper` gives the
    published algorithm.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number K of clusters. "auto" takes the number of flats that describe the rows in the fewest nats where clusters
        are flat, and else the largest that the modularity of their graph speaks for.
    subspace_dim : int or "auto", default="auto"
        Dimension d of the flats. "auto" tries several on a sample and keeps the one of the largest modularity.
    n_landmarks : int or "auto", default="auto"
        Number D of landmark flats. "auto" is 2000, or every row where there are at most 3000.
    sigma : float or "auto", default="auto"
        Scale of exp(-dist^2 / sigma^2). "auto" is a scale per row: the gap in squared distance between its nearest
        flat and the last one kept; with n_nearest=None, one scale from the typical distance to the fifth flat.
    n_nearest : int, "auto" or None, default="auto"
        How many of its nearest flats describe a row. "auto" is 5, or 8 where every row is a landmark; None keeps all
        of them, as in the paper.
    power : float, default=2
        The weight of a flat falls as exp(-(dist / sigma)^power). With a scale per row it hardly matters.
    landmarks : {"kmeans", "random"} or array-like of shape (D, p), default="kmeans"
        How landmark points are chosen, or the points themselves.
    neighborhood : int, "beta2", Beta2 or "auto", default="auto"
        How many rows a flat is fitted to; "beta2" chooses at each landmark, in the sizes that a `Beta2` names. "auto"
        is searched with the dimension.
    affine : bool or "auto", default="auto"
        Whether the flats have centres of their own or pass through the origin of the prepared rows. "auto" tries
        both on a sample and takes affine ones where their modularity is clearly the larger, or where up to three
        columns leave linear ones no room.
    center : bool or "auto", default="auto"
        Whether the mean is subtracted from the rows. "auto" does so if it is farther from the origin than chance
        explains.
    normalize : bool or "auto", default="auto"
        Whether rows are scaled to unit norm. "auto" does so for linear flats, which do not depend on the length of a
        row, and not for affine ones, which do.
    max_columns : int, "auto" or None, default="auto"
        Rows of more columns are projected on this many principal directions. "auto" is 80, or twice the subspace_dim
        that is given where that is more; None projects never.
    n_components : int or "auto", default="auto"
        Number of eigenvectors that k-means sees. "auto" tries several, from K - 1 to about 2 K, and lets modularity
        choose; with n_nearest=None it is K - 1, as in the paper.
    assign : {"auto", "balanced", "density"}, default="auto"
        What a good partition is. "balanced" takes the largest modularity, which prefers clusters of similar size;
        "density" cuts where clusters are joined most weakly, whatever their sizes; "auto" begins with the first and
        takes the second where it is clearly better separated, and the flats that describe the rows best where clusters
        are flat as a whole. With n_nearest=None there is k-means only.
    n_draws : int or "auto", default="auto"
        Number of landmark draws. Of several the best one is kept, and those that agree with it vote on the label of
        each row, which takes as many times longer; `flats_`, `transform` and `choice_` tell of the best. "auto" is 1,
        or 4 where halves of the landmarks do not agree, or clusters may differ in size, and not every row is a
        landmark; then the further draws take the middle one of the settings searched, whose smaller flats fit into
        smaller clusters.
    detect_outliers : bool or float, default=False
        Whether rows that no cluster reaches are labelled -1, by `labels_` and `predict`: True lets the rows decide how
        many there are, a number between 0 and 1 is their share.
    max_clusters : int, default=10
        Most clusters that n_clusters="auto" considers.
    random_state : int, RandomState instance or None, default=None
        Seed of every random draw: the same seed gives the same labels.
    verbose : int, default=0
        Progress on stderr.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of each row, 0 to K - 1; -1 for outliers if they are detected. Where the rows are: NumPy for files and
        NumPy, on the device for rows on a device, lazy for Dask.
    flats_ : Flats
        The landmark flats, in the coordinates of X: `flats_.centers` (D, p) and `flats_.bases` (D, p, d).
    cluster_dims_ : ndarray of shape (K,)
        Dimension that each cluster needs, or the one that was given. Where flats pass through the origin, an affine
        cluster needs one more.
    cluster_bases_ : Flats
        One flat for each cluster, fitted to its inliers, in the coordinates of X. All have the largest dimension of
        `cluster_dims_`; the first `cluster_dims_[k]` columns of `cluster_bases_.bases[k]` span cluster k.
    choice_ : Choice
        What was tried, every score and the reason for each winner: print it, plot it, or ask it, as in
        `choice_["flats"].chosen`.
    confidence_ : ndarray of shape (n,)
        How sure the label of each row is, from 0 to 1: how far other landmarks agree with it. Only where n_nearest is
        not None, like `agreement_`, and up to 100,000 rows.
    agreement_ : float
        How far other landmarks give the same clusters: 1 is the same, 0 is chance. Below 0.5 a warning says so.
    eigenvalues_ : ndarray
        Leading eigenvalues of the normalised kernel matrix, beginning with the trivial one.
    outlier_scores_ : ndarray of shape (n,)
        How unusual each row is in its cluster: about 1 for most, more for outliers. Up to 100,000 rows;
        `outlier_scores` gives those of any.
    sigma_ : float
        The scale in use; the median over rows where each row has its own.
    n_clusters_, subspace_dim_, n_landmarks_, n_nearest_, n_components_ : int
        What was used.
    neighborhood_ : int, "beta2" or Beta2
    n_columns_ : int
        Columns of the rows after projection.
    affine_, center_, normalize_ : bool
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    References
    ----------
    Wang, X. and Lerman, G. (2015). Fast landmark subspace clustering. https://doi.org/10.48550/arXiv.1510.08406

    Examples
    --------
    >>> from subspaces import FLS
    >>> from subspaces.datasets import make_subspaces
    >>> from subspaces.metrics import clustering_accuracy
    >>> X, y = make_subspaces((4, 5, 6), 10, random_state=0)
    >>> fls = FLS(n_clusters=3, random_state=0).fit(X)
    >>> clustering_accuracy(y, fls.labels_) > 0.97
    True
    >>> bool((fls.predict(X) == fls.labels_).all())
    True
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        subspace_dim: int | str = "auto",
        n_landmarks: int | str = "auto",
        sigma: float | str = "auto",
        n_nearest: int | str | None = "auto",
        power: float = 2.0,
        landmarks: str | ArrayLike = "kmeans",
        neighborhood: int | Beta2 | str = "auto",
        affine: bool | str = "auto",
        center: bool | str = "auto",
        normalize: bool | str = "auto",
        max_columns: int | str | None = "auto",
        n_components: int | str = "auto",
        assign: str = "auto",
        n_draws: int | str = "auto",
        detect_outliers: bool | float = False,
        max_clusters: int = 10,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.subspace_dim = subspace_dim
        self.n_landmarks = n_landmarks
        self.sigma = sigma
        self.n_nearest = n_nearest
        self.power = power
        self.landmarks = landmarks
        self.neighborhood = neighborhood
        self.affine = affine
        self.center = center
        self.normalize = normalize
        self.max_columns = max_columns
        self.n_components = n_components
        self.assign = assign
        self.n_draws = n_draws
        self.detect_outliers = detect_outliers
        self.max_clusters = max_clusters
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(
        cls,
        n_clusters: int,
        *,
        subspace_dim: int,
        sigma: float | str = "auto",
        n_landmarks: int = 1000,
        start_size: int | None = None,
        step_size: int = 2,
        landmarks: str | ArrayLike = "kmeans",
        affine: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> Self:
        """The algorithm box of the paper, letter by letter.

        Rows on the unit sphere; local best-fit flats whose neighbourhoods grow from `start_size` (None: 2 d) in
        steps of `step_size` until beta2 has its first local minimum; all D of them in psi with one sigma; unit rows
        of v_2, ..., v_K; k-means. The box takes flats from an algorithm that fits affine ones, while the text before
        it speaks of linear subspaces: `affine=False` gives those. The paper does not say how sigma is found; "auto"
        is the typical distance of a row to its fifth nearest flat.
        """
        return cls(
            n_clusters,
            subspace_dim=subspace_dim,
            n_landmarks=n_landmarks,
            sigma=sigma,
            n_nearest=None,
            landmarks=landmarks,
            neighborhood=Beta2(start_size, step_size),
            affine=affine,
            center=False,
            normalize=True,
            max_columns=None,
            n_components="auto",
            random_state=random_state,
            verbose=verbose,
        )

    @planned
    def plan(self, n_rows: int, n_columns: int, *, dtype: Any = np.float32, memory_limit: int | str = "1GB") -> Plan:
        """What `fit` would do with so many rows, how much memory it takes and about how long on this machine.

        Print it. `FLS.plan(10**9, 80)` plans with default parameters, `FLS(10, n_landmarks=500).plan(10**9, 80)` with
        others. Where the dimension is searched, the largest that is tried is taken.
        """
        for name in ("n_landmarks", "subspace_dim", "n_draws", "n_nearest"):
            value = getattr(self, name)
            if not is_auto(value) and not (value is None and name == "n_nearest"):
                check_integer(name, value, low=1)
        n_landmarks = unless_auto(self.n_landmarks) or landmark_count(n_rows)
        if not isinstance(self.landmarks, str):
            n_landmarks = len(np.asarray(self.landmarks))
        dim: int | None = unless_auto(self.subspace_dim)
        return make_plan(
            n_rows,
            n_columns,
            n_landmarks=n_landmarks,
            subspace_dim=dim or max(DIMS),
            max_columns=self._limit(dim),
            n_nearest=5 if is_auto(self.n_nearest) else self.n_nearest,  # type: ignore[arg-type]
            n_draws=1 if is_auto(self.n_draws) else int(self.n_draws),
            dtype=dtype,
            memory_limit=memory_limit,
        )

    _features: SubspaceFeatures
    _remedy = "look at n_landmarks, neighborhood and sigma"
    _plain_if_given = False
    _min_features = 2

    @property
    def _kind(self) -> str:  # type: ignore[override]
        return self._search.kind

    @property
    def flats_(self) -> Flats:
        """The landmark flats in the coordinates of X."""
        check_is_fitted(self)
        return self._preparation.restore(self._features.flats_)

    def outlier_scores(self, X: Rows) -> Array:
        """How unusual each row of `X` (n, p), seen or new, is in its cluster: (n,), about 1 for most rows."""
        return self._map(X, self._outlier_scores_of)

    def _labels_of(self, x: Array) -> Labels:
        return self._predict(self._plain_of(x))

    def _outlier_scores_of(self, x: Array) -> Array:
        plain = self._plain_of(x)
        return self._model.scores(plain, self._clusters_of(plain))

    def _modularity_sums(self, x: Array) -> tuple[Any, ...]:
        plain = self._plain_of(to_host(x))
        return self._sums_of_clusters(self._scaled(plain), self._clusters_of(plain))

    def _plain_of(self, x: Array) -> Array:
        """Rows (n, p) prepared but for their scale: (n, q)."""
        return replace(self._preparation, unit=False)(x)

    def _scaled(self, plain: Array) -> Array:
        """Prepared rows (n, q) from those that are not scaled yet."""
        return unit_rows(plain) if self._preparation.unit else plain

    def _predict(self, plain: Array) -> Labels:
        labels = self._clusters_of(plain)
        if not self._detect:
            return labels
        if isinstance(self._detect, bool | np.bool_):
            apart = self._model.outliers(plain, labels)
        else:
            apart = self._model.scores(plain, labels) > self._outlier_limit
        xp = namespace(labels)
        return xp.where(apart, xp.asarray(-1, dtype=labels.dtype, device=device(labels)), labels)

    def _clusters_of(self, plain: Array) -> Labels:
        """Cluster (n,) of each row (n, q), outlier or not, from rows that are not scaled."""
        if self._partition.flats is not None:
            return least_noise_flat(plain, self._partition.flats)
        rows = self._scaled(plain)
        return vote([voter.shares(rows) for voter in self._voters]) if self._voters else self._nearest_clusters(rows)

    def _draw(self, features: FeatureMap, rows: Array, rng: np.random.RandomState) -> Draw:
        draw = super()._draw(features, rows, rng)
        flats = draw.partition.flats
        return draw if flats is None else replace(draw, labels=least_noise_flat(self._plain, flats))

    def _check_parameters(self, x: Array) -> None:
        check_integer("max_clusters", self.max_clusters, low=1)
        if not is_auto(self.n_clusters):
            self.n_clusters_ = check_n_clusters(self.n_clusters, x)
        if not is_auto(self.n_components):
            check_integer("n_components", self.n_components, low=1)
        if not is_auto(self.n_draws):
            check_integer("n_draws", self.n_draws, low=1, hint='give a number or "auto"')
        check_share("detect_outliers", self.detect_outliers)
        n, p = x.shape
        if not is_auto(self.max_columns) and self.max_columns is not None:
            check_integer("max_columns", self.max_columns, low=2, hint='give a number, "auto", or None for no limit')
        if not is_auto(self.subspace_dim):
            dim = check_integer("subspace_dim", self.subspace_dim, low=1)
            hint = f"X has n_features={p} and n_samples={n}, and a subspace must leave a direction out"
            check_integer("subspace_dim", dim, low=1, high=prepared_columns(n, p, self._limit(dim)) - 1, hint=hint)
        if not is_auto(self.n_landmarks):
            check_integer("n_landmarks", self.n_landmarks, low=1)
        if not is_auto(self.sigma):
            check_sigma(self.sigma, x.dtype)
        if not is_auto(self.n_nearest) and self.n_nearest is not None:
            check_integer("n_nearest", self.n_nearest, low=1, hint='give a number, "auto", or None for all')
        check_positive("power", self.power)
        for name in ("affine", "center", "normalize"):
            check_option(name, getattr(self, name), (True, False, "auto"))
        check_option("assign", self.assign, KINDS)
        check_landmark_choice(self.landmarks, x)
        if not is_auto(self.neighborhood):
            as_neighborhood(self.neighborhood)

    def _limit(self, dim: int | None) -> int | None:
        """The most columns that rows keep, at least twice a dimension that was asked for."""
        limit: int | None = unless_auto(self.max_columns)
        return max(MAX_COLUMNS, 2 * (dim or 0)) if is_auto(self.max_columns) else limit

    def _prepare(self, x: Array, rng: np.random.RandomState) -> Array:
        """Prepared rows (n, q); how flats are fitted to them is the user's choice, or the best of a search."""
        moments = self._feed.moments
        offset = mean_offset(x, moments)
        self.center_ = offset > FAR_OFFSET if is_auto(self.center) else bool(self.center)
        dim: int | None = unless_auto(self.subspace_dim)
        preparation = prepare_rows(
            x,
            center=self.center_,
            unit=False,
            max_columns=self._limit(dim),
            min_columns=1 + (dim or 1),
            moments=moments,
        )
        rows = preparation(x)
        self.n_columns_ = rows.shape[1]
        self._decisions: list[Decision] = []
        at_origin = NEAR_OFFSET < offset < FAR_OFFSET
        if is_auto(self.n_clusters):
            self._choose_n_clusters(rows, at_origin, rng)
        self._search = choose_setting(
            rows,
            self.n_clusters_,
            self._settings(rows, self.n_clusters_, at_origin),
            rng,
            kind=self.assign,
            affine_margin=AFFINE_MARGIN_AT_ORIGIN if at_origin else AFFINE_MARGIN,
            verbose=self.verbose,
        )
        if self._search.trials:
            self._decisions.append(flats_decision(self._search))
        self._preparation = replace(preparation, unit=self._search.setting.unit)
        self._sample = at_most(np.arange(len(rows)), FLAT_ROWS, rng)
        self._plain = rows
        return self._scaled(rows)

    def _settings(self, rows: Array, n_clusters: int, at_origin: bool) -> list[FlatSetting]:
        """The settings of flats to try for prepared rows (n, q), not scaled."""
        kinds = [bool(self.affine)]
        if is_auto(self.affine):
            kinds = [False, True] if at_origin or rows.shape[1] > LOW_COLUMNS else [True]
        return [
            setting
            for affine in kinds
            for setting in candidate_settings(
                len(rows),
                rows.shape[1],
                n_clusters,
                affine=affine,
                unit=not affine if is_auto(self.normalize) else bool(self.normalize),
                dim=unless_auto(self.subspace_dim),
                neighborhood=unless_auto(self.neighborhood),
            )
        ]

    def _choose_n_clusters(self, rows: Array, at_origin: bool, rng: np.random.RandomState) -> None:
        """The number of flats where clusters are flat; else the number of clusters of the graph."""
        most = min(self.max_clusters, len(rows))
        decision = decide_n_clusters(
            rows,
            most,
            affine=True if is_auto(self.affine) else bool(self.affine),
            max_dim=unless_auto(self.subspace_dim),
            rng=rng,
            verbose=self.verbose,
        )
        if not decision.chosen["flat"] and most > 1:
            decision = decide_by_graph(rows, most, self._settings(rows, most, at_origin), rng, flats=decision)
        self.n_clusters_ = int(decision.chosen["n_clusters"])
        self._decisions.append(decision)
        report(self.verbose, "%d clusters: %s", self.n_clusters_, decision.reason)

    def _fit_features(
        self, rows: Array, rng: np.random.RandomState, *, again: FlatSetting | None = None
    ) -> SubspaceFeatures:
        """Landmark points and a flat at each; others than before, with a setting, for another draw."""
        n, setting = len(rows), again or self._search.setting
        count: int = unless_auto(self.n_landmarks) or landmark_count(n)
        if again and count >= n:
            count = max(1, int(FEWER_LANDMARKS * n))
        landmarks, count = self._prepare_landmarks(self.landmarks, count, rows)
        if again and not isinstance(landmarks, str):
            chosen = rng.choice(count, max(1, int(FEWER_LANDMARKS * count)), replace=False)
            landmarks = np.asarray(landmarks)[chosen]
        n_nearest: int | None = unless_auto(self.n_nearest)
        if is_auto(self.n_nearest):
            n_nearest = 5 if count < n else 8
        report(self.verbose, "fitting flats at %d landmarks", count)
        return SubspaceFeatures(
            count,
            subspace_dim=setting.dim,
            sigma=self.sigma,
            n_nearest=n_nearest,
            landmarks=landmarks,
            neighborhood=setting.neighborhood,
            affine=setting.affine,
            power=self.power,
            trim=UNEVEN_TRIM if self._search.uneven else n_nearest is not None,
            random_state=rng,
        ).fit(rows)

    def _keep_features(self, features: SubspaceFeatures) -> None:
        """What is reported belongs to `flats_`."""
        self._features = features
        self.affine_, self.normalize_ = features.affine, self._preparation.unit
        self.subspace_dim_, self.neighborhood_ = features.subspace_dim, features.neighborhood
        self.n_landmarks_, self.n_nearest_ = len(features.flats_), features.n_nearest_
        self.sigma_ = features.sigma_

    def _cluster_dense(self, rows: Array, rng: np.random.RandomState) -> None:
        super()._cluster_dense(rows, rng)
        self._keep_features(self._features)
        self._voters: list[Voter] = []
        # Those of an earlier fit say nothing about this one.
        for name in ("confidence_", "agreement_"):
            self.__dict__.pop(name, None)

    def _cluster_sparse(self, rows: Array, rng: np.random.RandomState) -> None:
        """Labels from one draw of landmarks, or from the best of several and those that agree; how sure they are."""
        self._tie, self._voters = 0.0, []
        maps = [self._features]
        draws = [self._draw(self._features, rows, rng)]
        setting, more = self._search.setting, 0 if is_auto(self.n_draws) else int(self.n_draws) - 1
        if not more:
            found = self._half_confidence(draws[0], rng)
            unsure = found.overall < SURE_AGREEMENT or (self._kind == "auto" and is_doubtful(draws[0]))
            # With fewer landmarks than rows, other landmarks are as good.
            if is_auto(self.n_draws) and unsure and self._features.n_components < len(rows):
                setting, more = self._search.middle or setting, UNSURE_DRAWS - 1
        for _ in range(more):
            maps.append(self._fit_features(rows, rng, again=setting))
            draws.append(self._draw(maps[-1], rows, rng))
        if more and self._kind == "auto":
            draws = of_one_kind(draws)
        ranking = rank_draws(draws)
        draw = draws[ranking.best]
        self._keep_features(maps[ranking.best])
        self._keep_draw(draw)
        if draw.choice is not None and self.n_clusters_ > 1:
            self._decisions.append(partition_decision(draw.choice, draw.partition))
        if more:
            agreeing = [maps[i] for i in ranking.voters], [draws[i] for i in ranking.voters]
            self.labels_, self._voters = elect(*agreeing, self.n_clusters_)
            self._decisions.append(draws_decision(ranking, maps, voted=bool(self._voters)))
            opinions = [named_opinion(each, self.labels_, self.n_clusters_) for each in draws]
            found = confidence(self.labels_, opinions, draw.inliers, voted=True)
        self.confidence_, self.agreement_ = found.rows, found.overall
        warn_if_coin_toss(self.agreement_)

    def _half_confidence(self, draw: Draw, rng: np.random.RandomState) -> Confidence:
        """How far halves of the landmarks of a draw agree with it."""
        # Whether clusters are flat is settled, and a few starts find the flats again.
        final = partial(self._final_partition, max_starts=FIRST_STARTS) if draw.partition.origin == "flats" else None
        return half_confidence(draw, self.n_clusters_, kind=self._kind, rng=rng, final=final)

    def _final_partition(
        self,
        psi: csr_matrix,
        spectrum: Spectrum,
        choice: PartitionChoice,
        rng: np.random.RandomState,
        *,
        max_starts: int = MAX_STARTS,
    ) -> Partition:
        """The flats that describe the rows best decide where clusters are flat; else the graph does."""
        if self.assign != "auto" or self.n_clusters_ == 1:
            return choice.winner
        plain, sample = self._plain[self._sample], self._sample
        found = flat_partition(plain, psi, sample, spectrum, choice, self.n_clusters_, rng, max_starts=max_starts)
        return found or choice.winner

    def _dense_counts(self) -> list[int]:
        """As in the paper: v_2, ..., v_K."""
        return [max(1, self.n_clusters_ - 1)]

    def _describe_clusters(self, rows: Array) -> None:
        """What the clusters look like, and which rows belong to none."""
        plain = self._plain
        # Which rows tell what clusters look like is no choice of the method: the stream of draws stays as it is.
        index = at_most(np.arange(len(rows)), MODEL_ROWS, np.random.RandomState(0))
        self._model = model_clusters(plain[index], self.labels_[index], self.n_clusters_, affine=self.affine_)
        dim: int | None = unless_auto(self.subspace_dim)
        self.cluster_dims_ = self._model.dims if dim is None else np.full(self.n_clusters_, dim)
        self.cluster_bases_ = replace(self._preparation, unit=False).restore(self._model.flats(dim))
        self.outlier_scores_ = self._model.scores(plain, self.labels_)
        # What was asked for here holds for `predict`, whatever the parameter becomes.
        self._detect = self.detect_outliers
        if not isinstance(self._detect, bool | np.bool_):
            self._outlier_limit = limit_of_share(self.outlier_scores_, float(self._detect))
        if self._detect:
            self.labels_ = self._predict(plain)
        self.choice_ = Choice(tuple(self._decisions))
        del self._plain, self._sample, self._decisions


def landmark_count(n_rows: int) -> int:
    """How many landmarks rows get: all of them where there are hardly more."""
    return n_rows if n_rows <= 1.5 * N_LANDMARKS else N_LANDMARKS
