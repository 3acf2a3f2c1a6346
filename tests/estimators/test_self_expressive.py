"""SSC and SSSC as estimators: published data models, labels of new rows, scikit-learn's rules, memory, real data."""

import os
import pickle
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import reference_codes
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from subspaces import SLBF, SSC, SSSC
from subspaces._core.arrays import unit_rows
from subspaces._core.progress import listening
from subspaces.datasets import load_mnist, load_yaleb, make_motions, make_subspaces
from subspaces.flats.distances import squared_distances
from subspaces.flats.per_cluster import agreeing_dim, cluster_flats, flats_of_labels
from subspaces.metrics import clustering_accuracy, subspace_recovery_error, wrong_connection_share
from subspaces.self_expression import ADMM, OMP, ElasticNet
from subspaces.self_expression.residuals import cluster_grams, least_residual

needs_data = pytest.mark.skipif(
    not Path(os.environ.get("SUBSPACES_DATA") or "no such folder").is_dir(),
    reason="SUBSPACES_DATA names no folder",
)


@pytest.fixture(scope="module")
def planes():
    return make_subspaces((2, 2), 6, points_per_subspace=60, shuffle=True, random_state=0)


class TestScikitLearn:
    @parametrize_with_checks(
        [
            SSC(3, random_state=0),
            SSC(3, solver="omp", random_state=0),
            SSC(3, solver="elastic_net", affine=True, random_state=0),
            SSSC(3, random_state=0),
            SSSC(3, n_in_sample=20, affine=True, random_state=0),
        ],
        expected_failed_checks=lambda estimator: (
            # Blobs of two columns: two picks reproduce any row, so that what they are says nothing.
            {"check_clustering": "matching pursuit needs columns"} if estimator.solver == "omp" else {}
        ),
    )
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_estimator_checks(self, estimator, check):
        check(estimator)

    def test_options_of_a_solver_are_nested(self):
        model = SSC(2, solver=ADMM(alpha=5))
        assert model.get_params()["solver__alpha"] == 5
        assert clone(model).set_params(solver__alpha=7, solver__tol=0.1).solver.alpha == 7

    def test_pickle(self, planes):
        for model in (SSC(2, random_state=0), SSSC(2, random_state=0)):
            model.fit(planes[0])
            again = pickle.loads(pickle.dumps(model))
            np.testing.assert_array_equal(again.predict(planes[0]), model.predict(planes[0]))


class TestAccuracy:
    @pytest.mark.parametrize("outliers", [0.05, 0.3])
    @pytest.mark.parametrize(
        ("dims", "ambient_dim", "floor"), [((2, 2), 6, 0.97), ((4, 5, 6), 10, 0.95), ((5, 6, 7), 20, 0.99)]
    )
    def test_the_models_of_the_paper(self, dims, ambient_dim, floor, outliers):
        X, y = make_subspaces(dims, ambient_dim, outliers=outliers, random_state=0)
        for model in (SSC(len(dims), random_state=0), SSSC(len(dims), n_in_sample=500, random_state=0)):
            model.fit(X)
            assert clustering_accuracy(y, model.labels_) >= floor
            assert clustering_accuracy(y, model.predict(X)) >= floor - 0.01

    @pytest.mark.parametrize("solver", ["admm", "elastic_net", "omp"])
    def test_low_dimensions_in_a_large_space(self, solver):
        X, y = make_subspaces((3, 3, 3), 60, points_per_subspace=100, noise=0.02, random_state=0)
        model = SSC(3, solver=solver, random_state=0).fit(X)
        assert clustering_accuracy(y, model.labels_) > 0.93
        assert wrong_connection_share(y, model.codes_) < 0.5

    @pytest.mark.parametrize("solver", ["admm", "elastic_net"])
    def test_affine_subspaces(self, solver):
        X, y = make_motions(2, noise=0.0, random_state=0)
        model = SSC(2, solver=solver, affine=True, mass=0.7, random_state=0).fit(X)
        assert clustering_accuracy(y, model.labels_) > 0.95

    def test_clean_rows_use_their_own_subspace_only(self):
        X, y, bases, _ = make_subspaces(
            (2, 3), 12, points_per_subspace=50, noise=0, outliers=0, return_bases=True, random_state=0
        )
        model = SSC(2, solver=ADMM(alpha=1000, tol=1e-4, max_iter=20_000), random_state=0).fit(X)
        assert wrong_connection_share(y, model.codes_) < 0.01
        assert subspace_recovery_error(bases, model.cluster_bases_) < 1e-3

    @needs_data
    def test_faces(self):
        X, y = load_yaleb(8, random_state=0, drop_components=0)
        assert clustering_accuracy(y, SSC(8, random_state=0).fit(X).labels_) > 0.82
        assert clustering_accuracy(y, SSSC(8, n_in_sample=300, random_state=0).fit(X).labels_) > 0.57

    @needs_data
    def test_digits(self):
        X, y = load_mnist([1, 7])
        model = SSSC(2, random_state=0).fit(X)
        assert clustering_accuracy(y, model.labels_) > 0.95
        assert clustering_accuracy(y[::4], SSC(2, solver="omp", random_state=0).fit(X[::4]).labels_) > 0.95


