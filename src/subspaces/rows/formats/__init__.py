"""File formats of rows: one file for each, and one registry.

To add a format, write `formats/NAME.py` with a function `open_table(path, options)` that returns a `StoredTable`
(`formats/stored.py`), and add a line to `FORMATS` below. Patterns, folders, columns, missing values, truth and messages
then work as for every other format.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from subspaces.rows.reading import UnreadableError

COMPRESSED = (".gz", ".bz2", ".xz", ".zip")
_TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat")


@dataclass(frozen=True, slots=True)
class Format:
    """How files with some suffixes are read."""

    module: str  # within this package
    suffixes: tuple[str, ...]
    takes_key: bool = False  # whether a file holds several arrays, or sheets, of which `key` names one
    together: bool = False  # whether all files make one table, each file a row

    def open(self, *arguments: Any) -> Any:
        """Call `open_table` of the module."""
        return import_module(f"subspaces.rows.formats.{self.module}").open_table(*arguments)


IMAGES = Format("images", (".png", ".jpg", ".jpeg", ".pgm", ".ppm", ".bmp", ".tif", ".tiff", ".gif"), together=True)
ZARR = Format("zarr", (".zarr",), takes_key=True)
FORMATS = (
    Format("text", (*_TEXT, *(f"{suffix}{packed}" for suffix in _TEXT for packed in COMPRESSED))),
    Format("npy", (".npy",)),
    Format("npz", (".npz",), takes_key=True),
    Format("mat", (".mat",), takes_key=True),
    Format("parquet", (".parquet", ".pq")),
    Format("hdf5", (".h5", ".hdf5", ".hdf"), takes_key=True),
    Format("excel", (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), takes_key=True),
    ZARR,
    IMAGES,
)
BY_SUFFIX = {suffix: each for each in FORMATS for suffix in each.suffixes}
READABLE = (
    "CSV and TSV (.csv, .tsv, .txt; also .gz), .npy, .npz, .mat, Parquet (.parquet), HDF5 (.h5), Zarr (.zarr), Excel "
    "(.xlsx), and images or folders of them (.png, .jpg, .pgm, .bmp, .tif, .gif)"
)
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
