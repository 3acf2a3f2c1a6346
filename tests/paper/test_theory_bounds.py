"""Lemma 3.1, Lemma 4.3, the number of landmarks that is enough, and the picture of everything."""

from __future__ import annotations

import json

import numpy as np
import pytest
import reference
from test_theory import FAMILIES, every_family, planes

from subspaces import FLS, theory
from subspaces._core.progress import listening
from subspaces.datasets import make_subspaces
from subspaces.kernels import CustomFeatures, FourierFeatures, LandmarkFeatures, SubspaceFeatures
from subspaces.paper.theory.matrix_perturbation import _bounds, _measure, _top_vectors

WIDE = {
    "fourier": FourierFeatures(sigma=1.0),
    "landmarks": LandmarkFeatures(sigma=1.0, landmarks="random"),
    "subspaces": SubspaceFeatures(subspace_dim=2, sigma=1.0, landmarks="random", neighborhood=20),
}


def slow_terms(w, v):
    """H1, H2 and H3 as the paper writes them, W = w and W^ = v."""
    d, e = (np.diag(each.sum(axis=1) ** -0.5) for each in (w, v))
    return (d - e) @ w @ d, e @ (w - v) @ d, e @ v @ (d - e), d @ w @ d - e @ v @ e


class TestPerturbation:
    def test_terms_match_the_paper(self):
        x = planes(40)
        w = np.exp(-np.square(x[:, None] - x).sum(axis=2) / 2)
        psi = FourierFeatures(500, random_state=0).fit_transform(x)
        v = psi @ psi.T
        found = _measure(w, _top_vectors(w)[1][:, 1], v)
        *terms, difference = slow_terms(w, v)
        np.testing.assert_allclose(sum(terms), difference, atol=1e-12)
        np.testing.assert_allclose(found["norms"], [np.linalg.norm(term, 2) for term in terms], rtol=1e-8)
        assert found["total"] == pytest.approx(np.linalg.norm(difference, 2), rel=1e-8)
        assert found["delta"] == pytest.approx(np.abs(w - v).max() / w.min())

    def test_bounds_match_the_paper(self):
        stated, sharp = _bounds(np.array([[0.3, 1.2]]), 4.0)
        expected = [2.0 * 0.7**-1.5 * 0.3, 0.7**-0.5 * 0.3, 0.5 / 0.7**2 * (4 + 0.3) * 0.3]
        np.testing.assert_allclose(stated[0, 0], expected)
        assert np.isinf(stated[0, 1]).all()
        assert (sharp[0, 0] <= stated[0, 0]).all()

    @pytest.mark.parametrize("features", WIDE.values(), ids=WIDE)
    def test_terms_are_within_bounds(self, features):
        found = theory.perturbation(planes(100), features, n_features=(256, 1024, 4096), random_state=0)
        assert found.holds
        assert np.isfinite(found.bounds[-1]).all()
        assert (found.norms <= found.sharp_bounds).all()
        assert (found.sharp_bounds <= found.bounds).all()
        assert (found.vector_error <= found.vector_bound).all()
        # Sixteen times the features: a quarter of every term.
        assert found.norms[-1].mean() / found.norms[0].mean() == pytest.approx(0.25, rel=0.6)

    def test_exceeded_bound_is_detected(self):
        found = theory.perturbation(planes(50), WIDE["landmarks"], n_features=[2000], random_state=0)
        wrong = json.loads(json.dumps(found.to_dict()))
        wrong["norms"][0][0][1] = 2 * wrong["bounds"][0][0][1]
        assert theory.Perturbation.from_dict(found.to_dict()).holds
        assert not theory.Perturbation.from_dict(wrong).holds

    def test_rounding_is_tolerated(self):
        found = theory.perturbation(np.ones((20, 3)), WIDE["landmarks"], n_features=[50], random_state=0)
        assert found.norms.max() < 1e-12
        assert found.holds
        values = found.to_dict()
        values["norms"] = [[[1e-13] * 3] * 3]
        values["bounds"] = [[[0.0] * 3] * 3]
        assert theory.Perturbation.from_dict(values).holds

    def test_no_gap_for_rows_far_apart(self):
        X, _ = make_subspaces((2, 2), 6, random_state=0)
        rows = (100 * X).astype(int)[:300]
        found = theory.perturbation(rows, FourierFeatures(sigma=1.0), n_features=[64], n_draws=2, random_state=0)
        assert found.gap == 0
        known = np.isfinite(found.total)
        assert np.isinf(found.vector_bound[known]).all()
        json.dumps(found.to_dict(), allow_nan=False)

    def test_bounds_are_infinite_for_small_entries(self):
        found = theory.perturbation(planes(60), FourierFeatures(sigma=0.15), n_features=[4000], random_state=0)
        assert (found.delta > 1).all()
        assert np.isinf(found.bounds).all()
        assert found.norms.max() < 1
        values = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert values["bounds"][0][0] == [None] * 3
        again = theory.Perturbation.from_dict(values)
        assert again.holds
        np.testing.assert_array_equal(again.bounds, found.bounds)

    def test_rows_without_positive_degree_give_nan(self):
        far = np.vstack([planes(60), [[30.0] * 6]])
        found = theory.perturbation(far, FourierFeatures(sigma=0.3), n_features=[8], n_draws=10, random_state=0)
        assert np.isnan(found.norms).any()


