"""Spectral clustering of a sparse graph whose nodes are the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from subspaces._core.arrays import Array, Labels, inverse, unit_rows, with_fixed_signs
from subspaces._core.eigen import largest_eigenpairs
from subspaces._core.numbering import numbered
from subspaces._core.threads import one_thread
from subspaces.spectral.joins import join_by_modularity, join_by_strength, part_graphs
from subspaces.spectral.kmeans import kmeans, nearest_centers
from subspaces.spectral.modularity import cluster_shares, modularity, row_stochastic
from subspaces.spectral.partition import at_most
from subspaces.spectral.thresholds import BETTER_CUT, GRAPH_STARTS, GRAPH_TIE, MAX_FIT_ROWS, NEAR_CUT

# Up to this many nodes the dense eigenproblem is faster.
DENSE_NODES = 500
# Normalised cuts of pieces without edges between them differ from zero by less than this.
CUT_ROUNDING = 1e-9
# Steps of subspace iteration if Lanczos' method does not converge.
FALLBACK_STEPS = 300


def spectral_labels(
    affinity: csr_matrix,
    n_clusters: int,
    *,
    counts: Sequence[int] | None = None,
    tie: float = GRAPH_TIE,
    rng: np.random.RandomState,
) -> Labels:
    """Clusters (n,) of the nodes of a graph with symmetric weights `affinity` (n, n), none negative.

    Normalised spectral clustering (Ng, Jordan and Weiss, 2001): k-means on the unit rows of as many leading
    eigenvectors as there are clusters, or of one of `counts`. Among the labels whose normalised cut is nearly the
    smallest, those of the largest modularity are taken: modularity alone prefers clusters of equal size. Rows of a
    plane make a ring, whose halves are joined nearly as weakly as two planes are: small parts are therefore joined to
    clusters too, and taken if their cut is far smaller and their modularity larger. A graph without edges is one
    cluster. Clusters are numbered in the order of their first nodes. `tie` as in `spectral_vectors`.
    """
    if n_clusters == 1 or not affinity.nnz:
        return np.zeros(affinity.shape[0], np.int32)
    counts = [n_clusters] if counts is None else sorted({min(count, affinity.shape[0]) for count in counts})
    vectors = spectral_vectors(affinity, max(counts), tie=tie, rng=rng)
    steps = row_stochastic(affinity)
    sample = at_most(np.arange(len(vectors)), MAX_FIT_ROWS, rng)
    candidates = []
    for count in counts:
        rows = unit_rows(vectors[:, :count])
        runs = kmeans(rows[sample], n_clusters, n_starts=GRAPH_STARTS, rng=rng)
        candidates.append(nearest_centers(rows, runs.points[int(runs.inertia.argmin())]))

    def scores(labels: Labels) -> tuple[float, float]:
        """How good labels are by cut, and by modularity."""
        shares = cluster_shares(steps, labels, n_clusters)
        return -normalised_cut(affinity, labels, n_clusters), modularity(shares)

    scored = [(*scores(labels), labels) for labels in candidates]
    limit = NEAR_CUT * max(cut for cut, _, _ in scored) - CUT_ROUNDING
    best = max((each for each in scored if each[0] >= limit), key=lambda each: each[1])
    for parts in part_graphs(steps, vectors, n_clusters, rng):
        for join in (join_by_modularity, join_by_strength):
            labels = join(parts, n_clusters)[parts.labels].astype(np.int32)
            cut, worth = scores(labels)
            if cut >= BETTER_CUT * best[0] and worth > best[1]:
                best = (cut, worth, labels)
    return numbered(best[2])


def normalised_cut(affinity: csr_matrix, labels: Labels, n_clusters: int) -> float:
    """Sum over clusters of the share of their weights (n, n) that leads to other clusters; one for an empty cluster."""
    owner = np.repeat(labels, np.diff(affinity.indptr))
    weights = affinity.data.astype(np.float64)
    total = np.bincount(owner, weights=weights, minlength=n_clusters)
    inside = np.bincount(owner, weights=weights * (owner == labels[affinity.indices]), minlength=n_clusters)
    return float((1 - inside * inverse(total.astype(np.float64))).sum())


def spectral_vectors(affinity: csr_matrix, count: int, *, tie: float = GRAPH_TIE, rng: np.random.RandomState) -> Array:
    """Leading eigenvectors (n, count) of the normalised weights of a graph, the trivial one first.

    Every node is joined to all others by weights of the sum `tie` times the mean degree.
    """
    n = affinity.shape[0]
    weights = csr_matrix(affinity, dtype=np.float64)
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    weight = tie * degrees.mean() / n if degrees.any() else 1.0
    scale = inverse(degrees + n * weight, 0.5)

    def multiply(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        scaled = (scale * vectors.T).T
        return (scale * (weights @ scaled + weight * scaled.sum(axis=0)).T).T

    with one_thread():
        if n <= max(DENSE_NODES, 4 * count):
            vectors = largest_eigenpairs(multiply(np.eye(n)), count)[1]
        else:
            operator = LinearOperator((n, n), matvec=multiply, matmat=multiply, dtype=np.float64)
            try:
                vectors = eigsh(operator, count, which="LA", v0=rng.uniform(-1, 1, n), ncv=max(4 * count, 40))[1]
            except ArpackNoConvergence:
                vectors = _iterated(multiply, rng.uniform(-1, 1, (n, count)))
    return np.ascontiguousarray(with_fixed_signs(vectors[:, ::-1]))


def _iterated(multiply: Callable[[NDArray[np.float64]], NDArray[np.float64]], start: NDArray[np.float64]) -> Array:
    """Leading eigenvectors (n, count), ascending, by subspace iteration: slow, but it always returns."""
    vectors = np.linalg.qr(start)[0]
    for _ in range(FALLBACK_STEPS):
        # The shift makes the largest eigenvalues those of largest magnitude.
        vectors = np.linalg.qr(multiply(vectors) + vectors)[0]
    return vectors @ np.linalg.eigh(vectors.T @ multiply(vectors))[1]
