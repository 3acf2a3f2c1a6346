"""The siblings of FLS: each beside slow formulas of its own, and all through the promises of the family."""

import logging
import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
import reference
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs, make_circles, make_moons
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.kernel_approximation import RBFSampler
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from subspaces._core import blocks as _blocks
from subspaces.estimators.fourier import FourierSpectralClustering
from subspaces.estimators.kernel import KernelSpectralClustering
from subspaces.estimators.landmark import LandmarkSpectralClustering
from subspaces.estimators.nystrom import NystromSpectralClustering
from subspaces.features import described
from subspaces.flats.angles import principal_angles
from subspaces.kernels import (
    CustomFeatures,
    FourierFeatures,
    LandmarkFeatures,
    NystromFeatures,
    SubspaceFeatures,
    exact,
)
from subspaces.metrics import clustering_accuracy
from subspaces.spectral.kernel_graph import kernel_modularity, smallest_tie, with_constant
from subspaces.spectral.partition import cluster_shares

BLOBS, BLOB_LABELS = make_blobs(120, centers=3, n_features=4, random_state=0)


def bump(X, points):
    """A Gaussian of the distance to each point."""
    return exact.gaussian_kernel(X, points, sigma=3.0)


def some_rows(X, size, rng):
    return X[rng.choice(len(X), size)]


def linear_kernel(X, Y):
    return X @ Y.T


FAMILY = {
    "landmarks": LandmarkSpectralClustering(3, n_landmarks=30, random_state=0),
    "every row a landmark": LandmarkSpectralClustering(3, random_state=0),
    "plain": LandmarkSpectralClustering(3, n_landmarks=30, n_components=3, random_state=0),
    "all landmarks": LandmarkSpectralClustering(3, n_landmarks=30, n_nearest=None, random_state=0),
    "waves": FourierSpectralClustering(3, n_features=150, random_state=0),
    "columns": NystromSpectralClustering(3, n_landmarks=30, random_state=0),
    "custom": KernelSpectralClustering(3, feature_map=CustomFeatures(bump, some_rows, 40), random_state=0),
    "flats": KernelSpectralClustering(
        3, feature_map=SubspaceFeatures(30, subspace_dim=1, n_nearest=4, neighborhood=5), random_state=0
    ),
    "trees": KernelSpectralClustering(3, feature_map=RandomTreesEmbedding(5, max_depth=3), random_state=0),
}
family = pytest.mark.parametrize("model", FAMILY.values(), ids=FAMILY)


def same_partition(first, second):
    return clustering_accuracy(first, second) == 1


def quiet_fit(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(model).fit(X)


class TestScikitLearn:
    @parametrize_with_checks(
        [
            LandmarkSpectralClustering(3, random_state=0),
            LandmarkSpectralClustering(3, n_nearest=None, random_state=0),
            FourierSpectralClustering(3, n_features=50, random_state=0),
            NystromSpectralClustering(3, n_landmarks=20, random_state=0),
            KernelSpectralClustering(3, feature_map=RBFSampler(gamma=0.1, n_components=50), random_state=0),
        ]
    )
    def test_estimator_checks(self, estimator, check):
        with warnings.catch_warnings():
            # Some checks ask for more clusters than their rows can fill.
            warnings.simplefilter("ignore", ConvergenceWarning)
            check(estimator)

    @family
    def test_pickle_and_names(self, model):
        fitted = clone(model).fit(BLOBS)
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict(BLOBS), fitted.labels_)
        names = fitted.get_feature_names_out()
        assert names[0] == type(model).__name__.lower() + "0"
        assert len(names) == fitted.n_components_

    def test_pipeline_and_grid_search(self):
        pipeline = make_pipeline(StandardScaler(), LandmarkSpectralClustering(3, random_state=0))
        assert same_partition(BLOB_LABELS, pipeline.fit_predict(BLOBS))
        grid = {"landmarks": np.array(["kmeans", "random"]), "n_landmarks": np.array([20, 40])}
        search = GridSearchCV(LandmarkSpectralClustering(3, random_state=0), grid, cv=2, error_score="raise")
        assert np.isfinite(search.fit(BLOBS).best_score_)
        search = GridSearchCV(
            KernelSpectralClustering(3, feature_map=FourierFeatures(100), random_state=0),
            {"feature_map__sigma": [3.0, "auto"]},
            cv=2,
            error_score="raise",
        )
        assert np.isfinite(search.fit(BLOBS).best_score_)


