"""Partitions: modularity and refinement against the slow versions, and planted clusters found."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from subspaces import partition as module
from subspaces.kmeans import kmeans
from subspaces.metrics import clustering_accuracy
from subspaces.partition import (
    Partition,
    assign,
    assign_embedded,
    choose_partition,
    cluster_shares,
    inlier_rows,
    join_parts,
    landmark_scores,
    merged_partitions,
    modularity,
    modularity_terms,
    plain_partition,
    refine,
    row_stochastic,
    vector_counts,
)
from subspaces.spectral import compute_spectrum, embed

few = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 10_000)


def random_graph(rng, n=40, n_landmarks=12):
    """Row-stochastic weights (n, D), sparse, with a landmark that no row uses."""
    weights = rng.random((n, n_landmarks)) * (rng.random((n, n_landmarks)) < 0.3)
    weights[np.arange(n), rng.integers(n_landmarks, size=n)] += 0.3
    weights[:, 3] = 0
    weights[weights.sum(axis=1) == 0, 0] = 1
    return weights / weights.sum(axis=1, keepdims=True)


def planted_graph(sizes=(60, 60, 60), *, per_cluster=6, stray=0.1, seed=0):
    """Rows with four landmarks each, of their own cluster but for a share `stray`: P (n, D), labels (n,)."""
    rng = np.random.default_rng(seed)
    k = len(sizes)
    labels = np.repeat(np.arange(k), sizes)
    weights = np.zeros((len(labels), k * per_cluster))
    for i, label in enumerate(labels):
        for _ in range(4):
            owner = rng.integers(k) if rng.random() < stray else label
            weights[i, owner * per_cluster + rng.integers(per_cluster)] += rng.uniform(0.5, 1)
    return weights / weights.sum(axis=1, keepdims=True), labels


def spectrum_of(psi, count):
    return compute_spectrum(lambda: iter((psi,)), count, balanced=True)


def start_of(psi, n_clusters, seed):
    """A spectrum and the partition of one poor k-means run."""
    spectrum = spectrum_of(psi, n_clusters)
    rows = reference.unit_rows(embed(psi, spectrum))
    centers = kmeans(rows, n_clusters, n_starts=1, rng=np.random.RandomState(seed), max_iter=1).points[0]
    return spectrum, Partition(n_clusters, n_clusters, centers)


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

    def test_one_cluster_has_none(self):
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
    def test_new_rows_go_where_equal_rows_went(self, refined):
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


class TestJoinedParts:
    def gains(self, P, parts, m):
        S = reference.cluster_landmark_shares(P, parts, m)
        p = S.sum(axis=0)
        return (S / np.where(p > 0, p, 1)) @ S.T - np.outer(S.sum(axis=1), S.sum(axis=1))

    @pytest.mark.parametrize("n_groups", [1, 2, 4, 7])
    def test_every_step_gains_the_most_modularity(self, n_groups):
        for seed in range(10):
            rng = np.random.default_rng(seed)
            P, parts = random_graph(rng, 60), rng.permutation(np.arange(60) % 7)
            expected = np.arange(7)
            for _ in range(7 - n_groups):
                joins = [np.where(expected == b, a, expected) for a, b in combinations(np.unique(expected), 2)]
                expected = max(joins, key=lambda groups: reference.modularity(P, groups[parts], 7))
            found = join_parts(self.gains(P, parts, 7), n_groups)
            assert set(found) == set(range(n_groups))
            np.testing.assert_array_equal(found[:, None] == found, expected[:, None] == expected)

    def test_gains_are_not_touched(self):
        gains = self.gains(*planted_graph(), 3)
        before = gains.copy()
        join_parts(gains, 2)
        np.testing.assert_array_equal(gains, before)

    @pytest.mark.parametrize("sizes", [(60, 60, 60), (300, 60, 30)])
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_find_planted_clusters_of_any_size(self, sizes, dtype):
        P, labels = planted_graph(sizes, stray=0.1)
        psi = csr_matrix(P.astype(dtype))
        spectrum = spectrum_of(psi, 6)
        found = merged_partitions(psi, embed(psi, spectrum), 3, np.random.RandomState(0))
        for partition in found:
            assert partition.landmark_scores.dtype == dtype
            assert clustering_accuracy(labels, assign(psi, spectrum, partition)) > 0.95

    def test_fewer_rows_than_parts_are_no_obstacle(self):
        psi = csr_matrix(np.repeat(np.eye(3), 2, axis=0))
        embedding = embed(psi, spectrum_of(psi, 2))
        for partition in merged_partitions(psi, embedding, 3, np.random.RandomState(0)):
            labels = assign(psi, spectrum_of(psi, 2), partition)
            assert clustering_accuracy(np.repeat([0, 1, 2], 2), labels) == 1


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
        predicted = assign(psi, spectrum, found)
        assert clustering_accuracy(labels, predicted) > 0.97
        assert found.modularity == pytest.approx(reference.modularity(P, predicted, k), abs=1e-5)

    @pytest.mark.parametrize("counts", [[8, 5, 3, 4], [1, 3], [1, 8, 3, 2]])
    def test_takes_as_many_eigenvectors_as_needed_and_no_more(self, counts):
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
        assert found.n_vectors == 3

    def test_joined_parts_are_candidates_too(self):
        """k-means on one vector cannot tell four clusters apart; parts of all vectors can."""
        P, labels = planted_graph((50, 50, 50, 50), stray=0.05)
        psi = csr_matrix(P)
        spectrum = spectrum_of(psi, 8)
        found = choose_partition(
            psi, spectrum, np.arange(200), 4, counts=[1], n_starts=5, polish=True, rng=np.random.RandomState(0)
        )
        assert clustering_accuracy(labels, assign(psi, spectrum, found)) > 0.97

    def test_the_best_refined_candidate_wins(self, monkeypatch):
        """Of starts on one vector and on three, with no help from joined parts."""
        P, labels = planted_graph((50, 50, 50, 50), stray=0.2)
        psi = csr_matrix(P)
        spectrum = spectrum_of(psi, 8)
        monkeypatch.setattr(module, "merged_partitions", lambda *arguments: [Partition(4, 1, np.zeros((4, 1)))])
        found = choose_partition(
            psi, spectrum, np.arange(200), 4, counts=[1, 3], n_starts=5, polish=True, rng=np.random.RandomState(0)
        )
        assert clustering_accuracy(labels, assign(psi, spectrum, found)) > 0.95

    @pytest.mark.parametrize("sizes", [(400, 40, 40, 40), (300, 60, 30)])
    def test_polishing_never_ends_below_where_it_began(self, sizes):
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
            )
            for polish in (False, True)
        )
        assert polished.modularity > plain.modularity - 0.02
        assert len(np.unique(assign(psi, spectrum, polished))) == k

    def test_rows_that_do_not_count_have_no_say(self):
        P, _ = planted_graph((60, 60), stray=0.1)
        psi = csr_matrix(np.concatenate([P, random_graph(np.random.default_rng(0), 40, 12)]))
        spectrum = spectrum_of(psi, 2)
        found, alone = (
            choose_partition(
                rows, spectrum, np.arange(120), 2, counts=[1, 2], n_starts=3, polish=True, rng=np.random.RandomState(0)
            )
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
        assert clustering_accuracy(labels, assign(psi, spectrum, found)) > 0.97

    def test_same_seed_same_partition(self):
        psi = csr_matrix(random_graph(np.random.default_rng(0), 80, 20))
        spectrum = spectrum_of(psi, 6)
        first, second = (
            choose_partition(
                psi, spectrum, np.arange(80), 3, counts=[2, 6], n_starts=2, polish=False, rng=np.random.RandomState(5)
            )
            for _ in range(2)
        )
        np.testing.assert_array_equal(first.centers, second.centers)

    def test_more_vectors_than_the_spectrum_has_are_not_asked_for(self):
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
        assert found.n_vectors == 4


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
    def test_are_positive_ascending_and_begin_where_clean_clusters_end(self, k):
        counts = vector_counts(k)
        assert counts == sorted(set(counts))
        assert counts[0] == max(1, k - 1)
        assert counts[-1] >= 1.6 * k - 1
