"""Sheets of workbooks are tables like text files."""

import datetime
import subprocess
import sys
import zipfile

import memory
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


PARTS = {
    "[Content_Types].xml": (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Override PartName="/xl/workbook.xml" ContentType="application/'
        'vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
    ),
    "_rels/.rels": (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
        'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
        '<sheets><sheet name="s" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
        'Target="worksheets/sheet1.xml"/></Relationships>'
    ),
    "xl/sharedStrings.xml": (
        '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>{text}</t></si></sst>'
    ),
    "xl/worksheets/sheet1.xml": (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData>'
        "</worksheet>"
    ),
}


def workbook(path, rows, text=""):
    """A workbook of one sheet, with the XML of its rows."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in PARTS.items():
            archive.writestr(name, content.replace("{rows}", rows).replace("{text}", text))
    return path


class TestMemory:
    """Workbooks of some kilobytes that take gigabytes."""

    ROWS = (
        '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>',
        '<row r="1"><c r="A1"><v>1</v></c></row><row r="100000"><c r="CV100000"><v>2</v></c></row>',
        "".join(f'<row r="{i}"><c r="A{i}" t="s"><v>0</v></c></row>' for i in range(1, 1001)),
    )

    @pytest.mark.parametrize("rows", ROWS, ids=["all cells", "many cells", "long text"])
    def test_refused(self, rows, tmp_path):
        path = workbook(tmp_path / "x.xlsx", rows, "x" * 10**6)
        message, grown = memory.reading(path, memory_limit="64MB")
        assert grown < 100
        assert "x.xlsx does not fit into memory_limit=0.064GB, or is damaged" in message

    def test_honest_rows(self, tmp_path):
        rows = "".join(f'<row r="{i}"><c r="A{i}"><v>{i}</v></c></row>' for i in range(1, 20_001))
        assert read_table(workbook(tmp_path / "x.xlsx", rows), memory_limit="64MB").n_rows == 20_000


@pytest.mark.parametrize("content", [b"PK\x03\x04 and so on", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)])
def test_damaged(content, tmp_path):
    (tmp_path / "x.xlsx").write_bytes(content)
    with pytest.raises((ValueError, OSError), match=r"x\.xlsx .*damaged"):
        read_table(tmp_path / "x.xlsx")


def test_nothing_of_the_current_folder_is_imported(tmp_path):
    path = workbook(tmp_path / "x.xlsx", '<row r="1"><c r="A1"><v>1</v></c></row>')
    (tmp_path / "json.py").write_text("open('ran', 'w')")
    code = (
        "import sys; folder = sys.path.pop(0); import subspaces.inputs; sys.path.insert(0, folder); "
        f"print(subspaces.inputs.read_table({str(path)!r}).n_rows)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "1\n"
    assert not (tmp_path / "ran").exists()
