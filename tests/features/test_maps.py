"""Feature maps: inner products converge to the kernel, and all maps share one interface."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

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
# Parameters that are refused after landmarks or points have been drawn.
LATE_FAILURES = {
    FourierFeatures: ("kernel", lambda shape, rng: np.zeros(3)),
    LandmarkFeatures: ("sigma", -1.0),
    SubspaceFeatures: ("sigma", -1.0),
    NystromFeatures: ("kernel", lambda X, Y: np.full((len(X), len(Y)), np.nan)),
    CustomFeatures: ("function", lambda X, points: np.zeros(3)),
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

    def test_new_rows_are_mapped_like_those_of_fit(self, features):
        x = rows()
        fitted = clone(features).fit(x)
        np.testing.assert_allclose(dense(fitted.transform(x[5:9])), dense(fitted.transform(x))[5:9], atol=1e-12)

    def test_rows_are_not_modified(self, features):
        x = rows()
        before = x.copy()
        clone(features).fit(x).transform(x)
        np.testing.assert_array_equal(x, before)

    def test_a_fit_that_fails_leaves_the_map_as_it_was(self, features):
        x = rows()
        fitted = clone(features).fit(x)
        before, attributes = dense(fitted.transform(x)), set(vars(fitted))
        for name, value in (("n_components", 0), LATE_FAILURES[type(features)]):
            good = fitted.get_params()[name]
            with pytest.raises((ValueError, TypeError)):
                fitted.set_params(**{name: value}).fit(rows(50, 5, seed=1))
            fitted.set_params(**{name: good})
            assert fitted.n_features_in_ == 4
            assert set(vars(fitted)) == attributes
            np.testing.assert_array_equal(dense(fitted.transform(x)), before)


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
    def test_exact_kernels_of_maps(self, name):
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

    def test_is_at_most_the_kernel(self):
        """What the landmarks miss is positive semi-definite."""
        X = rows(40)
        psi = NystromFeatures(10, random_state=0).fit_transform(X)
        missed = reference.gaussian_kernel(X, X, 1.0) - psi @ psi.T
        assert np.linalg.eigvalsh(missed).min() > -1e-8

    def test_equal_landmarks_are_allowed(self):
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
    def test_a_function_of_the_wrong_shape(self, function):
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
            (SubspaceFeatures(subspace_dim=-1), ValueError, "subspace_dim=-1"),
            (SubspaceFeatures(subspace_dim=0, measure="uniform"), ValueError, "subspace_dim=0"),
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
    def test_no_exact_kernel_without_a_formula(self, features, error, match):
        with pytest.raises(error, match=match):
            features.exact_kernel(rows(), rows())
