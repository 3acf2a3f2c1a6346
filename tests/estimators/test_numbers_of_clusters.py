"""Clusters are numbered in the order of their first rows, so that chance and threads do not exchange numbers."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from subspaces import KASP, SLBF, SSC, SSSC
from subspaces._core.arrays import numbered
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


X, Y = make_subspaces((1, 1, 1), 9, points_per_subspace=25, noise=0.001, outliers=0.0, shuffle=True, random_state=3)
MODELS = {
    "SSC by an elastic net": SSC(3, solver="elastic_net"),
    "SSC by ADMM": SSC(3),
    "SSSC": SSSC(3, n_in_sample=75),
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
