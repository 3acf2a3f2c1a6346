"""Flat, blobs or bent: what made data are taken for, the labels of whole flats, and confidence in them."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits, make_blobs, make_moons

from subspaces import FLS
from subspaces.datasets import make_motions, make_subspaces
from subspaces.flats.description import measure, shortest_code
from subspaces.metrics import clustering_accuracy
from subspaces.paper.reproduce import data as paper_data
from subspaces.paper.reproduce.robustness import curves
from subspaces.rows.preparation import RowOptions, prepare
from subspaces.selection import Asked, choose, flat_search
from subspaces.selection.clustering import Clustering
from subspaces.selection.coding import (
    clearly_longer,
    code_directions,
    is_described,
    is_low_dimensional,
    is_sound,
    mean_dim,
    mean_directions,
    shortening,
    spread,
)
from subspaces.selection.confidence import flat_confidence
from subspaces.selection.flat_search import are_equal, length_of, search_flats
from subspaces.selection.structure import BENT, BLOBS, FLAT, find_structure, prefer_whole_flats
from subspaces.selection.thresholds import FLAT_SHARE, LEAST_ROWS, MANY_COLUMNS
from subspaces.spectral.partition import Partition
from subspaces.spectral.spectrum import compute_spectrum
from subspaces.spectral.thresholds import SMALL_CLUSTER


def structure_of(X, y, n_clusters=None, seed=0):
    """The structure of rows, searched from labels of which a fifth is at random."""
    k = int(y.max()) + 1 if n_clusters is None else n_clusters
    return find_structure(X, [spoiled(y, k)], k, np.random.RandomState(seed))


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


def subspaces_at(angle, seed):
    """Three subspaces of dimension four in twenty columns, any two of them at this angle in degrees."""
    spec = curves()["angle"][angle]
    return paper_data.load(spec, seed)


def code_of(X, labels):
    labels = np.asarray(labels)
    return shortest_code(measure(X, affine=True), labels, int(labels.max()) + 1, free=False)


class TestKinds:
    @pytest.mark.parametrize("outliers", [0, 0.1])
    @pytest.mark.parametrize(
        ("dims", "p", "sizes"), [((2, 3), 8, [300, 60]), ((1, 2, 4), 10, [200, 100, 60]), ((2, 2), 7, [150, 150])]
    )
    def test_subspaces_are_flat(self, dims, p, sizes, outliers):
        X, y = make_subspaces(dims, p, points_per_subspace=sizes, outliers=outliers, random_state=0)
        found = structure_of(X, y)
        assert found.kind == FLAT
        labels = found.clusters.labels(X)
        assert clustering_accuracy(y[y >= 0], labels[y >= 0]) > 0.97
        names = [np.bincount(labels[y == each]).argmax() for each in range(len(dims))]
        assert [found.code.cells[name].dim for name in names] == list(dims)
        assert found.one.length > found.code.length

    @pytest.mark.parametrize("dims", [(1, 1, 1), (2, 3, 4)])
    def test_most_rows_may_be_outliers(self, dims):
        X, y = make_subspaces(dims, 10, noise=0.05, outliers=0.6, random_state=1)
        found = find_structure(X, [], 3, np.random.RandomState(0))
        assert found.kind == FLAT
        assert clustering_accuracy(y[y >= 0], found.clusters.labels(X)[y >= 0]) > 0.9

    @pytest.mark.parametrize("seed", [1, 4])
    def test_small_clusters_are_found(self, seed):
        """None of the best three local flats lies in a small cluster; these flats are parts of the large one."""
        X, y = make_subspaces((4, 5, 6), 10, points_per_subspace=[400, 40, 40], random_state=seed)
        found = find_structure(X, [], 3, np.random.RandomState(0))
        assert found.kind == FLAT
        assert clustering_accuracy(y, np.where(found.code.chosen < 3, found.code.chosen, -1)) > 0.97

    def test_the_rows_decide_if_no_flat_pays_for_itself(self):
        """A description by one flat is shorter; the shortest by three would be one flat and two sets of outliers."""
        angles = [subspaces_at(10, seed) for seed in range(2)]
        for X, y in angles:
            found = find_structure(X, [], 3, np.random.RandomState(0))
            assert found.one.length < found.code.length
            assert found.kind == FLAT
            assert clustering_accuracy(y, found.code.chosen) > 0.7

    @pytest.mark.parametrize("seed", range(2))
    def test_motions_are_flat(self, seed):
        """A planar motion spans two dimensions, one in space three."""
        X, y = make_motions(2, [150, 60], noise=0.005, kind=["planar", "general"], random_state=seed)
        found = structure_of(X, y)
        assert found.kind == FLAT
        assert clustering_accuracy(y, found.clusters.labels(X)) > 0.99

    @pytest.mark.parametrize(("n_clusters", "p"), [(3, 2), (3, 5), (4, 10)])
    def test_blobs_are_blobs(self, n_clusters, p):
        X, y = make_blobs(300, n_features=p, centers=n_clusters, random_state=1)
        found = structure_of(X, y)
        assert found.kind == BLOBS
        assert clustering_accuracy(y, found.clusters.labels(X)) > 0.97

    @pytest.mark.parametrize("seed", range(3))
    def test_curved_clusters_are_bent(self, seed):
        assert structure_of(*curved_moons(seed)).kind == BENT

    def test_moons_are_bent(self):
        X, y = make_moons(400, noise=0.05, random_state=0)
        assert structure_of(X, y).kind == BENT

    def test_digits_are_bent(self):
        X, y = load_digits(n_class=4, return_X_y=True)
        assert structure_of(X[:300], y[:300]).kind == BENT

    @pytest.mark.parametrize("p", [2, 6, 12])
    def test_noise_has_no_structure(self, p):
        X = np.random.default_rng(p).normal(size=(300, p))
        found = structure_of(X, np.random.default_rng(0).integers(2, size=300))
        # One flat is the shortest.
        assert found.one.length < found.code.length
        assert found.share == 0

    def test_a_start_is_not_needed(self):
        X, y = make_subspaces((2, 3), 8, points_per_subspace=[200, 60], outliers=0, random_state=0)
        found = find_structure(X, [], 2, np.random.RandomState(0))
        assert found.kind == FLAT
        assert clustering_accuracy(y, found.clusters.labels(X)) > 0.97

    @pytest.mark.parametrize("change", ["rotation", "scale", "translation", "order", "float32"])
    def test_what_changes_nothing(self, change):
        X, y = make_subspaces((2, 3), 8, points_per_subspace=[150, 100], outliers=0, random_state=0)
        rng = np.random.default_rng(0)
        order = rng.permutation(len(X)) if change == "order" else np.arange(len(X))
        moved = {
            "rotation": X @ np.linalg.qr(rng.normal(size=(8, 8)))[0],
            "scale": 1e5 * X,
            "translation": X + 30,
            "order": X[order],
            "float32": X.astype(np.float32),
        }[change]
        before, after = structure_of(X, y), structure_of(moved, y[order])
        assert (before.kind, after.kind) == (FLAT, FLAT)
        assert after.nats == pytest.approx(before.nats, abs=0.05)
        labels = before.clusters.labels(X)[order]
        assert clustering_accuracy(labels, after.clusters.labels(moved)) > 0.98

    def test_same_seed_same_structure(self):
        X, y = make_subspaces((2, 2), 6, points_per_subspace=100, random_state=0)
        first, second = (structure_of(X, y, seed=3) for _ in range(2))
        np.testing.assert_array_equal(first.code.chosen, second.code.chosen)
        assert first.nats == second.nats


class TestOddRows:
    @pytest.mark.parametrize("n", [2, 3, 5])
    def test_as_many_clusters_as_rows(self, n):
        X = np.random.default_rng(0).normal(size=(n, 4))
        found = find_structure(X, [np.arange(n)], n, np.random.RandomState(0))
        assert np.isfinite([found.one.length, found.code.length, found.share]).all()

    @pytest.mark.parametrize("rows", [np.zeros((20, 4)), np.ones((20, 4)), np.full((20, 4), 1e-222)])
    def test_copies_of_one_row(self, rows):
        found = find_structure(rows, [np.arange(20) % 2], 2, np.random.RandomState(0))
        assert np.isfinite([found.one.length, found.code.length, found.share]).all()

    def test_two_columns_and_many_clusters(self):
        X, y = make_blobs(600, n_features=2, centers=20, cluster_std=0.3, random_state=0)
        found = structure_of(X, y)
        assert found.kind in (BLOBS, BENT)
        assert len(found.code.cells) == 20


class TestCoding:
    @pytest.mark.parametrize(
        ("n", "q", "columns"),
        [
            (1000, 8, 8),
            (1000, 80, MANY_COLUMNS),
            (10 * LEAST_ROWS, 80, 10),
            (5, 80, 2),
            (1, 80, 1),
            (5, 2, 2),
        ],
    )
    def test_columns(self, n, q, columns):
        rows = np.random.default_rng(0).normal(size=(n, q)).astype(np.float32) + 10
        found = code_directions(rows)
        assert found.shape == (q, columns)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found.T @ found, np.eye(columns), atol=1e-5)

    def test_columns_are_those_of_the_largest_variance(self):
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(500, 40)) * np.r_[np.full(MANY_COLUMNS, 5.0), np.full(20, 0.1)] + 100
        found = code_directions(rows)
        assert np.abs(found[MANY_COLUMNS:]).max() < 0.1
        # Through the origin, the mean is a direction too.
        along = np.full(40, 1 / np.sqrt(40))
        assert np.linalg.norm(code_directions(rows, affine=False).T @ along) > 0.99

    def test_directions_that_save_little_count_twice(self):
        rng = np.random.default_rng(0)
        flat = code_of(rng.normal(size=(500, 10)) * np.r_[[1.0] * 3, [0.01] * 7], np.zeros(500, int))
        assert spread(flat) == 0.3
        assert mean_dim(flat) == 3
        bent = code_of(rng.normal(size=(500, 10)) * 1.3 ** -np.arange(10.0), np.zeros(500, int))
        used, dim = bent.cells[0].basis.shape[1], bent.cells[0].dim
        assert used > dim
        assert spread(bent) == pytest.approx((2 * used - dim) / 10)
        assert is_low_dimensional(flat)
        assert not is_low_dimensional(bent)

    def test_few_columns_are_always_low_dimensional(self):
        X = np.random.default_rng(0).normal(size=(500, 5)) * 1.3 ** -np.arange(5.0)
        assert is_low_dimensional(code_of(X, np.zeros(500, int)))

    def test_share_of_the_shortening(self):
        X, y = make_subspaces((2, 2), 6, points_per_subspace=100, outliers=0, random_state=0)
        code, single = code_of(X, y), code_of(X, np.zeros(200, int))
        one = single.length
        assert shortening(code, one, code.length) == 1
        assert shortening(code, one, one - 2 * (one - code.length)) == pytest.approx(0.5)
        assert shortening(code, code.length - 1, code.length - 5) == 0
        # A code found after the least length was.
        assert shortening(code, one, one) == 1
        enough = one - (one - code.length) / FLAT_SHARE
        assert is_described(code, single, enough + 1)
        assert not is_described(code, single, enough - 1)

    def test_flats_of_many_directions_do_not_describe_rows(self):
        X, y = make_subspaces((5, 5), 6, points_per_subspace=100, outliers=0, random_state=0)
        code, single = code_of(X, y), code_of(X, np.zeros(200, int))
        assert not is_low_dimensional(code)
        assert code.length < single.length
        assert not is_described(code, single, code.length)

    def test_flats_must_have_directions_if_one_is_as_short(self):
        X, y = make_subspaces((2, 2), 6, points_per_subspace=100, outliers=0, random_state=0)
        flats, single = code_of(X, y), code_of(X, np.zeros(200, int))
        assert is_described(flats, single, single.length)
        X, y = make_blobs(200, n_features=6, centers=2, random_state=0)
        blobs, single = code_of(X, y), code_of(X, np.zeros(200, int))
        assert mean_directions(blobs) == 0
        assert is_described(blobs, single, blobs.length)
        assert not is_described(blobs, single, single.length)

    def test_a_tiny_cluster_is_not_sound(self):
        X, y = make_subspaces((2, 2), 6, points_per_subspace=100, outliers=0, random_state=0)
        assert is_sound(code_of(X, y))
        assert not is_sound(code_of(X, np.where(np.arange(200) < SMALL_CLUSTER * 200 / 3 - 1, 2, y)))
        assert not is_sound(code_of(X, 2 * y))
        single = code_of(X, np.zeros(200, int))
        assert not is_described(code_of(X, 2 * y), single, code_of(X, 2 * y).length)

    def test_longer_by_more_than_chance(self):
        X, y = make_subspaces((2, 2), 6, points_per_subspace=100, outliers=0, random_state=0)
        right, wrong, near = (code_of(X, each) for each in (y, spoiled(y, 2, 1), np.r_[1 - y[:1], y[1:]]))
        assert clearly_longer(wrong, right)
        assert not clearly_longer(right, wrong)
        assert not clearly_longer(right, right)
        assert not clearly_longer(near, right)


def clustering_of(X, labels, n_clusters):
    """A clustering whose graph joins rows of the same label through one landmark."""
    psi = csr_matrix(np.eye(n_clusters)[labels])
    spectrum = compute_spectrum(lambda: iter((psi,)), n_clusters, balanced=True)
    choice = SimpleNamespace(other_labels=lambda weights, spectrum: weights.argmax(axis=1).A1.astype(np.int32))
    partition = Partition(n_clusters, n_clusters - 1, None)
    return Clustering(None, psi, np.arange(len(X)), None, spectrum, choice, partition, labels.astype(np.int32))


class TestWholeFlats:
    def found(self, X, y, sample=None):
        sample = np.arange(len(X)) if sample is None else sample
        k = int(y.max()) + 1
        rows = prepare(X, RowOptions(center=False, max_columns=None))
        rng = np.random.RandomState(0)
        search = search_flats(X[sample], k, rng)
        return prefer_whole_flats(clustering_of(X, spoiled(y, k), k), rows, sample, search, rng)

    def test_flat_clusters_get_the_labels_of_flats(self):
        X, y = make_subspaces((2, 3), 8, points_per_subspace=150, outliers=0, random_state=0)
        found = self.found(X, y, np.arange(0, 300, 2))
        assert found.structure.kind == FLAT
        assert found.partition.origin == "flats"
        assert clustering_accuracy(y, found.labels) > 0.97
        np.testing.assert_array_equal(found.partition.flats.labels(X), found.labels)
        assert np.isfinite(found.partition.modularity)

    def test_bent_clusters_keep_their_labels(self):
        X, y = curved_moons()
        found = self.found(X, y)
        assert found.structure.kind == BENT
        assert found.partition.flats is None
        np.testing.assert_array_equal(found.labels, spoiled(y, 2))

    def test_confidence_is_the_agreement_of_halves_of_the_rows(self):
        X, y = make_subspaces((2, 3), 8, points_per_subspace=150, outliers=0, random_state=0)
        found = self.found(X, y)
        sure = flat_confidence(found, X, np.arange(300), np.random.RandomState(0))
        assert sure.overall > 0.9
        assert sure.rows.shape == (300,)
        assert np.median(sure.rows) > 0.99
        # Rows between the flats are less sure.
        between = np.argsort(np.abs(np.subtract(*found.partition.flats.lengths(X).T)))[:10]
        assert sure.rows[between].mean() < sure.rows.mean()

    @pytest.mark.parametrize("n", [2, 3, 5, 7])
    @pytest.mark.filterwarnings("ignore")
    def test_a_handful_of_rows(self, n):
        X = np.random.default_rng(n).normal(size=(n, 3))
        model = FLS(2, random_state=0).fit(X)
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    @pytest.mark.parametrize(("K", "dims"), [(2, (2, 2)), (3, (2, 3, 4))])
    @pytest.mark.parametrize("n_components", ["auto", 4])
    def test_as_many_eigenvectors_as_separate_them(self, K, dims, n_components):
        X, _ = make_subspaces(dims, 12, points_per_subspace=100, noise=0.02, outliers=0.0, random_state=0)
        model = FLS(K, n_components=n_components, random_state=0).fit(X)
        assert [each.name for each in model.choice_] == ["structure"]
        assert model.n_components_ == model.transform(X).shape[1] == (2 if n_components == "auto" else 4)


class TestAskedKinds:
    """Whole flats are linear or points if these are asked for."""

    def planes(self):
        rng = np.random.default_rng(0)
        directions = np.linalg.qr(rng.normal(size=(8, 2)))[0].T
        along = 3 * rng.normal(size=(3, 150, 2)) @ directions
        return (along + 3 * rng.normal(size=(3, 1, 8)) + 0.05 * rng.normal(size=(3, 150, 8))).reshape(-1, 8)

    def test_linear_flats(self):
        rng = np.random.RandomState(0)
        code = search_flats(self.planes(), 3, rng, affine=False).codes[0]
        assert not code.space.affine
        assert all(not cell.center.any() for cell in code.cells)
        # A linear flat through parallel planes has at least one direction more.
        assert min(cell.basis.shape[1] for cell in code.cells) >= 3
        affine = search_flats(self.planes(), 3, rng)
        assert min(affine.codes, key=length_of).length < code.length

    def test_points(self):
        found = find_structure(self.planes(), [], 3, np.random.RandomState(0), max_dim=0)
        assert found.kind in (BLOBS, BENT)
        assert all(cell.basis.shape[1] == 0 for cell in found.code.cells)

    @pytest.mark.parametrize("asked", [{"affine": False}, {"subspace_dim": 0}])
    @pytest.mark.filterwarnings("ignore")
    def test_by_a_fit(self, asked):
        setting = choose(self.planes(), Asked(n_clusters=3, **asked), random_state=0)
        space = setting.flats.space
        assert (space.affine, space.high) == ((False, 7) if "affine" in asked else (True, 0))


class TestSearch:
    def test_it_ends_if_two_searches_lead_to_the_same_flats(self, monkeypatch):
        X, y = make_subspaces((2, 3), 8, noise=0.01, random_state=0)
        monkeypatch.setattr(flat_search, "split_and_joined", None)
        search = search_flats(X, 2, np.random.RandomState(0))
        assert search.is_settled
        assert are_equal(search.joined, min(search.codes, key=length_of))
        found = find_structure(X, [], 2, np.random.RandomState(0))
        assert found.kind == FLAT
        assert clustering_accuracy(y, found.clusters.labels(X)) > 0.97

    def test_flats_are_split_if_searches_disagree(self, monkeypatch):
        X, y = subspaces_at(10, 0)
        asked = []
        monkeypatch.setattr(flat_search, "split_and_joined", lambda *given: asked.append(given) or [])
        assert not search_flats(X, 3, np.random.RandomState(0)).is_settled
        structure_of(X, y)
        assert asked

    @pytest.mark.parametrize("dims", [(2, 2), (2, 2, 2)])
    @pytest.mark.parametrize("seed", [0, 4, 5])
    def test_planes_that_nearly_fill_the_space(self, dims, seed):
        """Lines and points do not lead to them, and no graph separates planes that cross."""
        X, y = make_subspaces(dims, 3, noise=0.03, outliers=0.1, random_state=seed)
        found = structure_of(X, y, len(dims))
        assert found.kind == FLAT
        assert clustering_accuracy(y[y >= 0], found.clusters.labels(X)[y >= 0]) > 0.88

    def test_nothing_is_settled_if_clusters_are_bent(self):
        X, _ = curved_moons()
        assert not search_flats(X, 2, np.random.RandomState(0)).is_settled

    def test_codes_are_equal_up_to_the_numbers_of_clusters(self):
        X, y = make_subspaces((2, 3), 8, outliers=0.1, random_state=0)
        code = code_of(X, y + (y < 0))
        turned = code_of(X, 1 - (y + (y < 0)))
        assert are_equal(code, turned)
        assert not are_equal(code, code_of(X, spoiled(y, 2, 0.5)))
        assert not are_equal(code, code_of(X, spoiled(y, 3)))

    def test_labels_of_a_graph_are_further_starts(self):
        X, y = subspaces_at(15, 2)
        search = search_flats(X, 3, np.random.RandomState(0))
        more = search.from_labels([y], np.random.RandomState(0))
        assert len(more.codes) == len(search.codes) + 1
        assert min(map(length_of, more.codes)) <= min(map(length_of, search.codes))