class TestUniformMeasure:
    @pytest.mark.parametrize(("dim", "width", "sigma"), [(1, 3, 0.7), (2, 5, 0.5), (4, 6, 1.5)])
    def test_estimates_match_the_closed_form(self, dim, width, sigma):
        found = theory.uniform_measure(dim, width, sigma=sigma, n_pairs=10, n_subspaces=1000, random_state=0)
        assert np.sqrt(np.mean(found.deviations**2)) == pytest.approx(1, abs=0.25)
        assert np.abs(found.deviations).max() < 5

    def test_closed_form_is_the_mean_over_subspaces(self):
        found = theory.uniform_measure(2, 4, sigma=0.8, n_angles=4, n_pairs=1, n_subspaces=2, random_state=0)
        x, y = np.eye(2, 4)
        turned = [np.cos(angle) * x + np.sin(angle) * y for angle in np.linspace(0, np.pi, 4)]
        np.testing.assert_allclose(found.distances, [np.linalg.norm(x - each) for each in turned], atol=1e-12)
        rng = np.random.default_rng(0)
        slow = [reference.monte_carlo_subspace_kernel(x, each, 2, 0.8, 4000, rng) for each in turned]
        np.testing.assert_allclose(found.closed_form, slow, rtol=0.05)

    def test_opposite_vectors_are_equal(self):
        found = theory.uniform_measure(2, 5, n_angles=9, random_state=0)
        np.testing.assert_allclose(found.closed_form, found.closed_form[::-1], rtol=1e-10)
        assert found.closed_form.argmin() == 4
        assert found.distances[4] == pytest.approx(np.sqrt(2))

    def test_json_roundtrip(self):
        found = theory.uniform_measure(n_angles=3, n_pairs=2, n_subspaces=50, random_state=0)
        again = theory.UniformMeasure.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
        assert again.to_dict() == found.to_dict()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"subspace_dim": 5}, "subspace_dim=5 .*ambient_dim=5"),
            ({"ambient_dim": 1}, "ambient_dim=1"),
            ({"sigma": 0.0}, "sigma=0.0"),
            ({"sigma": 1e-200}, "sigma=1e-200"),
            ({"n_subspaces": 1}, "n_subspaces=1"),
        ],
    )
    def test_bad_input(self, options, message):
        with pytest.raises(ValueError, match=message):
            theory.uniform_measure(**options)


