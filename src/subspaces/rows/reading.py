"""Errors of files: every failure to read one becomes a single line that names the file and the remedy."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from subspaces._core.errors import (
    ForbiddenFileError,
    InputError,
    MissingFileError,
    MissingPackageError,
    UserError,
    UserFileError,
)

T = TypeVar("T")
_END: Any = object()


class UnreadableError(InputError):
    """The content of a file is not what was expected."""


@contextmanager
def reading(path: Path | str, kind: str, *errors: type[Exception]) -> Iterator[None]:
    """Turn the exceptions by which a library reports a damaged file into one line about the file `path`.

    These are OSError, EOFError and the `errors` of the library. Put only calls of the library inside: any other
    exception is a bug, and leaves as it is.
    """
    try:
        yield
    except UserError:
        raise
    except PermissionError as error:
        raise ForbiddenFileError(f"{path} cannot be read: permission denied; change its permissions.") from error
    except FileNotFoundError as error:
        raise MissingFileError(f"{path} does not exist any more: {_one_line(error)}.") from error
    except (OSError, EOFError) as error:
        raise UserFileError(f"{path} cannot be read as {kind}, it may be damaged: {_one_line(error)}.") from error
    except errors as error:
        # NumPy takes a file without its header for a pickle, and suggests to unpickle it.
        reason = "it has no header of that format" if "allow_pickle" in str(error) else _one_line(error)
        raise UnreadableError(
            f"{path} is damaged, or not a {kind} file: {reason}; write it again, or give it the suffix of its format."
        ) from error


def read_each(items: Iterable[T], path: Path | str, kind: str, *errors: type[Exception]) -> Iterator[T]:
    """The `items` that a library reads one by one; only its own exceptions are turned, not those of the caller."""
    iterator = iter(items)
    while True:
        with reading(path, kind, *errors):
            item = next(iterator, _END)
        if item is _END:
            return
        yield item
        # Do not hold this item while the next one is read.
        del item


def check_file(path: Path) -> None:
    """Refuse a path that is missing, not a file, empty or not readable."""
    if not path.exists():
        raise MissingFileError(f"{path} does not exist: check the path (the current folder is {os.getcwd()}).")
    if not path.is_file():
        raise UnreadableError(f"{path} is not a file: pass a file, or a folder of files or of a Zarr array.")
    if not path.stat().st_size:
        raise UnreadableError(f"{path} is empty, 0 bytes: write it again.")
    with reading(path, "file"), path.open("rb"):
        pass


def require(module: str, path: Path | str) -> Any:
    """Import the optional package `module`, which is needed to read `path`."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0].replace("_", "-")
        install = package if package == "pyarrow" else "'subspaces[io]'"
        raise MissingPackageError(f"{path} needs the package {package}: pip install {install}.") from error


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split()).rstrip(".")
    return text or type(error).__name__
