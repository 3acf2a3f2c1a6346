"""Labels by the cluster that reproduces a row best, compared with explicit loops."""

import numpy as np
import pytest
import reference_codes

from subspaces.self_expression.residuals import cluster_grams, least_residual


@pytest.mark.parametrize("ridge", [1e-6, 1e-2, 10.0])
@pytest.mark.parametrize("p", [3, 8, 50])
def test_labels_are_those_of_explicit_loops(p, ridge):
    rng = np.random.default_rng(0)
    sample, new = rng.normal(size=(30, p)), rng.normal(size=(25, p))
    labels = rng.integers(0, 3, 30).astype(np.int32)
    ours = least_residual(new, cluster_grams(sample, labels, 3, ridge=ridge))
    np.testing.assert_array_equal(ours, reference_codes.sssc_predict(sample, labels, new, ridge))


def test_an_empty_cluster_explains_nothing():
    rng = np.random.default_rng(0)
    sample = rng.normal(size=(10, 3))
    grams = cluster_grams(sample, np.full(10, 1, np.int32), 3, ridge=1e-6)
    assert (least_residual(rng.normal(size=(5, 3)), grams) == 1).all()
