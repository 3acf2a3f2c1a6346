"""Models of clusters against explicit Gaussians: scores, outliers, flats, dimensions, invariances."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2, multivariate_normal

from subspaces.datasets import make_subspaces
from subspaces.flats.angles import principal_angles
from subspaces.flats.cluster_model import model_clusters
from subspaces.flats.thresholds import REACH

kinds = pytest.mark.parametrize("affine", [False, True], ids=["linear", "affine"])


@pytest.fixture(scope="module", params=[False, True], ids=["linear", "affine"])
def planes(request):
    """Rows, labels that give outliers to any cluster, the truth, and the model."""
    X, y = make_subspaces(
        (1, 2), 6, points_per_subspace=[80, 50], outliers=0.1, affine=request.param, noise=0.05, random_state=2
    )
    labels = np.where(y < 0, np.arange(len(y)) % 2, y).astype(np.int32)
    return X, labels, y, model_clusters(X, labels, 2, affine=request.param), request.param


def slow_gaussians(X, labels, model):
    """Mean and covariance of each cluster in the unit of X: its largest variances, and one level in all others."""
    gaussians = []
    for k, cell in enumerate(model.cells):
        own = X[labels == k]
        count = cell.basis.shape[1]
        # As many rows as the cell has, those that fit it best.
        inside = own[np.argsort(model.scores(own, np.full(len(own), k)), kind="stable")[: cell.size]]
        center = inside.mean(axis=0) if model.center.any() else np.zeros(X.shape[1])
        scatter = (inside - center).T @ (inside - center)
        values, vectors = np.linalg.eigh(scatter / len(inside))
        freedom = (len(inside) - count - bool(model.center.any())) * (X.shape[1] - count)
        values[: X.shape[1] - count] = values[: X.shape[1] - count].sum() * len(inside) / freedom
        gaussians.append((center, vectors @ np.diag(values) @ vectors.T))
    return gaussians


class TestScores:
    def test_scores_equal_mahalanobis_distances(self, planes):
        X, labels, _, model, _ = planes
        slow = np.empty(len(X))
        for k, (center, covariance) in enumerate(slow_gaussians(X, labels, model)):
            offsets = X[labels == k] - center
            squares = np.einsum("np,pq,nq->n", offsets, np.linalg.inv(covariance), offsets)
            slow[labels == k] = np.sqrt(squares / X.shape[1])
        np.testing.assert_allclose(model.scores(X, labels), slow, rtol=1e-8)

    def test_are_about_one_for_inliers_and_more_for_outliers(self, planes):
        X, labels, y, model, _ = planes
        scores = model.scores(X, labels)
        assert np.sqrt(np.mean(scores[y >= 0] ** 2)) == pytest.approx(1, abs=0.15)
        assert scores[y < 0].min() > np.quantile(scores[y >= 0], 0.95)

    def test_depend_on_the_cluster_a_row_is_given_to(self, planes):
        X, _, y, model, _ = planes
        own, other = model.scores(X, np.maximum(y, 0)), model.scores(X, 1 - np.maximum(y, 0))
        assert (own < other)[y >= 0].mean() > 0.95

    def test_the_centre_has_the_smallest_score(self, planes):
        model = planes[3]
        centers = np.array([model.center + model.unit * cell.center for cell in model.cells])
        np.testing.assert_allclose(model.scores(centers, np.arange(2)), 0, atol=1e-7)

    def test_blocks_of_rows(self, planes, tiny_blocks):
        X, labels, _, model, _ = planes
        whole, found = model.scores(X, labels), model.outliers(X, labels)
        tiny_blocks()
        np.testing.assert_allclose(model.scores(X, labels), whole, rtol=1e-9)
        np.testing.assert_array_equal(model.outliers(X, labels), found)

    def test_types(self, planes):
        X, labels, _, _, affine = planes
        for dtype in (np.float32, np.float64):
            model = model_clusters(X.astype(dtype), labels, 2, affine=affine)
            assert model.scores(X.astype(dtype), labels).dtype == dtype
            assert model.flats().bases.dtype == model.flats().centers.dtype == dtype


class TestOutliers:
    @pytest.mark.parametrize("size", [1, 20, 10**9])
    def test_scores_equal_densities(self, planes, size):
        X, labels, _, model, _ = planes
        gaussians = slow_gaussians(X, labels, model)
        # However likely an outlier is, rows within the reach of a cluster are none.
        model = replace(model, background=replace(model.background, size=size))
        # Rows in all directions at ever larger distances, of which some are on each side.
        steps = np.linspace(0, 0.8, 200)[:, None]
        rows = np.concatenate([center + steps * axis for center, _ in gaussians for axis in np.eye(6)])
        X, labels = np.r_[X, rows], np.r_[labels, np.repeat([0, 1], len(rows) // 2)]
        wide = multivariate_normal(
            model.center + model.unit * model.background.center, model.unit**2 * model.background.width * np.eye(6)
        )
        # No farther than the background cares about.
        assert np.linalg.norm(X - wide.mean, axis=1).max() < np.sqrt(10 * 6 * model.background.width) * model.unit
        slow = np.zeros(len(X), bool)
        for k, (center, covariance) in enumerate(gaussians):
            own = X[labels == k]
            squares = np.einsum("np,pq,nq->n", own - center, np.linalg.inv(covariance), own - center)
            inside = multivariate_normal(center, covariance).logpdf(own) + np.log(model.cells[k].size)
            outside = wide.logpdf(own) + np.log(model.background.size)
            slow[labels == k] = (squares > chi2.ppf(REACH, 6)) & (outside > inside)
        assert 0 < slow[-len(rows) :].mean() < 1
        np.testing.assert_array_equal(model.outliers(X, labels), slow)

    def test_added_outliers_are_found(self, planes):
        X, labels, y, model, _ = planes
        np.testing.assert_array_equal(model.outliers(X, labels), y < 0)

    @pytest.mark.parametrize("far", [10.0, 1e3, 1e6])
    def test_far_rows(self, planes, far):
        model = planes[3]
        rows = far * np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
        assert model.outliers(rows, np.zeros(6, np.int32)).all()


class TestFlats:
    @kinds
    def test_dimensions_and_flats_are_the_true_ones(self, affine):
        dims = (1, 3, 2)
        X, y, bases, centers = make_subspaces(
            dims, 8, points_per_subspace=100, noise=0.01, affine=affine, random_state=0, return_bases=True
        )
        model = model_clusters(X, np.maximum(y, 0).astype(np.int32), 3, affine=affine)
        np.testing.assert_array_equal(model.dims, dims)
        flats = model.flats()
        assert flats.bases.shape == (3, 8, 3)
        for k, (basis, center) in enumerate(zip(bases, centers, strict=True)):
            assert principal_angles(flats.bases[k][:, : dims[k]], basis).max() < 0.03
            offset = flats.centers[k] - center
            assert np.linalg.norm(offset - basis @ (basis.T @ offset)) < 0.02

    @kinds
    def test_blobs_have_dimension_zero_and_a_direction(self, affine):
        model = model_clusters(
            np.random.default_rng(0).normal(size=(300, 6)), np.zeros(300, np.int32), 1, affine=affine
        )
        assert model.dims.tolist() == [0]
        assert model.flats().bases.shape == (1, 6, 1)

    def test_linear_flats_pass_through_the_origin(self, planes):
        *_, model, affine = planes
        assert model.flats().centers.any() == affine

    @kinds
    def test_a_cluster_without_rows(self, affine):
        X = np.random.default_rng(0).normal(size=(40, 4))
        model = model_clusters(X, np.where(np.arange(40) < 20, 0, 2).astype(np.int32), 3, affine=affine)
        assert model.cells[1] is None
        assert model.dims[1] == 0
        flats = model.flats()
        np.testing.assert_allclose(flats.bases[1].T @ flats.bases[1], np.eye(flats.dim))

    @kinds
    def test_more_columns_than_rows(self, affine):
        X = np.random.default_rng(0).normal(size=(9, 30))
        model = model_clusters(X, np.repeat([0, 1], [5, 4]).astype(np.int32), 2, affine=affine)
        assert np.isfinite(model.scores(X, np.zeros(9, np.int32))).all()
        assert np.isfinite(model.flats().bases).all()


class TestInvariance:
    @pytest.mark.parametrize("change", ["rotation", "scale", "order", "names", "translation"])
    def test_invariances(self, planes, change):
        X, labels, _, model, affine = planes
        if change == "translation" and not affine:
            pytest.skip("linear flats pass through the origin")
        rng = np.random.default_rng(0)
        order, names, moved = np.arange(len(X)), np.arange(2), X
        if change == "rotation":
            moved = X @ np.linalg.qr(rng.normal(size=(6, 6)))[0]
        elif change == "scale":
            moved = 1e5 * X
        elif change == "translation":
            moved = X + 10 * rng.normal(size=6)
        elif change == "order":
            order = rng.permutation(len(X))
        else:
            names = names[::-1]
        moved, given = moved[order], names[labels[order]].astype(np.int32)
        other = model_clusters(moved, given, 2, affine=affine)
        np.testing.assert_allclose(other.scores(moved, given), model.scores(X, labels)[order], rtol=1e-6)
        np.testing.assert_array_equal(other.outliers(moved, given), model.outliers(X, labels)[order])
        np.testing.assert_array_equal(other.dims[names], model.dims)

    def test_a_far_outlier_changes_nothing_else(self, planes):
        X, labels, _, model, affine = planes
        far = np.r_[X, [[1e6] * 6]]
        given = np.append(labels, 0).astype(np.int32)
        other = model_clusters(far, given, 2, affine=affine)
        np.testing.assert_array_equal(other.dims, model.dims)
        np.testing.assert_array_equal(other.outliers(far, given), [*model.outliers(X, labels), True])
        np.testing.assert_allclose(other.scores(X, labels), model.scores(X, labels), rtol=0.02)