class TestSSC:
    def test_outliers_have_longer_codes(self):
        X, y = make_subspaces((5, 6, 7), 20, outliers=0.3, points_per_subspace=100, random_state=0)
        scores = SSC(3, random_state=0).fit(X).outlier_scores_
        assert np.median(scores[y < 0]) > np.quantile(scores[y >= 0], 0.95)

    def test_labels_do_not_depend_on_the_unit(self, planes):
        first, second = (SSC(2, random_state=0).fit(scale * planes[0]).labels_ for scale in (1, 1e-3))
        assert clustering_accuracy(first, second) == 1

    @pytest.mark.parametrize("outliers", [False, True])
    @pytest.mark.parametrize("scale", [1e-8, 1e8])
    def test_affine_codes_do_not_depend_on_the_unit(self, scale, outliers):
        X, _ = make_subspaces((2, 2), 6, affine=True, points_per_subspace=30, random_state=0)
        first, second = (
            SSC(2, affine=True, solver=ADMM(outliers=outliers), random_state=0).fit(factor * X) for factor in (1, scale)
        )
        np.testing.assert_allclose(second.codes_.toarray(), first.codes_.toarray(), atol=1e-6)
        np.testing.assert_allclose(np.asarray(second.codes_.sum(axis=1)), 1, atol=0.1)

    @pytest.mark.parametrize("solver", ["admm", "elastic_net", "omp"])
    @pytest.mark.parametrize("estimator", [SSC, SSSC])
    def test_affine_codes_move_with_the_rows(self, estimator, solver):
        X, _ = make_subspaces((2, 2), 6, affine=True, points_per_subspace=30, random_state=0)
        first, second = (
            estimator(2, affine=True, solver=solver, random_state=0).fit(X + offset) for offset in (0, 1000)
        )
        np.testing.assert_allclose(second.codes_.toarray(), first.codes_.toarray(), atol=1e-5)
        np.testing.assert_array_equal(second.predict(X + 1000), first.predict(X))

    def test_affine_flats_are_flats_of_the_rows(self):
        X, y = make_subspaces((2, 2), 6, affine=True, points_per_subspace=40, noise=0, outliers=0, random_state=0)
        model = SSC(2, affine=True, subspace_dim=2, random_state=0).fit(X + 50)
        assert clustering_accuracy(y, model.labels_) == 1
        distances = squared_distances(X + 50, model.cluster_bases_).min(axis=1)
        np.testing.assert_allclose(distances, 0, atol=1e-8)

    def test_copies_are_not_told_apart(self):
        X = np.repeat(np.eye(4)[:3] + 0.1, 10, axis=0)
        for model in (SSC(5, random_state=0), SSC(5, solver="omp"), SSSC(5, random_state=0), SLBF(5)):
            with pytest.warns(ConvergenceWarning, match="Only 3 of n_clusters=5"):
                labels = model.fit(X).labels_
            assert all(len(set(group)) == 1 for group in labels.reshape(3, 10))

    def test_parameters_set_after_fit_do_not_change_what_was_fitted(self, planes):
        for model in (SSC(2, random_state=0), SSSC(2, n_in_sample=50, random_state=0)):
            before = model.fit(planes[0]).predict(planes[0])
            np.testing.assert_array_equal(model.set_params(affine=True, normalize=False).predict(planes[0]), before)

    def test_the_same_seed_gives_the_same_labels(self, planes):
        first, second = (SSC(2, random_state=3).fit(planes[0]).labels_ for _ in range(2))
        np.testing.assert_array_equal(first, second)

    def test_a_given_dimension_is_used(self, planes):
        model = SSC(2, subspace_dim=3, random_state=0).fit(planes[0])
        assert model.subspace_dim_ == model.cluster_bases_.dim == 3

    def test_the_dimension_is_that_of_the_subspaces(self):
        X, _ = make_subspaces((4, 4), 12, points_per_subspace=100, noise=0.01, outliers=0, random_state=0)
        assert SSC(2, random_state=0).fit(X).subspace_dim_ <= 6

    def test_unfinished_codes_warn(self, planes):
        with pytest.warns(ConvergenceWarning, match="not finished after 4 iterations"):
            SSC(2, solver=ADMM(max_iter=4), random_state=0).fit(planes[0])

    def test_progress_reports_the_cut_of_the_graph(self, planes):
        events = []
        with listening(events.append):
            SSC(2, random_state=0).fit(planes[0])
        assert [event.stage for event in events if event.kind == "stage"] == ["cutting the graph"]

    @pytest.mark.parametrize("solver", [ADMM(max_iter=10), ElasticNet(max_iter=5), OMP()], ids=str)
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_no_table_of_all_pairs_is_held(self, solver, monkeypatch):
        # Each thread has a block of its own.
        monkeypatch.setattr("subspaces.self_expression.base.n_threads", lambda: 2)
        X = np.random.default_rng(0).normal(size=(6000, 20)).astype(np.float32)
        tracemalloc.start()
        SSC(2, solver=solver, subspace_dim=2, n_components=2, random_state=0).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        # All pairs would take 144 MB.
        assert peak < 110e6

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"solver": "lasso"}, "solver='lasso' is not known: use one of 'admm', 'omp', 'elastic_net', or an object"),
            ({"solver": ADMM}, "is not known: use one of"),
            ({"solver": ["admm"]}, "is not known: use one of"),
            ({"mass": 1.5}, "mass=1.5 must be at most 1"),
            ({"mass": 0}, "mass=0 must be positive"),
            ({"affine": "auto"}, "affine='auto' is not known"),
            ({"subspace_dim": 6}, "subspace_dim=6 must be between 1 and 5: X has n_features=6"),
            ({"n_components": 0}, "n_components=0 must be at least 1"),
            ({"solver": ADMM(alpha=-1)}, "alpha=-1 must be positive"),
            ({"solver": OMP(0)}, "n_nonzero=0 must be at least 1"),
            ({"solver": ElasticNet(l1_ratio=2)}, "l1_ratio=2.0 must be below 1"),
        ],
    )
    def test_mistakes_are_named(self, planes, options, message):
        with pytest.raises(ValueError, match=message):
            SSC(2, **options).fit(planes[0])

    def test_torch_rows_stay_torch(self, planes):
        torch = pytest.importorskip("torch")
        model = SSC(2, random_state=0).fit(torch.as_tensor(planes[0]))
        assert isinstance(model.labels_, torch.Tensor)
        plain = SSC(2, random_state=0).fit(planes[0])
        assert clustering_accuracy(plain.labels_, model.labels_.numpy()) == 1
        np.testing.assert_array_equal(model.predict(torch.as_tensor(planes[0])).numpy(), plain.predict(planes[0]))
        with pytest.raises(ValueError, match="NaN"):
            SSC(2).fit(torch.full((3, 3), torch.nan))
        with pytest.raises(ValueError, match="2D"):
            SSC(2).fit(torch.ones(3))


