"""Files that are whole or not there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO


def write_whole(path: Path, content: str | bytes) -> None:
    """Write beside the target and move into place: whatever stops the program, the file is the old or the new one."""
    with new_file(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


def umask() -> int:
    """What this process takes from the permissions of new files."""
    found = os.umask(0)
    os.umask(found)
    return found


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """A stream whose content becomes the file `path` at the end, as a whole; on an error nothing is left of it."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes files that only their owner can read.
        os.chmod(name, 0o666 & ~umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
