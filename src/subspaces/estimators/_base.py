"""Spectral clustering of rows that a feature map describes: what FLS and its siblings share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from subspaces._core.arrays import Array, Indices, Labels, concatenate, follow, is_host, to_host, unit_rows
from subspaces._core.blocks import row_blocks
from subspaces._core.log import report
from subspaces._core.threads import mapped, n_threads
from subspaces._core.validation import check_integer, check_n_clusters, is_auto, warn_if_empty
from subspaces.estimators._fed import FedMixin
from subspaces.features import FeatureMap
from subspaces.features.base import stack
from subspaces.rows.feed import Feed, Rows, open_feed
from subspaces.rows.preparation import RowPreparation, prepare_rows
from subspaces.spectral.kernel_graph import (
    best_plain_partition,
    kernel_modularity,
    normalized,
    smallest_tie,
    with_constant,
)
from subspaces.spectral.modularity import cluster_shares, modularity, row_stochastic
from subspaces.spectral.partition import (
    Partition,
    PartitionChoice,
    assign,
    assign_embedded,
    choose_partition,
    inlier_rows,
    plain_partition,
    vector_counts,
)
from subspaces.spectral.spectrum import (
    Psi,
    Spectrum,
    added,
    balanced_sums,
    column_sums,
    compute_spectrum,
    degree_sums,
    embed,
    product,
    spectrum_of_sums,
)

R = TypeVar("R")
# Starts of k-means; and of each of several numbers of eigenvectors, where all that comes of them is refined.
N_STARTS = 10
N_STARTS_EACH = 2
# Rows that one thread sums up.
GROUP_ROWS = 8192
# Dense psi that is kept between passes over rows in memory.
KEPT_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """One clustering of rows by sparse features."""

    psi: csr_matrix  # (n, D)
    inliers: Indices
    distances: Array | None  # (n,), to the nearest landmark, where there are landmarks
    spectrum: Spectrum
    choice: PartitionChoice | None  # None where nothing was left to choose
    partition: Partition
    labels: Labels  # (n,)


class FeatureClustering(
    FedMixin,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ClusterMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    ABC,
):
    """Rows, a feature map, the eigenvectors of its normalised kernel, labels.

    An estimator of this kind says in `_fit_features` which map describes the rows and, where that matters, in
    `_prepare` what happens to rows first. Maps that keep few features of a row give sparse psi, whose partitions
    are compared by modularity; dense psi are walked in blocks and clustered as in the paper.
    """

    n_clusters: int | str
    n_components: int | str
    random_state: Any
    verbose: int

    # What to look at where clusters stay empty.
    _remedy = "look at sigma"
    # Whether the features stay what they are when all rows move: near the origin they lose no digits.
    _center_rows = False
    # Whether a given number of eigenvectors means k-means on these and no more, as in the literature.
    _plain_if_given = True
    _min_features = 1
    # What a good partition is: see `choose_partition`.
    _kind = "balanced"

    _feed: Feed
    _preparation: RowPreparation
    _features: FeatureMap

    @abstractmethod
    def _fit_features(self, rows: Array, rng: np.random.RandomState) -> FeatureMap:
        """The map of prepared rows (n, q), fitted."""

    def fit(self, X: Rows, y: None = None) -> Self:
        """Cluster the rows of `X` (n, p): an array, or whatever `subspaces.open_rows` takes."""
        feed = open_feed(self, X, rng=check_random_state(self.random_state), min_features=self._min_features)
        self._feed = feed
        try:
            rng = feed.rng
            self._check_parameters(feed.rows)
            rows = self._prepare(feed.rows, rng)
            self._features = self._fit_features(rows, rng)
            if self._features.is_sparse:
                self._cluster_sparse(rows, rng)
            else:
                self._cluster_dense(rows, rng)
            self.n_components_ = self._n_features_out = self._partition.n_vectors
            self.eigenvalues_ = np.concatenate([[1.0], self._spectrum.eigenvalues])
            self._describe_clusters(rows)
            warn_if_empty(self.labels_, self.n_clusters_, self._remedy)
        finally:
            # Rows, and what reads them, are not the estimator's to keep.
            del self._feed
        self._deliver(feed)
        return self

    def transform(self, X: Rows) -> Array:
        """Spectral embedding of the rows of `X` (n, p), unit rows: (n, n_components_)."""
        return self._map(X, self._embedding_of)

    def _labels_of(self, x: Array) -> Labels:
        # Maps that only know NumPy leave the device for it.
        return follow(self._nearest_clusters(self._preparation(x)), x)

    def _embedding_of(self, x: Array) -> Array:
        blocks = [embed(psi, self._spectrum, self.n_components_) for psi in self._blocks(self._preparation(x))]
        return follow(unit_rows(concatenate(blocks)), x)

    def score(self, X: Rows, y: None = None) -> float:
        """Modularity of the predicted labels on the graph of the kernel, for rows `X` (n, p); no labels are needed.

        Where features are landmarks, the graph is that between rows and landmarks. Larger is better, and values for
        different landmarks compare, so it serves a grid search over them; a narrower kernel, or a smaller
        `n_nearest`, raises it by itself.
        """
        return self._score(X, self._modularity_sums)

    def _score(self, X: Rows, function: Callable[[Array], tuple[Any, ...]]) -> float:
        """Modularity from sums over the rows of `X` (n, p): their number and n times the shares (K, D)."""
        check_is_fitted(self)
        count, sums = open_feed(self, X).sum(function, "score")
        measure = kernel_modularity if self._features.is_signed else modularity
        return measure(sums / float(count))

    def _modularity_sums(self, x: Array) -> tuple[Any, ...]:
        rows = self._preparation(to_host(x))
        return self._sums_of_clusters(rows, self._nearest_clusters(rows))

    def _sums_of_clusters(self, rows: Array, found: Labels) -> tuple[Any, ...]:
        """Number of prepared rows (n, q), and n times the shares (K, D) of the clusters (n,) they are in."""
        signed = self._features.is_signed
        sums = np.zeros(())
        for psi in self._blocks(rows):
            labels, found = found[: psi.shape[0]], found[psi.shape[0] :]
            weights = normalized(psi, self._spectrum) if signed else row_stochastic(psi)
            sums = sums + len(labels) * cluster_shares(weights, labels, self.n_clusters_)
        return np.asarray(float(len(rows))), sums

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_parameters(self, x: Array) -> None:
        self.n_clusters_ = check_n_clusters(self.n_clusters, x)
        if not is_auto(self.n_components):
            check_integer("n_components", self.n_components, low=1)

    def _prepare(self, x: Array, rng: np.random.RandomState) -> Array:
        """Rows (n, q) as the features see them."""
        moments = self._feed.moments
        self._preparation = prepare_rows(x, center=self._center_rows, unit=False, max_columns=None, moments=moments)
        return self._preparation(x)

    def _nearest_clusters(self, rows: Array) -> Labels:
        """Cluster (n,) of each prepared row (n, q)."""
        return concatenate([assign(psi, self._spectrum, self._partition) for psi in self._blocks(rows)])

    def _prepare_landmarks(self, landmarks: str | ArrayLike, count: int, rows: Array) -> tuple[str | ArrayLike, int]:
        """Landmarks for prepared rows (n, q), and how many: the user's own are prepared as rows are."""
        if isinstance(landmarks, str):
            return landmarks, count
        points = self._preparation(np.asarray(landmarks, rows.dtype))
        return points, len(points)

    def _blocks(self, rows: Array) -> Iterator[Psi]:
        """psi of prepared rows (n, q), one block after another."""
        return (with_constant(psi, self._tie) for psi in self._features.blocks(rows))

    def _cluster_dense(self, rows: Array, rng: np.random.RandomState) -> None:
        """The paper's spectral step over all features, in passes over blocks of rows."""
        self._tie = smallest_tie(lambda: self._features.blocks(rows)) if self._features.is_signed else 0.0
        counts = self._dense_counts() if is_auto(self.n_components) else [int(self.n_components)]
        report(self.verbose, "eigenvectors of %d features of %d rows", self._features.n_components, len(rows))
        psi = DenseBlocks(self._features, rows, self._tie)
        self._spectrum = self._dense_spectrum(psi, max(counts))
        embedding, degrees, distances = self._embedded(psi)
        self._partition = best_plain_partition(
            embedding,
            degrees,
            self._spectrum.eigenvalues,
            self.n_clusters_,
            counts=counts,
            n_starts=N_STARTS,
            rng=rng,
        )
        self.labels_ = assign_embedded(embedding, self._partition)
        if distances is not None:
            self.outlier_scores_ = distances

    def _embedded(self, psi: DenseBlocks) -> tuple[Array, Array, Array | None]:
        """Embedding (n, q) and degrees (n,) of rows and, where there are landmarks, how far they are (n,)."""
        spectrum = self._spectrum
        parts = psi.map(lambda block, far: (embed(block, spectrum), product(block, spectrum.degree), far))
        embedding, degrees, distances = zip(*parts, strict=True)
        far = None if distances[0] is None else np.concatenate(distances)
        return np.concatenate(embedding), np.concatenate(degrees), far

    def _dense_spectrum(self, psi: DenseBlocks, n_vectors: int) -> Spectrum:
        """The spectrum of all rows, by two passes over them."""
        if self._feed.is_sampled:
            blocks = FeatureBlocks(self._preparation, self._features, self._tie)
            (total,) = self._feed.sum(partial(column_sums_of, psi=blocks), "degrees")
            (gram,) = self._feed.sum(partial(degree_sums_of, psi=blocks, degree=total), "products")
        else:
            (total,) = added(psi.map(lambda block, _: (column_sums(block),)))
            (gram,) = added(psi.map_groups(lambda group: added((degree_sums(block, total),) for block, _ in group)))
        return spectrum_of_sums(total, gram, n_vectors, balanced=False, dtype=psi.rows.dtype)

    def _sparse_spectrum(self, psi: csr_matrix, features: FeatureMap, n_vectors: int) -> Spectrum:
        """The spectrum of all rows, of which psi (m, D) are those at hand."""
        if not self._feed.is_sampled:
            return compute_spectrum(lambda: iter((psi,)), n_vectors, balanced=True)
        blocks = FeatureBlocks(self._preparation, features)
        total, gram = self._feed.sum(partial(balanced_sums_of, psi=blocks), "products")
        return spectrum_of_sums(total, gram, n_vectors, balanced=True, dtype=psi.dtype)

    def _dense_counts(self) -> list[int]:
        """Numbers of eigenvectors to try where psi is dense."""
        return vector_counts(self.n_clusters_)

    def _cluster_sparse(self, rows: Array, rng: np.random.RandomState) -> None:
        """The same over the few features that each row keeps, which stay in memory."""
        self._tie = 0.0
        self._keep_draw(self._draw(self._features, rows, rng))

    def _keep_draw(self, draw: Draw) -> None:
        """Store a clustering."""
        self._spectrum, self._partition, self.labels_ = draw.spectrum, draw.partition, draw.labels
        if draw.distances is not None:
            self.outlier_scores_ = draw.distances

    def _draw(self, features: FeatureMap, rows: Array, rng: np.random.RandomState) -> Draw:
        """Rows (n, q) clustered by the few features of them that `features` keep."""
        blocks, nearest = zip(*features.described_blocks(rows), strict=True)
        psi = stack(blocks)
        distances = None if nearest[0] is None else np.concatenate(nearest)
        inliers = np.arange(len(rows)) if distances is None else inlier_rows(distances, rows)
        report(self.verbose, "choosing a partition of %d rows", len(rows))
        counts = vector_counts(self.n_clusters_) if is_auto(self.n_components) else [int(self.n_components)]
        spectrum = self._sparse_spectrum(psi, features, max(counts))
        choice = None
        if self._plain_if_given and not is_auto(self.n_components):
            partition = plain_partition(embed(psi, spectrum), self.n_clusters_, n_starts=N_STARTS, rng=rng)
        else:
            choice = choose_partition(
                psi,
                spectrum,
                inliers,
                self.n_clusters_,
                counts=counts,
                n_starts=N_STARTS_EACH if features.n_components < len(rows) else N_STARTS,
                # Where every row is a landmark, its own feature would only confirm the label it has.
                polish=features.n_components < len(rows),
                rng=rng,
                kind=self._kind,
            )
            partition = self._final_partition(psi, spectrum, choice, rng)
        labels = assign(psi, spectrum, partition)
        return Draw(psi, inliers, distances, spectrum, choice, partition, labels)

    def _final_partition(
        self, psi: csr_matrix, spectrum: Spectrum, choice: PartitionChoice, rng: np.random.RandomState
    ) -> Partition:
        """The partition to take; psi (n, D) are all rows."""
        return choice.winner

    def _describe_clusters(self, rows: Array) -> None:
        """What an estimator tells about its clusters beside their labels."""