@family
class TestEveryMember:
    def test_it_clusters(self, model):
        assert clustering_accuracy(BLOB_LABELS, clone(model).fit_predict(BLOBS)) > 0.97

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_predict_on_the_rows_of_fit_gives_labels(self, model, dtype):
        X = BLOBS.astype(dtype)
        fitted = clone(model).fit(X)
        assert fitted.labels_.dtype == np.int32
        np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
        embedded = fitted.transform(X)
        assert embedded.dtype == dtype
        assert embedded.shape == (len(X), fitted.n_components_)
        np.testing.assert_allclose(np.linalg.norm(embedded, axis=1), 1, rtol=1e-4)

    def test_seed(self, model):
        first, second = (clone(model).fit(BLOBS) for _ in range(2))
        np.testing.assert_array_equal(first.labels_, second.labels_)
        np.testing.assert_array_equal(first.transform(BLOBS), second.transform(BLOBS))
        assert first.score(BLOBS) == second.score(BLOBS)

    def test_block_size(self, model, monkeypatch):
        large = clone(model).fit(BLOBS)
        monkeypatch.setattr(_blocks, "BLOCK_BYTES", 1)
        small = clone(model).fit(BLOBS)
        np.testing.assert_array_equal(large.labels_, small.labels_)
        np.testing.assert_array_equal(large.predict(BLOBS), small.predict(BLOBS))
        assert large.score(BLOBS) == pytest.approx(small.score(BLOBS))

    def test_new_rows(self, model):
        fitted = clone(model).fit(BLOBS[::2])
        assert clustering_accuracy(BLOB_LABELS[1::2], fitted.predict(BLOBS[1::2])) > 0.95

    def test_eigenvalues(self, model):
        fitted = clone(model).fit(BLOBS)
        assert fitted.eigenvalues_[0] == 1
        assert (np.diff(fitted.eigenvalues_[1:]) <= 1e-12).all()
        # Estimates of small weights can be negative, and lift an eigenvalue a little above one.
        assert fitted.eigenvalues_[1] < (1.1 if isinstance(model, FourierSpectralClustering) else 1 + 1e-6)

    def test_score_prefers_the_truth(self, model):
        good = clone(model).fit(BLOBS)
        poor = clone(model).fit(BLOBS)
        shuffled = np.random.default_rng(0).permutation(BLOBS.ravel()).reshape(BLOBS.shape)
        assert good.score(BLOBS) > quiet_fit(poor, shuffled).score(shuffled)

    def test_not_fitted(self, model):
        for call in ("predict", "transform", "score"):
            with pytest.raises(NotFittedError):
                getattr(clone(model), call)(BLOBS)

    def test_parameters_and_rows_are_left_alone(self, model):
        X = BLOBS.copy()
        X.flags.writeable = False
        copy = clone(model)
        before = repr(copy.get_params())
        copy.fit(X).predict(X)
        assert repr(copy.get_params()) == before
        np.testing.assert_array_equal(X, BLOBS)

    def test_the_global_generator_is_left_alone(self, model):
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        clone(model).fit(BLOBS)
        np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002

    @pytest.mark.parametrize(
        ("name", "rows"),
        [
            ("one row", np.ones((1, 3))),
            ("two rows", np.eye(2)),
            ("one column", np.arange(12.0)[:, None]),
            ("all rows equal", np.full((20, 4), 3.0)),
            ("all zero", np.zeros((20, 4))),
            ("two distinct rows", np.repeat(np.eye(4)[:2], 15, axis=0)),
            ("constant columns", np.c_[np.random.default_rng(0).normal(size=(30, 2)), np.ones((30, 3))]),
            ("large offset", 1e8 + np.random.default_rng(0).normal(size=(30, 4))),
            ("a far outlier", np.r_[np.random.default_rng(0).normal(size=(30, 2)), [[1e6, 0]]]),
            ("booleans", np.random.default_rng(0).random((40, 5)) > 0.5),
            ("more columns than rows", np.random.default_rng(0).normal(size=(12, 200))),
        ],
    )
    @pytest.mark.parametrize("n_clusters", [1, 2])
    def test_rows_that_are_odd_but_valid(self, model, name, rows, n_clusters):
        n_clusters = min(n_clusters, len(rows))
        feature_map = getattr(model, "feature_map", None)
        if isinstance(feature_map, SubspaceFeatures) and rows.shape[1] == 1:
            pytest.skip("a line needs two columns")
        fitted = quiet_fit(clone(model).set_params(n_clusters=n_clusters), rows)
        assert fitted.labels_.shape == (len(rows),)
        assert set(fitted.labels_) <= set(range(n_clusters))
        assert np.isfinite(fitted.transform(rows)).all()
        assert np.isfinite(fitted.eigenvalues_).all()
        assert np.isfinite(fitted.score(rows))
        np.testing.assert_array_equal(fitted.predict(rows), fitted.labels_)
        assert np.isfinite(fitted.transform(1e3 * np.ones((2, rows.shape[1])))).all()


