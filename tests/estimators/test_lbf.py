"""LBF: fitted attributes, the number of clusters, invariances, refused parameters."""

import numpy as np
import pytest

from subspaces import LBF, Beta2
from subspaces.datasets import make_subspaces
from subspaces.flats.kflats import fit_kflats
from subspaces.metrics import clustering_accuracy


def lbf(**changes):
    return LBF(**({"n_clusters": 2, "subspace_dim": 2, "n_candidates": 40, "random_state": 0} | changes))


@pytest.mark.parametrize(("polish", "dtype"), [(False, np.float32), (True, np.float64)])
def test_fitted_attributes(planes, polish, dtype):
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


def test_the_polish_is_median_k_flats(planes):
    X, _ = planes
    plain, polished = lbf(polish=False).fit(X), lbf().fit(X)
    fit = fit_kflats(X, plain.flats_, affine=True)
    np.testing.assert_array_equal(polished.labels_, fit.labels)
    assert polished.energy_ == fit.energy < plain.energy_


def test_the_defaults_need_nothing_but_the_number_of_clusters():
    X, y = make_subspaces((3, 4), 9, points_per_subspace=120, outliers=0.3, random_state=1)
    model = LBF(2, random_state=0).fit(X)
    assert model.subspace_dim_ == 4
    assert clustering_accuracy(y, model.labels_) > 0.95


@pytest.mark.parametrize("dim", [3, "auto"])
def test_the_number_of_clusters(dim):
    X, y = make_subspaces((1, 2, 3), 7, points_per_subspace=80, outliers=0.3, random_state=0)
    model = LBF("auto", subspace_dim=dim, max_clusters=5, random_state=4).fit(X)
    assert model.n_clusters_ == 3
    assert [each.name for each in model.choice_] == ["n_clusters", "subspace_dim"][: 2 if dim == "auto" else 1]
    assert model.choice_["n_clusters"].chosen["n_clusters"] == 3
    if dim == "auto":
        assert model.choice_["subspace_dim"].chosen["subspace_dim"] == model.subspace_dim_
    else:
        assert sorted(model.cluster_dims_) == [1, 2, 3]
        assert clustering_accuracy(y, model.labels_) > 0.95


def test_one_flat_that_fits_all_is_one_cluster():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 5)) + 1 + 0.01 * rng.normal(size=(60, 5))
    model = LBF("auto", max_clusters=4, random_state=0).fit(X)
    assert (model.n_clusters_, model.cluster_dims_.tolist()) == (1, [2])


def test_rotation_scale_translation_and_order(planes):
    X, _ = planes
    labels = lbf().fit_predict(X)
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    for moved in (X @ rotation, 1e6 * X, 1e-6 * X, X + 100):
        assert clustering_accuracy(labels, lbf().fit_predict(moved)) > 0.99
    order = np.random.default_rng(0).permutation(len(X))
    assert clustering_accuracy(labels[order], lbf().fit_predict(X[order])) > 0.97


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
def test_parameters(planes, changes, error, message):
    with pytest.raises(error, match=message):
        lbf(**changes).fit(planes[0])
