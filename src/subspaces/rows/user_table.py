"""`read_table`: the rows of a table with what is known about them: names, true classes, missing values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.arrays import Indices
from subspaces._core.errors import InputError, UserTypeError
from subspaces._core.validation import check_integer, check_option
from subspaces.rows.columns import ColumnChoice, OneColumnChoice, shown
from subspaces.rows.formats import npy
from subspaces.rows.formats.base import HeldTable, OpenOptions, StoredTable
from subspaces.rows.formats.images import ImageTable
from subspaces.rows.memory import HELD_SHARE, parse_bytes
from subspaces.rows.missing import clean
from subspaces.rows.open import stored_tables
from subspaces.rows.reading import UnreadableError
from subspaces.rows.select_columns import Selected, select_rows
from subspaces.rows.source import FeedOptions, RowSource, in_memory

FOLDER = "folder"
# Names, in lower case, of a true class that holds outliers.
OUTLIER_CLASSES = ("outlier", "outliers", "noise", "-1")


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows to be clustered, and what is known about them."""

    rows: NDArray[Any] | RowSource  # (n, p); an array if they fit into memory, otherwise read in blocks
    columns: tuple[str, ...]  # names of the p columns; "column 0", ... if there are none, "pixel 0", ... for images
    row_names: tuple[str, ...] | None  # names of the n rows: a column that the caller named, or the files of images
    truth: NDArray[Any] | None  # (n,) the true classes, integers or strings; -1 for outliers
    image_shape: tuple[int, ...] | None  # (height, width) or (height, width, 3) if a row is an image
    notes: tuple[str, ...]  # what the user should know: columns left out, rows dropped, ...
    kept: Indices | None = None  # (n,) numbers, from 0 on, of the rows that were not dropped; None: all are there
    has_names: bool = True  # whether `columns` are names of the table, and not numbers
    means: NDArray[np.float64] | None = None  # (p,) of the values that are not missing; None if no pass has found them

    @property
    def n_rows(self) -> int | None:
        """The number of rows; None if it takes a pass to find out."""
        return self.rows.n_rows if isinstance(self.rows, RowSource) else len(self.rows)


def read_table(
    X: Any,
    *,
    key: str | None = None,
    columns: ColumnChoice | None = None,
    drop: ColumnChoice | None = None,
    truth: OneColumnChoice | None = None,
    names: OneColumnChoice | None = None,
    missing: str | ArrayLike = "error",
    image_shape: Sequence[int] | None = None,
    image_size: Sequence[int] | None = None,
    memory_limit: int | str = "1GB",
    count_from: int = 0,
) -> Table:
    """Read a table: files, one after another, a dataframe or an array.

    It opens rows as `open_rows` does, and besides reads names and true classes, and treats missing values.

    Parameters
    ----------
    X : path, pattern, list of paths, dataframe or array
        CSV and other text tables (also compressed), .npy, .npz, .mat, Parquet, HDF5, Zarr, Excel, images, or a folder
        of images or of files of one such format. Patterns such as "part-*.csv" are expanded, 2 before 10. A
        dataframe of pandas, polars or pyarrow, or a NumPy array.
    key : str, optional
        Which array of an .npz, .mat, HDF5 or Zarr file, or which sheet of a workbook, holds the rows.
    columns, drop : list of str and int, range or slice, optional
        Which columns make the rows, in this order, and which do not: names, or numbers counted from 0; negative numbers
        count from the end. By default all that hold numbers; a note says which columns were left out.
    truth : str or int, optional
        The column of the true classes, by name or number; it does not become a column of the rows. In .npz, .mat, HDF5
        and Zarr files it may be another array with one entry per row; for .npy, the path of another .npy file; for
        images "folder", the names of their folders.
    names : str or int, optional
        The column, or array, that names the rows.
    missing : {"error", "drop", "mean"} or array-like of shape (p,), default="error"
        What to do with empty cells, NA, NaN, null and "?": refuse them, drop their rows, or fill in column means. New
        rows for a model are filled with the means of the rows that it was fitted to: `missing=table.means`.
    image_shape : (height, width) or (height, width, 3), optional
        The shape of the image that each row is, if the file does not say.
    image_size : (height, width), optional
        Scale all images to this size; by default they must have the same size.
    memory_limit : int or str, default="1GB"
        Rows that take more than half of it are not held in memory: they are read in blocks, again in each pass.
    count_from : int, default=0
        Number of the first column in the names of columns that have none: "column 0", "column 1", ... The command line
        counts from 1.

    Returns
    -------
    Table

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "flowers.csv"
    >>> _ = path.write_text("name,length,width,species\\nrose,1.5,2,a\\nlily,3,4,b\\n")
    >>> table = read_table(path, truth="species")
    >>> table.rows.tolist(), table.columns, table.truth.tolist()
    ([[1.5, 2.0], [3.0, 4.0]], ('length', 'width'), ['a', 'b'])
    >>> table.notes
    ("1 column does not hold numbers and is left out: 'name' (text)",)
    """
    _check_missing(missing)
    shape = None if image_shape is None else _lengths("image_shape", image_shape, (2, 3))
    size = None if image_size is None else _lengths("image_size", image_size, (2,))
    limit = parse_bytes(memory_limit)
    tables = _tables(X, OpenOptions(limit, key, None if size is None else (size[0], size[1]), count_from))
    images = tables[0] if isinstance(tables[0], ImageTable) else None
    if images is None and size is not None:
        raise InputError(
            f"image_size={size} is for images, and {tables[0].path} is not one: leave it out.", parameter="image_size"
        )
    if images is not None:
        _check_images(columns, drop, truth, names)
        beside: dict[str, NDArray[Any] | None] = {
            "truth": None if truth is None else np.asarray(images.folders()),
            "names": np.asarray(images.file_names()),
        }
    else:
        beside = {"truth": _beside(tables, truth, "truth", limit), "names": _beside(tables, names, "names", limit)}
    selected = select_rows(
        tables,
        FeedOptions(memory_limit=limit),
        columns=columns,
        drop=drop,
        truth=truth if beside["truth"] is None else None,
        row_names=names if beside["names"] is None else None,
    )
    _check_entries(beside, {"truth": truth, "names": names}, sum(table.n_rows for table in tables))
    filling = _filling(missing, selected.columns)
    cleaned = clean(_held(selected.rows, limit), selected.rows.place, selected.columns, filling)
    truth_values, row_names = _known(tables, selected, beside, limit, cleaned.kept)
    found_shape = _checked_shape(shape, _image_shape(tables[0], selected), len(selected.columns))
    if len(tables[0].row_shape) > 1 and images is None:
        selected.notes.append(f"each row is an array of {' x '.join(map(str, tables[0].row_shape))} values")
    return Table(
        cleaned.rows,
        selected.columns,
        None if row_names is None else tuple(row_names),
        truth_values,
        found_shape,
        (*selected.notes, *cleaned.notes),
        cleaned.kept,
        tables[0].names is not None,
        cleaned.means,
    )


