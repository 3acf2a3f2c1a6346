"""Feature maps: their inner products converge to the kernel, and every map keeps the promises of its siblings."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from subspaces.datasets import make_subspaces
from subspaces.features.flats import usable_flats
from subspaces.flats.neighborhoods import Beta2
from subspaces.kernels import (
    CustomFeatures,
    FourierFeatures,
    LandmarkFeatures,
    NystromFeatures,
    SubspaceFeatures,
    exact,
)


def half_space(X, normals):
    """One on the positive side of a hyperplane, zero beyond."""
    return X @ normals.T > 0


def normal_draws(X, size, rng):
    return rng.standard_normal((size, X.shape[1]))


def uniform_frequencies(shape, rng):
    return rng.uniform(-1, 1, shape)


def linear_kernel(X, Y):
    return X @ Y.T


def rows(n=40, p=4, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal((n, p)).astype(dtype)


def dense(psi):
    return psi.toarray() if issparse(psi) else psi


def as_list(flats):
    return list(zip(flats.centers, flats.bases, strict=True))


def sphere(n, p, seed=0):
    return reference.unit_rows(rows(n, p, seed))


ALL_MAPS = {
    "fourier": FourierFeatures(30, random_state=0),
    "laplacian": FourierFeatures(30, kernel="laplacian", random_state=0),
    "matern": FourierFeatures(30, kernel="matern", nu=2.5, random_state=0),
    "own frequencies": FourierFeatures(30, kernel=uniform_frequencies, random_state=0),
    "landmarks": LandmarkFeatures(15, random_state=0),
    "nearest landmarks": LandmarkFeatures(15, n_nearest=4, random_state=0),
    "flats": SubspaceFeatures(15, subspace_dim=2, random_state=0),
    "nearest flats": SubspaceFeatures(15, subspace_dim=2, n_nearest=4, neighborhood=8, affine=False, random_state=0),
    "uniform flats": SubspaceFeatures(15, subspace_dim=2, measure="uniform", random_state=0),
    "nystrom": NystromFeatures(15, random_state=0),
    "custom": CustomFeatures(half_space, normal_draws, 30, random_state=0),
}
every_map = pytest.mark.parametrize("features", ALL_MAPS.values(), ids=ALL_MAPS)


class TestScikitLearn:
    @parametrize_with_checks(
        [
            FourierFeatures(20),
            LandmarkFeatures(20),
            LandmarkFeatures(20, n_nearest=1),
            # Some checks have rows of two columns, where a subspace can only be a line.
            SubspaceFeatures(20, subspace_dim=1),
            SubspaceFeatures(20, subspace_dim=1, n_nearest=1, neighborhood=4, affine=False, trim=True),
            SubspaceFeatures(20, subspace_dim=1, measure="uniform"),
            NystromFeatures(20),
        ]
    )
    def test_conventions(self, estimator, check):
        check(estimator)

    # Apart from the others, because names of tests must not hold addresses of functions.
    @pytest.mark.parametrize(
        "check",
        [check for _, check in estimator_checks_generator(CustomFeatures(half_space, normal_draws))],
        ids=lambda check: check.func.__name__,
    )
    def test_conventions_of_custom_features(self, check):
        check(CustomFeatures(half_space, normal_draws, 20))

    @every_map
    def test_names_of_features(self, features):
        fitted = clone(features).fit(rows())
        names = fitted.get_feature_names_out()
        assert len(names) == fitted.transform(rows()).shape[1]
        assert names[0] == type(features).__name__.lower() + "0"


@every_map
class TestEveryMap:
    @pytest.mark.parametrize("block_rows", [1, 7, 40])
    def test_blocks_do_not_matter(self, features, block_rows):
        x = rows()
        fitted = clone(features).fit(x)
        blocks = [dense(block) for block in fitted.blocks(x, block_rows=block_rows)]
        assert [len(block) for block in blocks[:-1]] == [block_rows] * (len(blocks) - 1)
        np.testing.assert_allclose(np.concatenate(blocks), dense(fitted.transform(x)), atol=1e-12)

    def test_float32_stays_and_is_accurate(self, features):
        wide, narrow = rows(), rows(dtype=np.float32)
        found = clone(features).fit_transform(narrow)
        assert found.dtype == np.float32
        np.testing.assert_allclose(dense(found), dense(clone(features).fit_transform(wide)), atol=1e-3)

    def test_same_seed_same_map(self, features):
        x = rows()
        first = dense(clone(features).fit_transform(x))
        np.testing.assert_array_equal(dense(clone(features).fit_transform(x)), first)
        other = dense(clone(features).set_params(random_state=1).fit_transform(x))
        assert other.shape != first.shape or not np.allclose(other, first)

    def test_new_rows_are_mapped_as_seen_ones(self, features):
        x = rows()
        fitted = clone(features).fit(x)
        np.testing.assert_allclose(dense(fitted.transform(x[5:9])), dense(fitted.transform(x))[5:9], atol=1e-12)

    def test_rows_are_not_touched(self, features):
        x = rows()
        before = x.copy()
        clone(features).fit(x).transform(x)
        np.testing.assert_array_equal(x, before)


FEW = rows(8, 4)
KERNELS = {
    "gaussian": (FourierFeatures(sigma=1.5), reference.gaussian_kernel(FEW, FEW, 1.5)),
    "laplacian": (FourierFeatures(kernel="laplacian", sigma=3), reference.laplacian_kernel(FEW, FEW, 3)),
    "matern 0.5": (FourierFeatures(kernel="matern", nu=0.5, sigma=2), reference.matern_kernel(FEW, FEW, 2, 0.5)),
    "matern 1.5": (FourierFeatures(kernel="matern", nu=1.5, sigma=2), reference.matern_kernel(FEW, FEW, 2, 1.5)),
    "matern 2.5": (FourierFeatures(kernel="matern", nu=2.5, sigma=2), reference.matern_kernel(FEW, FEW, 2, 2.5)),
    # The Fourier transform of a uniform density on a cube is a product of sines over their arguments.
    "own frequencies": (
        FourierFeatures(kernel=uniform_frequencies, sigma=0.5),
        np.sinc((FEW[:, None] - FEW) / (0.5 * np.pi)).prod(axis=2),
    ),
    "uniform flats": (
        SubspaceFeatures(subspace_dim=2, measure="uniform", sigma=2.0),
        exact.uniform_subspace_kernel(FEW, FEW, subspace_dim=2, sigma=2.0),
    ),
    "custom": (
        CustomFeatures(half_space, normal_draws),
        0.5 - np.arccos(np.clip(reference.unit_rows(FEW) @ reference.unit_rows(FEW).T, -1, 1)) / (2 * np.pi),
    ),
}


class TestConvergence:
    """psi(x).psi(y) is a mean of D draws: unbiased, with an error of one standard deviation over sqrt(D)."""

    @pytest.mark.parametrize(("features", "kernel"), KERNELS.values(), ids=KERNELS)
    def test_error_is_that_of_a_mean(self, features, kernel):
        for count in (500, 50_000):
            self.check(features, kernel, count, seeds=range(6))

    def test_error_of_random_landmarks_is_that_of_a_sample(self):
        """The measure is the data: drawn without replacement, all of them give the kernel itself."""
        data = rows(20_000, 4, seed=1)
        kernel = exact.landmark_kernel(FEW, FEW, points=data, sigma=1.0)
        features = LandmarkFeatures(sigma=1.0, landmarks="random")
        for count in (200, 2_000, 15_000):
            self.check(features, kernel, count, seeds=range(6), data=data, shrink=np.sqrt(1 - count / 20_000))
        whole = clone(features).set_params(n_components=20_000).fit(data).transform(FEW)
        np.testing.assert_allclose(whole @ whole.T, kernel, rtol=1e-10)

    def check(self, features, kernel, count, *, seeds, data=None, shrink=1.0):
        pairs = np.triu_indices(len(FEW), 1)
        errors = []
        for seed in seeds:
            fitted = clone(features).set_params(n_components=count, random_state=seed)
            psi = fitted.fit(FEW if data is None else data).transform(FEW)
            draws = count * psi[pairs[0]] * psi[pairs[1]]
            standard_errors = shrink * draws.std(axis=1) / np.sqrt(count)
            errors.append((draws.mean(axis=1) - kernel[pairs]) / standard_errors)
        assert np.abs(errors).max() < 5
        assert 0.4 < np.sqrt(np.mean(np.square(errors))) < 1.8

    @pytest.mark.parametrize("name", ["gaussian", "laplacian", "matern 0.5", "matern 2.5", "uniform flats"])
    def test_maps_know_their_kernel(self, name):
        features, kernel = KERNELS[name]
        np.testing.assert_allclose(features.exact_kernel(FEW, FEW), kernel, atol=1e-12)

    def test_fourier_features_are_cosines(self):
        x = rows()
        fitted = FourierFeatures(25, sigma=0.7, random_state=0).fit(x)
        expected = np.sqrt(2 / 25) * np.cos(x @ fitted.frequencies_ + fitted.phases_)
        np.testing.assert_allclose(fitted.transform(x), expected, atol=1e-12)
        assert fitted.frequencies_.shape == (4, 25)
        assert fitted.phases_.min() >= 0
        assert fitted.phases_.max() > np.pi


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

    def test_a_row_and_its_opposite_are_the_same(self):
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

    def test_landmark_flats_tell_subspaces_apart_at_equal_distances(self):
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

    def test_bumps_at_landmarks(self):
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

    @pytest.mark.parametrize("features", [ALL_MAPS["landmarks"], ALL_MAPS["flats"]], ids=["points", "flats"])
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

    def test_sigma_of_a_single_place_is_one(self):
        X = np.ones((10, 3))
        fitted = LandmarkFeatures(3).fit(X)
        assert fitted.sigma_ == 1.0
        np.testing.assert_allclose(fitted.transform(X), 1 / np.sqrt(3))


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
    def test_weights_are_the_reference(self, features, n_nearest):
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
    def test_far_rows_do_not_vanish(self, features):
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
        psi, distances = fitted.describe(X)
        np.testing.assert_array_equal(dense(psi), dense(fitted.transform(X)))
        np.testing.assert_allclose(distances, np.sqrt(self.table(fitted, X).min(axis=1)), atol=1e-7)
        blocks = list(fitted.described_blocks(X, block_rows=9))
        np.testing.assert_allclose(np.concatenate([block for _, block in blocks]), distances, atol=1e-12)


class TestTrim:
    def planes_and_strays(self):
        """Rows on the sphere, where planes do not meet, and which of them belong to one."""
        X, y = make_subspaces((2, 2), 8, points_per_subspace=60, noise=0.01, outliers=0.1, random_state=0)
        return reference.unit_rows(X), y >= 0

    def test_drops_flats_that_fit_nothing(self):
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
    def test_flats_within_so_many_medians_are_usable(self, n_medians):
        residuals = np.array([0.9, 1.0, 1.0, 1.0, 1.1, 1.9, 5.0, 50.0])
        found = usable_flats(residuals, np.eye(8), n_medians=n_medians)
        usual = usable_flats(residuals, np.eye(8))
        median = np.median(residuals)
        assert set(found) == {i for i, value in enumerate(residuals) if i in usual or value <= n_medians * median}
        assert len(found) == {0.0: 5, 2.0: 6, 6.0: 7}[n_medians]

    def test_switches_of_numpy_are_switches(self):
        X, _ = self.planes_and_strays()
        options = {"subspace_dim": 2, "landmarks": X, "neighborhood": 8, "affine": False, "n_nearest": 5}
        for trim in (True, False):
            plain, boxed = (SubspaceFeatures(trim=each, **options).fit(X).flats_ for each in (trim, np.bool_(trim)))
            np.testing.assert_array_equal(plain.bases, boxed.bases)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_clean_data_lose_nothing(self, dtype):
        X, _ = make_subspaces((2, 2), 8, points_per_subspace=60, noise=0, outliers=0, random_state=0)
        X = reference.unit_rows(X).astype(dtype)
        fitted = SubspaceFeatures(subspace_dim=2, landmarks=X, neighborhood=8, affine=False, trim=True).fit(X)
        assert len(fitted.flats_) == len(X)

    def test_leaves_enough_to_choose_from(self):
        X, inlier = self.planes_and_strays()
        landmarks = np.concatenate([X[inlier][:4], X[~inlier][:2]])
        options = {"subspace_dim": 2, "landmarks": landmarks, "neighborhood": 8, "trim": True}
        assert SubspaceFeatures(n_nearest=2, **options).fit(X).transform(X).shape[1] < 6
        assert SubspaceFeatures(n_nearest=6, **options).fit(X).transform(X).shape == (len(X), 6)


class TestNystrom:
    @pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "matern"])
    def test_is_exact_on_its_landmarks(self, kernel):
        X = rows(60)
        features = NystromFeatures(20, kernel=kernel, sigma=1.3, random_state=0).fit(X)
        psi = features.transform(features.landmarks_)
        expected = {
            "gaussian": lambda x: reference.gaussian_kernel(x, x, 1.3),
            "laplacian": lambda x: reference.laplacian_kernel(x, x, 1.3),
            "matern": lambda x: reference.matern_kernel(x, x, 1.3, 1.5),
        }[kernel](features.landmarks_)
        np.testing.assert_allclose(psi @ psi.T, expected, atol=1e-8)
        # And exact between a landmark and any row.
        others = features.transform(X)
        np.testing.assert_allclose(others @ psi.T, features.exact_kernel(X, features.landmarks_), atol=1e-8)

    def test_is_exact_once_the_landmarks_span_the_data(self):
        X = rows(50, 3)
        psi = NystromFeatures(6, kernel=linear_kernel, random_state=0).fit_transform(X)
        np.testing.assert_allclose(psi @ psi.T, X @ X.T, atol=1e-8)

    def test_never_exceeds_the_kernel(self):
        """What the landmarks miss is positive semi-definite."""
        X = rows(40)
        psi = NystromFeatures(10, random_state=0).fit_transform(X)
        missed = reference.gaussian_kernel(X, X, 1.0) - psi @ psi.T
        assert np.linalg.eigvalsh(missed).min() > -1e-8

    def test_equal_landmarks_are_no_obstacle(self):
        X = rows(10)
        psi = NystromFeatures(landmarks=np.repeat(X, 3, axis=0)).fit_transform(X)
        np.testing.assert_allclose(psi @ psi.T, reference.gaussian_kernel(X, X, 1.0), atol=1e-6)


class TestCustom:
    def test_divides_by_the_root_of_the_number_of_points(self):
        X = rows()
        fitted = CustomFeatures(half_space, normal_draws, 9, random_state=0).fit(X)
        np.testing.assert_allclose(fitted.transform(X), (X @ fitted.points_.T > 0) / 3.0)

    def test_the_sampler_sees_the_data(self):
        X = rows()
        fitted = CustomFeatures(linear_kernel, lambda X, size, rng: X[rng.choice(len(X), size)], 5).fit(X)
        assert all((point == X).all(axis=1).any() for point in fitted.points_)

    def test_a_sampler_may_return_another_number_of_points(self):
        psi = CustomFeatures(linear_kernel, lambda X, size, rng: X[:3], 100).fit_transform(rows())
        np.testing.assert_allclose(psi, rows() @ rows()[:3].T / np.sqrt(3))

    @pytest.mark.parametrize("function", [lambda X, w: X @ w[0], lambda X, w: (X @ w.T).T], ids=["(n,)", "(D, n)"])
    def test_a_function_of_the_wrong_shape_is_named(self, function):
        with pytest.raises(ValueError, match=r"function\(X, points\) returned shape"):
            CustomFeatures(function, normal_draws, 5).fit_transform(rows())


class TestParameters:
    @pytest.mark.parametrize(
        ("features", "error", "match"),
        [
            (FourierFeatures(0), ValueError, "n_components=0"),
            (LandmarkFeatures(2.5), TypeError, "n_components=2.5"),
            (FourierFeatures(True), TypeError, "n_components=True"),
            (FourierFeatures(sigma=0), ValueError, "sigma=0"),
            (FourierFeatures(sigma="wide"), TypeError, "sigma='wide'"),
            (FourierFeatures(kernel="cosine"), ValueError, "kernel='cosine'"),
            (FourierFeatures(kernel="matern", nu=-1), ValueError, "nu=-1"),
            (FourierFeatures(kernel=lambda shape, rng: np.zeros(3)), ValueError, r"kernel\(shape, rng\)"),
            (LandmarkFeatures(sigma=-1.0), ValueError, "sigma=-1"),
            (LandmarkFeatures(sigma=np.nan), ValueError, "sigma=nan"),
            (LandmarkFeatures(sigma=np.inf), ValueError, "sigma=inf"),
            (LandmarkFeatures(sigma="wide"), TypeError, "sigma='wide'"),
            (LandmarkFeatures(10, n_nearest=0), ValueError, "n_nearest=0"),
            (SubspaceFeatures(affine="no"), ValueError, "affine='no'"),
            (FourierFeatures(sigma=1e200), ValueError, "sigma=1e"),
            (FourierFeatures(kernel="matern", nu=1e-6), ValueError, "nu=1e-06"),
            (NystromFeatures(kernel=lambda X, Y: np.full((len(X), len(Y)), np.nan)), ValueError, "kernel"),
            (SubspaceFeatures(trim="never"), TypeError, "trim='never' must be a positive number: give"),
            (SubspaceFeatures(trim=0), ValueError, "trim=0"),
            (SubspaceFeatures(trim=-1.0), ValueError, "trim=-1.0"),
            (SubspaceFeatures(trim=np.nan), ValueError, "trim=nan"),
            (LandmarkFeatures(landmarks=[[1, 2], [3]]), ValueError, "landmarks"),
            (LandmarkFeatures(10, n_nearest=1.5), TypeError, "n_nearest=1.5"),
            (LandmarkFeatures(landmarks="best"), ValueError, "landmarks='best'"),
            (SubspaceFeatures(subspace_dim=0), ValueError, "subspace_dim=0"),
            (SubspaceFeatures(subspace_dim=4), ValueError, "subspace_dim=4.*n_features=4"),
            (SubspaceFeatures(subspace_dim="auto"), TypeError, "subspace_dim='auto'"),
            (SubspaceFeatures(measure="gaussian"), ValueError, "measure='gaussian'"),
            (SubspaceFeatures(neighborhood=0), ValueError, "neighborhood=0"),
            (SubspaceFeatures(neighborhood=2.5), TypeError, "neighborhood=2.5"),
            (SubspaceFeatures(neighborhood="large"), ValueError, "neighborhood='large'"),
            (SubspaceFeatures(neighborhood=Beta2(0)), ValueError, "start_size=0"),
            (SubspaceFeatures(neighborhood=Beta2(step_size=0)), ValueError, "step_size=0"),
            (NystromFeatures(sigma=0), ValueError, "sigma=0"),
            (NystromFeatures(kernel="linear"), ValueError, "kernel='linear'"),
            (CustomFeatures("f", normal_draws), TypeError, "function='f'"),
            (CustomFeatures(half_space, None), TypeError, "sampler=None"),
        ],
    )
    def test_errors_name_parameter_and_value(self, features, error, match):
        with pytest.raises(error, match=match):
            features.fit(rows())

    @pytest.mark.parametrize("kind", [LandmarkFeatures, SubspaceFeatures, NystromFeatures])
    @pytest.mark.parametrize(
        "landmarks",
        [np.zeros(4), np.zeros((3, 5)), np.zeros((0, 4)), np.full((3, 4), np.nan), np.full((3, 4), np.inf), 7],
        ids=["flat", "columns", "none", "nan", "infinite", "number"],
    )
    def test_landmarks_that_do_not_fit_are_refused(self, kind, landmarks):
        with pytest.raises(ValueError, match=r"landmarks of shape .* \(D, 4\)"):
            kind(landmarks=landmarks).fit(rows())

    @pytest.mark.parametrize("kind", [LandmarkFeatures, SubspaceFeatures, NystromFeatures])
    def test_own_landmarks_are_used_as_they_are(self, kind):
        landmarks = rows(6, seed=9)
        fitted = kind(100, landmarks=landmarks.tolist()).fit(rows())
        np.testing.assert_array_equal(fitted.landmarks_, landmarks)
        assert fitted.transform(rows()).shape == (40, 6)

    @pytest.mark.parametrize("kind", [LandmarkFeatures, SubspaceFeatures, NystromFeatures])
    def test_no_more_landmarks_than_rows(self, kind):
        fitted = kind(1000).fit(rows(12))
        np.testing.assert_array_equal(fitted.landmarks_, rows(12))

    @pytest.mark.parametrize(
        ("features", "error", "match"),
        [
            (FourierFeatures(kernel=uniform_frequencies), ValueError, "kernel"),
            (SubspaceFeatures(sigma=1.0), ValueError, "measure='landmarks'"),
            (SubspaceFeatures(measure="uniform"), TypeError, "sigma='auto'"),
            (SubspaceFeatures(measure="uniform", sigma=1.0, power=1), ValueError, "power=1 has no known kernel"),
        ],
    )
    def test_no_exact_kernel_where_there_is_no_formula(self, features, error, match):
        with pytest.raises(error, match=match):
            features.exact_kernel(rows(), rows())


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

    def test_it_moves_with_the_scale_and_not_with_the_place(self):
        X = rows()
        sigma = FourierFeatures(5, sigma="auto", random_state=0).fit(X).sigma_
        assert FourierFeatures(5, sigma="auto", random_state=0).fit(100 * X + 1e4).sigma_ == pytest.approx(100 * sigma)

    def test_rows_in_one_place_give_one(self):
        assert FourierFeatures(5, sigma="auto").fit(np.ones((10, 3))).sigma_ == 1.0
        assert FourierFeatures(5, sigma="auto").fit(np.ones((1, 3))).sigma_ == 1.0

    def test_it_is_not_known_before_the_rows(self):
        with pytest.raises(NotFittedError):
            FourierFeatures(sigma="auto").exact_kernel(FEW, FEW)

    def test_a_given_one_draws_no_rows(self):
        X = rows()
        first = FourierFeatures(20, sigma=1.5, random_state=0).fit(X)
        assert first.sigma_ == 1.5
        draws = np.random.RandomState(0).standard_normal((4, 20))
        np.testing.assert_array_equal(first.frequencies_, draws / 1.5)
