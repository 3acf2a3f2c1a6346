"""FLS as an estimator: the paper's algorithm step by step, invariances, scikit-learn's rules, bad input, real data."""

import logging
import os
import pickle
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import reference
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from subspaces import FLS, Beta2
from subspaces._core import blocks as _blocks
from subspaces.datasets import load_mnist, load_pendigits, load_yaleb, make_motions, make_subspaces
from subspaces.features import described
from subspaces.flats.angles import principal_angles
from subspaces.metrics import clustering_accuracy
from subspaces.spectral.spectrum import embed

needs_data = pytest.mark.skipif(
    not Path(os.environ.get("SUBSPACES_DATA") or "no such folder").is_dir(),
    reason="SUBSPACES_DATA names no folder",
)


@pytest.fixture(scope="module")
def planes():
    return make_subspaces((2, 2), 6, points_per_subspace=60, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def fitted(planes):
    return FLS(2, random_state=0).fit(planes[0])


@pytest.fixture(scope="module", params=[True, False], ids=["affine", "linear"])
def pair(request):
    X, y = make_subspaces((1, 2), 5, points_per_subspace=40, noise=0.02, outliers=0.05, random_state=3)
    rng = np.random.default_rng(0)
    unit = reference.unit_rows(X)
    landmarks = X[rng.choice(len(X), 30, replace=False)]
    options = {"subspace_dim": 2, "sigma": 0.3, "start_size": 4, "step_size": 2, "affine": request.param}
    model = FLS.paper(2, landmarks=landmarks, random_state=0, **options).fit(X)
    slow = reference.fls_paper(unit, reference.unit_rows(landmarks), 2, 2, 0.3, 4, 2, [0, 45], affine=request.param)
    return X, y, unit, model, slow


def same_partition(first, second):
    return clustering_accuracy(first, second) == 1


class TestScikitLearn:
    @parametrize_with_checks([FLS(3, random_state=0), FLS.paper(3, subspace_dim=1, random_state=0)])
    def test_estimator_checks(self, estimator, check):
        with warnings.catch_warnings():
            # Some checks ask for more clusters than their rows can fill.
            warnings.simplefilter("ignore", ConvergenceWarning)
            check(estimator)

    def test_pipeline_grid_search_and_clone(self, planes):
        X, _ = planes
        pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), FLS(2, random_state=0))
        assert same_partition(pipeline.fit_predict(X), FLS(2, random_state=0).fit_predict(X))
        with warnings.catch_warnings():
            # Hyperplanes tell nothing apart in these rows, and FLS says so.
            warnings.simplefilter("ignore", ConvergenceWarning)
            search = GridSearchCV(FLS(2, random_state=0), {"subspace_dim": [2, 5], "neighborhood": [16]}, cv=2).fit(X)
        assert search.best_params_["subspace_dim"] == 2
        model = FLS(3, landmarks=np.eye(6), neighborhood=Beta2(4, 3))
        assert clone(model).get_params().keys() == model.get_params().keys()

    def test_pandas_in_and_out(self, planes):
        X, _ = planes
        frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(6)])
        model = FLS(2, random_state=0).set_output(transform="pandas").fit(frame)
        assert list(model.feature_names_in_) == list(frame.columns)
        embedded = model.transform(frame)
        assert isinstance(embedded, pd.DataFrame)
        assert list(embedded.columns) == [f"fls{i}" for i in range(model.n_components_)]
        np.testing.assert_array_equal(model.labels_, FLS(2, random_state=0).fit(X).labels_)

    def test_pickle(self, planes, fitted):
        copy = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(copy.predict(planes[0]), fitted.labels_)

    def test_not_fitted(self):
        for call in ("predict", "transform", "score", "outlier_scores"):
            with pytest.raises(NotFittedError):
                getattr(FLS(2), call)(np.eye(3))

    def test_the_global_generator_is_left_alone(self, planes):
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        FLS(2, random_state=0).fit(planes[0])
        np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002

    def test_scalars_of_numpy_are_parameters(self, planes):
        grid = {"affine": np.array([True, False]), "landmarks": np.array(["random"]), "subspace_dim": np.array([2])}
        search = GridSearchCV(FLS(2, neighborhood=16, random_state=0), grid, cv=2, error_score="raise")
        assert np.isfinite(search.fit(planes[0]).best_score_)

    def test_parameters_are_left_alone(self, planes):
        model = FLS(2, random_state=0)
        before = model.get_params()
        model.fit(planes[0])
        assert model.get_params() == before


