"""Real data of the subspace-clustering literature: digits and faces.

The files lie in the folder `data_home`, else in that of the environment variable SUBSPACES_DATA, else in the
user's cache folder, where they are downloaded to when first asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from subspaces._core.errors import InputError
from subspaces._core.pca import principal_scores
from subspaces._core.validation import check_integer, check_option
from subspaces.datasets.archives import (
    Archive,
    ArraySpec,
    Bytes,
    Folder,
    fetch,
    parse_idx,
    parse_pen_digits,
    read_arrays,
)
from subspaces.datasets.arguments import RandomSource, WholeNumbers, random_generator, whole_numbers

Subset = Literal["train", "test", "all"]

N_PERSONS = 38
MNIST_MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
PEN_DIGITS_ADDRESS = "https://archive.ics.uci.edu/ml/machine-learning-databases/pendigits/"


def load_mnist(
    digits: WholeNumbers | None = None,
    n_components: int | None = 80,
    *,
    subset: Subset = "train",
    data_home: Folder = None,
    download: bool = True,
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Load the MNIST handwritten digits, projected on their leading principal components.

    Parameters
    ----------
    digits : sequence of int, default=None
        Digits to keep, all ten if None. Components are those of the rows kept.
    n_components : int or None, default=80
        Number of principal components; None returns the pixels themselves, scaled to [0, 1].
    subset : {"train", "test", "all"}, default="train"
        The 60,000 training images, the 10,000 test images, or both in this order.
    data_home : path, default=None
        Folder of mnist.npz. If None, that of the environment variable SUBSPACES_DATA, else the user's cache.
    download : bool, default=True
        Whether to download the file if it is not there.

    Returns
    -------
    X : ndarray of shape (n_images, n_components) or (n_images, 784)
        Images scaled to [0, 1], centred and projected, in the original order; float32.
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
    return _rows_and_labels(images, labels, kept, n_components)


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
        Folder of pendigits.npz. If None, that of the environment variable SUBSPACES_DATA, else the user's
        cache.
    download : bool, default=True
        Whether to download the file if it is not there.

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


def load_yaleb(
    n_persons: int | None = None,
    *,
    persons: WholeNumbers | None = None,
    n_components: int | None = 80,
    drop_components: int = 2,
    random_state: RandomSource = None,
    data_home: Folder = None,
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Load frontal faces of the Extended Yale B set: about 64 images a person, each under another light.

    No public file is known to hold exactly these 48 x 42 images, so there is nothing to download: put
    yaleb_48x42.npz in the data folder.

    Parameters
    ----------
    n_persons : int, default=None
        Number of persons to draw at random; all 38 if None.
    persons : sequence of int, default=None
        The persons themselves, from 1 to 38, instead of a random draw.
    n_components : int or None, default=80
        Number of principal components of the chosen images; None returns the pixels themselves, scaled to
        [0, 1].
    drop_components : int, default=2
        Number of leading components left out of these, which mostly tell the direction of the light; 0 keeps
        all. Without effect on pixels.
    random_state : int, Generator, RandomState or None, default=None
        Seed or source of the draw of persons.
    data_home : path, default=None
        Folder of yaleb_48x42.npz. If None, that of the environment variable SUBSPACES_DATA, else the user's
        cache.

    Returns
    -------
    X : ndarray of shape (n_images, n_components - drop_components) or (n_images, 2016)
        Images scaled to [0, 1], centred and projected; float32. Pixels are 48 rows of 42.
    y : ndarray of shape (n_images,)
        Persons, from 1 to 38.

    Examples
    --------
    >>> from subspaces.datasets import load_yaleb
    >>> X, y = load_yaleb(8, random_state=0)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (507, 78)
    """
    kept = _checked_persons(n_persons, persons, random_state)
    drop = 0
    if n_components is not None:
        drop = check_integer("drop_components", drop_components, low=0, hint="pass 0 to keep all components")
    images, labels = read_arrays(YALE_B, ["X", "y"], data_home=data_home, download=False)
    if set(labels.tolist()) != set(range(1, N_PERSONS + 1)):
        raise InputError(
            f"{YALE_B.file_name} has y from {labels.min()} to {labels.max()}: "
            f"number the persons from 1 to {N_PERSONS}, none left out."
        )
    return _rows_and_labels(images, labels, kept, n_components, drop=drop)