def as_truth(values: NDArray[Any] | Sequence[Any]) -> NDArray[Any]:
    """True classes (n,) as integers if all are whole numbers in their usual form, otherwise as strings.

    >>> as_truth(["1", "2.0"]), as_truth(["a", "2"]), as_truth(["007", "7"])
    (array([1, 2]), array(['a', '2'], dtype='<U1'), array(['007', '7'], dtype='<U3'))
    """
    found = np.asarray(values)
    if found.dtype.kind in "iub":
        return found.astype(np.int64)
    try:
        numbers = found.astype(np.float64)
    except (ValueError, TypeError):
        numbers = None
    # Whole numbers beyond 2^53 are rounded, and two classes could become one.
    if numbers is not None and np.all(np.abs(numbers) < 2**53) and np.all(numbers == np.round(numbers)):
        whole = numbers.astype(np.int64)
        # Other forms, such as 007 and 7, may be the names of two classes.
        if found.dtype.kind == "f" or all(map(_is_usual, found.tolist(), whole.tolist())):
            return whole
    return np.asarray([_text(value) for value in found.tolist()])


def mark_outliers(truth: NDArray[Any]) -> tuple[NDArray[Any], list[str]]:
    """True classes (n,) with -1 in place of names of outliers, and a note if there are any.

    >>> mark_outliers(np.array(["a", "Outlier"]))[0]
    array(['a', -1], dtype=object)
    """
    if truth.dtype.kind != "U":
        return truth, []
    apart = np.isin(np.char.lower(truth), OUTLIER_CLASSES)
    if not apart.any():
        return truth, []
    note = f"{apart.sum()} of {len(truth)} rows have the true class {shown(truth[apart][0])}: scores leave them out"
    marked = truth.astype(object)
    marked[apart] = -1
    return marked, [note]


def _is_usual(value: Any, number: int) -> bool:
    return not isinstance(value, str | bytes) or _text(value) in (str(number), f"{number}.0")


def _text(value: Any) -> str:
    return (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)).strip()


def _tables(X: Any, options: OpenOptions) -> list[StoredTable]:
    if isinstance(X, list | tuple) and not X:
        raise InputError("no file was named: name at least one.")
    tables = stored_tables(X, options)
    if tables is not None:
        return tables
    if isinstance(X, np.ndarray) and not isinstance(X, np.ma.MaskedArray):
        table = HeldTable("X", X.shape, lambda: X, max(options.memory_limit, 2 * X.size * 8))
        table.count_from = options.count_from
        return [table]
    raise UserTypeError(f"X is {type(X).__name__}, not a table: pass paths of files, a dataframe or a NumPy array.")


def _held(rows: RowSource, memory_limit: int) -> NDArray[Any] | RowSource:
    """The rows as an array if they fit into memory."""
    assert rows.n_rows is not None
    fits = rows.n_rows * rows.n_columns * rows.dtype.itemsize <= memory_limit // HELD_SHARE
    return in_memory(rows) if fits else rows


