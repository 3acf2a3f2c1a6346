"""Where results go: a place is checked and claimed before the work, and results are put there as a whole.

Nothing that was not there when the command began is ever replaced or removed, and results that cannot be put into
their place are kept beside it.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from subspaces._core.errors import FileInTheWayError, InputError, file_errors
from subspaces._core.files import lock, move_new, open_locked, umask

# File systems allow 255 bytes; temporary names beside the target are longer than its own.
LONGEST_NAME = 200
LABEL_FILES = (".npy", ".csv")
# In place of a file of labels.
STDOUT = "-"
# Files in the folder of a run; the first version kept the preparation in a file of its own.
RUN_FILES = ("labels.csv", "labels.npy", "model.subspaces", "preparation.subspaces", "run.json", "report.html")
# Names of folders for work in progress, which a program that was killed leaves, and of results without a place.
WORKING, KEPT = ".working-", "kept-"
# Within such a folder: earlier results while new ones take their place.
REPLACED = "replaced"

Identity = tuple[int, ...] | None


class Target:
    """A claimed place. Results are written into `folder`, and `put` moves them to their place."""

    def __init__(self, path: Path, folder: Path, *, is_folder: bool) -> None:
        self.path, self.folder, self._is_folder = path, folder, is_folder
        # What may be replaced: what is there now.
        self._known = _entries(path) if is_folder and path.exists() else {}
        self._before = _identity(path)

    @file_errors()
    def put(self, name: str | None = None) -> None:
        """Move the folder, or its file `name`, to its place, if that is as it was."""
        if not self._is_folder:
            assert name is not None
            self._put_file(self.folder / name)
        elif self._before is None:
            self._put_folder()
        else:
            self._put_into()

    def _put_file(self, made: Path) -> None:
        os.chmod(made, 0o666 & ~umask())
        if _identity(self.path) != self._before:
            raise _in_the_way(self.path)
        if self._before is None:
            move_new(made, self.path)
        else:
            os.replace(made, self.path)

    def _put_folder(self) -> None:
        """Put a new folder in one step."""
        os.chmod(self.folder, 0o777 & ~umask())
        _sync(self.folder)
        # An empty folder of our own is replaced; that fails if somebody has put something into it.
        os.mkdir(self.path)
        try:
            os.replace(self.folder, self.path)
        except BaseException:
            self.path.rmdir()
            raise

    def _put_into(self) -> None:
        """Put files into a folder that was there, which may be a mount point or a link; all of them or none."""
        if _entries(self.path) != self._known:
            raise _in_the_way(self.path)
        new = sorted(entry for entry in self.folder.iterdir() if not entry.name.startswith("."))
        old = self.folder / REPLACED
        old.mkdir()
        moves = [(self.path / name, old / name) for name in self._known]
        moves += [(made, self.path / made.name) for made in new]
        try:
            for made, place in moves:
                move_new(made, place)
            _sync(self.path)
        except BaseException:
            for made, place in reversed(moves):
                with contextlib.suppress(OSError):
                    _move_back(made, place)
            raise
        shutil.rmtree(old)


def labels_alone(out: str) -> bool:
    """Whether --out is a place of labels alone: a file, or stdout."""
    return out == STDOUT or Path(out).suffix.lower() in LABEL_FILES


@contextlib.contextmanager
def unplaced() -> Iterator[Target]:
    """A target among the temporary files, for results that are printed; it is removed at the end."""
    with file_errors():
        folder = Path(tempfile.mkdtemp(prefix="subspaces-"))
    try:
        yield Target(folder / "labels.csv", folder, is_folder=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def claimed(path: Path, *, force: bool, ours: Iterable[str] = (), inputs: Iterable[str] = ()) -> Iterator[Target]:
    """Claim a place for results, so that no other run writes to it; see `check_target` for the arguments.

    Folders on the way to it are made, and removed again if nothing was put there.
    After an error, complete files in the folder of the target are kept in a folder that a note of the error names.
    After an interruption they are removed.
    """
    names, inputs = tuple(ours), tuple(inputs)
    check_target(path, force=force, ours=names, inputs=inputs)
    with _parents(path), _claim(path), _working_folder(path.absolute(), is_folder=bool(names)) as folder:
        # A run that had the place until now may have put results there.
        check_target(path, force=force, ours=names, inputs=inputs)
        yield Target(path.absolute(), folder, is_folder=bool(names))


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
    if path.parts[0].startswith("~"):
        raise InputError(f"--out {path} lies in the home of a user who does not exist: name another")
    place = target if names and target.is_dir() else _nearest_above(target)
    if not place.is_dir():
        raise InputError(f"--out {path} lies below {place}, which is not a folder: name another")
    if not os.access(place, os.W_OK | os.X_OK):
        raise InputError(f"--out {path} {'is' if place == target else 'lies in'} a folder that is not writable")
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
    there = set(_entries(target))
    if there and not there <= ours:
        other = min(there - ours)
        raise InputError(f"--out {path} is a folder with other files in it, such as {other}: name a new one")
    if there and not force:
        raise InputError(f"--out {path} contains results: name another folder, or replace them by --force")


def _nearest_above(target: Path) -> Path:
    """The nearest folder above an absolute path that exists, or what is in its place."""
    return next(parent for parent in target.parents if parent.exists() or parent.is_symlink())


@contextlib.contextmanager
def _parents(path: Path) -> Iterator[None]:
    """Make the folders above a path, and remove those that are empty at the end."""
    target = path.absolute()
    above = _nearest_above(target)
    made = list(itertools.takewhile(lambda parent: parent != above, target.parents))
    with file_errors():
        for folder in reversed(made):
            folder.mkdir(exist_ok=True)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            for folder in made:
                folder.rmdir()


@contextlib.contextmanager
def _claim(path: Path) -> Iterator[None]:
    """Hold a lock on a folder that exists, or else on a hidden file beside the path; it ends with the process."""
    target = path.absolute()
    beside = None if target.is_dir() else target.with_name(f".{target.name}.claim")
    with file_errors():
        if beside is not None:
            handle = open_locked(beside)
        else:
            handle = os.open(target, os.O_RDONLY)
            if not lock(handle):
                os.close(handle)
                handle = None
    if handle is None:
        raise InputError(f"--out {path} is being written by another run: wait for it, or name another place")
    try:
        yield
    finally:
        if beside is not None:
            beside.unlink(missing_ok=True)
        os.close(handle)


@contextlib.contextmanager
def _working_folder(target: Path, *, is_folder: bool) -> Iterator[Path]:
    """A hidden folder from which results can be moved to `target`: beside it, or inside if it is there already."""
    inside = is_folder and target.is_dir()
    prefix, parent = (WORKING, target) if inside else (f".{target.name}{WORKING}", target.parent)
    with file_errors():
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    try:
        yield folder
    except BaseException as error:
        kept = _keep(folder, interrupted=not isinstance(error, Exception))
        if kept is not None:
            error.add_note(f"the results are kept in {kept}")
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _keep(folder: Path, *, interrupted: bool) -> Path | None:
    """Give a folder that holds complete files a name that is not hidden, and return it; None if there are none."""
    if not folder.is_dir():
        return None
    old = folder / REPLACED
    if old.is_dir() and not any(old.iterdir()):
        old.rmdir()
    found = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
    if not found or (interrupted and old not in found):
        return None
    for entry in folder.iterdir():
        if entry not in found:
            # Files that are not complete.
            entry.unlink()
    kept = folder.with_name(folder.name.replace(WORKING, f".{KEPT}").lstrip("."))
    with contextlib.suppress(OSError):
        return folder.rename(kept)
    return None


def _entries(folder: Path) -> Mapping[str, Identity]:
    """What is in a folder, without work in progress."""
    return {entry.name: _identity(entry) for entry in sorted(folder.iterdir()) if not entry.name.startswith(WORKING)}


def _identity(path: Path) -> Identity:
    """What changes if a file is replaced or written to; None if there is none. Of a folder, what does not change."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    key = (found.st_dev, found.st_ino)
    return key if path.is_dir() else (*key, found.st_size, found.st_mtime_ns)


def _move_back(made: Path, place: Path) -> None:
    """Undo the move of a file, which may have been done, half done, or not begun."""
    if not made.exists():
        os.rename(place, made)
    elif place.exists() and place.samefile(made):
        place.unlink()


def _in_the_way(path: Path) -> FileInTheWayError:
    return FileInTheWayError(errno.EEXIST, "somebody else has written here since the command began", str(path))


def _sync(folder: Path) -> None:
    """Write the names of files to disk before the folder is renamed."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
