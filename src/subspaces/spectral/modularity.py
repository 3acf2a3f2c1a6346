"""Modularity of labels on the bipartite graph between rows and landmarks.

With P the row-stochastic weights (n, D), S_kj = mean over rows of [label = k] P_ij and margins p_k, p_j,

    Q = sum_k ( sum_j S_kj^2 / p_j - p_k^2 ) = mean_i c_i,   c_i = sum_j P_ij S_{k(i) j} / p_j - p_{k(i)}:

how much more likely two rows that share a landmark are to share a label than two random rows. As a mean over rows it
has a standard error, which shows whether one partition is really better than another.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from subspaces._core.arrays import Labels, inverse, namespace, sums_at, to_host
from subspaces.spectral.sparse import SparseRows
from subspaces.spectral.spectrum import AnyPsi, Psi


def cluster_shares(psi: AnyPsi, labels: Labels, n_clusters: int) -> NDArray[np.float64]:
    """S (K, D): the mean over rows of [label = k] psi."""
    n, n_landmarks = psi.shape
    if isinstance(psi, SparseRows):
        xp = namespace(psi.weights)
        places = xp.astype(labels, xp.int64)[:, None] * n_landmarks + psi.index
        sums = sums_at(xp.reshape(places, (-1,)), xp.reshape(psi.weights, (-1,)), n_clusters * n_landmarks)
        return to_host(sums).reshape(n_clusters, n_landmarks) / n
    if isinstance(psi, np.ndarray):
        member = csr_matrix((np.ones(n), labels, np.arange(n + 1)), shape=(n, n_clusters))
        return np.asarray(member.T @ psi) / n
    cells = np.repeat(labels.astype(np.int64), np.diff(psi.indptr)) * n_landmarks + psi.indices
    sums = np.bincount(cells, weights=psi.data, minlength=n_clusters * n_landmarks)
    return sums.reshape(n_clusters, n_landmarks) / n


def row_stochastic(psi: Psi) -> Psi:
    """psi (n, D) with rows scaled to sum to one; rows of zeros stay zero."""
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
