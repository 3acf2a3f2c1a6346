"""Data and settings that tests of several rooms share."""

import os
from pathlib import Path

import pytest
from sklearn.datasets import load_digits, make_blobs, make_circles, make_moons

from subspaces._core import blocks, threads
from subspaces.datasets import load_mnist, load_pendigits, load_yaleb, make_motions, make_subspaces
from subspaces.rows import feed


def read_only(X, y):
    """Data that tests share must not be changed by one of them."""
    X.flags.writeable = y.flags.writeable = False
    return X, y


@pytest.fixture(scope="session")
def planes():
    """Two planes in six dimensions with a few outliers: rows (133, 6), labels with -1 for outliers."""
    return read_only(*make_subspaces((2, 2), 6, points_per_subspace=60, outliers=0.1, shuffle=True, random_state=0))


@pytest.fixture(scope="session")
def blobs():
    """Three Gaussian clusters: rows (120, 4)."""
    return read_only(*make_blobs(120, centers=3, n_features=4, random_state=0))


@pytest.fixture(scope="session")
def moons():
    """Two interleaved half circles: rows (500, 2)."""
    return read_only(*make_moons(500, noise=0.05, random_state=0))


@pytest.fixture(scope="session")
def circles():
    """Two concentric circles: rows (400, 2)."""
    return read_only(*make_circles(400, noise=0.03, factor=0.4, random_state=0))


@pytest.fixture(scope="session")
def motions():
    """Point trajectories of three moving objects, each in an affine subspace."""
    return read_only(*make_motions(3, random_state=0))


@pytest.fixture(scope="session")
def small_digits():
    """The digits of scikit-learn: rows (1797, 64)."""
    return read_only(*load_digits(return_X_y=True))


@pytest.fixture(scope="session")
def data_folder():
    """The folder of the real data sets; tests that need it are skipped if there is none."""
    folder = Path(os.environ.get("SUBSPACES_DATA") or "no such folder")
    if not folder.is_dir():
        pytest.skip("SUBSPACES_DATA is not the name of a folder")
    return folder


@pytest.fixture(scope="session")
def mnist(data_folder):
    """Test images 1 and 7 of MNIST, projected."""
    return read_only(*load_mnist([1, 7], subset="test"))


@pytest.fixture(scope="session")
def pen_digits(data_folder):
    """The training rows of penDigits: (7494, 16)."""
    return read_only(*load_pendigits())


@pytest.fixture(scope="session")
def faces(data_folder):
    """Faces of eight persons of Yale B."""
    return read_only(*load_yaleb(8, random_state=5))


@pytest.fixture(params=["array_api_strict", "torch"])
def xp(request):
    """An array library other than NumPy."""
    return pytest.importorskip(request.param)


@pytest.fixture
def few_fit_rows(monkeypatch):
    """Decisions are made on a sample of at most this many rows, so that tests with more rows are quick."""
    count = 600
    monkeypatch.setattr(feed, "FIT_ROWS", count)
    return count


@pytest.fixture
def tiny_blocks(monkeypatch):
    """Blocks of one row, or as few as a computation allows: results must not depend on the size of blocks.

    Call it to begin, with the number of bytes of a block if it matters.
    """
    return lambda count=1: monkeypatch.setattr(blocks, "BLOCK_BYTES", count)


@pytest.fixture
def use_threads(monkeypatch):
    """A function that sets the number of Python threads: results must not depend on it."""
    return lambda count: monkeypatch.setattr(threads, "n_threads", lambda: count)