def _rows_and_labels(
    images: Bytes, labels: Bytes, kept: Sequence[int], n_components: int | None, *, drop: int = 0
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Images of the kept labels as pixels in [0, 1], or projected on their principal components."""
    chosen = np.isin(labels, kept)
    rows, row_labels = images[chosen], labels[chosen].astype(np.int64)
    if n_components is None:
        return rows.astype(np.float32) / np.float32(255), row_labels
    count = check_integer(
        "n_components",
        n_components,
        low=1,
        high=min(rows.shape),
        hint=f"there are {rows.shape[0]} images of {rows.shape[1]} pixels; None returns the pixels",
    )
    if drop >= count:
        raise InputError(
            f"drop_components={drop} must be below n_components={count}, or nothing is left: "
            "lower it, or keep more components."
        )
    return principal_scores(rows, count, drop=drop, scale=1 / 255), row_labels


def _checked_digits(digits: WholeNumbers | None) -> Sequence[int]:
    if digits is None:
        return range(10)
    return whole_numbers(digits, name="digits", low=0, high=9, hint="pass a list such as [4, 9]")


def _checked_persons(
    n_persons: int | None,
    persons: WholeNumbers | None,
    random_state: RandomSource,
) -> Sequence[int]:
    if persons is not None:
        if n_persons is not None:
            raise InputError(f"n_persons={n_persons} and persons={persons!r} are both given: pass one of them.")
        hint = "pass a list of numbers of persons, such as [1, 2, 5]"
        return whole_numbers(persons, name="persons", low=1, high=N_PERSONS, hint=hint)
    if n_persons is None:
        return range(1, N_PERSONS + 1)
    count = check_integer("n_persons", n_persons, low=1, high=N_PERSONS, hint="None takes all persons")
    drawn: list[int] = random_generator(random_state).choice(np.arange(1, N_PERSONS + 1), count, replace=False).tolist()
    return drawn


def _read_split(archive: Archive, subset: str, *, data_home: Folder, download: bool) -> tuple[Bytes, Bytes]:
    check_option("subset", subset, ("train", "test", "all"))
    parts = ["train", "test"] if subset == "all" else [subset]
    names = [f"X_{part}" for part in parts] + [f"y_{part}" for part in parts]
    arrays = read_arrays(archive, names, data_home=data_home, download=download)
    return np.concatenate(arrays[: len(parts)]), np.concatenate(arrays[len(parts) :])


def _download_mnist() -> dict[str, Bytes]:
    files = {
        "X_train": "train-images-idx3-ubyte.gz",
        "y_train": "train-labels-idx1-ubyte.gz",
        "X_test": "t10k-images-idx3-ubyte.gz",
        "y_test": "t10k-labels-idx1-ubyte.gz",
    }
    arrays = {
        name: parse_idx(fetch([mirror + file for mirror in MNIST_MIRRORS]), source=file) for name, file in files.items()
    }
    return {name: array.reshape(len(array), -1) if name[0] == "X" else array for name, array in arrays.items()}


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
YALE_B = Archive(
    file_name="yaleb_48x42.npz",
    what="the Extended Yale B faces (X: 38 persons, 48 rows of 42 pixels each; y: persons 1 to 38)",
    arrays={
        "X": ArraySpec((2414, 2016), "7a4773ecc1296aad98a743be8c7ca481260d7623fda8f82a803fd10cb426a2ea"),
        "y": ArraySpec((2414,), "04d885b3e1b61b0f34fa4f662d7531e6d974389f39aa46fbf7cbb14f2169c75b"),
    },
    download=None,
)
