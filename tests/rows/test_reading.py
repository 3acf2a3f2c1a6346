"""Only the exceptions of a library that reads a file are errors of the file; other exceptions are bugs."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from scipy.io import savemat

from subspaces import open_rows
from subspaces._core.errors import UserError
from subspaces.inputs import read_table
from subspaces.rows import formats
from subspaces.rows.formats import FORMATS
from subspaces.rows.reading import read_each, reading

ROWS = np.arange(12.0).reshape(6, 2)


class BugError(KeyError):
    """An exception that no library raises, of a kind that some do."""


def write(module, folder):
    """A file of ROWS in one format."""
    path = folder / f"rows{next(each.suffixes[0] for each in FORMATS if each.module == module)}"
    if module == "text":
        path.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in ROWS))
    elif module == "npy":
        np.save(path, ROWS)
    elif module == "npz":
        np.savez(path, x=ROWS)
    elif module == "mat":
        savemat(path, {"x": ROWS})
    elif module == "parquet":
        pq.write_table(pa.table({"a": ROWS[:, 0], "b": ROWS[:, 1]}), path)
    elif module == "hdf5":
        with pytest.importorskip("h5py").File(path, "w") as file:
            file["x"] = ROWS
    elif module == "zarr":
        pytest.importorskip("zarr").save_array(path, ROWS)
    elif module == "excel":
        pd.DataFrame(ROWS, columns=["a", "b"]).to_excel(path, index=False)
    else:
        Image.fromarray(ROWS.astype(np.uint8)).save(path)
    return path


@pytest.mark.parametrize("module", [each.module for each in FORMATS])
def test_an_error_of_the_caller_between_blocks_is_not_one_of_the_file(module, tmp_path):
    blocks = open_rows(write(module, tmp_path), block_rows=1).blocks()
    next(blocks)
    with pytest.raises(BugError):
        blocks.throw(BugError("a bug in the caller"))


@pytest.mark.parametrize(
    ("module", "function"),
    [("npy", "columns_at"), ("hdf5", "columns_at"), ("zarr", "columns_at"), ("arrow", "as_floats")],
)
def test_a_bug_while_rows_are_converted_is_not_an_error_of_the_file(module, function, tmp_path, monkeypatch):
    def fail(*arguments):
        raise BugError("a bug")

    source = open_rows(write("parquet" if module == "arrow" else module, tmp_path))
    monkeypatch.setattr(f"subspaces.rows.formats.{module}.{function}", fail)
    with pytest.raises(BugError):
        list(source.blocks())
    with pytest.raises(BugError):
        source.take([0, 1])


def test_a_bug_while_a_dataframe_is_converted(monkeypatch):
    def fail(*arguments):
        raise BugError("a bug")

    monkeypatch.setattr("subspaces.rows.formats.arrow.as_floats", fail)
    with pytest.raises(BugError):
        list(open_rows(pd.DataFrame(ROWS, columns=["a", "b"])).blocks())


def test_errors_of_the_library_name_the_file():
    with (
        pytest.raises(UserError, match=r"x\.dat is damaged, or not a DAT file: 'gone'"),
        reading("x.dat", "DAT", KeyError),
    ):
        raise KeyError("gone")
    with pytest.raises(IndexError), reading("x.dat", "DAT", KeyError):
        raise IndexError
    items = read_each(iter([1, 2]), "x.dat", "DAT", KeyError)
    assert next(items) == 1
    with pytest.raises(KeyError):
        items.throw(KeyError("of the caller"))


def test_every_format_is_documented():
    for text in (open_rows.__doc__, read_table.__doc__):
        words = " ".join(text.split())
        for each in FORMATS:
            assert each.title.removesuffix(" and other text") in words
    assert all(each.title in formats.READABLE and each.title in formats.TITLES for each in FORMATS)
    assert all((each.title in formats.KEYED) == each.takes_key for each in FORMATS)
