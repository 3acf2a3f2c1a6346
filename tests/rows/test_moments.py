"""Moments summed over blocks are those of all rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subspaces._core.arrays import to_host
from subspaces.rows.moments import block_sums, moments_of_sums
from subspaces.rows.preparation import prepare_rows


def moments_of(x, cuts=(), origin=None):
    origin = x[:1].mean(axis=0, dtype=np.float64) if origin is None else origin
    sums = [block_sums(block, origin) for block in np.split(x, sorted(cuts)) if len(block)]
    return moments_of_sums(*(sum(values) for values in zip(*sums, strict=True)), origin)


class TestMoments:
    @settings(max_examples=30, deadline=None)
    @given(
        n_rows=st.integers(1, 60),
        cuts=st.lists(st.integers(0, 60), max_size=4),
        offset=st.sampled_from([0.0, 1.0, -1e6]),
        dtype=st.sampled_from([np.float32, np.float64]),
    )
    def test_are_those_of_all_rows_however_they_are_cut(self, n_rows, cuts, offset, dtype):
        x = (np.random.default_rng(n_rows).normal(size=(n_rows, 4)) + offset).astype(dtype)
        wide = x.astype(np.float64)
        found = moments_of(x, cuts)
        centered = wide - wide.mean(axis=0)
        assert found.n_rows == n_rows
        np.testing.assert_allclose(found.mean, wide.mean(axis=0), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.scatter, centered.T @ centered, atol=1e-8 * n_rows)
        np.testing.assert_allclose(found.about(np.ones(4)), (wide - 1).T @ (wide - 1), rtol=1e-9, atol=1e-8 * n_rows)

    def test_far_from_the_origin_lose_no_digits(self):
        x = np.random.default_rng(0).normal(size=(1000, 3)) + 1e8
        centered = x - x.mean(axis=0)
        np.testing.assert_allclose(moments_of(x).scatter, centered.T @ centered, rtol=1e-6, atol=1e-4)

    def test_sums_stay_where_blocks_are(self):
        strict = pytest.importorskip("array_api_strict")
        x = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
        here, there = block_sums(x, x[0].astype(np.float64)), block_sums(strict.asarray(x), x[0].astype(np.float64))
        for expected, found in zip(here, there, strict=True):
            np.testing.assert_allclose(to_host(found), expected)
            assert to_host(found).dtype == np.float64


class TestRows:
    """A sample with the moments of all rows is prepared as all rows are."""

    @pytest.mark.parametrize("offset", [0.0, 5.0])
    def test_are_prepared_by_the_moments_of_all(self, offset):
        rng = np.random.default_rng(0)
        x = rng.normal(size=(2000, 4)) @ rng.normal(size=(4, 10)) + 0.01 * rng.normal(size=(2000, 10)) + offset
        moments = moments_of(x, (500, 900))
        whole = prepare_rows(x, center=True, unit=False, max_columns=4)
        found = prepare_rows(x[:100], center=True, unit=False, max_columns=4, moments=moments)
        np.testing.assert_allclose(found.mean, whole.mean)
        np.testing.assert_allclose(np.abs(found.directions.T @ whole.directions), np.eye(4), atol=1e-6)
