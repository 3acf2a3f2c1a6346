"""Slow, literal versions of the formulas, to be read at a glance; the fast code is tested against them."""

from itertools import permutations
from typing import Any

import numpy as np

Array = np.ndarray
Flat = tuple[Array, Array]  # center (p,), basis (p, d) with orthonormal columns


def beta2(neighbors: Array, center: Array, d: int, affine: bool = True) -> float:
    """RMS distance of `neighbors` (k, p) to their best d-flat, over the largest distance to `center`."""
    radius = max(np.linalg.norm(y - center) for y in neighbors)
    if radius == 0.0:
        return 0.0
    origin = neighbors.mean(axis=0) if affine else np.zeros(neighbors.shape[1])
    singular_values = np.linalg.svd(neighbors - origin, compute_uv=False)
    mean_squared_distance = (singular_values[d:] ** 2).sum() / len(neighbors)
    return float(np.sqrt(mean_squared_distance) / radius)


def best_fit_flat(points: Array, d: int, affine: bool = True) -> Flat:
    """Least-squares d-flat of `points` (k, p): center (p,), basis (p, d). Linear flats have the center 0."""
    center = points.mean(axis=0) if affine else np.zeros(points.shape[1])
    # With full matrices the basis has d columns even when there are fewer than d points.
    _, _, directions = np.linalg.svd(points - center, full_matrices=True)
    return center, directions[:d].T


def fixed_neighborhood(X: Array, center: Array, size: int) -> Array:
    """Indices of the `size` rows of `X` (n, p) nearest to `center` (p,), nearest first, ties by row index."""
    squared_lengths = np.array([np.sum((x - center) ** 2) for x in X])
    return np.argsort(squared_lengths, kind="stable")[:size]


def beta2_neighborhood(X: Array, center: Array, d: int, start: int, step: int, affine: bool = True) -> Array:
    """Indices of the rows of `X` (n, p) nearest to `center` (p,), as many as first locally minimise beta2.

    Sizes are start, start + step, ... up to n; without an interior minimum, the size of the smallest beta2.
    """
    sizes = list(range(min(start, len(X)), len(X) + 1, step))
    neighborhoods = [fixed_neighborhood(X, center, size) for size in sizes]
    values = [beta2(X[rows], center, d, affine) for rows in neighborhoods]
    for k in range(2, len(sizes)):
        if values[k - 1] < min(values[k - 2], values[k]):
            return neighborhoods[k - 1]
    return neighborhoods[int(np.argmin(values))]


def squared_distance(x: Array, center: Array, basis: Array) -> float:
    """Squared distance of the point `x` (p,) to the flat with `center` (p,) and `basis` (p, d)."""
    projector = np.eye(len(x)) - basis @ basis.T
    residual = projector @ (x - center)
    return float(residual @ residual)


def squared_distances(X: Array, flats: list[Flat]) -> Array:
    """Squared distance of each row of `X` (n, p) to each of m flats: (n, m)."""
    return np.array([[squared_distance(x, center, basis) for center, basis in flats] for x in X])


def subspace_psi(X: Array, flats: list[Flat], sigma: float) -> Array:
    """The random map psi of the subspace kernel, for rows `X` (n, p) and D flats: (n, D)."""
    return np.exp(-squared_distances(X, flats) / sigma**2) / np.sqrt(len(flats))


def degrees(psi: Array) -> Array:
    """Inner product of each row of `psi` (n, D) with the sum of all rows: (n,)."""
    total = psi.sum(axis=0)
    return np.array([row @ total for row in psi])


def normalized_kernel(psi: Array) -> Array:
    """The normalised kernel matrix D^(-1/2) W D^(-1/2) of `psi` (n, D): (n, n). Rows of degree 0 stay 0."""
    kernel = psi @ psi.T
    scale = np.array([1.0 / np.sqrt(degree) if degree > 0.0 else 0.0 for degree in degrees(psi)])
    return np.diag(scale) @ kernel @ np.diag(scale)


