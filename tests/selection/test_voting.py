"""Labels from landmarks: names of clusters beside all permutations, and shares by hand."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from subspaces.selection.voting import Voter, matched, matching, opinion, vote

few = settings(max_examples=25, deadline=None)


def random_labels(seed, n_clusters=4, n=30):
    return np.random.default_rng(seed).integers(0, n_clusters, (2, n)).astype(np.int32)


class Fixed:
    """A feature map whose psi is known; rows are their own indices."""

    def __init__(self, psi):
        self.psi = csr_matrix(psi)

    def blocks(self, rows):
        index = rows[:, 0].astype(int)
        for part in (index[: len(index) // 2], index[len(index) // 2 :]):
            yield self.psi[part]


class TestMatched:
    @few
    @given(st.integers(0, 10_000), st.integers(1, 4))
    def test_names_share_as_many_rows_as_possible(self, seed, n_clusters):
        labels, other = random_labels(seed, n_clusters)
        found = matched(labels, other, n_clusters)
        best = max((np.array(names)[other] == labels).sum() for names in permutations(range(n_clusters)))
        assert (found == labels).sum() == best

    @few
    @given(st.integers(0, 10_000))
    def test_clusters_keep_their_rows(self, seed):
        labels, other = random_labels(seed)
        found = matched(labels, other, 4)
        assert len(set(zip(other, found, strict=True))) == len(set(other)) == len(set(found))
        assert found.dtype == np.int32

    @few
    @given(st.integers(0, 10_000))
    def test_names_do_not_matter(self, seed):
        labels, _ = random_labels(seed)
        names = np.random.default_rng(seed).permutation(4)
        np.testing.assert_array_equal(matched(labels, names[labels].astype(np.int32), 4), labels)

    def test_names_are_a_permutation(self):
        labels, other = random_labels(0)
        names = matching(labels, other, 4)
        assert sorted(names) == [0, 1, 2, 3]
        np.testing.assert_array_equal(names[other], matched(labels, other, 4))

    def test_empty_clusters(self):
        labels, other = np.array([0, 0, 2, 2], np.int32), np.array([1, 1, 1, 3], np.int32)
        found = matched(labels, other, 4)
        np.testing.assert_array_equal(found[:3], 0)
        assert found[3] == 2


class TestOpinion:
    def test_by_hand(self):
        psi = csr_matrix([[0.5, 0.5, 0], [0, 0.2, 0.8], [0, 0, 0]])
        scores = np.array([[1.0, 0], [0.5, 0.5], [0, 1]])
        np.testing.assert_allclose(opinion(psi, scores), [[0.75, 0.25], [0.1, 0.9], [0.5, 0.5]])

    def test_unknown_landmarks_do_not_count(self):
        # The second landmark had no rows, so it belongs to nothing.
        psi = csr_matrix([[0.25, 0.75], [0, 1.0]])
        np.testing.assert_allclose(opinion(psi, np.array([[0.8, 0.2], [0, 0]])), [[0.8, 0.2], [0.5, 0.5]])

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_shares_sum_to_one_in_the_type_of_the_rows(self, dtype):
        rng = np.random.default_rng(0)
        found = opinion(csr_matrix(rng.random((20, 6)).astype(dtype)), rng.random((6, 3)))
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-6)
        assert found.dtype == dtype


class TestVoters:
    def test_blocks_of_rows_are_put_together(self):
        P = np.random.default_rng(0).dirichlet(np.ones(4), 7)
        scores = np.random.default_rng(1).dirichlet(np.ones(2), 4)
        np.testing.assert_allclose(Voter(Fixed(P), scores, False).shares(np.arange(7)[:, None]), P @ scores)

    def test_a_vote_is_the_largest_sum(self):
        opinions = [np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([[0.3, 0.7], [0.2, 0.8]])]
        found = vote(opinions)
        np.testing.assert_array_equal(found, [0, 1])
        assert found.dtype == np.int32
