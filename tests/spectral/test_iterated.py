"""Iterated eigenvectors of sparse psi against those of the D x D matrix, and of graphs in pieces."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from scipy.sparse import csr_matrix, hstack
from scipy.sparse.linalg import ArpackNoConvergence

from subspaces.spectral import iterated
from subspaces.spectral.iterated import LEAST_WIDTH, sparse_spectrum
from subspaces.spectral.spectrum import compute_spectrum, embed

N, WIDTH = 2 * LEAST_WIDTH, LEAST_WIDTH + 50


def graph(n_columns, pieces=1, n_nearest=5, n=N, width=WIDTH, seed=0):
    """psi (n, width) of random points: weights of the nearest of the first `width`, which are far between pieces."""
    rng = np.random.default_rng(seed)
    points = rng.random((n, n_columns)) + 100 * (np.arange(n) % pieces)[:, None]
    psi = np.zeros((n, width))
    squares = ((points[:, None] - points[:width]) ** 2).sum(axis=2)
    nearest = np.argsort(squares, axis=1)[:, :n_nearest]
    np.put_along_axis(psi, nearest, 0.2 + rng.random(nearest.shape), axis=1)
    return csr_matrix(psi / psi.sum(axis=1, keepdims=True))


def by_blocks(psi, count):
    return compute_spectrum(lambda: iter((psi,)), count, balanced=True)


@pytest.mark.parametrize(("n_columns", "n_nearest"), [(1, 5), (2, 5), (8, 8)])
def test_eigenvectors_are_those_of_the_matrix(n_columns, n_nearest):
    psi = graph(n_columns, n_nearest=n_nearest)
    found, expected = sparse_spectrum(psi, 6), by_blocks(psi, 6)
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, atol=1e-10)
    np.testing.assert_allclose(embed(psi, found), embed(psi, expected), atol=1e-6)
    np.testing.assert_allclose(found.degree, expected.degree)
    np.testing.assert_allclose(found.weights, expected.weights)


def test_both_ways_to_iterate_are_tested():
    entries = [(psi.T @ psi).nnz / WIDTH for psi in (graph(1), graph(2), graph(8, n_nearest=8))]
    assert entries[0] < entries[1] < iterated.MOST_ENTRIES < entries[2]


class TestPieces:
    @pytest.mark.parametrize("count", [2, 4, 9])
    def test_span_is_that_of_the_matrix(self, count):
        psi = graph(2, pieces=5)
        found, expected = sparse_spectrum(psi, count), by_blocks(psi, count)
        np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, atol=1e-10)
        assert np.count_nonzero(found.eigenvalues > 1 - 1e-9) == min(count, 4)
        embedding = embed(psi, found)
        np.testing.assert_allclose(embedding.T @ embedding, np.eye(count), atol=1e-8)
        np.testing.assert_allclose(embedding.sum(axis=0), 0, atol=1e-8)
        if count >= 4:
            assert reference.principal_angles(embedding, embed(psi, expected)).max() < 1e-6

    def test_first_vectors_separate_the_largest_pieces(self):
        sizes = (50, 300, 150)
        rng = np.random.default_rng(0)
        labels = np.repeat(np.arange(3), sizes)
        owners = np.sort(rng.integers(3, size=WIDTH))
        dense = (labels[:, None] == owners) * (rng.random((len(labels), WIDTH)) < 0.05)
        dense[np.arange(len(labels)), [rng.choice(np.flatnonzero(owners == k)) for k in labels]] = 1
        psi = csr_matrix(dense / dense.sum(axis=1, keepdims=True))
        first = embed(psi, sparse_spectrum(psi, 1))[:, 0]
        assert np.ptp(first[labels == 1]) < 1e-9
        assert np.ptp(first[labels != 1]) < 1e-9
        assert abs(first[labels == 1][0] - first[labels != 1][0]) > 0.01

    def test_landmarks_without_rows_do_not_count(self):
        psi = graph(2, pieces=2)
        wider = csr_matrix(hstack([psi, csr_matrix((N, 30))]))
        found, expected = sparse_spectrum(wider, 5), sparse_spectrum(psi, 5)
        np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, atol=1e-10)
        np.testing.assert_allclose(embed(wider, found), embed(psi, expected), atol=1e-6)


def test_float32_stays_and_is_accurate():
    psi = graph(3)
    found = embed(psi.astype(np.float32), sparse_spectrum(psi.astype(np.float32), 4))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, embed(psi, sparse_spectrum(psi, 4)), atol=1e-3)


def test_small_and_dense_matrices_are_not_iterated(monkeypatch):
    monkeypatch.setattr(iterated, "_lanczos", None)
    for psi, count in ((graph(2, width=LEAST_WIDTH // 2), 4), (graph(2, n_nearest=100), 4), (graph(2), WIDTH // 2)):
        np.testing.assert_allclose(sparse_spectrum(psi, count).eigenvalues, by_blocks(psi, count).eigenvalues)


def test_falls_back_if_lanczos_does_not_converge(monkeypatch):
    def fail(*_, **__):
        raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))

    psi = graph(2)
    monkeypatch.setattr(iterated, "eigsh", fail)
    np.testing.assert_array_equal(sparse_spectrum(psi, 4).eigenvalues, by_blocks(psi, 4).eigenvalues)


def test_nothing_is_left_beside_the_pieces():
    """No vector to start with is no reason to fail."""
    everything = csr_matrix(np.eye(30))
    assert iterated._lanczos(lambda vector: vector, everything, 3, 1e-10) is None
