"""Kernels in closed form, and sigma="auto"."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from subspaces.kernels import (
    FourierFeatures,
    NystromFeatures,
    SubspaceFeatures,
    exact,
)


def rows(n=40, p=4, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal((n, p)).astype(dtype)


def as_list(flats):
    return list(zip(flats.centers, flats.bases, strict=True))


def dense(psi):
    return psi.toarray() if issparse(psi) else psi


def sphere(n, p, seed=0):
    return reference.unit_rows(rows(n, p, seed))


FEW = rows(8, 4)


class TestExactKernels:
    X, Y = rows(7, 3), rows(5, 3, seed=1)

    def test_gaussian(self):
        found = exact.gaussian_kernel(self.X, self.Y, sigma=0.7)
        np.testing.assert_allclose(found, reference.gaussian_kernel(self.X, self.Y, 0.7), rtol=1e-12)

    def test_laplacian(self):
        found = exact.laplacian_kernel(self.X, self.Y, sigma=0.7)
        np.testing.assert_allclose(found, reference.laplacian_kernel(self.X, self.Y, 0.7), rtol=1e-12)

    @pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
    def test_matern(self, nu):
        found = exact.matern_kernel(self.X, self.Y, sigma=0.7, nu=nu)
        np.testing.assert_allclose(found, reference.matern_kernel(self.X, self.Y, 0.7, nu), rtol=1e-10)
        np.testing.assert_array_equal(np.diag(exact.matern_kernel(self.X, self.X, sigma=0.7, nu=nu)), 1)

    def test_smooth_matern_is_almost_gaussian(self):
        found = exact.matern_kernel(self.X, self.Y, sigma=2.0, nu=60)
        np.testing.assert_allclose(found, exact.gaussian_kernel(self.X, self.Y, sigma=2.0), atol=0.02)

    @pytest.mark.parametrize(("distance", "nu"), [(1e-8, 40.0), (1.0, 200.0), (0.1, 300.0), (0.8, 300.0), (1.0, 500.0)])
    def test_very_smooth_matern_is_gaussian_at_every_distance(self, distance, nu):
        found = exact.matern_kernel(np.zeros((1, 1)), np.full((1, 1), distance), sigma=1.0, nu=nu)
        assert found[0, 0] == pytest.approx(np.exp(-(distance**2) / 2), abs=0.01)

    def test_landmark(self):
        points = rows(20, 3, seed=2)
        found = exact.landmark_kernel(self.X, self.Y, points=points, sigma=0.7)
        np.testing.assert_allclose(found, reference.landmark_kernel(self.X, self.Y, 0.7, points), rtol=1e-12)


class TestUniformMeasure:
    """Lemma 3.1: uniform subspaces know nothing but the distance; landmark flats know more."""

    @pytest.mark.parametrize(("p", "dim", "sigma"), [(3, 1, 0.7), (5, 2, 0.5), (6, 4, 1.5)])
    def test_closed_form_is_the_mean_over_subspaces(self, p, dim, sigma):
        x1, x2 = sphere(2, p, seed=p) * [[1.0], [0.6]]
        rng = np.random.default_rng(0)
        means = [reference.monte_carlo_subspace_kernel(x1, x2, dim, sigma, 250, rng) for _ in range(20)]
        error = np.std(means, ddof=1) / np.sqrt(20)
        found = exact.uniform_subspace_kernel(x1[None], x2[None], subspace_dim=dim, sigma=sigma)
        assert error < 0.05 * np.mean(means)
        assert abs(found[0, 0] - np.mean(means)) < 4 * error

    @pytest.mark.parametrize("sigma", [0.25, 0.5, 2.0])
    def test_equal_distances_give_equal_values(self, sigma):
        x = sphere(30, 5)
        tangents = sphere(30, 5, seed=1)
        tangents = reference.unit_rows(tangents - (tangents * x).sum(axis=1, keepdims=True) * x)
        values = []
        for angle in (0.0, 0.3, 1.0, np.pi / 2):
            y = np.cos(angle) * x + np.sin(angle) * tangents
            found = np.diag(exact.uniform_subspace_kernel(x, y, subspace_dim=2, sigma=sigma))
            np.testing.assert_allclose(found, found[0], rtol=1e-10)
            values.append(found[0])
        assert (np.diff(values) < 0).all()

    def test_a_row_and_its_opposite_are_equivalent(self):
        x, y = sphere(6, 5), sphere(6, 5, seed=1)
        found, opposite = (exact.uniform_subspace_kernel(x, each, subspace_dim=2, sigma=0.5) for each in (y, -y))
        np.testing.assert_allclose(found, opposite, rtol=1e-12)

    def test_is_a_kernel(self):
        x = rows(12, 5)
        found = exact.uniform_subspace_kernel(x, x, subspace_dim=3, sigma=1.0)
        np.testing.assert_allclose(found, found.T, rtol=1e-12)
        assert np.linalg.eigvalsh(found).min() > -1e-12

    def test_flats_are_uniform_linear_and_orthonormal(self):
        flats = SubspaceFeatures(4000, subspace_dim=2, measure="uniform", random_state=0).fit(rows(3, 5)).flats_
        assert flats.is_linear
        np.testing.assert_allclose(flats.bases[7].T @ flats.bases[7], np.eye(2), atol=1e-12)
        # The mean projector of a uniform subspace is (d / p) I, with entries off by about 1 / sqrt(4000).
        projector = np.einsum("mpd,mqd->pq", flats.bases, flats.bases) / 4000
        np.testing.assert_allclose(projector, 0.4 * np.eye(5), atol=0.03)

    def test_landmark_flats_separate_subspaces_at_equal_distances(self):
        """Two planes of R^4 at 45 degrees; a pair 45 degrees apart inside one, and a pair across."""
        half = np.sqrt(0.5)
        first = np.eye(4)[:2]
        second = half * np.array([[1.0, 0, 1, 0], [0, 1.0, 0, 1]])
        turns = np.random.default_rng(0).uniform(0, 2 * np.pi, 100)
        circle = np.column_stack([np.cos(turns), np.sin(turns)])
        X = np.concatenate([circle @ first, circle @ second])
        within = np.stack([first[0], half * (first[0] + first[1])])
        across = np.stack([first[0], second[0]])
        assert np.linalg.norm(within[0] - within[1]) == pytest.approx(np.linalg.norm(across[0] - across[1]))
        features = SubspaceFeatures(200, subspace_dim=2, sigma=0.3, neighborhood=10, affine=False).fit(X)
        inside, outside = (psi[0] @ psi[1] for psi in map(features.transform, (within, across)))
        assert inside > 0.4
        assert outside < 0.05
        blind = [exact.uniform_subspace_kernel(x[:1], x[1:], subspace_dim=2, sigma=0.3) for x in (within, across)]
        assert blind[0] == pytest.approx(blind[1], rel=1e-10)


class TestAutomaticSigma:
    """A length scale from the distances between neighbouring rows."""

    @pytest.mark.parametrize("features", [FourierFeatures(30, sigma="auto"), NystromFeatures(15, sigma="auto")])
    def test_it_is_twice_the_typical_distance_to_the_seventh_row(self, features):
        X = rows()
        distances = np.sort([[np.linalg.norm(x - y) for y in X] for x in X], axis=1)
        fitted = clone(features).set_params(random_state=0).fit(X)
        assert fitted.sigma_ == pytest.approx(2 * np.median(distances[:, 7]))
        expected = exact.gaussian_kernel(X, X, sigma=fitted.sigma_)
        np.testing.assert_allclose(fitted.exact_kernel(X, X), expected, rtol=1e-12)

    def test_the_laplacian_kernel_measures_along_the_axes(self):
        X = rows()
        distances = np.sort([[np.abs(x - y).sum() for y in X] for x in X], axis=1)
        fitted = NystromFeatures(15, kernel="laplacian", sigma="auto", random_state=0).fit(X)
        assert fitted.sigma_ == pytest.approx(2 * np.median(distances[:, 7]))

    def test_it_depends_on_the_scale_and_not_on_the_origin(self):
        X = rows()
        sigma = FourierFeatures(5, sigma="auto", random_state=0).fit(X).sigma_
        assert FourierFeatures(5, sigma="auto", random_state=0).fit(100 * X + 1e4).sigma_ == pytest.approx(100 * sigma)

    def test_equal_rows_give_one(self):
        assert FourierFeatures(5, sigma="auto").fit(np.ones((10, 3))).sigma_ == 1.0
        assert FourierFeatures(5, sigma="auto").fit(np.ones((1, 3))).sigma_ == 1.0

    def test_it_needs_fitted_features(self):
        with pytest.raises(NotFittedError):
            FourierFeatures(sigma="auto").exact_kernel(FEW, FEW)

    def test_a_given_sigma_scales_the_frequencies(self):
        X = rows()
        first, second = (FourierFeatures(20, sigma=sigma, random_state=0).fit(X) for sigma in (1.5, 3.0))
        assert first.sigma_ == 1.5
        np.testing.assert_allclose(1.5 * first.frequencies_, 3.0 * second.frequencies_)
