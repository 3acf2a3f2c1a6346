"""Modularity against the double sum, what leaves it as it is, and the shares it is made of."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from examples import planted_graph, random_graph, ring_graph
from subspaces.spectral.modularity import cluster_shares, landmark_scores, modularity, modularity_terms, row_stochastic

few = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10_000)


class TestModularity:
    @few
    @given(seed=seeds, k=st.integers(1, 5))
    def test_matches_the_double_sum(self, seed, k):
        rng = np.random.default_rng(seed)
        P, labels = random_graph(rng), rng.integers(k, size=40).astype(np.int32)
        shares = cluster_shares(csr_matrix(P), labels, k)
        np.testing.assert_allclose(shares, reference.cluster_landmark_shares(P, labels, k), atol=1e-14)
        assert modularity(shares) == pytest.approx(reference.modularity(P, labels, k), abs=1e-12)

    @few
    @given(seed=seeds, k=st.integers(1, 5))
    def test_is_the_mean_of_its_terms(self, seed, k):
        rng = np.random.default_rng(seed)
        P, labels = random_graph(rng), rng.integers(k, size=40).astype(np.int32)
        terms = modularity_terms(csr_matrix(P), labels, k)
        np.testing.assert_allclose(terms, reference.modularity_terms(P, labels, k), atol=1e-12)
        assert terms.mean() == pytest.approx(modularity(cluster_shares(csr_matrix(P), labels, k)), abs=1e-12)

    def test_one_cluster_has_no_modularity(self):
        P = random_graph(np.random.default_rng(0))
        assert modularity(cluster_shares(P, np.zeros(40, np.int32), 1)) == pytest.approx(0, abs=1e-14)

    @pytest.mark.parametrize("k", [2, 5])
    def test_clean_clusters_have_the_most_there_is(self, k):
        P, labels = planted_graph((30,) * k, stray=0)
        assert modularity(cluster_shares(P, labels, k)) == pytest.approx(1 - 1 / k)

    def test_names_and_empty_clusters_do_not_matter(self):
        P, labels = planted_graph()
        renamed = np.array([5, 0, 2])[labels]
        expected = modularity(cluster_shares(P, labels, 3))
        assert modularity(cluster_shares(P, renamed, 7)) == pytest.approx(expected)

    @few
    @given(seed=seeds, k=st.integers(1, 5))
    def test_the_order_of_rows_and_landmarks_does_not_matter(self, seed, k):
        rng = np.random.default_rng(seed)
        P, labels = random_graph(rng), rng.integers(k, size=40).astype(np.int32)
        rows, landmarks = rng.permutation(40), rng.permutation(12)
        moved = csr_matrix(P[rows][:, landmarks])
        terms = modularity_terms(moved, labels[rows], k)
        np.testing.assert_allclose(terms, modularity_terms(csr_matrix(P), labels, k)[rows], atol=1e-12)
        assert modularity(cluster_shares(moved, labels[rows], k)) == pytest.approx(terms.mean(), abs=1e-12)

    def test_halves_of_a_large_cluster_have_more_than_a_large_and_a_small_one(self):
        """What modularity is wrong about, and separation is for."""
        P, labels = ring_graph((1000, 50))
        halves = (np.arange(1050) >= 500).astype(np.int32)
        truth, wrong = (modularity(cluster_shares(P, each, 2)) for each in (labels, halves))
        assert truth < 0.1
        assert wrong > 0.4

    def test_every_row_its_own_cluster_and_landmark(self):
        P, labels = np.eye(6), np.arange(6, dtype=np.int32)
        assert modularity(cluster_shares(P, labels, 6)) == pytest.approx(1 - 1 / 6)
        np.testing.assert_allclose(modularity_terms(csr_matrix(P), labels, 6), 1 - 1 / 6)

    def test_one_row_has_no_modularity(self):
        psi = csr_matrix([[0.25, 0.0, 0.75]])
        assert modularity_terms(psi, np.zeros(1, np.int32), 1) == pytest.approx([0])
        # In a cluster of its own among others without rows.
        assert modularity_terms(psi, np.full(1, 2, np.int32), 4) == pytest.approx([0])


class TestShares:
    def test_are_the_same_of_dense_and_sparse_rows(self):
        rng = np.random.default_rng(0)
        P, labels = random_graph(rng), rng.integers(4, size=40).astype(np.int32)
        dense, sparse = cluster_shares(P, labels, 6), cluster_shares(csr_matrix(P), labels, 6)
        assert dense.shape == (6, 12)
        np.testing.assert_allclose(sparse, dense, atol=1e-15)
        assert dense.sum() == pytest.approx(1)

    def test_of_float32_are_summed_in_double_precision(self):
        P = np.full((30_000, 1), 0.1, np.float32)
        for psi in (P, csr_matrix(P)):
            shares = cluster_shares(psi, np.zeros(30_000, np.int32), 1)
            assert shares.dtype == np.float64
            assert shares[0, 0] == pytest.approx(float(np.float32(0.1)), rel=1e-12)

    def test_scores_share_each_landmark_out(self):
        rng = np.random.default_rng(0)
        P, labels = random_graph(rng), rng.integers(4, size=40)
        scores = landmark_scores(cluster_shares(P, labels, 4))
        used = P.sum(axis=0) > 0
        np.testing.assert_allclose(scores.sum(axis=1), used, atol=1e-14)
        expected = reference.affinities(P, reference.cluster_landmark_shares(P, labels, 4))
        np.testing.assert_allclose(P @ scores, expected, atol=1e-14)

    @pytest.mark.parametrize("form", [np.asarray, csr_matrix])
    def test_rows_are_scaled_to_sum_one(self, form):
        psi = np.array([[1.0, 3.0], [0.0, 0.0], [0.2, 0.0]])
        scaled = row_stochastic(form(psi))
        assert type(scaled) is type(form(psi))
        dense = scaled if isinstance(scaled, np.ndarray) else scaled.toarray()
        np.testing.assert_allclose(dense, [[0.25, 0.75], [0, 0], [1, 0]])

    def test_landmarks_with_tiny_weight(self):
        """Squares and inverses of such weights leave the range of floats; what they stand for does not."""
        P = np.array([[1, 1e-222, 0, 1e-310], [1, 0, 1e-155, 0], [0, 1e-222, 1, 0], [0, 0, 1, 0]])
        labels = np.array([0, 0, 1, 1], np.int32)
        shares = cluster_shares(csr_matrix(P), labels, 2)
        scores = landmark_scores(shares)
        np.testing.assert_allclose(scores[:3], [[1, 0], [0.5, 0.5], [5e-156, 1]], atol=1e-300)
        assert np.isfinite(scores).all()
        assert modularity(shares) == pytest.approx(0.5)
        np.testing.assert_allclose(modularity_terms(csr_matrix(P), labels, 2), 0.5)

    @pytest.mark.parametrize("form", [np.asarray, csr_matrix])
    def test_rows_of_any_size_are_scaled_to_sum_one(self, form):
        psi = np.array([[1.0, 3.0, 0.0]]) * np.array([[1e-222], [1e-12], [1.0], [1e222]])
        scaled = row_stochastic(form(psi))
        dense = scaled if isinstance(scaled, np.ndarray) else scaled.toarray()
        np.testing.assert_allclose(dense, [[0.25, 0.75, 0]] * 4)
