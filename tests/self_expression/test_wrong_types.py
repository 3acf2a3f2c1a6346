"""Public functions refuse arguments of the wrong type by name."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from subspaces.self_expression import ADMM, affinity, homogeneous, self_codes, typical_length

X = np.eye(3)
WRONG = [
    None,
    3,
    "rows",
    [],
    [[1, "a"]],
    {},
    np.zeros((2, 2, 2)),
    np.array([np.nan]),
    np.zeros((0, 3)),
    np.eye(3, dtype=int),
]


@pytest.mark.parametrize("x", WRONG, ids=repr)
def test_rows(x):
    for function in (
        lambda: self_codes(x, ADMM(), affine=False),
        lambda: homogeneous(x, 1.0),
        lambda: typical_length(x),
    ):
        with pytest.raises(TypeError, match=r"^x (is|holds) .*: pass"):
            function()


@pytest.mark.parametrize("solver", [None, "admm", ADMM], ids=repr)
def test_solvers(solver):
    with pytest.raises(TypeError, match=r"solver=.* must be a solver"):
        self_codes(X, solver, affine=False)


@pytest.mark.parametrize("length", [None, "a", [], np.nan, -1], ids=repr)
def test_lengths(length):
    with pytest.raises((TypeError, ValueError), match="length="):
        homogeneous(X, length)


@pytest.mark.parametrize("codes", [None, 3, "codes", X, csr_matrix((2, 3))], ids=repr)
def test_codes(codes):
    with pytest.raises(TypeError, match=r"codes is .*: pass a sparse matrix"):
        affinity(codes)
