"""Several draws: names of clusters beside all permutations, shares by hand, which draw is trusted, votes."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.metrics import adjusted_rand_score
from test_confidence import draw_of, separate_graph

from examples import ring_graph
from subspaces.metrics import clustering_accuracy
from subspaces.selection.partition import PartitionChoice, choose_partition
from subspaces.selection.thresholds import SEPARATION_MARGIN, SURE_AGREEMENT
from subspaces.selection.voting import (
    Voter,
    elect,
    is_doubtful,
    matched,
    matched_voters,
    matching,
    of_one_kind,
    opinion,
    rank_clusterings,
    with_kind,
)
from subspaces.spectral.partition import Partition, assign, partition_of_labels
from subspaces.spectral.spectrum import compute_spectrum

few = settings(max_examples=25, deadline=None)


def random_labels(seed, n_clusters=4, n=30):
    return np.random.default_rng(seed).integers(0, n_clusters, (2, n)).astype(np.int32)


def voters_of(graphs, labels, n_clusters=3):
    draws = [draw_of(P, own, Fixed(P)) for P, own in zip(graphs, labels, strict=True)]
    return matched_voters(draws, n_clusters)


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


class TestRanking:
    def draws(self, *labels):
        """Draws of these labels."""
        return [draw_of(np.eye(len(own)), own) for own in labels]

    def test_by_hand(self):
        truth = np.repeat([0, 1], 20)
        near = truth.copy()
        near[0] = 1
        chance = np.tile([0, 1], 20)
        found = rank_clusterings(self.draws(chance, truth, near))
        close, far = adjusted_rand_score(truth, near), adjusted_rand_score(truth, chance)
        assert found.agreements[1] == pytest.approx((close + far) / 2)
        assert found.best in (1, 2)
        assert close > SURE_AGREEMENT
        assert sorted(found.voters.tolist()) == [1, 2]

    def test_names_do_not_matter(self):
        truth = np.repeat([0, 1], 20)
        found = rank_clusterings(self.draws(truth, 1 - truth, truth))
        np.testing.assert_allclose(found.agreements, 1)
        assert found.voters.tolist() == [0, 1, 2]


class TestDoubt:
    """A draw of two clusters that knows a balanced partition and a better separated one."""

    def draw(self, gain, *, chosen="balanced", separation=1.0):
        P, truth = separate_graph(2)
        psi = csr_matrix(P)
        spectrum = compute_spectrum(lambda: iter((psi,)), 3, balanced=True)
        astray = np.where(np.arange(len(truth)) < 10, 1 - truth, truth).astype(np.int32)
        balanced, density = (
            replace(partition_of_labels(psi, labels, 2, spectrum, "parts"), separation=value)
            for labels, value in ((astray, separation), (truth, separation + gain))
        )
        winner = {"balanced": balanced, "density": density}[chosen]
        choice = PartitionChoice(winner, balanced, density, [balanced, density])
        labels = assign(psi, spectrum, winner)
        return replace(draw_of(P, labels), spectrum=spectrum, choice=choice, partition=winner, labels=labels)

    @pytest.mark.parametrize(
        ("gain", "options", "expected"),
        [
            (0.6 * SEPARATION_MARGIN, {}, True),
            (0.4 * SEPARATION_MARGIN, {}, False),
            (1.5 * SEPARATION_MARGIN, {"chosen": "density"}, True),
            (0.6 * SEPARATION_MARGIN, {"separation": np.nan}, False),
            (np.inf, {}, False),
        ],
    )
    def test_a_clustering_is_doubtful_if_separation_wins_or_nearly_does(self, gain, options, expected):
        draw = self.draw(gain, **options)
        # Other clusters: all rows but those whose landmarks are few.
        scores = np.zeros_like(draw.choice.density.landmark_scores)
        scores[1:, 0] = scores[0, 1] = 1
        other = replace(draw.choice.density, landmark_scores=scores)
        choice = replace(draw.choice, density=other, winner=other if "chosen" in options else draw.choice.winner)
        labels = assign(draw.psi, draw.spectrum, choice.winner)
        assert is_doubtful(replace(draw, choice=choice, partition=choice.winner, labels=labels)) is expected

    def test_nothing_is_doubtful_about_the_same_clusters(self):
        draw = self.draw(0.6 * SEPARATION_MARGIN)
        same = replace(draw.choice.balanced, separation=draw.choice.density.separation)
        assert not is_doubtful(replace(draw, choice=replace(draw.choice, density=same)))
        assert not is_doubtful(replace(draw, choice=None))


class TestOneKind:
    """Several clusterings take the largest modularity together, or the same better separated clusters."""

    def draws(self, sizes, kind="auto"):
        """Clusterings of rows on circles, each from other landmarks."""
        found = []
        for seed in range(3):
            P, truth = ring_graph(sizes, seed=seed)
            psi = csr_matrix(P)
            spectrum = compute_spectrum(lambda psi=psi: iter((psi,)), 6, balanced=True)
            choice = choose_partition(
                psi,
                spectrum,
                np.arange(len(P)),
                2,
                counts=[1, 2],
                n_starts=3,
                polish=True,
                rng=np.random.RandomState(seed),
                kind=kind,
            )
            labels = assign(psi, spectrum, choice.winner)
            draw = replace(draw_of(P, labels), spectrum=spectrum, choice=choice, partition=choice.winner)
            found.append(draw)
        return found, truth

    def test_better_separated_clusters_are_taken_by_all(self):
        draws, truth = self.draws((600, 60))
        # One of them took the largest modularity, which cuts the large cluster.
        draws[1] = with_kind(draws[1], "balanced")
        assert clustering_accuracy(truth, draws[1].labels) < 0.8
        for draw in of_one_kind(draws, 2):
            assert clustering_accuracy(truth, draw.labels) > 0.98
            assert draw.partition is draw.choice.winner is draw.choice.density
            np.testing.assert_array_equal(draw.labels, assign(draw.psi, draw.spectrum, draw.partition))

    def test_modularity_is_taken_by_all_if_nothing_is_clearly_better_separated(self):
        draws, truth = self.draws((300, 300))
        for draw in of_one_kind(draws, 2):
            assert draw.partition is draw.choice.winner is draw.choice.balanced
            assert clustering_accuracy(truth, draw.labels) > 0.98
            np.testing.assert_array_equal(draw.labels, assign(draw.psi, draw.spectrum, draw.partition))

    def test_without_separation_draws_stay(self):
        draws, _ = self.draws((600, 60), kind="balanced")
        assert of_one_kind(draws, 2) == draws


class TestVoters:
    def draws(self):
        """Three draws of the same three clusters under other names, the first with errors of its own."""
        rng = np.random.default_rng(0)
        P, truth = separate_graph(3)
        graphs = [P[:, rng.permutation(P.shape[1])] for _ in range(3)]
        names = [np.array(each) for each in ([0, 1, 2], [1, 2, 0], [2, 0, 1])]
        labels = [each[truth] for each in names]
        labels[0][:15] = (labels[0][:15] + 1) % 3
        return graphs, labels, truth

    def test_a_vote_removes_the_errors_of_one(self):
        graphs, labels, truth = self.draws()
        voters = voters_of(graphs, labels)
        rows = np.arange(len(truth))[:, None]
        votes = np.mean([voter.shares(rows) for voter in voters], axis=0)
        # Under the names of the first.
        np.testing.assert_array_equal(votes.argmax(axis=1), truth)

    def election(self):
        """Clusterings, and the truth."""
        graphs, labels, truth = self.draws()
        partition = Partition(3, 2, None)
        draws = [replace(draw_of(P, own, Fixed(P)), partition=partition) for P, own in zip(graphs, labels, strict=True)]
        return draws, truth

    def test_the_voters_are_returned(self):
        draws, truth = self.election()
        found, voters = elect(draws, 3)
        np.testing.assert_array_equal(found, truth)
        assert [voter.features for voter in voters] == [each.features for each in draws]

    def test_the_best_decides_if_others_disagree(self):
        draws, _ = self.election()
        flat = replace(draws[0], partition=replace(draws[0].partition, flats=()))
        # Those that know one cluster only would take the others from the first.
        blind = [replace(each, labels=np.zeros_like(each.labels)) for each in draws[1:] * 2]
        for some in (draws[:1], [flat, *draws[1:]], [draws[0], *blind]):
            found, voters = elect(some, 3)
            np.testing.assert_array_equal(found, draws[0].labels)
            assert voters == ()

    @pytest.mark.parametrize("seed", [3, 16, 21, 28])
    def test_a_first_draw_of_chance_names_the_others_once_only(self, seed):
        P, truth = separate_graph(3)
        rng = np.random.default_rng(seed)
        labels = [rng.integers(0, 3, len(truth))]
        for _ in range(3):
            own = rng.permutation(3)[truth]
            astray = rng.random(len(truth)) < 0.35
            labels.append(np.where(astray, rng.integers(0, 3, len(truth)), own))
        voters = voters_of([P] * 4, labels)
        votes = np.mean([voter.shares(np.arange(len(P))[:, None]) for voter in voters], axis=0).argmax(axis=1)
        # Named after it alone, the good ones would contradict each other.
        assert reference.accuracy_by_permutation(truth, votes) == 1

    def test_scores_equal_explicit_loops(self):
        graphs, labels, truth = self.draws()
        voters = voters_of(graphs, labels)
        for voter, P, own in zip(voters, graphs, (labels[0], truth, truth), strict=True):
            shares = reference.cluster_landmark_shares(P, own, 3)
            np.testing.assert_allclose(voter.scores, (shares / shares.sum(axis=0)).T)
            np.testing.assert_allclose(
                voter.shares(np.arange(len(P))[:, None]), opinion(csr_matrix(P), voter.scores), rtol=1e-12
            )

    def test_names_of_all_draws_at_once_change_nothing_but_names(self):
        graphs, labels, _ = self.draws()
        names = np.array([2, 0, 1])
        plain, renamed = (voters_of(graphs, known) for known in (labels, [names[own] for own in labels]))
        for one, other in zip(plain, renamed, strict=True):
            np.testing.assert_allclose(one.scores, other.scores[:, names])

    def test_blocks_of_rows_are_put_together(self):
        P = np.random.default_rng(0).dirichlet(np.ones(4), 7)
        scores = np.random.default_rng(1).dirichlet(np.ones(2), 4)
        np.testing.assert_allclose(Voter(Fixed(P), scores, False).shares(np.arange(7)[:, None]), P @ scores)