class TestPaper:
    """`FLS.paper` beside the reference, which was written from the paper alone."""

    def test_flats(self, pair):
        _, _, _, model, slow = pair
        assert model.n_landmarks_ == 30
        for center, basis, (slow_center, slow_basis) in zip(
            model.flats_.centers, model.flats_.bases, slow["flats"], strict=True
        ):
            np.testing.assert_allclose(center, slow_center, atol=1e-12)
            assert reference.principal_angles(basis, slow_basis).max() < 1e-6

    def test_psi(self, pair):
        _, _, unit, model, slow = pair
        psi = np.concatenate(list(model._model.spectral.features.blocks(unit)))
        np.testing.assert_allclose(psi, slow["psi"], atol=1e-10)

    def test_eigenvalues(self, pair):
        _, _, _, model, slow = pair
        np.testing.assert_allclose(model.eigenvalues_, [1, *slow["eigenvalues"]], atol=1e-10)

    def test_embedding(self, pair):
        X, _, _, model, slow = pair
        # One eigenvector for two clusters: equal up to a sign.
        rows = model.transform(X)
        np.testing.assert_allclose(np.abs(rows), np.abs(slow["rows"]), atol=1e-8)
        assert abs(rows[:, 0] @ slow["rows"][:, 0]) == pytest.approx(len(X))

    def test_labels(self, pair):
        _, _, _, model, slow = pair
        assert same_partition(slow["labels"], model.labels_)

    @pytest.mark.parametrize("n_clusters", [2, 3, 5])
    def test_the_block_sums_span_the_subspace_of_a_dense_svd(self, n_clusters):
        X, _ = make_subspaces((2,) * n_clusters, 8, points_per_subspace=40, random_state=n_clusters)
        model = FLS.paper(n_clusters, subspace_dim=2, sigma=0.4, n_landmarks=60, random_state=0).fit(X)
        rows = reference.unit_rows(X)
        psi = np.concatenate(list(model._model.spectral.features.blocks(rows)))
        scaled = psi / np.sqrt(reference.degrees(psi))[:, None]
        left = np.linalg.svd(scaled, full_matrices=False)[0]
        trivial = np.sqrt(reference.degrees(psi))
        trivial /= np.linalg.norm(trivial)
        top = left[:, :n_clusters] - np.outer(trivial, trivial @ left[:, :n_clusters])
        top = np.linalg.svd(top, full_matrices=False)[0][:, : n_clusters - 1]
        ours = np.concatenate(
            [embed(block, model._model.spectral.spectrum) for block in model._model.spectral.features.blocks(rows)]
        )
        assert principal_angles(np.linalg.qr(ours)[0], top).max() < 1e-6

    def test_nothing_is_added_to_the_box(self):
        X = np.random.default_rng(0).normal(size=(60, 100))
        X[40:] = X[:20]
        model = FLS.paper(2, subspace_dim=2, n_landmarks=50, random_state=0).fit(X)
        assert model.n_columns_ == 100
        assert model.n_landmarks_ == 50

    def test_it_clusters(self):
        X, y = make_subspaces((2, 2), 6, random_state=1)
        assert clustering_accuracy(y, FLS.paper(2, subspace_dim=2, random_state=0).fit_predict(X)) > 0.95


