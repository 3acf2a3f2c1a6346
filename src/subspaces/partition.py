"""From an embedding to labels: candidate k-means partitions, one chosen without labels, refined on the landmarks.

Candidates are judged by the modularity of the bipartite graph between rows and landmarks. With P the row-stochastic
weights (n, D), S_kj = mean over rows of [label = k] P_ij and margins p_k, p_j,

    Q = sum_k ( sum_j S_kj^2 / p_j - p_k^2 ) = mean_i c_i,   c_i = sum_j P_ij S_{k(i) j} / p_j - p_{k(i)}:

how much likelier two rows that share a landmark are to share a label than two rows at random. As a mean over rows
it has a standard error, which tells a better candidate from a lucky one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from subspaces._array import Array, Indices, Labels, inverse, unit_rows, within_mad
from subspaces.kmeans import kmeans, nearest_centers
from subspaces.spectral import Psi, Spectrum, compute_spectrum, embed

# k-means is fitted on at most this many rows; its centres do not move visibly with more.
MAX_FIT_ROWS = 12_000
# Rows farther from every flat than this many deviations do not vote.
ROW_DEVIATIONS = 3.0


@dataclass(frozen=True, slots=True)
class Partition:
    """How a row gets its label: by the nearest centre of its embedding or, when refined, by its landmarks."""

    n_vectors: int
    centers: Array  # (K, n_vectors), of unit rows of the embedding
    landmark_scores: Array | None = None  # (D, K): a row takes the label of the largest psi @ landmark_scores
    modularity: float = float("nan")


def assign(psi: Psi, spectrum: Spectrum, partition: Partition) -> Labels:
    """Labels (n,) of rows, seen or new, from their psi (n, D)."""
    if partition.landmark_scores is not None:
        return np.asarray(psi @ partition.landmark_scores).argmax(axis=1).astype(np.int32)
    return assign_embedded(embed(psi, spectrum, partition.n_vectors), partition)


def assign_embedded(embedding: Array, partition: Partition) -> Labels:
    """Labels (n,) by the nearest centre, from the embedding (n, at least n_vectors) of rows."""
    return nearest_centers(unit_rows(embedding[:, : partition.n_vectors]), partition.centers)


def plain_partition(embedding: Array, n_clusters: int, *, n_starts: int, rng: np.random.RandomState) -> Partition:
    """The paper's last step: k-means on the unit rows of v_2, ..., the best of `n_starts` runs by its own inertia."""
    runs = kmeans(unit_rows(embedding), n_clusters, n_starts=n_starts, rng=rng)
    return Partition(embedding.shape[1], runs.points[int(runs.inertia.argmin())])


def choose_partition(
    psi: csr_matrix,
    embedding: Array,
    inliers: Indices,
    n_clusters: int,
    *,
    counts: Sequence[int],
    n_starts: int,
    n_errors: float,
    rng: np.random.RandomState,
) -> Partition:
    """The k-means partition, over numbers of eigenvectors `counts` and starts, of the best modularity.

    `psi` (n, D) has rows that sum to one; `inliers` are the rows that count. For each number of eigenvectors the
    best start is kept; then the smallest number is taken whose modularity is within `n_errors` standard errors of the
    best.
    """
    counts = sorted({min(count, embedding.shape[1]) for count in counts})
    sample = inliers
    if len(inliers) > MAX_FIT_ROWS:
        sample = rng.choice(inliers, MAX_FIT_ROWS, replace=False)
    weights = psi[inliers]
    candidates: list[tuple[Partition, NDArray[np.float64]]] = []
    for count in counts:
        rows = unit_rows(embedding[:, :count])
        runs = kmeans(rows[sample], n_clusters, n_starts=n_starts, rng=rng, max_iter=50)
        tried = []
        for centers in runs.points:
            terms = modularity_terms(weights, nearest_centers(rows[inliers], centers), n_clusters)
            tried.append((Partition(count, centers, modularity=float(terms.mean())), terms))
        candidates.append(max(tried, key=_by_modularity))
    _, best = max(candidates, key=_by_modularity)
    return next(partition for partition, terms in candidates if _as_good(terms, best, n_errors))


def _by_modularity(candidate: tuple[Partition, NDArray[np.float64]]) -> float:
    return candidate[0].modularity


def _as_good(terms: NDArray[np.float64], best: NDArray[np.float64], n_errors: float) -> bool:
    """Whether the mean of `terms` (n,) is within `n_errors` standard errors of that of `best`, row by row."""
    deficit = best - terms
    return bool(deficit.mean() <= n_errors * deficit.std() / np.sqrt(len(deficit)))


def inlier_rows(distances: Array, rows: Array) -> Indices:
    """Indices of the rows whose distance (n,) to the nearest flat is not far above the usual."""
    scale = float(np.sqrt(np.einsum("np,np->", rows, rows, dtype=np.float64) / len(rows)))
    return np.flatnonzero(within_mad(distances, width=ROW_DEVIATIONS, scale=scale))


def cluster_sparse(
    psi: csr_matrix,
    inliers: Indices,
    n_clusters: int,
    *,
    n_starts: int,
    n_errors: float,
    rng: np.random.RandomState,
    n_components: int | None = None,
) -> tuple[Spectrum, Partition]:
    """The spectral step and the choice of a partition, from sparse psi (n, D)."""
    counts = [n_components] if n_components is not None else vector_counts(n_clusters)
    spectrum = compute_spectrum(lambda: iter((psi,)), max(counts), balanced=True)
    embedding = embed(psi, spectrum)
    partition = choose_partition(
        psi, embedding, inliers, n_clusters, counts=counts, n_starts=n_starts, n_errors=n_errors, rng=rng
    )
    return spectrum, partition


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
    n = len(labels)
    member = csr_matrix((np.ones(n), labels, np.arange(n + 1)), shape=(n, n_clusters))
    shares = member.T @ psi
    return np.asarray(shares.toarray() if hasattr(shares, "toarray") else shares) / n


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


def refine(partition: Partition, psi: csr_matrix, spectrum: Spectrum, inliers: Indices, *, n_rounds: int) -> Partition:
    """Let every row take the cluster that its landmarks belong to most, `n_rounds` times."""
    weights, n_clusters = psi[inliers], len(partition.centers)
    for _ in range(n_rounds):
        shares = cluster_shares(weights, assign(weights, spectrum, partition), n_clusters)
        partition = replace(partition, landmark_scores=landmark_scores(shares).astype(psi.dtype))
    return partition