def kernel_errors(x, features, count, n_draws=8):
    """Largest error of the map itself with `count` features, over the largest entry, all pairs of different rows."""
    apart = ~np.eye(len(x), dtype=bool)
    if isinstance(features, FourierFeatures):
        kernel = features.exact_kernel(x, x)
    else:
        whole = type(features)(**{**features.get_params(), "landmarks": x}).fit(x).transform(x)
        kernel = whole @ whole.T
    errors = []
    for seed in range(n_draws):
        psi = type(features)(**{**features.get_params(), "n_components": count, "random_state": seed}).fit_transform(x)
        errors.append(np.abs(psi @ psi.T - kernel)[apart].max() / kernel[apart].max())
    return np.mean(errors)


class TestLandmarksNeeded:
    @every_family
    def test_number_is_sufficient_and_not_too_large(self, features):
        x = planes(300)
        needed = theory.landmarks_needed(x, 0.1, features, n_draws=30, random_state=0)
        assert needed.law_seen
        assert needed.criterion == "kernel"
        # All pairs err more than the sampled thousand; sampled ones would err by 0.1.
        assert 0.07 < kernel_errors(x, features, needed.n_landmarks) < 0.18

    @every_family
    def test_eigenspace_meets_the_tolerance(self, features):
        x = planes(400)
        tolerance = 0.1 if isinstance(features, FourierFeatures) else 0.02
        needed = theory.landmarks_needed(x, tolerance, features, n_clusters=2, random_state=0)
        assert needed.criterion == "eigenspace"
        assert needed.law_seen
        assert needed.gap > 0.3
        measured = theory.eigenspace_error(x, features, n_features=needed.n_landmarks, n_draws=10, random_state=1)
        assert measured.errors.mean() == pytest.approx(tolerance, rel=0.7)

    @pytest.mark.parametrize("criterion", ["kernel", "eigenspace", "labels"])
    def test_smaller_tolerances_need_more(self, criterion):
        x = planes(200)
        options = {"criterion": criterion, "n_clusters": 2, "n_draws": 6, "pilots": (32, 64, 128), "random_state": 0}
        found = [
            theory.landmarks_needed(x, tolerance, FAMILIES["fourier"], **options).n_landmarks
            for tolerance in (0.5, 0.2, 0.1, 0.05, 0.02)
        ]
        known = [count for count in found if count is not None]
        assert known == sorted(known)
        assert len(known) >= 4
        assert criterion == "labels" or known[-1] == pytest.approx(25 * known[2], rel=0.01)

    def test_at_most_all_rows(self):
        x = planes(300)
        needed = theory.landmarks_needed(x, 1e-6, FAMILIES["landmarks"], random_state=0)
        assert needed.n_landmarks == 300
        assert "every row" in needed.reason

    def test_number_does_not_grow_with_rows(self):
        counts = [
            theory.landmarks_needed(planes(n), 0.1, FAMILIES["fourier"], n_draws=10, random_state=0).n_landmarks
            for n in (500, 5000)
        ]
        assert counts[1] == pytest.approx(counts[0], rel=0.2)

    def test_errors_that_do_not_decrease(self):
        """Identical features: more of them do not reduce the error."""
        same = CustomFeatures(
            lambda X, w: np.cos(X @ w.T), lambda X, size, rng: np.repeat(rng.normal(size=(1, X.shape[1])), size, axis=0)
        )
        needed = theory.landmarks_needed(planes(300), 0.01, same, n_draws=20, random_state=0)
        assert needed.n_landmarks is None
        assert needed.basis == "nothing"
        assert "D cannot be estimated" in str(needed)
        assert "do not follow" in needed.reason

    @pytest.mark.parametrize("scale", [100, 1e4])
    def test_sigma_too_small(self, scale):
        X, _ = make_subspaces((2, 2), 6, random_state=0)
        needed = theory.landmarks_needed(scale * X, 0.1, FourierFeatures(sigma=1.0), n_draws=5, random_state=0)
        assert needed.n_landmarks is None
        assert not needed.law_seen
        assert "raise sigma" in str(needed).replace("\n", " ")
        json.dumps(needed.to_dict(), allow_nan=False)

    def test_gap_too_small(self):
        x = np.random.default_rng(0).normal(size=(400, 8))
        needed = theory.landmarks_needed(
            x, 0.1, FourierFeatures(sigma=3.0), n_clusters=5, pilots=(16, 32, 64), random_state=0
        )
        assert needed.n_landmarks is None
        assert needed.gap < 0.05
        assert "gap" in needed.reason

    def test_gap_too_small_for_nearest_landmarks(self):
        x = np.random.default_rng(0).normal(size=(400, 8))
        needed = theory.landmarks_needed(x, 0.1, LandmarkFeatures(n_nearest=5), n_clusters=5, n_draws=3, random_state=0)
        assert needed.n_landmarks is None
        assert "the eigenspace is still inaccurate" in needed.reason

    @pytest.mark.parametrize("criterion", [None, "labels"])
    def test_fitted_estimator(self, criterion):
        """FLS keeps the nearest flats of a row: no law is known, but eigenspace and labels converge."""
        x, _ = make_subspaces((2, 2), 6, points_per_subspace=300, noise=0.1, random_state=0)
        fls = FLS(2, subspace_dim=2, neighborhood=16, random_state=0).fit(x)
        needed = theory.landmarks_needed(x, 0.2, fls, criterion=criterion, n_draws=3, random_state=0)
        assert not needed.law_seen
        assert needed.criterion == (criterion or "eigenspace")
        assert "no law is known" in needed.reason
        assert len(needed.curve.sizes) == 3
        assert needed.curve.errors.min() > 0
        assert 18 <= needed.n_landmarks <= 600
        with pytest.raises(ValueError, match="n_nearest=None"):
            theory.landmarks_needed(x, 0.2, fls, criterion="kernel")

    def test_fls_paper(self):
        x = planes(500)
        fls = FLS.paper(2, subspace_dim=2, n_landmarks=60, landmarks="random", random_state=0).fit(x)
        needed = theory.landmarks_needed(x, 0.1, fls, criterion="kernel", random_state=0)
        assert needed.curve.parameters["sigma"] == fls.sigma_
        assert needed.law_seen

    def test_equal_rows(self):
        needed = theory.landmarks_needed(np.ones((200, 4)), 0.1, LandmarkFeatures(landmarks="random"), random_state=0)
        assert needed.n_landmarks == 32
        assert needed.basis == "measured"

    def test_json_roundtrip(self):
        needed = theory.landmarks_needed(planes(200), 0.1, random_state=0)
        values = json.loads(json.dumps(needed.to_dict(), allow_nan=False))
        assert values["n_landmarks"] == needed.n_landmarks
        np.testing.assert_allclose(values["curve"]["measures"]["kernel"], needed.curve.errors)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"tolerance": 0}, "tolerance=0"),
            ({"criterion": "angle"}, "criterion='angle' is not known"),
            ({"criterion": "labels"}, 'criterion="labels" needs n_clusters'),
            ({"n_clusters": 1}, "n_clusters=1"),
            ({"n_draws": 1}, "n_draws=1"),
            ({"sample_rows": 10}, "sample_rows=10"),
            ({"pilots": [10, 4000]}, "pilots=4000 .*raise sample_rows"),
            ({"pilots": [10]}, "at least two"),
        ],
    )
    def test_bad_input(self, options, message):
        with pytest.raises(ValueError, match=message):
            theory.landmarks_needed(planes(200), **{"feature_map": FAMILIES["landmarks"], **options})

    def test_one_column(self):
        with pytest.raises(ValueError, match="one column"):
            theory.landmarks_needed(planes(200)[:, :1])
        features = LandmarkFeatures()
        assert theory.landmarks_needed(planes(200)[:, :1], 0.5, features, n_draws=2, random_state=0).n_landmarks

    def test_too_few_rows(self):
        with pytest.raises(ValueError, match="n_samples=50 rows: pass at least 100"):
            theory.landmarks_needed(planes(50))