class TestInvariance:
    def test_seed(self, planes):
        X, _ = planes
        first, second = (FLS(2, n_landmarks=40, random_state=4).fit(X) for _ in range(2))
        np.testing.assert_array_equal(first.labels_, second.labels_)
        np.testing.assert_array_equal(first.transform(X), second.transform(X))

    def test_rotation(self, planes, fitted):
        X, _ = planes
        rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
        assert same_partition(fitted.labels_, FLS(2, random_state=0).fit_predict(X @ rotation))

    @pytest.mark.parametrize("scale", [1e-6, 1e6])
    def test_scale(self, planes, fitted, scale):
        assert same_partition(fitted.labels_, FLS(2, random_state=0).fit_predict(scale * planes[0]))

    def test_translation_of_affine_data(self):
        X, y = make_subspaces((2, 2), 6, affine=True, outliers=0, random_state=1)
        model = FLS(2, random_state=0).fit(X + 100)
        assert model.center_
        assert clustering_accuracy(y, model.labels_) > 0.99

    def test_order_of_rows(self, planes, fitted):
        X, _ = planes
        order = np.random.default_rng(0).permutation(len(X))
        agreement = clustering_accuracy(fitted.labels_[order], FLS(2, random_state=0).fit_predict(X[order]))
        assert agreement > 0.98

    @pytest.mark.parametrize("paper", [False, True])
    def test_block_size(self, planes, paper, monkeypatch):
        X, _ = planes
        model = FLS.paper(2, subspace_dim=2, random_state=0) if paper else FLS(2, n_landmarks=40, random_state=0)
        large = clone(model).fit(X)
        monkeypatch.setattr(_blocks, "BLOCK_BYTES", 1)
        small = clone(model).fit(X)
        np.testing.assert_array_equal(large.labels_, small.labels_)
        np.testing.assert_array_equal(large.predict(X), small.predict(X))

    @pytest.mark.parametrize(
        "model",
        [
            FLS(3, random_state=0),
            FLS(3, n_landmarks=50, random_state=0),
            FLS(3, n_nearest=None, subspace_dim=3, random_state=0),
            FLS.paper(3, subspace_dim=3, random_state=0),
        ],
    )
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_predict_on_the_rows_of_fit_gives_labels(self, model, dtype):
        X, _ = make_subspaces((3, 3, 3), 9, points_per_subspace=80, outliers=0.2, random_state=0)
        X = X.astype(dtype)
        fitted = clone(model).fit(X)
        np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
        np.testing.assert_array_equal(clone(model).fit_predict(X), fitted.labels_)

    def test_new_rows(self):
        X, y = make_subspaces((2, 3), 8, points_per_subspace=300, outliers=0, shuffle=True, random_state=0)
        model = FLS(2, n_landmarks=100, random_state=0).fit(X[:300])
        assert clustering_accuracy(y[300:], model.predict(X[300:])) > 0.98

    def test_float32_stays_float32(self, planes):
        X, y = planes
        model = FLS(2, random_state=0).fit(X.astype(np.float32))
        for values in (
            model.transform(X.astype(np.float32)),
            model.flats_.bases,
            model.flats_.centers,
            model.cluster_bases_.bases,
            model.outlier_scores_,
        ):
            assert values.dtype == np.float32
        assert clustering_accuracy(y, model.labels_) > 0.98


