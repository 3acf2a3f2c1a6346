"""Several sets of landmarks joined in one graph: equal to one set of all landmarks, better than single ones."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics import adjusted_rand_score
from test_confidence import draw_of, separate_graph

from examples import ring_graph
from subspaces.datasets import make_subspaces
from subspaces.metrics import clustering_accuracy
from subspaces.selection import Asked, choose
from subspaces.selection.clustering import CutSetting
from subspaces.selection.joint import is_doubtful, join_sets, joint_confidence
from subspaces.selection.partition import PartitionChoice, choose_partition
from subspaces.selection.thresholds import SEPARATION_MARGIN
from subspaces.selection.voting import opinion, vote
from subspaces.spectral.partition import assign, partition_of_labels
from subspaces.spectral.spectrum import compute_spectrum
from subspaces.spectral.thresholds import PART_VECTORS


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
            (0.01, {}, True),
            (0.0, {}, False),
            (1.5 * SEPARATION_MARGIN, {"chosen": "density"}, True),
            (0.1, {"separation": np.nan}, False),
            (np.inf, {}, False),
        ],
    )
    def test_a_clustering_is_doubtful_if_another_is_better_separated(self, gain, options, expected):
        draw = self.draw(gain, **options)
        # Other clusters: all rows but those whose landmarks are few.
        scores = np.zeros_like(draw.choice.density.landmark_scores)
        scores[1:, 0] = scores[0, 1] = 1
        other = replace(draw.choice.density, landmark_scores=scores)
        choice = replace(draw.choice, density=other, winner=other if "chosen" in options else draw.choice.winner)
        labels = assign(draw.psi, draw.spectrum, choice.winner)
        assert is_doubtful(replace(draw, choice=choice, partition=choice.winner, labels=labels)) is expected

    def test_nothing_is_doubtful_about_the_same_clusters(self):
        draw = self.draw(0.1)
        same = replace(draw.choice.balanced, separation=draw.choice.density.separation)
        assert not is_doubtful(replace(draw, choice=replace(draw.choice, density=same)))
        assert not is_doubtful(replace(draw, choice=None))


class TestJoined:
    """Rows on two circles, described by several sets of landmarks."""

    def sets(self, sizes, kind="auto", count=4):
        """Clusterings, each from other landmarks, and the truth."""
        found = []
        for seed in range(count):
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
            found.append(replace(draw_of(P, labels), spectrum=spectrum, choice=choice, partition=choice.winner))
        return found, truth

    def joined(self, sets, kind="auto"):
        return join_sets(sets, CutSetting(2, (1, 2), kind), np.random.RandomState(0))

    @pytest.mark.parametrize("sizes", [(600, 60), (300, 300)])
    def test_finds_the_clusters(self, sizes):
        sets, truth = self.sets(sizes)
        joint = self.joined(sets)
        assert clustering_accuracy(truth, joint.labels) > 0.98
        np.testing.assert_allclose(joint.agreements, [adjusted_rand_score(joint.labels, each.labels) for each in sets])

    def test_small_clusters_that_all_single_sets_miss(self):
        sets, truth = self.sets((600, 60), kind="balanced")
        assert max(clustering_accuracy(truth, each.labels) for each in sets) < 0.8
        assert clustering_accuracy(truth, self.joined(sets).labels) > 0.98

    def test_the_largest_modularity_if_asked_for(self):
        sets, truth = self.sets((600, 60))
        assert clustering_accuracy(truth, self.joined(sets, "balanced").labels) < 0.8

    def test_partitions_of_single_sets_are_candidates(self):
        sets, _ = self.sets((600, 60))
        origins = [each.origin for each in self.joined(sets).whole.choice.candidates]
        assert origins.count("one set of landmarks") == sum(
            1 + (each.choice.density is not each.choice.balanced) for each in sets
        )

    def test_the_graph_is_that_of_all_landmarks(self):
        sets, _ = self.sets((300, 300))
        joint = self.joined(sets)
        expected = np.hstack([each.psi.toarray() for each in sets]) / len(sets)
        np.testing.assert_allclose(joint.whole.psi.toarray(), expected)
        scores = np.vstack([voter.scores for voter in joint.voters])
        np.testing.assert_array_equal((expected @ scores).argmax(axis=1), joint.labels)

    def test_landmarks_of_all_sets_give_the_labels(self):
        sets, _ = self.sets((600, 60))
        joint = self.joined(sets)
        votes = [opinion(each.psi, voter.scores) for each, voter in zip(sets, joint.voters, strict=True)]
        np.testing.assert_array_equal(vote(votes), joint.labels)
        # Clusters are numbered in the order of their first rows.
        assert joint.labels[0] == 0

    def test_the_best_set_has_the_clusters_of_all(self):
        sets, _ = self.sets((600, 60))
        joint = self.joined(sets)
        best = joint.best
        assert any(best.psi is each.psi for each in sets)
        np.testing.assert_array_equal(best.labels, joint.labels)
        assert adjusted_rand_score(assign(best.psi, best.spectrum, best.partition), joint.labels) > 0.95

    def test_confidence_of_halves(self):
        sets, _ = self.sets((600, 60))
        joint = self.joined(sets)
        found = joint_confidence(joint, CutSetting(2, (1, 2), "auto"), np.random.RandomState(0))
        assert found.overall > 0.95
        assert found.rows.shape == joint.labels.shape
        assert 0 <= found.rows.min() <= found.rows.max() <= 1 + 1e-12


@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, PART_VECTORS), ({"n_components": 3}, 3), ({"n_landmarks": 300}, 6), ({"n_nearest": None}, 1)],
)
def test_parts_are_made_in_many_eigenvectors_of_a_large_graph(given, expected):
    X, _ = make_subspaces((2, 3), 6, points_per_subspace=150, outliers=0, random_state=0)
    assert choose(X, Asked(**{"n_clusters": 2, "n_landmarks": 100} | given), 0).cut.n_computed == expected
