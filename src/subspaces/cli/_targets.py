"""Where results go: a folder or a file that is whole or not there, and is not replaced without being asked."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from subspaces._core.files import umask
from subspaces.cli._errors import Mistake

LABEL_FILES = (".npy", ".csv")


def check_target(path: Path, *, force: bool, ours: Iterable[str] = (), inputs: Iterable[str] = ()) -> None:
    """Refuse a `path` that results cannot go to, before the work begins.

    With `ours`, the names of files of a folder of results, `path` is to be such a folder; else a file. It is none of
    the `inputs`, files, folders and patterns that are read, and lies in none of them: results would change the data.
    """
    target, names = path.absolute(), set(ours)
    if not target.name or target.name == ".." or (target.is_dir() and target.samefile(os.getcwd())):
        raise Mistake(f"--out {path} is where we are: name a new {'folder' if names else 'file'}")
    if len(os.fsencode(target.name)) > 200:
        raise Mistake(f"--out {target.name[:40]}... is too long a name: shorten it")
    if target.is_symlink() and not target.exists():
        raise Mistake(f"--out {path} is a link that leads nowhere: name another")
    if not target.parent.is_dir():
        raise Mistake(f"--out {path} lies in a folder that is not there: make {target.parent} first")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise Mistake(f"--out {path} lies in a folder that cannot be written to")
    for source in inputs:
        if source != "-":
            _check_apart(path, target, source)
    if names:
        _check_folder(path, target, names, force)
        return
    if target.is_dir():
        raise Mistake(f"--out {path} is a folder: name a file in it")
    if target.exists() and not target.is_file():
        raise Mistake(f"--out {path} is no file that can be replaced: name another")
    if target.exists() and not force:
        raise Mistake(f"--out {path} is there already: name another, or replace it by --force")


def _check_apart(path: Path, target: Path, source: str) -> None:
    if not os.path.exists(source):
        if glob.has_magic(source) and target.match(source):
            raise Mistake(f"--out {path} would be part of {source}, which is read: name another")
        return
    if target.exists() and os.path.samefile(source, target):
        raise Mistake(f"--out {path} is the data itself: name another")
    if os.path.isdir(source) and Path(os.path.realpath(source)) in Path(os.path.realpath(target)).parents:
        raise Mistake(f"--out {path} lies in {source}, which is read: name a place outside of it")


def _check_folder(path: Path, target: Path, ours: set[str], force: bool) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise Mistake(f"--out {path} is a file: name a folder, or labels.csv or labels.npy for labels alone")
    there = {entry.name for entry in target.iterdir()}
    if there and not there <= ours:
        other = min(there - ours)
        raise Mistake(f"--out {path} is a folder with other things in it, such as {other}: name a new one")
    if there and not force:
        raise Mistake(f"--out {path} holds results already: name another folder, or replace them by --force")


@contextlib.contextmanager
def working_folder(target: Path) -> Iterator[Path]:
    """A hidden folder beside `target` that is gone at the end, whatever happens."""
    parent, name = target.absolute().parent, target.absolute().name
    folder = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def put_folder(made: Path, target: Path) -> None:
    """Move the folder `made` to `target`; results that are there stay until then."""
    target = target.absolute()
    os.chmod(made, 0o777 & ~umask())
    _sync(made)
    old: Path | None = None
    try:
        if target.is_dir() and any(target.iterdir()):
            old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
            os.replace(target, old)
        os.replace(made, target)
    except BaseException:
        if old is not None and any(old.iterdir()):
            os.replace(old, target)
        elif old is not None:
            old.rmdir()
        raise
    if old is not None:
        shutil.rmtree(old, ignore_errors=True)


def put_file(made: Path, target: Path) -> None:
    """Move the file `made` to `target`."""
    os.chmod(made, 0o666 & ~umask())
    os.replace(made, target.absolute())


def _sync(folder: Path) -> None:
    """Make sure that names of files are on the disk before the folder gets its own."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
