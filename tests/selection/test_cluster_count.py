"""The number of clusters by the shortest description: what it finds, one step of the search, odd rows."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from examples import ODD_ROWS
from subspaces.datasets import make_motions, make_subspaces
from subspaces.flats.cells import fit_background, fit_cells
from subspaces.flats.description import measure, shortest_code
from subspaces.selection import flat_count as cluster_count
from subspaces.selection.flat_count import codes_by_count, decide_n_clusters, joined_labels, without_empty_cells


def decide(X, max_clusters=6, affine=True, seed=0, **options):
    return decide_n_clusters(X, max_clusters, affine=affine, rng=np.random.RandomState(seed), **options)


def chosen(decision):
    return decision.chosen["n_clusters"]


def length_of(space, labels):
    """Nats of clusters fitted to labels (n,) and of the background of the rows without one, -1."""
    n, inside = len(labels), labels < 0
    cells = [cell for cell in fit_cells(space, labels, int(labels.max()) + 1) if cell]
    total = sum(cell.length + cell.size * np.log(n / cell.size) for cell in cells)
    if not inside.any():
        return total
    background = fit_background(space, inside)
    return total + background.row_lengths(space.rows[inside]).sum() + inside.sum() * np.log(n / inside.sum())


class TestEmptyCells:
    def test_clusters_are_those_with_rows(self):
        X, y = make_subspaces((1, 2), 5, points_per_subspace=60, outliers=0.1, random_state=0)
        space = measure(X, affine=True)
        names = np.array([3, 1, -1])
        plain, sparse = (
            shortest_code(space, each, n, free=True) for each, n in ((np.where(y < 0, -1, 1 - y), 2), (names[y], 5))
        )
        assert [cell is None for cell in sparse.cells] == [True, False, True, False, True]
        found = without_empty_cells(sparse)
        assert len(found.cells) == 2
        assert found.table.shape == (len(X), 3)
        assert found.length == sparse.length
        # Cluster 1 comes before cluster 3; the background stays the last.
        np.testing.assert_array_equal(found.chosen, plain.chosen)
        assert without_empty_cells(found).cells == found.cells

    def test_a_search_leaves_no_empty_cell(self):
        X, _ = make_motions(2, [200, 50], noise=0.005, kind="planar", random_state=9)
        for seed in range(5):
            codes = codes_by_count(X, 7, affine=True, rng=np.random.RandomState(seed))
            assert all(len(code.cells) == count and all(code.cells) for count, code in codes.items())


class TestDecision:
    @pytest.mark.parametrize("outliers", [0, 0.3])
    @pytest.mark.parametrize(("dims", "p"), [((2, 2), 6), ((1, 3, 5), 12), ((3,), 8)])
    @pytest.mark.parametrize("affine", [False, True])
    def test_subspaces_of_different_dimensions(self, dims, p, outliers, affine):
        X, y = make_subspaces(dims, p, points_per_subspace=100, outliers=outliers, affine=affine, random_state=0)
        found = decide(X, affine=affine)
        assert chosen(found) == len(dims)
        assert sorted(found.chosen["cluster_dims"]) == sorted(dims)
        assert found.chosen["outliers"] == pytest.approx((y < 0).mean(), abs=0.01)

    def test_a_small_and_a_large_cluster(self):
        X, _ = make_subspaces((2, 2), 6, points_per_subspace=[300, 30], random_state=0)
        assert chosen(decide(X)) == 2

    @pytest.mark.parametrize("sizes", [(400, 150), (400, 50), (300, 100, 100)])
    def test_small_far_blobs_are_not_outliers(self, sizes):
        X, _ = make_blobs(sizes, centers=20 * np.eye(5)[: len(sizes)], n_features=5, random_state=0)
        found = decide(X)
        assert chosen(found) == len(sizes)
        assert found.chosen["outliers"] < 0.02

    def test_clean_affine_rows(self):
        assert chosen(decide(make_motions(2, random_state=0)[0])) == 2

    def test_blobs_and_noise(self):
        centers = np.array([[0, 0], [9, 0], [0, 9]])
        assert chosen(decide(make_blobs(150, centers=centers, random_state=0)[0])) == 3
        for columns in (2, 6):
            assert chosen(decide(np.random.default_rng(0).normal(size=(200, columns)))) == 1

    def test_fewer_clusters_if_more_gain_little(self):
        # Two Gaussians tell a square in less than one, but not clearly so.
        found = decide(np.random.default_rng(1).random((500, 2)))
        assert chosen(found) == 1
        assert found.chosen["nats_per_row"] > min(each["nats_per_row"] for each in found.candidates)

    def test_far_outliers_hide_nothing(self):
        X, _ = make_subspaces((2, 2), 6, points_per_subspace=100, outliers=0.1, random_state=0)
        assert chosen(decide(np.r_[X, [[1e5] * 6, [-1e7] * 6]])) == 2

    def test_evidence(self):
        X, _ = make_subspaces((2, 2), 6, points_per_subspace=80, random_state=0)
        found = decide(X, 5)
        counts = [each["n_clusters"] for each in found.candidates]
        assert counts == sorted(set(counts))
        assert set(counts) <= {1, 2, 3, 4, 5}
        assert found.candidates[counts.index(1)]["nats_per_row"] > found.chosen["nats_per_row"]
        least = min(each["nats_per_row"] for each in found.candidates)
        assert found.chosen["nats_per_row"] - least <= 2 * found.chosen["standard_error"]
        assert not found.larger_is_better

    def test_rotation_scale_and_translation(self):
        X, _ = make_subspaces((1, 3), 6, points_per_subspace=80, outliers=0.1, random_state=0)
        rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
        before = decide(X)
        for moved in (X @ rotation, 1e5 * X, 1e-5 * X, X + 30):
            after = decide(moved)
            assert chosen(after) == chosen(before)
            assert after.chosen["nats_per_row"] == pytest.approx(before.chosen["nats_per_row"], abs=0.05)

    def test_limits(self, monkeypatch):
        X, _ = make_subspaces((2, 2, 2), 7, points_per_subspace=60, random_state=0)
        assert chosen(decide(X, 1)) == 1
        assert chosen(decide(X, 2)) <= 2
        assert max(max(each["cluster_dims"]) for each in decide(X, max_dim=1).candidates) <= 1
        monkeypatch.setattr("subspaces.selection.coding.MANY_COLUMNS", 5)
        monkeypatch.setattr(cluster_count, "FLAT_ROWS", 120)
        assert chosen(decide(X)) == 3

    def test_copies_do_not_count_as_evidence(self):
        X, _ = make_subspaces((2, 2), 6, points_per_subspace=80, random_state=0)
        assert decide(np.repeat(X, 3, axis=0)).chosen["nats_per_row"] == pytest.approx(decide(X).chosen["nats_per_row"])


class TestCodes:
    def codes(self, X, max_clusters, seed=0, **options):
        return codes_by_count(X, max_clusters, rng=np.random.RandomState(seed), **{"affine": True, **options})

    @pytest.mark.parametrize("affine", [False, True])
    def test_number_of_cells(self, affine):
        X, _ = make_subspaces((1, 2, 4), 9, points_per_subspace=[100, 60, 40], random_state=0)
        found = self.codes(X, 6, affine=affine)
        assert {1, 2, 3} <= set(found) <= set(range(1, 7))
        for count, code in found.items():
            assert sum(1 for cell in code.cells if cell) == count
            assert code.space.affine is affine
            assert len(code.chosen) == len(X)
        assert min(found, key=lambda count: found[count].length) == 3
        assert sorted(cell.dim for cell in found[3].cells if cell) == [1, 2, 4]
        assert found[1].length > found[2].length > found[3].length

    def test_are_all_of_the_rows_and_those_that_are_judged(self):
        """Who decides on a number may look at fewer rows and columns; who asks for codes gets those of the rows."""
        X, _ = make_subspaces((2, 2), 120, points_per_subspace=80, outliers=0, random_state=0)
        assert self.codes(X, 3)[2].space.rows.shape == (160, 120)
        X = X[:, :6]
        found = self.codes(X, 4, seed=7)
        nats = [each["nats_per_row"] for each in decide(X, 4, seed=7).candidates]
        assert nats == [found[count].length / len(X) for count in sorted(found)]

    def test_the_largest_dimension_is_kept(self):
        X, _ = make_subspaces((3, 3), 8, points_per_subspace=80, random_state=0)
        dims = [cell.dim for code in self.codes(X, 4, max_dim=2).values() for cell in code.cells if cell]
        assert max(dims) == 2

    def test_same_seed_same_codes(self):
        X, _ = make_subspaces((2, 3), 8, points_per_subspace=[100, 30], random_state=0)
        first, second = (self.codes(X, 4) for _ in range(2))
        assert {count: code.length for count, code in first.items()} == {
            count: code.length for count, code in second.items()
        }

    def test_cells_that_lost_all_rows_do_not_count(self):
        X = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 20, axis=0)
        found = self.codes(X, 6)
        assert set(found) == {1, 2, 3}
        assert len(found[3].cells) == 3

    @pytest.mark.parametrize("n", [1, 2, 3])
    def test_fewer_rows_than_clusters(self, n):
        found = self.codes(np.random.default_rng(0).normal(size=(n, 4)), 6)
        assert 1 in found
        assert set(found) <= set(range(1, n + 1))


class TestOneFewer:
    def test_halves_of_a_flat_are_joined(self):
        X, y = make_subspaces((2, 2), 6, points_per_subspace=80, outliers=0, random_state=0)
        halves = np.where((y == 0) & (X[:, 0] > 0), 2, y)
        labels = joined_labels(shortest_code(measure(X, affine=True), halves, 3, free=False), 2)[0].labels
        assert set(labels) == {0, 1}
        assert (labels == labels[0]).sum() == 80
        assert (labels[:80] == labels[0]).all()

    def test_a_cluster_of_outliers_goes_to_the_background(self):
        X, y = make_subspaces((2, 2), 6, points_per_subspace=80, outliers=0.3, random_state=0)
        code = shortest_code(measure(X, affine=True), np.where(y < 0, 2, y), 3, free=False)
        labels = joined_labels(code, 2)[0].labels
        assert set(labels) == {-1, 0, 1}
        assert (labels[y < 0] == -1).mean() > 0.95

    @pytest.mark.parametrize("affine", [False, True])
    def test_lengths_are_those_of_clusters_fitted_anew_and_the_least(self, affine):
        X, y = make_subspaces((1, 2, 2), 6, points_per_subspace=40, outliers=0.2, random_state=1)
        space = measure(X, affine=affine)
        parts = np.where(y < 0, -1, 2 * y + (X[:, 0] > 0))
        code = without_empty_cells(shortest_code(space, parts, 6, free=False))
        before = code.chosen
        for joined in joined_labels(code, 2):
            assert joined.length == pytest.approx(length_of(space, joined.labels))
            count = int(before.max(initial=0)) + 1 if (before < 0).any() else len(code.cells)
            labels = np.where((before < 0) | (before == count), -1, before)
            pairs = [(j, k) for j in range(joined.count + 1) for k in range(-1, j)]
            others = [length_of(space, np.where(labels == j, k, labels)) for j, k in pairs]
            assert joined.length == pytest.approx(min(others))
            before = joined.labels


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize(("name", "rows"), ODD_ROWS)
def test_rows_that_are_odd_but_valid(name, rows, affine):
    found = decide(np.asarray(rows, np.float64), 4, affine=affine)
    assert 1 <= chosen(found) <= 4
    for each in found.candidates:
        assert np.isfinite([each["nats_per_row"], each["standard_error"], each["outliers"]]).all()
