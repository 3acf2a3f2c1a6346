"""One way to open rows, whatever they are in."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import array_api_compat
import numpy as np

from subspaces._core.errors import InputError, UserTypeError
from subspaces._core.validation import check_integer
from subspaces.rows.sources._arrays import ArrayRows, frame_rows, plain_array
from subspaces.rows.sources._base import FeedOptions, RowSource
from subspaces.rows.sources._bytes import parse_bytes
from subspaces.rows.sources._checks import Columns, check_columns
from subspaces.rows.sources._npy import open_memmap, open_npy
from subspaces.rows.sources._reading import UnreadableError
from subspaces.rows.sources._stream import StreamRows
from subspaces.rows.sources._tables import FileRows, Table

PARQUET = (".parquet", ".pq")
HDF5 = (".h5", ".hdf5", ".hdf")
ZARR_FILES = ("zarr.json", ".zarray", ".zgroup")
FORMATS = ".npy, .parquet (or a folder of them), Zarr (.zarr) and HDF5 (.h5, .hdf5)"


def open_rows(
    X: Any,
    *,
    memory_limit: int | str | None = None,
    columns: Columns | None = None,
    key: str | None = None,
    block_rows: int | None = None,
    checkpoint: str | Path | None = None,
    labels: str | Path | None = None,
    device: str | None = None,
) -> RowSource:
    """Rows to be read in blocks, of which only a few are in memory at a time.

    Parameters
    ----------
    X : path, pattern, list of paths, array, callable or RowSource
        Files of format .npy, Parquet, Zarr or HDF5, one or several of equal columns, one after another: a path, a
        pattern such as "part-*.npy" (2 comes before 10), or a folder of Parquet files. An array of NumPy, torch or
        CuPy, or a numpy.memmap. A function without arguments that returns a fresh iterator of blocks (b, p) each time
        it is called. What an earlier call returned, to change its options.
    memory_limit : int or str, default "1GB"
        How much memory the work may take, at least 32 MB.
    columns : list of str or of int, optional
        Which columns to read: by name where they have names, or by position.
    key : str, optional
        Which array of a Zarr group or HDF5 file; it can be left out where there is one.
    block_rows : int, optional
        Rows in a block, instead of what the memory limit allows.
    checkpoint : path, optional
        A folder where a long run keeps how far it is.
    labels : path, optional
        A file .npy to write labels to, instead of holding them in memory.
    device : str, optional
        Where blocks are worked on, such as "cuda".

    Returns
    -------
    RowSource
        Blocks in order by `blocks()`, some rows by `take(index)`.

    Examples
    --------
    >>> import numpy as np
    >>> rows = open_rows(np.arange(6.0).reshape(3, 2), block_rows=2)
    >>> [block.tolist() for block in rows.blocks()]
    [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]]
    """
    options = _with_given(
        X.options if isinstance(X, RowSource) else FeedOptions(), memory_limit, block_rows, checkpoint, labels, device
    )
    if columns is not None:
        check_columns(columns)
    if isinstance(X, RowSource):
        if columns is not None or key is not None:
            raise InputError("columns and key are chosen when a file is opened first, not when its rows are reopened.")
        return X.with_options(options)
    if _is_paths(X):
        return _open_files(X, options, columns, key)
    if key is not None:
        raise InputError(f"key={key!r} names an array in a Zarr or HDF5 file, but X is no path: leave it out.")
    return _open_object(X, options, columns)


def is_source(X: Any) -> bool:
    """Whether `X` is something other than an array in memory that `open_rows` opens, or refuses with a remedy."""
    if isinstance(X, RowSource | np.memmap) or _is_paths(X):
        return True
    return (callable(X) or hasattr(X, "__next__")) and not array_api_compat.is_array_api_obj(X)


def _with_given(
    options: FeedOptions,
    memory_limit: int | str | None,
    block_rows: int | None,
    checkpoint: str | Path | None,
    labels: str | Path | None,
    device: str | None,
) -> FeedOptions:
    given: dict[str, Any] = {}
    if memory_limit is not None:
        given["memory_limit"] = parse_bytes(memory_limit)
    if block_rows is not None:
        given["block_rows"] = check_integer("block_rows", block_rows, low=1)
    if checkpoint is not None:
        given["checkpoint"] = Path(checkpoint).expanduser().absolute()
    if labels is not None:
        given["labels"] = Path(labels).expanduser().absolute()
    if device is not None:
        given["device"] = str(device)
    return replace(options, **given)


def _is_paths(X: Any) -> bool:
    if isinstance(X, list | tuple):
        return bool(X) and all(isinstance(entry, str | os.PathLike) for entry in X)
    return isinstance(X, str | os.PathLike)


def _open_object(X: Any, options: FeedOptions, columns: Columns | None) -> RowSource:
    """Rows of an object in memory, or of a function."""
    if isinstance(X, np.memmap):
        table = open_memmap(X, columns)
        if table is not None:
            return FileRows((table,), options)
    if hasattr(X, "tocsr"):
        raise UserTypeError("X is sparse: pass a function that returns an iterator of dense blocks, X[i:j].toarray().")
    if isinstance(X, np.ndarray):
        return ArrayRows(plain_array(X), options, columns)
    if hasattr(X, "dask") or hasattr(X, "__dask_graph__"):
        raise UserTypeError(
            "X is a Dask collection, which is not read in blocks here: pass it to the estimator itself."
        )
    if array_api_compat.is_array_api_obj(X):
        return ArrayRows(X, options, columns)
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return frame_rows(X, options, columns)
    if hasattr(X, "read"):
        raise UserTypeError("X is an open file: pass its path.")
    if hasattr(X, "__next__"):
        raise UserTypeError(
            f"X is a {type(X).__name__}, which can be read only once, and rows are read several times: pass the "
            "function that makes it, without calling it."
        )
    if callable(X):
        return StreamRows(X, options, columns)
    raise UserTypeError(
        f"X is {type(X).__name__}, which is no source of rows: pass paths of {FORMATS} files, an array, or a function "
        "that returns an iterator of blocks (b, p)."
    )


def _open_files(X: Any, options: FeedOptions, columns: Columns | None, key: str | None) -> FileRows:
    """Rows of files one after another."""
    entries = X if isinstance(X, list | tuple) else [X]
    tables: list[Table] = []
    for path in [path for entry in entries for path in _files_of(entry)]:
        table = _open_file(path, columns, key)
        if tables and table.column_names != tables[0].column_names and table.column_names is not None:
            table = _in_order_of(table, tables[0], key)
        if tables and table.n_columns != tables[0].n_columns:
            raise InputError(
                f"{path} has {table.n_columns} columns, but {tables[0].path} has {tables[0].n_columns}: rows of one "
                "source have the same columns; name those to read by columns=..."
            )
        tables.append(table)
    if not any(table.n_rows for table in tables):
        raise UnreadableError(f"{tables[0].path} has no rows: a minimum of 1 is required.")
    return FileRows(tuple(tables), options)


def _in_order_of(table: Table, first: Table, key: str | None) -> Table:
    """`table` with its columns in the order of the `first` file, if they are the same."""
    if first.column_names is None:
        return table
    if set(table.column_names or ()) != set(first.column_names):
        odd = sorted(set(table.column_names or ()) ^ set(first.column_names))
        raise InputError(
            f"{table.path} and {first.path} differ in column {odd[0]!r}: name the columns to read by columns=..."
        )
    return _open_file(table.path, first.column_names, key)


def _files_of(entry: str | os.PathLike[str]) -> list[Path]:
    """The files that a path or pattern stands for, absolute so that other processes find them."""
    text = os.path.expanduser(os.fspath(entry))
    if "://" in text:
        raise InputError(f"{text} is an address, and only local files are read: download or mount it.")
    path = Path(text).absolute()
    if path.is_dir() and not _is_zarr(path):
        parts = _in_natural_order([part for part in path.iterdir() if part.suffix.lower() in PARQUET])
        if not parts:
            raise UnreadableError(f'{path} is a folder of neither Zarr nor Parquet: name its files, as "{text}/*.npy".')
        return parts
    if path.exists() or not glob.has_magic(text):
        return [path]
    found = [Path(name).absolute() for name in glob.glob(text, recursive=True)]
    if not found:
        raise FileNotFoundError(f"{text} matches no file: check the pattern, which is looked for from {os.getcwd()}.")
    return _in_natural_order(found)


def _in_natural_order(paths: Sequence[Path]) -> list[Path]:
    """`paths` sorted with numbers as numbers: part-2 before part-10."""
    return sorted(
        paths, key=lambda path: [(part.isdigit(), int(part) if part.isdigit() else part) for part in _parts(path)]
    )


def _parts(path: Path) -> list[str]:
    return re.split(r"([0-9]+)", str(path))


def _is_zarr(path: Path) -> bool:
    return path.suffix.lower() == ".zarr" or any((path / name).is_file() for name in ZARR_FILES)


def _open_file(path: Path, columns: Columns | None, key: str | None) -> Table:
    suffix = path.suffix.lower()
    if path.is_dir() or suffix == ".zarr":
        from subspaces.rows.sources._zarr import open_zarr

        return open_zarr(path, columns, key)
    if suffix in HDF5:
        from subspaces.rows.sources._hdf5 import open_hdf5

        return open_hdf5(path, columns, key)
    if key is not None:
        raise InputError(f"key={key!r} names an array in a Zarr or HDF5 file, which {path} is not: leave it out.")
    if suffix in PARQUET:
        from subspaces.rows.sources._parquet import open_parquet

        return open_parquet(path, columns)
    if suffix == ".npy":
        return open_npy(path, columns)
    raise UnreadableError(f"{path} is of no format that is read in blocks: convert it to one of {FORMATS}.")
