"""The slow versions of self-expressive methods, against optimality conditions, closed forms and scikit-learn."""

from itertools import combinations, pairwise

import numpy as np
import pytest
import reference_codes as reference
from scipy.optimize import linprog, minimize
from sklearn.linear_model import ElasticNet, Lasso, orthogonal_mp

FIDELITIES = [0.5, 3.0, 40.0, 1000.0]


@pytest.fixture(scope="module")
def Y():
    """Noisy unit rows (18, 6) of three planes."""
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.standard_normal((6, 2)) @ rng.standard_normal((2, 6)) for _ in range(3)])
    rows += 0.03 * rng.standard_normal(rows.shape)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def assert_lasso_optimal(x, gradient, costs, tolerance=1e-5):
    """Zero in costs_j times the subdifferential of |x_j| plus the `gradient` of the smooth part."""
    active = np.abs(x) > 1e-9
    np.testing.assert_allclose(gradient[active], -costs[active] * np.sign(x[active]), atol=tolerance)
    assert (np.abs(gradient[~active]) <= costs[~active] + tolerance).all()


@pytest.mark.parametrize("lam", FIDELITIES)
def test_lasso_codes_meet_the_optimality_conditions(Y, lam):
    codes, objectives = reference.lasso_codes(Y, lam)
    assert not codes.diagonal().any()
    for i, code in enumerate(codes):
        others = np.delete(np.arange(len(Y)), i)
        residual = Y[i] - code @ Y
        assert_lasso_optimal(code[others], -lam * Y[others] @ residual, np.ones(len(others)))
        assert objectives[i] == pytest.approx(np.abs(code).sum() + lam / 2 * np.sum(residual**2), rel=1e-12)


@pytest.mark.parametrize("lam", FIDELITIES)
def test_lasso_objectives_meet_their_dual(Y, lam):
    """The largest y.w - |w|^2 / (2 lam) with |Y_j.w| <= 1 is at the residual times lam."""
    codes, objectives = reference.lasso_codes(Y, lam)
    for i, code in enumerate(codes):
        w = lam * (Y[i] - code @ Y)
        w /= max(1.0, np.abs(np.delete(Y, i, axis=0) @ w).max())
        assert objectives[i] == pytest.approx(Y[i] @ w - w @ w / (2 * lam), abs=1e-8)


def test_lasso_codes_agree_with_coordinate_descent(Y):
    lam = 40.0
    codes, _ = reference.lasso_codes(Y, lam)
    model = Lasso(alpha=1 / (lam * Y.shape[1]), fit_intercept=False, tol=1e-12, max_iter=100_000)
    for i in range(len(Y)):
        expected = model.fit(np.delete(Y, i, axis=0).T, Y[i]).coef_
        np.testing.assert_allclose(np.delete(codes[i], i), expected, atol=1e-6)


@pytest.mark.parametrize("lam", FIDELITIES)
def test_affine_lasso_codes_meet_the_optimality_conditions(Y, lam):
    codes, objectives = reference.lasso_codes(Y, lam, affine=True)
    assert (objectives >= reference.lasso_codes(Y, lam)[1] - 1e-9).all()
    np.testing.assert_allclose(codes.sum(axis=1), 1, atol=1e-9)
    for i, code in enumerate(codes):
        others = np.delete(np.arange(len(Y)), i)
        gradient = -lam * Y[others] @ (Y[i] - code @ Y)
        largest = int(np.abs(code[others]).argmax())
        price = gradient[largest] + np.sign(code[others][largest])
        assert_lasso_optimal(code[others], gradient - price, np.ones(len(others)))


def test_affine_lasso_is_no_worse_than_a_general_solver(Y):
    lam = 20.0
    _, objectives = reference.lasso_codes(Y[:8], lam, affine=True)
    for i in range(2):
        A = np.delete(Y[:8], i, axis=0)

        def value(z, A=A, i=i):
            residual = Y[i] - (z[:7] - z[7:]) @ A
            return z.sum() + lam / 2 * residual @ residual

        constraint = {"type": "eq", "fun": lambda z: z[:7].sum() - z[7:].sum() - 1}
        options = {"ftol": 1e-13, "maxiter": 1000}
        found = minimize(value, np.full(14, 0.1), bounds=[(0, None)] * 14, constraints=constraint, options=options)
        assert objectives[i] == pytest.approx(found.fun, abs=1e-6)
        assert objectives[i] <= found.fun + 1e-8


