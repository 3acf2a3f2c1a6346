"""The step to which values are rounded, and what it does to descriptions."""

from __future__ import annotations

import numpy as np
import pytest

from subspaces import FLS
from subspaces.flats.description import measure
from subspaces.flats.thresholds import RESOLUTION
from subspaces.metrics import clustering_accuracy
from subspaces.rows.preparation import value_grain


@pytest.mark.parametrize("step", [1.0, 0.1, 25.0])
def test_the_step_of_rounded_values(step):
    rows = np.random.default_rng(0).normal(scale=20 * step, size=(400, 3))
    assert value_grain(np.round(rows / step) * step) == pytest.approx(step / np.sqrt(12))
    scale = np.array([2.0, 2.0, 2.0])
    assert value_grain(np.round(rows / step) * step, scale) == pytest.approx(step / 2 / np.sqrt(12))


def test_a_few_values_beside_the_grid_do_not_matter():
    rows = np.random.default_rng(0).integers(0, 30, (400, 2)).astype(float)
    rows[7] = 3.217
    assert value_grain(rows) == pytest.approx(1 / np.sqrt(12))


@pytest.mark.parametrize("n_rows", [40, 3000])
def test_measured_numbers_have_hardly_any(n_rows):
    rows = np.random.default_rng(0).normal(size=(n_rows, 4))
    assert value_grain(rows) < RESOLUTION / 2


def test_constant_columns_and_one_row():
    assert value_grain(np.ones((5, 2))) == 0
    assert value_grain(np.arange(3.0)[None]) == 0


def test_no_variance_is_finer_than_the_grain():
    rows = np.random.default_rng(0).normal(size=(200, 3))
    assert measure(rows, affine=True).floor == pytest.approx(RESOLUTION**2)
    space = measure(rows, affine=True, grain=0.3)
    assert space.floor == pytest.approx((0.3 / space.unit) ** 2)


def test_whole_numbers_that_most_rows_share_are_rarely_a_cluster():
    """Grades from 1 to 10: half of the rows of the better class have exactly 1 in some columns."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        good = 1 + rng.poisson(0.6, (300, 9))
        bad = np.clip(np.round(rng.normal(6, 2.5, (200, 9))), 1, 10)
        rows, classes = np.vstack([good, bad]).astype(float), np.repeat([0, 1], [300, 200])
        found.append(clustering_accuracy(classes, FLS(2, random_state=0).fit_predict(rows)))
    assert np.mean(np.array(found) > 0.95) > 0.8
