"""Arrays in files as rows: .npy, .npz, .mat, Zarr and HDF5."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Indices
from subspaces.rows.inputs._arrays_in import MATLAB, NPZ, Stored, arrays_in, choose_array, vector
from subspaces.rows.inputs._columns import choose, numbered_names
from subspaces.rows.inputs._found import Found, Places, Request, as_truth
from subspaces.rows.sources import RowSource, open_rows
from subspaces.rows.sources._checks import block_dtype
from subspaces.rows.sources._reading import UnreadableError, check_file, reading

NPY = ".npy"


def read_arrays(request: Request) -> Found:
    """The rows of arrays in files: in memory where they fit, and else read in blocks where the format can."""
    named = [{} if path.suffix.lower() == NPY else arrays_in(path) for path in request.paths]
    keys = [_key(path, arrays, request.key) for path, arrays in _pairs(request, named)]
    stored = [_stored(path, arrays, key) for (path, arrays), key in zip(_pairs(request, named), keys, strict=True)]
    if _in_blocks(request.paths, stored):
        source = open_rows(list(map(str, request.paths)), key=keys[0], memory_limit=request.memory_limit)
        counts = tuple(table.n_rows for table in source.tables)  # type: ignore[attr-defined]
        shape: tuple[int, ...] = (source.n_columns,)
    else:
        source = None
        shape = _row_shape(request.paths, stored)
        counts = tuple(array.shape[0] for array in stored if array is not None)
    n_rows, n_columns = sum(counts), int(np.prod(shape))
    truth, row_names = (_beside(request, named, counts, what) for what in ("truth", "names"))
    names = numbered_names(n_columns)
    wanted = choose(
        names,
        str(request.paths[0]),
        columns=request.columns,
        drop=request.drop,
        truth=request.truth if truth is None else None,
        row_names=request.names if row_names is None else None,
    )
    chosen = None if wanted.rows == list(range(n_columns)) else np.asarray(wanted.rows, np.intp)
    rows: NDArray[Any] | RowSource
    if source is None:
        every = _loaded(request, stored, n_columns)
        rows = every if chosen is None else np.ascontiguousarray(every[:, chosen])
        column = {place: every[:, place] for place in (wanted.truth, wanted.names) if place is not None}
    else:
        column = {
            place: in_memory(_reopened(request, keys[0], np.asarray([place])))[:, 0]
            for place in (wanted.truth, wanted.names)
            if place is not None
        }
        rows = _reopened(request, keys[0], chosen)
        if request.fits(n_rows, len(wanted.rows), rows.dtype.itemsize):
            rows = in_memory(rows)
    truth = truth if wanted.truth is None else column[wanted.truth]
    row_names = row_names if wanted.names is None else column[wanted.names]
    return Found(
        rows,
        tuple(names[place] for place in wanted.rows),
        Places(request.paths, counts),
        None if row_names is None else [str(name) for name in as_truth(row_names)],
        None if truth is None else as_truth(truth),
        shape if chosen is None and is_image(shape) else None,
        [f"each row is {' x '.join(map(str, shape))} values, one after another"] if len(shape) > 1 else [],
    )


def in_memory(source: RowSource) -> NDArray[Any]:
    """All rows (n, p) of a source whose number of rows is known."""
    assert source.n_rows is not None
    rows = np.empty((source.n_rows, source.n_columns), source.dtype)
    start = 0
    for block in source.blocks():
        rows[start : start + len(block)] = block
        start += len(block)
    return rows


def is_image(shape: Sequence[int]) -> bool:
    """Whether `shape` is (height, width), or (height, width, 3) for colours."""
    return len(shape) == 2 or (len(shape) == 3 and shape[2] == 3)


def _pairs(request: Request, named: list[dict[str, Stored]]) -> list[tuple[Path, dict[str, Stored]]]:
    return list(zip(request.paths, named, strict=True))


def _key(path: Path, arrays: dict[str, Stored], asked: str | None) -> str | None:
    """The name of the array of the rows; one alone, as in .npy and some Zarr folders, has none."""
    alone = path.suffix.lower() == NPY or (path.is_dir() and not arrays)
    return None if alone else choose_array(path, arrays, asked)


def _stored(path: Path, arrays: dict[str, Stored], key: str | None) -> Stored | None:
    """The array of the rows; None for the one array of a Zarr folder, which `open_rows` knows."""
    if key is not None:
        return arrays[key]
    if path.suffix.lower() != NPY:
        return None
    check_file(path)
    with reading(path, "NPY"):
        # A map reads nothing but the header.
        header = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(header, np.ndarray):
        header.close()
        raise UnreadableError(f"{path} is an .npz file, whatever its name says: call it .npz.")
    return Stored(header.shape, str(header.dtype), lambda: _read_npy(path))


def _read_npy(path: Path) -> NDArray[Any]:
    with reading(path, "NPY"):
        return np.load(path, allow_pickle=False)


def _in_blocks(paths: Sequence[Path], stored: Sequence[Stored | None]) -> bool:
    """Whether `open_rows` can read the arrays."""
    if paths[0].suffix.lower() in (NPZ, MATLAB):
        return False
    # What has one dimension or none is refused there.
    return all(array is None or len(array.shape) <= 2 for array in stored)


def _row_shape(paths: Sequence[Path], stored: Sequence[Stored | None]) -> tuple[int, ...]:
    """The shape of one row, the same in all arrays."""
    shapes = [() if array is None else array.shape for array in stored]
    for path, shape in zip(paths, shapes, strict=True):
        if len(shape) < 2 or not all(shape):
            raise UnreadableError(f"{path} holds an array of shape {shape}, but rows and columns are needed.")
        if shape[1:] != shapes[0][1:]:
            raise UnreadableError(
                f"{path} holds rows of shape {shape[1:]}, but {paths[0]} of {shapes[0][1:]}: make them the same."
            )
    return shapes[0][1:]


def _loaded(request: Request, stored: Sequence[Stored | None], n_columns: int) -> NDArray[Any]:
    """All rows (n, p) of arrays that are read as a whole."""
    arrays = [array for array in stored if array is not None]
    n_rows = sum(array.shape[0] for array in arrays)
    if not request.fits(n_rows, n_columns, 8):
        raise UnreadableError(
            f"{request.paths[0]} holds {n_rows} rows of {n_columns} numbers, which do not fit into half the memory "
            f"limit of {request.memory_limit / 1e9:.1f} GB: raise it (--memory-limit), or store them as .npy (n, p)."
        )
    parts = []
    for path, array in zip(request.paths, arrays, strict=True):
        values = array.read()
        parts.append(values.reshape(len(values), -1).astype(block_dtype(values.dtype, str(path)), copy=False))
    return np.ascontiguousarray(parts[0] if len(parts) == 1 else np.concatenate(parts))


def _reopened(request: Request, key: str | None, columns: Indices | None) -> RowSource:
    chosen = None if columns is None else [int(column) for column in columns]
    return open_rows(list(map(str, request.paths)), key=key, columns=chosen, memory_limit=request.memory_limit)


def _beside(request: Request, named: list[dict[str, Stored]], counts: Sequence[int], what: str) -> NDArray[Any] | None:
    """Names or true classes (n,) that lie in another array of the same file, or in an .npy file of their own."""
    asked = request.truth if what == "truth" else request.names
    if not isinstance(asked, str):
        return None
    if asked.lower().endswith(NPY) and Path(asked).expanduser().is_file():
        path = Path(asked).expanduser()
        stored = _stored(path, {}, None)
        assert stored is not None
        return vector(path, path.name, stored, sum(counts), what)
    if asked not in named[0]:
        return None
    parts = []
    for (path, arrays), count in zip(_pairs(request, named), counts, strict=True):
        if asked not in arrays:
            raise UnreadableError(f"{path} has no array {asked!r} ({what}), but {request.paths[0]} has.")
        parts.append(vector(path, asked, arrays[asked], count, what))
    return np.concatenate(parts)
