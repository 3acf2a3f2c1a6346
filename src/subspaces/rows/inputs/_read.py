"""One way to read rows, whatever files they are in."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from subspaces._core.errors import InputError, UserTypeError
from subspaces._core.validation import check_integer, check_option
from subspaces.rows.inputs._columns import Selection, shown
from subspaces.rows.inputs._found import Found, Request
from subspaces.rows.inputs._images import IMAGES
from subspaces.rows.inputs._missing import clean
from subspaces.rows.inputs._table import Table
from subspaces.rows.sources import parse_bytes
from subspaces.rows.sources._open import HDF5, PARQUET, _in_natural_order, _is_zarr
from subspaces.rows.sources._reading import UnreadableError

TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat")
KINDS = {
    **dict.fromkeys(TEXT, "text"),
    **dict.fromkeys((f"{suffix}.gz" for suffix in TEXT), "text"),
    **dict.fromkeys(PARQUET, "parquet"),
    **dict.fromkeys(HDF5, "hdf5"),
    **dict.fromkeys(IMAGES, "images"),
    ".npy": "npy",
    ".npz": "npz",
    ".mat": "mat",
}
# Formats whose files hold several arrays under names.
KEYED = ("npz", "mat", "hdf5", "zarr")
READ = (
    "CSV and TSV (.csv, .tsv, .txt, also .gz), .npy, .npz, .mat, Parquet (.parquet), HDF5 (.h5), Zarr (.zarr), and "
    "images or folders of them (.png, .jpg, .pgm, .bmp, .tif, .gif)"
)
HINTS = {
    ".xlsx": "save the sheet as CSV",
    ".xls": "save the sheet as CSV",
    ".ods": "save the sheet as CSV",
    ".pkl": "a pickle can run code: store the array by numpy.save",
    ".pickle": "a pickle can run code: store the array by numpy.save",
    ".zip": "unpack it first",
}


def read_table(
    paths: str | Path | Sequence[str | Path],
    *,
    key: str | None = None,
    columns: Selection | None = None,
    drop: Selection | None = None,
    truth: str | int | None = None,
    names: str | int | None = None,
    missing: str = "error",
    image_shape: Sequence[int] | None = None,
    image_size: Sequence[int] | None = None,
    memory_limit: int | str = "1GB",
) -> Table:
    """Read the rows of files of one kind, one file after another.

    Parameters
    ----------
    paths : path or list of paths
        CSV and TSV (also packed by gzip), .npy, .npz, .mat, Parquet, Zarr, HDF5, images, or a folder of images or of
        such files. Patterns such as "part-*.csv" are followed, 2 before 10.
    key : str, optional
        Which array of an .npz, .mat, HDF5 or Zarr file holds the rows, where several could.
    columns, drop : str or list of str and int, optional
        Which columns make the rows, in this order, and which do not: names, numbers from 1 on, ranges as "2-5".
    truth : str or int, optional
        The column of the true classes, by name or number; it is no column of the rows. In .npz, .mat, HDF5 and Zarr it
        may be another array of one entry a row, or the path of an .npy file; of images "folder", their folders' names.
    names : str or int, optional
        The column, or array, that names the rows.
    missing : {"error", "drop", "mean"}, default="error"
        What to do with empty cells, NA, NaN, null and "?": refuse them, drop their rows, or fill in column means.
    image_shape : (height, width) or (height, width, 3), optional
        The shape of the image that each row is, where the file does not tell.
    image_size : (height, width), optional
        Make all images this large; without, they must have one size.
    memory_limit : int or str, default="1GB"
        Rows that take more than half of it are not held in memory: they are read in blocks, in each pass again.

    Returns
    -------
    Table

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "flowers.csv"
    >>> _ = path.write_text("name,length,width,species\\nrose,1.5,2,a\\nlily,3,4,b\\n")
    >>> table = read_table(path, truth="species")
    >>> table.rows.tolist(), table.columns, table.truth.tolist(), table.notes
    ([[1.5, 2.0], [3.0, 4.0]], ('length', 'width'), ['a', 'b'], ("1 column of text left out: 'name'",))
    """
    check_option("missing", missing, ("error", "drop", "mean"))
    shape = None if image_shape is None else _lengths("image_shape", image_shape, (2, 3))
    size = None if image_size is None else _lengths("image_size", image_size, (2,))
    limit = parse_bytes(memory_limit)
    files = _files(paths)
    request = Request(
        files.paths, key, columns, drop, truth, names, limit, None if size is None else (size[0], size[1])
    )
    if key is not None and (files.kind not in KEYED or not isinstance(key, str)):
        raise InputError(f"key={shown(key)} names an array in an .npz, .mat, HDF5 or Zarr file: leave it out here.")
    if size is not None and files.kind != "images":
        raise InputError(f"image_size={size} is for images, and {files.paths[0]} is none: leave it out.")
    found = _read(request, files)
    rows, kept, notes = clean(found, missing)
    if shape is not None:
        _check_image_shape(shape, found)
    truth_values, row_names = found.truth, found.row_names
    if kept is not None:
        truth_values = None if truth_values is None else truth_values[kept]
        row_names = None if row_names is None else [row_names[row] for row in kept]
    return Table(
        rows,
        found.columns,
        None if row_names is None else tuple(row_names),
        truth_values,
        found.image_shape if shape is None else shape,
        (*found.notes, *notes),
        kept,
    )


@dataclass(frozen=True, slots=True)
class _Files:
    """The files to read, all of one kind."""

    paths: tuple[Path, ...]
    roots: tuple[Path | None, ...]  # the folder that the user named, under which each was found
    kind: str
    ignored: int  # files in folders that are of no kind


def _read(request: Request, files: _Files) -> Found:
    if files.kind == "text":
        from subspaces.rows.inputs._from_text import read_text

        return read_text(request)
    if files.kind == "images":
        from subspaces.rows.inputs._images import read_images

        return read_images(request, files.roots, files.ignored)
    if files.kind == "parquet":
        from subspaces.rows.inputs._from_parquet import read_parquet

        return read_parquet(request)
    from subspaces.rows.inputs._from_arrays import read_arrays

    return read_arrays(request)


def _files(paths: Any) -> _Files:
    """The files that paths, patterns and folders stand for."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise InputError("no file was named: name one to read.")
    found: list[tuple[Path, Path | None]] = []
    ignored = 0
    for entry in given:
        if not isinstance(entry, str | os.PathLike):
            raise UserTypeError(f"{shown(entry)} is no path: name files to read.")
        for path in _matches(os.path.expanduser(os.fspath(entry))):
            if path.is_dir() and not _is_zarr(path):
                inside, others = _in_folder(path)
                found += [(each, path) for each in inside]
                ignored += others
            else:
                found.append((path, None))
    kinds = {_kind(path): path for path, _ in reversed(found)}
    if len(kinds) > 1:
        (first, one), (second, other) = list(kinds.items())[:2]
        raise InputError(f"{one} and {other} are of different kinds ({first} and {second}): read files of one kind.")
    return _Files(tuple(path for path, _ in found), tuple(root for _, root in found), next(iter(kinds)), ignored)


