"""Sparse codes: optimal by a slow oracle, the same for every block size and library, and the graph they make."""

import tracemalloc

import numpy as np
import pytest
import reference_codes
from scipy.sparse import csr_matrix
from sklearn.linear_model import orthogonal_mp

from subspaces._core import arrays as _array
from subspaces._core.arrays import unit_rows
from subspaces._core.progress import listening
from subspaces._core.threads import n_threads
from subspaces.datasets import make_subspaces
from subspaces.self_expression import (
    ADMM,
    OMP,
    ElasticNet,
    LeastSquares,
    LowRank,
    Thresholding,
    admm,
    affinity,
    self_codes,
)
from subspaces.self_expression.base import Cancellation, Cancelled

SOLVERS = [
    ADMM(),
    ADMM(outliers=True),
    ElasticNet(tol=1e-6),
    OMP(),
    Thresholding(5),
    LeastSquares(n_nonzero=1000),
    LowRank(n_nonzero=1000),
]


def planes(n=15, *, outliers=0.1, affine=False, seed=0):
    X, _ = make_subspaces((1, 2), 4, points_per_subspace=n, noise=0.05, outliers=outliers, random_state=seed)
    return X + 0.5 if affine else unit_rows(X)


def dense(x, solver, *, affine=False):
    return self_codes(x, solver, affine=affine).matrix.toarray()


def lasso_objectives(codes, x, fidelity):
    return np.abs(codes).sum(axis=1) + fidelity / 2 * np.square(x - codes @ x).sum(axis=1)


