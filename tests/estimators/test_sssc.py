"""SSSC: accuracy, the sample, labels by residuals; and claims about both SSC and SSSC."""

import numpy as np
import pytest
import reference_codes
from sklearn.exceptions import ConvergenceWarning

from subspaces import SLBF, SSC, SSSC
from subspaces._core.arrays import unit_rows
from subspaces.datasets import load_yaleb, make_subspaces
from subspaces.metrics import clustering_accuracy


@pytest.mark.parametrize(
    ("dims", "ambient_dim", "outliers", "floor"), [((2, 2), 6, 0.3, 0.97), ((5, 6, 7), 20, 0.05, 0.99)]
)
def test_synthetic_models_of_the_paper(dims, ambient_dim, outliers, floor):
    X, y = make_subspaces(dims, ambient_dim, outliers=outliers, random_state=0)
    model = SSSC(len(dims), n_in_sample=400, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) >= floor
    assert clustering_accuracy(y, model.predict(X)) >= floor - 0.01


def test_faces(data_folder):
    X, y = load_yaleb(8, random_state=0, drop_components=0)
    assert clustering_accuracy(y, SSSC(8, n_in_sample=300, random_state=0).fit(X).labels_) > 0.57


def test_digits(mnist):
    X, y = mnist
    assert clustering_accuracy(y, SSSC(2, random_state=0).fit(X).labels_) > 0.95


def test_the_sample_keeps_the_labels_of_its_graph(planes):
    model = SSSC(2, n_in_sample=60, random_state=0).fit(planes[0])
    assert model.sample_indices_.shape == (60,)
    assert len(np.unique(model.sample_indices_)) == 60
    assert model.codes_.shape == (60, 60)


def test_other_rows_follow_the_residuals(planes):
    X = planes[0]
    model = SSSC(2, n_in_sample=60, random_state=0).fit(X)
    rest = np.setdiff1d(np.arange(len(X)), model.sample_indices_)
    sample = unit_rows(X[model.sample_indices_])
    expected = reference_codes.sssc_predict(sample, model.labels_[model.sample_indices_], unit_rows(X[rest]), 1e-6)
    np.testing.assert_array_equal(model.labels_[rest], expected)
    np.testing.assert_array_equal(model.predict(X)[rest], expected)


def test_the_sample_must_hold_every_cluster(planes):
    with pytest.raises(ValueError, match="n_in_sample=3 must be at least 5: every one of n_clusters=5"):
        SSSC(5, n_in_sample=3).fit(planes[0])


@pytest.mark.parametrize("solver", ["admm", "elastic_net", "omp"])
@pytest.mark.parametrize("estimator", [SSC, SSSC])
def test_affine_codes_move_with_the_rows(estimator, solver):
    X, _ = make_subspaces((2, 2), 6, affine=True, points_per_subspace=30, random_state=0)
    first, second = (estimator(2, affine=True, solver=solver, random_state=0).fit(X + offset) for offset in (0, 1000))
    np.testing.assert_allclose(second.codes_.toarray(), first.codes_.toarray(), atol=1e-5)
    np.testing.assert_array_equal(second.predict(X + 1000), first.predict(X))


def test_copies_share_a_label():
    X = np.repeat(np.eye(4)[:3] + 0.1, 10, axis=0)
    for model in (SSC(5, random_state=0), SSC(5, solver="omp"), SSSC(5, random_state=0), SLBF(5)):
        with pytest.warns(ConvergenceWarning, match="Only 3 of n_clusters=5"):
            labels = model.fit(X).labels_
        assert all(len(set(group)) == 1 for group in labels.reshape(3, 10))


def test_parameters_set_after_fit_do_not_change_predictions(planes):
    for model in (SSC(2, random_state=0), SSSC(2, n_in_sample=50, random_state=0)):
        before = model.fit(planes[0]).predict(planes[0])
        np.testing.assert_array_equal(model.set_params(affine=True, normalize=False).predict(planes[0]), before)