def top_eigenvectors_without(matrix: Array, known: Array, count: int) -> tuple[Array, Array]:
    """Largest eigenvalues (count,) and their eigenvectors (n, count) of `matrix` (n, n), leaving out `known`.

    `known` (n,) is an eigenvector of eigenvalue 1; `matrix` is positive semi-definite, as kernels are.
    """
    unit = known / np.linalg.norm(known)
    # Twice, so that it moves from 1 to -1, below all others: at 0 it would mix with the null space.
    values, vectors = np.linalg.eigh(matrix - 2.0 * np.outer(unit, unit))
    return values[::-1][:count], vectors[:, ::-1][:, :count]


def embedding(psi: Array, count: int) -> tuple[Array, Array]:
    """Eigenvalues (count,) and eigenvectors v_2.. (n, count) of the normalised kernel of `psi` (n, D)."""
    values, vectors = top_eigenvectors_without(normalized_kernel(psi), np.sqrt(degrees(psi)), count)
    # A row of degree 0 has no place in the embedding, and its rounding error must not be scaled to length 1.
    vectors[degrees(psi) == 0.0] = 0.0
    return values, vectors


def unit_rows(V: Array) -> Array:
    """The rows of `V` (n, q) scaled to length 1; rows of length 0 stay 0."""
    lengths = np.linalg.norm(V, axis=1, keepdims=True)
    return V / np.where(lengths > 0.0, lengths, 1.0)


def nearest_centers(rows: Array, centers: Array) -> tuple[Array, float]:
    """Nearest of `centers` (K, q) to each of `rows` (n, q), ties to the lower: labels (n,), inertia."""
    table = np.array([[np.sum((row - center) ** 2) for center in centers] for row in rows])
    return table.argmin(axis=1), float(table.min(axis=1).sum())


def lloyd(rows: Array, centers: Array, n_iter: int) -> tuple[Array, Array, float]:
    """Lloyd's k-means on `rows` (n, q) from `centers` (K, q): labels (n,), centers (K, q), inertia.

    At most `n_iter` moves of the centers, fewer once they rest; an empty cluster keeps its center.
    """
    for _ in range(n_iter):
        labels, _ = nearest_centers(rows, centers)
        moved = [rows[labels == k].mean(axis=0) if np.any(labels == k) else c for k, c in enumerate(centers)]
        if np.array_equal(moved, centers):
            break
        centers = np.array(moved)
    labels, inertia = nearest_centers(rows, centers)
    return labels, centers, inertia


def fls_paper(
    X: Array,
    landmark_points: Array,
    n_clusters: int,
    d: int,
    sigma: float,
    start: int,
    step: int,
    initial_centers_index: Array,
    affine: bool = True,
) -> dict:
    """The paper's algorithm on `X` (n, p) from given landmark points (D, p), with every intermediate result.

    k-means starts from the embedding rows numbered `initial_centers_index` (K,), so nothing is random.
    """
    neighborhoods = [beta2_neighborhood(X, y, d, start, step, affine) for y in landmark_points]
    flats = [best_fit_flat(X[rows], d, affine) for rows in neighborhoods]
    psi = subspace_psi(X, flats, sigma)
    eigenvalues, eigenvectors = embedding(psi, n_clusters - 1)
    rows = unit_rows(eigenvectors)
    labels, centers, inertia = lloyd(rows, rows[initial_centers_index], n_iter=1000)
    return {
        "neighborhoods": neighborhoods,
        "flats": flats,
        "psi": psi,
        "degrees": degrees(psi),
        "eigenvalues": eigenvalues,
        "eigenvectors": eigenvectors,
        "rows": rows,
        "labels": labels,
        "centers": centers,
        "inertia": inertia,
    }


def nearest_weights(distances2: Array, r: int) -> Array:
    """Row-stochastic weights (n, D) of the r nearest flats, from squared distances (n, D); 0 elsewhere."""
    P = np.zeros(distances2.shape)
    for i, delta in enumerate(distances2):
        nearest = np.argsort(delta, kind="stable")[:r]
        excess = delta[nearest] - delta[nearest[0]]
        sigma2 = excess[-1]
        weights = np.exp(-excess / sigma2) if sigma2 > 0.0 else np.ones(len(nearest))
        P[i, nearest] = weights / weights.sum()
    return P


