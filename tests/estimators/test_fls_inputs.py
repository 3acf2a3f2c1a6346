"""FLS: refused parameters, and rows that are unusual for subspaces."""

import numpy as np
import pytest

from subspaces import FLS, Beta2
from subspaces.datasets import make_subspaces
from subspaces.metrics import clustering_accuracy


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"n_clusters": 0}, ValueError, "n_clusters=0"),
        ({"n_clusters": 2.0}, TypeError, "n_clusters=2.0"),
        ({"n_clusters": True}, TypeError, "n_clusters=True"),
        ({"n_clusters": 1000}, ValueError, "n_clusters=1000 must be between 1 and"),
        ({"subspace_dim": 6}, ValueError, "n_features=6"),
        ({"subspace_dim": -1}, ValueError, "subspace_dim=-1"),
        ({"subspace_dim": 0, "affine": False}, ValueError, "subspace_dim=0 and affine=False"),
        ({"whiten": 2}, ValueError, "whiten=2 must be a number from 0 to 1"),
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
        ({"center": "auto"}, ValueError, "center='auto' is not known: use one of True, False"),
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
        ({"n_draws": 0}, ValueError, "n_draws=0 must be between 1 and 10000"),
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
def test_parameters(planes, changes, error, message):
    with pytest.raises(error, match=message):
        FLS(**({"n_clusters": 2} | changes)).fit(planes[0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("sigma", "dtype"),
    [(1e-3, np.float32), (1e-3, np.float64), (0.01, np.float32), (10.0, np.float64), (1e15, np.float32), (1e30, float)],
)
@pytest.mark.parametrize("n_nearest", ["auto", None])
def test_any_sigma_gives_finite_results(sigma, n_nearest, dtype):
    X = make_subspaces((4, 5, 6), 10, points_per_subspace=30, random_state=1)[0].astype(dtype)
    options = {"subspace_dim": 4, "neighborhood": 12, "affine": False, "n_nearest": n_nearest}
    model = FLS(3, sigma=sigma, random_state=0, **options).fit(X)
    assert np.isfinite(model.score(X))
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", [FLS(2, random_state=0), FLS.paper(2, subspace_dim=1, random_state=0)], ids=str)
@pytest.mark.parametrize(
    "rows",
    [
        np.eye(2),
        np.full((20, 4), 3.0),
        np.repeat(np.eye(4)[:2], 15, axis=0),
        np.random.default_rng(0).normal(size=(9, 70)),
    ],
    ids=["two rows", "equal rows", "two distinct rows", "many columns"],
)
def test_predict_gives_the_labels_of_unusual_rows(model, rows):
    fitted = model.fit(rows)
    np.testing.assert_array_equal(fitted.predict(rows), fitted.labels_)
    assert np.isfinite(fitted.cluster_bases_.bases).all()
    assert np.isfinite(fitted.flats_.bases).all()


def test_two_distinct_rows_are_two_clusters():
    X = np.repeat([[1.0, 0, 0, 0], [0, 1.0, 0, 0]], 15, axis=0)
    labels = FLS(2, center=False, random_state=0).fit_predict(X)
    assert clustering_accuracy(np.repeat([0, 1], 15), labels) == 1


def test_copies_of_a_row_do_not_fill_neighbourhoods():
    x = np.random.default_rng(0).normal(size=(12, 3))
    x[:7] = x[0]
    assert (FLS(1, random_state=0).fit(x).labels_ == 0).all()
    X, y = make_subspaces((2, 2), 6, points_per_subspace=60, random_state=0)
    labels = FLS(2, subspace_dim=2, random_state=0).fit_predict(np.repeat(X, 10, axis=0))
    assert clustering_accuracy(np.repeat(y, 10), labels) > 0.97


def test_duplicates_share_a_label(planes):
    X, _ = planes
    labels = FLS(2, subspace_dim=2, random_state=0).fit_predict(np.concatenate([X, X]))
    np.testing.assert_array_equal(labels[: len(X)], labels[len(X) :])


def test_more_landmarks_than_rows(planes):
    X, y = planes
    model = FLS(2, n_landmarks=10_000, random_state=0).fit(X)
    assert model.n_landmarks_ <= len(X)
    assert clustering_accuracy(y, model.labels_) > 0.95