class TestWhatItReports:
    def test_shapes(self, planes, fitted):
        n, p = planes[0].shape
        assert fitted.labels_.shape == fitted.outlier_scores_.shape == (n,)
        assert fitted.flats_.bases.shape == (fitted.n_landmarks_, p, fitted.subspace_dim_)
        assert fitted.cluster_dims_.shape == (2,)
        assert fitted.cluster_bases_.bases.shape == (2, p, fitted.cluster_dims_.max())
        assert fitted.transform(planes[0]).shape == (n, fitted.n_components_)
        assert fitted.eigenvalues_[0] == 1
        assert (np.diff(fitted.eigenvalues_) <= 1e-12).all()

    @pytest.mark.parametrize("affine", [False, True])
    def test_cluster_bases_are_the_true_subspaces(self, affine):
        X, y, bases, centers = make_subspaces((2, 2), 6, noise=0.01, affine=affine, random_state=1, return_bases=True)
        model = FLS(2, subspace_dim=2, affine=affine, random_state=0).fit(X)
        for k, (basis, center) in enumerate(zip(bases, centers, strict=True)):
            cluster = np.bincount(model.labels_[y == k]).argmax()
            found, at = model.cluster_bases_.bases[cluster], model.cluster_bases_.centers[cluster]
            assert principal_angles(found, basis).max() < 0.05
            offset = at - center
            assert np.linalg.norm(offset - basis @ (basis.T @ offset)) < 0.05

    def test_flats_lie_in_the_coordinates_of_the_rows(self):
        rng = np.random.default_rng(0)
        plane = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 120)) + 5
        model = FLS(1, subspace_dim=2, random_state=0).fit(plane)
        offset = plane[:, None] - model.flats_.centers[:3]
        inside = np.einsum("nmp,mpd,mqd->nmq", offset, model.flats_.bases[:3], model.flats_.bases[:3])
        np.testing.assert_allclose(offset, inside, atol=1e-8)

    def test_outlier_scores_single_out_outliers(self):
        X, y = make_subspaces((5, 6, 7), 20, outliers=0.1, random_state=0)
        scores = FLS(3, random_state=0).fit(X).outlier_scores_
        assert np.median(scores[y < 0]) > np.quantile(scores[y >= 0], 0.95)

    def test_the_search_is_recorded(self, fitted):
        tried = fitted.choice_["flats"]
        assert {trial["flats"] for trial in tried.candidates} == {"linear", "affine"}
        kind = "affine" if fitted.affine_ else "linear"
        best = max((t for t in tried.candidates if t["flats"] == kind), key=lambda trial: trial["modularity"])
        assert tried.chosen == best
        assert (best["subspace_dim"], best["neighborhood"]) == (fitted.subspace_dim_, fitted.neighborhood_)

    def test_what_is_given_is_used(self, planes):
        model = FLS(
            2, subspace_dim=3, n_landmarks=50, sigma=0.5, n_nearest=4, neighborhood=9, n_components=3,
            affine=True, center=True, normalize=False, landmarks="random", random_state=0,
        ).fit(planes[0])  # fmt: skip
        assert (model.subspace_dim_, model.sigma_, model.n_nearest_, model.neighborhood_) == (3, 0.5, 4, 9)
        assert (model.n_components_, model.affine_, model.center_, model.normalize_) == (3, True, True, False)
        assert model.n_landmarks_ <= 50
        assert "flats" not in model.choice_

    def test_score_prefers_the_truth(self, planes):
        X, _ = planes
        good, poor = (FLS(2, subspace_dim=d, neighborhood=16, random_state=0).fit(X) for d in (2, 5))
        assert good.score(X) > poor.score(X)

    def test_score_is_the_modularity_of_the_labels(self, planes, fitted):
        X, _ = planes
        rows = fitted._model.preparation(X)
        psi, _ = fitted._model.spectral.features.describe(rows)
        assert fitted.score(X) == pytest.approx(reference.modularity(psi.toarray(), fitted.labels_, 2))

    def test_verbose_speaks_on_stderr(self, planes, capsys, monkeypatch):
        logger = logging.getLogger("subspaces")
        monkeypatch.setattr(logging.root, "handlers", [])
        monkeypatch.setattr(logger, "handlers", [])
        FLS(2, random_state=0, verbose=1).fit(planes[0])
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "landmarks" in captured.err
        FLS(2, random_state=0).fit(planes[0])
        assert capsys.readouterr().err == ""


