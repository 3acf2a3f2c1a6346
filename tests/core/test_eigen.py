"""Leading eigenvectors, also of matrices for which LAPACK's routine for some of them fails."""

import numpy as np
import pytest
import scipy.linalg
from sklearn.exceptions import ConvergenceWarning

from subspaces import SSC
from subspaces._core.eigen import largest_eigenpairs


def check(matrix, count):
    values, vectors = largest_eigenpairs(matrix, count)
    expected = np.linalg.eigvalsh(matrix)[-count:]
    np.testing.assert_allclose(values, expected, atol=1e-10)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), atol=1e-10)


@pytest.mark.parametrize("count", [1, 3, 6, 9])
def test_pairs(count):
    x = np.random.default_rng(0).normal(size=(6, 6))
    check(x + x.T, count)


def test_if_lapack_fails(monkeypatch):
    def failing(*args, **options):
        raise np.linalg.LinAlgError("Internal Error.")

    monkeypatch.setattr(scipy.linalg, "eigh", failing)
    check(np.diag([3.0, 1.0, 2.0]), 2)


def test_copies_of_a_row():
    """Found by fuzzing: LAPACK reports an internal error for the graph of such rows."""
    for n_rows in (12, 30, 90):
        for solver in ("admm", "omp", "elastic_net"):
            with pytest.warns(ConvergenceWarning, match="Only 1 of n_clusters=3"):
                labels = SSC(3, solver=solver, random_state=0).fit(np.ones((n_rows, 3))).labels_
            assert set(labels) == {0}
