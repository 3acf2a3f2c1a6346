"""Reading regular files only, and writing files atomically: they are complete or absent."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

from subspaces._core.errors import UserFileError, file_errors


@contextlib.contextmanager
def open_regular(path: Path) -> Iterator[BinaryIO]:
    """A stream of the bytes of a regular file: a pipe would be waited for, and a device might never end.

    Failures of the operating system are raised as UserFileError.
    """
    with file_errors():
        # Without O_NONBLOCK, opening a pipe without a writer waits for ever.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise UserFileError(errno.EINVAL, "this is not a regular file: name one", str(path))
        with os.fdopen(handle, "rb") as stream:
            yield stream


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a temporary file and move it into place, so that the file is always the complete old or new one."""
    with new_file(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


def umask() -> int:
    """The mask of permissions that this process removes from new files."""
    found = os.umask(0)
    os.umask(found)
    return found


@contextlib.contextmanager
def new_file(path: Path, *, overwrite: bool = True) -> Iterator[IO[bytes]]:
    """A stream that becomes the file `path` at the end of the context; on an error nothing is written.

    Without `overwrite`, a file that appears at `path` meanwhile is kept, and FileInTheWayError is raised. Failures of
    the operating system are raised as UserFileError.
    """
    with file_errors():
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with file_errors(), os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp creates files that only their owner can read.
        with file_errors():
            os.chmod(name, 0o666 & ~umask())
            if overwrite:
                os.replace(name, path)
            else:
                move_new(Path(name), path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def move_new(made: Path, path: Path) -> None:
    """Move a file to `path` if nothing is there, in one step; otherwise FileExistsError is raised."""
    try:
        os.link(made, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links: an empty file of our own is replaced.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.replace(made, path)
    else:
        made.unlink()


def lock(handle: int) -> bool:
    """Lock an open file or folder for this process until it is closed or the process ends; False if another has it."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        # A system, or a file system, without locks.
        pass
    return True


def open_locked(path: Path) -> int | None:
    """Open `path`, which is created if it is missing, and lock it; None if another process has the lock.

    What a link leads to is never opened, because it would be overwritten.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    while True:
        if path.is_symlink():
            raise FileExistsError(errno.EEXIST, "this is a link, not a file of ours: remove it", str(path))
        handle = os.open(path, flags, 0o666)
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            os.close(handle)
            raise FileExistsError(errno.EEXIST, "this is not a file of ours: remove it", str(path))
        if found.st_nlink > 1:
            # Another name of a file that is kept by its own.
            os.close(handle)
            path.unlink(missing_ok=True)
            continue
        if not lock(handle):
            os.close(handle)
            return None
        # The process that had the lock may have removed or moved the file after it was opened here.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                return handle
        os.close(handle)
