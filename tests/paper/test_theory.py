"""The theory of the paper: errors of kernels and eigenvectors, against slow versions and against the laws."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import clone

from subspaces import theory
from subspaces.datasets import make_subspaces
from subspaces.kernels import (
    CustomFeatures,
    FourierFeatures,
    LandmarkFeatures,
    NystromFeatures,
    SubspaceFeatures,
    exact,
)
from subspaces.paper.theory.eigenspace import exact_eigenspace, feature_eigenspace
from subspaces.paper.theory.source import FittedMaps, ManyPoints, make_source


def planes(n, seed=0):
    """Rows near two affine planes, inside the unit ball."""
    X, _ = make_subspaces(
        (2, 2), 6, points_per_subspace=n // 2, noise=0.02, outliers=0, affine=True, shuffle=True, random_state=seed
    )
    X -= X.mean(axis=0)
    return X / np.linalg.norm(X, axis=1).max()


FAMILIES = {
    "fourier": FourierFeatures(sigma=0.5),
    "landmarks": LandmarkFeatures(sigma=0.5, landmarks="random"),
    "subspaces": SubspaceFeatures(subspace_dim=2, sigma=0.5, landmarks="random", neighborhood=20),
}
every_family = pytest.mark.parametrize("features", FAMILIES.values(), ids=FAMILIES)


def all_rows_as_landmarks(features, x):
    return clone(features).set_params(landmarks=x).fit(x)


def product_deviations(features, x, first, second):
    """Standard deviation of f(x, y) f(x', y) over y for pairs of rows: the error of one draw."""
    if isinstance(features, FourierFeatures):
        # 2 cos a cos b = cos(a - b) + cos(a + b), and the second term is independent of the first.
        shift = x[first] - x[second]
        k, twice = (np.exp(-(np.square(c * shift).sum(axis=1)) / (2 * features.sigma**2)) for c in (1, 2))
        return np.sqrt(0.5 + (1 + twice) / 2 - k**2)
    psi = all_rows_as_landmarks(features, x).transform(x)
    return (len(x) * psi[first] * psi[second]).std(axis=1)


class TestKernelError:
    @every_family
    def test_slope_is_minus_one_half(self, features):
        # Waves of different pairs are almost independent, bumps are not: there, draws must make up for it.
        n_draws = 20 if isinstance(features, FourierFeatures) else 500
        found = theory.kernel_error(planes(300), features, n_draws=n_draws, n_pairs=150, random_state=0)
        assert found.slope == pytest.approx(-0.5, abs=0.05)
        assert found.slope_error < 0.03
        assert found.to_dict()["slopes"]["rms"] == pytest.approx(-0.5, abs=0.07)

    @every_family
    def test_size_of_the_error(self, features, monkeypatch):
        x = planes(70)
        pairs = np.divmod(np.arange(len(x) ** 2), len(x))
        monkeypatch.setattr("subspaces.paper.theory.kernel.sample_pairs", lambda n, count, rng: pairs)
        found = theory.kernel_error(x, features, n_features=[64], n_draws=100, n_pairs=len(x) ** 2, random_state=0)
        expected = np.sqrt(np.mean(product_deviations(features, x, *pairs) ** 2) / 64)
        assert np.sqrt(np.mean(found.measures["rms"] ** 2)) == pytest.approx(expected, rel=0.15)
        assert (found.measures["max"] > found.measures["rms"]).all()

    @every_family
    def test_bound(self, features):
        found = theory.kernel_error(planes(200), features, random_state=0)
        assert (found.errors < found.bounds["paper"][:, None]).all()
        # Not by so much that it says nothing.
        assert found.errors.max() > found.bounds["paper"][-1] / 10

    @pytest.mark.parametrize(
        "features",
        [
            FourierFeatures(kernel="laplacian", sigma=2.0),
            FourierFeatures(kernel=lambda shape, rng: rng.uniform(-2, 2, shape)),
            SubspaceFeatures(subspace_dim=2, measure="uniform", sigma=0.7),
            CustomFeatures(lambda X, w: X @ w.T > 0, lambda X, size, rng: rng.normal(size=(size, X.shape[1]))),
        ],
        ids=["laplacian", "own frequencies", "uniform", "custom"],
    )
    def test_slope_of_other_maps(self, features):
        options = {"n_features": (16, 64, 256), "n_draws": 20, "n_pairs": 60, "n_reference": 8000, "random_state": 0}
        found = theory.kernel_error(planes(100), features, **options)
        assert found.slope == pytest.approx(-0.5, abs=0.1)
        assert ("paper" in found.bounds) == (not isinstance(features, CustomFeatures))

    def test_sigma_is_chosen_once(self):
        x = planes(200)
        found = theory.kernel_error(x, LandmarkFeatures(50, landmarks="random"), n_draws=50, random_state=0)
        assert isinstance(found.parameters["sigma"], float)
        assert found.slope == pytest.approx(-0.5, abs=0.1)

    @every_family
    def test_independent_of_the_number_of_rows(self, features):
        options = {"n_features": 64, "n_pairs": 300, "n_reference": 200, "fixed_measure": True, "random_state": 0}
        n_draws = 30 if isinstance(features, FourierFeatures) else 200
        found = theory.kernel_error_by_rows(planes(8000), features, n_rows=(500, 8000), n_draws=n_draws, **options)
        assert abs(found.slope) < 0.05
        assert found.ratio < 1.2
        uniform = found.measures["max over n pairs"].mean(axis=1)
        # Sixteen times as many pairs: the largest of that many independent normal errors would grow by a fifth.
        assert 1 - 0.1 < uniform[-1] / uniform[0] < 1.3

    def test_more_pairs_have_larger_errors(self):
        """The supremum over all rows is what grows: with the number of pairs, until the domain is full."""
        found = theory.kernel_error_by_rows(
            planes(8000), FAMILIES["fourier"], n_rows=(20, 8000), n_features=64, n_draws=40, n_pairs=20, random_state=0
        )
        few, many = found.measures["max over n pairs"].mean(axis=1)
        assert many > 1.2 * few
        assert found.ratio < 1.2


class TestSources:
    @pytest.mark.parametrize("name", ["landmarks", "subspaces"])
    def test_draws_are_points_of_the_measure(self, name):
        x = planes(120)
        source = make_source(FAMILIES[name], x, n_reference=1000, rng=np.random.RandomState(0))
        assert isinstance(source, ManyPoints)
        whole = all_rows_as_landmarks(FAMILIES[name], x).transform(x)
        np.testing.assert_allclose(source.matrix(x, x), whole @ whole.T, atol=1e-12)
        psi = source.draw(40, np.random.RandomState(1)).transform(x)
        index = np.random.RandomState(1).randint(120, size=40)
        np.testing.assert_allclose(psi, whole[:, index] * np.sqrt(120 / 40), atol=1e-12)

    @every_family
    def test_pairs_equal_matrix_entries(self, features):
        x = planes(90)
        source = make_source(features, x, n_reference=50, rng=np.random.RandomState(0))
        first, second = np.arange(80), np.arange(80)[::-1] + 10
        kernel, found = source.pairs(x, first, second, source.take((30, 70), np.random.RandomState(3)))
        np.testing.assert_allclose(kernel, source.matrix(x, x)[first, second], atol=1e-12)
        rng = np.random.RandomState(3)
        for place, size in enumerate((30, 70)):
            psi = source.draw(size, rng).transform(x)
            np.testing.assert_allclose(found[:, place], (psi @ psi.T)[first, second], atol=1e-12)

    def test_landmark_kernel_uses_all_rows(self):
        x = planes(100)
        source = make_source(FAMILIES["landmarks"], x, n_reference=500, rng=np.random.RandomState(0))
        np.testing.assert_allclose(source.matrix(x, x), exact.landmark_kernel(x, x, points=x, sigma=0.5), atol=1e-12)

    def test_kmeans_landmarks_are_fitted_again(self):
        source = make_source(LandmarkFeatures(sigma=0.5), planes(100), n_reference=60, rng=np.random.RandomState(0))
        assert isinstance(source, FittedMaps)
        assert source.reference == "60 features"


def slow_eigenspace(matrix, count):
    """Top eigenvectors of the normalised matrix, all at once."""
    degrees = matrix.sum(axis=1)
    values, vectors = np.linalg.eigh(matrix / np.sqrt(np.outer(degrees, degrees)))
    return vectors[:, ::-1][:, :count], values[::-1][: count + 1]


def slow_sine(a, b):
    return np.linalg.norm(a @ a.T - b @ b.T, 2)


class TestEigenspaces:
    @every_family
    @pytest.mark.parametrize("count", [2, 3])
    def test_equals_the_eigenspace_of_the_matrix(self, features, count):
        x = planes(150)
        source = make_source(features, x, n_reference=500, rng=np.random.RandomState(0))
        found = exact_eigenspace(source, x, count)
        vectors, values = slow_eigenspace(source.matrix(x, x), count)
        assert slow_sine(found.vectors, vectors) < 1e-6
        np.testing.assert_allclose(found.values, values, atol=1e-9)
        draw = source.draw(100, np.random.RandomState(0))
        psi = draw.transform(x)
        vectors, values = slow_eigenspace(psi @ psi.T, count)
        found = feature_eigenspace(draw, x, count)
        assert slow_sine(found.vectors, vectors) < 1e-6
        np.testing.assert_allclose(found.values, values, atol=1e-9)

    @every_family
    def test_error_is_the_sine_of_the_largest_angle(self, features):
        x = planes(120)
        found = theory.eigenspace_error(x, features, n_features=[50, 100], n_draws=2, random_state=0)
        rng = np.random.RandomState(0)
        source = make_source(clone(features), x, n_reference=2048, rng=rng)
        vectors = slow_eigenspace(source.matrix(x, x), 2)[0]
        for size, row in zip((50, 100), found.errors, strict=True):
            for error in row:
                psi = source.draw(size, rng).transform(x)
                assert error == pytest.approx(slow_sine(vectors, slow_eigenspace(psi @ psi.T, 2)[0]), abs=1e-6)

    @every_family
    def test_slope_is_minus_one_half(self, features):
        found = theory.eigenspace_error(planes(300), features, n_features=(64, 256, 1024), n_draws=20, random_state=0)
        assert found.slope == pytest.approx(-0.5, abs=0.12)
        assert found.parameters["gap"] > 0.3

    @every_family
    def test_independent_of_the_number_of_rows(self, features):
        found = theory.eigenspace_error_by_rows(
            planes(1600), features, n_rows=(200, 1600), n_features=128, n_draws=25, n_reference=200,
            fixed_measure=True, random_state=0,
        )  # fmt: skip
        assert found.ratio < 1.5
        assert max(found.parameters["gaps"]) < 1.1 * min(found.parameters["gaps"])

    @pytest.mark.parametrize("neighborhood", [20, "beta2"])
    def test_refitted_flats_depend_on_the_rows(self, neighborhood):
        """The same number of neighbours among more rows spans less, down to the noise: another measure."""
        features = clone(FAMILIES["subspaces"]).set_params(neighborhood=neighborhood)
        options = {"n_rows": (500, 20_000), "n_features": 32, "n_draws": 1, "n_reference": 100, "random_state": 0}
        fixed, refitted = (
            theory.eigenspace_error_by_rows(planes(20_000), features, fixed_measure=each, **options).parameters["gaps"]
            for each in (True, False)
        )
        assert fixed[1] > 0.96 * fixed[0]
        assert refitted[1] < 0.93 * refitted[0]

    def test_rows_without_positive_degree_give_nan(self):
        far = np.vstack([planes(60), [[30.0] * 6]])
        found = theory.eigenspace_error(far, FourierFeatures(sigma=0.3), n_features=[8], n_draws=10, random_state=0)
        assert np.isnan(found.errors).any()
        assert None in found.to_dict()["measures"]["sine"][0]

    @pytest.mark.slow
    def test_rows_far_apart_raise(self):
        X, _ = make_subspaces((2, 2), 6, random_state=0)
        for function in (theory.eigenspace_error, theory.landmarks_needed):
            options = {"n_clusters": 2} if function is theory.landmarks_needed else {}
            with pytest.raises(ValueError, match="raise sigma or scale X"):
                function(10 * X, feature_map=FourierFeatures(sigma=1.0), random_state=0, **options)

    def test_draws_that_do_not_converge_give_nan(self, monkeypatch):
        from scipy.sparse.linalg import ArpackNoConvergence

        from subspaces.paper.theory import eigenspace

        calls, eigsh = [], eigenspace.eigsh

        def fails_once(*arguments, **options):
            calls.append(arguments)
            if len(calls) == 2:
                raise ArpackNoConvergence("no convergence", [], [])
            return eigsh(*arguments, **options)

        monkeypatch.setattr(eigenspace, "eigsh", fails_once)
        found = theory.eigenspace_error(planes(60), FAMILIES["fourier"], n_features=[80], n_draws=3, random_state=0)
        assert np.isnan(found.errors).tolist() == [[True, False, False]]


class TestCurve:
    def test_slope_of_a_power(self):
        sizes = np.array([10, 100, 1000])
        table = 3.0 * sizes[:, None] ** -0.7 * np.array([0.5, 1.5])
        curve = theory.Curve("error", "n_features", sizes, {"max": table})
        assert curve.slope == pytest.approx(-0.7)
        assert curve.slope_error == pytest.approx(0, abs=1e-12)
        assert curve.ratio == pytest.approx(100**0.7)

    def test_nan_draws_are_ignored(self):
        table = np.array([[1.0, np.nan], [0.1, 0.1]])
        curve = theory.Curve("error", "n_features", np.array([1, 100]), {"max": table})
        assert curve.slope == pytest.approx(-0.5)
        table = np.array([[1.0, 2.0, np.nan], [0.1, 0.1, 0.1]])
        curve = theory.Curve("error", "n_features", np.array([1, 100]), {"max": table})
        assert curve.slope_error == pytest.approx(np.log(2) / np.log(100) / 2)

    @pytest.mark.parametrize("table", [[[0.0], [0.0]], [[0.0], [1.0]], [[np.nan], [np.nan]]])
    def test_ratio_with_zero_is_nan(self, table):
        curve = theory.Curve("error", "n_features", np.array([1, 100]), {"max": np.array(table)})
        assert curve.to_dict()["ratio"] is None

    def test_json_roundtrip(self):
        found = theory.kernel_error(planes(60), FAMILIES["fourier"], n_features=(8, 16), n_draws=3, random_state=0)
        again = theory.Curve.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
        assert again.to_dict() == found.to_dict()
        np.testing.assert_array_equal(again.errors, found.errors)

    @every_family
    def test_same_seed_same_result(self, features):
        options = {"n_features": (8, 32), "n_draws": 2}
        first, second, other = (
            theory.kernel_error(planes(80), features, **options, random_state=seed).errors for seed in (1, 1, 2)
        )
        np.testing.assert_array_equal(first, second)
        assert not np.allclose(first, other)


class TestBadInput:
    X = planes(60)

    @pytest.mark.parametrize(
        ("function", "options", "message"),
        [
            (theory.kernel_error, {"n_features": ()}, "n_features=.* is empty"),
            (theory.kernel_error, {"n_features": [16, 0]}, "n_features=0 must be at least 1"),
            (theory.kernel_error, {"n_draws": 0}, "n_draws=0"),
            (theory.kernel_error, {"n_pairs": 0}, "n_pairs=0"),
            (theory.kernel_error_by_rows, {"n_rows": [10, 61]}, "n_rows=61 .*n_samples=60"),
            (theory.kernel_error_by_rows, {"fixed_measure": 1}, "fixed_measure=1"),
            (theory.kernel_error_by_rows, {"uniform": "x"}, "uniform='x'"),
            (theory.eigenspace_error, {"n_features": 1}, "n_features=1 and 60 rows"),
            (theory.eigenspace_error, {"n_vectors": 70}, "n_vectors=70"),
            (theory.eigenspace_error, {"n_vectors": 0}, "n_vectors=0"),
            (theory.eigenspace_error_by_rows, {"n_rows": [1]}, "n_rows=1 "),
            (theory.perturbation, {"n_features": [-1]}, "n_features=-1"),
        ],
    )
    def test_invalid_values(self, function, options, message):
        with pytest.raises(ValueError, match=message):
            function(self.X, FAMILIES["landmarks"], **options)

    def test_arrays_of_counts(self):
        for counts in (np.array(16), np.array([16])):
            found = theory.kernel_error(self.X, FAMILIES["fourier"], n_features=counts, n_draws=2, random_state=0)
            assert found.sizes.tolist() == [16]
        with pytest.raises(TypeError, match=r"n_features=16.5 must be a whole number"):
            theory.kernel_error(self.X, FAMILIES["fourier"], n_features=np.array(16.5))

    @pytest.mark.parametrize("function", [theory.kernel_error, theory.eigenspace_error, theory.perturbation])
    def test_invalid_maps(self, function):
        with pytest.raises(ValueError, match="n_nearest=None"):
            function(self.X, LandmarkFeatures(n_nearest=3, landmarks="random"))
        with pytest.raises(ValueError, match='use landmarks="random"'):
            function(self.X, LandmarkFeatures(landmarks=self.X[:5]))
        with pytest.raises(TypeError, match="feature_map='gaussian' must be a map"):
            function(self.X, "gaussian")
        with pytest.raises(ValueError, match=r"n_features=(1024|4096) must be below 60"):
            function(self.X, LandmarkFeatures(sigma=1.0))

    @pytest.mark.parametrize("function", [theory.kernel_error, theory.eigenspace_error, theory.perturbation])
    def test_invalid_rows(self, function):
        with pytest.raises(ValueError, match="NaN"):
            function([[0.0, np.nan], [1.0, 2.0]], FourierFeatures())
        with pytest.raises(ValueError, match="n_samples=1 rows"):
            function([[0.0, 1.0]], FourierFeatures())

    def test_too_many_rows_for_a_matrix(self):
        X = np.random.default_rng(0).normal(size=(6001, 2))
        with pytest.raises(ValueError, match=r"n_samples=6001 .* at most 6000"):
            theory.eigenspace_error(X, FourierFeatures())
        with pytest.raises(ValueError, match=r"n_samples=6001 .* 3 to 3000"):
            theory.perturbation(X, FourierFeatures())

    def test_nystrom(self):
        found = theory.kernel_error(self.X, NystromFeatures(sigma=2.0), n_features=(5, 20, 40), random_state=0)
        assert found.slope < -1
        assert not found.bounds


@pytest.mark.parametrize("curves", [None, 3, "curves", [["a"]]], ids=repr)
def test_tables_of_something_else_are_refused(curves):
    with pytest.raises(TypeError, match=r"curves is .*: pass the result of"):
        theory.table(curves)
    with pytest.raises(TypeError, match=r"curves is .*: pass the result of"):
        theory.draw(curves, "curves.png")
