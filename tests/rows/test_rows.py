"""Rows before anything else: scaled, centred, projected when they are wide, and back again."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from subspaces._core import blocks as _blocks
from subspaces._core.arrays import inverse, unit_rows, within_mad
from subspaces._core.blocks import row_blocks
from subspaces.datasets import make_subspaces
from subspaces.flats.distances import squared_distances
from subspaces.flats.fitting import fit_flats
from subspaces.flats.flats import Flats
from subspaces.flats.neighborhoods import nearest_rows, rows_to_fit
from subspaces.rows.preparation import (
    PreparedRows,
    RowOptions,
    RowPreparation,
    mean_offset,
    prepare,
    prepare_rows,
    prepared_columns,
    whitener,
)
from subspaces.rows.thresholds import FAR_OFFSET, LEAST_SPREAD, MAX_COLUMNS

few = settings(max_examples=40, deadline=None)


def low_rank_rows(n, p, rank, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, p)) + offset * rng.standard_normal(p)


def random_flats(count, p, dim, *, affine, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.standard_normal((count, p)) if affine else np.zeros((count, p))
    return Flats(centers, np.linalg.qr(rng.standard_normal((count, p, dim)))[0])


class TestUnitRows:
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_have_norm_one_and_keep_their_direction(self, dtype):
        x = (np.random.default_rng(0).standard_normal((20, 5)) * np.logspace(-8, 8, 20)[:, None]).astype(dtype)
        unit = unit_rows(x)
        assert unit.dtype == dtype
        np.testing.assert_allclose(unit, reference.unit_rows(x.astype(float)), rtol=10 * np.finfo(dtype).eps)

    def test_zero_rows_stay_zero(self):
        x = np.array([[0.0, 0.0], [3.0, -4.0]])
        np.testing.assert_array_equal(unit_rows(x), [[0.0, 0.0], [0.6, -0.8]])


class TestDistinctRows:
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_are_the_first_of_their_kind(self, order, dtype):
        rng = np.random.default_rng(0)
        x = np.asarray(rng.integers(-2, 3, size=(60, 2)), dtype=dtype, order=order)
        expected = [row for i, row in enumerate(x.tolist()) if row not in x[:i].tolist()]
        found = rows_to_fit(x, 0)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)

    def test_rows_that_differ_in_the_last_bit_are_distinct(self):
        x = np.array([[1.0, 2.0], [1.0, np.nextafter(2.0, 3.0)], [2.0, 1.0]])
        np.testing.assert_array_equal(rows_to_fit(x, 0), x)


class TestInverse:
    def test_is_zero_for_entries_that_cannot_be_inverted(self):
        x = np.array([4.0, 0.0, -1.0, 0.25])
        np.testing.assert_allclose(inverse(x), [0.25, 0, 0, 4])
        np.testing.assert_allclose(inverse(x, 0.5), [0.5, 0, 0, 2])
        assert inverse(x.astype(np.float32), 0.5).dtype == np.float32


class TestWithinMad:
    def test_excludes_values_far_above(self):
        values = np.concatenate([np.random.default_rng(0).normal(5, 1, 1000), [9.0, 12.0]])
        kept = within_mad(values, width=5, scale=1.0)
        assert kept[:1001].all()
        assert not kept[1001]

    def test_keeps_values_far_below(self):
        assert within_mad(np.array([-100.0, 1, 2, 3, 4]), width=3, scale=1.0).all()

    def test_deviations_are_those_of_a_normal_law(self):
        values = np.random.default_rng(1).standard_normal(20_000)
        for width, share in ((1, 0.8413), (2, 0.9772)):
            assert within_mad(values, width=width, scale=1.0).mean() == pytest.approx(share, abs=0.01)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_rounding_does_not_count(self, dtype):
        values = np.zeros(100, dtype)
        values[:10] = 100 * np.finfo(dtype).eps
        assert within_mad(values, width=3, scale=1.0).all()
        values[0] = 0.1
        np.testing.assert_array_equal(np.flatnonzero(~within_mad(values, width=3, scale=1.0)), [0])


class TestMeanOffset:
    @pytest.mark.parametrize(
        ("dims", "p", "counts"), [((2, 2), 6, 250), ((1, 1), 3, 40), ((4, 5, 6), 10, 30), ((2, 3), 20, (200, 20))]
    )
    def test_subspaces_through_the_origin_are_about_one_error_off(self, dims, p, counts):
        offsets = [
            mean_offset(make_subspaces(dims, p, points_per_subspace=counts, min_angle=0, random_state=seed)[0])
            for seed in range(100)
        ]
        # A squared offset has the mean one, and the threshold is not met by chance.
        assert np.mean(np.square(offsets)) == pytest.approx(1, abs=0.3)
        assert max(offsets) < FAR_OFFSET

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_an_offset_of_the_measurement_is_far(self, dtype):
        for seed in range(20):
            X, _ = make_subspaces((2, 2), 6, random_state=seed)
            direction = np.random.default_rng(seed).standard_normal(6)
            assert mean_offset((X + 0.5 * direction / np.linalg.norm(direction)).astype(dtype)) > FAR_OFFSET
        assert mean_offset(np.random.default_rng(0).random((100, 10)).astype(dtype)) > FAR_OFFSET

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_centred_rows_are_near(self, dtype):
        X = make_subspaces((2, 2), 6, random_state=0)[0].astype(dtype)
        assert mean_offset(X - X.mean(axis=0)) < 1e-3

    def test_is_in_standard_errors_whatever_the_unit_and_the_blocks(self, monkeypatch):
        x = np.tile([[1.3, 0.4], [-0.7, 0.4]], (50, 1))
        assert mean_offset(x) == pytest.approx(5)
        assert mean_offset(1e6 * x) == pytest.approx(5)
        monkeypatch.setattr(_blocks, "BLOCK_BYTES", 1)
        assert mean_offset(x) == pytest.approx(5)

    def test_equal_rows_are_infinitely_far(self):
        assert mean_offset(np.ones((5, 2))) == np.inf

    def test_rows_of_zeros_are_at_the_origin(self):
        assert mean_offset(np.zeros((5, 2))) == 0


class TestPreparation:
    @pytest.mark.parametrize("center", [True, False])
    @pytest.mark.parametrize("unit", [True, False])
    def test_centres_and_scales(self, center, unit):
        x = low_rank_rows(30, 5, 5, offset=3)
        rows = prepare_rows(x, center=center, unit=unit)(x)
        expected = x - x.mean(axis=0) if center else x
        np.testing.assert_allclose(rows, reference.unit_rows(expected) if unit else expected, atol=1e-12)

    def test_new_rows_are_moved_by_the_old_mean(self):
        x, new = low_rank_rows(30, 5, 5, offset=3), low_rank_rows(4, 5, 5, seed=1)
        np.testing.assert_allclose(prepare_rows(x, center=True, unit=False)(new), new - x.mean(axis=0), atol=1e-12)

    @pytest.mark.parametrize("center", [True, False])
    def test_up_to_80_columns_stay(self, center):
        assert MAX_COLUMNS == 80
        assert prepare_rows(low_rank_rows(100, 80, 80), center=center, unit=False).directions is None

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize(("rank", "min_columns", "kept"), [(5, 2, 5), (5, 7, 7), (1, 2, 2), (0, 2, 2)])
    def test_directions_that_no_row_uses_are_left_out(self, rank, min_columns, kept, dtype):
        x = (low_rank_rows(100, 20, rank, offset=1) if rank else np.ones((100, 20))).astype(dtype)
        preparation = prepare_rows(x, center=True, unit=False, min_columns=min_columns)
        rows = preparation(x)
        assert rows.shape == (100, kept)
        centered = x - x.mean(axis=0)
        np.testing.assert_allclose(rows @ rows.T, centered @ centered.T, atol=1e-9 if dtype == np.float64 else 1e-3)
        # Whoever wants no projection gets none.
        assert prepare_rows(x, center=True, unit=False, max_columns=None).directions is None

    @pytest.mark.parametrize("center", [True, False])
    @pytest.mark.parametrize(("n", "p"), [(300, 100), (120, 200)])
    def test_wide_rows_keep_as_much_as_80_directions_can(self, n, p, center):
        x = low_rank_rows(n, p, 20, offset=2) + 0.1 * np.random.default_rng(1).standard_normal((n, p))
        preparation = prepare_rows(x, center=center, unit=False)
        rows = preparation(x)
        assert rows.shape == (n, 80)
        np.testing.assert_allclose(preparation.directions.T @ preparation.directions, np.eye(80), atol=1e-10)
        values = np.linalg.svd(x - x.mean(axis=0) if center else x, compute_uv=False)
        assert np.square(rows).sum() == pytest.approx(np.square(values[:80]).sum(), rel=1e-10)

    def test_few_wide_rows_lose_nothing(self):
        x = np.random.default_rng(0).standard_normal((30, 150)) + 1
        rows = prepare_rows(x, center=True, unit=False)(x)
        assert rows.shape == (30, 30)
        centered = x - x.mean(axis=0)
        np.testing.assert_allclose(rows @ rows.T, centered @ centered.T, atol=1e-9)

    @pytest.mark.parametrize("n", [1, 2])
    def test_one_wide_row_keeps_two_columns(self, n):
        x = np.random.default_rng(0).standard_normal((n, 100))
        preparation = prepare_rows(x, center=False, unit=False)
        np.testing.assert_allclose(preparation.directions.T @ preparation.directions, np.eye(2), atol=1e-12)
        rows = preparation(x)
        np.testing.assert_allclose(rows @ rows.T, x @ x.T, rtol=1e-10)

    @pytest.mark.parametrize(
        ("n", "p", "limit"), [(50, 80, 80), (50, 81, 80), (200, 300, 80), (200, 300, 120), (1, 99, 80)]
    )
    def test_the_number_of_columns_is_known_beforehand(self, n, p, limit):
        x = np.random.default_rng(0).standard_normal((n, p))
        rows = prepare_rows(x, center=True, unit=False, max_columns=limit)(x)
        assert rows.shape[1] == prepared_columns(n, p, limit)

    @pytest.mark.parametrize("p", [5, 100])
    def test_float32_stays(self, p):
        x = low_rank_rows(90, p, 5, offset=1)
        narrow = prepare_rows(x.astype(np.float32), center=True, unit=True)(x.astype(np.float32))
        assert narrow.dtype == np.float32
        wide = prepare_rows(x, center=True, unit=True)(x)
        np.testing.assert_allclose(narrow @ narrow.T, wide @ wide.T, atol=1e-4)


class TestRestore:
    @pytest.mark.parametrize("affine", [True, False])
    @pytest.mark.parametrize("center", [True, False])
    @pytest.mark.parametrize("p", [6, 100])
    def test_distances_agree_in_both_spaces(self, p, center, affine):
        x = low_rank_rows(120, p, min(p, 30), offset=2)
        preparation = prepare_rows(x, center=center, unit=False)
        rows = preparation(x)
        flats = random_flats(7, rows.shape[1], 3, affine=affine)
        restored = preparation.restore(flats)
        assert restored.bases.shape == (7, p, 3)
        grams = np.einsum("mpd,mpe->mde", restored.bases, restored.bases)
        np.testing.assert_allclose(grams, np.broadcast_to(np.eye(3), (7, 3, 3)), atol=1e-10)
        expected = squared_distances(rows, flats)
        np.testing.assert_allclose(squared_distances(x, restored), expected, rtol=1e-8, atol=1e-8)

    @pytest.mark.parametrize("center", [True, False])
    @pytest.mark.parametrize("p", [6, 100])
    def test_points_of_linear_flats_lie_on_them_before_scaling_too(self, p, center):
        x = low_rank_rows(120, p, min(p, 30), offset=2)
        preparation = prepare_rows(x, center=center, unit=True)
        rows = preparation(x)
        flats, _ = fit_flats(rows, nearest_rows(rows, rows[:5], 8), 2, affine=False)
        restored = preparation.restore(flats)
        np.testing.assert_allclose(restored.centers, np.tile(preparation.mean, (5, 1)), atol=1e-12)
        steps = 10 * np.random.default_rng(0).standard_normal((20, 2))
        for j in range(5):
            points = restored.centers[j] + steps @ restored.bases[j].T
            assert squared_distances(preparation(points), flats[[j]]).max() < 1e-12

    def test_projection_of_a_row_is_at_distance_zero(self):
        x = low_rank_rows(150, 100, 60, offset=2)
        preparation = prepare_rows(x, center=True, unit=False)
        flats, _ = fit_flats(preparation(x), nearest_rows(preparation(x), preparation(x)[:4], 9), 3, affine=True)
        restored = preparation.restore(flats)
        for j in range(4):
            center, basis = restored.centers[j], restored.bases[j]
            foot = center + (x - center) @ basis @ basis.T
            assert squared_distances(preparation(foot), flats[[j]]).max() < 1e-9


class TestWhitener:
    def rows(self, n=400, p=6, dtype=np.float64):
        """Centred rows whose directions have very different variances."""
        rng = np.random.default_rng(0)
        rotation = np.linalg.qr(rng.normal(size=(p, p)))[0]
        rows = (rng.normal(size=(n, p)) * 0.5 ** np.arange(p)) @ rotation
        return (rows - rows.mean(axis=0)).astype(dtype)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_power_one_gives_all_directions_the_same_variance(self, dtype):
        rows = self.rows(dtype=dtype)
        matrix = whitener(rows, 1.0)
        assert matrix.dtype == dtype
        np.testing.assert_allclose(matrix, matrix.T, rtol=1e-4)
        white = rows @ matrix
        variances = np.linalg.eigvalsh(white.T @ white)
        np.testing.assert_allclose(variances / variances[-1], 1, rtol=1e-3)

    @pytest.mark.parametrize("power", [0.25, 0.5, 0.8])
    def test_other_powers_shrink_standard_deviations(self, power):
        """The largest stays as it is."""
        rows = self.rows()
        before, after = (np.linalg.svd(each, compute_uv=False) for each in (rows, rows @ whitener(rows, power)))
        np.testing.assert_allclose(after, before[0] * (before / before[0]) ** (1 - power), rtol=1e-9)

    def test_power_zero_is_no_whitening(self):
        rows = self.rows()
        np.testing.assert_allclose(whitener(rows, 0.0), np.eye(6), atol=1e-12)
        made = PreparedRows(rows, RowPreparation(np.zeros(6), None, unit=False), centered=False)
        assert made.shaped_by(unit=True, whiten=0.0).whitener is None

    @pytest.mark.parametrize("rows", [np.zeros((5, 3)), np.full((5, 3), 1e-200)])
    def test_rows_without_variance(self, rows):
        assert np.isfinite(whitener(rows, 1.0)).all()

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_directions_of_hardly_any_variance_are_stretched_to_a_limit(self, dtype):
        rows = np.c_[self.rows(), np.zeros(400), 1e-7 * self.rows()[:, 0]].astype(dtype)
        stretched = np.linalg.eigvalsh(whitener(rows, 1.0).astype(np.float64))
        assert stretched[-1] / stretched[0] == pytest.approx(1 / LEAST_SPREAD, rel=1e-3)

    @pytest.mark.parametrize("unit", [False, True])
    @pytest.mark.parametrize("p", [6, 100])
    def test_rows_are_projected_then_whitened_then_scaled(self, p, unit):
        x = low_rank_rows(200, p, min(p, 30), offset=2)
        prepared = prepare(x, RowOptions(center=True, max_columns=20))
        shape = prepared.shaped_by(unit=unit, whiten=0.5)
        expected = prepared.rows @ whitener(prepared.rows, 0.5)
        expected = expected / np.linalg.norm(expected, axis=1, keepdims=True) if unit else expected
        np.testing.assert_allclose(shape(x), expected, atol=1e-10)
        np.testing.assert_allclose(shape.shaped(prepared.rows), expected, atol=1e-10)
        np.testing.assert_allclose(shape.plain(x), prepared.rows, atol=1e-10)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("affine", [True, False])
    @pytest.mark.parametrize(("p", "standardise"), [(6, False), (6, True), (100, False), (100, True)])
    def test_flats_are_restored(self, p, standardise, affine, dtype):
        """A row lies on a flat of the prepared space if and only if it lies on the restored flat."""
        x = (low_rank_rows(200, p, min(p, 30), offset=2) * np.linspace(0.1, 10, p)).astype(dtype)
        options = RowOptions(center=True, max_columns=20, standardise=standardise)
        shape = prepare(x, options).shaped_by(unit=False, whiten=0.5)
        rows = shape(x)
        flats = random_flats(7, rows.shape[1], 3, affine=affine)
        restored = shape.restore(Flats(flats.centers.astype(dtype), flats.bases.astype(dtype)))
        assert restored.bases.dtype == dtype
        grams = np.einsum("mpd,mpe->mde", restored.bases, restored.bases)
        np.testing.assert_allclose(grams, np.broadcast_to(np.eye(3), (7, 3, 3)), atol=1e-5)
        steps = np.random.default_rng(0).standard_normal((20, 3)).astype(dtype)
        for j in range(7):
            on_flat = shape(restored.centers[j] + steps @ restored.bases[j].T)
            assert squared_distances(on_flat, flats[[j]]).max() < (1e-12 if dtype == np.float64 else 1e-5)

    def test_restored_points(self):
        x = low_rank_rows(200, 6, 6, offset=2)
        shape = prepare(x, RowOptions(center=True, max_columns=20)).shaped_by(unit=False, whiten=1.0)
        points = Flats(shape(x[:5]), np.zeros((5, 6, 0)))
        np.testing.assert_allclose(shape.restore(points).centers, x[:5], atol=1e-9)


class TestBlocks:
    @few
    @given(n=st.integers(0, 200), row_bytes=st.integers(0, 2**25), block_rows=st.none() | st.integers(1, 250))
    def test_cover_every_row_once_and_in_order(self, n, row_bytes, block_rows):
        blocks = list(row_blocks(n, row_bytes, block_rows=block_rows))
        assert [i for block in blocks for i in range(block.start, block.stop)] == list(range(n))
        assert all(first.stop == second.start for first, second in pairwise(blocks))
        if block_rows is not None:
            assert all(block.stop - block.start <= block_rows for block in blocks)

    def test_hold_the_promised_memory(self):
        row_bytes = 2**16
        blocks = list(row_blocks(10_000, row_bytes))
        assert len(blocks) > 1
        assert max(block.stop - block.start for block in blocks) * row_bytes <= _blocks.BLOCK_BYTES
