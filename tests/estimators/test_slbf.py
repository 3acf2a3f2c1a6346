"""SLBF: fitted attributes, curved clusters, invariances, refused parameters."""

import numpy as np
import pytest

from subspaces import SLBF
from subspaces.metrics import clustering_accuracy


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fitted_attributes(planes, dtype):
    X, y = planes
    X = X.astype(dtype)
    model = SLBF(2, subspace_dim=2, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.95
    assert clustering_accuracy(model.labels_, model.predict(X)) > 0.9
    assert len(model.flats_) == len(X)
    assert model.flats_.bases.dtype == model.affinity_matrix_.dtype == dtype
    assert model.affinity_matrix_.nnz <= 2 * 20 * len(X)
    assert model.labels_.dtype == np.int32


def test_curved_clusters():
    first, second = np.random.default_rng(0).uniform(0, 2 * np.pi, size=(2, 150))
    zero = np.zeros(150)
    # Two rings, linked like those of a chain.
    X = np.r_[np.c_[np.cos(first), np.sin(first), zero], np.c_[1 + np.cos(second), zero, np.sin(second)]]
    y = np.repeat([0, 1], 150)
    assert clustering_accuracy(y, SLBF(2, subspace_dim=1, random_state=0).fit_predict(X)) > 0.95


def test_scale_and_offset(planes):
    X, _ = planes
    model = SLBF(2, subspace_dim=2, random_state=0)
    labels = model.fit_predict(X)
    for moved in (1e6 * X, X + 100):
        assert clustering_accuracy(labels, model.fit_predict(moved)) > 0.99


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
def test_parameters(planes, changes, message):
    with pytest.raises(ValueError, match=message):
        SLBF(**({"n_clusters": 2} | changes)).fit(planes[0])
