"""Features of landmark points and flats: dense, sparse, trimmed, against slow versions."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from scipy.sparse import issparse
from sklearn.base import clone

from subspaces.datasets import make_subspaces
from subspaces.features.flats import usable_flats
from subspaces.flats.neighborhoods import Beta2
from subspaces.kernels import (
    LandmarkFeatures,
    SubspaceFeatures,
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


class TestDense:
    @pytest.mark.parametrize("affine", [True, False])
    @pytest.mark.parametrize("neighborhood", ["beta2", Beta2(5, 3), 9])
    def test_flats_are_those_of_the_paper(self, neighborhood, affine):
        X, _ = make_subspaces((2, 2), 5, points_per_subspace=25, random_state=0)
        landmarks = X[::6] + 0.01
        features = SubspaceFeatures(
            subspace_dim=2, sigma=0.4, landmarks=landmarks, neighborhood=neighborhood, affine=affine
        )
        flats = []
        for point in landmarks:
            if isinstance(neighborhood, int):
                near = reference.fixed_neighborhood(X, point, neighborhood)
            else:
                start, step = (4, 2) if neighborhood == "beta2" else (5, 3)
                near = reference.beta2_neighborhood(X, point, 2, start, step, affine)
            flats.append(reference.best_fit_flat(X[near], 2, affine))
        expected = reference.subspace_psi(X, flats, 0.4)
        np.testing.assert_allclose(features.fit_transform(X), expected, atol=1e-9)

    def test_copies_of_a_row_do_not_fill_its_neighbourhood(self):
        X = rows(30)
        copied = np.repeat(X, np.random.default_rng(0).integers(1, 9, size=30), axis=0)
        features = SubspaceFeatures(subspace_dim=2, sigma=0.4, landmarks=X[:9], neighborhood=6)
        np.testing.assert_allclose(clone(features).fit(copied).transform(X), features.fit_transform(X), atol=1e-12)

    def test_gaussians_at_landmarks(self):
        X, landmarks = rows(), rows(7, seed=1)
        psi = LandmarkFeatures(sigma=0.8, landmarks=landmarks).fit_transform(X)
        np.testing.assert_allclose(psi, reference.gaussian_kernel(X, landmarks, 0.8) / np.sqrt(7), rtol=1e-9)

    @pytest.mark.parametrize("power", [0.5, 1, 2, 3.0])
    def test_power_of_the_distance(self, power):
        X = np.random.default_rng(0).standard_normal((30, 4))
        features = SubspaceFeatures(subspace_dim=1, sigma=0.7, landmarks=X[:9], neighborhood=6, power=power).fit(X)
        distances = np.sqrt(reference.squared_distances(X, as_list(features.flats_)))
        expected = np.exp(-((distances / 0.7) ** power))
        np.testing.assert_allclose(features.transform(X), expected / 3)
        # The nearest few are the same, scaled to sum one; a scale per row is the gap between them.
        few = clone(features).set_params(n_nearest=4).fit(X).transform(X).toarray()
        kept = np.where(few > 0, expected, 0)
        np.testing.assert_allclose(few, kept / kept.sum(axis=1, keepdims=True))
        own = clone(features).set_params(n_nearest=4, sigma="auto").fit(X).transform(X).toarray()
        for row, found in zip(np.sort(distances, axis=1)[:, :4] ** power, own, strict=True):
            weights = np.exp(-(row - row[0]) / (row[-1] - row[0]))
            np.testing.assert_allclose(np.sort(found[found > 0])[::-1], weights / weights.sum())

    @pytest.mark.parametrize(
        "features",
        [LandmarkFeatures(15, random_state=0), SubspaceFeatures(15, subspace_dim=2, random_state=0)],
        ids=["points", "flats"],
    )
    def test_sigma_is_the_typical_distance_to_the_fifth_landmark(self, features):
        X = rows()
        fitted = clone(features).fit(X)
        if isinstance(fitted, LandmarkFeatures):
            table = -2 * np.log(reference.gaussian_kernel(X, fitted.landmarks_, 1.0))
        else:
            table = reference.squared_distances(X, as_list(fitted.flats_))
        assert fitted.sigma_ == pytest.approx(np.sqrt(np.median(np.sort(table, axis=1)[:, 4])))
        fixed = clone(features).set_params(sigma=fitted.sigma_).fit_transform(X)
        np.testing.assert_allclose(fitted.transform(X), fixed, atol=1e-12)

    def test_sigma_of_equal_rows_is_one(self):
        X = np.ones((10, 3))
        fitted = LandmarkFeatures(3).fit(X)
        assert fitted.sigma_ == 1.0
        # Copies of a row are one landmark.
        np.testing.assert_allclose(fitted.transform(X), np.ones((10, 1)))


DISTANCE_MAPS = {
    "points": LandmarkFeatures(12, random_state=0),
    "flats": SubspaceFeatures(12, subspace_dim=2, random_state=0),
    "uniform flats": SubspaceFeatures(12, subspace_dim=2, measure="uniform", random_state=0),
}
distance_maps = pytest.mark.parametrize("features", DISTANCE_MAPS.values(), ids=DISTANCE_MAPS)


class TestSparse:
    def table(self, fitted, X):
        """Squared distances (n, D)."""
        if isinstance(fitted, LandmarkFeatures):
            return np.array([[np.sum((x - y) ** 2) for y in fitted.landmarks_] for x in X])
        return reference.squared_distances(X, as_list(fitted.flats_))

    @distance_maps
    @pytest.mark.parametrize("n_nearest", [1, 2, 5, 12])
    def test_weights_equal_the_slow_version(self, features, n_nearest):
        X = rows()
        fitted = clone(features).set_params(n_nearest=n_nearest).fit(X)
        psi = fitted.transform(X)
        assert issparse(psi)
        assert psi.format == "csr"
        assert (np.diff(psi.indptr) == n_nearest).all()
        np.testing.assert_allclose(
            psi.toarray(), reference.nearest_weights(self.table(fitted, X), n_nearest), atol=1e-9
        )

    @distance_maps
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_rows_sum_to_one(self, features, dtype):
        psi = clone(features).set_params(n_nearest=5).fit_transform(rows(dtype=dtype))
        np.testing.assert_allclose(psi.sum(axis=1), 1, rtol=10 * np.finfo(dtype).eps)

    @distance_maps
    def test_all_landmarks_of_one_sigma_are_the_dense_rows_scaled(self, features):
        X = rows()
        wide = clone(features).set_params(sigma=0.9).fit_transform(X)
        narrow = clone(features).set_params(sigma=0.9, n_nearest=12).fit_transform(X)
        np.testing.assert_allclose(narrow.toarray(), wide / wide.sum(axis=1, keepdims=True), rtol=1e-8)

    @distance_maps
    def test_far_rows_have_positive_weights(self, features):
        """Dense weights underflow; sparse ones are relative to the nearest landmark."""
        X = rows()
        fitted = clone(features).set_params(sigma=0.1, n_nearest=3).fit(X)
        psi = fitted.transform(1e3 * X)
        np.testing.assert_allclose(psi.sum(axis=1), 1)
        assert np.isfinite(psi.data).all()

    @distance_maps
    def test_sigma_is_the_typical_gap(self, features):
        X = rows()
        fitted = clone(features).set_params(n_nearest=4).fit(X)
        nearest = np.sort(self.table(fitted, X), axis=1)
        assert fitted.sigma_ == pytest.approx(np.sqrt(np.median(nearest[:, 3] - nearest[:, 0])))

    @distance_maps
    def test_equal_landmarks_share_equally(self, features):
        if isinstance(features, SubspaceFeatures) and features.measure == "uniform":
            features = clone(features).set_params(measure="landmarks")
        X = rows()
        fitted = clone(features).set_params(landmarks=np.zeros((4, 4)), n_nearest=4).fit(X)
        np.testing.assert_allclose(fitted.transform(X).toarray(), 0.25, atol=1e-9)

    @distance_maps
    @pytest.mark.parametrize("n_nearest", [None, 5])
    def test_description_adds_the_distance_to_the_nearest(self, features, n_nearest):
        X = rows()
        fitted = clone(features).set_params(n_nearest=n_nearest).fit(X)
        blocks = list(fitted.described_blocks(X))
        psi = np.concatenate([dense(each) for each, _ in blocks])
        distances = np.concatenate([each for _, each in blocks])
        np.testing.assert_array_equal(psi, dense(fitted.transform(X)))
        np.testing.assert_allclose(distances, np.sqrt(self.table(fitted, X).min(axis=1)), atol=1e-7)
        blocks = list(fitted.described_blocks(X, block_rows=9))
        np.testing.assert_allclose(np.concatenate([block for _, block in blocks]), distances, atol=1e-12)


class TestTrim:
    def planes_and_strays(self):
        """Rows on the sphere, where planes do not meet, and which of them belong to one."""
        X, y = make_subspaces((2, 2), 8, points_per_subspace=60, noise=0.01, outliers=0.1, random_state=0)
        return reference.unit_rows(X), y >= 0

    def test_drops_flats_that_fit_badly(self):
        X, inlier = self.planes_and_strays()
        options = {"subspace_dim": 2, "landmarks": X, "neighborhood": 8, "affine": False, "n_nearest": 5}
        kept, every = (SubspaceFeatures(trim=trim, **options).fit(X).flats_ for trim in (True, False))
        assert len(every) == len(X)
        here = (every.bases[:, None] == kept.bases).all(axis=(2, 3)).any(axis=1)
        assert here[inlier].mean() > 0.95
        assert here[~inlier].mean() < 0.3

    def test_a_number_of_medians_keeps_more(self):
        X, _ = self.planes_and_strays()
        options = {"subspace_dim": 2, "landmarks": X, "neighborhood": 8, "affine": False, "n_nearest": 5}
        tight, tiny, some, every = (
            len(SubspaceFeatures(trim=trim, **options).fit(X).flats_) for trim in (True, 0.1, 30.0, 1e9)
        )
        # What is usual stays, whatever the number.
        assert tight == tiny < some < every == len(X)

    @pytest.mark.parametrize("n_medians", [0.0, 2.0, 6.0])
    def test_flats_within_a_number_of_medians_are_usable(self, n_medians):
        residuals = np.array([0.9, 1.0, 1.0, 1.0, 1.1, 1.9, 5.0, 50.0])
        found = usable_flats(residuals, np.eye(8), n_medians=n_medians)
        usual = usable_flats(residuals, np.eye(8))
        median = np.median(residuals)
        assert set(found) == {i for i, value in enumerate(residuals) if i in usual or value <= n_medians * median}
        assert len(found) == {0.0: 5, 2.0: 6, 6.0: 7}[n_medians]

    def test_numpy_booleans_are_booleans(self):
        X, _ = self.planes_and_strays()
        options = {"subspace_dim": 2, "landmarks": X, "neighborhood": 8, "affine": False, "n_nearest": 5}
        for trim in (True, False):
            plain, boxed = (SubspaceFeatures(trim=each, **options).fit(X).flats_ for each in (trim, np.bool_(trim)))
            np.testing.assert_array_equal(plain.bases, boxed.bases)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_clean_data_keep_all_flats(self, dtype):
        X, _ = make_subspaces((2, 2), 8, points_per_subspace=60, noise=0, outliers=0, random_state=0)
        X = reference.unit_rows(X).astype(dtype)
        fitted = SubspaceFeatures(subspace_dim=2, landmarks=X, neighborhood=8, affine=False, trim=True).fit(X)
        assert len(fitted.flats_) == len(X)

    def test_at_least_n_nearest_flats_are_kept(self):
        X, inlier = self.planes_and_strays()
        landmarks = np.concatenate([X[inlier][:4], X[~inlier][:2]])
        options = {"subspace_dim": 2, "landmarks": landmarks, "neighborhood": 8, "trim": True}
        assert SubspaceFeatures(n_nearest=2, **options).fit(X).transform(X).shape[1] < 6
        assert SubspaceFeatures(n_nearest=6, **options).fit(X).transform(X).shape == (len(X), 6)
