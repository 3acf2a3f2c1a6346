"""K-flats: its steps beside slow ones, an energy that never rises, invariances, scikit-learn's rules, bad input."""

import logging
import pickle
import warnings

import numpy as np
import pytest
import reference
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from examples import ODD_ROWS, slow_flats
from subspaces._core import blocks as _blocks
from subspaces.datasets import make_subspaces
from subspaces.estimators import _flats
from subspaces.estimators.kflats import KFlats
from subspaces.flats import dimension as flat_dimension
from subspaces.flats.angles import principal_angles
from subspaces.flats.candidates import lbf_starts, random_starts
from subspaces.flats.dimension import choose_dim, knee
from subspaces.flats.kflats import assign_to_flats, fit_kflats
from subspaces.flats.per_cluster import flats_of_labels
from subspaces.metrics import clustering_accuracy


@pytest.fixture(scope="module")
def planes():
    return make_subspaces((2, 2), 6, points_per_subspace=60, outliers=0.1, shuffle=True, random_state=0)


def small(**changes):
    return KFlats(**({"n_clusters": 2, "subspace_dim": 2, "n_init": 2, "random_state": 0} | changes))


class TestSteps:
    def test_nearest_flats_beside_the_reference(self, planes):
        X, y = planes
        flats = flats_of_labels(X, np.maximum(y, 0), 2, 2, affine=True)
        table = reference.squared_distances(X, slow_flats(flats))
        fit = assign_to_flats(X, flats, loss="squared")
        np.testing.assert_array_equal(fit.labels, table.argmin(axis=1))
        assert fit.energy == pytest.approx(table.min(axis=1).sum())
        assert assign_to_flats(X, flats).energy == pytest.approx(np.sqrt(table.min(axis=1)).sum())

    @pytest.mark.parametrize("affine", [False, True])
    def test_a_squared_step_is_the_best_fit_of_each_cluster(self, planes, affine):
        X, _ = planes
        start = random_starts(X, 2, 2, affine=affine, n_starts=1, rng=np.random.RandomState(0))[0]
        labels = assign_to_flats(X, start).labels
        step = fit_kflats(X, start, affine=affine, loss="squared", max_iter=1)
        for k in range(2):
            center, basis = reference.best_fit_flat(X[labels == k], 2, affine=affine)
            assert principal_angles(step.flats.bases[k], basis).max() < 1e-6
            np.testing.assert_allclose(step.flats.centers[k], center, atol=1e-10)

    def test_a_median_step_is_the_weighted_fit(self, planes):
        X, _ = planes
        start = flats_of_labels(X, np.zeros(len(X), np.int32), 1, 2, affine=True)
        weights = 1 / np.sqrt(reference.squared_distances(X, slow_flats(start))[:, 0])
        step = fit_kflats(X, start, affine=True, loss="median", max_iter=1)
        center = weights @ X / weights.sum()
        np.testing.assert_allclose(step.flats.centers[0], center, atol=1e-8)
        basis = np.linalg.svd(np.sqrt(weights)[:, None] * (X - center), full_matrices=False)[2][:2].T
        assert principal_angles(step.flats.bases[0], basis).max() < 1e-6

    @pytest.mark.parametrize("loss", ["squared", "median"])
    @pytest.mark.parametrize("affine", [False, True])
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_the_energy_never_rises(self, loss, affine, seed, dtype):
        rng = np.random.default_rng(seed)
        X, _ = make_subspaces((1, 2, 3), 6, points_per_subspace=30, outliers=0.2, random_state=seed)
        X = (X + (seed % 2) * rng.normal(size=6)).astype(dtype)
        start = random_starts(X, 4, 2, affine=affine, n_starts=1, rng=np.random.RandomState(seed))[0]
        energies = [assign_to_flats(X, start, loss=loss).energy]
        energies += [fit_kflats(X, start, affine=affine, loss=loss, max_iter=i).energy for i in range(1, 10)]
        assert (np.diff(energies) <= 0).all()
        assert energies[-1] < energies[0]

    def test_the_labels_are_those_of_the_nearest_flats_at_the_end(self, planes):
        X, _ = planes
        start = random_starts(X, 3, 2, affine=True, n_starts=1, rng=np.random.RandomState(1))[0]
        for max_iter in (1, 3, 100):
            fit = fit_kflats(X, start, affine=True, max_iter=max_iter)
            np.testing.assert_array_equal(fit.labels, assign_to_flats(X, fit.flats).labels)
            assert fit.n_iter <= max_iter

    def test_an_empty_cluster_finds_rows(self, planes):
        X, _ = planes
        start = flats_of_labels(X, np.zeros(len(X), np.int32), 3, 2, affine=True)
        assert len(np.unique(assign_to_flats(X, start).labels)) == 1
        assert len(np.unique(fit_kflats(X, start, affine=True).labels)) == 3

    def test_polishes_labels(self):
        X, y = make_subspaces((2, 2), 6, outliers=0, random_state=0)
        labels = np.where(np.random.default_rng(0).random(len(y)) < 0.25, 1 - y, y).astype(np.int32)
        fit = fit_kflats(X, flats_of_labels(X, labels, 2, 2, affine=False), affine=False)
        assert clustering_accuracy(y, fit.labels) > 0.98

    def test_outliers_hardly_move_the_median(self):
        X, _, bases, _ = make_subspaces((2,), 6, noise=0.01, outliers=0.4, random_state=0, return_bases=True)
        start = flats_of_labels(X, np.zeros(len(X), np.int32), 1, 2, affine=False)
        angles = {
            loss: principal_angles(fit_kflats(X, start, affine=False, loss=loss).flats.bases[0], bases[0]).max()
            for loss in ("squared", "median")
        }
        assert angles["median"] < 0.03
        assert angles["median"] < angles["squared"] / 3

    def test_knee(self):
        assert knee(np.array([5.0, 3.0, 1.0, 0.9, 0.8])) == 2
        assert knee(np.array([1.0])) == 0
        assert knee(np.array([0.0, 1.0, 0.0])) == 0

    @pytest.mark.parametrize(("dims", "p", "dim"), [((2, 2), 6, 2), ((3, 3), 12, 3)])
    def test_choose_dim(self, dims, p, dim):
        X, _ = make_subspaces(dims, p, points_per_subspace=100, random_state=0)
        assert choose_dim(X, 2, affine=True, rng=np.random.RandomState(0)) == dim

    @pytest.mark.parametrize("loss", ["squared", "median"])
    def test_flats_of_dimension_zero_are_centres(self, loss):
        X, y = make_blobs(150, centers=np.array([[0, 0], [8, 0], [0, 8]]), random_state=0)
        model = KFlats(3, subspace_dim=0, loss=loss, random_state=0).fit(X)
        assert clustering_accuracy(y, model.labels_) == 1
        if loss == "squared":
            means = np.stack([X[model.labels_ == k].mean(axis=0) for k in range(3)])
            np.testing.assert_allclose(model.flats_.centers, means, atol=1e-10)
        assert KFlats(3, random_state=0).fit(X).subspace_dim_ == 0

    def test_lines_in_the_plane_are_lines(self):
        rng = np.random.default_rng(0)
        X = np.r_[np.c_[rng.uniform(-1, 1, 80), np.zeros(80)], np.c_[np.zeros(80), rng.uniform(-1, 1, 80)]]
        model = KFlats(2, random_state=0).fit(X + rng.normal(scale=0.01, size=X.shape))
        assert model.subspace_dim_ == 1
        assert clustering_accuracy(np.repeat([0, 1], 80), model.labels_) > 0.95

    def test_lbf_starts_beat_random_ones(self, planes):
        X, _ = planes
        energies = [
            np.mean([assign_to_flats(X, s).energy for s in make(X, 2, 2, affine=True, n_starts=5, rng=rng)])
            for make, rng in ((lbf_starts, np.random.RandomState(0)), (random_starts, np.random.RandomState(0)))
        ]
        assert energies[0] < energies[1]


