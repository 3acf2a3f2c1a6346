"""Partitions: refinement against the slow version, planted clusters found, and which partition is taken."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from examples import planted_graph, random_graph, ring_graph
from subspaces.metrics import clustering_accuracy
from subspaces.spectral import partition as module
from subspaces.spectral.kmeans import kmeans
from subspaces.spectral.partition import (
    Partition,
    assign,
    assign_each,
    assign_embedded,
    distinct,
    inlier_rows,
    partition_of_labels,
    plain_partition,
    refine,
    settle,
    vector_counts,
)
from subspaces.spectral.spectrum import compute_spectrum, embed

few = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10_000)


def spectrum_of(psi, count):
    return compute_spectrum(lambda: iter((psi,)), count, balanced=True)


def start_of(psi, n_clusters, seed):
    """A spectrum and the partition of one poor k-means run."""
    spectrum = spectrum_of(psi, n_clusters)
    rows = reference.unit_rows(embed(psi, spectrum))
    centers = kmeans(rows, n_clusters, n_starts=1, rng=np.random.RandomState(seed), max_iter=1).points[0]
    return spectrum, Partition(n_clusters, n_clusters, centers)


class TestRefine:
    @pytest.mark.parametrize("n_rounds", [0, 1, 2, 10])
    def test_is_the_best_of_the_rounds(self, n_rounds):
        moved = 0
        for seed in range(20):
            # Rounds mostly gain on planted clusters, and mostly lose where there is nothing to find.
            P = (
                planted_graph((20, 20, 20), stray=0.4, seed=seed)[0]
                if seed % 2
                else random_graph(np.random.default_rng(seed))
            )
            psi = csr_matrix(P)
            spectrum, start = start_of(psi, 3, seed)
            before = assign(psi, spectrum, start)
            rounds = [reference.refine(P, before, 3, count) for count in range(n_rounds + 1)]
            expected = max(rounds, key=lambda labels: round(reference.modularity(P, labels, 3), 12))
            found = refine(start, psi, spectrum, n_rounds=n_rounds)
            np.testing.assert_array_equal(assign(psi, spectrum, found), expected)
            assert found.modularity == pytest.approx(reference.modularity(P, expected, 3), abs=1e-12)
            moved += (expected != before).any()
        assert 5 <= moved <= 15 if n_rounds else moved == 0

    @few
    @given(seed=seeds, k=st.integers(2, 5), n_rounds=st.integers(0, 8))
    def test_never_lowers_the_modularity(self, seed, k, n_rounds):
        P = random_graph(np.random.default_rng(seed))
        psi = csr_matrix(P)
        spectrum, start = start_of(psi, k, seed)
        found = refine(start, psi, spectrum, n_rounds=n_rounds)
        before, after = (reference.modularity(P, assign(psi, spectrum, each), k) for each in (start, found))
        assert after >= before - 1e-12

    @few
    @given(seed=seeds, k=st.integers(2, 5))
    def test_a_round_ascends_modularity_and_sizes_together(self, seed, k):
        """A round maximises the linear part of sum_kj S_kj^2 / p_j, which is convex, so that this cannot fall.

        It is the modularity plus the sum of squared sizes: a single cluster has the most of it, which is why the
        modularity of every round must be looked at.
        """
        rng = np.random.default_rng(seed)
        P, labels = random_graph(rng), rng.integers(k, size=40)
        heights = []
        for _ in range(5):
            sizes = np.bincount(labels, minlength=k) / len(labels)
            heights.append(reference.modularity(P, labels, k) + np.square(sizes).sum())
            labels = reference.refine(P, labels, k, 1)
        assert (np.diff(heights) > -1e-12).all()

    def test_raises_the_modularity_of_a_poor_start_on_planted_clusters(self):
        gains = []
        for seed in range(10):
            P, _ = planted_graph(stray=0.3, seed=seed)
            spectrum, start = start_of(csr_matrix(P), 3, seed)
            before, after = (refine(start, csr_matrix(P), spectrum, n_rounds=rounds) for rounds in (0, 20))
            gains.append(after.modularity - before.modularity)
        assert min(gains) >= 0
        assert np.mean(gains) > 0.002

    def test_labels_new_rows_by_their_landmarks(self):
        P, _ = planted_graph()
        psi = csr_matrix(P)
        spectrum, start = start_of(psi, 3, 0)
        partition = refine(start, psi, spectrum, n_rounds=5)
        own = np.eye(18)
        of_landmarks = assign(csr_matrix(own), spectrum, partition)
        expected = reference.affinities(own, reference.cluster_landmark_shares(P, assign(psi, spectrum, partition), 3))
        np.testing.assert_array_equal(of_landmarks, expected.argmax(axis=1))
        assert clustering_accuracy(np.repeat([0, 1, 2], 6), of_landmarks) == 1


class TestAssign:
    @pytest.mark.parametrize("refined", [False, True])
    def test_equal_new_rows_get_equal_labels(self, refined):
        psi = csr_matrix(planted_graph(stray=0.3)[0])
        spectrum, partition = start_of(psi, 3, 0)
        if refined:
            partition = refine(partition, psi, spectrum, n_rounds=3)
        labels = assign(psi, spectrum, partition)
        assert labels.dtype == np.int32
        order = np.random.default_rng(0).permutation(psi.shape[0])[:50]
        np.testing.assert_array_equal(assign(psi[order], spectrum, partition), labels[order])

    def test_by_the_nearest_centre_of_unit_rows_on_the_first_vectors(self):
        psi = csr_matrix(planted_graph(stray=0.3)[0])
        _, partition = start_of(psi, 3, 0)
        spectrum = spectrum_of(psi, 6)
        expected, _ = reference.nearest_centers(reference.unit_rows(embed(psi, spectrum, 3)), partition.centers)
        assert spectrum.vectors.shape[1] == 6
        np.testing.assert_array_equal(assign_embedded(embed(psi, spectrum), partition), expected)
        np.testing.assert_array_equal(assign(psi, spectrum, partition), expected)


class TestPlainPartition:
    def test_is_the_best_run_of_kmeans_on_unit_rows(self):
        embedding = np.random.default_rng(0).standard_normal((60, 3)) * [5, 1, 1]
        found = plain_partition(embedding, 5, n_starts=6, rng=np.random.RandomState(3))
        rows = reference.unit_rows(embedding)
        runs = kmeans(rows, 5, n_starts=6, rng=np.random.RandomState(3))
        assert len(np.unique(runs.inertia.round(8))) > 1
        assert reference.nearest_centers(rows, found.centers)[1] == pytest.approx(runs.inertia.min())
        assert found.n_vectors == 3
        assert found.landmark_scores is None


class TestSettle:
    def test_is_the_last_round_before_nothing_moves_or_a_cluster_is_lost(self):
        shortened = 0
        for seed in range(20):
            P = random_graph(np.random.default_rng(seed))
            psi = csr_matrix(P)
            spectrum, start = start_of(psi, 4, seed)
            rounds = [assign(psi, spectrum, start)]
            for _ in range(module.TRIAL_ROUNDS):
                rounds.append(reference.refine(P, rounds[-1], 4, 1))
            lost = [len(set(labels)) < len(set(rounds[0])) for labels in rounds]
            expected = rounds[lost.index(True) - 1 if any(lost) else -1]
            found = settle(start, psi, spectrum)
            np.testing.assert_array_equal(assign(psi, spectrum, found), expected)
            assert found.modularity == pytest.approx(reference.modularity(P, expected, 4), abs=1e-12)
            shortened += any(lost)
        assert 3 <= shortened <= 17

    @few
    @given(seed=seeds, k=st.integers(1, 8))
    def test_never_loses_a_cluster(self, seed, k):
        psi = csr_matrix(random_graph(np.random.default_rng(seed)))
        spectrum, start = start_of(psi, k, seed)
        before, after = (set(assign(psi, spectrum, each)) for each in (start, settle(start, psi, spectrum)))
        assert after == before

    def test_weak_joins_are_followed_if_modularity_falls(self):
        """From a large cluster and a small one, with a few rows of the large on the wrong side."""
        P, labels = ring_graph((1000, 50))
        psi = csr_matrix(P)
        spectrum = spectrum_of(psi, 3)
        start = partition_of_labels(psi, np.where(np.arange(1050) < 20, 1, labels), 2, spectrum, "")
        settled, refined = settle(start, psi, spectrum), refine(start, psi, spectrum, n_rounds=5)
        assert settled.modularity < refined.modularity
        assert clustering_accuracy(labels, assign(psi, spectrum, settled)) > clustering_accuracy(
            labels, assign(psi, spectrum, refined)
        )

    def test_one_row(self):
        psi = csr_matrix([[0.5, 0, 0.5]])
        spectrum = spectrum_of(psi, 1)
        start = partition_of_labels(psi, np.zeros(1, np.int32), 1, spectrum, "")
        assert assign(psi, spectrum, settle(start, psi, spectrum)) == [0]


class TestPartitionOfLabels:
    @few
    @given(seed=seeds, k=st.integers(1, 5))
    def test_landmarks_belong_to_clusters_as_their_rows_do(self, seed, k):
        rng = np.random.default_rng(seed)
        P, labels = random_graph(rng), rng.integers(-1, k, size=40).astype(np.int32)
        found = partition_of_labels(csr_matrix(P), labels, k, spectrum_of(csr_matrix(P), 2), "given")
        expected = np.zeros((12, k))
        for j in range(12):
            for i in range(40):
                if labels[i] >= 0 and P[i, j] > 0:
                    expected[j, labels[i]] += P[i, j] / P[:, j].sum()
        np.testing.assert_allclose(found.landmark_scores, expected, atol=1e-12)
        assert (found.n_clusters, found.origin, found.centers) == (k, "given", None)

    def test_rows_without_a_cluster_are_not_one_and_are_given_one(self):
        P, labels = planted_graph((60, 60, 60), stray=0.1)
        some = np.where(np.arange(180) % 5 == 0, -1, labels).astype(np.int32)
        psi = csr_matrix(P)
        spectrum = spectrum_of(psi, 2)
        given = assign(psi, spectrum, partition_of_labels(psi, some, 3, spectrum, ""))
        assert clustering_accuracy(labels, given) > 0.95
        assert set(given) == {0, 1, 2}

    def test_a_landmark_of_outliers_counts_less(self):
        """A row between a landmark of cluster 0 and outliers and a landmark of cluster 1 goes to 1."""
        psi = csr_matrix([[1.0, 0], [1.0, 0], [1.0, 0], [0, 1.0]])
        spectrum = spectrum_of(psi, 1)
        for labels, expected in (([0, 0, 0, 1], 0), ([0, -1, -1, 1], 1)):
            partition = partition_of_labels(psi, np.array(labels, np.int32), 2, spectrum, "")
            assert assign(csr_matrix([[0.6, 0.4]]), spectrum, partition) == [expected]

    @few
    @given(seed=seeds)
    def test_order_and_names_do_not_matter(self, seed):
        rng = np.random.default_rng(seed)
        P, labels = random_graph(rng), rng.integers(-1, 3, size=40).astype(np.int32)
        rows, names = rng.permutation(40), rng.permutation(3)
        psi, spectrum = csr_matrix(P), spectrum_of(csr_matrix(P), 2)
        found = partition_of_labels(psi, labels, 3, spectrum, "").landmark_scores
        renamed = np.where(labels < 0, -1, names[labels]).astype(np.int32)
        moved = partition_of_labels(psi[rows], renamed[rows], 3, spectrum, "").landmark_scores
        np.testing.assert_allclose(moved[:, names], found, atol=1e-14)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_empty_clusters_and_tiny_weights(self, dtype):
        psi = csr_matrix(np.array([[1, 1e-222, 0], [1, 0, 0]], dtype))
        spectrum = spectrum_of(psi, 1)
        nobody = partition_of_labels(psi, np.full(2, -1, np.int32), 2, spectrum, "")
        np.testing.assert_array_equal(nobody.landmark_scores, 0)
        assert nobody.landmark_scores.dtype == dtype
        np.testing.assert_array_equal(assign(psi, spectrum, nobody), 0)
        apart = partition_of_labels(psi, np.arange(2, dtype=np.int32), 2, spectrum, "")
        assert np.isfinite(apart.landmark_scores).all()


class TestInliers:
    def test_rows_far_from_every_flat_do_not_count(self):
        rng = np.random.default_rng(0)
        distances = np.abs(rng.normal(1, 0.1, 500))
        distances[::50] = 3
        found = inlier_rows(distances, rng.standard_normal((500, 4)))
        assert not np.isin(np.arange(0, 500, 50), found).any()
        assert len(found) > 480

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("scale", [1e-6, 1e6])
    def test_clean_rows_all_count(self, scale, dtype):
        rng = np.random.default_rng(0)
        rows = (scale * rng.standard_normal((100, 4))).astype(dtype)
        distances = np.zeros(100, dtype)
        distances[:20] = 10 * scale * np.finfo(dtype).eps
        np.testing.assert_array_equal(inlier_rows(distances, rows), np.arange(100))


class TestVectorCounts:
    @pytest.mark.parametrize(
        ("k", "expected"),
        [
            (1, [1, 2, 3, 5]),
            (2, [1, 2, 3, 4, 6]),
            (10, [9, 10, 11, 12, 14, 16, 20]),
            (38, [37, 38, 40, 47, 60]),
        ],
    )
    def test_values(self, k, expected):
        assert vector_counts(k) == expected

    @pytest.mark.parametrize("k", [*range(1, 41), 1000])
    def test_counts_are_positive_and_ascending(self, k):
        counts = vector_counts(k)
        assert counts == sorted(set(counts))
        assert counts[0] == max(1, k - 1)
        assert counts[-1] >= 1.6 * k - 1


class TestManyPartitions:
    """Many partitions at once against one after another."""

    def test_labels_equal_those_of_each(self):
        psi = csr_matrix(random_graph(np.random.default_rng(0), 80))
        spectrum = spectrum_of(psi, 4)
        embedding = embed(psi, spectrum)
        runs = [
            kmeans(reference.unit_rows(embedding[:, :q]), 3, n_starts=2, rng=np.random.RandomState(q)).points
            for q in (2, 4)
        ]
        partitions = [Partition(3, q, each) for q, points in zip((2, 4), runs, strict=True) for each in points]
        partitions += [settle(each, psi, spectrum) for each in partitions[:2]]
        found = assign_each(psi, embedding, partitions)
        np.testing.assert_array_equal(found, [assign(psi, spectrum, each) for each in partitions])

    def test_names_of_clusters_do_not_make_labels_distinct(self):
        labels = np.array([[0, 0, 1, 2], [2, 2, 0, 1], [0, 1, 1, 2], [1, 1, 1, 1], [0, 0, 0, 0]])
        first, same = distinct(labels, 3)
        assert first.tolist() == [0, 2, 3]
        assert same.tolist() == [0, 0, 1, 2, 2]
