"""Accuracy of FLS with default parameters. The full tables are in benchmarks/; these are the parts that run fast."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs

from subspaces import FLS
from subspaces.datasets import make_subspaces
from subspaces.metrics import clustering_accuracy


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dims", "ambient_dim", "outliers", "floor"),
    [
        ((2, 2), 6, 0.3, 0.98),
        ((4, 5, 6), 10, 0.05, 0.98),
        ((5, 6, 7), 20, 0.3, 0.995),
        ((3, 4, 5, 6, 7), 80, 0.05, 0.995),
    ],
)
def test_synthetic_models_of_the_paper(dims, ambient_dim, outliers, floor):
    X, y = make_subspaces(dims, ambient_dim, outliers=outliers, random_state=0)
    model = FLS(len(dims), random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) >= floor


def test_affine_subspaces():
    X, y = make_subspaces((2, 2, 2), 6, affine=True, random_state=0)
    assert clustering_accuracy(y, FLS(3, random_state=0).fit_predict(X)) > 0.98


@pytest.mark.parametrize(
    ("dims", "ambient_dim", "affine"),
    [((2, 2), 3, False), ((1, 1, 1), 3, False), ((1, 1), 2, False), ((1, 1, 1), 3, True), ((4, 4), 5, False)],
)
# Two lines in the plane are found, yet halves of the landmarks may find others.

@pytest.mark.filterwarnings("ignore:Other landmarks")
def test_few_columns(dims, ambient_dim, affine):
    X, y = make_subspaces(dims, ambient_dim, noise=0.01, affine=affine, random_state=1)
    assert clustering_accuracy(y, FLS(len(dims), random_state=0).fit_predict(X)) > 0.95


@pytest.mark.parametrize("n_lines", [2, 3])
def test_exact_lines(n_lines):
    """Scaled to unit norm, all rows of a line are copies of two."""
    X = np.vstack([np.outer(np.random.default_rng(k).normal(size=150), axis) for k, axis in enumerate(np.eye(n_lines))])
    labels = FLS(n_lines, random_state=0).fit_predict(X)
    assert clustering_accuracy(np.repeat(np.arange(n_lines), 150), labels) == 1


@pytest.mark.parametrize("column", ["zero", "one", "copy"])
def test_a_redundant_column_changes_nothing(column):
    X, y = make_subspaces((2, 2), 6, random_state=0)
    more = {"zero": np.zeros(len(X)), "one": np.ones(len(X)), "copy": X[:, 0]}[column]
    model = FLS(2, random_state=0).fit(np.column_stack([X, more]))
    assert clustering_accuracy(y, model.labels_) > 0.99
    assert model.cluster_dims_.tolist() == [2, 2]
    assert model.cluster_bases_.bases.shape == (2, 7, 2)
    np.testing.assert_array_equal(model.predict(np.column_stack([X, more])), model.labels_)


def test_motions(motions):
    X, y = motions
    assert clustering_accuracy(y, FLS(3, random_state=0).fit_predict(X)) > 0.98


def test_blobs_and_iris():
    X, y = make_blobs(300, centers=4, n_features=5, random_state=0)
    assert clustering_accuracy(y, FLS(4, random_state=0).fit_predict(X)) > 0.98
    X, y = load_iris(return_X_y=True)
    assert clustering_accuracy(y, FLS(3, random_state=0).fit_predict(X)) > 0.9


@pytest.mark.slow
def test_small_digits(small_digits):
    X, y = small_digits
    assert clustering_accuracy(y, FLS(10, random_state=0).fit_predict(X)) > 0.9


@pytest.mark.slow
def test_faces(faces):
    X, y = faces
    assert clustering_accuracy(y, FLS(8, random_state=5).fit_predict(X)) > 0.92


@pytest.mark.slow
def test_pen_digits(pen_digits):
    X, y = pen_digits
    assert clustering_accuracy(y, FLS(10, random_state=0).fit_predict(X)) > 0.87


@pytest.mark.slow
def test_mnist(mnist):
    X, y = mnist
    model = FLS(2, random_state=0).fit(X[::2])
    assert clustering_accuracy(y[::2], model.labels_) > 0.98
    assert clustering_accuracy(y[1::2], model.predict(X[1::2])) > 0.98