@pytest.fixture(scope="module")
def curves():
    events = []
    with listening(events.append):
        found = theory.curves(small=True)
    own = [event for event in events if event.stage == "theory"]
    assert "uniform measure" in [event.detail for event in own]
    assert [event.done for event in own] == list(range(own[-1].total))
    return found


class TestEverything:
    def test_json(self, curves):
        assert json.loads(json.dumps(curves, allow_nan=False)) == curves
        assert list(curves) == [
            "kernel_error", "kernel_error_by_rows", "eigenspace_error", "eigenspace_error_by_rows", "perturbation",
            "uniform_measure", "landmarks_needed",
        ]  # fmt: skip

    def test_slopes_match_the_paper(self, curves):
        for name in ("Fourier", "landmarks", "subspaces"):
            assert curves["kernel_error"]["families"][name]["slope"] == pytest.approx(-0.5, abs=0.15)
            assert curves["perturbation"]["families"][name]["holds"]
            assert curves["kernel_error_by_rows"]["families"][name]["ratio"] < 1.5

    def test_table(self, curves):
        lines = theory.table(curves)
        slope = curves["kernel_error"]["families"]["landmarks"]["slope"]
        assert f"| {slope:.2f} ± " in lines[2]
        assert all(line.count("|") == 5 for line in lines[:7])
        assert "exceeded" not in lines[6]

    def test_missing_curves_raise(self, tmp_path):
        with pytest.raises(ValueError, match="curves lacks eigenspace_error"):
            theory.table({})
        pytest.importorskip("matplotlib")
        empty = {name: {"families": {}} for name in ("kernel_error", "kernel_error_by_rows", "eigenspace_error")}
        empty |= {name: {"families": {}} for name in ("eigenspace_error_by_rows", "perturbation", "uniform_measure")}
        with pytest.raises(ValueError, match="curves is empty"):
            theory.draw(empty, tmp_path / "no.png")

    def test_figure(self, curves, tmp_path):
        pytest.importorskip("matplotlib")
        theory.draw(json.loads(json.dumps(curves)), tmp_path / "theory.png")
        assert (tmp_path / "theory.png").read_bytes()[:4] == b"\x89PNG"
        with pytest.raises(ValueError, match="curves lacks perturbation"):
            theory.draw({key: value for key, value in curves.items() if key != "perturbation"}, tmp_path / "no.png")

    def test_plot_of_every_result(self):
        pyplot = pytest.importorskip("matplotlib.pyplot")
        pyplot.switch_backend("agg")
        x = planes(200)
        curve = theory.kernel_error(x, FAMILIES["landmarks"], random_state=0)
        found = [
            curve,
            theory.perturbation(x, WIDE["landmarks"], random_state=0),
            theory.uniform_measure(n_subspaces=50, random_state=0),
            theory.landmarks_needed(x, 0.05, FAMILIES["landmarks"], random_state=0),
        ]
        for result in found:
            ax = result.plot()
            assert ax.lines
            assert ax.get_xlabel()
            pyplot.close(ax.figure)
        _, own = pyplot.subplots()
        assert curve.plot(own) is own
        np.testing.assert_allclose(own.lines[1].get_ydata(), curve.errors.mean(axis=1))
        pyplot.close(own.figure)

    def test_repr(self):
        x = planes(120)
        curve = theory.kernel_error(x, FAMILIES["fourier"], n_features=(16, 64), random_state=0)
        assert repr(curve).startswith("kernel error: ")
        assert f"slope {curve.slope:.2f}" in repr(curve)
        assert "|H2| = " in repr(theory.perturbation(x, WIDE["fourier"], n_features=[900], random_state=0))
        assert "standard errors" in repr(theory.uniform_measure(n_subspaces=50, random_state=0))
