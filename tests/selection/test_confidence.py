"""How sure labels are: confidence by hand, what halves of the landmarks say, the warning."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

from examples import planted_graph, ring_graph
from subspaces.selection.clustering import Clustering
from subspaces.selection.confidence import (
    COIN_TOSS,
    confidence,
    half_confidence,
    half_opinions,
    warn_if_coin_toss,
)
from subspaces.selection.voting import matched, named_opinion

few = settings(max_examples=25, deadline=None)


def random_labels(seed, n_clusters=4, n=30):
    return np.random.default_rng(seed).integers(0, n_clusters, (2, n)).astype(np.int32)


def draw_of(P, labels, features=None):
    """A draw with these weights (n, D) and labels (n,), all rows inliers."""
    return Clustering(features, csr_matrix(P), np.arange(len(P)), None, None, None, None, np.asarray(labels, np.int32))


def separate_graph(n_clusters):
    """Rows with all landmarks of their own cluster and no other, so some in each half: P (n, D), labels (n,)."""
    labels = np.repeat(np.arange(n_clusters, dtype=np.int32), 40)
    own = np.repeat(np.arange(n_clusters), 12) == labels[:, None]
    weights = own * np.random.default_rng(0).uniform(0.2, 1, own.shape)
    return weights / weights.sum(axis=1, keepdims=True), labels


class TestConfidence:
    opinions = (
        np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]]),
        np.array([[1.0, 0.0], [0.2, 0.8], [0.0, 1.0], [0.5, 0.5]]),
    )

    def test_by_hand(self):
        labels = np.array([0, 0, 1, 1], np.int32)
        found = confidence(labels, list(self.opinions), np.arange(4))
        np.testing.assert_allclose(found.rows, [0.95, 0.4, 0.9, 0.6])
        # The first opinion has the same clusters. The second, whose tie goes to 0, has every pair apart that the labels
        # have together: of six pairs two thirds of one would agree by chance and two could, (0 - 2/3) / (2 - 2/3).
        assert found.overall == pytest.approx((1 - 0.5) / 2)

    def test_overall_agreement_is_that_of_inliers(self):
        labels = np.array([0, 0, 1, 1], np.int32)
        found = confidence(labels, list(self.opinions), np.array([0, 2]))
        assert found.overall == 1
        np.testing.assert_allclose(found.rows, [0.95, 0.4, 0.9, 0.6])

    @few
    @given(st.integers(0, 10_000))
    def test_order_of_rows_and_names_of_clusters(self, seed):
        rng = np.random.default_rng(seed)
        labels, opinions = random_labels(seed)[0], list(rng.dirichlet(np.ones(4), (3, 30)))
        order, names = rng.permutation(30), rng.permutation(4)
        inliers = np.flatnonzero(rng.random(30) < 0.8)
        plain = confidence(labels, opinions, inliers)
        moved = confidence(
            names[labels][order], [each[order][:, np.argsort(names)] for each in opinions], np.argsort(order)[inliers]
        )
        np.testing.assert_allclose(moved.rows, plain.rows[order])
        assert moved.overall == pytest.approx(plain.overall)
        assert ((plain.rows >= 0) & (plain.rows <= 1)).all()

    def test_float32_stays_float32(self):
        found = confidence(np.array([0, 1], np.int32), [np.eye(2, dtype=np.float32)] * 2, np.arange(2))
        assert found.rows.dtype == np.float32


class TestHalves:
    def test_separate_clusters_have_full_confidence(self):
        P, labels = separate_graph(3)
        found = half_opinions(draw_of(P, labels), 3, kind="balanced", rng=np.random.RandomState(0))
        assert len(found) == 2
        for each in found:
            np.testing.assert_allclose(each.sum(axis=1), 1)
        known = confidence(labels, found, np.arange(len(P)))
        assert known.overall == 1
        np.testing.assert_allclose(known.rows, 1)

    def test_a_row_without_landmarks_in_a_half_has_equal_shares_there(self):
        P, labels = separate_graph(2)
        P[0] = 0
        P[0, 3] = 1
        found = half_opinions(draw_of(P, labels), 2, kind="balanced", rng=np.random.RandomState(0))
        shares = [tuple(np.round(each[0], 12)) for each in found]
        # The landmark is in one half of each cut.
        assert sorted(shares) == [(0.5, 0.5), (1, 0)]
        assert confidence(labels, found, np.arange(len(P))).rows[0] == pytest.approx(0.75)

    def test_a_ring_has_low_agreement(self):
        P, _ = ring_graph([150])
        labels = (np.arange(150) // 50).astype(np.int32)
        found = half_opinions(draw_of(P, labels), 3, kind="balanced", rng=np.random.RandomState(0))
        assert confidence(labels, found, np.arange(150)).overall < 0.8

    def test_the_confidence_is_that_of_one_split_even_if_halves_disagree(self):
        P, _ = ring_graph([150])
        draw = draw_of(P, np.arange(150) // 50)
        found = half_confidence(draw, 3, kind="balanced", rng=np.random.RandomState(0))
        halves = half_opinions(draw, 3, kind="balanced", rng=np.random.RandomState(0))
        expected = confidence(draw.labels, halves, draw.inliers, together=named_opinion(draw, draw.labels, 3))
        assert found.overall == expected.overall < 0.8
        np.testing.assert_array_equal(found.rows, expected.rows)

    def test_opinions_do_not_follow_the_labels(self):
        # Clusters are named after the labels, and made without them.
        P, truth = separate_graph(2)
        labels = np.random.default_rng(1).integers(0, 2, len(P)).astype(np.int32)
        found = half_opinions(draw_of(P, labels), 2, kind="balanced", rng=np.random.RandomState(0))
        known = confidence(labels, found, np.arange(len(P)))
        assert abs(known.overall) < 0.1
        assert confidence(matched(truth, found[0].argmax(axis=1), 2), found, np.arange(len(P))).overall == 1

    @pytest.mark.parametrize(("P", "n_clusters"), [(np.ones((5, 1)), 2), (np.full((5, 4), 0.25), 1)])
    def test_nothing_to_disagree_about(self, P, n_clusters):
        found = half_opinions(draw_of(P, np.zeros(5)), n_clusters, kind="auto", rng=np.random.RandomState(0))
        np.testing.assert_array_equal(confidence(np.zeros(5, np.int32), found, np.arange(5)).rows, 1)

    def test_same_seed_same_opinions(self):
        P, labels = planted_graph((40, 40, 40), per_cluster=12, stray=0.4)
        first, second, other = (
            half_opinions(draw_of(P, labels), 3, kind="auto", rng=np.random.RandomState(seed)) for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(first, second)
        assert not np.array_equal(first, other)


class TestWarning:
    def test_the_warning_gives_the_agreement(self):
        with pytest.warns(ConvergenceWarning, match=r"agreement 0\.12.*choice_ and confidence_"):
            warn_if_coin_toss(0.123, by_flats=False)

    def test_is_silent_from_the_limit_on(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warn_if_coin_toss(COIN_TOSS, by_flats=False)
        with pytest.warns(ConvergenceWarning):
            warn_if_coin_toss(COIN_TOSS - 1e-6, by_flats=False)

    @pytest.mark.parametrize(("by_flats", "varied"), [(True, "Halves of the rows"), (False, "Other landmarks")])
    def test_the_warning_says_what_was_varied(self, by_flats, varied):
        with pytest.warns(ConvergenceWarning, match=f"^{varied} give other clusters"):
            warn_if_coin_toss(0.1, by_flats=by_flats)
