"""Drawn data have the law they promise; real data are whole, exact and easy to provide."""

from __future__ import annotations

import gzip
import math
import os
import re
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import subspace_angles
from scipy.stats import kstest

from subspaces import datasets
from subspaces._core import blocks as _blocks
from subspaces._core import pca as _pca
from subspaces.datasets import archives, load_mnist, load_pendigits, load_yaleb, real

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
    def test_models_of_the_paper_keep_the_angle(self, dims, ambient_dim):
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

    def test_noise_fills_the_whole_space_with_the_given_deviation(self):
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

    def test_a_random_state_is_used_up(self):
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
    def test_bad_requests_are_named(self, changes, error, message):
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
    def test_tracks_of_a_body_fill_the_promised_dimension(self, kind, moving_camera, expected):
        for seed in range(5):
            X, y = datasets.make_motions(3, 20, n_frames=8, kind=kind, moving_camera=moving_camera, random_state=seed)
            assert [dimension(X[y == k]) for k in range(3)] == [expected] * 3
            assert dimension(X) > expected

    def test_mixed_deals_out_all_kinds(self):
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
    def test_bad_requests_are_named(self, changes, error, message):
        with pytest.raises(error, match=message):
            datasets.make_motions(**({"n_motions": 2} | changes))


class TestPrincipalScores:
    @pytest.mark.parametrize("shape", [(60, 20), (20, 60), (30, 30)])
    @pytest.mark.parametrize("drop", [0, 2])
    def test_equal_to_the_singular_value_decomposition(self, shape, drop, monkeypatch):
        monkeypatch.setattr(_blocks, "BLOCK_BYTES", 8 * 7 * shape[1])
        x = np.random.default_rng(0).integers(0, 256, size=shape, dtype=np.uint8)
        centered = x / 255 - (x / 255).mean(axis=0)
        left, values, right = np.linalg.svd(centered, full_matrices=False)
        signs = np.sign(right[np.arange(len(right)), np.abs(right).argmax(axis=1)])
        expected = (left * values * signs)[:, drop:10]
        scores = _pca.principal_scores(x, 10, drop=drop, scale=1 / 255)
        assert scores.dtype == np.float32
        np.testing.assert_allclose(scores, expected, atol=1e-6)

    def test_components_without_variance_are_zero(self):
        x = np.outer(np.arange(5), np.ones(9, dtype=int)).astype(np.uint8)
        scores = _pca.principal_scores(x, 4)
        np.testing.assert_allclose(scores[:, 0], 3 * np.arange(-2, 3), atol=1e-6)
        np.testing.assert_allclose(scores[:, 1:], 0, atol=1e-6)


@pytest.fixture
def stored_data():
    folder = os.environ.get("SUBSPACES_DATA")
    if not folder or not all(
        (Path(folder) / archive.file_name).is_file() for archive in (real.MNIST, real.PEN_DIGITS, real.YALE_B)
    ):
        pytest.skip("SUBSPACES_DATA names no folder with the data files")
    return Path(folder)


