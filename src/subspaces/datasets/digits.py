"""Handwritten digits: MNIST and the pen-based digits of the UCI repository."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from subspaces._core.validation import check_option
from subspaces.datasets.archives import Archive, ArraySpec, Bytes, Folder, read_arrays
from subspaces.datasets.arguments import WholeNumbers, whole_numbers
from subspaces.datasets.downloads import fetch, parse_idx, parse_pen_digits
from subspaces.datasets.images import image_rows

Subset = Literal["train", "test", "all"]

MNIST_MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
# Published checksums, so that a damaged or replaced file of one mirror is refused and the next mirror is tried.
MNIST_FILES = {
    "X_train": ("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
    "y_train": ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
    "X_test": ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
    "y_test": ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
}
PEN_DIGITS_ADDRESS = "https://archive.ics.uci.edu/ml/machine-learning-databases/pendigits/"


def load_mnist(
    digits: WholeNumbers | None = None,
    n_components: int | None = 80,
    *,
    subset: Subset = "train",
    center: bool = True,
    data_home: Folder = None,
    download: bool = True,
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Load the MNIST handwritten digits, projected onto their leading principal components.

    Parameters
    ----------
    digits : sequence of int, default=None
        Digits to keep, all ten if None. The components are those of the kept rows.
    n_components : int or None, default=80
        Number of principal components; None returns the pixels themselves, scaled to [0, 1].
    subset : {"train", "test", "all"}, default="train"
        The 60,000 training images, the 10,000 test images, or both in this order.
    center : bool, default=True
        Whether the mean image is subtracted before images are projected; False projects by a singular value
        decomposition of the images themselves. Has no effect on pixels.
    data_home : path, default=None
        Folder of mnist.npz. If None, that of the environment variable SUBSPACES_DATA, else the cache folder of the
        user.
    download : bool, default=True
        Whether to download the file if it is missing, which needs the package pooch.

    Returns
    -------
    X : ndarray of shape (n_images, n_components) or (n_images, 784)
        Images scaled to [0, 1], centred if `center`, and projected, in the original order; float32.
    y : ndarray of shape (n_images,)
        Digits.

    Examples
    --------
    >>> from subspaces.datasets import load_mnist
    >>> X, y = load_mnist([4, 9])  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (11791, 80)
    """
    kept = _checked_digits(digits)
    images, labels = _read_split(MNIST, subset, data_home=data_home, download=download)
    return image_rows(images, labels, kept, n_components, center=center)


def load_pendigits(
    digits: WholeNumbers | None = None,
    *,
    subset: Subset = "train",
    data_home: Folder = None,
    download: bool = True,
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Load the pen-based handwritten digits of the UCI repository.

    Parameters
    ----------
    digits : sequence of int, default=None
        Digits to keep, all ten if None.
    subset : {"train", "test", "all"}, default="train"
        The 7,494 training rows, the 3,498 test rows, or both in this order.
    data_home : path, default=None
        Folder of pendigits.npz. If None, that of the environment variable SUBSPACES_DATA, else the cache folder of the
        user.
    download : bool, default=True
        Whether to download the file if it is missing, which needs the package pooch.

    Returns
    -------
    X : ndarray of shape (n_rows, 16)
        Eight pen positions (x, y) along the stroke, from 0 to 100; float32.
    y : ndarray of shape (n_rows,)
        Digits.

    Examples
    --------
    >>> from subspaces.datasets import load_pendigits
    >>> X, y = load_pendigits()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (7494, 16)
    """
    kept = _checked_digits(digits)
    features, labels = _read_split(PEN_DIGITS, subset, data_home=data_home, download=download)
    chosen = np.isin(labels, kept)
    return features[chosen].astype(np.float32), labels[chosen].astype(np.int64)


def _checked_digits(digits: WholeNumbers | None) -> Sequence[int]:
    if digits is None:
        return range(10)
    return whole_numbers(digits, name="digits", low=0, high=9, hint="pass a list such as [4, 9]")


def _read_split(archive: Archive, subset: str, *, data_home: Folder, download: bool) -> tuple[Bytes, Bytes]:
    check_option("subset", subset, ("train", "test", "all"))
    parts = ["train", "test"] if subset == "all" else [subset]
    names = [f"X_{part}" for part in parts] + [f"y_{part}" for part in parts]
    arrays = read_arrays(archive, names, data_home=data_home, download=download)
    return np.concatenate(arrays[: len(parts)]), np.concatenate(arrays[len(parts) :])


def _download_mnist() -> dict[str, Bytes]:
    arrays = {}
    for name, (file, md5) in MNIST_FILES.items():
        contents = fetch([mirror + file for mirror in MNIST_MIRRORS], known_hash=f"md5:{md5}")
        array = parse_idx(contents, source=file)
        arrays[name] = array.reshape(len(array), -1) if name[0] == "X" else array
    return arrays


def _download_pen_digits() -> dict[str, Bytes]:
    arrays = {}
    for part, file in (("train", "pendigits.tra"), ("test", "pendigits.tes")):
        arrays[f"X_{part}"], arrays[f"y_{part}"] = parse_pen_digits(fetch([PEN_DIGITS_ADDRESS + file]), source=file)
    return arrays


MNIST = Archive(
    file_name="mnist.npz",
    what="the MNIST digits",
    arrays={
        "X_train": ArraySpec((60000, 784), "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757"),
        "y_train": ArraySpec((60000,), "1feba77c54802fa5339a11837ea4b2866434b83314ec45192930f1df69120c13"),
        "X_test": ArraySpec((10000, 784), "6d87418db22cc8025d05968bec9bd5c3932904b23485740db143a061a2c9d161"),
        "y_test": ArraySpec((10000,), "ddeff807876a9661a1110d45c266c86239a3a1b7d37da0c3716a7a683c852ff5"),
    },
    download=_download_mnist,
)
PEN_DIGITS = Archive(
    file_name="pendigits.npz",
    what="the pen-based digits of the UCI repository",
    arrays={
        "X_train": ArraySpec((7494, 16), "68bf6e1cbd803ae871abfbc06c76cef5b7b89c44a5f294852fd8135d61a56f35"),
        "y_train": ArraySpec((7494,), "05ba508605b9900deff899fc2589107537449f7f4c091cbdf868cf77725603b7"),
        "X_test": ArraySpec((3498, 16), "bfd62bc6ad99807ff62d55b9a70c89a301f663dc99a433dd80fdbc190f8d0a54"),
        "y_test": ArraySpec((3498,), "d7e93d40cd885e86e38e52c18499fb2395f5eb870f49e91b56ab48a0e73c6bb1"),
    },
    download=_download_pen_digits,
)
