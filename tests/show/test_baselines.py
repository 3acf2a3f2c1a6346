"""Ordinary clustering methods beside ours."""

from dataclasses import replace

import numpy as np
import pytest

from subspaces.metrics import clustering_accuracy
from subspaces.show.baselines import BASELINES, fit_baseline


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    return np.array([[0, 0, 0], [9, 0, 0], [0, 9, 0]])[y] + rng.normal(size=(180, 3)), y


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("most_rows", [None, 90], ids=["all rows", "a sample"])
def test_blobs_are_found(blobs, name, most_rows):
    X, y = blobs
    baseline = BASELINES[name] if most_rows is None else replace(BASELINES[name], most_rows=most_rows)
    found = fit_baseline(baseline, X, 3, seed=0)
    assert len(found.rows) == (most_rows or len(X))
    assert found.n_clusters >= 3
    labels = found.predict(X)
    inliers = labels >= 0
    assert inliers.mean() > 0.8
    # HDBSCAN may split a cluster, and leaves rows out.
    assert clustering_accuracy(y[inliers], labels[inliers]) >= (0.6 if name == "hdbscan" else 1)


@pytest.mark.parametrize("name", BASELINES)
def test_few_rows(name):
    X = np.arange(12.0).reshape(6, 2) ** 2
    assert len(fit_baseline(BASELINES[name], X, 2, seed=0).labels) == 6


def test_failures_are_errors_of_users(blobs):
    with pytest.raises(ValueError, match="GaussianMixture of scikit-learn failed"):
        fit_baseline(BASELINES["mixture"], blobs[0] * np.nan, 2, seed=0)


def test_wide_mixtures_are_diagonal():
    assert BASELINES["mixture"].make(3, (100, 80), 0).covariance_type == "diag"
    assert BASELINES["mixture"].make(3, (100, 8), 0).covariance_type == "full"