@pytest.mark.usefixtures("stored_data")
class TestStoredFiles:
    def test_mnist_keeps_digits_and_then_projects(self):
        pixels, labels = load_mnist([4, 9], None, subset="test")
        scores, y = load_mnist([4, 9], 12, subset="test")
        assert pixels.dtype == scores.dtype == np.float32
        assert y.dtype == np.int64
        np.testing.assert_array_equal(labels, y)
        assert np.bincount(y).tolist() == [0, 0, 0, 0, 982, 0, 0, 0, 0, 1009]
        assert pixels.min() == 0
        assert pixels.max() == 1
        np.testing.assert_allclose(scores, _pca.principal_scores(pixels, 12), atol=1e-4)
        assert (np.diff(scores.std(axis=0)) < 0).all()

    def test_mnist_subsets(self):
        assert load_mnist(n_components=None)[0].shape == (60000, 784)
        assert load_mnist([1], 3, subset="all")[0].shape == (6742 + 1135, 3)

    def test_pen_digits(self):
        X, y = load_pendigits()
        assert X.shape == (7494, 16)
        assert X.dtype == np.float32
        assert X[0].tolist() == [47, 100, 27, 81, 57, 37, 26, 0, 0, 23, 56, 53, 100, 90, 40, 98]
        assert y[0] == 8
        assert load_pendigits(subset="test")[0].shape == (3498, 16)
        both, labels = load_pendigits(subset="all")
        np.testing.assert_array_equal(both[:7494], X)
        kept, kept_labels = load_pendigits([3, 1], subset="all")
        np.testing.assert_array_equal(kept, both[np.isin(labels, [1, 3])])
        assert set(kept_labels.tolist()) == {1, 3}

    def test_faces_drop_the_leading_components(self):
        X, y = load_yaleb(persons=[2, 5])
        kept, _ = load_yaleb(persons=[2, 5], drop_components=0)
        assert X.shape == (128, 78)
        assert X.dtype == np.float32
        np.testing.assert_array_equal(kept[:, 2:], X)
        assert np.unique(y).tolist() == [2, 5]
        pixels, _ = load_yaleb(persons=[2], n_components=None)
        assert pixels.shape == (64, 2016)

    def test_faces_are_drawn_by_the_seed(self):
        first, again, other = (set(load_yaleb(3, random_state=seed)[1].tolist()) for seed in (0, 0, 1))
        assert len(first) == 3
        assert first == again
        assert first != other

    def test_too_many_components_for_few_images(self):
        with pytest.raises(ValueError, match="n_components=80 must be between 1 and 64"):
            load_yaleb(persons=[1])
        with pytest.raises(ValueError, match="drop_components=3 must be below n_components=3"):
            load_yaleb(persons=[1], n_components=3, drop_components=3)
        with pytest.raises(ValueError, match="n_components=0"):
            load_mnist([1], 0, subset="test")

    def test_truncated_file(self, stored_data, tmp_path):
        whole = (stored_data / "mnist.npz").read_bytes()
        (tmp_path / "mnist.npz").write_bytes(whole[: len(whole) // 2])
        with pytest.raises(ValueError, match=re.escape(str(tmp_path / "mnist.npz"))):
            load_mnist(data_home=tmp_path)

    def test_one_changed_value(self, stored_data, tmp_path):
        with np.load(stored_data / "pendigits.npz") as stored:
            arrays = dict(stored)
        arrays["X_train"] = arrays["X_train"].copy()
        arrays["X_train"][5, 5] ^= 1
        np.savez(tmp_path / "pendigits.npz", **arrays)
        with pytest.raises(ValueError, match="holds other values in X_train"):
            load_pendigits(data_home=tmp_path)

    def test_faces_made_by_other_means_are_taken_with_a_warning(self, stored_data, tmp_path):
        with np.load(stored_data / "yaleb_48x42.npz") as stored:
            X, y = stored["X"], stored["y"]
        np.savez(tmp_path / "yaleb_48x42.npz", X=255 - X, y=y)
        with pytest.warns(UserWarning, match="other values in X") as caught:
            load_yaleb(2, random_state=0, data_home=tmp_path)
        assert caught[0].filename == __file__
        np.savez(tmp_path / "yaleb_48x42.npz", X=X, y=y - 1)
        with (
            pytest.warns(UserWarning, match="other values in y"),
            pytest.raises(ValueError, match="has y from 0 to 37"),
        ):
            load_yaleb(2, random_state=0, data_home=tmp_path)

    def test_download_is_saved_and_read_again(self, stored_data, tmp_path, monkeypatch):
        with np.load(stored_data / "pendigits.npz") as stored:
            served = {
                file: "\n".join(
                    ",".join(f"{value:3d}" for value in [*row, digit])
                    for row, digit in zip(stored[f"X_{part}"], stored[f"y_{part}"], strict=True)
                ).encode()
                for part, file in (("train", "pendigits.tra"), ("test", "pendigits.tes"))
            }
        monkeypatch.setattr(real, "fetch", lambda addresses: served[addresses[0].rsplit("/", 1)[1]])
        folder = tmp_path / "new" / "folder"
        X, _ = load_pendigits(data_home=folder)
        assert [path.name for path in folder.iterdir()] == ["pendigits.npz"]
        monkeypatch.setattr(real, "fetch", no_network)
        np.testing.assert_array_equal(X, load_pendigits(data_home=folder, subset="train")[0])


def no_network(*_args, **_kwargs):
    raise urllib.error.URLError("no route to host")


class TestMissingAndForeignFiles:
    def test_without_a_network_the_error_tells_the_way_out(self, tmp_path, monkeypatch):
        monkeypatch.setattr(urllib.request, "urlopen", no_network)
        for load in (load_mnist, load_pendigits):
            with pytest.raises(ConnectionError, match=r"no route to host.*SUBSPACES_DATA") as caught:
                load(data_home=tmp_path)
            assert str(tmp_path) in str(caught.value)
        assert not list(tmp_path.iterdir())

    def test_downloads_can_be_refused(self, tmp_path, monkeypatch):
        monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: pytest.fail("went to the network"))
        with pytest.raises(FileNotFoundError, match=r"mnist.npz is missing.*downloads are off.*SUBSPACES_DATA"):
            load_mnist(data_home=tmp_path, download=False)

    def test_missing_faces_say_what_to_put_where(self, tmp_path):
        expected = re.escape(f"{tmp_path / 'yaleb_48x42.npz'} is missing")
        with pytest.raises(FileNotFoundError, match=rf"{expected}.*X \(2414, 2016\), y \(2414,\)"):
            load_yaleb(data_home=tmp_path)

    def test_the_environment_names_the_folder(self, tmp_path, monkeypatch):
        monkeypatch.setenv("SUBSPACES_DATA", str(tmp_path / "chosen"))
        with pytest.raises(FileNotFoundError, match="chosen"):
            load_yaleb()
        with pytest.raises(FileNotFoundError, match="argument"):
            load_yaleb(data_home=tmp_path / "argument")
        monkeypatch.delenv("SUBSPACES_DATA")
        assert archives.data_folder().name.lower() in ("subspaces", "cache")

    @pytest.mark.parametrize("contents", [b"", b"not a zip file", b"PK\x03\x04 and nothing more"])
    def test_foreign_files(self, contents, tmp_path):
        (tmp_path / "mnist.npz").write_bytes(contents)
        with pytest.raises(ValueError, match=r"mnist\.npz is damaged or not a \.npz file.*remove it"):
            load_mnist(data_home=tmp_path)

    def test_foreign_arrays(self, tmp_path):
        path = tmp_path / "pendigits.npz"
        np.savez(path, data=np.zeros(3))
        with pytest.raises(ValueError, match=r"pendigits\.npz lacks an array .*X_train"):
            load_pendigits(data_home=tmp_path)
        np.savez(path, X_train=np.zeros((7494, 16)), y_train=np.zeros(7494, np.uint8))
        with pytest.raises(ValueError, match=r"X_train of float64 \(7494, 16\), not of uint8"):
            load_pendigits(data_home=tmp_path)

    def test_pickled_objects_are_never_loaded(self, tmp_path):
        np.savez(tmp_path / "pendigits.npz", X_train=np.array([{}]), y_train=np.array([{}]))
        with pytest.raises(ValueError, match="allow_pickle=False"):
            load_pendigits(data_home=tmp_path)

    @pytest.mark.parametrize("interruption", [KeyboardInterrupt, OSError])
    def test_an_interrupted_write_leaves_nothing(self, interruption, tmp_path, monkeypatch):
        def write_half(stream, **_arrays):
            stream.write(b"PK half a file")
            raise interruption

        monkeypatch.setattr(np, "savez_compressed", write_half)
        with pytest.raises(interruption):
            archives._save(tmp_path / "mnist.npz", {"X": np.zeros(3, np.uint8)})
        assert not list(tmp_path.iterdir())

    def test_what_was_downloaded_is_checked_before_it_is_saved(self, tmp_path, monkeypatch):
        line = ",".join(["7"] * 17)
        monkeypatch.setattr(real, "fetch", lambda _addresses: f"{line}\n".encode())
        with pytest.raises(
            ValueError, match=r"downloaded for pendigits\.npz has X_train of uint8 \(1, 16\).*try again later"
        ):
            load_pendigits(data_home=tmp_path)
        assert not list(tmp_path.iterdir())

    def test_a_folder_that_cannot_be_made(self, tmp_path):
        (tmp_path / "file").write_text("in the way")
        with pytest.raises(OSError, match=r"cannot be written.*SUBSPACES_DATA"):
            archives._save(tmp_path / "file" / "mnist.npz", {})

    def test_the_second_mirror_answers(self, monkeypatch):
        class Reply:
            def __enter__(self):
                return self

            def __exit__(self, *_):
                return None

            def read(self):
                return b"contents"

        def second_only(request, timeout):
            assert timeout > 0
            return Reply() if "second" in request.full_url else no_network()

        monkeypatch.setattr(urllib.request, "urlopen", second_only)
        assert archives.fetch(["https://first.org/a", "https://second.org/a"]) == b"contents"
        with pytest.raises(ConnectionError, match=r"https://first.org/b: .*no route to host"):
            archives.fetch(["https://first.org/b"])


class TestParsing:
    @pytest.mark.parametrize("shape", [(5,), (2, 3, 4)])
    def test_idx(self, shape):
        array = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
        lengths = b"".join(length.to_bytes(4, "big") for length in shape)
        raw = bytes([0, 0, 8, len(shape)]) + lengths + array.tobytes()
        np.testing.assert_array_equal(archives.parse_idx(gzip.compress(raw), source="file"), array)
        for bad in (raw[:-1], raw + b"\0", b"\0\0\x0d" + raw[3:], raw[:3], b""):
            with pytest.raises(ValueError, match="images is not a whole IDX file"):
                archives.parse_idx(gzip.compress(bad), source="images")

    @pytest.mark.parametrize(
        "contents",
        # Without the time of day, which would give the test another name in each process.
        [b"<html>sign in</html>", gzip.compress(b"\0" * 5000, mtime=0)[:-9], b""],
        ids=["a page", "truncated", "empty"],
    )
    def test_idx_not_gzipped(self, contents):
        with pytest.raises(ValueError, match="images is not a whole"):
            archives.parse_idx(contents, source="images")

    def test_pen_digits(self):
        text = b" 47,100, 27, 81, 57, 37, 26,  0,  0, 23, 56, 53,100, 90, 40, 98, 8\r\n" * 2
        X, y = archives.parse_pen_digits(text, source="file")
        assert X.shape == (2, 16)
        assert X[1, 1] == 100
        assert y.tolist() == [8, 8]

    @pytest.mark.parametrize(
        "contents", [b"", b"1,2,3\n", b"a,b\n", b"1,2\n3\n", "\u00e9".encode(), b",".join([b"300"] * 17)]
    )
    def test_pen_digits_of_another_kind(self, contents):
        with pytest.raises(ValueError, match=r"pendigits\.tra is not a table"):
            archives.parse_pen_digits(contents, source="pendigits.tra")


@pytest.mark.parametrize(
    ("request_data", "error", "message"),
    [
        (lambda: load_mnist([4, 10]), ValueError, r"digits\[1\]=10 must be between 0 and 9"),
        (lambda: load_mnist(4), TypeError, "digits=4 must be a list"),
        (lambda: load_mnist("49"), TypeError, "digits='49' must be a list"),
        (lambda: load_mnist([]), ValueError, "is empty"),
        (lambda: load_mnist(subset="validation"), ValueError, "subset='validation' is not known"),
        (lambda: load_pendigits([-1]), ValueError, r"digits\[0\]=-1 must be between 0 and 9"),
        (lambda: load_pendigits(subset=None), ValueError, "subset=None"),
        (lambda: load_yaleb(39), ValueError, "n_persons=39 must be between 1 and 38"),
        (lambda: load_yaleb(0), ValueError, "n_persons=0"),
        (lambda: load_yaleb(persons=[0]), ValueError, r"persons\[0\]=0"),
        (lambda: load_yaleb(2, persons=[1, 2]), ValueError, "both given"),
        (lambda: load_yaleb(drop_components=-1), ValueError, "drop_components=-1"),
    ],
)
def test_bad_requests_for_real_data_are_named(request_data, error, message):
    with pytest.raises(error, match=message):
        request_data()
