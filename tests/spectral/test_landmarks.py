"""Landmarks: how many, which, and how well they stand for the rows."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from sklearn.datasets import make_blobs

from subspaces.spectral.landmarks import choose_landmarks

METHODS = ["random", "kmeans"]


def rows(n=200, dtype=np.float64):
    return make_blobs(n, 4, centers=10, random_state=0)[0].astype(dtype)


def choose(x, count, method, seed=0):
    return choose_landmarks(x, count, method=method, rng=np.random.RandomState(seed))


def which(x, landmarks):
    """Index of the row that each landmark equals, -1 for none."""
    equal = (landmarks[:, None] == x).all(axis=2)
    return np.where(equal.any(axis=1), equal.argmax(axis=1), -1)


@pytest.mark.parametrize("method", METHODS)
class TestBoth:
    @pytest.mark.parametrize("count", [1, 7, 150, 199])
    def test_number_of_landmarks(self, method, count):
        assert choose(rows(), count, method).shape == (count, 4)

    @pytest.mark.parametrize("count", [30, 31, 1000])
    def test_every_row_is_a_landmark_if_there_are_few(self, method, count):
        x = rows(30)
        np.testing.assert_array_equal(choose(x, count, method), x)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_same_seed_same_landmarks(self, method, dtype):
        x = rows(dtype=dtype)
        first = choose(x, 20, method)
        assert first.dtype == dtype
        np.testing.assert_array_equal(choose(x, 20, method), first)
        assert not np.array_equal(choose(x, 20, method, seed=1), first)

    def test_precision_does_not_change_the_draw(self, method):
        wide, narrow = rows(), rows(dtype=np.float32)
        np.testing.assert_allclose(choose(wide, 20, method), choose(narrow, 20, method), rtol=1e-4, atol=1e-4)

    def test_rows_are_not_touched(self, method):
        x = rows()
        before = x.copy()
        choose(x, 20, method)
        np.testing.assert_array_equal(x, before)


class TestRandom:
    def test_are_different_rows(self):
        x = rows()
        index = which(x, choose(x, 60, "random"))
        assert index.min() >= 0
        assert len(np.unique(index)) == 60

    def test_every_row_has_the_same_chance(self):
        x = rows(20)
        counts = np.bincount(
            np.concatenate([which(x, choose(x, 5, "random", seed)) for seed in range(400)]), minlength=20
        )
        # 400 draws of 5 out of 20: 100 each, with a standard deviation below 9.
        assert abs(counts - 100).max() < 40


class TestKmeans:
    def test_stand_for_the_rows_better_than_random_ones(self):
        x = rows()
        for seed in range(5):
            errors = [reference.nearest_centers(x, choose(x, 20, method, seed))[1] for method in METHODS]
            assert errors[1] < 0.8 * errors[0]

    def test_are_means_of_rows(self):
        x = rows()
        landmarks = choose(x, 20, "kmeans")
        assert (which(x, landmarks) == -1).sum() > 10
        assert (landmarks >= x.min(axis=0)).all()
        assert (landmarks <= x.max(axis=0)).all()

    def test_learn_from_a_sample_of_many_rows(self):
        """Two landmarks see 40 of 2,000 rows; they still find both clumps."""
        rng = np.random.default_rng(0)
        x = np.concatenate([rng.standard_normal((1000, 2)) - 30, rng.standard_normal((1000, 2)) + 30])
        found = np.array([np.sort(choose(x, 2, "kmeans", seed)[:, 0]) for seed in range(10)])
        assert (np.abs(found - [-30, 30]) < 1).all(axis=1).sum() >= 5
