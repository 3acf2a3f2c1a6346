"""k-means against the slow version and scikit-learn, and at its edges."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

from subspaces.spectral import kmeans as module
from subspaces.spectral.kmeans import kmeans, lloyd, move_centers, nearest_centers, spread_rows

# One run of every test walks its rows in blocks of 16, one in a single block.
pytestmark = pytest.mark.usefixtures("block_bytes")


@pytest.fixture(params=[1, 2**24], ids=["small blocks", "one block"])
def block_bytes(request, tiny_blocks):
    tiny_blocks(request.param)


def blobs(n=150, k=4, seed=0, dtype=np.float64):
    return make_blobs(n, 3, centers=k, cluster_std=1.5, random_state=seed)[0].astype(dtype)


def row_starts(x, k, count, seed=0):
    """Starting centres (count, k, p) at random rows."""
    rng = np.random.default_rng(seed)
    return np.stack([x[rng.choice(len(x), k, replace=False)] for _ in range(count)])


class TestLloyd:
    @pytest.mark.parametrize("max_iter", [1, 2, 100])
    def test_every_start_of_a_batch_goes_its_own_way(self, max_iter):
        x = blobs()
        starts = row_starts(x, 4, 6)
        runs = lloyd(x, starts, max_iter=max_iter, tolerance=0)
        assert runs.points.shape == (6, 4, 3)
        for start, points, inertia in zip(starts, runs.points, runs.inertia, strict=True):
            _, centers, expected = reference.lloyd(x, start, max_iter)
            np.testing.assert_allclose(points, centers, atol=1e-10)
            assert inertia == pytest.approx(expected, rel=1e-12)

    def test_inertia_falls_with_every_step(self):
        x = blobs(seed=1)
        starts = row_starts(x, 5, 4)
        steps = np.array([lloyd(x, starts, max_iter=count, tolerance=0).inertia for count in range(12)])
        assert (np.diff(steps, axis=0) <= 1e-9 * steps[:-1]).all()
        assert (steps[-1] < 0.9 * steps[0]).any()

    @pytest.mark.parametrize("k", [2, module.FEW_CENTERS, module.FEW_CENTERS + 1])
    def test_few_and_many_centres_move_alike(self, k):
        x = blobs(400, seed=k)
        starts = row_starts(x, k, 2)
        for start, points in zip(starts, move_centers(x, starts, max_iter=3, tolerance=0), strict=True):
            np.testing.assert_allclose(points, reference.lloyd(x, start, 3)[1], atol=1e-10)

    def test_a_start_that_rests_does_not_wait_for_the_others(self):
        x = blobs(300)
        starts = row_starts(x, 4, 8)
        alone = [move_centers(x, start[None], max_iter=100)[0] for start in starts]
        np.testing.assert_allclose(move_centers(x, starts, max_iter=100), alone, atol=1e-10)

    def test_tolerance_is_in_units_of_the_variance(self):
        x = blobs()
        starts = row_starts(x, 4, 1)
        for scale in (1e-6, 1.0, 1e6):
            runs = lloyd(scale * x, scale * starts, max_iter=100, tolerance=100)
            _, centers, _ = reference.lloyd(x, starts[0], 1)
            np.testing.assert_allclose(runs.points[0], scale * centers, rtol=1e-10)

    def test_a_centre_without_rows_moves_to_the_farthest_row(self):
        x = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [7.0, 0.0]])
        start = np.array([[[0.1, 0.1], [-50.0, 0.0]]])
        np.testing.assert_allclose(lloyd(x, start, max_iter=1).points[0], [x.mean(axis=0), x[3]])
        runs = lloyd(x, start, max_iter=10)
        np.testing.assert_array_equal(nearest_centers(x, runs.points[0]), [0, 0, 0, 1])

    def test_two_centres_without_rows_move_to_different_rows(self):
        x = np.array([[0.0], [1.0], [10.0], [-20.0]])
        start = np.array([[[0.0], [900.0], [800.0]], [[0.0], [1.0], [10.0]]])
        runs = lloyd(x, start, max_iter=1)
        np.testing.assert_allclose(runs.points[0], [[-2.25], [-20.0], [10.0]])
        assert lloyd(x, start, max_iter=50).inertia == pytest.approx([0.5, 0.5])


class TestKmeans:
    @pytest.mark.parametrize(("k", "seed"), [(3, 0), (8, 0), (8, 1)])
    def test_is_as_good_as_scikit_learn(self, k, seed):
        x = blobs(300, k, seed)
        runs = kmeans(x, k, n_starts=10, rng=np.random.RandomState(seed))
        # Threads that wait for each other would take most of the time here.
        with threadpool_limits(limits=1):
            peer = KMeans(k, n_init=10, random_state=seed).fit(x)
        assert runs.inertia.min() <= 1.05 * peer.inertia_

    def test_returns_every_run_with_its_inertia(self):
        x = blobs(n=120, k=6)
        runs = kmeans(x, 6, n_starts=5, rng=np.random.RandomState(0))
        assert runs.points.shape == (5, 6, 3)
        expected = [reference.nearest_centers(x, points)[1] for points in runs.points]
        np.testing.assert_allclose(runs.inertia, expected, rtol=1e-10)

    def test_same_seed_same_result(self):
        x = blobs()
        first, second = (kmeans(x, 4, n_starts=3, rng=np.random.RandomState(7)) for _ in range(2))
        np.testing.assert_array_equal(first.points, second.points)
        other = kmeans(x, 4, n_starts=3, rng=np.random.RandomState(8))
        assert not np.array_equal(first.points, other.points)

    def test_starts_found_among_some_of_the_rows_are_as_good(self, monkeypatch):
        x = blobs(2000, 5)
        full = kmeans(x, 5, n_starts=5, rng=np.random.RandomState(0)).inertia.min()
        monkeypatch.setattr(module, "SEED_ROWS", 100)
        assert kmeans(x, 5, n_starts=5, rng=np.random.RandomState(0)).inertia.min() <= 1.01 * full

    def test_float32_stays_and_is_accurate(self):
        x = blobs(dtype=np.float32)
        starts = row_starts(x, 4, 3)
        runs = lloyd(x, starts, max_iter=100, tolerance=0)
        assert runs.points.dtype == np.float32
        exact = lloyd(x.astype(float), starts.astype(float), max_iter=100, tolerance=0)
        np.testing.assert_allclose(runs.points, exact.points, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(runs.inertia, exact.inertia, rtol=1e-5)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("distinct", [1, 2, 3])
    def test_fewer_distinct_rows_than_clusters(self, distinct, dtype):
        x = np.repeat(np.random.default_rng(distinct).standard_normal((distinct, 3)), 7, axis=0).astype(dtype)
        runs = kmeans(x, 5, n_starts=4, rng=np.random.RandomState(0))
        assert np.isfinite(runs.points).all()
        np.testing.assert_allclose(runs.inertia, 0, atol=1e-5)
        for points in runs.points:
            np.testing.assert_allclose(points[nearest_centers(x, points)], x, atol=1e-3)

    def test_as_many_clusters_as_rows(self):
        x = blobs(n=6)
        runs = kmeans(x, 6, n_starts=2, rng=np.random.RandomState(0))
        np.testing.assert_allclose(runs.inertia, 0, atol=1e-10)

    def test_more_clusters_than_rows(self):
        runs = kmeans(np.eye(2), 5, n_starts=2, rng=np.random.RandomState(0))
        np.testing.assert_allclose(runs.inertia, 0, atol=1e-12)

    def test_rows_without_columns(self):
        runs = kmeans(np.zeros((5, 0)), 2, n_starts=3, rng=np.random.RandomState(0))
        assert runs.points.shape == (3, 2, 0)
        np.testing.assert_array_equal(runs.inertia, 0)


class TestStarts:
    def test_are_rows(self):
        x = blobs()
        start = spread_rows(x, 5, 1, np.random.RandomState(0))[0]
        assert (start[:, None] == x).all(axis=2).any(axis=1).all()

    def test_never_take_a_point_twice_while_others_are_left(self):
        points = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [300.0, 0.0], [300.0, 4.0]])
        x = np.repeat(points, [1, 50, 3, 20, 1], axis=0)
        for seed in range(20):
            start = spread_rows(x, 5, 1, np.random.RandomState(seed))[0]
            assert len(np.unique(start, axis=0)) == 5

    def test_are_better_than_random_rows(self):
        x = blobs(200, 10)
        spread = spread_rows(x, 10, 20, np.random.RandomState(0))
        cost = [lloyd(x, starts, max_iter=0).inertia.mean() for starts in (spread, row_starts(x, 10, 20))]
        assert cost[0] < 0.8 * cost[1]


class TestNearestCenters:
    def test_matches_the_reference(self):
        rng = np.random.default_rng(0)
        x, centers = rng.standard_normal((70, 4)), rng.standard_normal((9, 4))
        labels = nearest_centers(x, centers)
        assert labels.dtype == np.int32
        np.testing.assert_array_equal(labels, reference.nearest_centers(x, centers)[0])

    def test_ties_go_to_the_lower_index(self):
        x = np.array([[0.0, 0.0], [0.0, 3.0], [2.0, 0.0]])
        centers = np.array([[5.0, 5.0], [1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]])
        np.testing.assert_array_equal(nearest_centers(x, centers), [1, 1, 1])

    def test_rows_without_columns_go_to_the_first(self):
        np.testing.assert_array_equal(nearest_centers(np.zeros((4, 0)), np.zeros((3, 0))), [0, 0, 0, 0])