def _matches(text: str) -> list[Path]:
    if "://" in text:
        raise InputError(f"{text} is an address, and only local files are read: download it.")
    path = Path(text)
    if os.path.lexists(path) or not glob.has_magic(text):
        if not path.exists():
            raise FileNotFoundError(f"{text} does not exist: check the path, which is looked for from {os.getcwd()}.")
        return [path]
    found = [Path(name) for name in glob.glob(text, recursive=True)]
    if not found:
        raise FileNotFoundError(f"{text} matches no file: check the pattern, which is looked for from {os.getcwd()}.")
    return _in_natural_order(found)


def _in_folder(folder: Path) -> tuple[list[Path], int]:
    """The files of a folder that can be read, images in folders below among them, and how many cannot."""
    every = [
        path for path in sorted(folder.rglob("*")) if not any(part.startswith(".") for part in _inside(path, folder))
    ]
    files = [path for path in every if path.is_file()]
    images = [path for path in files if path.suffix.lower() in IMAGES]
    if images:
        return _in_natural_order(images), len(files) - len(images)
    tables = [path for path in files if path.parent == folder and _suffix(path) in KINDS]
    if not tables:
        raise UnreadableError(f"{folder} is a folder without images or tables: it should hold {READ}.")
    return _in_natural_order(tables), 0


def _inside(path: Path, folder: Path) -> tuple[str, ...]:
    return path.relative_to(folder).parts


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    return "".join(path.suffixes[-2:]).lower() if suffix == ".gz" else suffix


def _kind(path: Path) -> str:
    if path.is_dir():
        return "zarr"
    kind = KINDS.get(_suffix(path))
    if kind is None:
        hint = HINTS.get(path.suffix.lower())
        ending = f"ends in {shown(path.suffix)}" if path.suffix else "has no ending"
        raise UnreadableError(
            f"{path} {ending}, which is not read{f' ({hint})' if hint else ''}: convert it to one of {READ}."
        )
    return kind


def _lengths(name: str, value: Any, counts: tuple[int, ...]) -> tuple[int, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray):
        raise UserTypeError(f"{name}={shown(value)} must be (height, width){' or (height, width, 3)' * (3 in counts)}.")
    lengths = tuple(check_integer(name, length, low=1, hint="give height and width") for length in value)
    if len(lengths) not in counts or (len(lengths) == 3 and lengths[2] != 3):
        raise InputError(f"{name}={lengths} must be (height, width){' or (height, width, 3)' * (3 in counts)}.")
    return lengths


def _check_image_shape(shape: tuple[int, ...], found: Found) -> None:
    pixels = int(np.prod(shape))
    if pixels != len(found.columns):
        raise InputError(
            f"image_shape={shape} is {pixels} pixels, but rows have {len(found.columns)} columns: give that of a row."
        )
    if found.image_shape is not None and tuple(found.image_shape) != shape:
        raise InputError(f"image_shape={shape} is not that of the images, {found.image_shape}: leave it out.")
