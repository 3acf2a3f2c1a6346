"""Graphs of kernels given by features with signs: degrees below zero, and the tie that lifts them; modularity."""

import numpy as np
import pytest

from subspaces.kernels import FourierFeatures
from subspaces.spectral.kernel_graph import kernel_modularity, smallest_tie, with_constant
from subspaces.spectral.partition import cluster_shares


@pytest.fixture
def narrow():
    """Rows with few neighbours, and random features of a narrow kernel."""
    X = np.random.default_rng(0).normal(size=(200, 6))
    return X, FourierFeatures(60, sigma=0.5, random_state=0).fit(X)


def test_estimated_degrees_can_be_negative(narrow):
    X, features = narrow
    psi = features.transform(X)
    assert (psi @ psi.sum(axis=0)).min() < 0


def test_a_tie_lifts_every_degree(narrow):
    X, features = narrow
    tie = smallest_tie(lambda: features.blocks(X))
    psi = with_constant(features.transform(X), tie)
    degrees = psi @ psi.sum(axis=0)
    assert degrees.min() == pytest.approx(0.1 * degrees.mean())
    np.testing.assert_allclose(psi @ psi.T - tie, features.transform(X) @ features.transform(X).T, atol=1e-12)


def test_no_tie_without_signs():
    psi = np.abs(np.random.default_rng(0).normal(size=(30, 5)))
    assert smallest_tie(lambda: iter((psi,))) == 0
    assert with_constant(psi, 0.0) is psi


def test_modularity_of_a_kernel():
    psi = np.random.default_rng(0).normal(size=(20, 4)) + 1
    labels = np.random.default_rng(1).integers(0, 3, 20).astype(np.int32)
    weights = psi @ psi.T / (psi @ psi.T).sum()
    expected = sum(
        weights[i, j] * (labels[i] == labels[j]) - weights[i].sum() * weights[j].sum() * (labels[i] == labels[j])
        for i in range(20)
        for j in range(20)
    )
    assert kernel_modularity(cluster_shares(psi, labels, 3)) == pytest.approx(expected)