def balanced_embedding(P: Array, count: int) -> tuple[Array, Array]:
    """Eigenvalues (count,) and eigenvectors v_2.. (n, count) of A A^T, A = P diag(column sums)^(-1/2).

    `P` is (n, D) with rows summing to 1, its empty columns are dropped; the first eigenvector is constant.
    """
    column_sums = P.sum(axis=0)
    used = column_sums > 0.0
    A = P[:, used] @ np.diag(column_sums[used] ** -0.5)
    return top_eigenvectors_without(A @ A.T, np.ones(len(P)), count)


def cluster_landmark_shares(P: Array, labels: Array, n_clusters: int) -> Array:
    """S_kj = (1/n) sum of P_ij over the rows i of cluster k, for `P` (n, D) and `labels` (n,): (K, D)."""
    S = np.zeros((n_clusters, P.shape[1]))
    for i in range(len(P)):
        S[labels[i]] += P[i] / len(P)
    return S


def modularity(P: Array, labels: Array, n_clusters: int) -> float:
    """Bipartite modularity Q of `labels` (n,), each in 0..K-1, on the row-stochastic weights `P` (n, D)."""
    S = cluster_landmark_shares(P, labels, n_clusters)
    Q = 0.0
    for k in range(n_clusters):
        for j in range(P.shape[1]):
            share = S[:, j].sum()
            if share > 0.0:
                Q += S[k, j] ** 2 / share
        Q -= S[k].sum() ** 2
    return float(Q)


def affinities(P: Array, S: Array) -> Array:
    """sum_j P_ij S_kj / p_j for each row of `P` (n, D), cluster of `S` (K, D): (n, K). Empty j are 0."""
    table = np.zeros((len(P), len(S)))
    for j in range(P.shape[1]):
        share = S[:, j].sum()
        if share > 0.0:
            table += np.outer(P[:, j], S[:, j] / share)
    return table


def modularity_terms(P: Array, labels: Array, n_clusters: int) -> Array:
    """What each row of `P` (n, D) adds to the modularity of `labels` (n,): terms (n,) whose mean is Q."""
    S = cluster_landmark_shares(P, labels, n_clusters)
    table = affinities(P, S)
    return np.array([table[i, labels[i]] - S[labels[i]].sum() for i in range(len(P))])


def refine(P: Array, labels: Array, n_clusters: int, rounds: int) -> Array:
    """`labels` (n,) after rounds that move all rows of `P` (n, D) together to the cluster most akin."""
    for _ in range(rounds):
        S = cluster_landmark_shares(P, labels, n_clusters)
        labels = affinities(P, S).argmax(axis=1)
    return labels


def part_weights(P: Array, parts: Array, n_parts: int) -> Array:
    """W_ab = sum_j S_aj S_bj / p_j, the weights between `parts` (n,) of the rows of `P` (n, D): (M, M)."""
    S = cluster_landmark_shares(P, parts, n_parts)
    W = np.zeros((n_parts, n_parts))
    for j in range(P.shape[1]):
        share = S[:, j].sum()
        if share > 0.0:
            W += np.outer(S[:, j], S[:, j]) / share
    return W


def join(W: Array, a: int, b: int) -> float:
    """rho_ab = W_ab / sqrt(W_aa W_bb) from the weights `W` (M, M); 0 where a part has no weight."""
    own = W[a, a] * W[b, b]
    return float(W[a, b] / np.sqrt(own)) if own > 0.0 else 0.0


def cut_join(W: Array, groups: Array) -> float:
    """Mean of rho, weighted by W, over pairs of parts in different `groups` (M,); 0 where no weight is cut."""
    total, weight = 0.0, 0.0
    for a in range(len(W)):
        for b in range(len(W)):
            if groups[a] != groups[b]:
                total += W[a, b] * join(W, a, b)
                weight += W[a, b]
    return total / weight if weight > 0.0 else 0.0


