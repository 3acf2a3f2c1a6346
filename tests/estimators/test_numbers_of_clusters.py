"""Clusters are numbered in the order of their first rows, so that chance and threads do not exchange numbers."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from subspaces import FLS, KASP, SLBF, SSC, SSSC, KFlats
from subspaces._core.numbering import number_clusters, numbered, order_of_clusters
from subspaces._core.threads import one_thread
from subspaces.datasets import make_subspaces


@pytest.mark.parametrize(
    ("labels", "expected"),
    [([2, 2, 0, 1], [0, 0, 1, 2]), ([0, 1, 2], [0, 1, 2]), ([5, 3, 5], [0, 1, 0]), ([0], [0]), ([], [])],
)
def test_numbered(labels, expected):
    found = numbered(np.array(labels, np.int32))
    assert_array_equal(found, expected)
    assert found.dtype == np.int32


@pytest.mark.parametrize(
    ("labels", "expected"),
    [([2, 2, 0, 1], [2, 0, 1]), ([1, 1], [1, 0, 2]), ([], [0, 1, 2]), ([0, 2, 1], [0, 2, 1])],
)
def test_order(labels, expected):
    assert_array_equal(order_of_clusters(np.array(labels, np.int32), 3), expected)


class TestTies:
    """Rows equally near to several clusters take the first of them, and may change their cluster with the order."""

    @staticmethod
    def label(table):
        return table.argmax(axis=1).astype(np.int32)

    @staticmethod
    def reorder(table, order):
        return table[:, order]

    @pytest.mark.parametrize("seed", range(20))
    def test_labels_are_those_of_what_is_returned(self, seed):
        # Few values: many rows have ties, some of all clusters.
        table = np.random.default_rng(seed).integers(0, 3, (30, 5))
        made, labels = number_clusters(table, self.label, self.reorder, self.label(table), 5)
        assert_array_equal(labels, self.label(made))
        assert_array_equal(labels, numbered(labels))
        assert_array_equal(np.sort(made, axis=1), np.sort(table, axis=1))

    def test_nothing_is_done_twice(self):
        calls = []
        table = np.eye(4)
        made, _ = number_clusters(table, calls.append, self.reorder, self.label(table), 4)
        assert made is table
        assert not calls


X, Y = make_subspaces((1, 1, 1), 9, points_per_subspace=25, noise=0.001, outliers=0.0, shuffle=True, random_state=3)
MODELS = {
    "SSC by an elastic net": SSC(3, solver="elastic_net"),
    "SSC by ADMM": SSC(3),
    "SSSC": SSSC(3, n_in_sample=75),
    "SSSC of a part": SSSC(3, n_in_sample=30),
    "SLBF": SLBF(3, subspace_dim=1, affine=False),
    "KASP": KASP(3, n_centroids=40),
}


@pytest.mark.parametrize("name", MODELS)
def test_first_rows_decide(name):
    found = [MODELS[name].set_params(random_state=seed).fit(X).labels_ for seed in range(4)]
    for labels in found:
        assert_array_equal(labels, numbered(labels))
    if name in ("SSC by an elastic net", "SSC by ADMM", "SSSC"):
        # Clear clusters: any seed finds the same.
        assert_array_equal(found, [numbered(Y.astype(np.int32))] * 4)


@pytest.mark.parametrize("name", ["SSC by an elastic net", "SSSC"])
def test_threads_do_not_decide(name):
    model = MODELS[name].set_params(random_state=0)
    several = model.fit(X).labels_
    with one_thread():
        assert_array_equal(model.fit(X).labels_, several)


def test_copies_of_rows():
    assert_array_equal(SSC(3).fit([[3.0, 1], [0, 2], [3, 1], [1, 0]]).labels_, [0, 1, 0, 2])


def test_a_row_where_all_flats_meet():
    """The origin is equally near to all of them."""
    rows = np.vstack([X[:10], np.zeros((3, 9)), X[10:]])
    for seed in range(5):
        model = KFlats(3, subspace_dim=1, affine=False, random_state=seed).fit(rows)
        assert_array_equal(model.labels_, numbered(model.labels_))
        assert_array_equal(model.predict(rows), model.labels_)


class TestEverythingOfAClusterFollows:
    """Attributes and shares have the numbers of the labels."""

    rows, truth = make_subspaces((1, 2, 3), 9, points_per_subspace=80, noise=0.01, outliers=0.0, random_state=0)
    # One row of each dimension comes first, those of the largest dimension before the others.
    order = np.concatenate([[200, 100, 10], np.setdiff1d(np.random.default_rng(0).permutation(240), [200, 100, 10])])
    rows, dims = rows[order], truth[order] + 1

    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"detect_outliers": True},
            {"assign": "balanced", "subspace_dim": 2, "affine": False},
            {"assign": "balanced", "subspace_dim": 2, "affine": False, "n_draws": 3, "n_landmarks": 120},
        ],
        ids=["whole flats", "outliers", "graph", "votes"],
    )
    def test_fls(self, options):
        model = FLS(3, random_state=0, **options).fit(self.rows)
        own = model.labels_ >= 0
        assert np.mean(model.cluster_dims_[model.labels_[own]] == self.dims[own]) > 0.95
        assert_array_equal(model.predict(self.rows), model.labels_)
        assert np.mean(model.predict_proba(self.rows).argmax(axis=1)[own] == model.labels_[own]) > 0.95
        for k, flat in enumerate(model.cluster_bases_):
            centred = self.rows[model.labels_ == k] - flat.centers
            basis = flat.bases[0, :, : model.cluster_dims_[k]]
            assert np.linalg.norm(centred - centred @ basis @ basis.T) < 0.2 * np.linalg.norm(centred)
        if not options.get("detect_outliers"):
            assert_array_equal(model.labels_, numbered(model.labels_))

    def test_outliers_do_not_change_numbers(self):
        plain = FLS(3, random_state=0).fit(self.rows).labels_
        found = FLS(3, random_state=0, detect_outliers=0.1).fit(self.rows).labels_
        assert (found == -1).any()
        assert_array_equal(found[found >= 0], plain[found >= 0])

    def test_kflats(self):
        model = KFlats(3, random_state=0).fit(self.rows)
        distances = model.transform(self.rows)
        assert_array_equal(distances.argmin(axis=1), model.labels_)
        assert_array_equal(model.labels_, numbered(model.labels_))
        assert len(np.unique(model.labels_[:3])) == 3
