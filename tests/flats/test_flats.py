"""Flats: distances, fits and neighbourhoods against slow versions, and under rigid motions."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from subspaces.flats import distances, neighborhoods
from subspaces.flats.distances import nearest, squared_distances
from subspaces.flats.fitting import fit_flats
from subspaces.flats.flats import Flats
from subspaces.flats.neighborhoods import Beta2, beta2_neighborhoods, nearest_rows, rows_to_fit

KINDS = [(0, True), (1, False), (1, True), (3, False), (3, True), (5, True)]
few = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10_000)


def random_flats(rng, count, p, dim, *, affine, dtype=np.float64):
    """Flats with random bases and, if affine, random centres."""
    bases = np.linalg.qr(rng.standard_normal((count, p, dim)))[0]
    centers = rng.standard_normal((count, p)) if affine else np.zeros((count, p))
    return Flats(centers.astype(dtype), bases.astype(dtype))


def as_list(flats):
    """Flats in the form of the reference."""
    return [
        (center.astype(float), basis.astype(float)) for center, basis in zip(flats.centers, flats.bases, strict=True)
    ]


def random_rotation(rng, p):
    return np.linalg.qr(rng.standard_normal((p, p)))[0]


def assert_orthonormal(flats, atol=1e-12):
    grams = np.einsum("mpd,mpe->mde", flats.bases, flats.bases)
    np.testing.assert_allclose(grams, np.broadcast_to(np.eye(flats.dim), grams.shape), atol=atol)


@pytest.fixture
def small_blocks(tiny_blocks):
    """Blocks of 16 rows, the smallest size, so that small data need several."""
    tiny_blocks()


class TestDistances:
    @pytest.mark.parametrize(("dim", "affine"), KINDS)
    def test_match_the_projector(self, dim, affine):
        rng = np.random.default_rng(dim)
        x = rng.standard_normal((20, 6))
        flats = random_flats(rng, 9, 6, dim, affine=affine)
        expected = reference.squared_distances(x, as_list(flats))
        np.testing.assert_allclose(squared_distances(x, flats), expected, atol=1e-10, rtol=0)

    @pytest.mark.parametrize(("dim", "affine"), KINDS)
    def test_float32_stays_and_is_accurate(self, dim, affine):
        rng = np.random.default_rng(dim)
        x = rng.standard_normal((20, 6)).astype(np.float32)
        flats = random_flats(rng, 9, 6, dim, affine=affine, dtype=np.float32)
        found = squared_distances(x, flats)
        assert found.dtype == np.float32
        expected = reference.squared_distances(x.astype(float), as_list(flats))
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)

    def test_one_flat_off_the_origin_is_enough_to_be_affine(self):
        rng = np.random.default_rng(0)
        flats = random_flats(rng, 4, 5, 2, affine=False)
        flats.centers[2] = rng.standard_normal(5)
        assert not flats.is_linear
        x = rng.standard_normal((8, 5))
        np.testing.assert_allclose(
            squared_distances(x, flats), reference.squared_distances(x, as_list(flats)), atol=1e-12
        )

    def test_points_at_the_origin_are_flats(self):
        x = np.arange(6.0).reshape(2, 3)
        origin = Flats(np.zeros((1, 3)), np.empty((1, 3, 0)))
        assert origin.dim == 0
        np.testing.assert_allclose(squared_distances(x, origin)[:, 0], np.square(x).sum(axis=1))

    def test_any_point_of_a_flat_can_be_its_centre(self):
        rng = np.random.default_rng(1)
        x = rng.standard_normal((10, 6))
        flats = random_flats(rng, 5, 6, 2, affine=True)
        along = np.einsum("mpd,md->mp", flats.bases, 3 * rng.standard_normal((5, 2)))
        moved = Flats(flats.centers + along, flats.bases)
        np.testing.assert_allclose(squared_distances(x, moved), squared_distances(x, flats), atol=1e-12)

    @pytest.mark.parametrize("n_vectors", [1, 7, 20])
    @pytest.mark.parametrize(("dim", "affine"), KINDS)
    def test_tiles_do_not_change_distances(self, dim, affine, n_vectors, monkeypatch):
        rng = np.random.default_rng(dim)
        x, flats = rng.standard_normal((20, 6)), random_flats(rng, 11, 6, dim, affine=affine)
        whole, near = squared_distances(x, flats), nearest(x, flats, 3)
        monkeypatch.setattr(distances, "TILE_VECTORS", n_vectors)
        per_flat = dim + (affine or not dim)
        assert len(distances._stack(flats, x.dtype).tiles) == -(-11 // max(1, n_vectors // per_flat))
        np.testing.assert_allclose(squared_distances(x, flats), whole, atol=1e-13, rtol=0)
        np.testing.assert_array_equal(nearest(x, flats, 3)[0], near[0])

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_distances_are_never_negative(self, dtype):
        rng = np.random.default_rng(2)
        flats = random_flats(rng, 1, 8, 4, affine=True)
        x = flats.centers + rng.standard_normal((200, 4)) @ flats.bases[0].T
        cast = Flats(flats.centers.astype(dtype), flats.bases.astype(dtype))
        for found in (squared_distances(x.astype(dtype), cast), nearest(x.astype(dtype), cast, 1)[1]):
            assert (found >= 0).all()
            assert found.max() < 200 * np.finfo(dtype).eps

    def test_indexing_keeps_the_order(self):
        rng = np.random.default_rng(3)
        x, flats = rng.standard_normal((4, 5)), random_flats(rng, 6, 5, 2, affine=True)
        chosen = flats[np.array([4, 1])]
        assert (len(flats), len(chosen), chosen.dim) == (6, 2, 2)
        np.testing.assert_allclose(squared_distances(x, chosen), squared_distances(x, flats)[:, [4, 1]], atol=1e-14)


class TestNearestFlats:
    @pytest.mark.parametrize("count", [1, 5, 17, 60])
    @pytest.mark.parametrize(("dim", "affine"), KINDS)
    def test_match_the_projector(self, dim, affine, count):
        rng = np.random.default_rng(dim)
        x, flats = rng.standard_normal((50, 6)), random_flats(rng, 40, 6, dim, affine=affine)
        index, found = nearest(x, flats, count)
        expected = reference.squared_distances(x, as_list(flats))
        order = np.argsort(expected, axis=1)[:, :count]
        np.testing.assert_array_equal(index, order)
        np.testing.assert_allclose(found, np.take_along_axis(expected, order, 1), atol=1e-10, rtol=0)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_neither_threads_nor_blocks_matter(self, dtype, use_threads, tiny_blocks):
        rng = np.random.default_rng(0)
        x, flats = rng.standard_normal((300, 6)).astype(dtype), random_flats(rng, 40, 6, 2, affine=True, dtype=dtype)
        one = nearest(x, flats, 5)
        table = squared_distances(x, flats)
        for n_threads in (1, 3):
            use_threads(n_threads)
            tiny_blocks()
            index, distances = nearest(x, flats, 5)
            np.testing.assert_array_equal(index, one[0])
            np.testing.assert_allclose(distances, one[1], rtol=1e-5)
            np.testing.assert_allclose(squared_distances(x, flats), table, rtol=1e-5)
            assert distances.dtype == dtype

    def test_equal_flats_are_in_the_order_of_their_index(self):
        rng = np.random.default_rng(1)
        flats = random_flats(rng, 3, 5, 2, affine=True)[np.array([2, 0, 2, 1, 2, 0])]
        index, distances = nearest(rng.standard_normal((30, 5)), flats, 6)
        tied = distances[:, 1:] == distances[:, :-1]
        assert tied.sum() == 3 * 30
        assert (np.diff(index, axis=1)[tied] > 0).all()

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_flats_at_distance_zero_are_in_the_order_of_their_index(self, dtype):
        rng = np.random.default_rng(0)
        basis = np.linalg.qr(rng.standard_normal((6, 3)))[0]
        turned = np.stack([basis @ np.linalg.qr(rng.standard_normal((3, 3)))[0] for _ in range(50)])
        flats = Flats(np.zeros((50, 6), dtype), turned.astype(dtype))
        x = (rng.standard_normal((200, 3)) @ basis.T).astype(dtype)
        index, distances = nearest(x, flats, 5)
        tied = distances[:, 1:] == distances[:, :-1]
        assert tied.any()
        assert (np.diff(index, axis=1)[tied] > 0).all()
        np.testing.assert_array_equal(index[:, 0], squared_distances(x, flats).argmin(axis=1))

    def test_empty_input(self):
        index, distances = nearest(np.empty((0, 5)), random_flats(np.random.default_rng(0), 3, 5, 2, affine=True), 2)
        assert index.shape == distances.shape == (0, 2)


class TestNearest:
    @pytest.mark.parametrize("count", [1, 5, 40])
    def test_rows_are_sorted_by_distance(self, count, small_blocks):
        rng = np.random.default_rng(count)
        x, centers = rng.standard_normal((40, 4)), rng.standard_normal((50, 4))
        expected = [reference.fixed_neighborhood(x, center, count) for center in centers]
        np.testing.assert_array_equal(nearest_rows(x, centers, count), expected)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_a_row_is_nearest_to_itself_far_from_the_origin(self, dtype):
        x = (1e4 + np.random.default_rng(0).standard_normal((60, 3))).astype(dtype)
        np.testing.assert_array_equal(nearest_rows(x, x, 1)[:, 0], np.arange(60))

    @pytest.mark.parametrize("dim", [0, 2])
    def test_distances_far_from_the_origin_keep_their_digits(self, dim):
        rng = np.random.default_rng(0)
        x, flats = rng.standard_normal((30, 6)), random_flats(rng, 5, 6, dim, affine=True)
        far = Flats((flats.centers + 1000).astype(np.float32), flats.bases.astype(np.float32))
        found = squared_distances((x + 1000).astype(np.float32), far)
        np.testing.assert_allclose(found, squared_distances(x, flats), rtol=0.01, atol=0.01)


class TestFlats:
    def test_a_single_index_gives_a_batch_of_one(self):
        flats = random_flats(np.random.default_rng(0), 3, 5, 2, affine=True)
        assert [flat.dim for flat in flats] == [2, 2, 2]
        assert len(flats[-1]) == 1
        np.testing.assert_array_equal(flats[1].bases[0], flats.bases[1])
        with pytest.raises(IndexError):
            flats[3]


class TestRowsToFit:
    def test_copies_are_dropped_and_the_order_is_kept(self):
        x = np.random.default_rng(0).standard_normal((20, 3))
        np.testing.assert_array_equal(rows_to_fit(np.concatenate([x, x[::-1], x[:5]]), 2), x)
        assert rows_to_fit(x, 2) is x

    def test_too_few_distinct_rows_keep_their_copies(self):
        x = np.repeat(np.eye(4), 5, axis=0)
        assert rows_to_fit(x, 2) is x


class TestFit:
    @pytest.mark.parametrize("affine", [True, False])
    @pytest.mark.parametrize(("size", "p", "dim"), [(4, 9, 2), (9, 9, 3), (30, 5, 1), (30, 5, 4), (6, 40, 5)])
    def test_is_the_least_squares_flat(self, size, p, dim, affine, small_blocks):
        rng = np.random.default_rng(size + p)
        x = rng.standard_normal((50, p)) * np.linspace(3, 1, p) + rng.standard_normal(p)
        neighborhoods = np.array([rng.choice(50, size, replace=False) for _ in range(40)])
        flats, residuals = fit_flats(x, neighborhoods, dim, affine=affine)
        assert_orthonormal(flats)
        for j, rows in enumerate(neighborhoods):
            center, basis = reference.best_fit_flat(x[rows], dim, affine)
            np.testing.assert_allclose(flats.centers[j], center, atol=1e-12)
            assert reference.principal_angles(flats.bases[j], basis).max() < 1e-6
            expected = reference.squared_distances(x[rows], [(center, basis)]).mean()
            assert residuals[j] == pytest.approx(expected, rel=1e-9, abs=1e-12)

    @pytest.mark.parametrize("affine", [True, False])
    def test_neighbourhoods_of_any_lengths_keep_their_order(self, affine):
        rng = np.random.default_rng(0)
        x = rng.standard_normal((40, 6))
        neighborhoods = [rng.choice(40, size, replace=False) for size in (12, 3, 5, 12, 40, 5, 6, 7)]
        flats, residuals = fit_flats(x, neighborhoods, 2, affine=affine)
        for j, rows in enumerate(neighborhoods):
            _, basis = reference.best_fit_flat(x[rows], 2, affine)
            assert reference.principal_angles(flats.bases[j], basis).max() < 1e-6
            assert residuals[j] == pytest.approx(squared_distances(x[rows], flats[[j]]).mean(), abs=1e-12)

    @pytest.mark.parametrize("affine", [True, False])
    @pytest.mark.parametrize("p", [5, 12])
    @pytest.mark.parametrize("size", [1, 2, 8])
    @pytest.mark.parametrize("rank", [0, 1, 2])
    def test_too_few_directions_leave_the_basis_orthonormal(self, rank, size, p, affine):
        rng = np.random.default_rng(rank)
        x = rng.standard_normal((size, rank)) @ rng.standard_normal((rank, p))
        if affine:
            x += rng.standard_normal(p)
        flats, residuals = fit_flats(x, [np.arange(size)], 3, affine=affine)
        assert_orthonormal(flats)
        assert residuals[0] < 1e-14
        assert squared_distances(x, flats).max() < 1e-13

    @pytest.mark.parametrize("p", [3, 30])
    def test_duplicates_are_counted(self, p):
        rng = np.random.default_rng(0)
        x = rng.standard_normal((4, p))
        rows = np.array([0, 0, 0, 1, 2, 2, 3])
        flats, _ = fit_flats(x, [rows], 2, affine=True)
        center, basis = reference.best_fit_flat(x[rows], 2)
        np.testing.assert_allclose(flats.centers[0], center, atol=1e-13)
        assert reference.principal_angles(flats.bases[0], basis).max() < 1e-6

    @pytest.mark.parametrize("p", [4, 20])
    def test_equal_sets_of_rows_give_equal_bits(self, p):
        rng = np.random.default_rng(1)
        x = rng.standard_normal((30, p))
        rows = rng.choice(30, 10, replace=False)
        flats, residuals = fit_flats(x, [rows, rows[::-1], rng.permutation(rows)], 2, affine=True)
        for j in (1, 2):
            np.testing.assert_array_equal(flats.bases[j], flats.bases[0])
            np.testing.assert_array_equal(flats.centers[j], flats.centers[0])
            assert residuals[j] == residuals[0]

    @pytest.mark.parametrize("affine", [True, False])
    def test_float32_stays_and_is_accurate(self, affine):
        rng = np.random.default_rng(2)
        x = (rng.standard_normal((60, 10)) * np.linspace(3, 0.3, 10)).astype(np.float32)
        neighborhoods = [rng.choice(60, size, replace=False) for size in (7, 30)]
        flats, residuals = fit_flats(x, neighborhoods, 3, affine=affine)
        assert {flats.centers.dtype, flats.bases.dtype, residuals.dtype} == {np.dtype(np.float32)}
        exact, exact_residuals = fit_flats(x.astype(float), neighborhoods, 3, affine=affine)
        np.testing.assert_allclose(residuals, exact_residuals, rtol=1e-4)
        for found, expected in zip(flats.bases, exact.bases, strict=True):
            assert reference.principal_angles(found.astype(float), expected).max() < 1e-4

    @pytest.mark.parametrize("size", [6, 40])
    def test_float32_keeps_a_weak_direction(self, size):
        rng = np.random.default_rng(3)
        rotation = random_rotation(rng, 8)
        x = (rng.standard_normal((size, 8)) * [10_000, 1, *[1e-3] * 6]) @ rotation
        flats, _ = fit_flats(x.astype(np.float32), [np.arange(size)], 2, affine=False)
        assert reference.principal_angles(flats.bases[0].astype(float), rotation[:2].T).max() < 0.01


class TestBeta2:
    @pytest.mark.parametrize("affine", [True, False])
    @pytest.mark.parametrize(("start", "step"), [(None, 2), (1, 1), (3, 5), (10, 2), (1000, 2)])
    def test_matches_the_definition(self, start, step, affine):
        for seed in range(25):
            rng = np.random.default_rng(seed)
            n, p = int(rng.integers(4, 50)), int(rng.integers(2, 8))
            dim = int(rng.integers(1, p))
            x = rng.standard_normal((n, p)) * rng.uniform(0.05, 1, p)
            centers = x[rng.choice(n, 3)] + 0.1 * rng.standard_normal((3, p))
            found = beta2_neighborhoods(x, centers, dim, Beta2(start, step), affine=affine)
            for rows, center in zip(found, centers, strict=True):
                first = 2 * dim if start is None else start
                expected = reference.beta2_neighborhood(x, center, dim, first, step, affine)
                np.testing.assert_array_equal(rows, expected)

    @pytest.mark.parametrize("affine", [True, False])
    def test_grows_while_the_fit_improves(self, affine):
        """A zigzag fits its line ever better for its radius, until the scatter beyond its end sets in."""
        rng = np.random.default_rng(0)
        place = np.arange(1, 211)
        zigzag = np.column_stack([place * (1 + 1e-6 * place), 0.3 * (-1.0) ** place, np.zeros(210)])
        scatter = np.array([280.0, 0, 0]) + 60 * rng.uniform(-1, 1, (30, 3))
        x = np.concatenate([scatter, zigzag])
        centers = np.array([scatter[0], [0, 0, 0], scatter[1], [-0.5, 0, 0]])
        found = beta2_neighborhoods(x, centers, 1, Beta2(4, 2), affine=affine)
        for rows, center in zip(found, centers, strict=True):
            np.testing.assert_array_equal(rows, reference.beta2_neighborhood(x, center, 1, 4, 2, affine))
        assert min(len(found[1]), len(found[3])) > 200

    def test_without_an_interior_minimum_takes_the_smallest_value(self):
        place = np.arange(1.0, 101)
        x = np.column_stack([place, 0.3 * (-1.0) ** np.arange(100)])
        rows = beta2_neighborhoods(x, np.zeros((1, 2)), 1, Beta2(4, 2))[0]
        np.testing.assert_array_equal(rows, reference.beta2_neighborhood(x, np.zeros(2), 1, 4, 2))
        assert len(rows) == 100

    def test_all_rows_if_there_are_fewer_than_the_start_size(self):
        x = np.random.default_rng(0).standard_normal((7, 4))
        for rows in beta2_neighborhoods(x, x, 2, Beta2(50, 3)):
            np.testing.assert_array_equal(np.sort(rows), np.arange(7))

    def test_equal_rows_are_allowed(self):
        x = np.repeat(np.random.default_rng(0).standard_normal((3, 4)), 10, axis=0)
        for rows in beta2_neighborhoods(x, x[::10], 2, Beta2()):
            assert len(np.unique(rows)) == len(rows) >= 4

    def test_growth_in_wide_noise_ends(self, monkeypatch):
        """Without a limit, each of 210 neighbourhoods would be tried in 149 sizes, up to all rows: a minute."""
        sizes, measure = [], neighborhoods._beta2

        def recorded(x, centers, order, dim, affine):
            sizes.append(order.shape[1])
            return measure(x, centers, order, dim, affine)

        monkeypatch.setattr(neighborhoods, "_beta2", recorded)
        x = np.random.default_rng(0).standard_normal((300, 300))
        found = beta2_neighborhoods(x, x[:210], 1, Beta2())
        assert 20 < max(sizes) < 100
        assert len(found) == 210
        assert max(map(len, found)) < max(sizes)

    @pytest.mark.parametrize("n_columns", [128, 129])
    def test_growth_is_bounded_for_wide_rows_only(self, n_columns, monkeypatch):
        monkeypatch.setattr(neighborhoods, "GROWTH_WORK", 0)
        monkeypatch.setattr(neighborhoods, "GROWTH_WORK_EACH", 0)
        # A line with little noise is fitted ever better for its radius.
        x = np.zeros((60, n_columns))
        x[:, :2] = np.column_stack([np.arange(1.0, 61), 0.3 * (-1.0) ** np.arange(60)])
        rows = beta2_neighborhoods(x, np.zeros((1, n_columns)), 1, Beta2(4, 2))[0]
        assert len(rows) == (60 if n_columns == 128 else 4)

    def test_beta2_of_float32_rows_is_computed_in_double_precision(self):
        rng = np.random.default_rng(5)
        x = rng.standard_normal((60, 5)).astype(np.float32)
        found = beta2_neighborhoods(x, x[:10], 2, Beta2())
        expected = beta2_neighborhoods(x.astype(float), x[:10].astype(float), 2, Beta2())
        for rows, others in zip(found, expected, strict=True):
            np.testing.assert_array_equal(rows, others)


class TestMotions:
    @few
    @given(seed=seeds, affine=st.booleans(), scale=st.floats(1e-3, 1e3))
    def test_flats_move_with_the_rows(self, seed, affine, scale):
        rng = np.random.default_rng(seed)
        p, dim = 6, int(rng.integers(1, 6))
        x = rng.standard_normal((30, p))
        neighborhoods = nearest_rows(x, x[:8], int(rng.integers(2, 20)))
        shift = rng.standard_normal(p) if affine else np.zeros(p)
        moved = scale * (x @ random_rotation(rng, p) + shift)
        before, residuals = fit_flats(x, neighborhoods, dim, affine=affine)
        after, moved_residuals = fit_flats(moved, neighborhoods, dim, affine=affine)
        np.testing.assert_allclose(moved_residuals, scale**2 * residuals, rtol=1e-9, atol=1e-12 * scale**2)
        if neighborhoods.shape[1] > dim + 1:
            np.testing.assert_allclose(
                squared_distances(moved, after),
                scale**2 * squared_distances(x, before),
                rtol=1e-6,
                atol=1e-8 * scale**2,
            )

    @few
    @given(seed=seeds, affine=st.booleans(), power=st.integers(-10, 10))
    def test_neighbourhoods_do_not_change(self, seed, affine, power):
        rng = np.random.default_rng(seed)
        x, centers = rng.standard_normal((40, 5)), rng.standard_normal((6, 5))
        rotation = random_rotation(rng, 5)
        shift = rng.standard_normal(5) if affine else np.zeros(5)
        before = beta2_neighborhoods(x, centers, 2, Beta2(), affine=affine)
        after = beta2_neighborhoods(
            2.0**power * (x @ rotation + shift), 2.0**power * (centers @ rotation + shift), 2, Beta2(), affine=affine
        )
        for rows, others in zip(before, after, strict=True):
            np.testing.assert_array_equal(rows, others)
