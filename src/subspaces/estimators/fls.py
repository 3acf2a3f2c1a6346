"""FLS: fast landmark subspace clustering."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from subspaces._core import progress
from subspaces._core.arrays import Array
from subspaces._core.offload import offloaded
from subspaces._core.threads import threads_for
from subspaces._core.validation import check_integer, check_option, check_share, is_auto, unless_auto, warn_if_empty
from subspaces.estimators._base import ShareClusterer
from subspaces.estimators._models import SubspaceModel, build_model
from subspaces.estimators._planning import plan_of
from subspaces.estimators._verdict import JudgedMixin, pending_verdict
from subspaces.features.psi import compute_psi, leading_vectors
from subspaces.features.thresholds import PAPER_SIGMA
from subspaces.flats.flats import Flats
from subspaces.flats.neighborhoods import Beta2
from subspaces.rows.feed import Feed, Rows, open_feed, open_new_rows
from subspaces.rows.plan import Plan, planned
from subspaces.rows.preparation import PreparedRows, RowOptions, prepare
from subspaces.selection.choosing import choose
from subspaces.selection.clustering import Clustering, cut
from subspaces.selection.confidence import warn_if_coin_toss
from subspaces.selection.consensus import Consensus, find_consensus
from subspaces.selection.drawn_flats import draw_flats
from subspaces.selection.record import Choice
from subspaces.selection.setting import Asked, LandmarkSetting, Setting
from subspaces.selection.structure import prefer_whole_flats
from subspaces.selection.units import has_own_units


class FLS(JudgedMixin, ShareClusterer):
    """Fast landmark subspace clustering.

    Clusters rows that lie near different low-dimensional subspaces, in time linear in the number of rows: local flats
    are fitted at landmark points, every row is described by its nearness to these flats, and the leading singular
    vectors of this description give the clusters. All parameters can be chosen from the rows; `choice_` records what
    was chosen and why. Rows may be in memory, in files, on a GPU or on a cluster: see `open_rows` and `plan`.
    `FLS.paper` gives the published algorithm.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number K of clusters. "auto" takes the number of flats with the shortest description of the rows if clusters are
        flat, otherwise the largest number whose modularity is near the maximum.
    subspace_dim : int or "auto", default="auto"
        Dimension d of the landmark flats; 0 for points. "auto" tries several on a sample and takes the one with the
        largest modularity; of more than 8,000 rows the largest dimension that is not clearly worse. With at most five
        columns it takes points, unless `affine=False`.
    n_landmarks : int or "auto", default="auto"
        Number D of landmark flats. "auto" is 3000, or the number of rows if there are fewer; at most 1000 if K whole
        flats are found without a graph, which then only serves plots and `transform`.
    sigma : float or "auto", default="auto"
        Scale of exp(-dist^2 / sigma^2). "auto" is a scale per row: the gap in squared distance between its nearest
        flat and the last one kept; with n_nearest=None, one scale from the typical distance to the fifth flat.
    n_nearest : int, "auto" or None, default="auto"
        How many of its nearest flats describe a row. "auto" is 5, or 8 if every row is a landmark; None keeps all
        of them, as in the paper.
    power : float, default=2
        The weight of a flat falls as exp(-(dist / sigma)^power). With a scale per row it hardly matters.
    landmarks : {"kmeans", "random"} or array-like of shape (D, p), default="kmeans"
        How landmark points are chosen, or the points themselves.
    neighborhood : int, "beta2", Beta2 or "auto", default="auto"
        How many rows a flat is fitted to; "beta2" chooses the number at each landmark, among the sizes that a `Beta2`
        names. "auto" is searched together with the dimension.
    affine : bool or "auto", default="auto"
        Whether flats have centres of their own or pass through the origin of the prepared rows. "auto" tries both and
        points at landmarks of a sample, and takes linear flats unless the modularity of another kind is clearly larger;
        K whole flats are affine then. Points are affine.
    center : bool, default=True
        Whether the mean is subtracted from the rows.
    normalize : bool or "auto", default="auto"
        Whether rows are scaled to unit norm. "auto" does so for linear flats, which do not depend on the length of a
        row, and not for affine ones, which do.
    standardise : bool or "auto", default="auto"
        Whether columns are divided by their standard deviations, because they have different units. "auto" does so if
        one of at most 80 columns has more than 90 % of the variance and one flat describes standardised columns better.
    whiten : float or "auto", default="auto"
        Power to which rows are whitened before landmark flats are fitted, from 0, not at all, to 1, all principal
        directions with the same variance. It helps if leading directions are common to all clusters, such as the light
        in images of faces. From 20 columns on, "auto" tries 0.5 and 1 and takes them if modularity is clearly larger.
    max_columns : int, "auto" or None, default="auto"
        Rows of more columns are projected on this many principal directions. "auto" is 80, or twice a given
        `subspace_dim` if that is more; None projects only rows that are fewer than their columns, on their span.
    n_components : int or "auto", default="auto"
        Number of eigenvectors that k-means uses. "auto" tries several and takes the one with the largest modularity;
        with n_nearest=None it is K - 1. Labels of joined parts or whole flats do not depend on it.
    assign : {"auto", "balanced", "density"}, default="auto"
        How partitions are compared. "balanced" takes the largest modularity, which prefers clusters of similar size;
        "density" cuts where clusters are joined most weakly, whatever their sizes; "auto" takes the first unless the
        second is clearly better separated, and K whole flats if these describe the rows about as well as any number of
        flats does: then parameters of landmarks change no labels, except `affine=False` and `subspace_dim=0`, which
        whole flats respect. With n_nearest=None there is only k-means.
    n_draws : int or "auto", default="auto"
        Number of landmark sets, whose landmarks describe rows together; the time is proportional. Whole flats use one.
        "auto" is 1, or 4 new ones if halves of the landmarks disagree or clusters may differ in size, and not every row
        is a landmark. New sets have flats of a middle dimension, which fit into small clusters, and of the first kind
        tried, unless rows are whitened. `flats_` and `transform` are those of the set nearest to the labels of all.
    detect_outliers : bool or float, default=False
        Whether rows far from all clusters are labelled -1, in `labels_` and by `predict`. True estimates their number
        from the rows, a number between 0 and 1 is their share.
    max_clusters : int, default=10
        Largest number that n_clusters="auto" considers.
    random_state : int, RandomState instance or None, default=None
        Seed of every random draw: the same seed gives the same labels.
    n_jobs : int or None, default=None
        Most threads that `fit` uses; -1 is one for each processor, -2 all but one. None leaves the number to BLAS.
        Results do not depend on it.
    verbose : int, default=0
        Show progress: a bar in a terminal or notebook, log lines elsewhere.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of each row, 0 to K - 1 in the order of their first rows; -1 for outliers if they are detected. A NumPy
        array for files and NumPy rows, on the device for rows on a device, lazy for Dask.
    flats_ : Flats
        The landmark flats, in the coordinates of X: `flats_.centers` (D, p) and `flats_.bases` (D, p, d).
    cluster_dims_ : ndarray of shape (K,)
        Dimension of each cluster, estimated from its rows without outliers, whatever `subspace_dim` is: the number of
        directions that each shorten the description of a row by a nat; 0 for a blob. With `center=False` and linear
        flats, an affine cluster needs one more.
    cluster_bases_ : Flats
        One flat for each cluster, fitted to its inliers, in the coordinates of X. All have the largest dimension of
        `cluster_dims_`; the first `cluster_dims_[k]` columns of `cluster_bases_.bases[k]` span cluster k.
    choice_ : Choice
        What was tried, all scores and the reasons. Print it, plot it, or look one up: `choice_["structure"].reason`.
    verdict_ : Verdict
        What kind of clusters were found, how far to trust them, and what to try; print it. It compares the clusters
        with those of other methods, of shuffled columns and of other numbers of clusters, which takes about as long as
        a fit of 2,000 rows; it is made when it is first read, saved or pickled.
    confidence_ : ndarray of shape (n,)
        Confidence in the label of each row, from 0 to 1: how far other landmarks agree with it, or flats of halves of
        the rows. Like `agreement_`, not available with n_nearest=None; up to 100,000 rows.
    agreement_ : float
        The same for all rows together: 1 is the same clusters, 0 is chance. Below 0.5 there is a warning.
    eigenvalues_ : ndarray
        Leading eigenvalues of the normalised kernel matrix, beginning with the trivial one.
    outlier_scores_ : ndarray of shape (n,)
        About 1 for most rows, more for outliers; up to 100,000 rows. `outlier_scores` gives those of any.
    sigma_ : float
        The scale in use; the median over rows if each row has its own.
    n_clusters_, subspace_dim_, n_landmarks_, n_nearest_, n_components_, n_columns_ : int
        The values in use; `n_columns_` counts columns after projection, `n_landmarks_` flats that are kept.
    neighborhood_ : int, "beta2" or Beta2
    affine_, center_, normalize_, standardise_ : bool
    whiten_ : float
        The power to which rows are whitened.
    n_features_in_, feature_names_in_ : as in scikit-learn.

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

    labels_: Any
    cluster_dims_: NDArray[np.int64]
    cluster_bases_: Flats
    choice_: Choice
    confidence_: Array
    agreement_: float
    outlier_scores_: Array
    sigma_: float
    n_clusters_: int
    subspace_dim_: int
    n_landmarks_: int
    n_nearest_: int | None
    neighborhood_: int | str | Beta2
    n_columns_: int
    affine_: bool
    center_: bool
    normalize_: bool
    standardise_: bool
    whiten_: float

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
        center: bool = True,
        normalize: bool | str = "auto",
        standardise: bool | str = "auto",
        whiten: float | str = "auto",
        max_columns: int | str | None = "auto",
        n_components: int | str = "auto",
        assign: str = "auto",
        n_draws: int | str = "auto",
        detect_outliers: bool | float = False,
        max_clusters: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
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
        self.standardise = standardise
        self.whiten = whiten
        self.max_columns = max_columns
        self.n_components = n_components
        self.assign = assign
        self.n_draws = n_draws
        self.detect_outliers = detect_outliers
        self.max_clusters = max_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def paper(
        cls,
        n_clusters: int,
        *,
        subspace_dim: int,
        sigma: float | str = PAPER_SIGMA,
        n_landmarks: int = 1000,
        start_size: int | None = None,
        step_size: int = 2,
        landmarks: str | ArrayLike = "kmeans",
        affine: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> Self:
        """The algorithm box of the paper.

        Rows on the unit sphere; local best-fit flats whose neighbourhoods grow from `start_size` (None: 2 d) in
        steps of `step_size` until beta2 has its first local minimum; all D of them in psi with one sigma; unit rows
        of v_2, ..., v_K; k-means. Deviations from the paper, and what it leaves open (docs/theory.md): sigma is not
        stated; 0.15 reaches the tables, "auto", the typical distance to the fifth nearest flat, is too large for
        images. The box takes affine flats, the text before it linear ones (`affine=False`). v_1 is removed by its
        formula, not by its position. k-means takes the best of ten runs, whose starts come from a sample. Rows are used
        as they are: project images before, without centring them, as by `load_mnist(digits, center=False)`.
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
            standardise=False,
            whiten=0.0,
            max_columns=None,
            n_components="auto",
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

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
            with threads_for(feed.rows.size), offloaded(feed.pattern):
                prepared = prepare(feed.rows, self._row_options(feed), feed.moments)
                setting = choose(prepared, self._asked(), feed.rng)
                first = cluster(prepared, setting.landmarks, setting, feed)
                found = compare_with_other_landmarks(first, prepared, setting, feed)
                shape = prepared.shaped_by(unit=found.best.unit, whiten=setting.landmarks.flats.whiten)
                model = build_model(found, prepared, shape, detect_outliers=self.detect_outliers)
                fitted = self._attributes(feed, prepared, setting, found, model)
        return self._keep(fitted)

    def _asked(self) -> Asked:
        """The parameters that `choose` respects."""
        return Asked(**{name: getattr(self, name) for name in Asked.__dataclass_fields__})

    def _row_options(self, feed: Feed | None = None) -> RowOptions:
        """How rows are centred, scaled and projected; without a feed, whether they are scaled is not decided."""
        dim: int | None = unless_auto(self.subspace_dim)
        options = RowOptions.for_dimension(dim, center=bool(self.center), max_columns=self.max_columns)
        if is_auto(self.standardise):
            return replace(options, standardise=feed is not None and has_own_units(feed.rows, feed.moments))
        return replace(options, standardise=bool(self.standardise))

    def _attributes(
        self, feed: Feed, prepared: PreparedRows, setting: Setting, found: Consensus, model: SubspaceModel
    ) -> dict[str, Any]:
        """All fitted attributes."""
        plain, features = prepared.rows, found.best.features
        labels = model.plain_labels(plain) if model.detect_outliers else found.labels
        warn_if_empty(labels, setting.n_clusters, "look at n_landmarks, neighborhood and sigma")
        fitted: dict[str, Any] = {}
        if found.confidence is not None:
            fitted |= {"confidence_": found.confidence.rows, "agreement_": found.confidence.overall}
            warn_if_coin_toss(found.confidence.overall, by_flats=found.best.partition.flats is not None)
        return self._fitted(
            feed,
            model,
            labels,
            n_clusters_=setting.n_clusters,
            subspace_dim_=features.subspace_dim,
            neighborhood_=features.neighborhood,
            affine_=features.affine,
            normalize_=model.preparation.unit,
            standardise_=prepared.preparation.scale is not None,
            whiten_=setting.landmarks.flats.whiten,
            center_=prepared.centered,
            n_columns_=plain.shape[1],
            n_landmarks_=len(features.flats_),
            n_nearest_=features.n_nearest_,
            sigma_=features.sigma_,
            n_components_=found.best.partition.n_vectors,
            _n_features_out=found.best.partition.n_vectors,
            eigenvalues_=np.concatenate([[1.0], found.best.spectrum.eigenvalues]),
            cluster_dims_=model.clusters.dims,
            cluster_bases_=prepared.preparation.restore(model.clusters.flats()),
            outlier_scores_=model.clusters.scores(plain, found.labels),
            choice_=Choice((*setting.choice.decisions, *found.decisions)),
            _pending_verdict=pending_verdict(labels, found, setting, model, plain, feed),
            **fitted,
        )

    @property
    def flats_(self) -> Flats:
        """The landmark flats in the coordinates of X."""
        check_is_fitted(self)
        return self._model.preparation.restore(self._model.spectral.features.flats_)

    def outlier_scores(self, X: Rows) -> Array:
        """How unusual each row of `X` (n, p), of the fit or new, is in its cluster: (n,), about 1 for most rows."""
        check_is_fitted(self)
        return open_new_rows(self, X).map(self._model.outlier_scores)

    @planned
    def plan(
        self,
        n_rows: int,
        n_columns: int,
        *,
        dtype: Any = np.float32,
        memory_limit: int | str = "1GB",
        device: str | None = None,
    ) -> Plan:
        """What `fit` would do with this many rows, how much memory it takes and about how long on this machine.

        Print it. `FLS(10, n_landmarks=500).plan(10**9, 80)` plans with these parameters, `FLS.plan` with defaults,
        `device="cuda"` for rows on a GPU. Memory is that of the largest dimension tried, time that of a middle one.
        """
        return plan_of(self, n_rows, n_columns, dtype=dtype, memory_limit=memory_limit, device=device)

    def _check_parameters(self, x: Array) -> None:
        """Raise if the parameters do not suit rows of the shape and dtype of `x`."""
        check_share("detect_outliers", self.detect_outliers)
        check_option("center", self.center, (True, False))
        check_option("standardise", self.standardise, (True, False, "auto"))
        if not is_auto(self.max_columns) and self.max_columns is not None:
            check_integer("max_columns", self.max_columns, low=2, hint='give a number, "auto", or None for no limit')
        if not is_auto(self.subspace_dim):
            check_integer("subspace_dim", self.subspace_dim, low=0)
        self._asked().check(x, max_columns=self._row_options().max_columns)


def cluster(prepared: PreparedRows, landmarks: LandmarkSetting, setting: Setting, feed: Feed) -> Clustering:
    """Fast landmark subspace clustering: the algorithm box of Wang and Lerman (2015), step by step.

    By default psi keeps only the nearest flats of each row, and cuts are compared on the graph between rows and
    landmarks; with the setting of `FLS.paper` each step is that of the paper.

    Parameters
    ----------
    prepared : PreparedRows
        Rows that are centred and projected; all rows of the feed, or a sample.
    landmarks : LandmarkSetting
        How the landmark flats are made: `setting.landmarks`, or `setting.further` for another set.
    setting : Setting
        Everything else; nothing is left to choose but between cuts of the same graph.
    feed : Feed
        All rows, for sums over blocks; `feed.rng` is the generator of all draws.
    """
    if setting.structure is not None:
        return draw_flats(setting.structure, prepared, setting, feed.rng)
    preparation = prepared.shaped_by(unit=landmarks.flats.unit, whiten=landmarks.flats.whiten)
    rows = preparation.shaped(prepared.rows)
    # 1, 2. Landmark points (spectral/landmarks.py) and a local best-fit flat at each (flats/neighborhoods.py).
    progress.stage("flats at landmarks", f"fitting flats at {landmarks.count:,} landmarks")
    features = landmarks.features(feed.rng).fit(rows)
    # 3. psi (n, D), exp(-dist^2 / sigma^2) to the flats, or weights of the nearest flats (features/psi.py).
    progress.stage("partition", f"choosing a partition of {len(rows):,} rows")
    psi = compute_psi(features, rows)
    # 4, 5. Degrees and leading singular vectors, from D x D sums over all rows (features/psi.py, spectral/spectrum.py).
    spectrum = leading_vectors(psi, setting.cut.n_computed, feed=feed, prepare=preparation)
    # 6. Unit rows of v_2, v_3, ... and k-means (selection/clustering.py, spectral/kmeans.py).
    found = replace(cut(psi, spectrum, rows, setting.cut, feed.rng), unit=landmarks.flats.unit)
    # Beyond the paper: K whole flats, if clusters are flat (selection/structure.py).
    if setting.flats is None:
        return found
    return prefer_whole_flats(found, prepared, setting.flat_sample, setting.flats, feed.rng)


def compare_with_other_landmarks(first: Clustering, prepared: PreparedRows, setting: Setting, feed: Feed) -> Consensus:
    """How far other landmarks agree with a clustering; if they do not, one clustering by several sets of them."""

    def again() -> Clustering:
        return cluster(prepared, setting.further.resampled(feed.rng), replace(setting, flats=None), feed)

    return find_consensus(first, prepared.rows, setting, again, feed.rng)
