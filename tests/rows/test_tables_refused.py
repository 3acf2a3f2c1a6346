"""Files and options that `read_table` refuses, each with an error of one line."""

import gzip
import io
import sys
import warnings
import zipfile

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io
import zarr
from PIL import Image

from subspaces.inputs import read_table

GOOD = "a,b,c\n1,2,3\n4,5,6\n7,8,9\n"
ROWS = np.arange(12.0).reshape(4, 3)


def text(content, name="rows.csv", encoding="utf-8"):
    """A function that writes a file into a folder and returns its path."""

    def write(folder):
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return folder / name

    return write


def made(name, save):
    """The same by a function of the path."""

    def write(folder):
        save(folder / name)
        return folder / name

    return write


def npy(values):
    return made("rows.npy", lambda path: np.save(path, values, allow_pickle=True))


def npz(**arrays):
    return made("rows.npz", lambda path: np.savez(path, **arrays))


def mat(**arrays):
    return made("rows.mat", lambda path: scipy.io.savemat(path, arrays))


def parquet(**columns):
    return made("rows.parquet", lambda path: pd.DataFrame(columns).to_parquet(path, index=False))


def hdf5(**arrays):
    def save(path):
        with h5py.File(path, "w") as file:
            for name, values in arrays.items():
                file[name] = values

    return made("rows.h5", save)


def images(**sizes):
    def write(folder):
        for name, size in sizes.items():
            Image.new("L", size).save(folder / f"{name}.png")
        return folder

    return write


def cut(write, share=0.6):
    """A file that ends too early."""

    def shorter(folder):
        path = write(folder)
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
        return path

    return shorter


def png():
    stream = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 40)).astype(np.uint8)).save(stream, "png")
    return stream.getvalue()


def workbook():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    return stream.getvalue()


def two(folder):
    (folder / "1.csv").write_text(GOOD)
    (folder / "2.csv").write_text("a,b,d\n1,2,3\n4,5,6\n")
    return [folder / "1.csv", folder / "2.csv"]


def two_widths(folder):
    (folder / "1.csv").write_text(GOOD)
    (folder / "2.csv").write_text("1,2\n3,4\n")
    return [folder / "1.csv", folder / "2.csv"]


def two_kinds(folder):
    (folder / "1.csv").write_text(GOOD)
    np.save(folder / "2.npy", ROWS)
    return [folder / "1.csv", folder / "2.npy"]


def image_and_table(folder):
    Image.new("L", (2, 2)).save(folder / "1.png")
    return [folder / "1.png", *two(folder)]


def two_npz(folder):
    np.savez(folder / "1.npz", X=ROWS, y=np.arange(4))
    np.savez(folder / "2.npz", X=ROWS)
    return [folder / "1.npz", folder / "2.npz"]


def empty_folder(folder):
    (folder / "empty").mkdir()
    return folder / "empty"


def dangling(folder):
    (folder / "rows.csv").symlink_to(folder / "gone.csv")
    return folder / "rows.csv"


