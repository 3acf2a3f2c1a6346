"""Slow, literal versions of the self-expressive methods and of the greedy choice of flats.

Rows are points: `Y` (n, p). A code is a row c of the (n, n) codes with c_i = 0: row i of `Y` is written as
sum_j c_j y_j. Convex programs are solved by one primal-dual method whose duality gap is checked, so that a value that
comes back is optimal whatever happened on the way. Where a minimiser is not unique, compare objectives, not codes.
"""

import numpy as np
from scipy.optimize import linprog
from sklearn.cluster import KMeans

Array = np.ndarray


def lasso_codes(Y: Array, lam: float | Array, affine: bool = False) -> tuple[Array, Array]:
    """Codes (n, n) that minimise |c|_1 + lam/2 |y_i - sum_j c_j y_j|^2, and the objectives (n,).

    `affine` adds sum_j c_j = 1. `lam` may be a number for each row (n,).
    """
    n = len(Y)
    codes, objectives = np.zeros((n, n)), np.zeros(n)
    for i, weight in enumerate(np.broadcast_to(lam, n)):
        others = np.delete(np.arange(n), i)
        sums = (np.ones((1, n - 1)), np.ones(1)) if affine else None
        c = signed_minimiser(Y[others].T, Y[i], np.ones(n - 1), weight, constraint=sums)
        codes[i, others] = c
        residual = Y[i] - codes[i] @ Y
        objectives[i] = np.abs(c).sum() + weight / 2 * residual @ residual
    return codes, objectives


def outlier_codes(Y: Array, gamma: float, lam: float | None = None, affine: bool = False) -> tuple[Array, Array, Array]:
    """Codes (n, n) and outlying entries (n, p) that minimise |c|_1 + gamma |e|_1, and the objectives (n,).

    Subject to y_i = sum_j c_j y_j + e; with `lam`, the gap of this equation costs lam/2 of its square instead.
    `affine` adds sum_j c_j = 1.
    """
    n, p = Y.shape
    codes, errors, objectives = np.zeros((n, n)), np.zeros((n, p)), np.zeros(n)
    costs = np.concatenate([np.ones(n - 1), np.full(p, gamma)])
    sums = (np.concatenate([np.ones(n - 1), np.zeros(p)])[None, :], np.ones(1)) if affine else None
    for i in range(n):
        others = np.delete(np.arange(n), i)
        dictionary = np.hstack([Y[others].T, np.eye(p)])
        if lam is None:
            x = least_l1(dictionary, Y[i], costs, constraint=sums)
        else:
            x = signed_minimiser(dictionary, Y[i], costs, lam, constraint=sums)
        codes[i, others], errors[i] = x[: n - 1], x[n - 1 :]
        objectives[i] = np.abs(codes[i]).sum() + gamma * np.abs(errors[i]).sum()
        if lam is not None:
            gap = Y[i] - codes[i] @ Y - errors[i]
            objectives[i] += lam / 2 * gap @ gap
    return codes, errors, objectives


def elastic_net_codes(Y: Array, lam: float, gamma: float | Array) -> tuple[Array, Array]:
    """Codes (n, n) that minimise lam |c|_1 + (1-lam)/2 |c|^2 + gamma/2 |y_i - sum_j c_j y_j|^2, objectives (n,).

    `lam` lies in [0, 1]; `gamma` may be a number for each row (n,).
    """
    n = len(Y)
    codes, objectives = np.zeros((n, n)), np.zeros(n)
    for i, weight in enumerate(np.broadcast_to(gamma, n)):
        others = np.delete(np.arange(n), i)
        c = signed_minimiser(Y[others].T, Y[i], np.full(n - 1, lam), weight, ridge=1.0 - lam)
        codes[i, others] = c
        residual = Y[i] - codes[i] @ Y
        objectives[i] = lam * np.abs(c).sum() + (1 - lam) / 2 * c @ c + weight / 2 * residual @ residual
    return codes, objectives


