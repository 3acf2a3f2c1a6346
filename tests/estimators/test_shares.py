"""Shares of clusters in new rows, and the confidence in their labels."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from subspaces import FLS, LandmarkSpectralClustering, load, open_rows
from subspaces.datasets import make_subspaces

X, Y = make_subspaces((2, 3), 8, points_per_subspace=60, outliers=0, random_state=0)
MODELS = {
    "whole flats": FLS(2, random_state=0),
    "voters": FLS(2, n_draws=3, assign="balanced", random_state=0),
    "one set of landmarks": FLS(2, n_draws=1, assign="balanced", random_state=0),
    "outliers": FLS(2, detect_outliers=0.1, random_state=0),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return MODELS[request.param].fit(X)


def test_shares_sum_to_one_and_the_label_has_the_largest(model):
    shares, labels = model.predict_proba(X), model.predict(X)
    assert shares.shape == (len(X), 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    apart = labels < 0
    assert (shares.argmax(axis=1) == labels)[~apart].mean() > 0.98
    assert apart.any() == bool(model.detect_outliers)
    own = np.where(apart, shares.max(axis=1), shares[np.arange(len(X)), labels])
    np.testing.assert_allclose(model.confidence(X), own, rtol=1e-6)


def test_rows_between_clusters_are_less_sure(model):
    # Near the mean, where two subspaces meet, and far from it.
    between = X.mean(axis=0) + 0.01 * np.random.RandomState(0).normal(size=(20, 8))
    assert model.confidence(between).mean() < model.confidence(X).mean() - 0.03


def test_blocks_of_files_and_saved_models_give_the_same(model, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    expected = model.confidence(X)
    from_file = model.confidence(open_rows(tmp_path / "rows.npy"))
    np.testing.assert_allclose(from_file, expected, rtol=1e-6)
    loaded = load(model.save(tmp_path / "model.subspaces"))
    np.testing.assert_allclose(loaded.confidence(X), expected, rtol=1e-9)
    np.testing.assert_allclose(loaded.predict_proba(X), model.predict_proba(X), rtol=1e-6, atol=1e-9)


def test_not_before_a_fit_nor_without_landmarks_in_clusters():
    with pytest.raises(NotFittedError):
        FLS(2).predict_proba(X)
    assert not hasattr(FLS.paper(2, subspace_dim=2, n_landmarks=30, random_state=0).fit(X), "predict_proba")
    assert not hasattr(LandmarkSpectralClustering(2, random_state=0).fit(X), "confidence")
