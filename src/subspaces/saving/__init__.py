"""Saved models: the state of an estimator, by documented names, in a safetensors file.

`save` and `load` write and read files. An estimator that can be saved has `to_state()`, which returns what it is made
of, and the class method `from_state(state)`, which checks a state and returns the estimator. The format is documented
in docs/saved-models.md. Loading runs nothing that a file contains.

==============  ===========================================================
`fields`        values of a state: how they are encoded and checked
`parameters`    parameters of estimators, which users choose
`file`          states in safetensors files
==============  ===========================================================
"""

from __future__ import annotations

import errno
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, overload

from sklearn.utils.validation import check_is_fitted

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
from subspaces.saving import file
from subspaces.saving.fields import DamagedError, State, require

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["SavedModel", "State", "load", "save"]

Model = TypeVar("Model")

# The classes that can be saved, by the public names that files contain, and the public modules that they are in.
ESTIMATORS = {
    "FLS": "subspaces",
    "FourierSpectralClustering": "subspaces",
    "KASP": "subspaces",
    "KFlats": "subspaces",
    "KernelSpectralClustering": "subspaces",
    "LBF": "subspaces",
    "LandmarkSpectralClustering": "subspaces",
    "NystromSpectralClustering": "subspaces",
    "Preparation": "subspaces.inputs",
    "SLBF": "subspaces",
    "SSC": "subspaces",
    "SSSC": "subspaces",
}
# The model in the folder of a run of the command line.
RUN_MODEL = "model.subspaces"


class SavedModel(Protocol):
    """What all estimators that can be loaded have in common, for editors and type checkers."""

    n_clusters: Any
    random_state: Any
    n_jobs: int | None
    verbose: int
    labels_: Any
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    def fit(self, X: Any, y: None = None) -> Self: ...
    def fit_predict(self, X: Any, y: None = None) -> Any: ...
    def predict(self, X: Any) -> Any: ...
    def score(self, X: Any, y: None = None) -> float: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path: ...
    def to_state(self) -> State: ...


def save(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a fitted estimator to the file `path`, for `load`, and return its path.

    The file is written as a whole or not at all. An existing one is replaced only with `overwrite`. Functions and
    objects of other libraries among the parameters cannot be saved; labels on a Dask cluster are left out.
    """
    name = type(model).__name__
    if name not in ESTIMATORS or type(model) is not _class_of(name):
        raise UserTypeError(
            f"{type(model).__module__}.{type(model).__qualname__} cannot be saved: only the estimators of subspaces "
            "can, and not their subclasses; use pickle or joblib instead."
        )
    check_is_fitted(model)
    target = Path(path).expanduser().absolute()
    _check_target(target, overwrite=overwrite)
    state = model.to_state()
    # A state that `load` would refuse must not be written.
    type(model).from_state(state)
    content = file.content_of(name, state)
    try:
        with new_file(target, overwrite=overwrite) as stream:
            stream.write(content)
    except FileInTheWayError:
        raise
    except OSError as error:
        raise UserFileError(error.errno, f"the model cannot be saved, {error.strerror}", str(target)) from error
    return target


@overload
def load(path: str | os.PathLike[str]) -> SavedModel: ...
@overload
def load(path: str | os.PathLike[str], kind: type[Model]) -> Model: ...
def load(path: str | os.PathLike[str], kind: type[Any] = object) -> Any:
    """The estimator that was saved to the file `path`, or the one in the folder `path` of a run of the command line.

    `load(path, FLS)` refuses other estimators. Editors and type checkers then know its attributes; without the class,
    they know those that all estimators have (`SavedModel`).

    It predicts, transforms and prints as it did when it was saved; if a preparation was saved with it, it applies that
    to all rows first. Safe for files of any origin: nothing that a file contains is executed, and a file that is
    damaged or not a saved model raises a ValueError.
    """
    source = Path(path).expanduser()
    if source.is_dir():
        if not (source / RUN_MODEL).is_file():
            raise FolderInTheWayError(errno.EISDIR, f"this folder has no {RUN_MODEL}: name a file", str(source))
        source /= RUN_MODEL
    if not source.exists():
        raise MissingFileError(errno.ENOENT, "this file does not exist: name a saved model", str(source))
    if not source.is_file():
        raise InputError(f"{source} is not a file.")
    try:
        with file_errors():
            name, state = file.read(source)
        require(isinstance(name, str) and name in ESTIMATORS, f"{name!r:.60} is not an estimator of subspaces")
        model = _class_of(name).from_state(state)
    except DamagedError as error:
        raise InputError(f"{source} is not a saved model that can be loaded: {error}.") from None
    if not isinstance(model, kind):
        raise InputError(f"{source} holds {name}, not {kind.__name__}: load another file, or leave out kind.")
    return model


def _class_of(name: str) -> Any:
    return getattr(import_module(ESTIMATORS[name]), name)


def _check_target(path: Path, *, overwrite: bool) -> None:
    """Refuse a file that a model cannot be written to, before it is written."""
    if path.is_dir():
        raise FolderInTheWayError(errno.EISDIR, "the model cannot be saved to a folder: name a file in it", str(path))
    if not path.parent.is_dir():
        raise MissingFileError(errno.ENOENT, "the folder of this file does not exist: create it first", str(path))
    if path.exists() and not overwrite:
        raise FileInTheWayError(errno.EEXIST, "this file exists: name another, or give overwrite=True", str(path))
