"""The choice of a partition: candidates, modularity and separation."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from hypothesis import settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from examples import planted_graph, random_graph, ring_graph
from subspaces.metrics import clustering_accuracy
from subspaces.selection import partition as module
from subspaces.selection.partition import choose_partition, joined_partitions
from subspaces.selection.thresholds import LEAST_ROWS
from subspaces.spectral.joins import part_graphs
from subspaces.spectral.partition import (
    Partition,
    assign,
    vector_counts,
)
from subspaces.spectral.spectrum import compute_spectrum, embed
from subspaces.spectral.thresholds import SMALL_CLUSTER

few = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10_000)


def spectrum_of(psi, count):
    return compute_spectrum(lambda: iter((psi,)), count, balanced=True)


def choose(psi, spectrum, n_clusters, *, seed=0, polish=False, inliers=None, n_starts=5, **options):
    """The choice from all rows, with the usual numbers of eigenvectors unless told otherwise."""
    return choose_partition(
        psi,
        spectrum,
        np.arange(psi.shape[0]) if inliers is None else inliers,
        n_clusters,
        counts=options.pop("counts", vector_counts(n_clusters)),
        n_starts=n_starts,
        polish=polish,
        rng=np.random.RandomState(seed),
        **options,
    )


class TestJoinedPartitions:
    @pytest.mark.parametrize("strong", [False, True])
    @pytest.mark.parametrize("sizes", [(60, 60, 60), (300, 60, 30)])
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_find_planted_clusters_of_any_size(self, sizes, dtype, strong):
        P, labels = planted_graph(sizes, stray=0.1)
        psi = csr_matrix(P.astype(dtype))
        spectrum = spectrum_of(psi, 6)
        graphs = part_graphs(psi, embed(psi, spectrum), 3, np.random.RandomState(0))
        found = joined_partitions(graphs, psi, 3, spectrum, strong=strong)
        assert len(found) == len(graphs)
        for partition in found:
            assert partition.landmark_scores.dtype == dtype
            assert partition.origin == f"parts joined by {'strength' if strong else 'modularity'}"
        # One way to make parts may miss a small cluster.
        assert np.median([clustering_accuracy(labels, assign(psi, spectrum, each)) for each in found]) > 0.95

    @pytest.mark.parametrize("strong", [False, True])
    def test_fewer_rows_than_parts(self, strong):
        psi = csr_matrix(np.repeat(np.eye(3), 2, axis=0))
        spectrum = spectrum_of(psi, 2)
        graphs = part_graphs(psi, embed(psi, spectrum), 3, np.random.RandomState(0))
        for partition in joined_partitions(graphs, psi, 3, spectrum, strong=strong):
            labels = assign(psi, spectrum, partition)
            assert clustering_accuracy(np.repeat([0, 1, 2], 2), labels) == 1

    def test_fewer_different_rows_than_clusters_leave_some_without(self):
        psi = csr_matrix(np.repeat(np.eye(2), 10, axis=0))
        spectrum = spectrum_of(psi, 1)
        graphs = part_graphs(psi, embed(psi, spectrum), 4, np.random.RandomState(0))
        for strong in (False, True):
            for partition in joined_partitions(graphs, psi, 4, spectrum, strong=strong):
                assert partition.landmark_scores.shape == (2, 4)
                labels = assign(psi, spectrum, partition)
                assert clustering_accuracy(np.repeat([0, 1], 10), labels) == 1


class TestChoosePartition:
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("polish", [False, True])
    @pytest.mark.parametrize("sizes", [(60, 60, 60), (80, 60, 40), (40, 40, 40, 40, 40)])
    def test_finds_planted_clusters(self, sizes, polish, dtype):
        P, labels = planted_graph(sizes, stray=0.15)
        psi = csr_matrix(P.astype(dtype))
        k = len(sizes)
        counts = vector_counts(k)
        spectrum = spectrum_of(psi, max(counts))
        found = choose_partition(
            psi, spectrum, np.arange(len(P)), k, counts=counts, n_starts=5, polish=polish, rng=np.random.RandomState(0)
        )
        predicted = assign(psi, spectrum, found.winner)
        assert clustering_accuracy(labels, predicted) > 0.97
        assert found.winner.modularity == pytest.approx(reference.modularity(P, predicted, k), abs=1e-5)

    @pytest.mark.parametrize("counts", [[8, 5, 3, 4], [1, 3], [1, 8, 3, 2]])
    def test_number_of_eigenvectors(self, counts):
        """One vector tells two of four clusters apart, three all of them."""
        psi = csr_matrix(planted_graph((50, 50, 50, 50), stray=0.05)[0])
        found = choose_partition(
            psi,
            spectrum_of(psi, 8),
            np.arange(200),
            4,
            counts=counts,
            n_starts=5,
            polish=False,
            rng=np.random.RandomState(0),
        )
        assert found.balanced.n_vectors == 3

    def test_joined_parts_are_candidates_too(self):
        """k-means on one vector cannot tell four clusters apart; parts of all vectors can."""
        P, labels = planted_graph((50, 50, 50, 50), stray=0.05)
        psi = csr_matrix(P)
        spectrum = spectrum_of(psi, 8)
        found = choose_partition(
            psi, spectrum, np.arange(200), 4, counts=[1], n_starts=5, polish=True, rng=np.random.RandomState(0)
        )
        assert clustering_accuracy(labels, assign(psi, spectrum, found.winner)) > 0.97

    def test_the_best_refined_candidate_wins(self, monkeypatch):
        """Of starts on one vector and on three, with no help from joined parts."""
        P, labels = planted_graph((50, 50, 50, 50), stray=0.2)
        psi = csr_matrix(P)
        spectrum = spectrum_of(psi, 8)
        nothing = [Partition(4, 1, np.zeros((4, 1)), origin="parts")]
        monkeypatch.setattr(module, "joined_partitions", lambda *arguments, **options: nothing)
        found = choose(psi, spectrum, 4, counts=[1, 3], polish=True, kind="balanced")
        assert clustering_accuracy(labels, assign(psi, spectrum, found.winner)) > 0.95

    @pytest.mark.parametrize("sizes", [(400, 40, 40, 40), (300, 60, 30)])
    def test_polishing_never_lowers_modularity(self, sizes):
        P, _ = planted_graph(sizes, stray=0.15)
        psi = csr_matrix(P)
        k = len(sizes)
        spectrum = spectrum_of(psi, 2 * k)
        plain, polished = (
            choose_partition(
                psi,
                spectrum,
                np.arange(len(P)),
                k,
                counts=[k - 1],
                n_starts=5,
                polish=polish,
                rng=np.random.RandomState(0),
            ).balanced
            for polish in (False, True)
        )
        assert polished.modularity > plain.modularity - 0.02
        assert len(np.unique(assign(psi, spectrum, polished))) == k

    def test_rows_without_weight_do_not_count(self):
        P, _ = planted_graph((60, 60), stray=0.1)
        psi = csr_matrix(np.concatenate([P, random_graph(np.random.default_rng(0), 40, 12)]))
        spectrum = spectrum_of(psi, 2)
        found, alone = (
            choose_partition(
                rows, spectrum, np.arange(120), 2, counts=[1, 2], n_starts=3, polish=True, rng=np.random.RandomState(0)
            ).balanced
            for rows in (psi, psi[:120])
        )
        np.testing.assert_array_equal(found.centers, alone.centers)
        np.testing.assert_array_equal(found.landmark_scores, alone.landmark_scores)
        assert found.modularity == alone.modularity

    def test_many_rows_are_judged_by_centres_of_a_sample(self, monkeypatch):
        monkeypatch.setattr(module, "MAX_FIT_ROWS", 50)
        P, labels = planted_graph((100, 100, 100))
        psi = csr_matrix(P)
        spectrum = spectrum_of(psi, 3)
        found = choose_partition(
            psi, spectrum, np.arange(300), 3, counts=[2, 3], n_starts=5, polish=False, rng=np.random.RandomState(0)
        )
        assert clustering_accuracy(labels, assign(psi, spectrum, found.winner)) > 0.97

    def test_same_seed_same_partition(self):
        psi = csr_matrix(random_graph(np.random.default_rng(0), 80, 20))
        spectrum = spectrum_of(psi, 6)
        first, second = (
            choose_partition(
                psi, spectrum, np.arange(80), 3, counts=[2, 6], n_starts=2, polish=False, rng=np.random.RandomState(5)
            )
            for _ in range(2)
        )
        np.testing.assert_array_equal(first.balanced.centers, second.balanced.centers)
        assert len(first.candidates) == len(second.candidates)
        for one, other in zip((first.winner, *first.candidates), (second.winner, *second.candidates), strict=True):
            np.testing.assert_array_equal(assign(psi, spectrum, one), assign(psi, spectrum, other))
            assert one.separation == other.separation

    def test_counts_beyond_the_spectrum_are_skipped(self):
        psi = csr_matrix(planted_graph((20, 20), per_cluster=2)[0])
        found = choose_partition(
            psi,
            spectrum_of(psi, 9),
            np.arange(40),
            2,
            counts=[9, 12],
            n_starts=2,
            polish=False,
            rng=np.random.RandomState(0),
        )
        assert found.balanced.n_vectors == 4


class TestKinds:
    def rings(self, sizes, seed=0, **options):
        P, labels = ring_graph(sizes, seed=seed, **options)
        psi = csr_matrix(P)
        return psi, spectrum_of(psi, max(vector_counts(max(2, len(sizes))))), labels

    @pytest.mark.parametrize("polish", [False, True])
    @pytest.mark.parametrize("seed", range(2))
    def test_a_small_and_a_large_cluster(self, seed, polish):
        """Modularity cuts the large cluster in half; the weak join of the small one reveals it."""
        psi, spectrum, labels = self.rings((1000, 50), seed)
        accuracy = {}
        for kind in ("auto", "balanced", "density"):
            found = choose(psi, spectrum, 2, seed=seed, polish=polish, kind=kind)
            accuracy[kind] = clustering_accuracy(labels, assign(psi, spectrum, found.winner))
        assert accuracy["auto"] == accuracy["density"] == 1
        assert accuracy["balanced"] < 0.7

    @pytest.mark.parametrize("polish", [False, True])
    @pytest.mark.parametrize("sizes", [(400, 400), (200, 200, 200), (300, 200, 200)])
    def test_equal_clusters_are_left_to_modularity(self, sizes, polish):
        psi, spectrum, labels = self.rings(sizes)
        auto, balanced = (
            choose(psi, spectrum, len(sizes), polish=polish, kind=kind).winner for kind in ("auto", "balanced")
        )
        np.testing.assert_array_equal(assign(psi, spectrum, auto), assign(psi, spectrum, balanced))
        assert clustering_accuracy(labels, assign(psi, spectrum, auto)) > 0.99

    def test_a_choice_names_its_best(self):
        psi, spectrum, _ = self.rings((1000, 50))
        found = choose(psi, spectrum, 2)
        assert found.winner.separation == found.density.separation
        assert found.density.separation == max(each.separation for each in found.candidates)
        assert found.density.separation > found.balanced.separation + module.SEPARATION_MARGIN
        assert found.density.modularity < found.balanced.modularity
        origins = {"k-means", "parts joined by modularity", "parts joined by strength"}
        assert {each.origin for each in found.candidates} == origins
        # Joined parts have edges that run anywhere until they are settled, which gives them a modularity.
        assert np.isfinite([each.modularity for each in found.candidates]).all()

    @pytest.mark.parametrize(("name", "value"), [("SEPARATION_MARGIN", 50.0), ("SURE_AGREEMENT", -1.0)])
    def test_all_conditions_must_hold_against_modularity(self, monkeypatch, name, value):
        """By a clear margin, and in more than details."""
        psi, spectrum, _ = self.rings((1000, 50))
        monkeypatch.setattr(module, name, value)
        for polish in (False, True):
            found = choose(psi, spectrum, 2, polish=polish)
            assert found.winner is found.balanced
            # One who wants it gets it.
            found = choose(psi, spectrum, 2, polish=polish, kind="density")
            assert found.winner is found.density
            assert found.winner.modularity < found.balanced.modularity

    @pytest.mark.parametrize("polish", [False, True])
    @pytest.mark.parametrize(("sizes", "stray"), [((1000, 20), 0), ((1000, 20), 0.02), ((500, 500, 20), 0)])
    def test_small_clumps_are_not_clusters(self, sizes, stray, polish, monkeypatch):
        psi, spectrum, _ = self.rings(sizes, stray=stray)
        for kind in ("auto", "density"):
            found = choose(psi, spectrum, 2, polish=polish, kind=kind)
            assert np.bincount(assign(psi, spectrum, found.winner)).min() >= SMALL_CLUSTER / 2 * 1020
        for each in found.candidates:
            least = np.bincount(assign(psi, spectrum, each), minlength=2).min()
            assert (each.separation > -np.inf) == (least >= SMALL_CLUSTER / 2 * 1020)

    @pytest.mark.parametrize("polish", [False, True])
    @pytest.mark.parametrize("kind", ["auto", "density"])
    def test_modularity_decides_if_separation_is_undefined(self, kind, polish):
        """Three clusters of less than ten rows are too small for any evidence from joins."""
        P, labels = planted_graph((LEAST_ROWS - 1,) * 3, stray=0.1)
        psi = csr_matrix(P)
        spectrum = spectrum_of(psi, 6)
        found = choose(psi, spectrum, 3, counts=[1, 2], polish=polish, kind=kind)
        assert all(each.separation == -np.inf for each in found.candidates)
        np.testing.assert_array_equal(assign(psi, spectrum, found.winner), assign(psi, spectrum, found.balanced))
        assert clustering_accuracy(labels, assign(psi, spectrum, found.winner)) > 0.9

    def test_balanced_ignores_separation(self, monkeypatch):
        monkeypatch.setattr(module, "separation", None)
        psi, spectrum, _ = self.rings((200, 200))
        for polish in (False, True):
            found = choose(psi, spectrum, 2, polish=polish, kind="balanced")
            assert found.winner is found.balanced is found.density
            assert np.isnan(found.winner.separation)
            assert {each.origin for each in found.candidates} <= {"k-means", "parts joined by modularity"}

    @pytest.mark.parametrize("n_draws", [1, 2])
    def test_number_of_draws_of_parts(self, n_draws):
        psi, spectrum, _ = self.rings((200, 200))
        found = choose(psi, spectrum, 2, n_draws=n_draws, n_starts=1, counts=[1])
        assert len(found.candidates) == 1 + 3 * n_draws + 3 * n_draws

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_many_rows_are_judged_by_a_sample_and_settled_on_all(self, monkeypatch, dtype):
        P, labels = ring_graph((1000, 100))
        psi = csr_matrix(P.astype(dtype))
        spectrum = spectrum_of(psi, 6)
        monkeypatch.setattr(module, "MAX_FIT_ROWS", 400)
        found = choose(psi, spectrum, 2)
        predicted = assign(psi, spectrum, found.winner)
        assert clustering_accuracy(labels, predicted) > 0.99
        assert found.winner.modularity == pytest.approx(reference.modularity(P, predicted, 2), abs=1e-5)
        assert found.winner.landmark_scores.dtype == dtype

    def test_outliers_count_in_parts_but_not_in_modularity(self):
        psi, spectrum, _ = self.rings((200, 200))
        inliers = np.flatnonzero(np.arange(400) % 4 > 0)
        found = choose(psi, spectrum, 2, inliers=inliers)
        labels = assign(psi, spectrum, found.balanced)
        expected = reference.modularity(psi.toarray()[inliers], labels[inliers], 2)
        assert found.balanced.modularity == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("polish", [False, True])
    @pytest.mark.parametrize("kind", ["auto", "balanced", "density"])
    class TestOddGraphs:
        def labels(self, P, n_clusters, polish, kind):
            psi = csr_matrix(P)
            spectrum = spectrum_of(psi, max(vector_counts(n_clusters)))
            found = choose(psi, spectrum, n_clusters, polish=polish, kind=kind, n_starts=2)
            labels = assign(psi, spectrum, found.winner)
            assert 0 <= labels.min() <= labels.max() < n_clusters
            return labels

        def test_one_cluster(self, polish, kind):
            np.testing.assert_array_equal(self.labels(planted_graph()[0], 1, polish, kind), 0)

        def test_one_row(self, polish, kind):
            np.testing.assert_array_equal(self.labels(np.array([[0.5, 0, 0.5]]), 1, polish, kind), 0)

        def test_as_many_clusters_as_rows(self, polish, kind):
            P = random_graph(np.random.default_rng(0), 8, 30)
            assert len(set(self.labels(P, 8, polish, kind))) > 4

        def test_copies_of_one_row(self, polish, kind):
            assert len(set(self.labels(np.tile([0.5, 0.5], (40, 1)), 3, polish, kind))) == 1

        def test_pieces_without_any_join(self, polish, kind):
            P, labels = planted_graph((40, 40, 40), stray=0)
            assert clustering_accuracy(labels, self.labels(P, 3, polish, kind)) == 1

        @pytest.mark.parametrize("weight", [0, 1e-310, 1e-222])
        def test_landmarks_and_rows_with_tiny_or_zero_weight(self, polish, kind, weight):
            P, labels = planted_graph((40, 40), stray=0.1)
            P = np.concatenate([P, np.zeros((80, 2))], axis=1)
            P[::7, -1] = weight
            P[::40] = 0
            assert clustering_accuracy(labels, self.labels(P, 2, polish, kind)) > 0.9
