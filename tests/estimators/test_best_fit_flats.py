"""Local best-fit flats: the greedy choice beside brute force, LBF and SLBF as estimators, bad input."""

import warnings
from itertools import combinations

import numpy as np
import pytest
import reference
import reference_codes
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from examples import ODD_ROWS, slow_flats
from subspaces import Beta2
from subspaces._core import blocks as _blocks
from subspaces.datasets import make_subspaces
from subspaces.estimators.lbf import LBF
from subspaces.estimators.slbf import SLBF
from subspaces.flats import candidates as candidate_flats
from subspaces.flats import dimension as flat_dimension
from subspaces.flats.affinity import flat_affinity, flat_scales, labels_by_votes
from subspaces.flats.candidates import choose_flats, distance_table
from subspaces.flats.kflats import fit_kflats
from subspaces.metrics import clustering_accuracy


@pytest.fixture(scope="module")
def planes():
    return make_subspaces((2, 2), 6, points_per_subspace=60, outliers=0.1, shuffle=True, random_state=0)


@pytest.fixture
def short_search(monkeypatch):
    monkeypatch.setattr(flat_dimension, "SEARCH_STARTS", 1)
    monkeypatch.setattr(flat_dimension, "SEARCH_STEPS", 3)
    monkeypatch.setattr(flat_dimension, "MAX_DIM", 2)


def slow_energy(table, chosen):
    return sum(min(row[list(chosen)]) for row in table)


def lbf(**changes):
    return LBF(**({"n_clusters": 2, "subspace_dim": 2, "n_candidates": 40, "random_state": 0} | changes))


class TestChoice:
    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize("count", [1, 2, 3])
    def test_a_descent_is_the_slow_one(self, seed, count):
        table = np.random.default_rng(seed).random((40, 9))
        choice = choose_flats(table, count, n_starts=1, rng=np.random.RandomState(seed))
        start = np.random.RandomState(seed).choice(9, count, replace=False)
        chosen, energy = reference_codes.greedy_flats(table, count, start, 50)
        assert choice.index.tolist() == list(chosen)
        assert choice.energy == pytest.approx(energy)

    @pytest.mark.parametrize("seed", range(5))
    def test_many_starts_find_the_best(self, seed):
        table = np.random.default_rng(seed).random((30, 10))
        choice = choose_flats(table, 3, n_starts=30, rng=np.random.RandomState(0))
        best = min(slow_energy(table, chosen) for chosen in combinations(range(10), 3))
        assert choice.energy == pytest.approx(best)

    def test_equal_columns_come_to_an_end(self):
        choice = choose_flats(np.ones((20, 6)), 3, n_starts=2, rng=np.random.RandomState(0))
        assert len(set(choice.index)) == 3
        assert choice.energy == 20

    def test_fewer_columns_than_flats(self):
        choice = choose_flats(np.eye(4)[:, :2], 3, n_starts=1, rng=np.random.RandomState(0))
        assert set(choice.index) == {0, 1}

    def test_more_starts_are_never_worse(self):
        table = np.random.default_rng(0).random((60, 30))
        few, many = (choose_flats(table, 5, n_starts=s, rng=np.random.RandomState(0)).energy for s in (1, 10))
        assert many <= few

    def test_block_size_and_order(self, monkeypatch):
        table = np.random.default_rng(0).random((50, 40))
        large = choose_flats(table, 4, n_starts=3, rng=np.random.RandomState(0))
        monkeypatch.setattr(_blocks, "BLOCK_BYTES", 1)
        tiny = choose_flats(np.asfortranarray(table), 4, n_starts=3, rng=np.random.RandomState(0))
        assert large.index.tolist() == tiny.index.tolist()

    def test_the_table(self, planes, monkeypatch):
        X, _ = planes
        flats = candidate_flats.candidate_flats(X, 15, 2, affine=True, rng=np.random.RandomState(0))
        table = distance_table(X, flats, 2, np.random.RandomState(0))
        np.testing.assert_allclose(table, np.sqrt(reference.squared_distances(X, slow_flats(flats))), atol=1e-7)
        monkeypatch.setattr(candidate_flats, "TABLE_ENTRIES", 15)
        monkeypatch.setattr(candidate_flats, "ROWS_PER_FLAT", 20)
        assert distance_table(X, flats, 2, np.random.RandomState(0)).shape == (40, 15)

    def test_candidates_are_the_flats_of_the_reference(self, planes):
        X, _ = planes
        flats = candidate_flats.candidate_flats(X, len(X), 2, affine=True, rng=np.random.RandomState(0))
        for i in (0, 7, 31):
            rows = reference.beta2_neighborhood(X, X[i], 2, 4, 2)
            center, basis = reference.best_fit_flat(X[rows], 2)
            np.testing.assert_allclose(flats.centers[i], center, atol=1e-10)
            assert reference.principal_angles(flats.bases[i], basis).max() < 1e-6