class TestLandmarks:
    """Beside n x n formulas."""

    X, y = make_moons(80, noise=0.06, random_state=0)
    landmarks = X[::4] + 0.01

    @pytest.fixture(scope="class")
    @classmethod
    def sparse(cls):
        table = np.array([[np.sum((x - z) ** 2) for z in cls.landmarks] for x in cls.X])
        weights = reference.nearest_weights(table, 5)
        model = LandmarkSpectralClustering(2, landmarks=cls.landmarks, n_components=2, random_state=0).fit(cls.X)
        return model, *reference.balanced_embedding(weights, 2)

    def test_eigenvalues_are_those_of_the_whole_graph(self, sparse):
        model, values, _ = sparse
        np.testing.assert_allclose(model.eigenvalues_, [1, *values], atol=1e-9)

    def test_embedding_spans_their_eigenvectors(self, sparse):
        model, _, vectors = sparse
        psi, _ = model._model.features.describe(model._model.preparation(self.X))
        ours = psi @ (model._model.spectrum.vectors * np.sqrt(model._model.spectrum.weights)[:, None])
        assert principal_angles(np.linalg.qr(ours)[0], np.linalg.qr(vectors)[0]).max() < 1e-6

    def test_labels_are_k_means_of_their_unit_rows(self, sparse):
        model, _, vectors = sparse
        rows = reference.unit_rows(vectors)
        labels = min(
            (reference.lloyd(rows, rows[[i, j]], n_iter=100) for i in range(0, 80, 20) for j in range(10, 80, 20)),
            key=lambda run: run[2],
        )[0]
        assert same_partition(labels, model.labels_)

    def test_dense_is_the_kernel_of_example_two(self):
        model = LandmarkSpectralClustering(
            2, landmarks=self.landmarks, n_nearest=None, sigma=0.3, n_components=3, random_state=0
        ).fit(self.X)
        psi = reference.gaussian_kernel(self.X, self.landmarks, 0.3)
        values, vectors = reference.embedding(psi, 3)
        np.testing.assert_allclose(model.eigenvalues_, [1, *values], atol=1e-9)
        ours, slow = model.transform(self.X), reference.unit_rows(vectors)
        np.testing.assert_allclose(np.abs(ours), np.abs(slow), atol=1e-6)

    def test_landmarks_are_points_of_the_data(self):
        model = LandmarkSpectralClustering(2, landmarks=self.landmarks + 100, random_state=0).fit(self.X + 100)
        np.testing.assert_allclose(model.landmarks_, self.landmarks + 100)
        plain = LandmarkSpectralClustering(2, landmarks=self.landmarks, random_state=0).fit(self.X)
        np.testing.assert_array_equal(model.labels_, plain.labels_)

    def test_outlier_scores_are_distances_to_the_nearest_landmark(self):
        model = LandmarkSpectralClustering(2, landmarks=self.landmarks, random_state=0).fit(self.X)
        expected = np.sqrt([min(np.sum((x - z) ** 2) for z in self.landmarks) for x in self.X])
        np.testing.assert_allclose(model.outlier_scores_, expected, atol=1e-9)

    def test_winding_clusters(self):
        for X, y in (
            make_moons(600, noise=0.06, random_state=1),
            make_circles(600, noise=0.05, factor=0.5, random_state=1),
        ):
            for landmarks in ("kmeans", "random"):
                model = LandmarkSpectralClustering(2, n_landmarks=200, landmarks=landmarks, random_state=0)
                assert clustering_accuracy(y, model.fit_predict(X)) > 0.98

    def test_digits(self):
        X, y = load_digits(return_X_y=True)
        assert clustering_accuracy(y, LandmarkSpectralClustering(10, random_state=0).fit_predict(X)) > 0.8