def huge_array(path):
    """An archive that tells of an array of a terabyte and holds nothing of it."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 100)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", stream.getvalue())


REFUSED = {
    # Files of text.
    "empty": (text(""), {}, "is empty, 0 bytes"),
    "blank lines": (text("\n\n  \n"), {}, "holds no rows"),
    "a mark alone": (text("", encoding="utf-16"), {}, "holds no rows"),
    "header only": (text("a,b,c\n"), {}, "holds a header and no rows"),
    "comments only": (text("# nothing\n# at all\n"), {}, "holds no rows"),
    "short line": (text("a,b,c\n1,2,3\n4,5\n7,8,9\n"), {}, "line 3: 2 cells instead of 3"),
    "long line": (text("a,b,c\n1,2,3\n4,5,6,7\n7,8,9\n"), {}, "line 3: 4 cells instead of 3 .*correct the line"),
    "long header": (text("a,b,c,d,e\n1,2,3\n4,5,6\n"), {}, "a header of 5 names above rows of 3 cells"),
    "open quote": (text('a,b\n1,2\n"3,4\n5,6\n'), {}, "line 3: a quoted cell that begins here does not end"),
    "quote alone": (text('"'), {}, "quote"),
    "stray quote": (text('a,b\n1,2\n"3"x,4\n5,6\n'), {}, "line 3: a cell is not quoted correctly"),
    "NUL bytes": (text(b"a,b\n1,2\n3,\x004\n"), {}, "a NUL byte in line 3"),
    "UTF-16 without mark": (text(GOOD, encoding="utf-16-le"), {}, "NUL byte in line 1"),
    "UTF-16 cut short": (text(GOOD.encode("utf-16")[:-1]), {}, "damaged"),
    "workbook": (text(workbook()), {}, "is an Excel workbook or a zip archive, not text: save it as text"),
    "image as csv": (text(png()), {}, "is an image, not text"),
    "npy as csv": (text(b"\x93NUMPY\x01\x00"), {}, "is an .npy file, not text"),
    "damaged gzip": (
        text(gzip.compress(GOOD.encode())[:-9], "rows.csv.gz"),
        {},
        "rows.csv.gz cannot be read as text",
    ),
    "no gzip": (
        cut(text(gzip.compress(GOOD.encode() * 9), "rows.csv.gz")),
        {},
        "rows.csv.gz cannot be read as text",
    ),
    "text among numbers": (text("a,b\n1,2\n3,x\n5,6\n"), {}, "line 3, column 'b': 'x' is not a number .1 of 3"),
    "control characters": (text("a,b\n1,2\n3,x\x1b[31m\n5,6\n"), {}, r"'x\\x1b\[31m' is not a number"),
    "long cell": (text(f"a,b\n1,2\n3,{'x' * 9999}\n5,6\n"), {}, r"'x{37}\.\.\.' is not a number"),
    "decimal points and commas": (
        text("a;b\n1,5;2\n1.234;3\n2,5;4\n"),
        {},
        "line 3, column 'a': '1.234' is not",
    ),
    "text only": (text("a,b\nx,y\nz,w\n"), {}, "has no column that holds numbers: it has 'column 0' .text."),
    "missing": (
        text("a,b\n1,2\n,4\n5,NA\n"),
        {},
        "2 values are missing, .*line 3, column 'a'.*missing=.drop",
    ),
    "nothing but missing rows": (text("a,b\n1,\n,2\n"), {"missing": "drop"}, "all 2 rows have"),
    "infinite": (text("a,b\n1,2\n3,inf\n5,6\n"), {"missing": "drop"}, "line 3, column 'b' holds an infinite value"),
    "infinite by its digits": (text("a,b\n1,2\n3,1e999\n5,-inf\n"), {}, r"line 3.*infinite value \(and 1 more"),
    "huge": (text("a,b\n1,2\n3,-1e200\n"), {}, "line 3, column 'b' holds -1e[+]200, whose square overflows float64"),
    "endless line": (text("1," * 2**22), {"memory_limit": "32MB"}, "has a line of more than"),
    # Columns.
    "unknown column": (text("width,height\n1,2\n"), {"columns": "widht"}, "no column 'widht' .*did you mean 'width'?"),
    "unknown, nothing near": (text(GOOD), {"drop": ["quite else"]}, "no column 'quite else' .*it has 'a', 'b', 'c'"),
    "number too large": (text(GOOD), {"columns": [3]}, "columns=3 is outside of .*numbered from 0 to 2"),
    "number too small": (text(GOOD), {"columns": [-4]}, "columns=-4 is outside"),
    "numbers of the command line": (text(GOOD), {"columns": "2-3"}, "has no column '2-3' .columns."),
    "names in one text": (text(GOOD), {"columns": "a,b"}, "has no column 'a,b' .columns."),
    "no entries": (text(GOOD), {"columns": []}, "at least one column"),
    "an empty range": (text(GOOD), {"columns": slice(3, None)}, "at least one column"),
    "a switch for columns": (text(GOOD), {"columns": True}, "must hold names, or numbers counted from 0"),
    "a fraction for columns": (text(GOOD), {"columns": [1.5]}, "must hold names"),
    "nothing left": (text(GOOD), {"drop": range(3)}, "has no column left"),
    "text asked for": (text("n,a\nx,1\ny,2\n"), {"columns": ["n", "a"]}, "column 'n' does not hold numbers .text."),
    "unknown truth": (text(GOOD), {"truth": "class"}, "no column 'class' .truth."),
    "several truths": (text(GOOD), {"truth": ["a", "b"]}, "must be the name of one column"),
    "a fraction for truth": (text(GOOD), {"truth": 1.5}, "truth='1.5' must be the name of one column"),
    "truth is a row, too": (text(GOOD), {"truth": "a", "columns": ["a", "b"]}, "column 'a' is chosen both"),
    "unknown names": (text(GOOD), {"names": "id"}, "no column 'id' .names."),
    "key of text": (text(GOOD), {"key": "X"}, "key='X' names an array"),
    # Wishes.
    "unknown missing": (text(GOOD), {"missing": "zero"}, "missing='zero' is not known"),
    "image shape of text": (text(GOOD), {"image_shape": (2, 2)}, "is 4 pixels, but rows have 3 columns"),
    "image shape of one": (text(GOOD), {"image_shape": (3,)}, "must be .height, width."),
    "image shape as text": (text(GOOD), {"image_shape": "3x1"}, "must be .height, width."),
    "image shape of none": (text(GOOD), {"image_shape": (0, 3)}, "must be at least 1"),
    "image size of text": (text(GOOD), {"image_size": (2, 2)}, "is for images"),
    "little memory": (text(GOOD), {"memory_limit": "1MB"}, "at least 32 MB"),
    "strange memory": (text(GOOD), {"memory_limit": "much"}, "is not an amount of memory"),
    # Paths.
    "no path": (lambda folder: [], {}, "no file was named"),
    "a number as path": (lambda folder: [3], {}, "X is list, not a table"),
    "gone": (lambda folder: folder / "rows.csv", {}, "does not exist"),
    "dangling link": (dangling, {}, "does not exist"),
    "pattern": (lambda folder: str(folder / "*.csv"), {}, "matches no file"),
    "address": (lambda folder: "https://example.org/rows.csv", {}, "is an address"),
    "unknown ending": (text("x", "rows.xyz"), {}, "'.xyz', which is not known: convert it to one of CSV"),
    "no ending": (text("x", "rows"), {}, "has no suffix"),
    "no workbook": (text("x", "rows.xlsx"), {}, "rows.xlsx is damaged, or not a workbook"),
    "pickle": (text("x", "rows.pkl"), {}, "a pickle can run code"),
    "empty folder": (empty_folder, {}, "a folder without images or tables"),
    "other columns": (two, {}, "2.csv and .*1.csv differ in column 'c'"),
    "other width": (two_widths, {}, "2.csv has 2 columns, but .*1.csv has 3"),
    "a folder of two formats": (lambda folder: two_kinds(folder)[0].parent, {}, "files of several formats"),
    "an image and a table": (image_and_table, {}, "are an image and a table: read one kind at a time"),
    # Arrays.
    "no npy": (text("x", "rows.npy"), {}, "rows.npy"),
    "empty npy": (text("", "rows.npy"), {}, "is empty"),
    "npy cut short": (cut(npy(ROWS)), {}, "rows.npy"),
    "vector": (npy(np.arange(3.0)), {}, r"shape \(3,\), but rows and columns are needed"),
    "number": (npy(np.float64(3)), {}, "rows and columns are needed"),
    "no rows": (npy(np.empty((0, 3))), {}, "no rows"),
    "no columns": (npy(np.empty((3, 0))), {}, "no columns"),
    "words": (npy(np.array([["a", "b"]])), {}, "not real numbers"),
    "complex": (npy(np.ones((2, 2), complex)), {}, "complex numbers"),
    "objects": (npy(np.array([[1, None]], object)), {}, "rows.npy"),
    "structured": (npy(np.zeros(3, [("a", float)])), {}, "rows and columns are needed"),
    "NaN in npy": (npy(np.array([[1, np.nan]])), {}, "1 value is missing, .*row 1, column 'column 1'"),
    "all NaN": (npy(np.array([[1, np.nan], [2, np.nan]])), {"missing": "mean"}, "'column 1' has no values"),
    "infinite in npy": (npy(np.array([[1, -np.inf]])), {"missing": "mean"}, "row 1, column 'column 1' .*infinite"),
    "huge float32": (npy(np.array([[1, 1e25]], np.float32)), {}, "1e[+]25, whose square overflows float32"),
    "name of no column": (npy(ROWS), {"columns": "width"}, "no column 'width' .*'column 0'"),
    "key of npy": (npy(ROWS), {"key": "X"}, "leave it out"),
    "no npz": (text("x", "rows.npz"), {}, "rows.npz is damaged"),
    "npz cut short": (cut(npz(X=ROWS)), {}, "rows.npz is damaged"),
    "several arrays": (npz(X=ROWS, Z=ROWS), {}, "several arrays: name the one that holds the rows with key=.*'X' 4x3"),
    "unknown key": (npz(X=ROWS), {"key": "Y"}, "has no array key='Y': it has 'X' 4x3"),
    "key is a number": (npz(X=ROWS), {"key": 3}, "key=3 must be the name"),
    "no array": (npz(), {}, "no array"),
    "no table": (npz(y=np.arange(3)), {}, "has no array of rows and columns"),
    "objects in npz": (npz(X=np.array([[1, None]], object)), {}, "array 'X', holds Python objects"),
    "objects by key": (npz(X=np.array([[1, None]], object)), {"key": "X"}, "array 'X', holds Python objects"),
    "vector by key": (npz(X=ROWS, y=np.arange(4)), {"key": "y"}, r"shape \(4,\), but rows and columns are needed"),
    "truth of another length": (npz(X=ROWS, y=np.arange(3)), {"truth": "y"}, "3 entries for 4 rows .truth."),
    "truth in the first file only": (two_npz, {"truth": "y"}, "2.npz has no array 'y' .truth."),
    "array of a terabyte": (made("rows.npz", huge_array), {}, "do not fit into half of memory_limit=1.0GB"),
    "no mat": (text("x" * 200, "rows.mat"), {}, "rows.mat is damaged"),
    "mat cut short": (cut(mat(X=ROWS)), {}, "rows.mat"),
    "mat of words": (mat(X=np.array(["a", "b"], object)), {}, "no array of rows and columns"),
    "mat 7.3 of nothing": (text(b"MATLAB 7.3 MAT-file" + b" " * 500, "rows.mat"), {}, "rows.mat"),
    "no parquet": (text("x", "rows.parquet"), {}, "rows.parquet"),
    "parquet cut short": (cut(parquet(a=[1.0] * 99)), {}, "rows.parquet"),
    "parquet of words": (parquet(a=["x"], b=["y"]), {}, "has no column that holds numbers"),
    "words asked for": (parquet(a=["x"], b=[1]), {"columns": "a"}, "column 'a' does not hold numbers"),
    "NaN in parquet": (parquet(a=[1.0, None]), {}, "1 value is missing, .*row 2, column 'a'"),
    "no hdf5": (text("x", "rows.h5"), {}, "rows.h5"),
    "hdf5 of two": (hdf5(X=ROWS, Z=ROWS), {}, "several arrays"),
    "hdf5 of none": (hdf5(y=np.arange(3)), {}, "no array of rows and columns"),
    "no zarr": (made("rows.zarr", lambda path: path.mkdir()), {}, "rows.zarr"),
    "zarr of none": (made("rows.zarr", lambda path: zarr.open_group(path, mode="w")), {}, "rows.zarr"),
    # Images.
    "no image": (text("x", "0.png"), {}, "0.png cannot be read as image"),
    "empty image": (text("", "0.png"), {}, "is empty"),
    "image cut short": (text(png()[:-900], "0.png"), {}, "0.png"),
    "sizes": (images(a=(3, 4), b=(3, 5)), {}, "b.png is 5x3 pixels, but .*a.png is 4x3 .*image_size=.4, 3."),
    "columns of images": (images(a=(3, 4)), {"columns": "1-3"}, "columns is for tables"),
    "names of images": (images(a=(3, 4)), {"names": "1"}, "names is for tables"),
    "truth of images": (images(a=(3, 4)), {"truth": "kind"}, 'use "folder"'),
    "no folders": (images(a=(3, 4)), {"truth": "folder"}, "is not in a folder below"),
    "shape of images": (images(a=(3, 4)), {"image_shape": (3, 4)}, r"is not the shape of the images, \(4, 3\)"),
    "size of three": (images(a=(3, 4)), {"image_size": (3, 4, 3)}, "must be .height, width."),
    "size of words": (images(a=(3, 4)), {"image_size": ("a", "b")}, "must be a whole number"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_line(case, tmp_path):
    write, options, message = REFUSED[case]
    paths = write(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((ValueError, TypeError, OSError, ImportError), match=message) as caught:
            read_table(paths, **options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


PACKAGES = {
    "pyarrow.parquet": ("rows.parquet", "pip install pyarrow"),
    "pyarrow.csv": ("rows.csv", "pip install pyarrow"),
    "h5py": ("rows.h5", r"pip install 'subspaces\[io\]'"),
    "zarr": ("rows.zarr", r"pip install 'subspaces\[io\]'"),
    "python_calamine": ("rows.xlsx", r"package python-calamine: pip install 'subspaces\[io\]'"),
}


@pytest.mark.parametrize("module", PACKAGES)
def test_a_package_that_is_not_installed(module, tmp_path, monkeypatch):
    name, remedy = PACKAGES[module]
    path = tmp_path / name
    path.mkdir() if module == "zarr" else path.write_text("1,2\n3,4\n")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=remedy):
        read_table(path)


def test_an_image_that_claims_to_be_enormous(tmp_path, monkeypatch):
    Image.new("L", (40, 40)).save(tmp_path / "0.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(ValueError, match="decompression bomb") as caught:
        read_table(tmp_path)
    assert "\n" not in str(caught.value)