class TestLBF:
    @parametrize_with_checks([LBF(3, random_state=0, n_init=2), LBF(3, subspace_dim=0, polish=False, random_state=0)])
    def test_estimator_checks(self, estimator, check, short_search):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            check(estimator)

    @pytest.mark.parametrize("polish", [False, True])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_what_it_reports(self, planes, polish, dtype):
        X, y = planes
        X = X.astype(dtype)
        model = lbf(polish=polish).fit(X)
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        distances = model.transform(X)
        assert model.energy_ == pytest.approx(distances.min(axis=1).sum(dtype=float), rel=1e-4)
        assert (model.n_clusters_, model.subspace_dim_, model.n_candidates_) == (2, 2, 40)
        assert len(model.choice_) == 0
        assert model.cluster_dims_.tolist() == [2, 2]
        assert model.labels_.dtype == np.int32
        assert distances.dtype == model.flats_.bases.dtype == dtype
        assert clustering_accuracy(y, model.labels_) > 0.95

    def test_the_polish_is_median_k_flats(self, planes):
        X, _ = planes
        plain, polished = lbf(polish=False).fit(X), lbf().fit(X)
        fit = fit_kflats(X, plain.flats_, affine=True)
        np.testing.assert_array_equal(polished.labels_, fit.labels)
        assert polished.energy_ == fit.energy < plain.energy_

    def test_the_defaults_need_nothing_but_the_number_of_clusters(self):
        X, y = make_subspaces((3, 4), 9, points_per_subspace=120, outliers=0.3, random_state=1)
        model = LBF(2, random_state=0).fit(X)
        assert model.subspace_dim_ == 4
        assert clustering_accuracy(y, model.labels_) > 0.95

    @pytest.mark.parametrize("dim", [3, "auto"])
    def test_the_number_of_clusters(self, dim):
        X, y = make_subspaces((1, 2, 3), 7, points_per_subspace=80, outliers=0.3, random_state=0)
        model = LBF("auto", subspace_dim=dim, max_clusters=5, random_state=0).fit(X)
        assert model.n_clusters_ == 3
        assert [each.name for each in model.choice_] == ["n_clusters", "subspace_dim"][: 2 if dim == "auto" else 1]
        assert model.choice_["n_clusters"].chosen["n_clusters"] == 3
        if dim == "auto":
            assert model.choice_["subspace_dim"].chosen["subspace_dim"] == model.subspace_dim_
        else:
            assert sorted(model.cluster_dims_) == [1, 2, 3]
            assert clustering_accuracy(y, model.labels_) > 0.95

    def test_one_flat_that_fits_all_is_one_cluster(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 5)) + 1
        model = LBF("auto", max_clusters=4, random_state=0).fit(X)
        assert (model.n_clusters_, model.cluster_dims_.tolist()) == (1, [2])

    def test_rotation_scale_translation_and_order(self, planes):
        X, _ = planes
        labels = lbf().fit_predict(X)
        rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
        for moved in (X @ rotation, 1e6 * X, 1e-6 * X, X + 100):
            assert clustering_accuracy(labels, lbf().fit_predict(moved)) > 0.99
        order = np.random.default_rng(0).permutation(len(X))
        assert clustering_accuracy(labels[order], lbf().fit_predict(X[order])) > 0.97

    def test_seed_and_block_size(self, planes, monkeypatch):
        X, _ = planes
        large = lbf().fit(X)
        np.testing.assert_array_equal(large.labels_, lbf().fit(X).labels_)
        monkeypatch.setattr(_blocks, "BLOCK_BYTES", 1)
        np.testing.assert_array_equal(large.labels_, lbf().fit(X).labels_)

    @pytest.mark.parametrize(
        ("changes", "error", "message"),
        [
            ({"n_clusters": 0}, ValueError, "n_clusters=0"),
            ({"n_clusters": "many"}, TypeError, "n_clusters='many'"),
            ({"n_clusters": 1000}, ValueError, "n_clusters=1000"),
            ({"subspace_dim": 6}, ValueError, "n_features=6"),
            ({"n_candidates": 1}, ValueError, "n_candidates=1"),
            ({"neighborhood": "beta3"}, ValueError, "neighborhood='beta3'"),
            ({"neighborhood": Beta2(0)}, ValueError, "start_size=0"),
            ({"polish": "yes"}, ValueError, "polish='yes'"),
            ({"affine": None}, ValueError, "affine=None"),
            ({"n_init": 0}, ValueError, "n_init=0"),
            ({"max_clusters": 0}, ValueError, "max_clusters=0"),
            ({"max_iter": 1.5}, TypeError, "max_iter=1.5"),
        ],
    )
    def test_parameters(self, planes, changes, error, message):
        with pytest.raises(error, match=message):
            lbf(**changes).fit(planes[0])

    @pytest.mark.parametrize("n_clusters", [1, 2, "auto"])
    @pytest.mark.parametrize(("name", "rows"), ODD_ROWS)
    def test_rows_that_are_odd_but_valid(self, name, rows, n_clusters):
        n_clusters = min(n_clusters, len(rows)) if n_clusters != "auto" else "auto"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LBF(n_clusters, subspace_dim=1, max_clusters=3, n_init=2, random_state=0).fit(rows)
        assert set(model.labels_) <= set(range(model.n_clusters_))
        assert np.isfinite(model.transform(rows)).all()