def test_two_orthogonal_neighbours_are_soft_thresholded():
    """With orthonormal others, c = soft(y, 1/lam) entry by entry."""
    Y = np.vstack([[0.8, -0.3, 0.05], np.eye(3)])
    codes, objectives = reference.lasso_codes(Y, 10.0)
    np.testing.assert_allclose(codes[0], [0, 0.7, -0.2, 0], atol=1e-12)
    assert objectives[0] == pytest.approx(0.9 + 5 * (0.01 + 0.01 + 0.0025))


@pytest.mark.parametrize("affine", [False, True])
def test_copies_and_zero_rows_are_coded(Y, affine):
    rows = Y.copy()
    rows[1], rows[2] = rows[0], 0
    codes, objectives = reference.lasso_codes(rows, 100.0, affine)
    np.testing.assert_allclose(objectives[:2], 1 if affine else 1 - 1 / 200)
    assert codes[0, 1] == pytest.approx(1 if affine else 0.99)
    assert not codes[2].any() or affine
    assert reference.outlier_codes(rows, 0.5, 100.0, affine)[2][0] <= objectives[0] + 1e-9


def test_fidelity_may_differ_between_rows(Y):
    lam = np.linspace(2, 30, len(Y))
    codes, objectives = reference.lasso_codes(Y, lam)
    for i in (0, 11):
        alone = reference.lasso_codes(Y, lam[i])
        np.testing.assert_allclose(codes[i], alone[0][i], atol=1e-12)
        assert objectives[i] == pytest.approx(alone[1][i])


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("gamma", [0.2, 0.8])
def test_exact_outlier_codes_meet_their_dual(Y, affine, gamma):
    """max y.w + t, |w_k| <= gamma, |Y_j.w + t| <= 1, t = 0 unless affine."""
    codes, errors, objectives = reference.outlier_codes(Y, gamma, affine=affine)
    np.testing.assert_allclose(codes @ Y + errors, Y, atol=1e-9)
    assert not codes.diagonal().any()
    if affine:
        np.testing.assert_allclose(codes.sum(axis=1), 1, atol=1e-9)
    for i in range(len(Y)):
        others = np.hstack([np.delete(Y, i, axis=0), np.ones((len(Y) - 1, 1))])
        bounds = [(-gamma, gamma)] * Y.shape[1] + [(None, None) if affine else (0, 0)]
        dual = linprog(
            -np.append(Y[i], 1), A_ub=np.vstack([others, -others]), b_ub=np.ones(2 * len(others)), bounds=bounds
        )
        assert objectives[i] == pytest.approx(-dual.fun, abs=1e-8)
        assert objectives[i] == pytest.approx(np.abs(codes[i]).sum() + gamma * np.abs(errors[i]).sum())


@pytest.mark.parametrize("lam", [5.0, 200.0])
def test_outlier_codes_meet_the_optimality_conditions(Y, lam):
    gamma = 0.7
    codes, errors, objectives = reference.outlier_codes(Y, gamma, lam)
    for i in range(len(Y)):
        others = np.delete(np.arange(len(Y)), i)
        gap = Y[i] - codes[i] @ Y - errors[i]
        assert_lasso_optimal(codes[i, others], -lam * Y[others] @ gap, np.ones(len(others)))
        assert_lasso_optimal(errors[i], -lam * gap, np.full(Y.shape[1], gamma))
        total = np.abs(codes[i]).sum() + gamma * np.abs(errors[i]).sum() + lam / 2 * gap @ gap
        assert objectives[i] == pytest.approx(total)