def omp_codes(Y: Array, n_nonzero: int, tol: float = 0.0, min_rows: int = 1) -> Array:
    """Codes (n, n) by orthogonal matching pursuit: sums of combinations of at most `n_nonzero` rows each.

    A step takes the row with the largest |inner product| with the residual, the first of equals, as the rows are:
    scale them to length 1 beforehand. A combination ends early when its residual has length `tol` or less, or when no
    row has an inner product with it. If it has that length, and fewer than `min_rows` rows are used so far, another
    combination of other rows is sought; it is left out if it ends with a longer residual.
    """
    n = len(Y)
    codes = np.zeros((n, n))
    for i in range(n):
        used = [i]
        while True:
            chosen: list[int] = []
            values = np.zeros(0)
            residual = Y[i]
            while len(chosen) < n_nonzero and np.linalg.norm(residual) > tol:
                # A chosen row is orthogonal to the residual up to rounding, and must not be chosen for that.
                products = [0.0 if j in used or j in chosen else abs(Y[j] @ residual) for j in range(n)]
                if max(products) == 0.0:
                    break
                chosen.append(int(np.argmax(products)))
                values = np.linalg.lstsq(Y[chosen].T, Y[i], rcond=None)[0]
                residual = Y[i] - values @ Y[chosen]
            complete = np.linalg.norm(residual) <= tol
            if complete or len(used) == 1:
                codes[i, chosen] = values
            used += chosen
            if not complete or not chosen or len(used) - 1 >= min_rows:
                break
    return codes


def nearest_angle_codes(Y: Array, count: int) -> Array:
    """Codes (n, n) by thresholding: exp(-2 angle) for the `count` rows with the smallest angles, lines in either
    direction."""
    n = len(Y)
    codes = np.zeros((n, n))
    for i in range(n):
        cosines = [abs(Y[i] @ Y[j]) / np.linalg.norm(Y[i]) / np.linalg.norm(Y[j]) if j != i else -1.0 for j in range(n)]
        for j in sorted(range(n), key=lambda j: -cosines[j])[:count]:
            codes[i, j] = np.exp(-2 * np.arccos(min(1.0, cosines[j])))
    return codes


def ridge_codes(Y: Array, lam: float) -> Array:
    """Codes (n, n) that minimise |c|^2 + lam |y - sum_j c_j y_j|^2 without the row itself, one row after another."""
    n = len(Y)
    codes = np.zeros((n, n))
    for i in range(n):
        others = np.delete(np.arange(n), i)
        gram = lam * Y[others] @ Y[others].T + np.eye(n - 1)
        codes[i, others] = np.linalg.solve(gram, lam * Y[others] @ Y[i])
    return codes


def low_rank_codes(Y: Array, tau: float, n_steps: int = 20_000) -> Array:
    """Codes C (n, n) that minimise |C|_* + tau / 2 |Y - C Y|^2, by proximal gradient steps."""
    step = 1 / (tau * np.linalg.norm(Y, 2) ** 2)
    codes = np.zeros((len(Y), len(Y)))
    for _ in range(n_steps):
        left, values, right = np.linalg.svd(codes - step * tau * (codes @ Y - Y) @ Y.T)
        codes = (left * np.maximum(values - step, 0)) @ right
    return codes


def sssc_residuals(X_in: Array, labels_in: Array, Y_new: Array, ridge: float) -> tuple[Array, Array]:
    """Residuals |y - X_k c_k|^2 / |c_k|^2 (n, K) of new rows, and the classes (K,).

    c is the ridge code of y on all in-sample rows, X_k and c_k the rows of class k and their share of it. A class
    that takes no part in the code has an infinite residual.
    """
    classes = np.unique(labels_in)
    table = np.full((len(Y_new), len(classes)), np.inf)
    inverse = np.linalg.inv(X_in @ X_in.T + ridge * np.eye(len(X_in)))
    for i, y in enumerate(Y_new):
        code = inverse @ (X_in @ y)
        for k, label in enumerate(classes):
            rows, part = X_in[labels_in == label], code[labels_in == label]
            residual = y - part @ rows
            if part.any():
                table[i, k] = (residual @ residual) / (part @ part)
    return table, classes


