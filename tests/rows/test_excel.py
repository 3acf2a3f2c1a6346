"""Sheets of workbooks are tables like text files."""

import datetime

import numpy as np
import pandas as pd
import pytest

from subspaces.inputs import read_table

FRAME = pd.DataFrame(
    {
        "name": ["p", "q", "r"],
        "x": [1.5, 2, 3],
        "y": [4, 5, 6],
        "flag": [True, False, True],
        "day": [datetime.date(2020, 1, day) for day in (1, 2, 3)],
    }
)


def test_a_sheet(tmp_path):
    FRAME.to_excel(tmp_path / "rows.xlsx", index=False)
    table = read_table(tmp_path / "rows.xlsx", names="name")
    assert table.columns == ("x", "y", "flag")
    np.testing.assert_array_equal(table.rows, [[1.5, 4, 1], [2, 5, 0], [3, 6, 1]])
    assert table.row_names == ("p", "q", "r")
    assert "'day' (text)" in table.notes[0]
    np.testing.assert_array_equal(read_table(tmp_path / "rows.xlsx", columns=[2, 1]).rows, [[4, 1.5], [5, 2], [6, 3]])


def test_without_a_header(tmp_path):
    FRAME[["x", "y"]].to_excel(tmp_path / "rows.xlsx", index=False, header=False)
    table = read_table(tmp_path / "rows.xlsx")
    assert table.columns == ("column 0", "column 1")
    assert table.rows.tolist() == [[1.5, 4], [2, 5], [3, 6]]


def test_key_names_a_sheet(tmp_path):
    with pd.ExcelWriter(tmp_path / "rows.xlsx") as book:
        FRAME[["x", "y"]].to_excel(book, sheet_name="one", index=False)
        FRAME[["y", "x"]].to_excel(book, sheet_name="two", index=False)
    with pytest.raises(ValueError, match=r"several sheets: name one with key=...; it has one, two"):
        read_table(tmp_path / "rows.xlsx")
    assert read_table(tmp_path / "rows.xlsx", key="two").columns == ("y", "x")
    with pytest.raises(ValueError, match=r"no sheet key='three': it has one, two"):
        read_table(tmp_path / "rows.xlsx", key="three")


def test_missing_and_wrong_cells_are_named(tmp_path):
    frame = FRAME[["x", "y"]].astype(object)
    frame.loc[1, "y"] = None
    frame.to_excel(tmp_path / "rows.xlsx", index=False)
    with pytest.raises(ValueError, match=r"1 value is missing, .*sheet 'Sheet1', row 3, column 'y'"):
        read_table(tmp_path / "rows.xlsx")
    frame.loc[1, "y"] = "abc"
    frame.to_excel(tmp_path / "rows.xlsx", index=False)
    with pytest.raises(ValueError, match="row 3, column 'y': 'abc' is not a number"):
        read_table(tmp_path / "rows.xlsx")


def test_an_empty_workbook(tmp_path):
    pd.DataFrame().to_excel(tmp_path / "rows.xlsx", index=False)
    with pytest.raises(ValueError, match="holds no rows"):
        read_table(tmp_path / "rows.xlsx")