class TestBadInput:
    @pytest.mark.parametrize(
        ("changes", "error", "message"),
        [
            ({"n_clusters": 0}, ValueError, "n_clusters=0"),
            ({"n_clusters": 2.0}, TypeError, "n_clusters=2.0"),
            ({"n_clusters": True}, TypeError, "n_clusters=True"),
            ({"n_clusters": 1000}, ValueError, "n_clusters=1000 must be between 1 and"),
            ({"subspace_dim": 6}, ValueError, "n_features=6"),
            ({"subspace_dim": 0}, ValueError, "subspace_dim=0"),
            ({"subspace_dim": "big"}, TypeError, "subspace_dim='big'"),
            ({"n_landmarks": 0}, ValueError, "n_landmarks=0"),
            ({"n_landmarks": None}, TypeError, "n_landmarks=None"),
            ({"sigma": -1}, ValueError, "sigma=-1"),
            ({"sigma": float("nan")}, ValueError, "sigma=nan"),
            ({"sigma": "wide"}, TypeError, "sigma='wide'"),
            ({"n_nearest": 0}, ValueError, "n_nearest=0"),
            ({"n_nearest": "all"}, TypeError, "n_nearest='all'"),
            ({"landmarks": "grid"}, ValueError, "landmarks='grid'"),
            ({"landmarks": np.zeros((5, 3))}, ValueError, "landmarks"),
            ({"landmarks": np.full((5, 6), np.nan)}, ValueError, "landmarks"),
            ({"neighborhood": "beta3"}, ValueError, "neighborhood='beta3'"),
            ({"neighborhood": 0}, ValueError, "neighborhood=0"),
            ({"neighborhood": Beta2(0)}, ValueError, "start_size=0"),
            ({"affine": "yes"}, ValueError, "affine='yes'"),
            ({"center": 1}, ValueError, "center=1"),
            ({"normalize": None}, ValueError, "normalize=None"),
            ({"n_components": 0}, ValueError, "n_components=0"),
            ({"n_components": "many"}, TypeError, "n_components='many'"),
            ({"max_columns": 1}, ValueError, "max_columns=1"),
            ({"max_columns": "all"}, TypeError, "max_columns='all'"),
            ({"sigma": 1e200}, ValueError, "sigma=1e\\+200"),
            ({"sigma": 1e-200}, ValueError, "sigma=1e-200"),
            ({"sigma": np.array([0.1, 0.2])}, TypeError, "sigma"),
            ({"landmarks": np.full((5, 6), 1e200)}, ValueError, "overflow"),
            ({"n_clusters": "Auto"}, TypeError, "n_clusters='Auto'"),
            (
                {"assign": "kmeans"},
                ValueError,
                "assign='kmeans' is not known: use one of 'auto', 'balanced', 'density'",
            ),
            ({"assign": None}, ValueError, "assign=None"),
            ({"n_draws": 0}, ValueError, "n_draws=0 must be at least 1"),
            ({"n_draws": 2.0}, TypeError, "n_draws=2.0 must be a whole number"),
            ({"n_draws": True}, TypeError, "n_draws=True"),
            ({"power": 0}, ValueError, "power=0 must be positive"),
            ({"power": "square"}, TypeError, "power='square'"),
            ({"n_draws": "many"}, TypeError, "n_draws='many'"),
            ({"detect_outliers": 0}, ValueError, "detect_outliers=0 must be True, False or a share between 0 and 1"),
            ({"detect_outliers": 1.0}, ValueError, "detect_outliers=1.0"),
            ({"detect_outliers": -0.1}, ValueError, "detect_outliers=-0.1"),
            ({"detect_outliers": float("nan")}, ValueError, "detect_outliers=nan"),
            ({"detect_outliers": "auto"}, ValueError, "detect_outliers='auto'"),
            ({"detect_outliers": None}, ValueError, "detect_outliers=None"),
            ({"max_clusters": 0}, ValueError, "max_clusters=0 must be at least 1"),
            ({"n_clusters": "auto", "max_clusters": 0}, ValueError, "max_clusters=0 must be at least 1"),
            ({"n_clusters": "auto", "max_clusters": 3.0}, TypeError, "max_clusters=3.0 must be a whole number"),
            ({"n_clusters": "auto", "max_clusters": None}, TypeError, "max_clusters=None"),
        ],
    )
    def test_parameters(self, planes, changes, error, message):
        with pytest.raises(error, match=message):
            FLS(**({"n_clusters": 2} | changes)).fit(planes[0])

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            (np.empty((0, 4)), "0 sample"),
            (np.empty((4, 0)), "0 feature"),
            (np.ones((10, 1)), "1 feature"),
            (np.ones(10), "2D array"),
            (np.ones((3, 3, 3)), "dim 3"),
            (np.array([[1.0, np.nan], [0, 1], [1, 1]]), "NaN"),
            (np.array([[1.0, np.inf], [0, 1], [1, 1]]), "infinity"),
            (np.array([[1, "a"], [0, "b"], [1, "c"]]), "could not convert"),
            (np.array([[1j, 1], [0, 1], [1, 1]]), "Complex"),
            (np.array([[1e200, 1], [0, 1], [1, 1]]), "overflow"),
            (np.array([[1e25, 1], [0, 1], [1, 1]], np.float32), "float64"),
            (np.array([[1e-200, 0], [0, 1e-200], [0, 0]]), "underflow"),
        ],
    )
    def test_rows(self, rows, message):
        with pytest.raises(ValueError, match=message):
            FLS(2).fit(rows)

    def test_new_rows(self, fitted):
        with pytest.raises(ValueError, match="6 features"):
            fitted.predict(np.ones((2, 5)))
        with pytest.raises(ValueError, match="NaN"):
            fitted.transform(np.full((1, 6), np.nan))

    @pytest.mark.parametrize("make", [FLS, lambda k, **o: FLS.paper(k, subspace_dim=1, **o)])
    @pytest.mark.parametrize(
        ("name", "rows"),
        [
            ("one row", np.ones((1, 3))),
            ("two rows", np.eye(2)),
            ("all rows equal", np.full((20, 4), 3.0)),
            ("all zero", np.zeros((20, 4))),
            ("two distinct rows", np.repeat(np.eye(4)[:2], 15, axis=0)),
            ("constant columns", np.c_[np.random.default_rng(0).normal(size=(30, 2)), np.ones((30, 3))]),
            ("zero rows among others", np.r_[np.zeros((5, 4)), np.random.default_rng(0).normal(size=(30, 4))]),
            ("tiny values", 1e-140 * np.random.default_rng(0).normal(size=(30, 4))),
            ("large values", 1e150 * np.random.default_rng(0).normal(size=(30, 4))),
            ("large offset", 1e8 + np.random.default_rng(0).normal(size=(30, 4))),
            ("integers", np.random.default_rng(0).integers(0, 3, size=(40, 5))),
            ("booleans", np.random.default_rng(0).random((40, 5)) > 0.5),
            ("more columns than rows", np.random.default_rng(0).normal(size=(12, 200))),
            ("list of lists", np.random.default_rng(0).normal(size=(12, 3)).tolist()),
            ("not contiguous", np.random.default_rng(0).normal(size=(6, 40)).T[::2]),
        ],
    )
    @pytest.mark.parametrize("n_clusters", [1, 2])
    def test_rows_that_are_odd_but_valid(self, make, name, rows, n_clusters):
        n = len(rows)
        n_clusters = min(n_clusters, n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = make(n_clusters, random_state=0).fit(rows)
        assert model.labels_.shape == (n,)
        assert model.labels_.dtype == np.int32
        assert set(model.labels_) <= set(range(n_clusters))
        for values in (
            model.transform(rows),
            model.outlier_scores_,
            model.eigenvalues_,
            model.cluster_bases_.bases,
            model.flats_.bases,
        ):
            assert np.isfinite(values).all()
        np.testing.assert_array_equal(model.predict(rows), model.labels_)
        assert np.isfinite(model.score(rows))

    @pytest.mark.parametrize("sigma", [1e-3, 3e-3, 0.01, 0.1, 10.0, 1e3, 1e30])
    @pytest.mark.parametrize("n_nearest", ["auto", None])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_any_sigma_gives_labels(self, sigma, n_nearest, dtype):
        X, _ = make_subspaces((4, 5, 6), 10, points_per_subspace=50, random_state=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if dtype == np.float32:
                sigma = min(sigma, 1e15)
            model = FLS(3, subspace_dim=4, sigma=sigma, n_nearest=n_nearest, random_state=0).fit(X.astype(dtype))
        assert np.isfinite(model.score(X.astype(dtype)))
        assert np.isfinite(model.transform(X.astype(dtype))).all()

    def test_two_distinct_rows_are_told_apart(self):
        X = np.repeat([[1.0, 0, 0, 0], [0, 1.0, 0, 0]], 15, axis=0)
        assert same_partition(np.repeat([0, 1], 15), FLS(2, center=False, random_state=0).fit_predict(X))

    def test_copies_of_a_row_leave_no_neighbours_out(self):
        x = np.random.default_rng(0).normal(size=(12, 3))
        x[:7] = x[0]
        assert (FLS(1, random_state=0).fit(x).labels_ == 0).all()
        X, y = make_subspaces((2, 2), 6, points_per_subspace=60, random_state=0)
        labels = FLS(2, random_state=0).fit_predict(np.repeat(X, 10, axis=0))
        assert clustering_accuracy(np.repeat(y, 10), labels) > 0.97

    def test_too_few_distinct_rows_are_said(self):
        with pytest.warns(ConvergenceWarning, match="lower n_clusters"):
            FLS(3, random_state=0).fit(np.ones((20, 4)))

    def test_duplicates_share_a_label(self, planes):
        X, _ = planes
        twice = np.concatenate([X, X])
        labels = FLS(2, random_state=0).fit_predict(twice)
        np.testing.assert_array_equal(labels[: len(X)], labels[len(X) :])

    def test_more_landmarks_than_rows(self, planes):
        X, y = planes
        model = FLS(2, n_landmarks=10_000, random_state=0).fit(X)
        assert model.n_landmarks_ <= len(X)
        assert clustering_accuracy(y, model.labels_) > 0.95

    def test_rows_are_not_changed(self, planes):
        X = planes[0].copy()
        X.flags.writeable = False
        FLS(2, random_state=0).fit(X).predict(X)
        np.testing.assert_array_equal(X, planes[0])


class TestMemory:
    def test_a_dense_pass_keeps_what_it_may_and_no_more(self, monkeypatch):
        monkeypatch.setattr(described, "KEPT_BYTES", 10**8)
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60_000, 80)).astype(np.float32)
        model = FLS.paper(4, subspace_dim=3, n_landmarks=1000, start_size=20, landmarks=X[:1000], random_state=0)
        tracemalloc.start()
        try:
            model.fit(X)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        # All of psi is 240 MB.
        assert 100e6 < peak < 220e6