def sssc_predict(X_in: Array, labels_in: Array, Y_new: Array, ridge: float) -> Array:
    """Label (n,) of each of the rows `Y_new` (n, p): the class of `X_in` (m, p) with the least `sssc_residuals`."""
    table, classes = sssc_residuals(X_in, labels_in, Y_new, ridge)
    return classes[table.argmin(axis=1)]


def normalised_laplacian_vectors(W: Array, K: int) -> tuple[Array, Array]:
    """Smallest eigenvalues (K,) of I - D^(-1/2) W D^(-1/2) and their eigenvectors (n, K); `W` (n, n) symmetric.

    A node of degree 0 has the eigenvalue 1: it is not a cluster.
    """
    degrees = W.sum(axis=1)
    scale = np.array([1.0 / np.sqrt(degree) if degree > 0.0 else 0.0 for degree in degrees])
    values, vectors = np.linalg.eigh(np.eye(len(W)) - np.diag(scale) @ W @ np.diag(scale))
    return values[:K], vectors[:, :K]


def normalised_spectral_labels(W: Array, K: int) -> Array:
    """Labels (n,): k-means of the unit rows of `normalised_laplacian_vectors`, the best of many starts."""
    vectors = normalised_laplacian_vectors(W, K)[1]
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return KMeans(K, n_init=50, random_state=0).fit_predict(vectors / np.where(lengths > 0.0, lengths, 1.0))


def greedy_flats(distances: Array, K: int, start: Array, n_passes: int) -> tuple[Array, float]:
    """Choice (K,) of candidate flats by passes over the slots, and its energy sum_i min_k distances[i, chosen_k].

    `distances` (n, C) are those of rows to candidates, `start` (K,) the first choice. A pass goes over slots 0 to K-1
    and puts in each the candidate, of all C, with the least energy beside the other slots, the first of equals.
    """
    chosen = [int(candidate) for candidate in start]
    assert len(chosen) == K
    for _ in range(n_passes):
        for slot in range(K):
            energies = []
            for candidate in range(distances.shape[1]):
                trial = [*chosen[:slot], candidate, *chosen[slot + 1 :]]
                energies.append(distances[:, trial].min(axis=1).sum())
            chosen[slot] = int(np.argmin(energies))
    return np.array(chosen), float(distances[:, chosen].min(axis=1).sum())


def signed_minimiser(
    B: Array, y: Array, costs: Array, fidelity: float, ridge: float = 0.0, constraint: tuple[Array, Array] | None = None
) -> Array:
    """The x (N,) that minimises sum_j costs_j |x_j| + ridge/2 |x|^2 + fidelity/2 |y - B x|^2.

    `B` is (p, N); a `constraint` (E, b) adds E x = b. With x = u - v, u and v >= 0, it is a quadratic program.
    """
    size = B.shape[1]
    H = fidelity * B.T @ B + ridge * np.eye(size)
    g = -fidelity * B.T @ y
    if not costs.any() and constraint is None:
        return np.linalg.solve(H, -g)
    E, b = constraint if constraint is not None else (np.zeros((0, size)), np.zeros(0))
    z = quadratic_program(np.block([[H, -H], [-H, H]]), np.concatenate([costs + g, costs - g]), np.hstack([E, -E]), b)
    return z[:size] - z[size:]


def least_l1(B: Array, y: Array, costs: Array, constraint: tuple[Array, Array] | None = None) -> Array:
    """The x (N,) that minimises sum_j costs_j |x_j| subject to B x = y and a `constraint` (E, b), E x = b."""
    if constraint is not None:
        B, y = np.vstack([B, constraint[0]]), np.concatenate([y, constraint[1]])
    solution = linprog(np.concatenate([costs, costs]), A_eq=np.hstack([B, -B]), b_eq=y, method="highs")
    assert solution.status == 0, solution.message
    size = B.shape[1]
    return solution.x[:size] - solution.x[size:]


