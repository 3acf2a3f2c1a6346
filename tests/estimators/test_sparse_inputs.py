"""Sparse rows give the results of dense ones, in every estimator and format."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from test_all_estimators import ESTIMATORS

from subspaces import FLS, LandmarkSpectralClustering, open_rows
from subspaces.metrics import clustering_accuracy
from subspaces.rows import feed as _engine

every = pytest.mark.parametrize("model", [pytest.param(model, id=name) for name, model in ESTIMATORS.items()])
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
DENSE = np.random.default_rng(0).normal(size=(60, 8)) * (np.random.default_rng(1).random((60, 8)) < 0.4)


@every
class TestEveryEstimator:
    def test_results_are_those_of_dense_rows(self, model):
        dense = clone(model).fit(open_rows(DENSE))
        fitted = clone(model).fit(scipy.sparse.csr_array(DENSE))
        new = scipy.sparse.csr_matrix(DENSE[10:30])
        np.testing.assert_array_equal(fitted.labels_, dense.labels_)
        np.testing.assert_array_equal(fitted.predict(new), dense.predict(DENSE[10:30]))
        for name in ("transform", "outlier_scores"):
            if hasattr(fitted, name):
                np.testing.assert_allclose(getattr(fitted, name)(new), getattr(dense, name)(DENSE[10:30]), rtol=1e-10)
        assert fitted.score(new) == pytest.approx(dense.score(DENSE[10:30]))

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_values_that_are_not_finite(self, model, value):
        X = scipy.sparse.csr_array(DENSE)
        X.data[5] = value
        with pytest.raises(ValueError, match="NaN or infinity"):
            clone(model).fit(X)

    def test_new_rows_of_other_columns(self, model):
        fitted = clone(model).fit(DENSE)
        with pytest.raises(ValueError, match="3 features"):
            fitted.predict(scipy.sparse.csr_array((2, 3)))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("container", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_formats(kind, container):
    X = container(DENSE).asformat(kind)
    rows = open_rows(X, block_rows=7)
    np.testing.assert_array_equal(np.concatenate(list(rows.blocks())), DENSE)
    np.testing.assert_array_equal(np.concatenate(list(rows.blocks(3))), DENSE[21:])
    np.testing.assert_array_equal(rows.take([0, 5, 5, 59]), DENSE[[0, 5, 5, 59]])
    assert all(block.flags.c_contiguous for block in rows.blocks())


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [(np.float32, np.float32), (np.float64, np.float64), (np.int8, np.float64), (bool, np.float64)],
)
def test_types_of_numbers(dtype, expected):
    rows = open_rows(scipy.sparse.csr_array(DENSE.astype(dtype)))
    assert rows.dtype == next(rows.blocks()).dtype == expected


def test_columns_are_chosen():
    rows = open_rows(scipy.sparse.csr_array(DENSE), columns=[2, -1])
    np.testing.assert_array_equal(next(rows.blocks()), DENSE[:, [2, -1]])


def test_entries_of_the_same_place_are_added():
    X = scipy.sparse.csr_array((np.ones(4), [0, 0, 1, 1], [0, 2, 4]), shape=(2, 2))
    np.testing.assert_array_equal(open_rows(X).take([0, 1]), [[2, 0], [0, 2]])


def test_an_index_outside_of_the_columns_is_refused():
    X = scipy.sparse.csr_array(DENSE)
    X.indices = X.indices.copy()
    X.indices[3] = 10**6
    with pytest.raises(ValueError, match="damaged sparse matrix"):
        LandmarkSpectralClustering(2).fit(X)


def test_rows_stay_as_they_are():
    X = scipy.sparse.csc_array(DENSE)
    LandmarkSpectralClustering(2, random_state=0).fit(X)
    assert X.format == "csc"
    np.testing.assert_array_equal(X.toarray(), DENSE)


def test_weights_of_sparse_rows():
    counts = np.random.default_rng(0).integers(0, 3, len(DENSE))
    model = LandmarkSpectralClustering(2, random_state=0)
    dense, sparse = (clone(model).fit(X, sample_weight=counts) for X in (DENSE, scipy.sparse.csr_array(DENSE)))
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)


def topics(n, p, k):
    """Documents that share words with those of their topic, and a few with all."""
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    words = np.concatenate([300 * y[:, None] + rng.integers(100, size=(n, 30)), rng.integers(p, size=(n, 10))], axis=1)
    return scipy.sparse.csr_array((np.ones(n * 40), (np.repeat(np.arange(n), 40), words.ravel())), shape=(n, p)), y


def test_wide_rows_stay_within_the_memory_limit(monkeypatch):
    """No block or sample of rows is larger than a share of the limit, and there is no p x p matrix."""
    X, y = topics(400, 20_000, 3)
    made = []
    dense = scipy.sparse.csr_array.toarray
    monkeypatch.setattr(scipy.sparse.csr_array, "toarray", lambda x: made.append(x.shape[0]) or dense(x))
    fitted = FLS(3, random_state=0).fit(open_rows(X, memory_limit="100MB"))
    assert max(made) * 20_000 * 8 <= 50e6
    assert clustering_accuracy(y, fitted.labels_) > 0.95


def test_more_rows_than_the_sample(monkeypatch):
    X, y = topics(900, 1000, 3)
    monkeypatch.setattr(_engine, "FIT_ROWS", 300)
    fitted = FLS(3, random_state=0).fit(X)
    np.testing.assert_array_equal(fitted.labels_, FLS(3, random_state=0).fit(open_rows(X.toarray())).labels_)
    assert clustering_accuracy(y, fitted.labels_) > 0.95
