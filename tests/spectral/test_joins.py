"""Joins and separation against the slow versions, what leaves them as they are, and clusters of unequal sizes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from examples import planted_graph, random_graph, ring_graph
from subspaces.metrics import clustering_accuracy
from subspaces.spectral import joins as module
from subspaces.spectral.joins import (
    EVENNESS,
    SMALL_CLUSTER,
    WEAK_JOIN,
    PartGraph,
    cut_join,
    join_by_modularity,
    join_by_strength,
    joins,
    part_graphs,
    separation,
)
from subspaces.spectral.kmeans import Centers
from subspaces.spectral.spectrum import compute_spectrum, embed

few = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10_000)
ways_to_join = pytest.mark.parametrize("join", [join_by_modularity, join_by_strength])


def graph_of(P, parts):
    """The graph of given parts (n,), by the slow sums."""
    count = int(parts.max()) + 1
    shares = reference.cluster_landmark_shares(P, parts, count)
    return PartGraph(parts.astype(np.int32), shares, reference.part_weights(P, parts, count))


def weighted(W):
    """The graph of parts with the weights W (M, M), scaled to sum one."""
    return PartGraph(np.arange(len(W), dtype=np.int32), W / W.sum(), W / W.sum())


def random_parts(rng, n, n_parts):
    """Parts (n,) of very different sizes, each with a row at least."""
    skewed = rng.choice(n_parts, n, p=np.arange(1, n_parts + 1) ** 2 / np.square(np.arange(1, n_parts + 1)).sum())
    return rng.permutation(np.concatenate([np.arange(n_parts), skewed[n_parts:]]))


def graphs_of_psi(P, n_clusters, *, seed=0, **options):
    psi = csr_matrix(P)
    embedding = embed(psi, compute_spectrum(lambda: iter((psi,)), n_clusters + 4, balanced=True))
    return part_graphs(psi, embedding, n_clusters, np.random.RandomState(seed), **options)


def together(groups):
    """Which of the parts (M,) are in one group: (M, M)."""
    return groups[:, None] == groups


class TestPartGraphs:
    @pytest.mark.parametrize("form", [np.asarray, csr_matrix])
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_weights_match_the_slow_sum(self, form, dtype):
        rng = np.random.default_rng(0)
        P = random_graph(rng, 300).astype(dtype)
        found = part_graphs(form(P), rng.standard_normal((300, 3)).astype(dtype), 2, np.random.RandomState(0))
        for graph in found:
            expected = reference.part_weights(P.astype(np.float64), graph.labels, len(graph.weights))
            np.testing.assert_allclose(graph.weights, expected, atol=1e-7 if dtype == np.float32 else 1e-14)
            np.testing.assert_allclose(graph.weights, graph.weights.T, atol=1e-16)
            np.testing.assert_allclose(graph.weights.sum(axis=1), graph.shares.sum(axis=1), atol=1e-14)
            assert graph.weights.sum() == pytest.approx(1)

    @pytest.mark.parametrize(
        ("n", "n_clusters", "expected"),
        [
            (2000, 2, [25, 50, 50]),
            (2000, 10, [50, 80, 120]),
            # Ten rows in a part, but twice as many parts as clusters, but no more than rows.
            (300, 2, [25, 30, 30]),
            (60, 5, [10, 10, 10]),
            (8, 5, [8, 8, 8]),
        ],
    )
    def test_numbers_of_parts(self, n, n_clusters, expected):
        rows = np.random.default_rng(0).standard_normal((n, 5))
        for n_draws in (1, 2):
            found = part_graphs(np.ones((n, 1)), rows, n_clusters, np.random.RandomState(0), n_draws=n_draws)
            counts = [len(graph.weights) for graph in found]
            # k-means now and then ends with a part less.
            np.testing.assert_allclose(counts, expected * n_draws, atol=2)
            assert all(np.bincount(graph.labels).min() > 0 for graph in found)
            assert all(graph.labels.dtype == np.int32 for graph in found)

    def test_parts_do_not_depend_on_lengths_of_rows(self):
        rng = np.random.default_rng(0)
        rows = rng.standard_normal((200, 3))
        scales = 2.0 ** rng.integers(-3, 4, size=(200, 1))
        for one, other in zip(
            *(part_graphs(np.ones((200, 1)), each, 3, np.random.RandomState(0)) for each in (rows, scales * rows)),
            strict=True,
        ):
            np.testing.assert_array_equal(one.labels, other.labels)
            spread = [reference.unit_rows(rows)[one.labels == part].var(axis=0).sum() for part in set(one.labels)]
            assert np.mean(spread) < 0.2

    def test_same_seed_same_parts(self):
        rows = np.random.default_rng(0).standard_normal((200, 3))
        first, second, other = (
            part_graphs(np.ones((200, 1)), rows, 3, np.random.RandomState(seed))[0] for seed in (4, 4, 5)
        )
        np.testing.assert_array_equal(first.labels, second.labels)
        assert (first.labels != other.labels).any()

    def test_one_row_and_copies_of_one_are_one_part(self):
        for n in (1, 30):
            for graph in part_graphs(csr_matrix(np.tile([0.5, 0, 0.5], (n, 1))), np.ones((n, 2)), 1, np.random):
                np.testing.assert_allclose(graph.weights, [[1]])
                np.testing.assert_array_equal(graph.labels, 0)

    def test_centres_without_rows_are_dropped(self, monkeypatch):
        centers = np.array([[[1.0, 0], [-1, -1], [0, 1], [-1, 0]]])
        nearest = np.repeat([[0, 2]], 20, axis=1).astype(np.int32)
        monkeypatch.setattr(module, "kmeans", lambda *arguments, **options: Centers(centers, np.zeros(1), nearest))
        for graph in part_graphs(np.ones((40, 1)), np.repeat(np.eye(2), 20, axis=0), 2, np.random.RandomState(0)):
            np.testing.assert_array_equal(graph.labels, np.repeat([0, 1], 20))
            np.testing.assert_allclose(graph.weights, 0.25)

    def test_rows_without_landmarks_are_parts_without_weight(self):
        P, embedding = np.zeros((40, 3)), np.zeros((40, 2))
        P[:20, 0] = embedding[:20, 0] = embedding[20:, 1] = 1
        for graph in part_graphs(csr_matrix(P), embedding, 2, np.random.RandomState(0)):
            np.testing.assert_allclose(sorted(np.diag(graph.weights)), [0, 0.5])


class TestGroups:
    @few
    @given(seed=seeds, k=st.integers(1, 5))
    def test_go_with_most_of_their_rows(self, seed, k):
        rng = np.random.default_rng(seed)
        parts, labels = random_parts(rng, 60, 9), rng.integers(k, size=60)
        found = graph_of(random_graph(rng, 60), parts).groups_of(labels, k)
        np.testing.assert_array_equal(found, reference.majority(parts, labels, k))


class TestJoins:
    @few
    @given(seed=seeds)
    def test_match_the_formula(self, seed):
        rng = np.random.default_rng(seed)
        W = graph_of(random_graph(rng, 60), random_parts(rng, 60, 9)).weights
        found = joins(W)
        expected = [[reference.join(W, a, b) for b in range(9)] for a in range(9)]
        np.testing.assert_allclose(found, expected, atol=1e-12)
        np.testing.assert_allclose(np.diag(found), 1)
        assert found.max() <= 1 + 1e-12
        np.testing.assert_allclose(joins(1e-9 * W), found, atol=1e-12)

    @pytest.mark.parametrize("share", [0.5, 0.1])
    def test_are_one_between_parts_at_random_and_zero_between_strangers(self, share):
        """Of a cluster of 400 rows, whatever their sizes."""
        P, labels = planted_graph((400, 400), stray=0)
        halves = np.random.default_rng(0).random(800) < share
        rho = joins(graph_of(P, 2 * labels + halves).weights)
        assert rho[0, 1] > 0.95
        assert rho[2, 3] > 0.95
        np.testing.assert_array_equal(rho[:2, 2:], 0)

    def test_parts_with_tiny_or_zero_weight(self):
        W = np.diag([0.5, 0.5, 1e-222, 0.0, 1e-310])
        W[0, 2] = W[2, 0] = 5e-112
        rho = joins(W)
        np.testing.assert_allclose(np.diag(rho), [1, 1, 1, 0, 0])
        assert rho[0, 2] == pytest.approx(5e-112 / np.sqrt(0.5e-222))
        assert np.isfinite(rho).all()


class TestCutJoin:
    @few
    @given(seed=seeds, k=st.integers(1, 5))
    def test_matches_the_double_sum(self, seed, k):
        rng = np.random.default_rng(seed)
        graph = graph_of(random_graph(rng, 60), random_parts(rng, 60, 9))
        groups = rng.integers(k, size=9)
        assert cut_join(graph, groups) == pytest.approx(reference.cut_join(graph.weights, groups), abs=1e-12)

    @few
    @given(seed=seeds)
    def test_names_order_and_scale_do_not_matter(self, seed):
        rng = np.random.default_rng(seed)
        graph = graph_of(random_graph(rng, 60), random_parts(rng, 60, 9))
        groups, order = rng.integers(3, size=9), rng.permutation(9)
        expected = cut_join(graph, groups)
        assert cut_join(graph, np.array([5, 0, 2])[groups]) == pytest.approx(expected)
        moved = PartGraph(np.argsort(order)[graph.labels], graph.shares[order], graph.weights[np.ix_(order, order)])
        assert cut_join(moved, groups[order]) == pytest.approx(expected)
        scaled = PartGraph(graph.labels, graph.shares, 1e-6 * graph.weights)
        assert cut_join(scaled, groups) == pytest.approx(expected)

    def test_nothing_is_cut(self):
        connected = graph_of(*planted_graph((30, 30)))
        assert cut_join(connected, np.zeros(2, np.intp)) == 0
        assert cut_join(connected, np.arange(2)) > 0
        assert cut_join(graph_of(*planted_graph((30, 30), stray=0)), np.arange(2)) == 0
        assert cut_join(PartGraph(np.zeros(1, np.int32), np.ones((1, 1)), np.ones((1, 1))), np.zeros(1, np.intp)) == 0

    @pytest.mark.parametrize("weight", [1e-222, 1e-310])
    def test_a_cut_of_tiny_weight(self, weight):
        W = np.array([[0.5, weight], [weight, 0.5]])
        assert cut_join(PartGraph(np.arange(2, dtype=np.int32), W, W), np.arange(2)) == pytest.approx(2 * weight)

    def test_all_weights_zero(self):
        nothing = PartGraph(np.arange(3, dtype=np.int32), np.zeros((3, 2)), np.zeros((3, 3)))
        assert cut_join(nothing, np.arange(3)) == 0


class TestSeparation:
    @few
    @given(seed=seeds, k=st.integers(1, 5))
    def test_matches_the_formula(self, seed, k):
        rng = np.random.default_rng(seed)
        P = random_graph(rng, 60)
        parts = [random_parts(rng, 60, count) for count in (6, 9)]
        labels = rng.integers(k, size=60).astype(np.int32)
        found = separation([graph_of(P, each) for each in parts], labels, k)
        assert found == pytest.approx(reference.separation(P, parts, labels, k), abs=1e-10)

    @few
    @given(seed=seeds)
    def test_the_order_of_rows_landmarks_and_parts_does_not_matter(self, seed):
        rng = np.random.default_rng(seed)
        P, parts = random_graph(rng, 60), random_parts(rng, 60, 9)
        labels = rng.integers(3, size=60).astype(np.int32)
        rows, landmarks, names = rng.permutation(60), rng.permutation(12), rng.permutation(9)
        moved = graph_of(P[rows][:, landmarks], names[parts[rows]])
        assert separation([moved], labels[rows], 3) == pytest.approx(separation([graph_of(P, parts)], labels, 3))

    @few
    @given(seed=seeds)
    def test_the_names_of_clusters_do_not_matter(self, seed):
        """Where no part is undecided between two."""
        rng = np.random.default_rng(seed)
        P, parts = random_graph(rng, 60), random_parts(rng, 60, 9)
        labels = rng.permutation(np.arange(9) % 3)[parts].astype(np.int32)
        renamed = np.array([2, 0, 1], np.int32)[labels]
        graphs = [graph_of(P, parts)]
        assert separation(graphs, renamed, 3) == pytest.approx(separation(graphs, labels, 3))

    def test_a_cluster_without_a_part_is_not_separate(self):
        """A few rows inside a part are not seen; taking that for a clean cut made such clusters the best of all."""
        P, parts = planted_graph((30, 30, 30), stray=0.1)
        labels = parts.astype(np.int32)
        labels[labels == 2] = 1
        hidden = np.zeros(90, np.int32)
        hidden[:10] = 1
        graph = graph_of(P, parts)
        assert separation([graph], hidden, 2) < separation([graph], labels, 2) - 0.5

    def test_extreme_values(self):
        P, labels = planted_graph((30, 30, 30), stray=0)
        graph = graph_of(P, labels)
        clean = EVENNESS * 3 * np.log(3) - np.log(WEAK_JOIN)
        assert separation([graph], labels.astype(np.int32), 3) == pytest.approx(clean)
        assert separation([graph], np.zeros(90, np.int32), 1) == pytest.approx(-np.log(WEAK_JOIN))
        same = graph_of(np.ones((6, 1)), np.arange(6))
        assert separation([same], np.arange(6, dtype=np.int32), 6) == pytest.approx(1.5 * np.log(6) - np.log1p(0.005))

    def test_one_row(self):
        graph = graph_of(np.array([[0.5, 0, 0.5]]), np.zeros(1, np.intp))
        assert separation([graph], np.zeros(1, np.int32), 1) == pytest.approx(-np.log(WEAK_JOIN))

    def test_a_cluster_without_rows_is_not_separate(self):
        rng = np.random.default_rng(0)
        P, parts, labels = random_graph(rng, 60), random_parts(rng, 60, 9), rng.integers(2, size=60).astype(np.int32)
        found = separation([graph_of(P, parts)], 2 * labels, 3)
        assert found == pytest.approx(reference.separation(P, [parts], 2 * labels, 3))
        assert found < separation([graph_of(P, parts)], labels, 2)

    def test_of_equally_weak_joins_the_more_even_partition_is_better(self):
        P, labels = planted_graph((20, 30, 50), stray=0)
        graph = graph_of(P, labels)
        halves, uneven = (separation([graph], np.isin(labels, own).astype(np.int32), 2) for own in ([2], [0]))
        assert halves > uneven

    @pytest.mark.parametrize("seed", range(3))
    def test_a_small_cluster_is_better_than_halves_of_a_large_one(self, seed):
        P, labels = ring_graph((1000, 50), seed=seed)
        graphs = graphs_of_psi(P, 2, seed=seed)
        halves = (np.arange(1050) >= 500).astype(np.int32)
        assert separation(graphs, labels, 2) > separation(graphs, halves, 2) + 1
        assert clustering_accuracy(labels, halves) < 0.6


class TestJoinByModularity:
    @pytest.mark.parametrize("n_groups", [1, 2, 4, 7])
    def test_every_step_gains_the_most_modularity(self, n_groups):
        for seed in range(10):
            rng = np.random.default_rng(seed)
            P, parts = random_graph(rng, 60), rng.permutation(np.arange(60) % 7)
            expected = np.arange(7)
            for _ in range(7 - n_groups):
                options = [np.where(expected == b, a, expected) for a, b in combinations(np.unique(expected), 2)]
                expected = max(options, key=lambda groups: reference.modularity(P, groups[parts], 7))
            found = join_by_modularity(graph_of(P, parts), n_groups)
            np.testing.assert_array_equal(together(found), together(expected))


class TestJoinByStrength:
    @pytest.mark.parametrize("n_groups", [1, 2, 4, 9])
    def test_every_step_joins_the_strongest(self, n_groups):
        small = 0
        for seed in range(15):
            rng = np.random.default_rng(seed)
            graph = graph_of(random_graph(rng, 150), random_parts(rng, 150, 9))
            expected = np.empty(9, np.intp)
            for name, group in enumerate(reference.join_by_strength(graph.weights, n_groups)):
                expected[list(group)] = name
            np.testing.assert_array_equal(together(join_by_strength(graph, n_groups)), together(expected))
            small += graph.weights.sum(axis=1).min() < SMALL_CLUSTER / n_groups
        assert small > 5 or n_groups > 4

    @pytest.mark.parametrize("seed", range(3))
    def test_finds_a_small_cluster_that_modularity_misses(self, seed):
        P, labels = ring_graph((1000, 50), seed=seed)
        for graph in graphs_of_psi(P, 2, seed=seed):
            by_strength, by_modularity = (
                clustering_accuracy(labels, join(graph, 2)[graph.labels])
                for join in (join_by_strength, join_by_modularity)
            )
            assert by_strength == 1
            assert by_modularity < 0.7

    @pytest.mark.parametrize(("sizes", "stray"), [((500, 500, 20), 0), ((1000, 20), 0), ((1000, 20), 0.02)])
    def test_a_clump_too_small_for_a_cluster_goes_to_another(self, sizes, stray, monkeypatch):
        """20 rows of 1020 are less than a twentieth of an average of two clusters, but more than a hundredth."""
        graphs = graphs_of_psi(ring_graph(sizes, stray=stray)[0], 2)
        least = [np.bincount(join_by_strength(graph, 2)[graph.labels]).min() for graph in graphs]
        assert min(least) >= SMALL_CLUSTER / 2 * 1020
        if len(sizes) == 3:
            assert set(least) == {500}
        monkeypatch.setattr(module, "SMALL_CLUSTER", 0.01)
        least = [np.bincount(join_by_strength(graph, 2)[graph.labels]).min() for graph in graphs]
        assert max(least) <= 20

    def test_small_groups_are_joined_last(self):
        """Part 3 is joined more to 2 than to 0 or to 1, but less than to both of them together."""
        W = np.diag([0.3, 0.3, 0.3, 0.01])
        W[0, 1] = W[1, 0] = 0.03
        W[3, :3] = W[:3, 3] = [1e-4, 1e-4, 1.2e-4]
        np.testing.assert_array_equal(together(join_by_strength(weighted(W), 3)), together(np.array([0, 1, 2, 2])))
        np.testing.assert_array_equal(together(join_by_strength(weighted(W), 2)), together(np.array([0, 0, 1, 0])))


@ways_to_join
class TestBothWaysToJoin:
    @pytest.mark.parametrize("seed", range(5))
    def test_the_order_of_parts_does_not_matter(self, join, seed):
        rng = np.random.default_rng(seed)
        graph = graph_of(random_graph(rng, 150), random_parts(rng, 150, 9))
        order = rng.permutation(9)
        moved = PartGraph(np.argsort(order)[graph.labels], graph.shares[order], graph.weights[np.ix_(order, order)])
        for n_groups in (1, 2, 4):
            found = join(graph, n_groups)
            np.testing.assert_array_equal(together(join(moved, n_groups)), together(found[order]))

    def test_the_graph_is_not_touched(self, join):
        graph = graph_of(*planted_graph())
        before = graph.weights.copy()
        join(graph, 2)
        np.testing.assert_array_equal(graph.weights, before)

    @pytest.mark.parametrize("n_groups", [1, 3, 9, 12])
    def test_groups_are_numbered_and_as_many_as_wanted_and_possible(self, join, n_groups):
        graph = graph_of(random_graph(np.random.default_rng(0), 60), np.arange(60) % 9)
        np.testing.assert_array_equal(np.unique(join(graph, n_groups)), np.arange(min(9, n_groups)))

    def test_pieces_without_any_join_stay_apart(self, join):
        P, labels = planted_graph((40, 40, 40), stray=0)
        parts = 3 * labels + np.arange(120) % 3
        np.testing.assert_array_equal(join(graph_of(P, parts), 3), np.repeat([0, 1, 2], 3))
        # Two of them must become one where two groups are wanted, and all of them where one is.
        assert np.unique(together(join(graph_of(P, parts), 2)).sum(axis=1)).tolist() == [3, 6]
        np.testing.assert_array_equal(join(graph_of(P, parts), 1), 0)

    @pytest.mark.parametrize("weight", [0, 1e-310, 1e-222, 1e-150])
    def test_parts_with_tiny_or_zero_weight(self, join, weight):
        W = np.array([[0.3, 0.1, 0, 0], [0.1, 0.3, 0.01, 0], [0, 0.01, 0.2, weight], [0, 0, weight, weight]])
        found = join(weighted(W), 2)
        assert found[0] == found[1] != found[2]
        nearly_nothing = PartGraph(np.arange(4, dtype=np.int32), weight * W, weight * W)
        np.testing.assert_array_equal(np.unique(join(nearly_nothing, 2)), [0, 1])

    def test_one_part(self, join):
        graph = graph_of(np.ones((3, 1)), np.zeros(3, np.intp))
        np.testing.assert_array_equal(join(graph, 1), [0])
        np.testing.assert_array_equal(join(graph, 2), [0])


def test_parts_start_greedily_in_every_other_draw(monkeypatch):
    ways = []

    def recorded(rows, n_parts, *, greedy, **options):
        ways.append((n_parts, greedy))
        return module_kmeans(rows, n_parts, greedy=greedy, **options)

    module_kmeans = module.kmeans
    monkeypatch.setattr(module, "kmeans", recorded)
    rows = np.random.default_rng(0).normal(size=(600, 3))
    found = part_graphs(np.ones((600, 1)), rows, 3, np.random.RandomState(0), n_draws=3)
    plain = sorted(n_parts for n_parts, greedy in ways if not greedy)
    assert len(found) == len(ways) == 3 * len(module.PARTS)
    assert sorted(n_parts for n_parts, greedy in ways if greedy) == sorted(2 * plain)
