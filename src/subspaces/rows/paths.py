"""Find the files that paths, patterns and folders stand for."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subspaces._core.errors import InputError, MissingFileError, UserTypeError
from subspaces.rows.formats import BY_SUFFIX, IMAGES, READABLE, Format, format_of, is_zarr, suffix_of
from subspaces.rows.reading import UnreadableError


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to read."""

    path: Path  # absolute, so that other processes find it
    format: Format
    root: Path | None = None  # the folder that the caller named, if the file was found in one


def is_paths(X: Any) -> bool:
    """Whether `X` is a path or a list of paths."""
    if isinstance(X, list | tuple):
        return bool(X) and all(isinstance(entry, str | os.PathLike) for entry in X)
    return isinstance(X, str | os.PathLike)


def find_files(paths: Any) -> tuple[list[FoundFile], int]:
    """The files of `paths`, in order, and the number of files in folders that are ignored."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise InputError("no file was named: name at least one.")
    found: list[FoundFile] = []
    ignored = 0
    for entry in given:
        if not isinstance(entry, str | os.PathLike):
            raise UserTypeError(f"{entry!r} is not a path: name files to read.")
        for path in _matches(os.path.expanduser(os.fspath(entry))):
            if path.is_dir() and not is_zarr(path):
                inside, others = _in_folder(path)
                found += inside
                ignored += others
            else:
                found.append(FoundFile(path, format_of(path)))
    together = [file for file in found if file.format.together]
    apart = [file for file in found if not file.format.together]
    if together and apart:
        raise InputError(f"{together[0].path} and {apart[0].path} are an image and a table: read one kind at a time.")
    return found, ignored


def _matches(text: str) -> list[Path]:
    """The path `text`, or the files that match it as a pattern."""
    if "://" in text:
        raise InputError(f"{text} is an address, and only local files are read: download or mount it.")
    path = Path(text).absolute()
    if os.path.lexists(path) or not glob.has_magic(text):
        if not path.exists():
            # An unknown suffix is the more helpful thing to report.
            format_of(path)
            raise MissingFileError(f"{text} does not exist: check the path (the current folder is {os.getcwd()}).")
        return [path]
    found = [Path(name).absolute() for name in glob.glob(text, recursive=True)]
    if not found:
        raise MissingFileError(f"{text} matches no file: check the pattern (the current folder is {os.getcwd()}).")
    return in_natural_order(found)


def _in_folder(folder: Path) -> tuple[list[FoundFile], int]:
    """The files of a folder that are read, and the number of those that are not: images at any depth, or tables."""
    every = (path for path in folder.rglob("*") if not _is_hidden(path, folder))
    files = [path for path in every if path.is_file()]
    images = [path for path in files if path.suffix.lower() in IMAGES.suffixes]
    if images:
        return [FoundFile(path, IMAGES, folder) for path in in_natural_order(images)], len(files) - len(images)
    tables = [
        FoundFile(path, format_of(path), folder)
        for path in in_natural_order([path for path in files if path.parent == folder])
        if suffix_of(path) in BY_SUFFIX
    ]
    if not tables:
        raise UnreadableError(f"{folder} is a folder without images or tables: it should hold {READABLE}.")
    other = next((file for file in tables if file.format != tables[0].format), None)
    if other is not None:
        raise UnreadableError(
            f"{folder} holds files of several formats, {tables[0].path.name} and {other.path.name}: name those to "
            f'read, such as "{folder.name}/*{tables[0].path.suffix}".'
        )
    return tables, 0


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def in_natural_order(paths: Sequence[Path]) -> list[Path]:
    """`paths` sorted with numbers as numbers: part-2 before part-10."""
    return sorted(
        paths,
        key=lambda path: [
            (part.isdigit(), int(part) if part.isdigit() else part) for part in re.split(r"([0-9]+)", str(path))
        ],
    )