class DenseBlocks:
    """Dense psi of prepared rows (n, q), in blocks, pass after pass; some of them are kept from the first pass on."""

    def __init__(self, features: FeatureMap, rows: Array, tie: float) -> None:
        self.features, self.rows, self.tie = features, rows, tie
        self._kept: dict[int, list[tuple[Psi, Array | None]]] = {}
        self._room = KEPT_BYTES

    def map(self, function: Callable[[Psi, Array | None], R]) -> list[R]:
        """What `function` gives for psi of each block and the distances (b,) to the nearest landmark, if any."""
        return list(chain.from_iterable(self.map_groups(lambda group: [function(*block) for block in group])))

    def map_groups(self, function: Callable[[list[tuple[Psi, Array | None]]], R]) -> Iterator[R]:
        """The same for the blocks of each group of rows."""
        return in_groups(lambda group: function(self._blocks(group)), self.rows, self.features)

    def _blocks(self, group: slice) -> list[tuple[Psi, Array | None]]:
        if group.start in self._kept:
            return self._kept[group.start]
        found = self.features.described_blocks(self.rows[group])
        blocks = [(with_constant(psi, self.tie), far) for psi, far in found]
        self._room -= sum(psi.nbytes for psi, _ in blocks)
        if self._room >= 0:
            self._kept[group.start] = blocks
        return blocks


