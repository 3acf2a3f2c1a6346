"""Block products against the eigenvectors of the D x D matrix."""

import numpy as np
import pytest

from subspaces.spectral import block_iteration
from subspaces.spectral.block_iteration import block_lanczos


def problem(values, width=120, seed=0):
    """A symmetric matrix (width, width) with these leading eigenvalues after the trivial one, which is one."""
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.normal(size=(width, width)))[0]
    spectrum = np.concatenate([[1.0], values, rng.uniform(0, min(values) / 2, width - 1 - len(values))])
    return (vectors * spectrum) @ vectors.T, vectors[:, 0], vectors[:, 1 : 1 + len(values)]


@pytest.mark.parametrize("values", [(0.9, 0.8, 0.7), (1.0, 1.0, 0.5), (0.3, 0.2999, 0.1)], ids=str)
def test_leading_eigenvectors(values):
    matrix, trivial, vectors = problem(values)
    found = block_lanczos(lambda block: matrix @ block, trivial, 3, tolerance=1e-10)
    np.testing.assert_allclose(found[0], values, atol=1e-12)
    np.testing.assert_allclose(np.linalg.svd(found[1].T @ vectors)[1], 1, atol=1e-9)
    np.testing.assert_allclose(found[1].T @ found[1], np.eye(3), atol=1e-12)
    np.testing.assert_allclose(trivial @ found[1], 0, atol=1e-9)


@pytest.mark.parametrize("width", [4, 13, 30])
def test_few_columns(width):
    matrix, trivial, _ = problem((0.9, 0.6, 0.5), width=width)
    found = block_lanczos(lambda block: matrix @ block, trivial, 3, tolerance=1e-10)
    np.testing.assert_allclose(found[0], (0.9, 0.6, 0.5), atol=1e-10)


def test_matrix_of_low_rank():
    matrix, trivial, vectors = problem((0.9, 0.5))
    matrix = np.outer(trivial, trivial) + (vectors * [0.9, 0.5]) @ vectors.T
    found = block_lanczos(lambda block: matrix @ block, trivial, 4, tolerance=1e-10)
    np.testing.assert_allclose(found[0], (0.9, 0.5, 0, 0), atol=1e-12)
    np.testing.assert_allclose(found[1].T @ found[1], np.eye(4), atol=1e-10)


def test_few_passes(monkeypatch):
    matrix, trivial, _ = problem((0.9, 0.8, 0.7), width=500)
    calls = []
    block_lanczos(lambda block: calls.append(block.shape) or matrix @ block, trivial, 3, tolerance=1e-6)
    assert len(calls) < 15
    assert set(calls) == {(500, 3 + block_iteration.SPARE_VECTORS)}
    monkeypatch.setattr(block_iteration, "MOST_PASSES", 2)
    assert block_lanczos(lambda block: matrix @ block, trivial, 3, tolerance=1e-6) is None
