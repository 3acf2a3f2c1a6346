"""`open_rows`: one way to open rows, wherever they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import array_api_compat
import numpy as np

from subspaces._core.errors import InputError, UserTypeError
from subspaces._core.validation import check_integer
from subspaces.rows.arrays import ArrayRows
from subspaces.rows.columns import ColumnChoice
from subspaces.rows.formats import READABLE
from subspaces.rows.formats.base import OpenOptions, StoredTable
from subspaces.rows.formats.npy import open_memmap
from subspaces.rows.frames import frame_kind, open_frame, warn_left_out
from subspaces.rows.memory import parse_bytes
from subspaces.rows.paths import find_files, is_paths
from subspaces.rows.select_columns import open_tables, select_rows
from subspaces.rows.source import FeedOptions, RowSource
from subspaces.rows.sparse import SparseMatrixRows, is_sparse
from subspaces.rows.streams import StreamRows


def open_rows(
    X: Any,
    *,
    memory_limit: int | str | None = None,
    columns: ColumnChoice | None = None,
    key: str | None = None,
    block_rows: int | None = None,
    checkpoint: str | Path | None = None,
    labels: str | Path | None = None,
    device: str | None = None,
) -> RowSource:
    """Open rows that are read in blocks, of which only a few are in memory at a time.

    Parameters
    ----------
    X : path, pattern, list of paths, array, dataframe, callable or RowSource
        Files: CSV and other text tables, .npy, .npz, .mat, Parquet, HDF5, Zarr, Excel or images; a path, a pattern
        such as "part-*.npy" (2 comes before 10), a folder, or a list of these, read one after another. An array of
        NumPy, torch or CuPy, a numpy.memmap, or a sparse matrix or array of SciPy, of which only blocks become dense. A
        dataframe of pandas, polars (also lazy) or pyarrow. A function
        without arguments that returns a new iterator of blocks (b, p) each time it is called. What an earlier call
        returned, to change its options.
    memory_limit : int or str, default="1GB"
        How much memory reading and processing may take, at least 32 MB. Text tables that take more than half of it are
        read again in each pass.
    columns : list of str and int, range or slice, optional
        Which columns to read, in this order: names, or numbers counted from 0; negative numbers count from the end. By
        default all that hold numbers; columns of text, dates or categories are left out with a warning.
    key : str, optional
        Which array of an .npz, .mat, HDF5 or Zarr file, or which sheet of a workbook; not needed if there is only one.
    block_rows : int, optional
        Number of rows of a block. By default as the memory limit allows.
    checkpoint : path, optional
        A folder in which a long run keeps its progress.
    labels : path, optional
        An .npy file to which labels are written, instead of holding them in memory.
    device : str, optional
        The device on which blocks are processed, such as "cuda".

    Returns
    -------
    RowSource
        `blocks()` iterates over the blocks in order, `take(index)` reads some rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = open_rows(np.arange(6.0).reshape(3, 2), block_rows=2)
    >>> [block.tolist() for block in rows.blocks()]
    [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]]
    """
    known = X.options if isinstance(X, RowSource) else FeedOptions()
    options = _with_given(known, memory_limit, block_rows, checkpoint, labels, device)
    if isinstance(X, RowSource):
        if columns is not None or key is not None:
            raise InputError("columns and key are chosen when a file is opened first, not when its rows are reopened.")
        return X.with_options(options)
    tables = stored_tables(X, OpenOptions(options.memory_limit, key))
    if tables is None:
        return _open_object(X, options, columns)
    selected = select_rows(tables, options, columns=columns)
    if selected.left_out is not None:
        warn_left_out(selected.left_out)
    return selected.rows


def stored_tables(X: Any, options: OpenOptions) -> list[StoredTable] | None:
    """The tables of files, of a dataframe or of a memory map; None if `X` is something else."""
    if is_paths(X):
        files, ignored = find_files(X)
        return open_tables(files, options, ignored)
    if options.key is not None:
        raise InputError(f"key={options.key!r} names an array or sheet in a file, but X is not a path: leave it out.")
    table = open_memmap(X) if isinstance(X, np.memmap) else open_frame(X)
    return None if table is None else [table]


def is_source(X: Any) -> bool:
    """Whether `open_rows` opens `X`, which is not an array: paths, functions, lazy frames, sources, sparse matrices."""
    if isinstance(X, RowSource | np.memmap) or is_sparse(X) or is_paths(X) or frame_kind(X) == ("polars", "LazyFrame"):
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


def _open_object(X: Any, options: FeedOptions, columns: ColumnChoice | None) -> RowSource:
    """Rows of an array, or of a function; other objects are refused with a remedy."""
    if isinstance(X, np.ma.MaskedArray):
        raise InputError("X is a masked array: fill the gaps first, such as by X.filled(numpy.nan).")
    if isinstance(X, np.ndarray):
        return ArrayRows(np.asarray(X), options, columns)
    if is_sparse(X):
        return SparseMatrixRows(X, options, columns)
    if hasattr(X, "dask") or hasattr(X, "__dask_graph__"):
        raise UserTypeError("X is a Dask collection, which open_rows does not read: pass it to the estimator itself.")
    if array_api_compat.is_array_api_obj(X):
        return ArrayRows(X, options, columns)
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
        f"X is {type(X).__name__}, which cannot be opened as rows: pass an array, a dataframe, a function that returns "
        f"an iterator of blocks (b, p), or paths of {READABLE}."
    )
