"""Clusters that are flat as a whole: told by the shortest description, and left alone where they are curved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs, make_moons

from subspaces.datasets import make_motions, make_subspaces
from subspaces.flats.description import fit_cell, measure, shortest_code
from subspaces.flats.flats import Flats
from subspaces.flats.least_noise import least_noise_flat
from subspaces.metrics import clustering_accuracy
from subspaces.selection import whole_flats as flat_clusters
from subspaces.selection.whole_flats import flats_of, is_flat, labels_of, shortest_flat_code


def flat_code(X, starts, n_clusters, seed=0):
    return shortest_flat_code(X, starts, n_clusters, np.random.RandomState(seed))


def spoiled(y, n_clusters, share=0.2, seed=0):
    """Labels (n,) of which a share is at random; outliers get one too."""
    rng = np.random.default_rng(seed)
    wrong = (rng.random(len(y)) < share) | (y < 0)
    return np.where(wrong, rng.integers(n_clusters, size=len(y)), y).astype(np.int32)


def curved_moons(seed=0, n=400):
    """Two moons in ten columns, each a wave of the two that they have: no flat of a few dimensions holds one."""
    rng = np.random.default_rng(seed)
    X, y = make_moons(n, noise=0.05, random_state=seed)
    return np.sin(X @ rng.normal(size=(2, 10)) + rng.uniform(0, 6, 10)), y.astype(np.int32)


def cell_of(rows):
    return fit_cell(measure(rows, affine=True), np.arange(len(rows)))


@pytest.fixture
def no_search(monkeypatch):
    """Only the given starts."""
    monkeypatch.setattr(flat_clusters, "codes_by_count", lambda *arguments, **options: {})


class TestIsFlat:
    @pytest.mark.parametrize(("dim", "p", "expected"), [(1, 3, True), (2, 3, True), (6, 9, True), (7, 9, False)])
    def test_a_few_directions_and_noise(self, dim, p, expected):
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(300, dim)) @ np.linalg.qr(rng.normal(size=(p, dim)))[0].T
        cell = cell_of(rows + 0.02 * rng.normal(size=(300, p)) + 5)
        assert cell.dim == dim
        assert is_flat(cell) is expected

    def test_a_round_cluster_is_not_flat(self):
        cell = cell_of(np.random.default_rng(0).normal(size=(300, 6)))
        assert cell.dim == 0
        assert not is_flat(cell)

    def test_slowly_decreasing_variances_are_not_flat(self):
        rng = np.random.default_rng(0)
        assert not is_flat(cell_of(rng.normal(size=(2000, 8)) * 1.3 ** -np.arange(8)))
        assert not is_flat(cell_of(rng.normal(size=(2000, 8)) * [1, 1, 0.1, 0.07, 0.07, 0.07, 0.07, 0.07]))

    def test_every_direction_must_count(self):
        rng = np.random.default_rng(0)
        cell = cell_of(rng.normal(size=(300, 9)) * ([1] * 3 + [0.01] * 6))
        assert is_flat(cell)
        assert not is_flat(replace(cell, dim=2))
        assert not is_flat(replace(cell, dim=0, basis=cell.basis[:, :0]))

    def test_an_empty_cluster_has_no_dimension(self):
        assert not is_flat(None)


class TestLabels:
    def test_background_rows_have_no_cluster(self):
        X, y = make_subspaces((2, 2), 6, points_per_subspace=80, outliers=0.1, random_state=0)
        code = shortest_code(measure(X, affine=True), y, 2, free=False)
        found = labels_of(code)
        assert found.dtype == np.int32
        np.testing.assert_array_equal(found[code.chosen < 2], code.chosen[code.chosen < 2])
        assert (found[code.chosen == 2] == -1).all()
        assert (found == y).mean() > 0.97
        assert set(found) == {-1, 0, 1}


class TestFlatClusters:
    @pytest.mark.parametrize("outliers", [0, 0.1])
    @pytest.mark.parametrize(
        ("dims", "p", "sizes"), [((2, 3), 8, [300, 30]), ((1, 2, 4), 10, [200, 100, 40]), ((2, 2), 7, [150, 150])]
    )
    def test_subspaces_of_unequal_sizes(self, dims, p, sizes, outliers):
        X, y = make_subspaces(dims, p, points_per_subspace=sizes, outliers=outliers, random_state=0)
        k = len(dims)
        code = flat_code(X, [spoiled(y, k, seed=seed) for seed in range(3)], k)
        found = labels_of(code)
        assert clustering_accuracy(y, found) > 0.97
        # One name for each cluster, so that the dimension of each can be looked up.
        names = [np.bincount(found[(y == each) & (found >= 0)]).argmax() for each in range(k)]
        assert [code.cells[name].dim for name in names] == list(dims)
        assert (found < 0).mean() == pytest.approx((y < 0).mean(), abs=0.01)

    @pytest.mark.parametrize("noise", [0.002, 0.01])
    @pytest.mark.parametrize("seed", range(2))
    def test_motions_of_unequal_sizes(self, noise, seed):
        """A planar motion spans two dimensions, one in space three."""
        X, y = make_motions(2, [150, 40], noise=noise, kind=["planar", "general"], random_state=seed)
        code = flat_code(X, [spoiled(y, 2)], 2)
        assert clustering_accuracy(y, labels_of(code)) > 0.99
        large, small = (cell.dim for cell in sorted(code.cells, key=lambda cell: -cell.size))
        assert large == 2
        # A stray row among forty can take a direction of its own.
        assert small in (3, 4)

    @pytest.mark.parametrize("seed", range(3))
    def test_curved_clusters_are_not_flat(self, seed):
        X, y = curved_moons(seed)
        assert flat_code(X, [y, spoiled(y, 2)], 2) is None
        assert flat_code(X, [], 2) is None

    def test_digits_and_blobs_are_not_flat(self):
        X, y = load_digits(n_class=4, return_X_y=True)
        assert flat_code(X[:200], [y[:200].astype(np.int32)] * 2, 4) is None
        X, y = make_blobs(200, n_features=5, centers=3, random_state=0)
        assert flat_code(X, [y.astype(np.int32)] * 2, 3) is None

    def test_one_curved_cluster_spoils_the_flat_ones(self):
        moons, y = curved_moons()
        plane = make_subspaces((2,), 10, points_per_subspace=200, outliers=0, random_state=0)[0] + 4
        X, labels = np.concatenate([moons[y == 0], plane]), np.repeat([0, 1], 200).astype(np.int32)
        assert flat_code(X, [labels, spoiled(labels, 2)], 2) is None

    def test_curves_in_one_plane_are_not_flat(self):
        X, y = make_moons(400, noise=0.05, random_state=0)
        rng = np.random.default_rng(0)
        X = X @ np.linalg.qr(rng.normal(size=(10, 2)))[0].T + 0.02 * rng.normal(size=(400, 10))
        assert flat_code(X, [y.astype(np.int32)] * 2, 2) is None

    def test_without_a_start(self):
        X, y = make_subspaces((2, 3), 8, points_per_subspace=[300, 30], outliers=0, random_state=0)
        assert clustering_accuracy(y, labels_of(flat_code(X, [], 2))) > 0.99


class TestStarts:
    def rows(self):
        return make_subspaces((2, 3), 8, points_per_subspace=[200, 60], outliers=0.05, random_state=0)

    def test_the_shortest_flat_description_is_taken(self, no_search):
        X, y = self.rows()
        starts = [spoiled(y, 2, share, seed=1) for share in (0.7, 0.3, 0)] + [np.zeros(len(y), np.int32)]
        space = measure(X, affine=True)
        codes = [shortest_code(space, labels, 2, free=free) for labels in starts for free in (False, True)]
        flat = [code.length for code in codes if all(cell and is_flat(cell) for cell in code.cells)]
        assert 1 < len(set(flat)) <= len(flat) < len(codes)
        for order in (starts, starts[::-1]):
            assert flat_code(X, order, 2).length == min(flat)

    def test_an_empty_cluster_is_not_flat(self, no_search):
        X, _ = make_subspaces((2,), 8, points_per_subspace=200, outliers=0, random_state=0)
        assert flat_code(X, [np.zeros(200, np.int32)], 1) is not None
        assert flat_code(X, [np.zeros(200, np.int32)], 2) is None

    def test_rows_without_a_cluster_at_the_start(self, no_search):
        X, y = self.rows()
        code = flat_code(X, [y.astype(np.int32)], 2)
        assert (y < 0).any()
        assert clustering_accuracy(y, labels_of(code)) > 0.98

    def test_two_without_any_flat_end_the_search(self, monkeypatch):
        searches = []
        monkeypatch.setattr(flat_clusters, "codes_by_count", lambda *arguments, **options: searches.append(1) or {})
        X, y = curved_moons()
        # Few rows are searched all the same.
        assert flat_code(X, [y] * 5, 2) is None
        assert len(searches) == 1
        searches.clear()
        monkeypatch.setattr(flat_clusters, "FEW_FLAT_ROWS", len(X) - 1)
        assert flat_code(X, [y] * 5, 2) is None
        assert searches == []
        # One start is not enough to be sure.
        assert flat_code(X, [y], 2) is None
        assert len(searches) == 1
        # If starts lead to flats, there is no search.
        flat, truth = self.rows()
        assert flat_code(flat, [spoiled(truth, 2)] * 2, 2) is not None
        assert len(searches) == 1

    @pytest.mark.parametrize("seed", range(3))
    def test_order_and_names_do_not_matter(self, no_search, seed):
        X, y = self.rows()
        order = np.random.default_rng(seed).permutation(len(y))
        start = spoiled(y, 2, seed=seed)
        expected = flat_code(X, [start], 2)
        moved = flat_code(X[order], [1 - start[order]], 2)
        assert moved.length == pytest.approx(expected.length)
        before, after = labels_of(expected)[order], labels_of(moved)
        np.testing.assert_array_equal(after, np.where(before < 0, -1, 1 - before))

    def test_rotation_scale_and_translation(self, no_search):
        X, y = self.rows()
        rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0]
        before = labels_of(flat_code(X, [spoiled(y, 2)], 2))
        for moved in (X @ rotation, 1e5 * X, 1e-5 * X, X + 30):
            np.testing.assert_array_equal(labels_of(flat_code(moved, [spoiled(y, 2)], 2)), before)

    def test_same_seed_same_code(self):
        X, _ = self.rows()
        first, second = (flat_code(X, [], 2, seed=3) for _ in range(2))
        np.testing.assert_array_equal(first.chosen, second.chosen)
        assert first.length == second.length

    def test_float32_rows(self, no_search):
        X, y = self.rows()
        wide, narrow = (labels_of(flat_code(each, [spoiled(y, 2)], 2)) for each in (X, X.astype(np.float32)))
        assert (wide == narrow).mean() > 0.99


class TestOddRows:
    def test_one_cluster(self):
        X, _ = make_subspaces((2,), 8, points_per_subspace=100, outliers=0, random_state=0)
        np.testing.assert_array_equal(labels_of(flat_code(X, [np.zeros(100, np.int32)], 1)), 0)

    @pytest.mark.parametrize("n", [1, 2, 5])
    def test_as_many_clusters_as_rows(self, n):
        X = np.random.default_rng(0).normal(size=(n, 4))
        assert flat_code(X, [np.arange(n, dtype=np.int32)], n) is None

    @pytest.mark.parametrize("rows", [np.zeros((20, 4)), np.ones((20, 4)), np.full((20, 4), 1e-222)])
    def test_copies_of_one_row(self, rows):
        assert flat_code(rows, [np.arange(20, dtype=np.int32) % 2], 2) is None

    def test_one_column(self):
        X = np.arange(30.0)[:, None]
        assert flat_code(X, [(np.arange(30) > 14).astype(np.int32)], 2) is None


class TestNearest:
    def test_by_hand(self):
        """A point, a line and a plane in space: the mean square counts, not the distance."""
        point, line, plane = (np.array([[0.0, 0, height]]) for height in (5, 0, 2))
        flats = [Flats(center, np.eye(3)[None, :, :dim]) for dim, center in enumerate((point, line, plane))]
        x = np.array([[0, 0, 4.9], [9, 0, 0.5], [9, 9, 2.1]])
        np.testing.assert_array_equal(least_noise_flat(x, flats), [0, 1, 2])
        # The plane is nearer: 0.9 against the root of 1.57, which is the sum over two directions.
        np.testing.assert_array_equal(least_noise_flat(np.array([[0, 0.6, 1.1]]), flats), [1])

    def test_flats_are_those_of_the_rows_coded_by_them(self):
        X, y = make_subspaces((1, 3), 6, points_per_subspace=80, noise=0.01, outliers=0.2, random_state=0)
        code = flat_code(X, [spoiled(y, 2)], 2)
        flats = flats_of(X, code)
        assert sorted(flat.dim for flat in flats) == [1, 3]
        for k, flat in enumerate(flats):
            mean = X[labels_of(code) == k].mean(axis=0)
            np.testing.assert_allclose(flat.centers[0], mean)
        assert clustering_accuracy(y, least_noise_flat(X, flats)) > 0.98

    def test_blocks_of_rows_change_nothing(self, tiny_blocks):
        tiny_blocks(1000)
        X, y = make_subspaces((2, 2), 6, random_state=0)
        flats = flats_of(X, flat_code(X, [spoiled(y, 2)], 2))
        expected = [least_noise_flat(row[None], flats)[0] for row in X]
        np.testing.assert_array_equal(least_noise_flat(X, flats), expected)
