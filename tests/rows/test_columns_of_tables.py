"""What becomes of columns is the same in text files, Parquet files and dataframes, and notes say it."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from subspaces.inputs import read_table


def as_csv(frame, folder):
    frame.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def as_parquet(frame, folder):
    frame.to_parquet(folder / "rows.parquet")
    return folder / "rows.parquet"


def as_sheet(frame, folder):
    pytest.importorskip("openpyxl")
    frame.to_excel(folder / "rows.xlsx", index=False)
    return folder / "rows.xlsx"


every = pytest.mark.parametrize("make", [as_csv, as_parquet, as_sheet, lambda frame, folder: frame])


@every
class TestTextColumns:
    def test_numbers_that_are_stored_as_text(self, make, tmp_path):
        table = read_table(make(pd.DataFrame({"a": ["1", " 2.5", "3e1"], "b": ["x", "y", "z"]}), tmp_path))
        np.testing.assert_array_equal(table.rows, [[1], [2.5], [30]])
        assert table.notes == ("1 column does not hold numbers and is left out: 'b' (text)",)

    def test_a_cell_that_is_not_a_number_is_named(self, make, tmp_path):
        frame = pd.DataFrame({"a": [*map(str, range(30)), "oops"], "b": np.arange(31.0)})
        with pytest.raises(
            ValueError, match=r"(row 31|line 32|row 32), column 'a': 'oops' is not a number \(1 of 31\)"
        ):
            read_table(make(frame, tmp_path))

    def test_missing_values(self, make, tmp_path):
        frame = pd.DataFrame({"a": ["1", "NA", "3"], "b": np.arange(3.0)})
        table = read_table(make(frame, tmp_path), missing="mean")
        np.testing.assert_array_equal(table.rows[:, 0], [1, 2, 3])


@every
def test_booleans_are_noted(make, tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2, 3], "b": [True, False, True], "c": [False, True, True]})
    table = read_table(make(frame, tmp_path))
    np.testing.assert_array_equal(table.rows[:, 1], [1, 0, 1])
    assert table.notes == ("'b', 'c' hold true and false, which are used as 1 and 0",)
    # Not if they are left out.
    assert read_table(make(frame, tmp_path), columns=["a"]).notes == ()


def test_repeated_names_are_noted(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b,a,a\n1,2,3,4\n5,6,7,9\n")
    for rows in (tmp_path / "rows.csv", pd.read_csv(tmp_path / "rows.csv").set_axis([*"abaa"], axis=1)):
        table = read_table(rows)
        assert table.columns == ("a", "b", "a (2)", "a (3)")
        assert table.notes == ("several columns have the same name: the later ones are called 'a (2)', 'a (3)'",)


def test_blocks_of_text_in_parquet(tmp_path):
    numbers = np.random.default_rng(0).normal(size=25_000).round(3)
    pq.write_table(pa.table({"a": numbers.astype(str), "b": numbers}), tmp_path / "rows.parquet", row_group_size=7000)
    # Too many rows for memory: they are read in blocks.
    table = read_table(tmp_path / "rows.parquet", memory_limit="32MB")
    rows = np.asarray(table.rows if isinstance(table.rows, np.ndarray) else table.rows.take(np.arange(25_000)))
    np.testing.assert_array_equal(rows, np.column_stack([numbers, numbers]))


def test_a_long_cell_that_is_repeated_takes_its_memory_once(tmp_path):
    column = pa.DictionaryArray.from_arrays(np.zeros(4000, np.int32), ["x" * 10**5])
    rows = pa.table({"a": column, "b": np.arange(4000.0)})
    # Without its schema the column is one of text, 400 MB of it.
    pq.write_table(rows, tmp_path / "x.parquet", store_schema=False)
    before, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(pool)
    try:
        table = read_table(tmp_path / "x.parquet")
    finally:
        pa.set_memory_pool(before)
    assert table.columns == ("b",)
    assert pool.max_memory() < 50e6
