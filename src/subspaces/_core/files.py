"""Writing files atomically: they are complete or absent."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from subspaces._core.errors import file_errors


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
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """A stream that becomes the file `path` at the end of the context; on an error nothing is written.

    Failures of the operating system are raised as UserFileError.
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
            os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