class TestKernels:
    """Beside spectral clustering of the exact kernel matrix."""

    X, y = make_circles(90, noise=0.03, factor=0.4, random_state=0)

    @staticmethod
    def exact_spectrum(kernel, count):
        """Eigenvalues and eigenvectors v_2, ... of the normalised kernel matrix."""
        degrees = kernel.sum(axis=1)
        normalized = kernel / np.sqrt(np.outer(degrees, degrees))
        return reference.top_eigenvectors_without(normalized, np.sqrt(degrees), count)

    @pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "matern"])
    def test_all_columns_give_the_kernel_itself(self, kernel):
        model = NystromSpectralClustering(2, kernel=kernel, sigma=0.5, n_landmarks=90, n_components=3, random_state=0)
        fitted = model.fit(self.X)
        values, vectors = self.exact_spectrum(exact.named_kernel(kernel, self.X, self.X, sigma=0.5, nu=1.5), 3)
        np.testing.assert_allclose(fitted.eigenvalues_, [1, *values], atol=1e-6)
        ours = np.linalg.qr(fitted.transform(self.X) * np.linalg.norm(vectors, axis=1)[:, None])[0]
        assert principal_angles(ours, np.linalg.qr(vectors)[0]).max() < 1e-3

    def test_few_columns_come_near(self):
        X, _ = make_blobs(200, centers=3, n_features=3, random_state=1)
        values, _ = self.exact_spectrum(reference.gaussian_kernel(X, X, 3.0), 3)
        errors = []
        for count in (10, 40):
            model = NystromSpectralClustering(3, sigma=3.0, n_landmarks=count, n_components=3, random_state=0).fit(X)
            errors.append(np.abs(model.eigenvalues_[1:] - values).max())
        assert errors[1] < 0.01
        assert errors[1] < errors[0]

    def test_waves_converge_to_the_kernel(self):
        X, _ = make_blobs(150, centers=3, n_features=3, random_state=1)
        values, vectors = self.exact_spectrum(reference.gaussian_kernel(X, X, 4.0), 2)
        errors, angles = [], []
        for count in (20, 160, 1280):
            fits = [
                FourierSpectralClustering(3, sigma=4.0, n_features=count, n_components=2, random_state=seed).fit(X)
                for seed in range(4)
            ]
            errors.append(np.mean([np.abs(model.eigenvalues_[1:] - values).max() for model in fits]))
            rows = fits[0].transform(X) * np.linalg.norm(vectors, axis=1)[:, None]
            angles.append(principal_angles(np.linalg.qr(rows)[0], vectors).max())
        # An eighth of the error for 64 times as many features, and room for luck.
        assert errors[2] < errors[0] / 3
        assert angles[2] < angles[0] / 3

    def test_circles_by_columns(self):
        X, y = make_circles(400, noise=0.03, factor=0.4, random_state=0)
        for landmarks in ("kmeans", "random"):
            model = NystromSpectralClustering(2, n_landmarks=100, landmarks=landmarks, random_state=0)
            assert same_partition(y, model.fit_predict(X))

    def test_a_kernel_of_ones_own(self):
        X = np.abs(np.random.default_rng(0).normal(size=(60, 5)))
        X[:30, :2] *= 10
        X[30:, 3:] *= 10
        model = NystromSpectralClustering(2, kernel=linear_kernel, n_landmarks=40, random_state=0).fit(X)
        assert clustering_accuracy(np.repeat([0, 1], 30), model.labels_) > 0.95

    def test_sigma_follows_the_gaps_between_rows(self):
        nearest = np.sort([[np.linalg.norm(x - y) for y in self.X] for x in self.X], axis=1)[:, 7]
        for model in (
            FourierSpectralClustering(2, n_features=50, random_state=0),
            NystromSpectralClustering(2, random_state=0),
        ):
            assert model.fit(self.X).sigma_ == pytest.approx(2 * np.median(nearest))
            assert clone(model).fit(10 * self.X).sigma_ == pytest.approx(10 * model.sigma_)
        nearest = np.sort([[np.abs(x - y).sum() for y in self.X] for x in self.X], axis=1)[:, 7]
        model = FourierSpectralClustering(2, kernel="laplacian", n_features=50, random_state=0).fit(self.X)
        assert model.sigma_ == pytest.approx(2 * np.median(nearest))
        # Of rows with copies only those count that have few.
        copies = np.r_[np.zeros((20, 2)), self.X]
        assert NystromSpectralClustering(2, n_landmarks=20, random_state=0).fit(copies).sigma_ > 0
        assert NystromSpectralClustering(1, n_landmarks=20).fit(np.ones((50, 2))).sigma_ == 1