class TestADMM:
    @pytest.mark.parametrize(("alpha", "seed"), [(5.0, 0), (20.0, 1), (200.0, 2)])
    def test_lasso_has_the_smallest_objective(self, alpha, seed):
        x = planes(seed=seed)
        fidelity = alpha / admm.smallest_coherence(x)
        codes = dense(x, ADMM(alpha, tol=1e-6, max_iter=50_000))
        # Codes themselves may differ where the objective is flat.
        _, best = reference_codes.lasso_codes(x, fidelity)
        np.testing.assert_allclose(lasso_objectives(codes, x, fidelity), best, rtol=1e-5)

    def test_affine_codes_sum_to_one_at_the_smallest_objective(self):
        x = planes(affine=True)
        fidelity = 20 / admm.smallest_coherence(x)
        codes = dense(x, ADMM(tol=1e-6, max_iter=50_000), affine=True)
        np.testing.assert_allclose(codes.sum(axis=1), 1, atol=1e-4)
        _, best = reference_codes.lasso_codes(x, fidelity, affine=True)
        np.testing.assert_allclose(lasso_objectives(codes, x, fidelity), best, rtol=1e-4)

    @pytest.mark.parametrize("affine", [False, True])
    def test_errors_are_taken_up_at_the_smallest_objective(self, affine):
        x = planes(10, affine=affine)
        weight = 20 / np.abs(x).sum(axis=1).max()
        found = self_codes(x, ADMM(outliers=True, tol=1e-6, max_iter=50_000), affine=affine)
        codes = found.matrix.toarray()
        _, _, best = reference_codes.outlier_codes(x, weight, affine=affine)
        # With the code given, what it leaves of a row is its error.
        reached = np.abs(codes).sum(axis=1) + weight * np.abs(x - codes @ x).sum(axis=1)
        # A linear programme can move along an edge very slowly; such rows are reported as not converged.
        assert found.converged.mean() > 0.8
        np.testing.assert_allclose(reached[found.converged], best[found.converged], rtol=1e-4)
        np.testing.assert_allclose(reached, best, rtol=1e-3)

    def test_default_tolerance_is_about_that_of_the_objective(self):
        X, _ = make_subspaces((4, 5, 6), 10, points_per_subspace=80, random_state=0)
        x = unit_rows(X)
        fidelity = 20 / admm.smallest_coherence(x)
        loose, tight = (lasso_objectives(dense(x, ADMM(tol=tol, max_iter=20_000)), x, fidelity) for tol in (1e-2, 1e-5))
        assert ((loose - tight) / tight).max() < 0.02

    def test_smallest_coherence_is_that_of_all_pairs(self):
        x = planes()
        products = np.abs(x @ x.T)
        np.fill_diagonal(products, 0)
        assert admm.smallest_coherence(x) == pytest.approx(products.max(axis=1).min())

    def test_a_row_of_zeros_does_not_count_as_coherence(self):
        x = np.vstack([planes(), np.zeros((1, 4))])
        assert admm.smallest_coherence(x) == pytest.approx(admm.smallest_coherence(planes()))
        codes = dense(x, ADMM())
        assert not codes[-1].any()
        assert not codes[:, -1].any()

    def test_iterations_are_counted_and_bounded(self):
        x = planes()
        codes = self_codes(x, ADMM(tol=1e-9, max_iter=20), affine=False)
        assert (codes.n_iter == 20).all()
        assert not codes.converged.any()
        assert self_codes(x, ADMM(max_iter=5000), affine=False).converged.all()

    def test_without_a_tolerance_all_rows_take_all_iterations(self):
        codes = self_codes(planes(), ADMM(tol=None, max_iter=30), affine=False)
        assert (codes.n_iter == 30).all()
        assert codes.converged.all()

    def test_converged_codes_do_not_depend_on_the_penalty(self):
        x = planes(8)
        fidelity = 20 / admm.smallest_coherence(x)
        first, second = (
            lasso_objectives(dense(x, ADMM(tol=1e-4, max_iter=20_000, penalty=penalty)), x, fidelity)
            for penalty in (10, 100)
        )
        np.testing.assert_allclose(first, second, rtol=1e-3)

    def test_slots_of_converged_rows_are_reused(self):
        x = planes(20)
        lasso = admm.prepare_lasso(x, fidelity=30.0, affine=False)
        rows = np.random.default_rng(0).permutation(len(x))[:25]
        whole = admm.solve_lasso(
            lasso, np.arange(len(x)), tol=1e-3, max_iter=3000, slots=len(x), cancellation=Cancellation()
        )
        for slots in (1, 3, 7, 25):
            some = admm.solve_lasso(lasso, rows, tol=1e-3, max_iter=3000, slots=slots, cancellation=Cancellation())
            np.testing.assert_allclose(some.matrix.toarray(), whole.matrix.toarray()[rows], atol=1e-10)
            np.testing.assert_array_equal(some.n_iter, whole.n_iter[rows])
            np.testing.assert_array_equal(some.converged, whole.converged[rows])


class TestElasticNet:
    @pytest.mark.parametrize("l1_ratio", [0.5, 0.95])
    @pytest.mark.parametrize("alpha", [2.0, 50.0, 1000.0])
    def test_codes_are_the_minimum(self, alpha, l1_ratio):
        x = planes()
        products = np.abs(x @ x.T)
        np.fill_diagonal(products, 0)
        fidelity = alpha * l1_ratio / products.max(axis=1)
        codes = dense(x, ElasticNet(alpha, l1_ratio=l1_ratio, tol=1e-9))
        exact, _ = reference_codes.elastic_net_codes(x, l1_ratio, fidelity)
        np.testing.assert_allclose(codes, exact, atol=1e-5)

    def test_long_codes_are_gathered_in_parts(self, monkeypatch):
        from subspaces.self_expression import elastic_net as _elastic_net

        x = planes(30)
        exact = dense(x, ElasticNet(l1_ratio=0.1, tol=1e-9))
        monkeypatch.setattr(_elastic_net, "ACTIVE_PER_COLUMN", 1)
        assert (exact != 0).sum(axis=1).max() > 2 * x.shape[1]
        np.testing.assert_allclose(dense(x, ElasticNet(l1_ratio=0.1, tol=1e-9)), exact, atol=1e-8)

    def test_few_steps_are_needed(self):
        X, _ = make_subspaces((4, 5, 6), 10, points_per_subspace=60, random_state=0)
        codes = self_codes(unit_rows(X), ElasticNet(), affine=False)
        assert codes.converged.all()
        assert codes.n_iter.mean() < 30

    def test_below_its_smallest_fidelity_a_code_is_zero(self):
        assert not dense(planes(), ElasticNet(0.99)).any()

    def test_the_pure_l1_norm_is_refused(self):
        with pytest.raises(ValueError, match='solver="admm"'):
            self_codes(planes(), ElasticNet(l1_ratio=1.0), affine=False)