def majority(parts: Array, labels: Array, n_clusters: int) -> Array:
    """The cluster of most rows of each of `parts` (n,), from the `labels` (n,) of the rows, ties to the lower: (M,)."""
    votes = [[np.sum(labels[parts == part] == k) for k in range(n_clusters)] for part in range(parts.max() + 1)]
    return np.array([int(np.argmax(counts)) for counts in votes])


def separation(P: Array, many_parts: list[Array], labels: Array, n_clusters: int) -> float:
    """J = (K / 4) H - mean of ln(r + 0.005) over ways to make parts (n,) of the rows of `P` (n, D)."""
    logs = []
    for parts in many_parts:
        W = part_weights(P, parts, parts.max() + 1)
        groups = majority(parts, labels, n_clusters)
        seen = set(groups.tolist()) == set(range(n_clusters))
        logs.append(np.log((cut_join(W, groups) if seen else 1.0) + 0.005))
    entropy = 0.0
    for k in range(n_clusters):
        share = np.mean(labels == k)
        if share > 0.0:
            entropy -= share * np.log(share)
    return float(n_clusters / 4 * entropy - np.mean(logs))


def join_by_strength(W: Array, n_groups: int) -> list[set[int]]:
    """Groups of the parts with the weights `W` (M, M), the pair of the strongest join made one at every step.

    Groups with less than a twentieth of an average share join first once there are no more than `n_groups` others.
    """
    groups = [{a} for a in range(len(W))]

    def share(group: set[int]) -> float:
        return sum(W[a].sum() for a in group)

    def strength(one: set[int], other: set[int]) -> float:
        pairs = [(a, b) for a in one for b in other]
        weight = sum(W[a, b] for a, b in pairs)
        if weight == 0.0:
            return 0.0
        mean = sum(W[a, b] * join(W, a, b) for a, b in pairs) / weight
        return float(mean * np.sqrt(weight / min(share(one), share(other))))

    while len(groups) > n_groups:
        small = [group for group in groups if share(group) < 0.05 / n_groups]
        eager = small if small and len(groups) - len(small) <= n_groups else groups
        options = [(one, other) for one in eager for other in groups if one is not other]
        one, other = max(options, key=lambda pair: strength(*pair))
        groups = [group for group in groups if group is not one and group is not other] + [one | other]
    return groups


def gaussian_kernel(X: Array, Y: Array, sigma: float) -> Array:
    """exp(-|x - y|^2 / (2 sigma^2)) for rows of `X` (n, p) and `Y` (m, p): (n, m)."""
    return np.array([[np.exp(-np.sum((x - y) ** 2) / (2.0 * sigma**2)) for y in Y] for x in X])


def laplacian_kernel(X: Array, Y: Array, sigma: float) -> Array:
    """exp(-|x - y|_1 / sigma) for rows of `X` (n, p) and `Y` (m, p): (n, m)."""
    return np.array([[np.exp(-np.sum(np.abs(x - y)) / sigma) for y in Y] for x in X])


def matern_kernel(X: Array, Y: Array, sigma: float, nu: float) -> Array:
    """Matern kernel, length scale `sigma`, nu 0.5, 1.5 or 2.5, rows of `X` (n, p) and `Y` (m, p): (n, m)."""
    t = np.array([[np.linalg.norm(x - y) / sigma for y in Y] for x in X])
    if nu == 0.5:
        return np.exp(-t)
    if nu == 1.5:
        return (1.0 + np.sqrt(3.0) * t) * np.exp(-np.sqrt(3.0) * t)
    if nu == 2.5:
        return (1.0 + np.sqrt(5.0) * t + 5.0 * t**2 / 3.0) * np.exp(-np.sqrt(5.0) * t)
    raise ValueError(f"nu must be 0.5, 1.5 or 2.5, got {nu}")


def landmark_kernel(X: Array, Y: Array, sigma: float, landmarks: Array) -> Array:
    """Mean over `landmarks` z (D, p) of f(x, z) f(y, z), f Gaussian, for `X` (n, p), `Y` (m, p): (n, m)."""
    total = np.zeros((len(X), len(Y)))
    for z in landmarks:
        total += gaussian_kernel(X, z[None, :], sigma) @ gaussian_kernel(z[None, :], Y, sigma)
    return total / len(landmarks)


