"""Sparse rows for any array library: equal to a dense matrix."""

import numpy as np

from subspaces._core.arrays import to_host
from subspaces.spectral.sparse import SparseRows
from subspaces.spectral.spectrum import balanced_sums, product


def test_operations_equal_those_of_a_matrix(xp):
    rng = np.random.default_rng(0)
    index = np.array([rng.choice(9, 3, replace=False) for _ in range(20)])
    weights = rng.dirichlet(np.ones(3), 20)
    dense = np.zeros((20, 9))
    np.put_along_axis(dense, index, weights, axis=1)
    psi = SparseRows(xp.asarray(index), xp.asarray(weights), 9)
    assert psi.shape == (20, 9)
    table = rng.normal(size=(9, 4))
    np.testing.assert_allclose(to_host(product(psi, table)), dense @ table)
    np.testing.assert_allclose(to_host(product(psi, table[:, 0])), dense @ table[:, 0])
    total, gram = map(to_host, balanced_sums(psi))
    np.testing.assert_allclose(total, dense.sum(axis=0))
    np.testing.assert_allclose(gram, dense.T @ dense)
    assert total.dtype == gram.dtype == np.float64
