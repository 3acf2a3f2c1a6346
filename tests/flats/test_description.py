"""Description lengths against slow formulas; dimensions, outliers, invariances, unusual rows."""

from math import log, pi

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from examples import ODD_ROWS
from subspaces.datasets import make_subspaces
from subspaces.flats.cells import cluster_dim, dim_lengths
from subspaces.flats.description import describe, measure, shortest_code, shortest_codes

MODELS = [((2, 2), 6), ((4, 5, 6), 10), ((5, 6, 7), 20), ((3, 4, 5, 6, 7), 80)]


def noisy_labels(y, n_clusters, seed=0):
    """The true clusters, and any of them for outliers, as a method that knows no outliers gives."""
    return np.where(y < 0, np.random.default_rng(seed).integers(0, n_clusters, len(y)), y)


@pytest.fixture(scope="module")
def planes():
    X, y = make_subspaces((2, 2), 6, points_per_subspace=60, outliers=0.2, random_state=0)
    return X, noisy_labels(y, 2), y


def slow_flat_length(variances, dim, noise, size, reach):
    """What it takes to tell one flat, parameter by parameter."""
    p = len(variances)
    levels = [*variances[:dim], *[noise] * (p - dim)]
    nats = log(p) + (dim + 1) * log(size) / 2
    for i in range(dim):
        for j in range(i + 1, p):
            nats += log(1 + size * (levels[i] - levels[j]) ** 2 / (levels[i] * levels[j])) / 2
    if reach is not None:
        nats += sum(log(size * (1 + reach / level)) / 2 for level in levels)
    return nats


class TestLengths:
    @pytest.mark.parametrize("reach", [None, 1.0, 7.0])
    @pytest.mark.parametrize(("size", "n_dims"), [(40, 5), (4, None), (1, None)])
    def test_dimensions_equal_explicit_loops(self, reach, size, n_dims):
        variances = np.array([3.0, 2.0, 0.5, 0.04, 0.03])
        affine = reach is not None
        lengths, overheads, noise = dim_lengths(variances, size, reach)
        count = n_dims or max(0, size - affine - 1) + 1
        assert np.isinf(lengths).tolist() == [False] * count + [True] * (5 - count)
        for dim in range(count):
            freedom = (size - dim - affine) * (5 - dim)
            squares = size * variances[dim:].sum()
            level = squares / freedom if freedom else 1.0
            rows = size * (sum(log(2 * pi * v) + 1 for v in variances[:dim]) + (5 - dim) * log(2 * pi * level)) / 2
            flat = slow_flat_length(variances, dim, level, size, reach)
            assert noise[dim] == pytest.approx(level)
            assert overheads[dim] == pytest.approx(flat)
            assert lengths[dim] == pytest.approx(rows + squares / (2 * level) + flat)

    @pytest.mark.parametrize("affine", [False, True])
    def test_rows_equal_the_density(self, planes, affine):
        X, labels, _ = planes
        code = shortest_code(measure(X, affine=affine), labels, 2, free=False)
        rows, n = code.space.rows, len(X)
        for k, cell in enumerate(code.cells):
            own = rows[code.chosen == k]
            center = own.mean(axis=0) if affine else np.zeros(6)
            values, vectors = np.linalg.eigh((own - center).T @ (own - center) / len(own))
            values[: -len(cell.variances)] = cell.noise
            density = multivariate_normal(center, vectors @ np.diag(values) @ vectors.T).logpdf(own)
            slow = -density + log(n / len(own))
            np.testing.assert_allclose(code.row_lengths[code.chosen == k], slow, rtol=1e-9)
            assert cell.length == pytest.approx(-density.sum() + cell.overhead)
        outliers = rows[code.chosen == 2]
        wide = multivariate_normal(code.background.center, code.background.width * np.eye(6)).logpdf(outliers)
        np.testing.assert_allclose(code.row_lengths[code.chosen == 2], log(n / len(outliers)) - wide)
        described = describe(X, labels, 2, affine=affine)
        assert described.length == pytest.approx(described.row_lengths.sum() + code.overheads.sum())

    @pytest.mark.parametrize(("dims", "p"), MODELS)
    @pytest.mark.parametrize("affine", [False, True])
    def test_the_truth_is_the_shortest(self, dims, p, affine):
        X, y = make_subspaces(dims, p, points_per_subspace=120, outliers=0.3, random_state=1)
        count, rng = len(dims), np.random.default_rng(0)
        labels = noisy_labels(y, count)
        truth = describe(X, labels, count, affine=affine).length
        split = np.where((labels == 0) & (rng.random(len(y)) < 0.5), count, labels)
        assert truth < describe(X, split, count + 1, affine=affine).length
        assert truth < describe(X, np.maximum(labels - 1, 0), count - 1, affine=affine).length
        assert truth < describe(X, np.where(y < 0, count, y), count + 1, affine=affine).length
        assert truth < describe(X, rng.permutation(labels), count, affine=affine).length


