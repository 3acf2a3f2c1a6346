"""Files of any content, in any place."""

import gzip
import io
import tempfile
import types
from pathlib import Path

import hostile
import numpy as np
import pytest
from hostile import QUICK, RNG, ROWS, VALUES, check_fit, labels_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from subspaces import cli

here = pytest.fixture(autouse=True)(hostile.empty_folder)


class TestArrays:
    NUMBERS = ("bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "longdouble")
    OTHERS = ("complex64", "complex128", "U5", "S5", "O", "M8[D]", "m8[s]", "V8")

    @pytest.mark.parametrize("dtype", NUMBERS + OTHERS)
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_types(self, dtype, order, capsys):
        values = (10 * np.abs(ROWS)).astype(np.int64)
        np.save("rows.npy", np.asarray(values.astype(dtype) if dtype != "V8" else values.view("V8"), order=order))
        check_fit("rows.npy", capsys, *QUICK, n_labels=30 if dtype in self.NUMBERS else None)

    @pytest.mark.parametrize("dtype", [">f8", ">i4", "<f4"])
    def test_byte_orders_give_the_same_labels(self, dtype, capsys):
        values = np.round(10 * ROWS).astype(np.float64)
        np.save("rows.npy", values.astype(dtype))
        np.save("plain.npy", values)
        found = labels_of("rows.npy", capsys, *QUICK)
        assert np.array_equal(found, labels_of("plain.npy", capsys, *QUICK))

    @pytest.mark.parametrize("dtype", [[("a", "f8"), ("b", "f8")], [("a", "f8", (4,))]])
    def test_structured_arrays_are_refused(self, dtype, capsys):
        np.save("rows.npy", np.zeros((30, 4), dtype))
        check_fit("rows.npy", capsys, *QUICK, n_labels=None)

    @pytest.mark.parametrize(
        ("shape", "n_labels"),
        [
            ((0, 4), None),
            ((30, 0), None),
            ((0, 0), None),
            ((), None),
            ((5,), None),
            ((1, 1), None),
            ((1, 4), None),
            ((2, 4), 2),
            ((30, 1), 30),
            ((2, 3, 4), 2),
            ((30, 4, 1), 30),
            ((3, 2000), 3),
        ],
    )
    def test_shapes(self, shape, n_labels, capsys):
        np.save("rows.npy", RNG.standard_normal(shape))
        check_fit("rows.npy", capsys, *QUICK, n_labels=n_labels)

    @pytest.mark.parametrize(
        ("shape", "k", "labels"),
        [
            ((1, 4), "1", {0}),
            ((2, 4), "1", {0}),
            ((30, 1), "1", None),
            ((30, 2), "1", {0}),
            ((5, 300), "1", {0}),
            ((1, 4), "2", None),
            ((2, 4), "2", {0, 1}),
            ((3, 4), "2", {0, 1}),
            ((30, 1), "2", None),
            ((30, 2), "2", {0, 1}),
            ((5, 300), "2", {0, 1}),
            ((1, 4), "auto", {0}),
            ((2, 4), "auto", {0}),
            ((30, 1), "auto", None),
            ((30, 2), "auto", {0}),
            ((5, 300), "auto", {0}),
        ],
    )
    def test_small_shapes_by_the_default_method(self, shape, k, labels, capsys):
        np.save("rows.npy", np.random.RandomState(0).standard_normal(shape))
        check_fit("rows.npy", capsys, "-k", k, n_labels=None if labels is None else shape[0], labels=labels)

    HEADERS = types.MappingProxyType(
        {
            "plain": "{'descr': '<f8', 'fortran_order': False, 'shape': (30, 4), }",
            "negative shape": "{'descr': '<f8', 'fortran_order': False, 'shape': (-30, 4), }",
            "huge shape": "{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000, 4000), }",
            "code": "{'descr': '<f8', 'fortran_order': False, 'shape': (__import__('os').getpid(), 4), }",
        }
    )

    @pytest.mark.parametrize("name", HEADERS)
    def test_headers(self, name, capsys):
        text = self.HEADERS[name].ljust(117).encode() + b"\n"
        Path("rows.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + ROWS.tobytes())
        check_fit("rows.npy", capsys, *QUICK, n_labels=30 if name == "plain" else None)

    def test_a_pickle_is_refused(self, capsys):
        np.save("rows.npy", np.array([{"a": 1}, None], object), allow_pickle=True)
        check_fit("rows.npy", capsys, *QUICK, n_labels=None)


@pytest.mark.parametrize("name", VALUES)
class TestValues:
    METHODS = ("lbf", "kflats", "slbf", "ssc", "sssc", "landmark", "nystrom", "fourier", "kasp")

    def test_by_the_default_method(self, name, capsys):
        rows, labels = VALUES[name]
        np.save("rows.npy", rows)
        check_fit("rows.npy", capsys, "-k", "2", n_labels=None if labels is None else 30, labels=labels)

    def test_by_another_method(self, name, capsys):
        rows, labels = VALUES[name]
        np.save("rows.npy", rows)
        method = self.METHODS[list(VALUES).index(name) % len(self.METHODS)]
        options = ["-k", "2", "--method", method]
        check_fit("rows.npy", capsys, *options, n_labels=None if labels is None else 30, labels=labels)

    @pytest.mark.parametrize("missing", ["drop", "mean"])
    def test_prepared(self, name, missing, capsys):
        rows, labels = VALUES[name]
        np.save("rows.npy", rows)
        kept = None if labels is None else 30
        if name in ("one NaN", "a row of NaN"):
            kept = 29 if missing == "drop" else 30
        # Scaling takes the differences of rows so far away for rounding errors.
        expected = {0} if name == "far from the origin" else labels or {0, 1}
        options = [*QUICK, "--missing", missing, "--standardise", "--pca", "2"]
        check_fit("rows.npy", capsys, *options, n_labels=kept, labels=expected)


# Content of a CSV file by name, with the number of rows that are clustered; None if the file is refused.
TEXTS = {
    "empty": (b"", None),
    "one newline": (b"\n", None),
    "blanks": (b"   \n \n\t\n", None),
    "a head alone": (b"a,b,c\n", None),
    "one cell": (b"5", None),
    "one row": (b"a,b\n1,2\n", None),
    "ragged": (b"a,b\n1,2\n3\n4,5,6\n", None),
    "more cells than heads": (b"a\n1,2\n3,4\n", 2),
    "words alone": (b"a,b\nx,y\nz,w\n", None),
    "words among numbers": (b"a,b\n1,2\n3,four\n5,6\n7,8\n", None),
    "a mark of byte order": (b"\xef\xbb\xbfa,b\n" + b"1,2\n3,4.5\n9,1\n" * 5, 15),
    "UTF-16": (("a,b\n" + "1,2\n3,4.5\n9,1\n" * 5).encode("utf-16"), 15),
    "Latin-1": ("größe,b\n1,2\n3,4\n5,7\n".encode("latin-1"), 3),
    "zero bytes": (b"a,b\n1,\0\n3,4\n", None),
    "all zero bytes": (b"\0" * 4000, None),
    "random bytes": (np.random.RandomState(1).bytes(3000), None),
    "CRLF": (b"a,b\r\n" + b"1,2\r\n3,4.5\r\n9,1\r\n" * 5, 15),
    "CR": (b"a,b\r1,2\r3,4.5\r9,1\r", 3),
    "a quote that never ends": (b'a,b\n1,"2\n3,4\n5,6\n', None),
    "quotes within": (b'"a ""x""",b\n1,2\n3,4\n5,7\n', 3),
    "semicolons and commas": (b"a;b\n1,5;2,5\n3,1;4,2\n5,3;1,1\n", 3),
    "tabs": (b"a\tb\n1\t2\n3\t4\n5\t7\n", 3),
    "numbers beyond floats": (b"a,b\n1e400,2\n3,-1e999\n5,6\n", None),
    "words for numbers": (b"a,b\ninf,2\n-Infinity,nan\n5,6\n", None),
    "no value": (b"a,b\nNA,2\n,4\nnull,6\n", 3),
    "a long line": (b",".join([b"1"] * 3000) + b"\n" + b",".join([b"2"] * 3000) + b"\n", 2),
    "a long cell": (b"a,b\n" + b"9" * 200000 + b",2\n3,4\n", None),
    "the same head twice": (b"a,a\n1,2\n3,4\n5,7\n", 3),
    "heads without names": (b",\n1,2\n3,4\n5,7\n", None),
    "no head": (b"1,2\n3,4\n5,7\n1,1\n", 4),
    "remarks": (b"# made by hand\na,b\n1,2\n3,4\n5,7\n", 3),
    "dates": (b"day,b\n2020-01-01,2\n2020-01-02,4\n2020-01-03,7\n", 3),
    "formulas": (b'a,b\n=1+1,2\n"=cmd|x",4\n@5,7\n', 3),
    "other digits": ("a,b\n١,٢\n٣,٤\n".encode(), 2),
    "escapes of a terminal": (b"\x1b[31ma,b\n1,x\x1b[0m\n3,4\n", 2),
    "JSON": (b'{"a": [1, 2, 3]}', None),
    "HTML": (b"<!doctype html><html><body>404</body></html>", None),
    "hexadecimal": (b"a,b\n0x10,0b11\n0x20,1_000\n5,7\n", None),
}


class TestText:
    @pytest.mark.parametrize("name", TEXTS)
    def test_csv(self, name, capsys):
        content, n_labels = TEXTS[name]
        Path("rows.csv").write_bytes(content)
        check_fit("rows.csv", capsys, *QUICK, n_labels=n_labels)

    @pytest.mark.parametrize("name", ["empty", "words alone", "random bytes", "CRLF", "zero bytes", "JSON"])
    def test_stdin(self, name, capsys, monkeypatch):
        content, n_labels = TEXTS[name]
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        check_fit("-", capsys, *QUICK, n_labels=n_labels)

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(
        st.lists(
            st.lists(
                st.one_of(
                    st.floats().map(repr),
                    st.integers(-(10**25), 10**25).map(str),
                    st.sampled_from(["", "NA", "?", "x", '"', "1,5", "é", "\x00", "1e999", "-0", " 7 "]),
                ),
                min_size=1,
                max_size=4,
            ).map(",".join),
            max_size=8,
        ).map("\n".join)
    )
    def test_any_text_is_clustered_or_refused(self, capsys, text):
        Path("rows.csv").write_text(text)
        Path("labels.npy").unlink(missing_ok=True)
        capsys.readouterr()
        code = cli.main(["fit", "rows.csv", *QUICK, "--missing", "mean", "--out", "labels.npy"])
        assert code in (0, 2), capsys.readouterr().err
        assert Path("labels.npy").exists() == (code == 0)
        if code == 0:
            assert 2 <= len(np.load("labels.npy")) <= len(text.splitlines())


def contents(kind):
    """A whole file of a kind, as bytes."""
    path = Path(tempfile.mkdtemp()) / f"whole.{kind}"
    if kind == "npy":
        np.save(path, ROWS)
    elif kind == "npz":
        np.savez_compressed(path, X=ROWS)
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(("a,b\n" + "1,2\n3,4.5\n9,1\n" * 50).encode()))
    elif kind == "parquet":
        import pandas

        pandas.DataFrame(ROWS, columns=list("abcd")).to_parquet(path)
    elif kind == "h5":
        import h5py

        with h5py.File(path, "w") as file:
            file["X"] = ROWS
    elif kind == "mat":
        from scipy.io import savemat

        savemat(path, {"X": ROWS})
    elif kind == "png":
        from PIL import Image

        Image.fromarray(np.random.RandomState(0).randint(0, 255, (8, 8)).astype(np.uint8)).save(path)
    content = path.read_bytes()
    path.unlink()
    path.parent.rmdir()
    return content


KINDS = ["npy", "npz", "csv.gz", "parquet", "h5", "mat", "png"]


class TestFormats:
    # Formats without a checksum: a changed number is read as it is.
    UNCHECKED = ("npy", "parquet", "h5", "mat")

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("cut", ["nothing left", "one byte", "a tenth", "half", "all but one"])
    def test_cut_short(self, kind, cut, capsys):
        content = contents(kind)
        sizes = {"nothing left": 0, "one byte": 1, "a tenth": len(content) // 10, "half": len(content) // 2}
        Path(f"rows.{kind}").write_bytes(content[: sizes.get(cut, len(content) - 1)])
        check_fit(f"rows.{kind}", capsys, *QUICK, n_labels=None)

    @pytest.mark.parametrize("kind", KINDS)
    def test_one_byte_is_another(self, kind, capsys):
        content = bytearray(contents(kind))
        # In Parquet, this place is among the values, whichever version of pyarrow has written them.
        content[len(content) // 8 if kind == "parquet" else len(content) // 2] ^= 0xFF
        Path(f"rows.{kind}").write_bytes(content)
        check_fit(f"rows.{kind}", capsys, *QUICK, n_labels=30 if kind in self.UNCHECKED else None)

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("called", ["csv", "npy", "npz", "parquet", "h5", "mat", "png", "zarr", "xlsx", "pkl", ""])
    def test_called_otherwise(self, kind, called, capsys):
        # Content and name fit each other, or the reader looks at the content; one image is one row, and K is 2.
        fitting = {("npy", "npy"): 30, ("npz", "npz"): 30, ("csv.gz", "csv"): 150, ("parquet", "parquet"): 30}
        fitting |= {("h5", "h5"): 30, ("mat", "mat"): 30, ("h5", "mat"): 4}
        name = f"rows.{called}".rstrip(".")
        Path(name).write_bytes(contents(kind))
        check_fit(name, capsys, *QUICK, n_labels=fitting.get((kind, called)))

    @pytest.mark.parametrize("what", ["no store", "empty store", "no chunks", "damaged metadata"])
    def test_zarr(self, what, capsys):
        import zarr

        if what in ("no chunks", "damaged metadata"):
            zarr.save("rows.zarr", ROWS)
            for path in list(Path("rows.zarr").rglob("*")):
                if path.is_file() and (path.name == "zarr.json") == (what == "damaged metadata"):
                    path.write_bytes(b"{")
        elif what == "empty store":
            Path("rows.zarr").mkdir()
        else:
            Path("rows.zarr").write_text("no store")
        check_fit("rows.zarr", capsys, *QUICK, n_labels=None)

    def test_images_of_different_sizes(self, capsys):
        from PIL import Image

        Path("images").mkdir()
        for i, size in enumerate([(8, 8), (8, 8), (9, 7)]):
            Image.fromarray(np.full(size, 10 * i, np.uint8)).save(f"images/{i}.png")
        check_fit("images", capsys, *QUICK, n_labels=None)
        check_fit("images", capsys, *QUICK, "--image-size", "4x4", n_labels=3)
