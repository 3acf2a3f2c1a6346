"""From an embedding to labels: candidate partitions, refined on the landmarks, one chosen without labels.

Candidates come from k-means with several numbers of eigenvectors and from many small parts that are joined. Two
figures judge them: modularity (`modularity.py`), the finer one, which prefers clusters of equal size, and separation
(`joins.py`), the coarser one, which cuts weak joins wherever they are. The partition of the largest modularity is taken
unless another is clearly better separated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, groupby

import numpy as np
from scipy.sparse import csr_matrix

from subspaces._core.arrays import Array, Indices, Labels, namespace, unit_rows, within_mad
from subspaces._core.threads import generators, mapped
from subspaces.flats.flats import Flats
from subspaces.metrics.labels import labels_agreement
from subspaces.spectral.joins import (
    SMALL_CLUSTER,
    PartGraph,
    join_by_modularity,
    join_by_strength,
    part_graphs,
    separation,
)
from subspaces.spectral.kmeans import kmeans, nearest_centers
from subspaces.spectral.modularity import cluster_shares, landmark_scores, modularity, modularity_terms
from subspaces.spectral.spectrum import AnyPsi, Spectrum, embed, product

# k-means is fitted on at most this many rows; its centres do not move visibly with more.
MAX_FIT_ROWS = 6000
# Partitions whose modularities differ by less than this many standard errors are equally good.
N_ERRORS = 2.0
# Rounds of refinement for every candidate on a sample, and for the best few of them on all rows.
TRIAL_ROUNDS = 5
N_FINALISTS = 2
FINAL_ROUNDS = 20
# How much better separated a partition must be than the one of the largest modularity.
SEPARATION_MARGIN = 0.2
# Joins between few rows are trusted where parts made in different ways give the same clusters, up to this Rand index.
SURE_AGREEMENT = 0.8
# Partitions of inliers this much alike differ in details, of which modularity is the better judge.
SAME_AGREEMENT = 0.9
# Fewer rows of a sample are not taken for a cluster.
FEW_ROWS = 10
# How clusters are told apart: by modularity, by separation, or by what the rows speak for.
KINDS = ("auto", "balanced", "density")
# Figures that are the same to this many digits are equal: rounding must not choose between the same partition under two
# orders of its clusters, or the labels of a row would depend on the blocks that rows are read in.
DIGITS = 9
# Eigenvalues of one are no farther from it.
EQUAL = 1e-5
# Rows farther from every flat than this many deviations do not vote.
ROW_DEVIATIONS = 3.0


@dataclass(frozen=True, slots=True)
class Partition:
    """How a row gets its label: by the nearest centre of its embedding or, where there are scores, by its landmarks."""

    n_clusters: int
    n_vectors: int
    centers: Array | None  # (K, n_vectors), of unit rows of the embedding
    landmark_scores: Array | None = None  # (D, K): a row takes the label of the largest psi @ landmark_scores
    origin: str = "k-means"
    modularity: float = float("nan")
    separation: float = float("nan")
    flats: tuple[Flats, ...] | None = None  # (K,), where clusters are flat as a whole: rows take the nearest


@dataclass(frozen=True, slots=True)
class PartitionChoice:
    """Candidates, the one of the largest modularity, the best separated one, and the winner."""

    winner: Partition
    balanced: Partition
    density: Partition
    candidates: list[Partition]
    agreement: float = 1.0  # between partitions whose parts were made in different ways and joined by strength


def assign(psi: AnyPsi, spectrum: Spectrum, partition: Partition) -> Labels:
    """Labels (n,) of rows, seen or new, from their psi (n, D)."""
    if partition.landmark_scores is not None:
        scores = product(psi, partition.landmark_scores)
        xp = namespace(scores)
        return xp.astype(xp.argmax(scores, axis=1), xp.int32)
    return assign_embedded(embed(psi, spectrum, partition.n_vectors), partition)


def assign_embedded(embedding: Array, partition: Partition) -> Labels:
    """Labels (n,) by the nearest centre, from the embedding (n, at least n_vectors) of rows."""
    assert partition.centers is not None
    return nearest_centers(unit_rows(embedding[:, : partition.n_vectors]), partition.centers)


def partition_of_labels(psi: csr_matrix, labels: Labels, n_clusters: int, spectrum: Spectrum, origin: str) -> Partition:
    """The partition in which landmarks belong to clusters as the rows of psi (n, D) that have them do.

    Landmarks of rows without a cluster, labelled -1, count the less.
    """
    shares = cluster_shares(psi, np.where(labels < 0, n_clusters, labels), n_clusters + 1)
    scores = landmark_scores(shares)[:, :n_clusters].astype(psi.dtype)
    return Partition(n_clusters, spectrum.vectors.shape[1], None, scores, origin)


def plain_partition(embedding: Array, n_clusters: int, *, n_starts: int, rng: np.random.RandomState) -> Partition:
    """The paper's last step: k-means on the unit rows of v_2, ..., the best of `n_starts` runs by its own inertia."""
    runs = kmeans(unit_rows(embedding), n_clusters, n_starts=n_starts, rng=rng)
    return Partition(n_clusters, embedding.shape[1], runs.points[int(runs.inertia.argmin())])


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
) -> PartitionChoice:
    """The best partition over numbers of eigenvectors `counts`, starts of k-means and joined parts.

    `psi` (n, D) has rows that sum to one; `inliers` are the rows that vote for modularity. With `polish`, candidates
    are refined on the landmarks. `kind` "balanced" goes by modularity and "density" by separation; "auto" by modularity
    unless that cuts joins that are clearly stronger than need be. Parts are made `n_draws` times in each way.
    """
    sample = psi[at_most(inliers, MAX_FIT_ROWS, rng)]
    embedding = embed(sample, spectrum)
    tried = sorted({min(count, embedding.shape[1]) for count in counts})

    def starts(draw: tuple[int, np.random.RandomState]) -> list[Partition]:
        count, own = draw
        runs = kmeans(unit_rows(embedding[:, :count]), n_clusters, n_starts=n_starts, rng=own, max_iter=50)
        return [Partition(n_clusters, count, centers) for centers in runs.points]

    candidates = list(chain.from_iterable(mapped(starts, zip(tried, generators(rng, len(tried)), strict=True))))
    everyone = psi[at_most(np.arange(psi.shape[0]), MAX_FIT_ROWS, rng)]
    graphs = []
    if polish or kind != "balanced":
        graphs = part_graphs(everyone, embed(everyone, spectrum), n_clusters, rng, n_draws=n_draws)
    merged = joined_partitions(graphs, everyone, n_clusters, spectrum, strong=False)
    if polish:
        candidates = mapped(lambda each: refine(each, sample, spectrum, n_rounds=TRIAL_ROUNDS), candidates + merged)
        balanced = _best_polished(candidates, psi[inliers], spectrum)
    else:
        found = (assign_embedded(embedding, each) for each in candidates)
        shares = (cluster_shares(sample, labels, n_clusters) for labels in found)
        candidates = [replace(each, modularity=modularity(own)) for each, own in zip(candidates, shares, strict=True)]
        # A graph in more pieces than clusters has eigenvalue one as often, and its first few vectors say nothing.
        in_pieces = (spectrum.eigenvalues > 1 - EQUAL).sum() >= n_clusters
        balanced = max(candidates, key=_modularity) if in_pieces else _fewest_vectors(candidates, sample, spectrum)
    if kind == "balanced" or n_clusters == 1:
        return PartitionChoice(balanced, balanced, balanced, candidates)
    strong = joined_partitions(graphs, everyone, n_clusters, spectrum, strong=True)
    strong = [settle(each, everyone, spectrum) for each in strong]
    merged = [] if polish else [settle(each, everyone, spectrum) for each in merged]
    candidates += merged + strong
    balanced, *candidates = (_separated(each, graphs, everyone, spectrum) for each in (balanced, *candidates))
    # Where clusters are too small for any to be judged, modularity has the word.
    density = max(balanced, *candidates, key=_separation)
    agreement = _agreement(strong, everyone, spectrum)
    if kind == "auto" and not (
        density.separation > balanced.separation + SEPARATION_MARGIN
        and (polish or agreement >= SURE_AGREEMENT)
        and _agreement([balanced, density], sample, spectrum) < SAME_AGREEMENT
    ):
        return PartitionChoice(balanced, balanced, density, candidates, agreement)
    if density.landmark_scores is not None:
        density = replace(settle(density, psi, spectrum), separation=density.separation)
    return PartitionChoice(density, balanced, density, candidates, agreement)