class TestSigns:
    """Features with signs: degrees that dip below zero, and what mends them."""

    @pytest.fixture
    def lonely(self):
        """Waves of a narrow kernel, on rows with few neighbours."""
        X = np.random.default_rng(0).normal(size=(200, 6))
        return X, FourierFeatures(60, sigma=0.5, random_state=0).fit(X)

    def test_degrees_do_dip_below_zero(self, lonely):
        X, features = lonely
        psi = features.transform(X)
        assert (psi @ psi.sum(axis=0)).min() < 0

    def test_a_tie_lifts_every_degree(self, lonely):
        X, features = lonely
        tie = smallest_tie(lambda: features.blocks(X))
        psi = with_constant(features.transform(X), tie)
        degrees = psi @ psi.sum(axis=0)
        assert degrees.min() == pytest.approx(0.1 * degrees.mean())
        np.testing.assert_allclose(psi @ psi.T - tie, features.transform(X) @ features.transform(X).T, atol=1e-12)

    def test_no_tie_where_none_is_needed(self):
        psi = np.abs(np.random.default_rng(0).normal(size=(30, 5)))
        assert smallest_tie(lambda: iter((psi,))) == 0
        assert with_constant(psi, 0.0) is psi

    def test_the_trivial_eigenvector_stays_exact(self, lonely):
        X, _ = lonely
        model = quiet_fit(FourierSpectralClustering(3, sigma=0.5, n_features=60, random_state=0), X)
        psi = np.concatenate(list(model._model.psi_blocks(model._model.preparation(X))))
        degrees = psi @ psi.sum(axis=0)
        values, _ = reference.embedding(psi, 5)
        assert degrees.min() > 0
        np.testing.assert_allclose(model.eigenvalues_[1:6], values[: len(model.eigenvalues_) - 1], atol=1e-8)

    @pytest.mark.parametrize("sigma", [1e-3, 0.1, 10.0, 1e6])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize(
        "model", [FourierSpectralClustering(3, n_features=50), NystromSpectralClustering(3, n_landmarks=20)]
    )
    def test_any_sigma_gives_labels(self, model, sigma, dtype):
        X = BLOBS.astype(dtype)
        fitted = quiet_fit(model.set_params(sigma=sigma, random_state=0), X)
        assert np.isfinite(fitted.transform(X)).all()
        assert np.isfinite(fitted.score(X))
        np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
        assert np.isfinite(fitted.transform(X + 100)).all()

    def test_modularity_of_a_kernel(self):
        psi = np.random.default_rng(0).normal(size=(20, 4)) + 1
        labels = np.random.default_rng(1).integers(0, 3, 20).astype(np.int32)
        weights = psi @ psi.T / (psi @ psi.T).sum()
        expected = sum(
            weights[i, j] * (labels[i] == labels[j]) - weights[i].sum() * weights[j].sum() * (labels[i] == labels[j])
            for i in range(20)
            for j in range(20)
        )
        assert kernel_modularity(cluster_shares(psi, labels, 3)) == pytest.approx(expected)


