"""File formats of rows: one file for each, and one registry.

To add a format, write `formats/NAME.py` with a function `open_table(path, options)` that returns a `StoredTable`
(`formats/base.py`), and add a line to `FORMATS` below. Patterns, folders, columns, missing values, truth, messages and
help then work as for every other format. Nothing large is imported here, because the help of the command line uses it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from subspaces.rows.reading import UnreadableError

COMPRESSED = (".gz", ".bz2", ".xz", ".zip")
# Longer lists of suffixes are cut in messages.
SHOWN_SUFFIXES = 3
_TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat")


@dataclass(frozen=True, slots=True)
class Format:
    """How files with some suffixes are read."""

    module: str  # within this package
    title: str  # for messages and help
    suffixes: tuple[str, ...]
    has_names: bool = False  # whether files may contain names of columns
    takes_key: bool = False  # whether a file holds several arrays, or sheets, of which `key` names one
    together: bool = False  # whether all files make one table, each file a row

    def open(self, *arguments: Any) -> Any:
        """Call `open_table` of the module."""
        return import_module(f"subspaces.rows.formats.{self.module}").open_table(*arguments)


IMAGES = Format(
    "images", "images", (".png", ".jpg", ".jpeg", ".pgm", ".ppm", ".bmp", ".tif", ".tiff", ".gif"), together=True
)
ZARR = Format("zarr", "Zarr", (".zarr",), takes_key=True)
FORMATS = (
    Format(
        "text",
        "CSV and other text",
        (*_TEXT, *(f"{suffix}{packed}" for suffix in _TEXT for packed in COMPRESSED)),
        has_names=True,
    ),
    Format("npy", ".npy", (".npy",)),
    Format("npz", ".npz", (".npz",), takes_key=True),
    Format("mat", ".mat", (".mat",), takes_key=True),
    Format("parquet", "Parquet", (".parquet", ".pq"), has_names=True),
    Format("hdf5", "HDF5", (".h5", ".hdf5", ".hdf"), takes_key=True),
    Format("excel", "Excel", (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), has_names=True, takes_key=True),
    ZARR,
    IMAGES,
)
BY_SUFFIX = {suffix: each for each in FORMATS for suffix in each.suffixes}


def _listed(formats: Iterable[Format], last: str, *, suffixes: bool) -> str:
    """Titles of formats in a sentence, with their usual suffixes if they are not titles themselves."""
    words = [
        f"{each.title} ({', '.join(each.suffixes[:SHOWN_SUFFIXES])})"
        if suffixes and not each.title.startswith(".")
        else each.title
        for each in formats
    ]
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


# Formats that can be read, for messages and for help.
TITLES = _listed(FORMATS, "or", suffixes=False)
READABLE = _listed(FORMATS, "and", suffixes=True)
# Formats whose files may hold several arrays or sheets.
KEYED = _listed([each for each in FORMATS if each.takes_key], "or", suffixes=False)
HINTS = {
    ".pkl": "a pickle can run code: save the array with numpy.save",
    ".pickle": "a pickle can run code: save the array with numpy.save",
    ".zip": "unpack it first",
    ".gz": "name it rows.csv.gz if it holds CSV",
}
_ZARR_FILES = ("zarr.json", ".zarray", ".zgroup")


def suffix_of(path: Path) -> str:
    """The suffix that decides the format, such as ".csv" or ".csv.gz"."""
    suffix = path.suffix.lower()
    return "".join(path.suffixes[-2:]).lower() if suffix in COMPRESSED else suffix


def is_zarr(path: Path) -> bool:
    """Whether a folder is a Zarr array or group."""
    return path.suffix.lower() == ".zarr" or any((path / name).is_file() for name in _ZARR_FILES)


def format_of(path: Path) -> Format:
    """The format of a file by its suffix; folders are Zarr."""
    found = ZARR if path.is_dir() else BY_SUFFIX.get(suffix_of(path))
    if found is None:
        hint = HINTS.get(path.suffix.lower(), "")
        reason = f"has the suffix {path.suffix!r}, which is not known" if path.suffix else "has no suffix"
        raise UnreadableError(f"{path} {reason}{f' ({hint})' if hint else ''}: convert it to one of {READABLE}.")
    return found
