"""The choice of a partition: candidates from k-means and from joined parts, compared without labels.

Two figures compare them: modularity (spectral/modularity.py), the finer one, which prefers clusters of equal size, and
separation (spectral/joins.py), the coarser one, which cuts weak joins whatever the sizes. The partition of the largest
modularity wins unless another is clearly better separated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

import numpy as np
from scipy.sparse import csr_matrix

from subspaces._core.arrays import Array, Indices, Labels, unit_rows
from subspaces._core.threads import generators, mapped
from subspaces.metrics.labels import labels_agreement
from subspaces.selection.comparison import clearly_positive
from subspaces.selection.limits import EQUAL, FINAL_ROUNDS, N_FINALISTS
from subspaces.selection.thresholds import LEAST_ROWS, SEPARATION_MARGIN, SURE_AGREEMENT
from subspaces.spectral.joins import (
    PartGraph,
    join_by_modularity,
    join_by_strength,
    part_graphs,
    separation,
)
from subspaces.spectral.kmeans import kmeans
from subspaces.spectral.modularity import cluster_shares, modularity, modularity_terms
from subspaces.spectral.partition import (
    Partition,
    assign,
    assign_each,
    at_most,
    distinct,
    partition_of_labels,
    refine,
    rounded_modularity,
    settle,
)
from subspaces.spectral.spectrum import Spectrum, embed
from subspaces.spectral.thresholds import DIGITS, MAX_FIT_ROWS, SMALL_CLUSTER, TRIAL_ROUNDS

# What a good partition is: the largest modularity, the best separation, or whichever the rows support.
KINDS = ("auto", "balanced", "density")


@dataclass(frozen=True, slots=True)
class PartitionChoice:
    """All candidates, that of the largest modularity, the best separated one, and the winner."""

    winner: Partition
    balanced: Partition
    density: Partition
    candidates: list[Partition]
    graphs: tuple[PartGraph, ...] = ()  # on which separation was measured; empty if it was not
    sample: Indices | None = None  # the rows of the graphs

    @property
    def kind(self) -> str:
        """What decided: "balanced" or "density"."""
        return "balanced" if self.winner is self.balanced else "density"

    def other_labels(self, psi: csr_matrix, spectrum: Spectrum) -> Labels:
        """Labels (n,) of the partition that did not win: the best separated one, or that of the largest modularity."""
        return assign(psi, spectrum, self.density if self.kind == "balanced" else self.balanced)


def choose_partition(
    psi: csr_matrix,
    spectrum: Spectrum,
    inliers: Indices,
    n_clusters: int,
    *,
    counts: Sequence[int],
    n_starts: int,
    polish: bool,
    rng: np.random.RandomState,
    kind: str = "auto",
    n_draws: int = 2,
    given: Sequence[Labels] = (),
) -> PartitionChoice:
    """The best partition over numbers of eigenvectors `counts`, starts of k-means and joined parts.

    The rows of `psi` (n, D) sum to one; modularity is computed on the rows `inliers`. With `polish`, candidates are
    refined on the landmarks. `kind` "balanced" compares modularity and "density" separation; "auto" compares modularity
    unless its winner cuts clearly stronger joins than another candidate. Parts are made `n_draws` times in each way.
    If psi has several sets of landmarks, `given` are the labels (n,) of single ones: candidates of separation, too.
    Joins of several sets are not weak by chance, so no margin is needed.
    """
    sample = psi[at_most(inliers, MAX_FIT_ROWS, rng)]
    embedding = embed(sample, spectrum)
    tried = sorted({min(count, embedding.shape[1]) for count in counts})

    def starts(draw: tuple[int, np.random.RandomState]) -> tuple[list[Partition], Labels]:
        count, own = draw
        runs = kmeans(unit_rows(embedding[:, :count]), n_clusters, n_starts=n_starts, rng=own, max_iter=50)
        return [Partition(n_clusters, count, centers) for centers in runs.points], runs.labels

    runs = mapped(starts, zip(tried, generators(rng, len(tried)), strict=True))
    candidates = list(chain.from_iterable(found for found, _ in runs))
    index = at_most(np.arange(psi.shape[0]), MAX_FIT_ROWS, rng)
    everyone = psi[index]
    coordinates = embed(everyone, spectrum) if polish or kind != "balanced" else embedding
    graphs = []
    if polish or kind != "balanced":
        graphs = part_graphs(everyone, coordinates, n_clusters, rng, n_draws=n_draws)
    merged = joined_partitions(graphs, everyone, n_clusters, spectrum, strong=False)
    if polish:
        candidates = mapped(lambda each: refine(each, sample, spectrum, n_rounds=TRIAL_ROUNDS), candidates + merged)
        balanced = _best_polished(candidates, psi[inliers], spectrum)
    else:
        candidates = _measured(candidates, np.concatenate([labels for _, labels in runs]), sample)
        # A graph in more pieces than clusters has as many eigenvalues of one; its first vectors are arbitrary.
        in_pieces = (spectrum.eigenvalues > 1 - EQUAL).sum() >= n_clusters
        best = max(candidates, key=rounded_modularity)
        balanced = best if in_pieces else _fewest_vectors(candidates, sample, spectrum)
    if kind == "balanced" or n_clusters == 1:
        return PartitionChoice(balanced, balanced, balanced, candidates)
    strong = joined_partitions(graphs, everyone, n_clusters, spectrum, strong=True)
    known = [partition_of_labels(everyone, each[index], n_clusters, spectrum, "one set of landmarks") for each in given]
    strong, known = ([settle(each, everyone, spectrum) for each in some] for some in (strong, known))
    merged = [] if polish else [settle(each, everyone, spectrum) for each in merged]
    candidates += merged + strong + known
    balanced, *candidates = _separated([balanced, *candidates], graphs, everyone, coordinates)
    # If all clusters are too small to be judged, this falls back to modularity.
    density = max(balanced, *candidates, key=_separation)
    if kind == "auto" and not (
        _is_clearly_separated(density, balanced, graphs, everyone, spectrum)
        if given
        else _is_separated(density, balanced, sample, spectrum)
    ):
        return PartitionChoice(balanced, balanced, density, candidates, tuple(graphs), index)
    if density.landmark_scores is not None:
        density = replace(settle(density, psi, spectrum), separation=density.separation)
    return PartitionChoice(density, balanced, density, candidates, tuple(graphs), index)


def joined_partitions(
    graphs: Sequence[PartGraph], psi: csr_matrix, n_clusters: int, spectrum: Spectrum, *, strong: bool
) -> list[Partition]:
    """Partitions from many small parts, joined two at a time: the strongest join, or the largest gain of modularity.

    k-means with K centres cuts large clusters and misses small ones after an unlucky start; of many parts each belongs
    to one cluster, whatever the start. The graphs were made from psi (n, D).
    """
    join, name = (join_by_strength, "strength") if strong else (join_by_modularity, "modularity")
    partitions = []
    for graph in graphs:
        groups = join(graph, n_clusters)
        labels = groups[graph.labels].astype(np.int32)
        partitions.append(partition_of_labels(psi, labels, n_clusters, spectrum, f"parts joined by {name}"))
    return partitions


def _measured(partitions: Sequence[Partition], labels: Labels, psi: csr_matrix) -> list[Partition]:
    """`partitions` with the modularity of their labels (m, n) on psi (n, D)."""
    k = partitions[0].n_clusters
    first, same = distinct(labels, k)
    values = [modularity(cluster_shares(psi, labels[i], k)) for i in first]
    return [replace(each, modularity=values[i]) for each, i in zip(partitions, same, strict=True)]


def _separated(
    partitions: Sequence[Partition], graphs: list[PartGraph], psi: csr_matrix, embedding: Array
) -> list[Partition]:
    """`partitions` with their separation on the graphs of psi (n, D); -inf if a cluster is too small."""
    k = partitions[0].n_clusters
    labels = assign_each(psi, embedding, partitions)
    first, same = distinct(labels, k)
    labels = labels[first]
    smallest = np.min([(labels == j).sum(axis=1) for j in range(k)], axis=0)
    large = smallest >= max(SMALL_CLUSTER / k * labels.shape[1], LEAST_ROWS)
    values = np.full(len(labels), -np.inf)
    if large.any():
        values[large] = separation(graphs, labels[large], k)
    return [replace(each, separation=float(values[i])) for each, i in zip(partitions, same, strict=True)]


def _is_separated(density: Partition, balanced: Partition, psi: csr_matrix, spectrum: Spectrum) -> bool:
    """Whether a partition of psi (n, D), one set of landmarks, is another one and better separated by a margin."""
    if density.separation <= balanced.separation + SEPARATION_MARGIN:
        return False
    return labels_agreement(*(assign(psi, spectrum, each) for each in (balanced, density))) < SURE_AGREEMENT


def _is_clearly_separated(
    density: Partition, balanced: Partition, graphs: list[PartGraph], psi: csr_matrix, spectrum: Spectrum
) -> bool:
    """Whether one partition is clearly better separated than another, over the ways to make parts of psi (n, D)."""
    labels = np.array([assign(psi, spectrum, each) for each in (density, balanced)])
    values = np.array([separation([graph], labels, density.n_clusters) for graph in graphs])
    return np.isfinite(density.separation - balanced.separation) and clearly_positive(values[:, 0] - values[:, 1])


def _separation(partition: Partition) -> float:
    return round(float(partition.separation), DIGITS)


def _best_polished(candidates: Sequence[Partition], psi: csr_matrix, spectrum: Spectrum) -> Partition:
    """The candidate of the largest modularity on psi (n, D), refined; joined parts must clearly beat k-means."""
    best = []
    for _, group in groupby(candidates, key=lambda each: each.origin):
        finalists = sorted(group, key=rounded_modularity)[-N_FINALISTS:]
        refined = mapped(lambda each: refine(each, psi, spectrum, n_rounds=FINAL_ROUNDS), finalists)
        best.append(max(refined, key=rounded_modularity))
    plain, joined = best
    return plain if _as_good(plain, joined, psi, spectrum) else joined


def _fewest_vectors(candidates: Sequence[Partition], psi: csr_matrix, spectrum: Spectrum) -> Partition:
    """The candidate with the fewest eigenvectors whose modularity on psi (n, D) is not clearly below the largest."""
    best = max(candidates, key=rounded_modularity)
    by_count = groupby(candidates, key=lambda each: each.n_vectors)
    per_count = [max(group, key=rounded_modularity) for _, group in by_count]
    return next((each for each in per_count if _as_good(each, best, psi, spectrum)), best)


def _as_good(partition: Partition, best: Partition, psi: csr_matrix, spectrum: Spectrum) -> bool:
    """Whether `partition` is within a few standard errors of `best`, compared row by row."""
    terms, best_terms = (
        modularity_terms(psi, assign(psi, spectrum, each), each.n_clusters) for each in (partition, best)
    )
    return not clearly_positive(best_terms - terms, offset=-(10.0**-DIGITS))
