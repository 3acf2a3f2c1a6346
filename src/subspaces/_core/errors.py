"""Errors that the caller can mend, as opposed to bugs.

Functions at the boundary of the library (checks of parameters, readers and writers of files) raise these. Each is also
the built-in exception that scikit-learn users expect, so `except ValueError` keeps working. Any other exception that
leaves the library is a bug, and the command line reports it as one.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator

__all__ = [
    "FileInTheWayError",
    "FolderInTheWayError",
    "ForbiddenFileError",
    "InputError",
    "MissingFileError",
    "MissingPackageError",
    "NoThreadError",
    "OutOfMemoryError",
    "UserError",
    "UserFileError",
    "UserTypeError",
    "file_errors",
    "memory_errors",
]

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


class UserError(Exception):
    """A mistake in what the library was given; the message names the value, the reason and the remedy.

    `parameter` is the name of the parameter at fault, if there is one; a user interface can name its own control.
    """

    def __init__(self, *args: object, parameter: str | None = None) -> None:
        super().__init__(*args)
        self.parameter = parameter


class InputError(UserError, ValueError):
    """A value or data that cannot be used."""


class UserTypeError(UserError, TypeError):
    """An argument of the wrong type."""


class UserFileError(UserError, OSError):
    """A file that cannot be read or written; arguments as for OSError."""


class MissingFileError(UserFileError, FileNotFoundError):
    """A file or folder that does not exist."""


class FileInTheWayError(UserFileError, FileExistsError):
    """A file that exists and would be overwritten."""


class FolderInTheWayError(UserFileError, IsADirectoryError):
    """A folder in place of a file."""


class ForbiddenFileError(UserFileError, PermissionError):
    """A file or folder that may not be read or written."""


class MissingPackageError(UserError, ImportError):
    """An optional package that is not installed; the message says how to install it."""


class OutOfMemoryError(UserError, MemoryError):
    """Work that needs more memory than the machine has."""


class NoThreadError(UserError, RuntimeError):
    """A machine that starts no more threads."""


@contextlib.contextmanager
def file_errors() -> Iterator[None]:
    """Raise failures of the operating system as UserFileError: for code that only reads or writes files of the user."""
    try:
        yield
    except UserError:
        raise
    except OSError as error:
        raise _of_user(error) from error


@contextlib.contextmanager
def memory_errors() -> Iterator[None]:
    """Raise MemoryError as OutOfMemoryError, and the same for threads: for work whose size the user decides."""
    try:
        yield
    except UserError:
        raise
    except MemoryError as error:
        raise OutOfMemoryError(*error.args) from error
    except RuntimeError as error:
        # The message of Python, which has no class for it.
        if "can't start new thread" not in str(error):
            raise
        raise NoThreadError(
            "this machine starts no more threads: end other programs, or set OPENBLAS_NUM_THREADS=1."
        ) from error


def _of_user(error: OSError) -> UserFileError:
    """The same failure as an error of the user."""
    kinds = {
        FileNotFoundError: MissingFileError,
        FileExistsError: FileInTheWayError,
        IsADirectoryError: FolderInTheWayError,
        PermissionError: ForbiddenFileError,
    }
    kind = next((ours for builtin, ours in kinds.items() if isinstance(error, builtin)), UserFileError)
    if error.errno is None:
        return kind(*error.args)
    reason = "the disk is full: free some space" if error.errno in DISK_FULL else error.strerror
    return kind(error.errno, reason, error.filename)