def monte_carlo_subspace_kernel(
    x1: Array, x2: Array, d: int, sigma: float, n_draws: int, rng: np.random.Generator
) -> float:
    """Mean of exp(-dist(x1, L)^2 / sigma^2) exp(-dist(x2, L)^2 / sigma^2), L uniform; `x1`, `x2` (p,)."""
    total = 0.0
    for _ in range(n_draws):
        # The span of Gaussian columns is uniform on the Grassmannian: their law is invariant under rotations.
        basis, _ = np.linalg.qr(rng.standard_normal((len(x1), d)))
        origin = np.zeros(len(x1))
        exponent = squared_distance(x1, origin, basis) + squared_distance(x2, origin, basis)
        total += np.exp(-exponent / sigma**2)
    return float(total / n_draws)


def accuracy_by_permutation(y_true: Array, y_pred: Array) -> float:
    """Largest share of inliers (`y_true` (n,) not -1) right under a one-to-one match of clusters to classes.

    A predicted -1 is not a cluster: for an inlier it is an error. Surplus clusters or classes match nothing.
    """
    inliers = y_true != -1
    y_true, y_pred = y_true[inliers], y_pred[inliers]
    classes, clusters = np.unique(y_true), np.unique(y_pred[y_pred != -1])
    size = max(len(classes), len(clusters))
    counts = np.zeros((size, size), dtype=int)
    for a, cluster in enumerate(clusters):
        for b, label in enumerate(classes):
            counts[a, b] = np.sum((y_pred == cluster) & (y_true == label))
    most = max(sum(counts[a, match[a]] for a in range(size)) for match in permutations(range(size)))
    return float(most / len(y_true))


def principal_angles(A: Array, B: Array) -> Array:
    """Principal angles (radians, ascending) between the spans of `A` (p, a) and `B` (p, b): (min(a, b),)."""
    if A.shape[1] < B.shape[1]:
        A, B = B, A
    basis_a, basis_b = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    cosines = np.linalg.svd(basis_a.T @ basis_b, compute_uv=False)
    sines = np.linalg.svd(basis_b - basis_a @ (basis_a.T @ basis_b), compute_uv=False)[::-1]
    # The sine is accurate for small angles, the cosine near a right angle; the arctangent of both is always.
    return np.arctan2(sines, cosines)


def coded_lengths(rows: Array, clusters: Any) -> Array:
    """Nats (n, K) of each row in the Gaussian of each cluster, from covariance matrices, one row at a time."""
    total = sum(cell.size for cell in clusters.cells if cell is not None)
    found = np.full((len(rows), len(clusters.cells)), np.inf)
    for i, row in enumerate(rows):
        measured = (row @ clusters.directions - clusters.center) / clusters.unit
        for k, cell in enumerate(clusters.cells):
            if cell is None:
                continue
            covariance = cell.noise * (np.eye(len(measured)) - cell.basis @ cell.basis.T)
            covariance += cell.basis @ np.diag(cell.variances) @ cell.basis.T
            offset = measured - cell.center
            square = offset @ np.linalg.inv(covariance) @ offset
            found[i, k] = (square + np.linalg.slogdet(2 * np.pi * covariance)[1]) / 2 - np.log(cell.size / total)
    return found


def fingerprint(block: Array, weights: Array, most: int) -> tuple[Array, Array]:
    """Sums and largest sizes of runs of values, value by value; neighbours are joined if there are more than `most`."""
    values, width = block.ravel(), len(weights)
    sums, peaks = np.zeros(-(-len(values) // width)), np.zeros(-(-len(values) // width))
    for place, value in enumerate(values):
        sums[place // width] += weights[place % width] * value
        peaks[place // width] = max(peaks[place // width], abs(value))
    size = max(1, -(-len(sums) // most))
    joined, largest = np.zeros(-(-len(sums) // size)), np.zeros(-(-len(sums) // size))
    for place, value in enumerate(sums):
        joined[place // size] += value * (weights[place % size] if size > 1 else 1.0)
        largest[place // size] = max(largest[place // size], peaks[place])
    return joined, largest
