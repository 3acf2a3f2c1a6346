"""Faces under many lights: the Extended Yale B set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from subspaces._core.errors import InputError
from subspaces._core.validation import check_integer
from subspaces.datasets.archives import Archive, ArraySpec, Folder, read_arrays
from subspaces.datasets.arguments import RandomSource, WholeNumbers, random_generator, whole_numbers
from subspaces.datasets.images import image_rows

N_PERSONS = 38


def load_yaleb(
    n_persons: int | None = None,
    *,
    persons: WholeNumbers | None = None,
    n_components: int | None = 80,
    drop_components: int = 2,
    center: bool = True,
    random_state: RandomSource = None,
    data_home: Folder = None,
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Load frontal faces of the Extended Yale B set: about 64 images of each person, each under another light.

    These 48 x 42 images cannot be downloaded, because no public file is known to contain exactly them: put
    yaleb_48x42.npz in the data folder.

    Parameters
    ----------
    n_persons : int, default=None
        Number of persons to draw at random; all 38 if None.
    persons : sequence of int, default=None
        Numbers of the persons, from 1 to 38, instead of a random draw.
    n_components : int or None, default=80
        Number of principal components of the chosen images; None returns the pixels, scaled to [0, 1].
    drop_components : int, default=2
        Number of leading components to leave out, because they mostly encode the direction of the light; 0 keeps
        all. Has no effect on pixels.
    center : bool, default=True
        Whether the mean image is subtracted before images are projected; False projects by a singular value
        decomposition of the images themselves. Has no effect on pixels.
    random_state : int, Generator, RandomState or None, default=None
        Seed or source of the draw of persons.
    data_home : path, default=None
        Folder of yaleb_48x42.npz. If None, that of the environment variable SUBSPACES_DATA, else the cache folder of
        the user.

    Returns
    -------
    X : ndarray of shape (n_images, n_components - drop_components) or (n_images, 2016)
        Images scaled to [0, 1], centred if `center`, and projected; float32. Pixels are 48 rows of 42.
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
            f"number the persons from 1 to {N_PERSONS} without gaps."
        )
    return image_rows(images, labels, kept, n_components, drop=drop, center=center)


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


YALE_B = Archive(
    file_name="yaleb_48x42.npz",
    what="the Extended Yale B faces (X: 38 persons, 48 rows of 42 pixels each; y: persons 1 to 38)",
    arrays={
        "X": ArraySpec((2414, 2016), "7a4773ecc1296aad98a743be8c7ca481260d7623fda8f82a803fd10cb426a2ea"),
        "y": ArraySpec((2414,), "04d885b3e1b61b0f34fa4f662d7531e6d974389f39aa46fbf7cbb14f2169c75b"),
    },
    download=None,
)