class TestOMP:
    @pytest.mark.parametrize("n_nonzero", [1, 2, 4])
    def test_codes_are_those_of_scikit_learn(self, n_nonzero):
        X, _ = make_subspaces((2, 3), 8, points_per_subspace=30, random_state=0)
        x = unit_rows(X)
        codes = dense(x, OMP(n_nonzero, tol=1e-6, min_rows=1))
        for i in range(len(x)):
            others = np.arange(len(x)) != i
            expected = orthogonal_mp(x[others].T, x[i], n_nonzero_coefs=n_nonzero)
            np.testing.assert_allclose(codes[i, others], expected, atol=1e-9)
        assert not codes.diagonal().any()

    def test_codes_equal_the_slow_version(self):
        x = planes()
        published = dense(x, OMP(3, tol=1e-6, min_rows=1))
        np.testing.assert_allclose(published, reference_codes.omp_codes(x, 3, 1e-6), atol=1e-8)

    @pytest.mark.parametrize(
        ("n_nonzero", "tol", "min_rows"), [(3, 0.2, 10), (5, 0.1, 4), (2, 0.5, 100), (9, 0.01, 20)]
    )
    def test_several_combinations_equal_the_slow_version(self, n_nonzero, tol, min_rows):
        x = planes()
        codes = dense(x, OMP(n_nonzero, tol=tol, min_rows=min_rows))
        np.testing.assert_allclose(codes, reference_codes.omp_codes(x, n_nonzero, tol, min_rows), atol=1e-8)
        assert not codes.diagonal().any()

    def test_similarity_is_by_angle_not_by_length(self):
        x = planes() * np.random.default_rng(0).uniform(0.1, 10, (len(planes()), 1))
        codes, scaled = dense(planes(), OMP(3, tol=1e-6)), dense(x, OMP(3, tol=1e-6))
        np.testing.assert_array_equal(codes != 0, scaled != 0)

    def test_stops_when_the_residual_is_zero(self):
        line = np.outer(np.arange(1.0, 6), [3.0, 4.0])
        codes = self_codes(line, OMP(4, min_rows=1), affine=False)
        assert (np.diff(codes.matrix.indptr) == 1).all()
        assert (codes.n_iter == 1).all()


class TestThresholding:
    @pytest.mark.parametrize("count", [1, 4, 100])
    def test_codes_equal_the_slow_version(self, count):
        x = planes() * np.random.default_rng(0).uniform(0.1, 10, (len(planes()), 1))
        expected = reference_codes.nearest_angle_codes(x, min(count, len(x) - 1))
        np.testing.assert_allclose(dense(x, Thresholding(count)), expected, atol=1e-7)


