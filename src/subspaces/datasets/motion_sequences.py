"""Point tracks of real moving objects: sequences of the Hopkins155 set."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from subspaces._core.errors import InputError
from subspaces._core.validation import check_option
from subspaces.datasets.archives import FOLDER_VARIABLE, Folder, MissingDataError, data_folder, load_npz, npz_names

FILE_NAME = "motions.npz"

Sequence = tuple[NDArray[np.float32], NDArray[np.int64]]


@overload
def load_motions(name: str, *, data_home: Folder = ...) -> Sequence: ...


@overload
def load_motions(name: None = ..., *, data_home: Folder = ...) -> dict[str, Sequence]: ...


def load_motions(name: str | None = None, *, data_home: Folder = None) -> Sequence | dict[str, Sequence]:
    """Load point tracks of moving objects in videos: one sequence of the Hopkins155 set, or all in the file.

    A row is the track of one point: its position in every frame. The tracks of one rigid object lie near an affine
    subspace of dimension 3 or less. The file cannot be downloaded: put motions.npz in the data folder, with the arrays
    X_NAME (n_tracks, 2 n_frames) and y_NAME (n_tracks,), the number of the object from 1, for each sequence NAME.

    Parameters
    ----------
    name : str, default=None
        Name of a sequence, such as "cars2" or "1R2RC_g12"; None loads all.
    data_home : path, default=None
        Folder of motions.npz. If None, that of the environment variable SUBSPACES_DATA, else the cache folder of the
        user.

    Returns
    -------
    X : ndarray of shape (n_tracks, 2 * n_frames)
        Tracks (x, y, x, y, ...) in the coordinates of the file; `X.reshape(n_tracks, -1, 2)` are positions; float32.
    y : ndarray of shape (n_tracks,)
        Object of each track, from 0.

    Without `name`, a dictionary from names to such pairs.

    References
    ----------
    R. Tron and R. Vidal, A benchmark for the comparison of 3-D motion segmentation algorithms, CVPR 2007,
    https://doi.org/10.1109/CVPR.2007.382974

    Examples
    --------
    >>> from subspaces.datasets import load_motions
    >>> X, y = load_motions("cars2")  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (490, 60)
    """
    path = data_folder(data_home) / FILE_NAME
    if not path.exists():
        raise MissingDataError(
            f"{path} is missing, and cannot be downloaded: put the sequences there as a .npz file of arrays X_NAME "
            f"and y_NAME, or set {FOLDER_VARIABLE} or data_home to the folder that has {FILE_NAME}."
        )

    names = sorted(each.removeprefix("X_") for each in npz_names(path) if each.startswith("X_"))
    if name is not None:
        check_option("name", name, tuple(names))
        names = [name]
    arrays = load_npz(path, [f"{kind}_{each}" for each in names for kind in "Xy"])
    sequences = {each: _checked(arrays[f"X_{each}"], arrays[f"y_{each}"], f"{path}: {each}") for each in names}
    return sequences if name is None else sequences[name]


def _checked(tracks: NDArray[Any], objects: NDArray[Any], source: str) -> Sequence:
    if tracks.ndim != 2 or tracks.shape[1] % 2 or not np.issubdtype(tracks.dtype, np.floating):
        raise InputError(
            f"{source} has X of {tracks.dtype} {tracks.shape}: it must be numbers (n_tracks, 2 * n_frames)."
        )
    if objects.shape != tracks.shape[:1] or not np.issubdtype(objects.dtype, np.integer) or (objects < 1).any():
        raise InputError(
            f"{source} has y of {objects.dtype} {objects.shape} for {len(tracks)} tracks: number the objects from 1, "
            "one number for each track."
        )
    return tracks.astype(np.float32, copy=False), objects.astype(np.int64) - 1