def test_outlier_codes_have_the_limits_they_should(Y):
    exact = reference.outlier_codes(Y, 0.7)[2]
    stiff = reference.outlier_codes(Y, 0.7, lam=1e5)[2]
    assert (stiff <= exact + 1e-9).all()
    np.testing.assert_allclose(stiff, exact, atol=1e-3)
    # Dear errors are not made, and what is left is the lasso.
    for affine in (False, True):
        codes, errors, objectives = reference.outlier_codes(Y, 1e3, lam=30.0, affine=affine)
        assert not errors.any()
        np.testing.assert_allclose(objectives, reference.lasso_codes(Y, 30.0, affine=affine)[1], atol=1e-9)
        np.testing.assert_allclose(codes, reference.lasso_codes(Y, 30.0, affine=affine)[0], atol=1e-6)


def test_one_spoilt_entry_is_found():
    rng = np.random.default_rng(3)
    Y = rng.standard_normal((10, 2)) @ rng.standard_normal((2, 12))
    clean = Y.copy()
    Y[0, 4] += 5
    _, errors, _ = reference.outlier_codes(Y, 0.2)
    assert np.flatnonzero(np.abs(errors[0]) > 1e-9).tolist() == [4]
    assert errors[0, 4] == pytest.approx((Y - clean)[0, 4])


@pytest.mark.parametrize("lam", [0.3, 0.9, 1.0])
def test_elastic_net_codes_meet_the_optimality_conditions(Y, lam):
    gamma = np.linspace(5, 60, len(Y))
    codes, objectives = reference.elastic_net_codes(Y, lam, gamma)
    for i, code in enumerate(codes):
        others = np.delete(np.arange(len(Y)), i)
        residual = Y[i] - code @ Y
        gradient = (1 - lam) * code[others] - gamma[i] * Y[others] @ residual
        assert_lasso_optimal(code[others], gradient, np.full(len(others), lam))
        total = lam * np.abs(code).sum() + (1 - lam) / 2 * code @ code + gamma[i] / 2 * residual @ residual
        assert objectives[i] == pytest.approx(total)


def test_elastic_net_ends_are_ridge_and_lasso(Y):
    np.testing.assert_allclose(reference.elastic_net_codes(Y, 1.0, 25.0)[0], reference.lasso_codes(Y, 25.0)[0])
    A = Y[1:]
    ridge = np.linalg.solve(25.0 * A @ A.T + np.eye(len(A)), 25.0 * A @ Y[0])
    np.testing.assert_allclose(reference.elastic_net_codes(Y, 0.0, 25.0)[0][0, 1:], ridge, atol=1e-10)


def test_elastic_net_agrees_with_coordinate_descent(Y):
    lam, gamma, p = 0.8, 30.0, Y.shape[1]
    codes, _ = reference.elastic_net_codes(Y, lam, gamma)
    model = ElasticNet(alpha=1 / (gamma * p), l1_ratio=lam, fit_intercept=False, tol=1e-12, max_iter=100_000)
    for i in range(len(Y)):
        expected = model.fit(np.delete(Y, i, axis=0).T, Y[i]).coef_
        np.testing.assert_allclose(np.delete(codes[i], i), expected, atol=1e-6)


@pytest.mark.parametrize("n_nonzero", [1, 2, 4])
def test_pursuit_agrees_with_scikit_learn(Y, n_nonzero):
    codes = reference.omp_codes(Y, n_nonzero)
    for i, code in enumerate(codes):
        expected = orthogonal_mp(np.delete(Y, i, axis=0).T, Y[i], n_nonzero_coefs=n_nonzero)
        np.testing.assert_allclose(np.delete(code, i), expected, atol=1e-10)
        assert code[i] == 0


def test_pursuit_stops_at_its_tolerance(Y):
    tol = 0.1
    codes = reference.omp_codes(Y, 6, tol)
    assert (np.linalg.norm(Y - codes @ Y, axis=1) <= tol).all()
    assert len({int(np.count_nonzero(code)) for code in codes}) > 1
    for i, code in enumerate(codes):
        # scikit-learn's tolerance is that of the square.
        expected = orthogonal_mp(np.delete(Y, i, axis=0).T, Y[i], tol=tol**2)
        np.testing.assert_allclose(np.delete(code, i), expected, atol=1e-10)


