"""Real data: files are checked, and errors say how to provide them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

from subspaces._core.errors import InputError, UserError
from subspaces._core.pca import principal_scores
from subspaces.datasets import archives, digits, faces, load_mnist, load_motions, load_pendigits, load_yaleb


@pytest.fixture
def stored_data():
    folder = os.environ.get("SUBSPACES_DATA")
    if not folder or not all(
        (Path(folder) / archive.file_name).is_file() for archive in (digits.MNIST, digits.PEN_DIGITS, faces.YALE_B)
    ):
        pytest.skip("SUBSPACES_DATA does not name a folder with the data files")
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
        np.testing.assert_allclose(scores, principal_scores(pixels, 12), atol=1e-4)
        assert (np.diff(scores.std(axis=0)) < 0).all()
        uncentred, _ = load_mnist([4, 9], 12, subset="test", center=False)
        np.testing.assert_allclose(uncentred, principal_scores(pixels, 12, center=False), atol=1e-4)

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

    def test_faces_from_another_source_give_a_warning(self, stored_data, tmp_path):
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

    def test_motions(self, stored_data):
        if not (stored_data / "motions.npz").exists():
            pytest.skip("the folder has no motions.npz")
        X, y = load_motions("cars2")
        assert X.dtype == np.float32
        assert X.shape == (490, 60)
        assert np.bincount(y).tolist() == [59, 431]
        # Tracks of a rigid body lie near an affine subspace of dimension 3.
        body = X[y == 0] - X[y == 0].mean(axis=0)
        values = np.linalg.svd(body, compute_uv=False)
        assert np.sqrt(np.square(values[3:]).sum() / np.square(values).sum()) < 0.05
        sequences = load_motions()
        np.testing.assert_array_equal(sequences["cars2"][0], X)
        assert all(labels.min() == 0 and len(np.unique(labels)) >= 2 for _, labels in sequences.values())


class TestMissingAndForeignFiles:
    def test_downloads_can_be_turned_off(self, tmp_path, monkeypatch):
        monkeypatch.setattr(digits, "fetch", lambda *_, **__: pytest.fail("used the network"))
        with pytest.raises(FileNotFoundError, match=r"mnist.npz is missing.*downloads are off.*SUBSPACES_DATA"):
            load_mnist(data_home=tmp_path, download=False)

    def test_error_for_missing_faces_names_file_and_folder(self, tmp_path):
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

    @pytest.mark.parametrize(
        ("X", "y", "message"),
        [
            (np.zeros((3, 5), np.float32), np.ones(3, np.uint8), r"X of float32 \(3, 5\)"),
            (np.zeros((3, 4), np.uint8), np.ones(3, np.uint8), "X of uint8"),
            (np.zeros((3, 4)), np.ones(2, np.uint8), r"y of uint8 \(2,\) for 3 tracks"),
            (np.zeros((3, 4)), np.zeros(3, np.uint8), "number the objects from 1"),
        ],
    )
    def test_foreign_motions(self, X, y, message, tmp_path):
        np.savez(tmp_path / "motions.npz", X_a=X, y_a=y)
        with pytest.raises(InputError, match=message):
            load_motions("a", data_home=tmp_path)

    def test_unknown_and_missing_motions(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"motions\.npz is missing"):
            load_motions(data_home=tmp_path)
        np.savez(tmp_path / "motions.npz", X_a=np.zeros((2, 4)))
        with pytest.raises(InputError, match="name='b' is not known: use one of 'a'"):
            load_motions("b", data_home=tmp_path)
        with pytest.raises(InputError, match=r"lacks an array .*y_a"):
            load_motions("a", data_home=tmp_path)

    def test_errors_are_errors_of_users(self, tmp_path):
        for load in (load_yaleb, load_motions):
            with pytest.raises(UserError):
                load(data_home=tmp_path)


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
def test_bad_arguments(request_data, error, message):
    with pytest.raises(error, match=message):
        request_data()