class TestYourOwnMap:
    def test_the_map_is_not_fitted_itself(self):
        features = LandmarkFeatures(20, n_nearest=3)
        model = KernelSpectralClustering(3, feature_map=features, random_state=0).fit(BLOBS)
        assert not hasattr(features, "landmarks_")
        assert model.feature_map_.landmarks_.shape == (20, 4)
        assert features.random_state is None

    def test_its_own_seed_is_kept(self):
        first, second = (
            KernelSpectralClustering(3, feature_map=FourierFeatures(50, random_state=7), random_state=seed).fit(BLOBS)
            for seed in range(2)
        )
        np.testing.assert_array_equal(first.feature_map_.frequencies_, second.feature_map_.frequencies_)

    def test_it_is_the_plain_form_of_its_siblings(self):
        for sibling, features in (
            (LandmarkSpectralClustering(3, n_landmarks=25, random_state=0), LandmarkFeatures(25, n_nearest=5)),
            (NystromSpectralClustering(3, n_landmarks=25, random_state=0), NystromFeatures(25, sigma="auto")),
        ):
            own = KernelSpectralClustering(3, feature_map=features, random_state=0).fit(BLOBS)
            assert same_partition(own.labels_, sibling.fit(BLOBS).labels_)

    def test_a_transformer_is_a_map(self):
        sampler = RBFSampler(gamma=1 / 18, n_components=400, random_state=0)
        model = KernelSpectralClustering(3, feature_map=sampler, n_components=2, random_state=0).fit(BLOBS)
        assert isinstance(model.feature_map_, RBFSampler)
        assert not hasattr(sampler, "random_weights_")
        values, _ = reference.embedding(clone(sampler).fit_transform(BLOBS), 2)
        np.testing.assert_allclose(model.eigenvalues_[1:], values, atol=1e-8)
        pipeline = make_pipeline(StandardScaler(), RBFSampler(gamma=0.2, n_components=200))
        first, second = (
            KernelSpectralClustering(3, feature_map=pipeline, random_state=0).fit_predict(BLOBS) for _ in range(2)
        )
        np.testing.assert_array_equal(first, second)
        assert same_partition(BLOB_LABELS, first)

    @pytest.mark.parametrize("feature_map", ["gaussian", LandmarkFeatures, 3, np.eye(4)])
    def test_what_is_no_map_is_refused(self, feature_map):
        with pytest.raises(TypeError, match="feature_map="):
            KernelSpectralClustering(3, feature_map=feature_map).fit(BLOBS)