class TestResults:
    @pytest.mark.parametrize(("dims", "p"), MODELS)
    @pytest.mark.parametrize("outliers", [0, 0.05, 0.3])
    @pytest.mark.parametrize("affine", [False, True])
    def test_dimensions_noise_and_outliers(self, dims, p, outliers, affine):
        X, y = make_subspaces(dims, p, outliers=outliers, affine=affine, random_state=0)
        found = describe(X, noisy_labels(y, len(dims)), len(dims), affine=affine)
        assert found.dims.tolist() == list(dims)
        np.testing.assert_allclose(found.noise, 0.05, rtol=0.1)
        assert (found.outliers == (y < 0)).mean() > 0.99

    def test_a_hyperplane(self):
        X, _ = make_subspaces((9,), 10, noise=0.02, outliers=0, random_state=0)
        assert describe(X, np.zeros(len(X), np.int32), 1, affine=False).dims.tolist() == [9]

    def test_unused_columns_do_not_count_as_a_flat(self):
        # Within 12 columns that hold three leading directions; exactly zero in four others.
        X = np.random.default_rng(0).normal(size=(2000, 16)) * np.r_[[9, 9, 9], np.geomspace(1, 0.3, 9), np.zeros(4)]
        assert describe(X, np.zeros(2000, np.int32), 1, affine=True).dims.tolist() == [3]

    @pytest.mark.parametrize(
        ("savings", "n_columns", "dim"),
        [
            ([], 5, 0),
            ([0.2, 0.5], 5, 0),
            ([3, 2, 0.5], 9, 2),
            # The first directions of a wide flat save little.
            ([0, 0.1, 3], 6, 3),
            ([0, 0.1, 3], 4, 3),
            # More than two thirds of the columns: the leading directions.
            ([3, 2, 0.1, 0.1, 0.1, 0.1, 3], 10, 2),
        ],
    )
    def test_the_dimension_of_a_cluster(self, savings, n_columns, dim):
        assert cluster_dim(10.0 - np.cumsum([0, *savings]), n_columns) == dim

    def test_a_slowly_decaying_spectrum_has_few_dimensions(self):
        X = np.random.default_rng(0).normal(size=(4000, 40)) * 0.9 ** np.arange(40)
        assert 1 <= describe(X, np.zeros(4000, np.int32), 1, affine=True).dims[0] <= 20

    @pytest.mark.parametrize("affine", [False, True])
    def test_noise_has_no_dimension(self, affine):
        X = np.random.default_rng(0).normal(size=(400, 10))
        assert describe(X, np.repeat([0, 1], 200), 2, affine=affine).dims.tolist() == [0, 0]

    def test_round_clusters_are_points(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 3)) + np.repeat([[0, 0, 0], [20, 0, 0]], 100, axis=0)
        found = describe(X, np.repeat([0, 1], 100), 2, affine=True)
        assert found.dims.tolist() == [0, 0]
        np.testing.assert_allclose(found.noise, 1, rtol=0.1)
        assert not found.outliers.any()

    def test_tails_return_from_the_background(self):
        X = np.random.default_rng(0).normal(size=(400, 4))
        labels = np.where(np.square(X).sum(axis=1) > 5, -1, 0)
        code = shortest_code(measure(X, affine=True), labels, 1, free=True)
        assert (labels < 0).mean() > 0.2
        assert (code.chosen == 0).all()

    def test_a_largest_dimension(self, planes):
        X, labels, _ = planes
        assert describe(X, labels, 2, affine=True, max_dim=1).dims.max() <= 1

    def test_a_far_row_is_an_outlier_and_changes_nothing_else(self, planes):
        X, labels, _ = planes
        before = describe(X, labels, 2, affine=True)
        after = describe(np.r_[X, [[1e6] * 6]], np.r_[labels, 0], 2, affine=True)
        assert after.outliers[-1]
        np.testing.assert_array_equal(after.dims, before.dims)
        np.testing.assert_array_equal(after.outliers[:-1], before.outliers)

    def test_rows_without_a_cluster(self, planes):
        X, _, y = planes
        found = describe(X, y, 2, affine=True)
        assert found.outliers[y < 0].all()
        assert found.dims.tolist() == [2, 2]

    def test_an_empty_cluster(self, planes):
        X, labels, _ = planes
        found = describe(X, 2 * labels, 3, affine=True)
        assert found.dims.tolist() == [2, 0, 2]
        assert found.noise[1] == 0


