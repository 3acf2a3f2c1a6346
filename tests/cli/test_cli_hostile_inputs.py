"""Files of any content, in any place: exit code 0 or 2, one clear line, nothing half-written."""

import errno
import gzip
import io
import os
import socket
import tempfile
from pathlib import Path

import hostile
import numpy as np
import pytest
from hostile import QUICK, RNG, ROWS, VALUES, attempt, fit
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
        ended, _, _ = fit("rows.npy", capsys, *QUICK)
        assert ended == (0 if np.dtype(dtype).kind in "biuf" else 2)

    @pytest.mark.parametrize("dtype", [">f8", ">i4", "<f4", [("a", "f8"), ("b", "f8")], [("a", "f8", (4,))]])
    def test_unusual_layouts(self, dtype, capsys):
        np.save("rows.npy", np.zeros((30, 4), dtype) if isinstance(dtype, list) else ROWS.astype(dtype))
        fit("rows.npy", capsys, *QUICK)

    @pytest.mark.parametrize(
        "shape", [(0, 4), (30, 0), (0, 0), (), (5,), (1, 1), (1, 4), (2, 4), (30, 1), (2, 3, 4), (30, 4, 1), (3, 2000)]
    )
    def test_shapes(self, shape, capsys):
        np.save("rows.npy", RNG.standard_normal(shape))
        fit("rows.npy", capsys, *QUICK)

    @pytest.mark.parametrize("shape", [(1, 4), (2, 4), (3, 4), (30, 1), (30, 2), (5, 300)])
    @pytest.mark.parametrize("k", ["1", "2", "auto"])
    def test_small_shapes_by_the_default_method(self, shape, k, capsys):
        np.save("rows.npy", RNG.standard_normal(shape))
        fit("rows.npy", capsys, "-k", k)

    @pytest.mark.parametrize("name", ["pickled", "version 3 header", "negative shape", "huge shape", "code in header"])
    def test_files_that_lie(self, name, capsys):
        header = {
            "version 3 header": "{'descr': '<f8', 'fortran_order': False, 'shape': (30, 4), }",
            "negative shape": "{'descr': '<f8', 'fortran_order': False, 'shape': (-30, 4), }",
            "huge shape": "{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000, 4000), }",
            "code in header": "{'descr': '<f8', 'fortran_order': False, 'shape': (__import__('os').getpid(), 4), }",
        }
        if name == "pickled":
            np.save("rows.npy", np.array([{"a": 1}, None], object), allow_pickle=True)
        else:
            text = header[name].ljust(117).encode() + b"\n"
            Path("rows.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + ROWS.tobytes())
        fit("rows.npy", capsys, *QUICK, code=0 if name == "version 3 header" else 2)


@pytest.mark.parametrize("name", VALUES)
class TestValues:
    def test_by_the_default_method(self, name, capsys):
        np.save("rows.npy", VALUES[name])
        fit("rows.npy", capsys, "-k", "2")

    def test_by_another_method(self, name, capsys):
        methods = ["lbf", "kflats", "slbf", "ssc", "sssc", "landmark", "nystrom", "fourier", "kasp"]
        np.save("rows.npy", VALUES[name])
        fit("rows.npy", capsys, "-k", "2", "--method", methods[list(VALUES).index(name) % len(methods)])

    @pytest.mark.parametrize("missing", ["drop", "mean"])
    def test_prepared(self, name, missing, capsys):
        np.save("rows.npy", VALUES[name])
        fit("rows.npy", capsys, *QUICK, "--missing", missing, "--standardise", "--pca", "2")


TEXTS = {
    "empty": b"",
    "one newline": b"\n",
    "blanks": b"   \n \n\t\n",
    "a head alone": b"a,b,c\n",
    "one cell": b"5",
    "one row": b"a,b\n1,2\n",
    "ragged": b"a,b\n1,2\n3\n4,5,6\n",
    "more cells than heads": b"a\n1,2\n3,4\n",
    "words alone": b"a,b\nx,y\nz,w\n",
    "words among numbers": b"a,b\n1,2\n3,four\n5,6\n7,8\n",
    "a mark of byte order": b"\xef\xbb\xbfa,b\n" + b"1,2\n3,4.5\n9,1\n" * 5,
    "UTF-16": ("a,b\n" + "1,2\n3,4.5\n9,1\n" * 5).encode("utf-16"),
    "Latin-1": "größe,b\n1,2\n3,4\n5,7\n".encode("latin-1"),
    "zero bytes": b"a,b\n1,\0\n3,4\n",
    "all zero bytes": b"\0" * 4000,
    "random bytes": np.random.RandomState(1).bytes(3000),
    "CRLF": b"a,b\r\n" + b"1,2\r\n3,4.5\r\n9,1\r\n" * 5,
    "CR": b"a,b\r1,2\r3,4.5\r9,1\r",
    "a quote that never ends": b'a,b\n1,"2\n3,4\n5,6\n',
    "quotes within": b'"a ""x""",b\n1,2\n3,4\n5,7\n',
    "semicolons and commas": b"a;b\n1,5;2,5\n3,1;4,2\n5,3;1,1\n",
    "tabs": b"a\tb\n1\t2\n3\t4\n5\t7\n",
    "numbers beyond floats": b"a,b\n1e400,2\n3,-1e999\n5,6\n",
    "words for numbers": b"a,b\ninf,2\n-Infinity,nan\n5,6\n",
    "no value": b"a,b\nNA,2\n,4\nnull,6\n",
    "a long line": b",".join([b"1"] * 20000) + b"\n" + b",".join([b"2"] * 20000) + b"\n",
    "a long cell": b"a,b\n" + b"9" * 200000 + b",2\n3,4\n",
    "the same head twice": b"a,a\n1,2\n3,4\n5,7\n",
    "heads without names": b",\n1,2\n3,4\n5,7\n",
    "no head": b"1,2\n3,4\n5,7\n1,1\n",
    "remarks": b"# made by hand\na,b\n1,2\n3,4\n5,7\n",
    "dates": b"day,b\n2020-01-01,2\n2020-01-02,4\n2020-01-03,7\n",
    "formulas": b'a,b\n=1+1,2\n"=cmd|x",4\n@5,7\n',
    "other digits": "a,b\n١,٢\n٣,٤\n".encode(),
    "escapes of a terminal": b"\x1b[31ma,b\n1,x\x1b[0m\n3,4\n",
    "JSON": b'{"a": [1, 2, 3]}',
    "HTML": b"<!doctype html><html><body>404</body></html>",
    "hexadecimal": b"a,b\n0x10,0b11\n0x20,1_000\n5,7\n",
}


class TestText:
    @pytest.mark.parametrize("name", TEXTS)
    def test_csv(self, name, capsys):
        Path("rows.csv").write_bytes(TEXTS[name])
        fit("rows.csv", capsys, *QUICK)

    @pytest.mark.parametrize("name", ["empty", "words alone", "random bytes", "CRLF", "zero bytes", "JSON"])
    def test_stdin(self, name, capsys, monkeypatch):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXTS[name])))
        fit("-", capsys, *QUICK)

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
    def test_any_text(self, capsys, text):
        Path("rows.csv").write_text(text)
        Path("labels.npy").unlink(missing_ok=True)
        fit("rows.csv", capsys, *QUICK, "--missing", "mean")


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
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("cut", ["nothing left", "one byte", "a tenth", "half", "all but one", "flipped"])
    def test_damaged(self, kind, cut, capsys):
        content = contents(kind)
        size = {"nothing left": 0, "one byte": 1, "a tenth": len(content) // 10, "half": len(content) // 2}
        damaged = bytearray(content[: size.get(cut, len(content) - (cut == "all but one"))])
        if cut == "flipped":
            damaged[len(damaged) // 2] ^= 0xFF
        Path(f"rows.{kind}").write_bytes(damaged)
        fit(f"rows.{kind}", capsys, *QUICK)

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("called", ["csv", "npy", "npz", "parquet", "h5", "mat", "png", "zarr", "xlsx", "pkl", ""])
    def test_called_otherwise(self, kind, called, capsys):
        name = f"rows.{called}".rstrip(".")
        Path(name).write_bytes(contents(kind))
        fit(name, capsys, *QUICK)

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
        fit("rows.zarr", capsys, *QUICK)

    def test_images_of_other_sizes(self, capsys):
        from PIL import Image

        Path("images").mkdir()
        for i, size in enumerate([(8, 8), (8, 8), (9, 7)]):
            Image.fromarray(np.full(size, 10 * i, np.uint8)).save(f"images/{i}.png")
        fit("images", capsys, *QUICK, code=2)
        fit("images", capsys, *QUICK, "--image-size", "4x4", code=0)


class TestPlaces:
    @pytest.fixture(autouse=True)
    def rows(self, here):
        np.save("rows.npy", ROWS)
        (here / "empty").mkdir()
        (here / "others").mkdir()
        (here / "others" / "letter.txt").write_text("dear reader")
        return here

    @pytest.mark.parametrize(
        "name",
        [
            "",
            "..",
            "empty",
            "missing.csv",
            "rows.npy/below.npy",
            "/dev/null",
            "missing/*.csv",
            "[",
            "rows.npy\n",
            "http://example.org/rows.csv",
            "x" * 300 + ".csv",
            "no\0thing.csv",
            "~nobody-of-this-name/rows.csv",
            "rows",
            "-k",
            "--",
        ],
    )
    def test_data_that_is_no_file(self, name, capsys):
        fit(name, capsys, *QUICK, code=2)

    def test_pipes_sockets_and_links(self, capsys):
        os.mkfifo("pipe.csv")
        os.symlink("loop.csv", "loop.csv")
        os.symlink("nowhere.csv", "dangling.csv")
        fit("pipe.csv", capsys, *QUICK, code=2)
        fit("loop.csv", capsys, *QUICK, code=2)
        fit("dangling.csv", capsys, *QUICK, code=2)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("socket.csv")
            fit("socket.csv", capsys, *QUICK, code=2)

    def test_names_that_are_no_text(self, capsys):
        name = os.fsdecode(b"rows-\xff.npy")
        os.rename("rows.npy", name)
        fit(name, capsys, *QUICK, code=0)
        attempt(["fit", name, *QUICK, "--out", "run"], capsys, out="run", code=0)
        attempt(["fit", os.fsdecode(b"no-\xff.npy"), *QUICK], capsys, code=2)

    def test_a_file_that_cannot_be_read(self, capsys, monkeypatch):
        # Whoever is root may read everything, so the system is made to refuse, but to the command only.
        real, run = open, cli.main

        def refused(file, *given, **options):
            if str(file).endswith("rows.npy"):
                raise PermissionError(errno.EACCES, "Permission denied", str(file))
            return real(file, *given, **options)

        def main(arguments):
            with monkeypatch.context() as patch:
                patch.setattr("builtins.open", refused)
                patch.setattr("io.open", refused)
                patch.setattr(Path, "open", lambda self, *given, **options: refused(self, *given, **options))
                return run(arguments)

        monkeypatch.setattr(cli, "main", main)
        assert "permission denied" in fit("rows.npy", capsys, *QUICK, code=2)[2].lower()

    @pytest.mark.parametrize("force", [[], ["--force"]])
    @pytest.mark.parametrize(
        "out",
        [
            "",
            ".",
            "..",
            "/",
            "others",
            "rows.npy",
            "missing/run",
            "missing/labels.npy",
            "rows.npy/run",
            "x" * 300,
            "no\0thing",
            "others/letter.txt",
            "~nobody-of-this-name/run",
        ],
    )
    def test_results_that_cannot_be_put_there(self, out, force, capsys):
        attempt(["fit", "rows.npy", *QUICK, "--out", out, *force], capsys, code=2)

    @pytest.mark.parametrize("out", ["empty.npy", "empty.csv"])
    def test_a_folder_where_a_file_should_be(self, out, capsys):
        Path(out).mkdir()
        attempt(["fit", "rows.npy", *QUICK, "--out", out, "--force"], capsys, code=2)

    @pytest.mark.parametrize("out", ["empty", "new", "new/", "Ünï cödé", "-dash", "labels.CSV"])
    def test_results_that_can(self, out, capsys):
        attempt(["fit", "rows.npy", *QUICK, f"--out={out}", "--no-report"], capsys, out=out, code=0)

    def test_a_folder_that_cannot_be_written_to(self, capsys, monkeypatch):
        monkeypatch.setattr(os, "access", lambda *given, **options: False)
        attempt(["fit", "rows.npy", *QUICK, "--out", "run"], capsys, code=2)