class TestEstimator:
    @parametrize_with_checks(
        [
            KFlats(3, random_state=0, n_init=2),
            KFlats(3, subspace_dim=1, loss="squared", init="random", affine=False, normalize=True, random_state=0),
        ]
    )
    def test_estimator_checks(self, estimator, check, monkeypatch):
        # Their data need no long search.
        monkeypatch.setattr(flat_dimension, "SEARCH_STARTS", 1)
        monkeypatch.setattr(flat_dimension, "SEARCH_STEPS", 3)
        monkeypatch.setattr(flat_dimension, "MAX_DIM", 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            check(estimator)

    @pytest.mark.parametrize("options", [{}, {"loss": "squared"}, {"affine": False, "normalize": True}])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_what_it_reports(self, planes, options, dtype):
        X, y = planes
        X = X.astype(dtype)
        model = small(**options).fit(X)
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        distances = model.transform(X)
        np.testing.assert_array_equal(distances.argmin(axis=1), model.labels_)
        power = 2 if options.get("loss") == "squared" else 1
        assert model.energy_ == pytest.approx((distances.astype(float).min(axis=1) ** power).sum(), rel=1e-4)
        assert model.score(X) == pytest.approx(-model.energy_ / len(X))
        assert model.labels_.dtype == np.int32
        assert distances.dtype == model.flats_.bases.dtype == model.flats_.centers.dtype == dtype
        assert model.subspace_dim_ == model.flats_.dim == 2
        assert clustering_accuracy(y, model.labels_) > 0.95

    def test_the_number_of_clusters(self, planes):
        X, y = planes
        model = KFlats("auto", subspace_dim=2, max_clusters=4, random_state=0).fit(X)
        assert model.n_clusters_ == len(model.flats_) == 2
        assert model.cluster_dims_.tolist() == [2, 2]
        assert clustering_accuracy(y, model.labels_) > 0.95
        assert [each.name for each in model.choice_] == ["n_clusters"]
        assert len(small().fit(X).choice_) == 0

    def test_the_dimension_is_a_decision(self, planes):
        model = small(subspace_dim="auto").fit(planes[0])
        decision = model.choice_["subspace_dim"]
        assert decision.chosen["subspace_dim"] == model.subspace_dim_ == 2
        assert [each["subspace_dim"] for each in decision.candidates] == [1, 2, 3, 4, 5]

    def test_dimensions_come_from_a_sample(self, planes, monkeypatch):
        whole = small().fit(planes[0])
        monkeypatch.setattr(_flats, "MODEL_ROWS", 80)
        some = small().fit(planes[0])
        np.testing.assert_array_equal(whole.labels_, some.labels_)
        assert some.cluster_dims_.tolist() == [2, 2]

    def test_seed_and_pickle(self, planes):
        X, _ = planes
        first, second = (small(init="random").fit(X) for _ in range(2))
        np.testing.assert_array_equal(first.labels_, second.labels_)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).predict(X), first.labels_)

    def test_starting_labels(self, planes):
        X, y = planes
        model = small(init=y).fit(X)
        assert clustering_accuracy(y, model.labels_) > 0.98
        assert clone(model).get_params()["init"] is not None

    def test_rotation_scale_and_translation(self, planes):
        X, _ = planes
        rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
        labels = small().fit_predict(X)
        for moved in (X @ rotation, 1e6 * X, 1e-6 * X, X + 100):
            assert clustering_accuracy(labels, small().fit_predict(moved)) > 0.99

    def test_block_size(self, planes, monkeypatch):
        X, _ = planes
        large = small().fit(X)
        monkeypatch.setattr(_blocks, "BLOCK_BYTES", 1)
        tiny = small().fit(X)
        np.testing.assert_array_equal(large.labels_, tiny.labels_)
        np.testing.assert_array_equal(large.predict(X), tiny.predict(X))
        np.testing.assert_allclose(large.transform(X), tiny.transform(X), atol=1e-8)

    def test_not_fitted(self):
        for call in ("predict", "transform", "score"):
            with pytest.raises(NotFittedError):
                getattr(KFlats(2), call)(np.eye(3))

    def test_verbose_speaks_on_stderr(self, planes, capsys, monkeypatch):
        monkeypatch.setattr(logging.root, "handlers", [])
        monkeypatch.setattr(logging.getLogger("subspaces"), "handlers", [])
        small(verbose=1).fit(planes[0])
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "moving 2 flats of dimension 2" in captured.err

    @pytest.mark.parametrize(
        ("changes", "error", "message"),
        [
            ({"n_clusters": 0}, ValueError, "n_clusters=0"),
            ({"n_clusters": 1000}, ValueError, "n_clusters=1000 must be between 1 and"),
            ({"subspace_dim": 6}, ValueError, "n_features=6"),
            ({"subspace_dim": 0, "affine": False}, ValueError, "subspace_dim=0"),
            ({"subspace_dim": "big"}, TypeError, "subspace_dim='big'"),
            ({"loss": "cubed"}, ValueError, "loss='cubed'"),
            ({"affine": "auto"}, ValueError, "affine='auto'"),
            ({"normalize": 1}, ValueError, "normalize=1"),
            ({"n_clusters": "many"}, TypeError, "n_clusters='many'"),
            ({"n_clusters": "auto", "init": np.zeros(134, int)}, ValueError, "labels given as init"),
            ({"max_clusters": 0}, ValueError, "max_clusters=0"),
            ({"n_init": 0}, ValueError, "n_init=0"),
            ({"max_iter": 0}, ValueError, "max_iter=0"),
            ({"init": "best"}, ValueError, "init='best'"),
            ({"init": np.zeros(3, int)}, ValueError, "shape \\(3,\\)"),
            ({"init": np.full(134, 2)}, ValueError, "from 2 to 2"),
            ({"init": np.zeros(134)}, ValueError, "float64"),
        ],
    )
    def test_parameters(self, planes, changes, error, message):
        with pytest.raises(error, match=message):
            small(**changes).fit(planes[0])

    @pytest.mark.parametrize("loss", ["squared", "median"])
    @pytest.mark.parametrize(("name", "rows"), ODD_ROWS)
    @pytest.mark.parametrize("n_clusters", [1, 2, "auto"])
    def test_rows_that_are_odd_but_valid(self, name, rows, loss, n_clusters):
        n_clusters = n_clusters if n_clusters == "auto" else min(n_clusters, len(rows))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = small(n_clusters=n_clusters, subspace_dim="auto", loss=loss).fit(rows)
        assert model.labels_.shape == (len(rows),)
        assert set(model.labels_) <= set(range(model.n_clusters_))
        assert model.cluster_dims_.shape == (model.n_clusters_,)
        assert np.isfinite(model.transform(rows)).all()
        assert np.isfinite(model.energy_)
