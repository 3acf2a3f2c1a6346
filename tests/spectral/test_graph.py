"""Spectral clustering of sparse graphs: the dense oracle, graphs that fall apart, and how many eigenvectors."""

import numpy as np
import pytest
import reference_codes
from scipy.sparse import block_diag, csr_matrix, random_array
from scipy.sparse.linalg import ArpackNoConvergence

from subspaces.flats.angles import principal_angles
from subspaces.metrics import clustering_accuracy
from subspaces.spectral import graph


def blocks(sizes, *, density=0.3, seed=0):
    """A graph of separate random pieces, each connected by a path."""
    rng = np.random.default_rng(seed)
    pieces = []
    for size in sizes:
        piece = random_array((size, size), density=density, random_state=rng).tolil()
        for i in range(size - 1):
            piece[i, i + 1] = 0.5
        pieces.append(piece.tocsr())
    weights = csr_matrix(block_diag(pieces))
    weights.setdiag(0)
    return weights + weights.T, np.repeat(np.arange(len(sizes)), sizes)


def joined(sizes, *, strength, seed=0):
    weights, labels = blocks(sizes, seed=seed)
    bridges = random_array(weights.shape, density=0.02, random_state=np.random.default_rng(seed))
    return (weights + strength * (bridges + bridges.T)).tocsr(), labels


@pytest.mark.parametrize("n", [120, 700])
def test_vectors_span_those_of_the_normalised_laplacian(n):
    weights, _ = joined([n // 3] * 3, strength=0.2)
    ours = graph.spectral_vectors(weights, 3, tie=0.0, rng=np.random.RandomState(0))
    _, exact = reference_codes.normalised_laplacian_vectors(weights.toarray(), 3)
    np.testing.assert_allclose(principal_angles(ours, exact), 0, atol=1e-6)


def test_ties_are_weights_between_all_nodes():
    weights, _ = joined([30, 30], strength=0.2)
    tie = graph.GRAPH_TIE * weights.sum() / 60 / 60
    ours = graph.spectral_vectors(weights, 2, rng=np.random.RandomState(0))
    _, exact = reference_codes.normalised_laplacian_vectors(weights.toarray() + tie, 2)
    np.testing.assert_allclose(principal_angles(ours, exact), 0, atol=1e-6)


@pytest.mark.parametrize("sizes", [[40, 40, 40], [300, 200, 150]])
@pytest.mark.parametrize("seed", [0, 1])
def test_pieces_are_found(sizes, seed):
    weights, labels = joined(sizes, strength=0.05, seed=seed)
    found = graph.spectral_labels(weights, 3, rng=np.random.RandomState(seed))
    assert clustering_accuracy(labels, found) == 1
    assert found.dtype == np.int32


@pytest.mark.parametrize("sizes", [[60, 50, 2, 1, 1], [400, 300, 3, 2, 1]])
def test_stray_pieces_are_not_clusters(sizes):
    weights, labels = blocks(sizes)
    found = graph.spectral_labels(weights, 2, rng=np.random.RandomState(0))
    large = labels < 2
    assert clustering_accuracy(labels[large], found[large]) == 1


def test_order_of_nodes_does_not_matter():
    weights, _ = joined([40, 40, 40], strength=0.1)
    order = np.random.default_rng(0).permutation(120)
    found = graph.spectral_labels(weights, 3, rng=np.random.RandomState(0))
    moved = graph.spectral_labels(weights[order][:, order], 3, rng=np.random.RandomState(0))
    assert clustering_accuracy(found[order], moved) == 1


def test_the_largest_modularity_chooses_how_many_vectors():
    # One vector cannot tell three pieces apart, and six see more than the pieces.
    weights, labels = joined([60, 60, 60], strength=0.3, seed=3)
    steps = graph.row_stochastic(weights)

    def modularity(found):
        return graph.modularity(graph.cluster_shares(steps, found, 3))

    alone = [graph.spectral_labels(weights, 3, counts=[q], rng=np.random.RandomState(0)) for q in (1, 2, 3, 6)]
    together = graph.spectral_labels(weights, 3, counts=[1, 2, 3, 6], rng=np.random.RandomState(0))
    assert modularity(together) >= max(map(modularity, alone)) - 0.01
    assert clustering_accuracy(labels, together) > 0.95


def test_the_normalised_cut_by_hand():
    weights = csr_matrix([[0, 2.0, 1], [2, 0, 0], [1, 0, 0]])
    assert graph.normalised_cut(weights, np.array([0, 0, 1]), 2) == pytest.approx(1 / 5 + 1)
    assert graph.normalised_cut(weights, np.array([0, 0, 0]), 2) == pytest.approx(1)


def test_a_small_cluster_is_not_lost_to_an_even_cut():
    # The cut between the halves of the large piece has a larger modularity than that between the large and small piece.
    half = np.repeat([0, 1], 100)
    edges = np.triu(np.random.default_rng(0).random((200, 200)) < np.where(half == half[:, None], 0.15, 0.05), 1)
    weights = block_diag([edges + edges.T, np.ones((12, 12)) - np.eye(12)]).tolil()
    weights[0, 200] = weights[200, 0] = 0.1
    labels, steps = np.repeat([0, 1], [200, 12]), graph.row_stochastic(weights.tocsr())
    even, right = (
        graph.modularity(graph.cluster_shares(steps, y, 2)) for y in (np.append(half, np.zeros(12, int)), labels)
    )
    assert even > right
    found = graph.spectral_labels(weights.tocsr(), 2, counts=[2, 3], rng=np.random.RandomState(0))
    assert clustering_accuracy(labels, found) == 1


@pytest.mark.parametrize("n", [5, 800])
def test_a_graph_without_edges_is_one_cluster(n):
    assert not graph.spectral_labels(csr_matrix((n, n)), 3, rng=np.random.RandomState(0)).any()


def test_one_cluster_needs_no_eigenvectors():
    assert not graph.spectral_labels(joined([5, 5], strength=1)[0], 1, rng=np.random.RandomState(0)).any()


def test_more_clusters_than_nodes_have_vectors_for():
    weights, _ = blocks([3, 3])
    assert graph.spectral_labels(weights, 6, counts=[4, 9], rng=np.random.RandomState(0)).shape == (6,)


def test_a_dense_solver_replaces_lanczos_if_it_fails(monkeypatch):
    weights, labels = joined([300, 300], strength=0.05)

    def fails(*arguments, **options):
        raise ArpackNoConvergence("no", np.empty(0), np.empty((600, 0)))

    monkeypatch.setattr(graph, "eigsh", fails)
    found = graph.spectral_labels(weights, 2, rng=np.random.RandomState(0))
    assert clustering_accuracy(labels, found) == 1
