"""From an embedding to labels: candidate partitions, refined on the landmarks, one chosen without labels.

Candidates are judged by the modularity of the bipartite graph between rows and landmarks. With P the row-stochastic
weights (n, D), S_kj = mean over rows of [label = k] P_ij and margins p_k, p_j,

    Q = sum_k ( sum_j S_kj^2 / p_j - p_k^2 ) = mean_i c_i,   c_i = sum_j P_ij S_{k(i) j} / p_j - p_{k(i)}:

how much likelier two rows that share a landmark are to share a label than two rows at random. As a mean over rows
it has a standard error, which tells a better candidate from a lucky one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from subspaces._array import Array, Indices, Labels, inverse, unit_rows, within_mad
from subspaces.kmeans import kmeans, nearest_centers
from subspaces.spectral import Psi, Spectrum, embed

# k-means is fitted on at most this many rows; its centres do not move visibly with more.
MAX_FIT_ROWS = 12_000
# Partitions whose modularities differ by less than this many standard errors are equally good.
N_ERRORS = 2.0
# Into how many parts per cluster the rows are cut before parts are joined.
PARTS_PER_CLUSTER = (5, 8, 12)
# Rounds of refinement for every candidate on a sample, and for the best few of them on all rows.
TRIAL_ROUNDS = 5
N_FINALISTS = 2
FINAL_ROUNDS = 20
# Rows farther from every flat than this many deviations do not vote.
ROW_DEVIATIONS = 3.0


@dataclass(frozen=True, slots=True)
class Partition:
    """How a row gets its label: by the nearest centre of its embedding or, where there are scores, by its landmarks."""

    n_clusters: int
    n_vectors: int
    centers: Array | None  # (K, n_vectors), of unit rows of the embedding
    landmark_scores: Array | None = None  # (D, K): a row takes the label of the largest psi @ landmark_scores
    modularity: float = float("nan")


def assign(psi: Psi, spectrum: Spectrum, partition: Partition) -> Labels:
    """Labels (n,) of rows, seen or new, from their psi (n, D)."""
    if partition.landmark_scores is not None:
        return np.asarray(psi @ partition.landmark_scores).argmax(axis=1).astype(np.int32)
    return assign_embedded(embed(psi, spectrum, partition.n_vectors), partition)


def assign_embedded(embedding: Array, partition: Partition) -> Labels:
    """Labels (n,) by the nearest centre, from the embedding (n, at least n_vectors) of rows."""
    assert partition.centers is not None
    return nearest_centers(unit_rows(embedding[:, : partition.n_vectors]), partition.centers)


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
) -> Partition:
    """The best partition by modularity, over numbers of eigenvectors `counts`, starts of k-means and joined parts.

    `psi` (n, D) has rows that sum to one; `inliers` are the rows that count. With `polish` every candidate is refined
    on the landmarks and the largest modularity wins; joined parts must be clearly better than k-means. Without, the
    smallest number of eigenvectors wins whose modularity is not clearly below the largest.
    """
    sample = psi[at_most(inliers, MAX_FIT_ROWS, rng)]
    embedding = embed(sample, spectrum)
    candidates = []
    for count in sorted({min(count, embedding.shape[1]) for count in counts}):
        runs = kmeans(unit_rows(embedding[:, :count]), n_clusters, n_starts=n_starts, rng=rng, max_iter=50)
        candidates += [Partition(n_clusters, count, centers) for centers in runs.points]
    weights = psi[inliers]
    if polish:
        merged = merged_partitions(sample, embedding, n_clusters, rng)
        plain, joined = (_best_refined(group, sample, weights, spectrum) for group in (candidates, merged))
        return plain if _as_good(plain, joined, weights, spectrum) else joined
    candidates = [refine(partition, weights, spectrum, n_rounds=0) for partition in candidates]
    best = max(candidates, key=_modularity)
    per_count = [max(group, key=_modularity) for _, group in groupby(candidates, key=lambda each: each.n_vectors)]
    return next((partition for partition in per_count if _as_good(partition, best, weights, spectrum)), best)


def merged_partitions(
    psi: csr_matrix, embedding: Array, n_clusters: int, rng: np.random.RandomState
) -> list[Partition]:
    """Partitions made from many small parts, joined two at a time where modularity gains most.

    k-means with K centres cuts large clusters and misses small ones when its start is unlucky; many parts hold no more
    than one cluster each, whatever the start. `embedding` (n, q) belongs to the rows of psi (n, D).
    """
    partitions = []
    rows = unit_rows(embedding)
    for parts_per_cluster in PARTS_PER_CLUSTER:
        n_parts = min(parts_per_cluster * n_clusters, max(n_clusters, len(rows) // 10))
        parts = nearest_centers(rows, kmeans(rows, n_parts, n_starts=1, rng=rng, max_iter=20).points[0])
        shares = cluster_shares(psi, parts, n_parts)
        sizes = shares.sum(axis=1)
        joined = join_parts((shares * inverse(shares.sum(axis=0))) @ shares.T - np.outer(sizes, sizes), n_clusters)
        shares = np.stack([shares[joined == k].sum(axis=0) for k in range(n_clusters)])
        partitions.append(Partition(n_clusters, rows.shape[1], None, landmark_scores(shares).astype(psi.dtype)))
    return partitions


def join_parts(gains: NDArray[np.float64], n_groups: int) -> Indices:
    """Groups (m,) of m parts, by joining the pair of largest gain until `n_groups` are left.

    `gains` (m, m) adds up over joined parts, as W_ab - p_a p_b of modularity does.
    """
    gains = gains.copy()
    np.fill_diagonal(gains, -np.inf)
    group = np.arange(len(gains))
    for _ in range(len(gains) - n_groups):
        first, second = np.unravel_index(gains.argmax(), gains.shape)
        gains[first] += gains[second]
        gains[:, first] = gains[first]
        gains[first, first] = gains[second] = gains[:, second] = -np.inf
        group[group == second] = first
    return np.unique(group, return_inverse=True)[1]


def _modularity(partition: Partition) -> float:
    return partition.modularity


def _best_refined(
    candidates: Sequence[Partition], sample: csr_matrix, psi: csr_matrix, spectrum: Spectrum
) -> Partition:
    """The candidate of the largest modularity on psi (n, D) once refined; a sample of the rows picks finalists."""
    refined = [refine(partition, sample, spectrum, n_rounds=TRIAL_ROUNDS) for partition in candidates]
    finalists = sorted(refined, key=_modularity)[-N_FINALISTS:]
    return max((refine(each, psi, spectrum, n_rounds=FINAL_ROUNDS) for each in finalists), key=_modularity)


def at_most(index: Indices, count: int, rng: np.random.RandomState) -> Indices:
    """`count` of the indices (n,) at random, or all where there are no more."""
    return index if len(index) <= count else rng.choice(index, count, replace=False)


def _as_good(partition: Partition, best: Partition, psi: csr_matrix, spectrum: Spectrum) -> bool:
    """Whether `partition` is within a few standard errors of `best`, compared row by row."""
    terms, best_terms = (
        modularity_terms(psi, assign(psi, spectrum, each), each.n_clusters) for each in (partition, best)
    )
    deficit = best_terms - terms
    return bool(deficit.mean() <= N_ERRORS * deficit.std() / np.sqrt(len(deficit)))


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


def cluster_shares(psi: Psi, labels: Labels, n_clusters: int) -> NDArray[np.float64]:
    """S (K, D): the mean over rows of [label = k] psi."""
    n, n_landmarks = psi.shape
    if isinstance(psi, np.ndarray):
        member = csr_matrix((np.ones(n), labels, np.arange(n + 1)), shape=(n, n_clusters))
        return np.asarray(member.T @ psi) / n
    cells = np.repeat(labels.astype(np.int64), np.diff(psi.indptr)) * n_landmarks + psi.indices
    sums = np.bincount(cells, weights=psi.data, minlength=n_clusters * n_landmarks)
    return sums.reshape(n_clusters, n_landmarks) / n


def row_stochastic(psi: Psi) -> Psi:
    """psi (n, D) with rows scaled to sum one; rows of zeros stay."""
    scale = inverse(np.asarray(psi.sum(axis=1)).ravel())[:, None]
    return psi * scale if isinstance(psi, np.ndarray) else psi.multiply(scale).tocsr()


def modularity(shares: NDArray[np.float64]) -> float:
    """Q from the shares S (K, D) of rows that sum to one."""
    return float((shares**2 @ inverse(shares.sum(axis=0))).sum() - np.square(shares.sum(axis=1)).sum())


def modularity_terms(psi: csr_matrix, labels: Labels, n_clusters: int) -> NDArray[np.float64]:
    """The terms c_i (n,) whose mean is the modularity of `labels`."""
    shares = cluster_shares(psi, labels, n_clusters)
    scores = psi @ landmark_scores(shares)
    return scores[np.arange(len(labels)), labels] - shares.sum(axis=1)[labels]


def landmark_scores(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much of each landmark belongs to each cluster: S_kj / p_j as (D, K)."""
    return (shares * inverse(shares.sum(axis=0))).T


def refine(partition: Partition, psi: csr_matrix, spectrum: Spectrum, *, n_rounds: int) -> Partition:
    """Let every row take the cluster that its landmarks belong to most, until nothing moves or `n_rounds` times.

    `psi` (n, D) are the rows that vote. The round of the largest modularity is returned: most rounds gain, but they can
    drain a small cluster.
    """
    labels = assign(psi, spectrum, partition)
    shares = cluster_shares(psi, labels, partition.n_clusters)
    best = replace(partition, modularity=modularity(shares))
    for _ in range(n_rounds):
        partition = replace(partition, landmark_scores=landmark_scores(shares).astype(psi.dtype))
        before, labels = labels, assign(psi, spectrum, partition)
        if (before == labels).all():
            break
        shares = cluster_shares(psi, labels, partition.n_clusters)
        best = max(best, replace(partition, modularity=modularity(shares)), key=_modularity)
    return best