class TestAccuracy:
    """Defaults only. The full tables are in benchmarks/; these are the parts that run fast."""

    @pytest.mark.parametrize(
        ("dims", "ambient_dim", "floor"),
        [((2, 2), 6, 0.98), ((4, 5, 6), 10, 0.98), ((5, 6, 7), 20, 0.995), ((3, 4, 5, 6, 7), 80, 0.995)],
    )
    @pytest.mark.parametrize("outliers", [0.05, 0.3])
    def test_the_models_of_the_paper(self, dims, ambient_dim, floor, outliers):
        X, y = make_subspaces(dims, ambient_dim, outliers=outliers, random_state=0)
        model = FLS(len(dims), random_state=0).fit(X)
        assert clustering_accuracy(y, model.labels_) >= floor

    def test_affine_subspaces(self):
        X, y = make_subspaces((2, 2, 2), 6, affine=True, random_state=0)
        assert clustering_accuracy(y, FLS(3, random_state=0).fit_predict(X)) > 0.98

    @pytest.mark.parametrize(
        ("dims", "ambient_dim", "affine"),
        [((2, 2), 3, False), ((1, 1, 1), 3, False), ((1, 1), 2, False), ((1, 1, 1), 3, True), ((4, 4), 5, False)],
    )
    # Two lines in the plane are found, yet halves of the landmarks may find others.
    @pytest.mark.filterwarnings("ignore:Other landmarks")
    def test_few_columns(self, dims, ambient_dim, affine):
        X, y = make_subspaces(dims, ambient_dim, noise=0.01, affine=affine, random_state=1)
        assert clustering_accuracy(y, FLS(len(dims), random_state=0).fit_predict(X)) > 0.95

    @pytest.mark.parametrize("n_lines", [2, 3])
    def test_exact_lines(self, n_lines):
        """Scaled to unit norm, all rows of a line are copies of two."""
        X = np.vstack(
            [np.outer(np.random.default_rng(k).normal(size=150), axis) for k, axis in enumerate(np.eye(n_lines))]
        )
        labels = FLS(n_lines, random_state=0).fit_predict(X)
        assert clustering_accuracy(np.repeat(np.arange(n_lines), 150), labels) == 1

    @pytest.mark.parametrize("column", ["zero", "one", "copy"])
    def test_a_column_that_tells_nothing_new(self, column):
        X, y = make_subspaces((2, 2), 6, random_state=0)
        more = {"zero": np.zeros(len(X)), "one": np.ones(len(X)), "copy": X[:, 0]}[column]
        model = FLS(2, random_state=0).fit(np.column_stack([X, more]))
        assert clustering_accuracy(y, model.labels_) > 0.99
        assert model.cluster_dims_.tolist() == [2, 2]
        assert model.cluster_bases_.bases.shape == (2, 7, 2)
        np.testing.assert_array_equal(model.predict(np.column_stack([X, more])), model.labels_)

    def test_motions(self):
        X, y = make_motions(3, random_state=0)
        assert clustering_accuracy(y, FLS(3, random_state=0).fit_predict(X)) > 0.98

    def test_blobs_and_iris(self):
        X, y = make_blobs(300, centers=4, n_features=5, random_state=0)
        assert clustering_accuracy(y, FLS(4, random_state=0).fit_predict(X)) > 0.98
        X, y = load_iris(return_X_y=True)
        assert clustering_accuracy(y, FLS(3, random_state=0).fit_predict(X)) > 0.9

    def test_scikit_learn_digits(self):
        X, y = load_digits(return_X_y=True)
        assert clustering_accuracy(y, FLS(10, random_state=0).fit_predict(X)) > 0.87

    @needs_data
    def test_faces(self):
        X, y = load_yaleb(8, random_state=5)
        assert clustering_accuracy(y, FLS(8, random_state=5).fit_predict(X)) > 0.92

    @needs_data
    def test_pen_digits(self):
        X, y = load_pendigits()
        assert clustering_accuracy(y, FLS(10, random_state=0).fit_predict(X)) > 0.87

    @needs_data
    def test_mnist(self):
        X, y = load_mnist([1, 7], subset="test")
        model = FLS(2, random_state=0).fit(X[::2])
        assert clustering_accuracy(y[::2], model.labels_) > 0.98
        assert clustering_accuracy(y[1::2], model.predict(X[1::2])) > 0.98