class TestSSSC:
    def test_the_sample_keeps_the_labels_of_its_graph(self, planes):
        model = SSSC(2, n_in_sample=60, random_state=0).fit(planes[0])
        assert model.sample_indices_.shape == (60,)
        assert len(np.unique(model.sample_indices_)) == 60
        assert model.codes_.shape == (60, 60)

    def test_other_rows_follow_the_residuals(self, planes):
        X = planes[0]
        model = SSSC(2, n_in_sample=60, random_state=0).fit(X)
        rest = np.setdiff1d(np.arange(len(X)), model.sample_indices_)
        sample = unit_rows(X[model.sample_indices_])
        expected = reference_codes.sssc_predict(sample, model.labels_[model.sample_indices_], unit_rows(X[rest]), 1e-6)
        np.testing.assert_array_equal(model.labels_[rest], expected)
        np.testing.assert_array_equal(model.predict(X)[rest], expected)

    def test_the_sample_must_hold_every_cluster(self, planes):
        with pytest.raises(ValueError, match="n_in_sample=3 must be at least 5: every one of n_clusters=5"):
            SSSC(5, n_in_sample=3).fit(planes[0])

    def test_not_fitted(self, planes):
        with pytest.raises(NotFittedError):
            SSSC(2).predict(planes[0])


class TestResiduals:
    @pytest.mark.parametrize("ridge", [1e-6, 1e-2, 10.0])
    @pytest.mark.parametrize("p", [3, 8, 50])
    def test_labels_are_those_of_explicit_loops(self, p, ridge):
        rng = np.random.default_rng(0)
        sample, new = rng.normal(size=(30, p)), rng.normal(size=(25, p))
        labels = rng.integers(0, 3, 30).astype(np.int32)
        ours = least_residual(new, cluster_grams(sample, labels, 3, ridge=ridge))
        np.testing.assert_array_equal(ours, reference_codes.sssc_predict(sample, labels, new, ridge))

    def test_an_empty_cluster_explains_nothing(self):
        rng = np.random.default_rng(0)
        sample = rng.normal(size=(10, 3))
        grams = cluster_grams(sample, np.full(10, 1, np.int32), 3, ridge=1e-6)
        assert (least_residual(rng.normal(size=(5, 3)), grams) == 1).all()


class TestClusterFlats:
    def test_dimension_by_brute_force(self):
        X, y = make_subspaces((2, 3), 8, points_per_subspace=40, noise=0.1, outliers=0, random_state=0)
        labels = y.astype(np.int32)
        agreement = []
        for dim in range(1, 8):
            flats = flats_of_labels(X, labels, 2, dim, affine=False)
            residuals = [np.square(X - X @ basis @ basis.T).sum(axis=1) for basis in flats.bases]
            agreement.append((np.argmin(residuals, axis=0) == labels).sum())
        best = agreeing_dim(X, labels, flats_of_labels(X, labels, 2, 7, affine=False))
        assert agreement[best - 1] == max(agreement)
        assert cluster_flats(X, labels, 2, dim=None, affine=False).dim == best