def test_pursuit_leaves_rows_that_nothing_explains():
    codes = reference.omp_codes(np.eye(3), 2)
    assert not codes.any()


def test_sssc_gives_rows_to_the_subspace_they_lie_in():
    rng = np.random.default_rng(1)
    bases = [rng.standard_normal((2, 7)) for _ in range(3)]
    X_in = np.vstack([rng.standard_normal((5, 2)) @ basis for basis in bases])
    labels_in = np.repeat([4, 7, 9], 5)
    order = rng.permutation(15)
    Y_new = np.vstack([rng.standard_normal((4, 2)) @ basis for basis in bases])
    labels = reference.sssc_predict(X_in[order], labels_in[order], Y_new, 1e-6)
    assert labels.tolist() == np.repeat([4, 7, 9], 4).tolist()


def test_sssc_residuals_by_hand():
    """Orthonormal in-sample rows and ridge 1 halve the code: c = y / 2."""
    table, classes = reference.sssc_residuals(
        np.eye(3), np.array([0, 0, 1]), np.array([[2.0, 0, 4.0], [0, 2.0, 0]]), 1.0
    )
    assert classes.tolist() == [0, 1]
    np.testing.assert_allclose(table[0], [(1 + 16) / 1, (4 + 4) / 4])
    np.testing.assert_allclose(table[1], [1.0, np.inf])


def test_laplacian_vectors_of_separate_cliques():
    W = np.zeros((6, 6))
    W[:3, :3] = W[3:5, 3:5] = 1
    np.fill_diagonal(W, 0)
    values, vectors = reference.normalised_laplacian_vectors(W, 4)
    # Cliques of 3 and of 2: 0, 3/2, 3/2 and 0, 2; the lonely node has 1.
    np.testing.assert_allclose(values, [0, 0, 1, 1.5], atol=1e-12)
    projector = vectors[:, :2] @ vectors[:, :2].T
    np.testing.assert_allclose(projector[:3, :3], 1 / 3, atol=1e-12)
    np.testing.assert_allclose(projector[5], 0, atol=1e-12)
    labels = reference.normalised_spectral_labels(W[:5, :5], 2)
    assert len(set(labels[:3])) == len(set(labels[3:])) == 1
    assert labels[0] != labels[4]


def test_greedy_choice_of_one_flat_is_the_best_one():
    distances = np.random.default_rng(2).random((20, 9))
    chosen, energy = reference.greedy_flats(distances, 1, np.array([3]), 1)
    assert chosen.tolist() == [int(distances.sum(axis=0).argmin())]
    assert energy == pytest.approx(distances.sum(axis=0).min())


def test_greedy_choice_ends_at_a_local_minimum():
    rng = np.random.default_rng(5)
    distances = rng.random((30, 12))
    start = rng.choice(12, 3, replace=False)
    energies = [reference.greedy_flats(distances, 3, start, passes)[1] for passes in range(8)]
    assert energies[0] == pytest.approx(distances[:, start].min(axis=1).sum())
    assert all(after <= before for before, after in pairwise(energies))
    assert energies[-1] < energies[0]
    chosen, energy = reference.greedy_flats(distances, 3, start, 20)
    for slot in range(3):
        for candidate in range(12):
            trial = chosen.copy()
            trial[slot] = candidate
            assert distances[:, trial].min(axis=1).sum() >= energy - 1e-12
    best = min(distances[:, trio].min(axis=1).sum() for trio in combinations(range(12), 3))
    assert energy >= best


def test_greedy_choice_by_hand():
    """Three candidates, two of which split the rows; slot 0 moves first and takes what slot 1 lacks."""
    distances = np.array([[0.0, 9.0, 4.0], [0.0, 9.0, 4.0], [9.0, 0.0, 4.0]])
    chosen, energy = reference.greedy_flats(distances, 2, np.array([2, 2]), 1)
    assert chosen.tolist() == [0, 1]
    assert energy == 0