class TestClosedForms:
    @pytest.mark.parametrize("alpha", [1.0, 100.0])
    def test_least_squares_equals_the_slow_version(self, alpha):
        x = 3 * planes()
        codes = dense(x, LeastSquares(alpha, n_nonzero=1000))
        lam = alpha / np.square(x).sum(axis=1).mean()
        np.testing.assert_allclose(codes, reference_codes.ridge_codes(x, lam), atol=1e-8)

    def test_low_rank_is_the_minimum(self):
        x = 2 * planes(5)
        tau = 20 / (np.square(x).sum() / x.shape[1])
        expected = reference_codes.low_rank_codes(x, tau, 3000)
        np.fill_diagonal(expected, 0)
        np.testing.assert_allclose(dense(x, LowRank(20, n_nonzero=1000)), expected, atol=1e-5)

    @pytest.mark.parametrize("solver", [LeastSquares, LowRank])
    def test_the_largest_entries_are_kept(self, solver):
        x = planes()
        whole, some = dense(x, solver(n_nonzero=1000)), dense(x, solver(n_nonzero=3))
        limits = np.sort(np.abs(whole), axis=1)[:, -3]
        np.testing.assert_array_equal(some, np.where(np.abs(whole) >= limits[:, None], whole, 0))

    @pytest.mark.parametrize("solver", [LeastSquares(0), LowRank(-1), LowRank(n_nonzero=0), Thresholding(0)])
    def test_mistakes_are_named(self, solver):
        with pytest.raises(ValueError, match="must be"):
            self_codes(planes(), solver, affine=False)


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
class TestEverySolver:
    def test_no_row_uses_itself(self, solver):
        codes = self_codes(planes(), solver, affine=False).matrix
        assert codes.nnz
        assert not codes.diagonal().any()

    @pytest.mark.parametrize("affine", [False, True])
    def test_block_size_and_threads_do_not_matter(self, solver, affine, monkeypatch, tiny_blocks):
        x = planes(30)
        whole = dense(x, solver, affine=affine)
        tiny_blocks(4000)
        monkeypatch.setattr("subspaces.self_expression.base.BLOCK_BYTES", 4000)
        monkeypatch.setattr("subspaces.self_expression.base.n_threads", lambda: 3)
        np.testing.assert_allclose(dense(x, solver, affine=affine), whole, atol=1e-8)

    def test_rotations_do_not_matter(self, solver):
        if getattr(solver, "outliers", False):
            pytest.skip("errors are of coordinates")
        x = planes(30)
        rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
        np.testing.assert_allclose(dense(x @ rotation, solver), dense(x, solver), atol=1e-6)

    def test_order_does_not_matter(self, solver):
        x = planes(30)
        order = np.random.default_rng(0).permutation(len(x))
        np.testing.assert_allclose(dense(x[order], solver), dense(x, solver)[np.ix_(order, order)], atol=1e-6)

    def test_single_precision_follows_double(self, solver):
        x = planes(30)
        single = dense(x.astype(np.float32), solver)
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, dense(x, solver), atol=0.05)

    def test_one_row_has_an_empty_code(self, solver):
        codes = self_codes(np.ones((1, 3)), solver, affine=False)
        assert codes.matrix.shape == (1, 1)
        assert not codes.matrix.nnz

    @pytest.mark.parametrize("affine", [False, True])
    @pytest.mark.parametrize(
        "x",
        [np.zeros((5, 3)), np.ones((5, 3)), np.eye(4), np.repeat(np.eye(3), 4, axis=0), np.ones((2, 2))],
        ids=["zeros", "equal", "orthogonal", "copies", "pair"],
    )
    def test_degenerate_rows_give_finite_codes(self, solver, x, affine):
        codes = dense(x, solver, affine=affine)
        assert np.isfinite(codes).all()
        assert not codes.diagonal().any()

    def test_torch_gives_the_same(self, solver):
        torch = pytest.importorskip("torch")
        x = planes(30)
        on_torch = self_codes(torch.as_tensor(x), solver, affine=False).matrix.toarray()
        np.testing.assert_allclose(on_torch, dense(x, solver), atol=1e-6)


