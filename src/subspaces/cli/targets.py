"""Where results go: a folder or a file that appears complete or not at all, and is replaced only with --force."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from subspaces._core.errors import InputError, file_errors
from subspaces._core.files import umask

# File systems allow 255 bytes; temporary names beside the target are longer than its own.
LONGEST_NAME = 200
LABEL_FILES = (".npy", ".csv")
# Files in the folder of a run; the first version kept the preparation in a file of its own.
RUN_FILES = ("labels.csv", "labels.npy", "model.subspaces", "preparation.subspaces", "run.json", "report.html")


@file_errors()
def check_target(path: Path, *, force: bool, ours: Iterable[str] = (), inputs: Iterable[str] = ()) -> None:
    """Refuse a `path` that results cannot be written to, before the work begins.

    With `ours`, the names of the files in a folder of results, `path` must be such a folder, otherwise a file. It must
    not be one of the `inputs` (files, folders and patterns that are read), nor lie in one: that would change the data.
    """
    target, names = path.absolute(), set(ours)
    if len(os.fsencode(target.name)) > LONGEST_NAME:
        raise InputError(f"--out {target.name[:40]}... is too long: shorten the name")
    if not target.name or target.name == ".." or (target.is_dir() and target.samefile(os.getcwd())):
        raise InputError(f"--out {path} is the current directory: name a new {'folder' if names else 'file'}")
    if target.is_symlink() and not target.exists():
        raise InputError(f"--out {path} is a link to a file that does not exist: name another")
    if not target.parent.is_dir():
        raise InputError(f"--out {path} lies in a folder that does not exist: make {target.parent} first")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(f"--out {path} lies in a folder that is not writable: name another")
    for source in inputs:
        if source != "-":
            _check_apart(path, target, source)
    if names:
        _check_folder(path, target, names, force)
        return
    if target.is_dir():
        raise InputError(f"--out {path} is a folder: name a file in it")
    if target.exists() and not target.is_file():
        raise InputError(f"--out {path} is not a regular file: name another")
    if target.exists() and not force:
        raise InputError(f"--out {path} exists: name another file, or replace it by --force")


def _check_apart(path: Path, target: Path, source: str) -> None:
    if not os.path.exists(source):
        if glob.has_magic(source) and target.match(source):
            raise InputError(f"--out {path} would be part of {source}, which is read: name another")
        return
    if target.exists() and os.path.samefile(source, target):
        raise InputError(f"--out {path} is the data itself: name another")
    if os.path.isdir(source) and Path(os.path.realpath(source)) in Path(os.path.realpath(target)).parents:
        raise InputError(f"--out {path} lies in {source}, which is read: name a place outside of it")


def _check_folder(path: Path, target: Path, ours: set[str], force: bool) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise InputError(f"--out {path} is a file: name a folder, or labels.csv or labels.npy for labels alone")
    there = {entry.name for entry in target.iterdir()}
    if there and not there <= ours:
        other = min(there - ours)
        raise InputError(f"--out {path} is a folder with other files in it, such as {other}: name a new one")
    if there and not force:
        raise InputError(f"--out {path} contains results: name another folder, or replace them by --force")


@contextlib.contextmanager
def working_folder(target: Path) -> Iterator[Path]:
    """A hidden folder beside `target`, which is removed at the end in any case."""
    parent, name = target.absolute().parent, target.absolute().name
    with file_errors():
        folder = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@file_errors()
def put_folder(made: Path, target: Path) -> None:
    """Move the folder `made` to `target`, in place of results that are there."""
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


@file_errors()
def put_file(made: Path, target: Path) -> None:
    """Move the file `made` to `target`."""
    os.chmod(made, 0o666 & ~umask())
    os.replace(made, target.absolute())


def _sync(folder: Path) -> None:
    """Write the names of files to disk before the folder is renamed."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