class TestBadInput:
    @pytest.mark.parametrize(
        ("make", "changes", "error", "message"),
        [
            (LandmarkSpectralClustering, {"n_clusters": 0}, ValueError, "n_clusters=0"),
            (LandmarkSpectralClustering, {"n_clusters": 1000}, ValueError, "n_clusters=1000 must be between 1 and"),
            (LandmarkSpectralClustering, {"n_landmarks": 0}, ValueError, "n_landmarks=0"),
            (LandmarkSpectralClustering, {"n_nearest": "auto"}, TypeError, "n_nearest='auto'"),
            (LandmarkSpectralClustering, {"n_nearest": 0}, ValueError, "n_nearest=0"),
            (LandmarkSpectralClustering, {"sigma": -1}, ValueError, "sigma=-1"),
            (LandmarkSpectralClustering, {"landmarks": "grid"}, ValueError, "landmarks='grid'"),
            (LandmarkSpectralClustering, {"landmarks": np.zeros((5, 3))}, ValueError, "landmarks of shape"),
            (LandmarkSpectralClustering, {"n_components": 0}, ValueError, "n_components=0"),
            (FourierSpectralClustering, {"n_components": "many"}, TypeError, "n_components='many'"),
            (FourierSpectralClustering, {"n_features": 0}, ValueError, "n_features=0"),
            (FourierSpectralClustering, {"kernel": "cosine"}, ValueError, "kernel='cosine'"),
            (FourierSpectralClustering, {"sigma": "wide"}, TypeError, "sigma='wide'"),
            (FourierSpectralClustering, {"nu": 0}, ValueError, "nu=0"),
            (FourierSpectralClustering, {"kernel": lambda shape, rng: np.ones(3)}, ValueError, "must return"),
            (NystromSpectralClustering, {"n_landmarks": 2.5}, TypeError, "n_landmarks=2.5"),
            (NystromSpectralClustering, {"kernel": None}, ValueError, "kernel=None"),
            (NystromSpectralClustering, {"sigma": float("nan")}, ValueError, "sigma=nan"),
            (
                NystromSpectralClustering,
                {"kernel": lambda X, Y: np.full((len(X), len(Y)), np.nan)},
                ValueError,
                "finite",
            ),
        ],
    )
    def test_parameters(self, make, changes, error, message):
        with pytest.raises(error, match=message):
            make(**({"n_clusters": 3} | changes)).fit(BLOBS)

    def test_too_few_distinct_rows_are_said(self):
        for make in (LandmarkSpectralClustering, FourierSpectralClustering, NystromSpectralClustering):
            with pytest.warns(ConvergenceWarning, match="lower n_clusters, or look at"):
                make(3, random_state=0).fit(np.ones((20, 4)))

    def test_sparse_features_below_zero_are_refused(self):
        class Negative(RandomTreesEmbedding):
            def transform(self, X):
                return -super().transform(X)

        with pytest.raises(ValueError, match="below zero"):
            KernelSpectralClustering(3, feature_map=Negative(10), random_state=0).fit(BLOBS)


class TestRunning:
    def test_verbose_speaks_on_stderr(self, capsys, monkeypatch):
        logger = logging.getLogger("subspaces")
        monkeypatch.setattr(logging.root, "handlers", [])
        monkeypatch.setattr(logger, "handlers", [])
        for make in (LandmarkSpectralClustering, FourierSpectralClustering, NystromSpectralClustering):
            make(3, random_state=0, verbose=1).fit(BLOBS)
            captured = capsys.readouterr()
            assert captured.out == ""
            assert "[subspaces]" in captured.err

    def test_dense_features_are_never_held_whole(self, monkeypatch):
        X = np.random.default_rng(0).normal(size=(15_000, 10)).astype(np.float32)
        # Up to some megabytes they are, from one pass to the next.
        monkeypatch.setattr(described, "KEPT_BYTES", 10**7)
        monkeypatch.setattr(described, "GROUP_ROWS", 1000)
        model = FourierSpectralClustering(2, sigma=2.0, n_features=1000, n_components=2, random_state=0)
        tracemalloc.start()
        try:
            model.fit(X)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        # All features of all rows would be 60 MB more.
        assert peak < 60e6