def _beside(tables: Sequence[StoredTable], name: Any, what: str, memory_limit: int) -> NDArray[Any] | None:
    """Names or true classes (n,) from another array of the same file, or from an .npy file of their own."""
    if not isinstance(name, str):
        return None
    path = Path(name).expanduser()
    if path.suffix.lower() == ".npy" and path.is_file():
        # Rows of text are not counted yet: `_check_entries` compares the lengths later.
        return npy.array_in(path).read(memory_limit).ravel()
    first = tables[0].beside(name, memory_limit)
    if first is None:
        return None
    parts = [first, *(table.beside(name, memory_limit) for table in tables[1:])]
    for table, part in zip(tables, parts, strict=True):
        if part is None:
            raise UnreadableError(f"{table.path} has no array {name!r} ({what}), but {tables[0].path} has.")
        if part.size != table.n_rows:
            raise UnreadableError(
                f"{table.path}, array {name!r} has {part.size} entries for {table.n_rows} rows ({what}): name one of "
                "that length; if columns are the points, transpose the array of rows."
            )
    return np.concatenate([part for part in parts if part is not None])


def _check_entries(beside: dict[str, NDArray[Any] | None], given: dict[str, Any], n_rows: int) -> None:
    """Refuse names or true classes from another place that are not one for each row."""
    for what, values in beside.items():
        if values is not None and len(values) != n_rows:
            raise UnreadableError(
                f"{given[what]} has {len(values)} entries for {n_rows} rows ({what}): name one of that length."
            )


def _known(
    tables: Sequence[StoredTable],
    selected: Selected,
    beside: dict[str, NDArray[Any] | None],
    memory_limit: int,
    kept: Indices | None,
) -> tuple[NDArray[Any] | None, list[str] | None]:
    """True classes (n,) and names of the rows `kept`; a note about outliers is added to those of `selected`."""
    found: list[NDArray[Any] | None] = []
    for what, places in (("truth", selected.truth), ("names", selected.row_names)):
        if places is None:
            found.append(beside[what])
        else:
            cells = [table.cells(at, memory_limit) for table, at in zip(tables, places, strict=True)]
            found.append(np.concatenate(cells))
    if kept is not None:
        found = [None if values is None else np.asarray(values)[kept] for values in found]
    truth_values, names = found
    if names is not None and names.dtype.kind not in "US":
        names = as_truth(names)
    if truth_values is not None:
        truth_values, notes = mark_outliers(as_truth(truth_values))
        selected.notes.extend(notes)
    return truth_values, None if names is None else list(map(_name, names))


def _name(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _check_images(columns: Any, drop: Any, truth: Any, names: Any) -> None:
    for what, value in (("columns", columns), ("drop", drop), ("names", names)):
        if value is not None:
            raise InputError(f"{what} is for tables, but images have pixels and file names: leave it out.")
    if truth not in (None, FOLDER):
        raise InputError(f'truth={truth!r} is not available for images: use "{FOLDER}", the names of their folders.')


def _check_missing(missing: Any) -> None:
    """Refuse what is neither one of the words nor an array, before anything is read."""
    if isinstance(missing, str) or np.ndim(missing) == 0:
        check_option("missing", missing, ("error", "drop", "mean"))


def _filling(missing: str | ArrayLike, columns: tuple[str, ...]) -> str | NDArray[np.float64]:
    """The word, or given values (p,) for empty cells, one for each column."""
    if isinstance(missing, str):
        return missing
    try:
        values = np.asarray(missing, np.float64)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != (len(columns),) or not np.isfinite(values).all():
        raise InputError(
            f"missing has {values.size} values to fill in, and the rows have {len(columns)} columns: give one number "
            "for each column.",
            parameter="missing",
        )
    return values


def _lengths(name: str, value: Any, counts: tuple[int, ...]) -> tuple[int, ...]:
    wanted = f"(height, width){' or (height, width, 3)' * (3 in counts)}"
    if isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray):
        raise UserTypeError(f"{name}={value!r} must be {wanted}.")
    lengths = tuple(check_integer(name, length, low=1, hint="give height and width") for length in value)
    if len(lengths) not in counts or (len(lengths) == 3 and lengths[2] != 3):
        raise InputError(f"{name}={lengths} must be {wanted}.")
    return lengths


def _image_shape(table: StoredTable, selected: Selected) -> tuple[int, ...] | None:
    """The shape of the image that each row is, if the table says so and all its columns are read."""
    shape = table.row_shape
    is_image = len(shape) == 2 or (len(shape) == 3 and shape[2] == 3)
    return shape if is_image and selected.columns == table.column_names else None


def _checked_shape(
    shape: tuple[int, ...] | None, found: tuple[int, ...] | None, n_columns: int
) -> tuple[int, ...] | None:
    """The shape of images that the caller gave, if rows can have it, or the one that was `found`."""
    if shape is None:
        return found
    pixels = int(np.prod(shape))
    if pixels != n_columns:
        raise InputError(
            f"image_shape={shape} is {pixels} pixels, but rows have {n_columns} columns: give the shape of one row.",
            parameter="image_shape",
        )
    if found is not None and found != shape:
        raise InputError(
            f"image_shape={shape} is not the shape of the images, {found}: leave it out.", parameter="image_shape"
        )
    return shape