def quadratic_program(H: Array, q: Array, E: Array, b: Array) -> Array:
    """The z >= 0 (N,) that minimises z.Hz/2 + q.z subject to E z = b, for positive semi-definite H (N, N).

    Mehrotra's predictor-corrector steps towards H z + q = E' w + s, E z = b, z_j s_j = 0, z and s >= 0, then the exact
    solution on the entries that stay positive, where that is an optimum.
    """
    size = len(q)
    z, s, w = np.ones(size), np.full(size, 1 + np.abs(q).max()), np.zeros(len(b))
    for _ in range(100):
        gap = z @ s / size
        residuals = np.concatenate([H @ z + q - E.T @ w - s, E @ z - b])
        if gap < 1e-13 and np.abs(residuals).max() < 1e-11 * (1 + np.abs(q).max()):
            break
        matrix = np.block([[H + np.diag(s / z), -E.T], [E, np.zeros((len(b), len(b)))]])
        try:
            dz, ds, _ = newton_step(matrix, residuals, z, s, products=np.zeros(size))
            reach = longest_step(z, s, dz, ds)
            predicted = (z + reach * dz) @ (s + reach * ds) / size
            dz, ds, dw = newton_step(matrix, residuals, z, s, products=(predicted / gap) ** 3 * gap - dz * ds)
        except np.linalg.LinAlgError:
            # Copies of a row make the last matrices nearly singular; the check below decides whether z is an optimum.
            break
        reach = 0.99 * longest_step(z, s, dz, ds)
        z, s, w = z + reach * dz, s + reach * ds, w + reach * dw
    # Gradients are known to the rounding of their largest term.
    allowed = 5e-9 + 1e-12 * np.abs(q).max()
    exact, prices = on_support(H, q, E, b, z > s)
    if suboptimality(H, q, E, b, exact, prices) < allowed:
        return exact
    error = suboptimality(H, q, E, b, z, w)
    assert error < allowed, f"no optimum: the value may be {error:.3g} too large"
    return z


def newton_step(matrix: Array, residuals: Array, z: Array, s: Array, products: Array) -> tuple[Array, Array, Array]:
    """Changes of z (N,), of s (N,) and of the prices that take `residuals` to 0 and z_j s_j to `products` (N,)."""
    right = -residuals
    right[: len(z)] += (products - z * s) / z
    solution = np.linalg.solve(matrix, right)
    dz = solution[: len(z)]
    return dz, (products - z * s - s * dz) / z, solution[len(z) :]


def suboptimality(H: Array, q: Array, E: Array, b: Array, z: Array, w: Array) -> float:
    """How far z.Hz/2 + q.z may lie above its minimum, by the prices `w` of the constraints; z is to be feasible.

    The gap z.s, and as much as solutions of about the size of z could gain from a negative s_j.
    """
    s = H @ z + q - E.T @ w
    violation = max(0.0, -s.min(), -z.min(), np.abs(E @ z - b).max(initial=0.0))
    return float(abs(z @ s) + violation * (1 + np.abs(z).sum()))


def longest_step(z: Array, s: Array, dz: Array, ds: Array) -> float:
    """The largest t <= 1 with z + t dz >= 0 and s + t ds >= 0."""
    values, steps = np.concatenate([z, s]), np.concatenate([dz, ds])
    shrinking = steps < 0
    return float(min(1.0, (-values[shrinking] / steps[shrinking]).min(initial=1.0)))


def on_support(H: Array, q: Array, E: Array, b: Array, support: Array) -> tuple[Array, Array]:
    """The stationary z (N,) that is 0 outside of `support` (N,), of any sign inside, and the prices of E z = b."""
    zero = np.zeros((len(b), len(b)))
    system = np.block([[H[np.ix_(support, support)], -E[:, support].T], [E[:, support], zero]])
    values = np.linalg.lstsq(system, np.concatenate([-q[support], b]), rcond=None)[0]
    z = np.zeros(len(q))
    z[support] = values[: support.sum()]
    return z, values[support.sum() :]
