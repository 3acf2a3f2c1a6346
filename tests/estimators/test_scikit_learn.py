"""Conventions of scikit-learn: its own checks of every estimator, pipelines, grid searches, pandas."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_clustering, parametrize_with_checks

from subspaces import (
    FLS,
    KASP,
    LBF,
    SLBF,
    SSC,
    SSSC,
    Beta2,
    FourierSpectralClustering,
    KernelSpectralClustering,
    KFlats,
    LandmarkSpectralClustering,
    NystromSpectralClustering,
)
from subspaces.kernels import FourierFeatures
from subspaces.metrics import clustering_accuracy
from subspaces.self_expression import ADMM

# Each class once, with few starts and a given dimension: the checks fit each of them about a hundred times.
CHECKED = [
    FLS(3, subspace_dim=1, neighborhood=8, affine=True, assign="balanced", random_state=0),
    FLS.paper(3, subspace_dim=1, random_state=0),
    KASP(3, random_state=0),
    KFlats(3, subspace_dim=0, n_init=2, random_state=0),
    LBF(3, subspace_dim=0, n_init=2, random_state=0),
    SLBF(3, subspace_dim=1, random_state=0),
    SSC(3, random_state=0),
    SSSC(3, n_in_sample=20, affine=True, random_state=0),
    LandmarkSpectralClustering(3, random_state=0),
    FourierSpectralClustering(3, n_features=50, random_state=0),
    NystromSpectralClustering(3, n_landmarks=20, random_state=0),
    KernelSpectralClustering(3, feature_map=RBFSampler(gamma=0.1, n_components=50), random_state=0),
]


# Some checks ask for more clusters than their rows can fill.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(CHECKED)
def test_estimator_checks(estimator, check):
    if check.func.__name__.startswith("check_estimator_sparse_") and hasattr(estimator, "predict_proba"):
        pytest.skip("it takes every estimator with predict_proba for a classifier; see test_sparse_inputs.py")
    if check.func.__name__.startswith("check_sample_weight_equivalence"):
        pytest.skip("it shuffles the repeated rows, so that others are drawn; test_sample_weight.py keeps their order")
    check(estimator)


@pytest.mark.parametrize("estimator", [LBF, KFlats])
@pytest.mark.parametrize("seed", range(30))
def test_default_parameters_find_blobs_for_every_seed(estimator, seed):
    # The rows of check_clustering, which itself only uses the seed 0.
    X, y = make_blobs(n_samples=50, random_state=1)
    X = StandardScaler().fit_transform(X)
    assert adjusted_rand_score(y, estimator(3, random_state=seed).fit(X).labels_) > 0.8


@pytest.mark.parametrize("estimator", [LBF, KFlats])
def test_default_parameters_pass_the_check_of_clustering(estimator):
    check_clustering(estimator.__name__, estimator())


def test_pipelines(planes, blobs):
    X, _ = planes
    model = FLS(2, subspace_dim=2, random_state=0)
    pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), clone(model))
    np.testing.assert_array_equal(pipeline.fit_predict(X), model.fit_predict(X))
    pipeline = make_pipeline(StandardScaler(), LandmarkSpectralClustering(3, random_state=0))
    assert clustering_accuracy(blobs[1], pipeline.fit_predict(blobs[0])) == 1


# Hyperplanes do not separate these rows, and FLS warns.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_grid_search_finds_the_dimension(planes):
    search = GridSearchCV(
        FLS(2, affine=False, n_draws=1, random_state=0), {"subspace_dim": [2, 5], "neighborhood": [16]}, cv=2
    )
    assert search.fit(planes[0]).best_params_["subspace_dim"] == 2


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (
            FLS(2, neighborhood=16, n_draws=1, assign="balanced", random_state=0),
            {"affine": np.array([True, False]), "landmarks": np.array(["random"]), "subspace_dim": np.array([2])},
        ),
        (
            LandmarkSpectralClustering(3, random_state=0),
            {"landmarks": np.array(["kmeans", "random"]), "n_landmarks": np.array([20, 40])},
        ),
        (
            KernelSpectralClustering(3, feature_map=FourierFeatures(100), random_state=0),
            {"feature_map__sigma": [3.0, "auto"]},
        ),
    ],
    ids=["FLS", "Landmark", "Kernel"],
)
def test_grid_search_takes_scalars_of_numpy_and_nested_parameters(model, grid, planes, blobs):
    X, _ = planes if isinstance(model, FLS) else blobs
    search = GridSearchCV(model, grid, cv=2, error_score="raise")
    assert np.isfinite(search.fit(X).best_score_)


def test_clones_have_equal_parameters():
    model = FLS(3, landmarks=np.eye(6), neighborhood=Beta2(4, 3))
    assert clone(model).get_params().keys() == model.get_params().keys()


def test_parameters_of_a_solver_are_nested():
    model = SSC(2, solver=ADMM(alpha=5))
    assert model.get_params()["solver__alpha"] == 5
    assert clone(model).set_params(solver__alpha=7, solver__tol=0.1).solver.alpha == 7


def test_pandas_in_and_out(planes):
    X, _ = planes
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(6)])
    model = FLS(2, subspace_dim=2, random_state=0)
    expected = clone(model).fit(X).labels_
    model.set_output(transform="pandas").fit(frame)
    assert list(model.feature_names_in_) == list(frame.columns)
    embedded = model.transform(frame)
    assert isinstance(embedded, pd.DataFrame)
    assert list(embedded.columns) == [f"fls{i}" for i in range(model.n_components_)]
    np.testing.assert_array_equal(model.labels_, expected)