class TestSLBF:
    @parametrize_with_checks([SLBF(3, random_state=0), SLBF(3, subspace_dim=1, scale="published", random_state=0)])
    def test_estimator_checks(self, estimator, check, short_search):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            check(estimator)

    @pytest.mark.parametrize("squared", [False, True])
    def test_affinity_beside_the_formula(self, planes, squared):
        X = planes[0][:40]
        flats = candidate_flats.candidate_flats(X, 40, 2, affine=True, rng=np.random.RandomState(0))
        scales = flat_scales(np.linspace(0.2, 0.5, 40) ** 2, 0.0, squared=squared)
        lengths = np.sqrt(reference.squared_distances(X, slow_flats(flats)))
        slow = np.zeros((40, 40))
        for i in range(40):
            for j in range(40):
                if i != j:
                    s = np.sqrt(lengths[i, j] * lengths[j, i])
                    slow[i, j] = np.exp(-s / (2 * scales[i])) + np.exp(-s / (2 * scales[j]))
        np.testing.assert_allclose(flat_affinity(X, flats, scales, n_nearest=40).toarray(), slow, atol=1e-6)
        kept = flat_affinity(X, flats, scales, n_nearest=5).toarray()
        np.testing.assert_allclose(kept, kept.T)
        np.testing.assert_allclose(kept[kept > 0], slow[kept > 0], atol=1e-6)
        # A row's own flat may or may not be among its nearest.
        assert ((kept > 0).sum(axis=1) >= 5).all()

    def test_votes_beside_the_formula(self, planes):
        X = planes[0][:40]
        flats = candidate_flats.candidate_flats(X, 12, 2, affine=True, rng=np.random.RandomState(0))
        labels, scales = np.arange(12, dtype=np.int32) % 3, np.linspace(0.1, 0.3, 12)
        weights = np.exp(-np.sqrt(reference.squared_distances(X, slow_flats(flats))) / (2 * scales))
        slow = np.stack([weights[:, labels == k].sum(axis=1) for k in range(3)], axis=1).argmax(axis=1)
        np.testing.assert_array_equal(labels_by_votes(X, flats, scales, labels, n_nearest=12), slow)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_what_it_reports(self, planes, dtype):
        X, y = planes
        X = X.astype(dtype)
        model = SLBF(2, subspace_dim=2, random_state=0).fit(X)
        assert clustering_accuracy(y, model.labels_) > 0.95
        assert clustering_accuracy(model.labels_, model.predict(X)) > 0.9
        assert len(model.flats_) == len(X)
        assert model.flats_.bases.dtype == model.affinity_matrix_.dtype == dtype
        assert model.affinity_matrix_.nnz <= 2 * 20 * len(X)
        assert model.labels_.dtype == np.int32

    def test_curved_clusters(self):
        first, second = np.random.default_rng(0).uniform(0, 2 * np.pi, size=(2, 150))
        zero = np.zeros(150)
        # Two rings, linked like those of a chain.
        X = np.r_[np.c_[np.cos(first), np.sin(first), zero], np.c_[1 + np.cos(second), zero, np.sin(second)]]
        y = np.repeat([0, 1], 150)
        assert clustering_accuracy(y, SLBF(2, subspace_dim=1, random_state=0).fit_predict(X)) > 0.95

    def test_scale_seed_and_block_size(self, planes, monkeypatch):
        X, _ = planes
        model = SLBF(2, subspace_dim=2, random_state=0)
        labels = model.fit_predict(X)
        for moved in (1e6 * X, X + 100):
            assert clustering_accuracy(labels, model.fit_predict(moved)) > 0.99
        monkeypatch.setattr(_blocks, "BLOCK_BYTES", 1)
        np.testing.assert_array_equal(labels, model.fit_predict(X))

    def test_not_fitted(self):
        with pytest.raises(NotFittedError):
            SLBF(2).predict(np.eye(3))

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"n_clusters": 0}, "n_clusters=0"),
            ({"subspace_dim": 6}, "n_features=6"),
            ({"n_nearest": 0}, "n_nearest=0"),
            ({"scale": "wide"}, "scale='wide'"),
            ({"neighborhood": 0}, "neighborhood=0"),
            ({"affine": 1}, "affine=1"),
        ],
    )
    def test_parameters(self, planes, changes, message):
        with pytest.raises(ValueError, match=message):
            SLBF(**({"n_clusters": 2} | changes)).fit(planes[0])

    @pytest.mark.parametrize(("name", "rows"), ODD_ROWS)
    def test_rows_that_are_odd_but_valid(self, name, rows):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = SLBF(min(2, len(rows)), subspace_dim=1, random_state=0).fit(rows)
        assert set(model.labels_) <= {0, 1}
        assert np.isfinite(model.affinity_matrix_.data).all()
        assert set(model.predict(rows)) <= {0, 1}