@dataclass(frozen=True, slots=True, eq=False)
class FeatureBlocks:
    """psi of the rows that users have, one block after another."""

    preparation: RowPreparation
    features: FeatureMap
    tie: float = 0.0

    def sums(self, x: Array, function: Callable[[Any], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Sums over blocks of what `function` makes of psi, for the rows of `x` (b, p) of any array library."""
        rows = self.preparation(x)
        # Few features of a row are found by threads of their own.
        if not is_host(rows) or self.features.is_sparse:
            return self._sums(rows, function)
        return added(in_groups(lambda group: self._sums(rows[group], function), rows, self.features))

    def _sums(self, rows: Array, function: Callable[[Any], tuple[Any, ...]]) -> tuple[Any, ...]:
        return added(function(with_constant(psi, self.tie)) for psi in self.features.blocks(rows))


def in_groups(function: Callable[[slice], R], rows: Array, features: FeatureMap) -> Iterator[R]:
    """What `function` gives for groups of rows (n, q), one after another; side by side where the features allow it."""
    groups = list(row_blocks(len(rows), 1, block_rows=GROUP_ROWS))
    at_once = n_threads() if features.in_threads else 1
    for first in range(0, len(groups), at_once):
        yield from mapped(function, groups[first : first + at_once])


def column_sums_of(x: Array, *, psi: FeatureBlocks) -> tuple[Any, ...]:
    """The sum (D,) of psi over the rows of `x` (b, p)."""
    return psi.sums(x, lambda block: (column_sums(block),))


def degree_sums_of(x: Array, *, psi: FeatureBlocks, degree: NDArray[np.float64]) -> tuple[Any, ...]:
    """The sum (D, D) of psi psi^T over the degree."""
    return psi.sums(x, lambda block: (degree_sums(block, degree),))


def balanced_sums_of(x: Array, *, psi: FeatureBlocks) -> tuple[Any, ...]:
    """Both, with balanced weights."""
    return psi.sums(x, balanced_sums)


def unless_auto(value: Any) -> Any:
    """`value`, or None where it is left to the method."""
    return None if is_auto(value) else value