def joined_partitions(
    graphs: Sequence[PartGraph], psi: csr_matrix, n_clusters: int, spectrum: Spectrum, *, strong: bool
) -> list[Partition]:
    """Partitions made from many small parts, joined two at a time where the join is `strong` or modularity gains most.

    k-means with K centres cuts large clusters and misses small ones when its start is unlucky; many parts hold no more
    than one cluster each, whatever the start. The graphs were made from psi (n, D).
    """
    join, name = (join_by_strength, "strength") if strong else (join_by_modularity, "modularity")
    partitions = []
    for graph in graphs:
        groups = join(graph, n_clusters)
        labels = groups[graph.labels].astype(np.int32)
        partitions.append(partition_of_labels(psi, labels, n_clusters, spectrum, f"parts joined by {name}"))
    return partitions


def _separated(partition: Partition, graphs: list[PartGraph], psi: csr_matrix, spectrum: Spectrum) -> Partition:
    """`partition` with its separation on the graphs of psi (n, D); none where a cluster is too small to be one."""
    labels = assign(psi, spectrum, partition)
    sizes = np.bincount(labels, minlength=partition.n_clusters)
    if sizes.min() < max(SMALL_CLUSTER / partition.n_clusters * len(labels), FEW_ROWS):
        return replace(partition, separation=-np.inf)
    return replace(partition, separation=separation(graphs, labels, partition.n_clusters))


def _separation(partition: Partition) -> float:
    return round(float(partition.separation), DIGITS)


