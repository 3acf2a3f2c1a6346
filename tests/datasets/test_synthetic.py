"""Random data have the distribution that the documentation states."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import subspace_angles
from scipy.stats import kstest

from subspaces import datasets

PAPER_MODELS = [((2, 2), 6), ((4, 5, 6), 10), ((5, 6, 7), 20), ((3, 4, 5, 6, 7), 80)]
few = settings(max_examples=25, deadline=None)


def dimension(tracks):
    """Dimension of the smallest affine subspace that holds the rows."""
    values = np.linalg.svd(tracks - tracks.mean(axis=0), compute_uv=False)
    return int((values > 1e-9 * values[0]).sum())


def test_public_names():
    assert sorted(datasets.__all__) == datasets.__all__
    assert all(callable(getattr(datasets, name)) for name in datasets.__all__)


class TestMakeSubspaces:
    @pytest.mark.parametrize(("dims", "ambient_dim"), PAPER_MODELS)
    def test_models_of_the_paper_have_the_angle(self, dims, ambient_dim):
        for seed in range(5):
            X, y, bases, centers = datasets.make_subspaces(dims, ambient_dim, random_state=seed, return_bases=True)
            assert X.dtype == np.float64
            assert np.bincount(y + 1).tolist() == [math.ceil(len(dims) * 250 / 19), *[250] * len(dims)]
            assert not centers.any()
            for i, basis in enumerate(bases):
                np.testing.assert_allclose(basis.T @ basis, np.eye(dims[i]), atol=1e-12)
                for other in bases[:i]:
                    angles = np.sort(subspace_angles(basis, other))
                    forced = max(0, basis.shape[1] + other.shape[1] - ambient_dim)
                    assert (angles[:forced] < 1e-6).all()
                    assert angles[forced] > np.pi / 18

    @few
    @given(
        dims=st.lists(st.integers(1, 4), min_size=1, max_size=4),
        counts=st.integers(1, 40),
        share=st.floats(0, 0.8),
        affine=st.booleans(),
        seed=st.integers(0, 100),
    )
    def test_points_without_noise_lie_in_their_unit_balls(self, dims, counts, share, affine, seed):
        X, y, bases, centers = datasets.make_subspaces(
            dims,
            6,
            points_per_subspace=counts,
            noise=0,
            outliers=share,
            affine=affine,
            min_angle=0,
            shuffle=True,
            random_state=seed,
            return_bases=True,
        )
        for k, (basis, center) in enumerate(zip(bases, centers, strict=True)):
            offsets = X[y == k] - center
            assert len(offsets) == counts
            np.testing.assert_allclose(offsets @ basis @ basis.T, offsets, atol=1e-12)
            assert np.linalg.norm(offsets, axis=1).max() <= 1 + 1e-12
        n, n_outliers = (y >= 0).sum(), (y < 0).sum()
        assert n_outliers - 1 - 1e-6 <= n * share / (1 - share) <= n_outliers + 1e-6
        assert np.abs(X).max() <= np.linalg.norm(X[y >= 0], axis=1).max()

    @pytest.mark.parametrize("dim", [1, 3, 6])
    def test_points_are_uniform_in_the_ball(self, dim):
        X, _, (basis,), _ = datasets.make_subspaces(
            [dim], 8, points_per_subspace=4000, noise=0, outliers=0, random_state=dim, return_bases=True
        )
        coordinates = X @ basis
        assert kstest(np.linalg.norm(coordinates, axis=1) ** dim, "uniform").pvalue > 0.01
        # Mean square of a coordinate in the unit ball of dimension d is 1 / (d + 2).
        np.testing.assert_allclose(coordinates.T @ coordinates / 4000, np.eye(dim) / (dim + 2), atol=0.02)

    def test_noise_has_the_given_deviation_in_all_directions(self):
        X, _, (basis,), _ = datasets.make_subspaces(
            [2], 30, points_per_subspace=2000, noise=0.1, outliers=0, random_state=0, return_bases=True
        )
        across = X - X @ basis @ basis.T
        assert np.sqrt((across**2).sum() / (2000 * 28)) == pytest.approx(0.1, rel=0.02)

    def test_outliers_are_uniform_in_the_cube(self):
        X, y = datasets.make_subspaces([2, 2], 4, outliers=0.9, random_state=0)
        half_side = np.linalg.norm(X[y >= 0], axis=1).max()
        assert kstest(X[y < 0].ravel() / (2 * half_side) + 0.5, "uniform").pvalue > 0.01

    @pytest.mark.parametrize(("n", "share", "expected"), [(19, 0.05, 1), (20, 0.05, 2), (70, 0.3, 30), (9, 0, 0)])
    def test_share_of_outliers_is_of_all_rows(self, n, share, expected):
        _, y = datasets.make_subspaces([1], 3, points_per_subspace=n, outliers=share, random_state=0)
        assert (y == -1).sum() == expected

    def test_unequal_sizes_and_order(self):
        _, y = datasets.make_subspaces([1, 2], 5, points_per_subspace=[3, 5], outliers=0.2, random_state=0)
        assert y.tolist() == [0] * 3 + [1] * 5 + [-1] * 2

    def test_affine_subspaces_miss_the_origin(self):
        *_, bases, centers = datasets.make_subspaces([2, 3], 7, affine=True, random_state=1, return_bases=True)
        np.testing.assert_allclose(np.linalg.norm(centers, axis=1), 1)
        for basis, center in zip(bases, centers, strict=True):
            assert np.linalg.norm(center - basis @ basis.T @ center) > 0.1

    def test_same_seed_same_data(self):
        first, again, other = (datasets.make_subspaces([2, 3], 6, random_state=seed) for seed in (5, 5, 6))
        np.testing.assert_array_equal(first[0], again[0])
        assert not np.array_equal(first[0], other[0])
        from_generator, _ = datasets.make_subspaces([2, 3], 6, random_state=np.random.default_rng(5))
        np.testing.assert_array_equal(first[0], from_generator)

    def test_a_random_state_advances(self):
        source = np.random.RandomState(0)
        first, second = (datasets.make_subspaces([2], 3, random_state=source)[0] for _ in "ab")
        again, _ = datasets.make_subspaces([2], 3, random_state=np.random.RandomState(0))
        assert not np.array_equal(first, second)
        np.testing.assert_array_equal(first, again)

    @pytest.mark.parametrize(
        ("changes", "error", "message"),
        [
            ({"dims": [2, 6]}, ValueError, "dims has 6, which must be below ambient_dim=6"),
            ({"dims": [0]}, ValueError, r"dims\[0\]=0 must be at least 1"),
            ({"dims": []}, ValueError, "is empty"),
            ({"dims": 2}, TypeError, "dims=2 must be a list"),
            ({"dims": [1.5]}, TypeError, r"dims\[0\]=1.5 must be a whole number"),
            ({"dims": "22"}, TypeError, "dims='22' must be a list"),
            ({"ambient_dim": 1}, ValueError, "ambient_dim=1"),
            ({"points_per_subspace": 0}, ValueError, "points_per_subspace=0 must be at least 1"),
            ({"points_per_subspace": [5]}, ValueError, "has 1 items for 2 subspaces"),
            ({"points_per_subspace": True}, TypeError, "points_per_subspace=True"),
            ({"noise": -0.1}, ValueError, "noise=-0.1 must be finite and not negative"),
            ({"noise": np.nan}, ValueError, "noise=nan"),
            ({"noise": "loud"}, TypeError, "noise='loud' must be a number"),
            ({"outliers": 1}, ValueError, r"outliers=1 must be in \[0, 1\)"),
            ({"outliers": -0.1}, ValueError, "outliers=-0.1"),
            ({"min_angle": 30}, ValueError, "min_angle=30 must be in .* radians"),
            ({"dims": [1] * 8, "ambient_dim": 2, "min_angle": 0.5}, ValueError, "lower min_angle"),
        ],
    )
    def test_bad_arguments(self, changes, error, message):
        request = {"dims": [2, 2], "ambient_dim": 6, "random_state": 0} | changes
        with pytest.raises(error, match=message):
            datasets.make_subspaces(request.pop("dims"), request.pop("ambient_dim"), **request)


class TestMakeMotions:
    @pytest.mark.parametrize(
        ("kind", "moving_camera", "expected"),
        [
            ("general", False, 3),
            ("general", True, 3),
            ("planar", False, 2),
            ("planar", True, 2),
            ("translation", False, 2),
            ("translation", True, 3),
        ],
    )
    def test_tracks_of_a_body_have_the_documented_dimension(self, kind, moving_camera, expected):
        for seed in range(5):
            X, y = datasets.make_motions(3, 20, n_frames=8, kind=kind, moving_camera=moving_camera, random_state=seed)
            assert [dimension(X[y == k]) for k in range(3)] == [expected] * 3
            assert dimension(X) > expected

    def test_mixed_uses_all_kinds(self):
        X, y = datasets.make_motions(6, 30, random_state=3)
        assert sorted(dimension(X[y == k]) for k in range(6)) == [2, 2, 2, 2, 3, 3]

    @few
    @given(n_motions=st.integers(1, 6), n_frames=st.integers(2, 12), seed=st.integers(0, 50))
    def test_positions_fill_an_image_of_unit_side(self, n_motions, n_frames, seed):
        X, y = datasets.make_motions(n_motions, 7, n_frames, random_state=seed)
        assert X.shape == (7 * n_motions, 2 * n_frames)
        assert np.bincount(y).tolist() == [7] * n_motions
        positions = X.reshape(-1, n_frames, 2)
        assert positions.min() == 0
        assert positions.max() == pytest.approx(1)

    def test_motion_is_smooth_and_bodies_are_of_one_scale(self):
        for seed in range(5):
            X, y = datasets.make_motions(3, 50, n_frames=30, random_state=seed)
            positions = X.reshape(-1, 30, 2)
            assert np.linalg.norm(np.diff(positions, axis=1), axis=2).max() < 0.1
            extents = [np.ptp(positions[y == k][:, 0], axis=0).max() for k in range(3)]
            assert max(extents) < 4 * min(extents)

    def test_bodies_move_differently(self):
        X, y = datasets.make_motions(4, 30, random_state=0)
        travel = (X[:, -2:] - X[:, :2]).reshape(-1, 2)
        means = np.array([travel[y == k].mean(axis=0) for k in range(4)])
        gaps = np.linalg.norm(means[:, None] - means, axis=2)[np.triu_indices(4, 1)]
        assert gaps.min() > 0.1

    def test_noise_is_a_share_of_the_image(self):
        clean, _ = datasets.make_motions(2, 100, random_state=0)
        noisy, _ = datasets.make_motions(2, 100, noise=0.01, random_state=0)
        assert np.std(noisy - clean) == pytest.approx(0.01, rel=0.03)

    def test_unequal_bodies_of_listed_kinds(self):
        X, y = datasets.make_motions(2, [5, 9], kind=["planar", "general"], random_state=0)
        assert np.bincount(y).tolist() == [5, 9]
        assert [dimension(X[y == k]) for k in range(2)] == [2, 3]

    def test_same_seed_same_data(self):
        first, again = (datasets.make_motions(2, noise=0.1, moving_camera=True, random_state=1) for _ in "ab")
        np.testing.assert_array_equal(first[0], again[0])

    @pytest.mark.parametrize(
        ("changes", "error", "message"),
        [
            ({"n_motions": 0}, ValueError, "n_motions=0"),
            ({"n_points": 0}, ValueError, "n_points=0 must be at least 1"),
            ({"n_points": [5, 5, 5]}, ValueError, "n_points has 3 items for 2 motions"),
            ({"n_frames": 1}, ValueError, "n_frames=1 must be at least 2"),
            ({"n_frames": 2.0}, TypeError, "n_frames=2.0"),
            ({"noise": -1}, ValueError, "noise=-1"),
            ({"kind": "spin"}, ValueError, "kind='spin' is not known"),
            ({"kind": ["planar"]}, ValueError, "kind has 1 items for 2 motions"),
            ({"kind": 3}, TypeError, "kind=3 is not a name"),
        ],
    )
    def test_bad_arguments(self, changes, error, message):
        with pytest.raises(error, match=message):
            datasets.make_motions(**({"n_motions": 2} | changes))