def test_starts_that_meet_have_the_code_that_each_has_alone(planes):
    X, labels, _ = planes
    rng = np.random.default_rng(0)
    spoiled = [np.where(rng.random(len(X)) < share, rng.integers(0, 2, len(X)), labels) for share in (0.1, 0.2, 0.4)]
    starts = [labels, 1 - labels, *spoiled, rng.integers(0, 2, len(X))]
    space = measure(X, affine=True)
    together = shortest_codes(space, starts, 2)
    assert np.shares_memory(together[0].table, together[1].table)
    for start, code in zip(starts, together, strict=True):
        alone = shortest_code(space, start, 2, free=True)
        assert code.length == pytest.approx(alone.length, rel=1e-9)


class TestInvariance:
    @pytest.mark.parametrize("affine", [False, True])
    @pytest.mark.parametrize("change", ["rotation", "large", "small", "order", "translation", "float32"])
    def test_invariances(self, planes, affine, change):
        X, labels, _ = planes
        before = describe(X, labels, 2, affine=affine)
        order, factor = np.arange(len(X)), 1.0
        if change == "rotation":
            X = X @ np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
        elif change in ("large", "small"):
            factor = 1e6 if change == "large" else 1e-6
            X = factor * X
        elif change == "order":
            order = np.random.default_rng(0).permutation(len(X))
        elif change == "float32":
            X = X.astype(np.float32)
        elif affine:
            X = X + 50
        after = describe(X[order], labels[order], 2, affine=affine)
        assert after.length == pytest.approx(before.length, rel=1e-4)
        np.testing.assert_allclose(after.row_lengths, before.row_lengths[order], rtol=1e-3, atol=1e-3)
        np.testing.assert_array_equal(after.outliers, before.outliers[order])
        np.testing.assert_array_equal(after.dims, before.dims)
        np.testing.assert_allclose(after.noise, factor * before.noise, rtol=1e-4)

    def test_order_of_clusters(self, planes):
        X, labels, _ = planes
        first, second = (describe(X, each, 2, affine=True) for each in (labels, 1 - labels))
        assert first.length == pytest.approx(second.length)
        np.testing.assert_allclose(first.noise, second.noise[::-1])

    def test_columns_of_zeros_beyond_the_rows(self):
        X = np.random.default_rng(0).normal(size=(12, 20))
        labels = np.arange(12) % 2
        first, second = (describe(rows, labels, 2, affine=False) for rows in (X, np.c_[X, np.zeros((12, 30))]))
        assert first.length == pytest.approx(second.length)


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("n_clusters", [1, 3])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(("name", "rows"), ODD_ROWS)
def test_unusual_valid_rows(name, rows, affine, n_clusters, free):
    X = np.asarray(rows, np.float64)
    labels = np.arange(len(X)) % n_clusters
    code = shortest_code(measure(X, affine=affine), labels, n_clusters, free=free)
    assert np.isfinite(code.length)
    found = describe(X, labels, n_clusters, affine=affine)
    for values in (found.length, found.row_lengths, found.noise, found.unit):
        assert np.isfinite(values).all()
    assert ((found.dims >= 0) & (found.dims < X.shape[1])).all()
