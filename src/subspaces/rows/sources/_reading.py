"""Files that cannot be read: every failure as one line that names the file."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from subspaces._core.errors import MissingPackageError


class UnreadableError(ValueError):
    """A file whose content is not what was expected."""


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a library raises while it reads the file `path` of this `kind` into one line about it."""
    try:
        yield
    except (UnreadableError, FileNotFoundError, PermissionError, ImportError, MemoryError):
        raise
    except OSError as error:
        raise OSError(f"{path} cannot be read as {kind}: {_one_line(error)}.") from error
    except Exception as error:
        # NumPy takes whatever has no header of its own for a pickle, and advises to load that.
        reason = "it has no header of that format" if "allow_pickle" in str(error) else _one_line(error)
        raise UnreadableError(
            f"{path} is damaged, or no {kind} file: {reason}; write it again, or name it by its format."
        ) from error


def check_file(path: Path) -> None:
    """Refuse a file that is missing, empty, or no file."""
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist: check the path, which is looked for from {os.getcwd()}.")
    if not path.is_file():
        raise UnreadableError(f"{path} is no file: pass one, or a folder of Parquet files or of a Zarr array.")
    if not path.stat().st_size:
        raise UnreadableError(f"{path} is empty, 0 bytes: write it again.")
    with path.open("rb"):
        pass


def require(module: str, path: Path) -> Any:
    """The optional package `module` that is needed to read `path`."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingPackageError(f"{path} needs the package {package}: pip install 'subspaces[io]'.") from error


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split()).rstrip(".")
    return text or type(error).__name__