class TestInterrupts:
    @pytest.mark.parametrize("solver", SOLVERS, ids=str)
    def test_a_block_ends_when_it_is_cancelled(self, solver):
        cancellation = Cancellation()
        coder = solver.coder(planes(), affine=False)
        coder(np.arange(3), cancellation)
        cancellation.cancel()
        with pytest.raises(Cancelled):
            coder(np.arange(3), cancellation)

    def test_an_interrupt_ends_all_blocks(self, monkeypatch):
        base = "subspaces.self_expression.base"
        monkeypatch.setattr(f"{base}.BLOCK_BYTES", 1)
        monkeypatch.setattr(f"{base}.REPORT_SECONDS", 0.0)
        monkeypatch.setattr(f"{base}.n_threads", lambda: 2)
        begun = []

        class Counting(OMP):
            def coder(self, x, *, affine):
                inner = super().coder(x, affine=affine)
                return lambda rows, cancellation: begun.append(len(rows)) or inner(rows, cancellation)

        def interrupt(event):
            raise KeyboardInterrupt

        before = n_threads()
        x = np.random.default_rng(0).normal(size=(4000, 5))
        with pytest.raises(KeyboardInterrupt), listening(interrupt):
            self_codes(x, Counting(), affine=False)
        assert n_threads() == before
        assert sum(begun) < 2000

    def test_an_error_in_a_block_is_the_error(self):
        class Broken(OMP):
            def coder(self, x, *, affine):
                def code(rows, cancellation):
                    raise MemoryError("no room")

                return code

        with pytest.raises(MemoryError, match="no room"):
            self_codes(planes(), Broken(), affine=False)


class TestAffinity:
    def test_by_hand(self):
        codes = csr_matrix([[0, 4.0, -2, 1], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, -5, 0]])
        expected = np.array([[0, 2, 0.5, 0.25], [2, 0, 0, 0], [0.5, 0, 0, 1], [0.25, 0, 1, 0]])
        np.testing.assert_allclose(affinity(codes, mass=1).toarray(), expected)

    @pytest.mark.parametrize(("mass", "kept"), [(1.0, 4), (0.95, 4), (0.9, 3), (0.6, 2), (0.4, 1), (0.01, 1)])
    def test_keeps_the_largest_up_to_their_share(self, mass, kept):
        codes = csr_matrix(([4.0, -3, 2, 1], ([0] * 4, [1, 3, 2, 4])), shape=(5, 5))
        weights = affinity(codes, mass=mass)
        assert weights.nnz == 2 * kept
        assert weights[0, 1] == 1

    def test_keeps_the_least_number_of_edges(self):
        codes = csr_matrix(([4.0, -3, 2, 1, 1], ([0] * 4 + [1], [1, 3, 2, 4, 0])), shape=(5, 5))
        assert affinity(codes, mass=0.4, min_edges=3)[0].nnz == 3
        assert affinity(codes, mass=0.4, min_edges=9)[0].nnz == 4

    def test_small_codes_keep_their_edges(self):
        codes = csr_matrix(([1e8, 1e-20], ([0, 1], [1, 2])), shape=(3, 3))
        np.testing.assert_allclose(affinity(codes, mass=0.9).toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])

    def test_weights_are_symmetric_and_not_negative(self):
        weights = affinity(self_codes(planes(), ADMM(), affine=False).matrix, mass=0.7)
        assert (weights != weights.T).nnz == 0
        assert weights.min() >= 0


class TestPrimitives:
    @pytest.fixture(params=[np.float32, np.float64])
    def arrays(self, request):
        rng = np.random.default_rng(0)
        return [rng.normal(size=shape).astype(request.param) for shape in ((5, 9), (5, 3), (9, 3), (5, 9))]

    def test_against_plain_numpy(self, arrays):
        x, a, b, out = arrays
        _array.clip_into(x, 0.5, out)
        np.testing.assert_array_equal(out, np.clip(x, -0.5, 0.5))
        product = out - a @ b.T
        _array.subtract_product(out, a, b, np.empty_like(out))
        np.testing.assert_allclose(out, product, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("solver", [ADMM(max_iter=10), ElasticNet(max_iter=5), OMP()], ids=str)
def test_no_table_of_all_pairs_is_held(solver, monkeypatch):
    # Each thread has a block of its own.
    monkeypatch.setattr("subspaces.self_expression.base.n_threads", lambda: 2)
    X = np.random.default_rng(0).normal(size=(5000, 20)).astype(np.float32)
    tracemalloc.start()
    try:
        self_codes(X, solver, affine=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # All pairs would take 100 MB.
    assert peak < 90e6