def _agreement(partitions: Sequence[Partition], psi: csr_matrix, spectrum: Spectrum) -> float:
    """The mean adjusted Rand index between any two partitions of the rows of psi (n, D)."""
    labels = [assign(psi, spectrum, each) for each in partitions]
    return float(np.mean([labels_agreement(*pair) for pair in combinations(labels, 2)]))


def _modularity(partition: Partition) -> float:
    return round(float(partition.modularity), DIGITS)


def _best_polished(candidates: Sequence[Partition], psi: csr_matrix, spectrum: Spectrum) -> Partition:
    """The candidate of the largest modularity on psi (n, D), refined; joined parts must clearly beat k-means."""
    best = []
    for _, group in groupby(candidates, key=lambda each: each.origin):
        finalists = sorted(group, key=_modularity)[-N_FINALISTS:]
        refined = mapped(lambda each: refine(each, psi, spectrum, n_rounds=FINAL_ROUNDS), finalists)
        best.append(max(refined, key=_modularity))
    plain, joined = best
    return plain if _as_good(plain, joined, psi, spectrum) else joined


def _fewest_vectors(candidates: Sequence[Partition], psi: csr_matrix, spectrum: Spectrum) -> Partition:
    """The candidate with the fewest eigenvectors whose modularity on psi (n, D) is not clearly below the largest."""
    best = max(candidates, key=_modularity)
    per_count = [max(group, key=_modularity) for _, group in groupby(candidates, key=lambda each: each.n_vectors)]
    return next((each for each in per_count if _as_good(each, best, psi, spectrum)), best)


def at_most(index: Indices, count: int, rng: np.random.RandomState) -> Indices:
    """`count` of the indices (n,) at random, or all where there are no more."""
    return index if len(index) <= count else rng.choice(index, count, replace=False)


def _as_good(partition: Partition, best: Partition, psi: csr_matrix, spectrum: Spectrum) -> bool:
    """Whether `partition` is within a few standard errors of `best`, compared row by row."""
    terms, best_terms = (
        modularity_terms(psi, assign(psi, spectrum, each), each.n_clusters) for each in (partition, best)
    )
    deficit = best_terms - terms
    return bool(deficit.mean() <= N_ERRORS * deficit.std() / np.sqrt(len(deficit)) + 10.0**-DIGITS)


def inlier_rows(distances: Array, rows: Array) -> Indices:
    """Indices of the rows whose distance (n,) to the nearest flat is not far above the usual."""
    scale = float(np.sqrt(np.einsum("np,np->", rows, rows, dtype=np.float64) / len(rows)))
    return np.flatnonzero(within_mad(distances, width=ROW_DEVIATIONS, scale=scale))


def vector_counts(n_clusters: int) -> list[int]:
    """Numbers of eigenvectors worth trying for `n_clusters` clusters.

    K - 1 separate K clean clusters; clusters of several parts, or directions that cut across them, need more.
    """
    k = n_clusters
    if k < 20:
        return sorted({k - 1, k, k + 1, k + 2, k + 4, int(1.6 * k), 2 * k} - {0})
    return [k - 1, k, k + 2, int(1.25 * k), int(1.6 * k)]


def few_vector_counts(n_clusters: int) -> list[int]:
    """Numbers of eigenvectors that are enough to compare settings."""
    k = n_clusters
    return sorted({max(1, k - 1), k + 1, max(2, int(1.6 * k))})


def refine(partition: Partition, psi: csr_matrix, spectrum: Spectrum, *, n_rounds: int) -> Partition:
    """The round of the largest modularity, among `n_rounds` in which every row of psi (n, D) takes the cluster that its
    landmarks belong to most: most rounds gain, but they can drain a small cluster.
    """
    return max(_rounds(partition, psi, spectrum, n_rounds), key=_modularity)


def settle(partition: Partition, psi: csr_matrix, spectrum: Spectrum) -> Partition:
    """A few such rounds, whatever modularity says, as long as no cluster loses all its rows."""
    return list(_rounds(partition, psi, spectrum, TRIAL_ROUNDS))[-1]


def _rounds(partition: Partition, psi: csr_matrix, spectrum: Spectrum, n_rounds: int) -> Iterator[Partition]:
    """`partition` and what up to `n_rounds` rounds make of it, until nothing moves or a cluster is lost."""
    labels = assign(psi, spectrum, partition)
    shares = cluster_shares(psi, labels, partition.n_clusters)
    yield replace(partition, modularity=modularity(shares))
    occupied = _occupied(labels, partition.n_clusters)
    for _ in range(n_rounds):
        partition = replace(partition, landmark_scores=landmark_scores(shares).astype(psi.dtype))
        before, labels = labels, assign(psi, spectrum, partition)
        if (before == labels).all() or _occupied(labels, partition.n_clusters) < occupied:
            return
        shares = cluster_shares(psi, labels, partition.n_clusters)
        yield replace(partition, modularity=modularity(shares))


def _occupied(labels: Labels, n_clusters: int) -> int:
    """How many clusters have rows."""
    return int(np.count_nonzero(np.bincount(labels, minlength=n_clusters)))
