"""Fitted models in files that hold numbers and names, and no code: `save` and `load`.

The format is told in docs/saved-models.md. Whatever such a file contains, loading it runs nothing of it.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import subspaces
from subspaces._core.errors import (
    FileInTheWayError,
    FolderInTheWayError,
    InputError,
    MissingFileError,
    UserFileError,
    UserTypeError,
    file_errors,
)
from subspaces._core.files import new_file
from subspaces.saving._archive import read_archive, write_archive
from subspaces.saving._classes import ESTIMATORS, name_of
from subspaces.saving._codec import Damaged, Decoder, Encoder

__all__ = ["load", "save"]

FORMAT = "subspaces model"
VERSION = 1
KEYS = {"format", "version", "library", "class", "objects"}


def save(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a fitted estimator to the file `path`, for `load`, and return its path.

    The file is there as a whole or not at all. One that exists is replaced only with `overwrite`. Functions and objects
    of other libraries among the parameters cannot be saved; labels on a Dask cluster are left out.
    """
    name = name_of(model)
    if name not in ESTIMATORS:
        raise UserTypeError(
            f"{type(model).__module__}.{type(model).__qualname__} cannot be saved: only the estimators of subspaces "
            "can, and no subclasses of them; pickle or joblib keep others."
        )
    check_is_fitted(model)
    target = Path(path).expanduser().absolute()
    _check_target(target, overwrite=overwrite)
    encoder = Encoder(model)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "library": subspaces.__version__,
        "class": name,
        "objects": encoder.objects,
    }
    try:
        with new_file(target) as stream:
            write_archive(stream, document, encoder.arrays)
            # Someone else may have made it meanwhile.
            _check_target(target, overwrite=overwrite)
    except FileInTheWayError:
        raise
    except OSError as error:
        raise UserFileError(error.errno, f"the model cannot be saved, {error.strerror}", str(target)) from error
    return target


def load(path: str | os.PathLike[str]) -> Any:
    """The estimator that `save` wrote to `path`: it predicts, transforms and prints as it did.

    Safe for files of any origin: nothing of a file is executed, and one that is damaged, or no saved model, is a
    ValueError.
    """
    source = Path(path).expanduser()
    if source.is_dir():
        raise FolderInTheWayError(errno.EISDIR, "a saved model is a file, and this is a folder", str(source))
    with file_errors(), source.open("rb") as stream:
        try:
            document, arrays = read_archive(stream)
            model = Decoder(_objects(document), arrays).model
            if name_of(model) != document["class"]:
                raise Damaged(f"it tells of {document['class']} and holds {type(model).__name__}")
            _check_works(model, {size for array in arrays for size in array.shape})
        except Damaged as error:
            raise InputError(f"{source} is no saved model that can be loaded: {error}.") from None
    return model


def _check_target(path: Path, *, overwrite: bool) -> None:
    """Refuse a file that a model cannot be written to, before it is written."""
    if path.is_dir():
        raise FolderInTheWayError(errno.EISDIR, "the model cannot be saved to a folder: name a file in it", str(path))
    if not path.parent.is_dir():
        raise MissingFileError(errno.ENOENT, "the folder of this file does not exist: make it first", str(path))
    if path.exists() and not overwrite:
        raise FileInTheWayError(errno.EEXIST, "this file exists: name another, or give overwrite=True", str(path))


def _objects(document: Any) -> Any:
    """The objects of a document that is ours and of a version that we know."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Damaged("it was not written by subspaces")
    version, library = document.get("version"), document.get("library")
    if type(version) is not int or version < 1 or not isinstance(library, str):
        raise Damaged(f"its version {version!r:.40} of {library!r:.40} is none")
    if version > VERSION:
        raise Damaged(
            f"made by a newer version: subspaces {library:.40} writes format {version}, and subspaces "
            f"{subspaces.__version__} reads formats up to {VERSION}; upgrade subspaces"
        )
    if document.keys() != KEYS:
        raise Damaged(f"it has the entries {sorted(document)!r:.120} in place of {sorted(KEYS)}")
    if not isinstance(document["class"], str) or document["class"] not in ESTIMATORS:
        raise Damaged(f"{document['class']!r:.60} is no estimator of subspaces")
    return document["objects"]


def _check_works(model: Any, sizes: set[int]) -> None:
    """Label and embed, or prepare, one row, so that arrays that do not belong together are found now and not later."""
    p = vars(model).get("n_features_in_")
    # Rows as wide as a file pleases would fill the memory; those of a model are as wide as something in it.
    if type(p) is not int or p not in sizes:
        raise Damaged(f"n_features_in_={p!r:.40} is not the number of columns of what it holds")
    row = np.zeros((1, p))
    try:
        with np.errstate(all="ignore"):
            prepares = getattr(model, "_prepared", None) if not hasattr(model, "_model") else None
            labels = model._model.labels(row) if prepares is None else np.zeros(1)
            embeds = getattr(getattr(model, "_model", None), "embedding", prepares)
            embedding = None if embeds is None else embeds(row)
    except Exception as error:
        raise Damaged(f"its parts do not fit together ({type(error).__name__}: {error!s:.200})") from None
    if np.shape(labels) != (1,) or (embedding is not None and np.shape(embedding)[:1] != (1,)):
        raise Damaged("its parts do not fit together: they give no label for a row")
