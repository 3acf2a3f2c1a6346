"""KFlats: fitted attributes, invariances, refused parameters."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

from subspaces import LBF, SLBF, KFlats
from subspaces.datasets import make_subspaces
from subspaces.metrics import clustering_accuracy


def small(**changes):
    return KFlats(**({"n_clusters": 2, "subspace_dim": 2, "n_init": 2, "random_state": 0} | changes))


@pytest.mark.parametrize(
    ("options", "dtype"),
    [({}, np.float32), ({"loss": "squared"}, np.float64), ({"affine": False, "normalize": True}, np.float64)],
)
def test_fitted_attributes(planes, options, dtype):
    X, y = planes
    X = X.astype(dtype)
    model = small(**options).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    distances = model.transform(X)
    np.testing.assert_array_equal(distances.argmin(axis=1), model.labels_)
    power = 2 if options.get("loss") == "squared" else 1
    assert model.energy_ == pytest.approx((distances.astype(float).min(axis=1) ** power).sum(), rel=1e-4)
    assert model.labels_.dtype == np.int32
    assert distances.dtype == model.flats_.bases.dtype == model.flats_.centers.dtype == dtype
    assert model.subspace_dim_ == model.flats_.dim == 2
    assert clustering_accuracy(y, model.labels_) > 0.95


def test_the_number_of_clusters(planes):
    X, y = planes
    model = KFlats("auto", subspace_dim=2, max_clusters=4, random_state=0).fit(X)
    assert model.n_clusters_ == len(model.flats_) == 2
    assert model.cluster_dims_.tolist() == [2, 2]
    assert clustering_accuracy(y, model.labels_) > 0.95
    assert [each.name for each in model.choice_] == ["n_clusters"]
    assert len(small().fit(X).choice_) == 0


def test_the_dimension_is_a_decision(planes):
    model = small(subspace_dim="auto").fit(planes[0])
    decision = model.choice_["subspace_dim"]
    assert decision.chosen["subspace_dim"] == model.subspace_dim_ == 2
    assert [each["subspace_dim"] for each in decision.candidates] == [1, 2, 3, 4, 5]


def test_starting_labels(planes):
    X, y = planes
    model = small(init=y).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.98
    assert clone(model).get_params()["init"] is not None


def test_rotation_scale_and_translation(planes):
    X, _ = planes
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    labels = small().fit_predict(X)
    for moved in (X @ rotation, 1e6 * X, 1e-6 * X, X + 100):
        assert clustering_accuracy(labels, small().fit_predict(moved)) > 0.99


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
def test_parameters(planes, changes, error, message):
    with pytest.raises(error, match=message):
        small(**changes).fit(planes[0])


@pytest.mark.parametrize("loss", ["squared", "median"])
def test_flats_of_dimension_zero_are_centres(loss):
    X, y = make_blobs(150, centers=np.array([[0, 0], [8, 0], [0, 8]]), random_state=0)
    model = KFlats(3, subspace_dim=0, loss=loss, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) == 1
    if loss == "squared":
        means = np.stack([X[model.labels_ == k].mean(axis=0) for k in range(3)])
        np.testing.assert_allclose(model.flats_.centers, means, atol=1e-10)
    assert KFlats(3, random_state=0).fit(X).subspace_dim_ == 0


def test_lines_in_the_plane_are_lines():
    rng = np.random.default_rng(0)
    X = np.r_[np.c_[rng.uniform(-1, 1, 80), np.zeros(80)], np.c_[np.zeros(80), rng.uniform(-1, 1, 80)]]
    model = KFlats(2, random_state=0).fit(X + rng.normal(scale=0.01, size=X.shape))
    assert model.subspace_dim_ == 1
    assert clustering_accuracy(np.repeat([0, 1], 80), model.labels_) > 0.95


@pytest.mark.parametrize("estimator", [KFlats, LBF, SLBF])
@pytest.mark.parametrize("affine", [False, True])
def test_unused_directions_change_nothing(estimator, affine):
    X, _ = make_subspaces((2, 3), 7, points_per_subspace=100, random_state=0)
    model = estimator(2, affine=affine, random_state=0).fit(X)
    # Columns of zeros leave directions that no row uses; so do constants for affine flats.
    unused = [np.c_[X, np.zeros((len(X), 2))]] + [np.c_[X, np.full(len(X), 3.0)]] * affine
    for rows in unused:
        other = estimator(2, affine=affine, random_state=0).fit(rows)
        assert other.subspace_dim_ == model.subspace_dim_
        assert clustering_accuracy(model.labels_, other.labels_) > 0.98
        assert other.flats_.centers.shape[1] == other.flats_.bases.shape[1] == rows.shape[1]
        if estimator is not SLBF:
            np.testing.assert_array_equal(other.predict(rows), other.labels_)
            np.testing.assert_array_equal(other.transform(rows).argmin(axis=1), other.labels_)
            assert other.cluster_dims_.tolist() in ([2, 3], [3, 2])
