"""Whatever a user gives, a command ends with exit code 0 or 2, one clear line, and nothing half-written.

Every case goes through `attempt`, which checks all of that.
"""

import errno
import gzip
import io
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from subspaces import cli
from subspaces.cli._commands import COMMANDS

RUN = {"labels.csv", "labels.npy", "model.subspaces", "report.html", "run.json", "preparation.subspaces"}
RNG = np.random.RandomState(0)
ROWS = RNG.standard_normal((30, 4))
QUICK = ["--method", "kasp", "-k", "2"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty folder that is the current one, with folders of its own for what is temporary."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.delenv("SUBSPACES_DEBUG", raising=False)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder
    assert list(temporary.iterdir()) == []


def attempt(arguments, capsys, *, out=None, code=None):
    """Run a command in the current folder and check everything that is promised; returns exit code, stdout, stderr."""
    folder = Path.cwd()
    before = snapshot(folder)
    capsys.readouterr()
    try:
        ended = cli.main(arguments)
    except SystemExit as stop:
        ended = stop.code
    captured = capsys.readouterr()
    told = f"{arguments}: {ended}: {captured.err}"
    assert ended in (0, 2), told
    assert "Traceback" not in captured.err, told
    if ended == 2:
        assert captured.out == "", told
        assert captured.err.startswith("subspaces"), told
        assert captured.err.endswith("\n"), told
        assert captured.err.count("\n") == 1, told
        assert len(captured.err.strip()) > len("subspaces: "), told
    else:
        for line in captured.err.splitlines():
            assert line.startswith("subspaces: "), told
    if code is not None:
        assert ended == code, told
    after = snapshot(folder)
    new = {name for name in after if name.split(os.sep)[0] not in {old.split(os.sep)[0] for old in before}}
    assert {name: after[name] for name in before if name in after and not is_within(name, out)} == {
        name: content for name, content in before.items() if not is_within(name, out)
    }, told
    if ended == 2:
        assert after == before, told
    else:
        assert all(is_within(name, out) for name in new), told
        if out is not None and "--dry-run" not in arguments:
            check_whole(folder / out)
    return ended, captured.out, captured.err


def snapshot(folder):
    """Every file below, and what it holds."""
    found = {}
    for root, folders, files in os.walk(folder):
        for name in files:
            path = os.path.join(root, name)
            found[os.path.relpath(path, folder)] = Path(path).read_bytes() if os.path.isfile(path) else b""
        for name in folders:
            found[os.path.relpath(os.path.join(root, name), folder)] = None
    return found


def is_within(name, out):
    return out is not None and name.split(os.sep)[0] == Path(out).parts[0]


def check_whole(path):
    """A result is all there."""
    if path.is_file():
        if path.suffix.lower() == ".npy":
            assert np.load(path).ndim == 1
        return
    names = {entry.name for entry in path.iterdir()}
    assert names <= RUN
    assert names >= {"labels.csv", "labels.npy", "model.subspaces", "run.json"}
    run = json.loads((path / "run.json").read_text())
    assert set(run["files"]) == names
    assert len(np.load(path / "labels.npy")) == run["rows"]["n_rows"]
    assert len((path / "labels.csv").read_text(errors="replace").splitlines()) >= run["rows"]["n_rows"] + 1


def fit(name, capsys, *more, **options):
    return attempt(["fit", name, *more, "--out", "labels.npy"], capsys, out="labels.npy", **options)


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


def spoiled(value, at=(3, 1)):
    rows = ROWS.copy()
    rows[at] = value
    return rows


VALUES = {
    "one NaN": spoiled(np.nan),
    "one inf": spoiled(np.inf),
    "one -inf": spoiled(-np.inf),
    "all NaN": np.full((30, 4), np.nan),
    "a column of NaN": spoiled(np.nan, (slice(None), 1)),
    "a row of NaN": spoiled(np.nan, 3),
    "all zero": np.zeros((30, 4)),
    "all the same": np.ones((30, 4)),
    "a constant column": spoiled(7.0, (slice(None), 1)),
    "a row of zeros": spoiled(0.0, 3),
    "one huge": spoiled(1e300),
    "all huge": ROWS * 1e300,
    "as large as can be": np.sign(ROWS) * np.finfo(float).max,
    "all tiny": ROWS * 1e-300,
    "all denormal": ROWS * 5e-324 * 10,
    "huge and tiny": np.where(ROWS > 0, 1e150, 1e-150),
    "two rows over and over": np.tile(ROWS[:2], (15, 1)),
    "one direction": np.outer(np.arange(30.0), [1, 2, 3, 4]),
    "one distinct row and one other": np.vstack([np.ones((29, 4)), np.zeros((1, 4))]),
    "far from the origin": ROWS * 1e-6 + 1e9,
    "float32 at its end": (np.sign(ROWS) * 3e38).astype(np.float32),
    "float16 with inf": np.where(np.abs(ROWS) > 2, np.inf, ROWS).astype(np.float16),
    "largest integers": np.where(ROWS > 0, 2**63 - 1, -(2**63)).astype(np.int64),
}


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


def words(*lines):
    return [line.split(" ") for line in lines]


class TestOptions:
    @pytest.mark.parametrize(
        "arguments",
        words(
            "-k 0",
            "-k -1",
            "-k x",
            "-k 1.5",
            "-k 31",
            "-k 999999999999999999999999",
            "-k ",
            "-k ١",
            "-k nan",
            "-k 2 --dim 0",
            "-k 2 --dim 4",
            "-k 2 --dim 99",
            "-k 2 --dim x",
            "-k 2 --dim -1",
            "-k 2 --seed -1",
            "-k 2 --seed 4294967296",
            "-k 2 --seed x",
            "-k 2 --seed 1.5",
            "-k 2 --seed ",
            "-k 2 --method nothing",
            "-k 2 --method ",
            "-k 2 --method FLS",
            "--method ssc",
            "--method kasp",
            "-k 2 --method fls-paper",
            "-k 2 --method kasp --dim 2",
            "-k 2 --method lbf --outliers",
            "-k 2 --set n_landmarks",
            "-k 2 --set n_landmarks=",
            "-k 2 --set =5",
            "-k 2 --set n_landmarks=-1",
            "-k 2 --set n_landmarks=x",
            "-k 2 --set n_landmarks=1.5",
            "-k 2 --set n_landmarks=1,2",
            "-k 2 --set n_landmark=50",
            "-k 2 --set n_clusters=2",
            "-k 2 --set random_state=2",
            "-k 2 --set verbose=1",
            "-k 2 --set sigma=0",
            "-k 2 --set sigma=nan",
            "-k 2 --set sigma=1e999",
            "-k 2 --set sigma=-1",
            "-k 2 --set power=0",
            "-k 2 --set affine=maybe",
            "-k 2 --set affine=3",
            "-k 2 --set landmarks=1,2,3",
            "-k 2 --set landmarks=nowhere",
            "-k 2 --set neighborhood=0",
            "-k 2 --set neighborhood=x",
            "-k 2 --set n_draws=0",
            "-k 2 --set detect_outliers=2",
            "-k 2 --set detect_outliers=x",
            "-k 2 --outliers --set detect_outliers=false",
            "-k 2 --set assign=none",
            "-k 2 --set n_components=0",
            "-k 2 --set max_columns=0",
            "--set max_clusters=0",
            "-k 2 --method ssc --set solver=none",
            "-k 2 --method ssc --set mass=7",
            "-k 2 --method sssc --set n_in_sample=0",
            "-k 2 --method kflats --set loss=cubic",
            "-k 2 --method nystrom --set kernel=none",
            "-k 2 --method fourier --set n_features=0",
            "-k 2 --method kasp --set n_centroids=0",
            "-k 2 --memory-limit 0",
            "-k 2 --memory-limit 1KB",
            "-k 2 --memory-limit much",
            "-k 2 --memory-limit -1GB",
            "-k 2 --memory-limit 9999999999TB",
            "-k 2 --memory-limit ",
            "-k 2 --device nowhere",
            "-k 2 --checkpoint rows.npy",
            "-k 2 --checkpoint rows.npy/kept",
            "-k 2 --checkpoint ",
            "-k 2 --columns 9",
            "-k 2 --columns 0",
            "-k 2 --columns nothing",
            "-k 2 --columns 3-1",
            "-k 2 --columns ,",
            "-k 2 --drop 1-4",
            "-k 2 --drop 9",
            "-k 2 --truth 9",
            "-k 2 --truth nothing",
            "-k 2 --truth missing.npy",
            "-k 2 --truth 1 --columns 1,2",
            "-k 2 --names nothing",
            "-k 2 --key X",
            "-k 2 --missing guess",
            "-k 2 --image-shape 3x3",
            "-k 2 --image-shape 0x4",
            "-k 2 --image-shape x",
            "-k 2 --image-shape 2",
            "-k 2 --image-shape 2x2x2x2",
            "-k 2 --image-size 2x2",
            "-k 2 --pca 0",
            "-k 2 --pca -1",
            "-k 2 --pca 5",
            "-k 2 --pca 1000000000",
            "-k 2 --pca x",
            "-k 2 --whiten-drop -1",
            "-k 2 --whiten-drop 4",
            "-k 2 --pca 2 --whiten-drop 2",
            "-k 2 --config missing.toml",
            "-k 2 --config rows.npy",
            "-k 2 --config .",
            "-k 2 --again missing",
            "-k 2 --again .",
            "-k 2 --nonsense",
            "-k",
            "-k 2 more.npy",
            "-k 2 rows.npy --seed",
        ),
        ids=" ".join,
    )
    def test_mistakes(self, arguments, capsys):
        np.save("rows.npy", ROWS)
        attempt(["fit", "rows.npy", *arguments, "--out", "run", "--no-report"], capsys, code=2)

    @pytest.mark.parametrize(
        "arguments",
        words(
            "-k 30",
            "-k 1",
            "-k +2",
            "-k 2 --dim 3",
            "-k 2 --seed 4294967295",
            "-k 2 --set n_landmarks=1",
            "-k 2 --set n_landmarks=100000",
            "-k 2 --set n-landmarks=10",
            "-k 2 --set sigma=1e-3",
            "-k 2 --columns 2,1",
            "-k 2 --columns 2-4 --drop 3",
            "-k 2 --pca 4",
            "-k 2 --whiten-drop 2",
            "-k 2 --image-shape 2x2",
            "-k 2 --memory-limit 32MB",
            "-k 2 --checkpoint run/../kept",
            "-k 2 -q -v --json",
        ),
        ids=" ".join,
    )
    def test_what_is_allowed(self, arguments, capsys):
        np.save("rows.npy", ROWS)
        if "--checkpoint" in arguments:
            arguments = ["-k", "2", "--checkpoint", "../kept"]
        attempt(["fit", "rows.npy", *arguments, "--out", "run", "--no-report"], capsys, out="run", code=0)

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(
        st.lists(
            st.one_of(
                st.sampled_from([f"--{option.name}" for option in COMMANDS["fit"].options if option.name != "verbose"]),
                st.text(max_size=6),
            ),
            max_size=6,
        )
    )
    def test_any_words(self, capsys, arguments):
        # A method that takes no time; results, if any, go where they are looked for.
        if any(word in ("-h", "--help") for word in arguments):
            return
        for name in ("labels.npy", "rows.npy"):
            Path(name).unlink(missing_ok=True)
        np.save("rows.npy", ROWS)
        attempt(["fit", *arguments, "rows.npy", *QUICK, "--out=labels.npy"], capsys, out="labels.npy")


def asking(options):
    """A run.json that asks for `options`."""
    return json.dumps({"format": "subspaces run", "version": 1, "command": "fit", "options": options})


RUNS = {
    "empty": "",
    "a list": "[]",
    "another format": '{"format": "another"}',
    "no version": '{"format": "subspaces run"}',
    "a newer version": '{"format": "subspaces run", "version": 99}',
    "no options": '{"format": "subspaces run", "version": 1, "command": "fit"}',
    "of another command": '{"format": "subspaces run", "version": 1, "command": "compare", "options": {}}',
    "no data": asking({}),
    "an option of no kind": asking({"nothing": 1}),
    "an option of another kind": asking({"seed": "x"}),
    "data of another kind": asking({"data": [3]}),
    "data that is gone": asking({"data": ["a.csv"]}),
    "nested": '{"a":' * 50000,
    "not text": b"\xff\xfe\xfd",
}
TOMLS = {
    "no TOML": "clusters 2",
    "an unknown key": "clustres = 2",
    "a wrong type": "clusters = []",
    "a date": "clusters = 2020-01-01",
    "a table": "[clusters]\nx = 1",
    "an array of numbers": "data = [1, 2]",
    "no data": "clusters = 2",
    "nan": "clusters = nan",
    "too large": "seed = 99999999999",
    "nested": "x = " + "[" * 3000 + "]" * 3000,
    "itself": 'config = "options.toml"',
    "set of sets": "[set.a]\nb = 1",
    "set to a list of tables": "[[set]]\nn_landmarks = 3",
    "zero bytes": "clusters = 2\0",
}


class TestConfigurations:
    @pytest.mark.parametrize("name", RUNS)
    def test_runs(self, name, capsys):
        Path("old").mkdir()
        content = RUNS[name]
        Path("old/run.json").write_bytes(content if isinstance(content, bytes) else content.encode())
        attempt(["fit", "--again", "old", "--out", "run"], capsys, code=2)
        attempt(["report", "old"], capsys, code=2)
        np.save("rows.npy", ROWS)
        attempt(["predict", "old", "rows.npy"], capsys, code=2)

    @pytest.mark.parametrize("name", TOMLS)
    def test_tomls(self, name, capsys):
        Path("options.toml").write_text(TOMLS[name])
        attempt(["fit", "--config", "options.toml", "--out", "run"], capsys, code=2)

    def test_windows_and_a_mark_of_byte_order(self, capsys):
        np.save("rows.npy", ROWS)
        Path("options.toml").write_bytes(b'\xef\xbb\xbfdata = "rows.npy"\r\nclusters = 2\r\nmethod = "kasp"\r\n')
        attempt(["fit", "--config", "options.toml", "--out", "labels.npy"], capsys, out="labels.npy", code=0)


def failing(error, real, after=0, times=10**6):
    """A function that fails so many times from call number `after` on."""
    calls = []

    def function(*given, **options):
        calls.append(given)
        if after < len(calls) <= after + times:
            raise error
        return real(*given, **options)

    return function


class TestMachines:
    """Disks that are full, memory that is short, users who have enough of it."""

    @pytest.fixture(autouse=True)
    def rows(self, here):
        np.save("rows.npy", ROWS)

    FULL = OSError(errno.ENOSPC, "No space left on device")

    @pytest.mark.parametrize("out", ["run", "labels.npy", "labels.csv"])
    @pytest.mark.parametrize("call", ["replace", "fsync", "mkdir", "chmod"])
    @pytest.mark.parametrize("after", [0, 1, 2])
    def test_a_full_disk(self, out, call, after, capsys, monkeypatch):
        monkeypatch.setattr(os, call, failing(self.FULL, getattr(os, call), after))
        ended, _, told = attempt(["fit", "rows.npy", *QUICK, "--out", out, "--no-report"], capsys, out=out)
        assert ended == 0 or "disk is full" in told

    @pytest.mark.parametrize("at", range(6))
    def test_a_full_disk_keeps_the_old_results(self, at, capsys, monkeypatch):
        attempt(["fit", "rows.npy", *QUICK, "--out", "run", "--no-report"], capsys, out="run", code=0)
        before = snapshot(Path.cwd())
        monkeypatch.setattr(os, "replace", failing(self.FULL, os.replace, at, 1))
        assert cli.main(["fit", "rows.npy", *QUICK, "--out", "run", "--no-report", "--force"]) == 2
        assert "disk is full" in capsys.readouterr().err
        assert snapshot(Path.cwd()) == before

    @pytest.mark.parametrize(
        "error",
        [
            MemoryError("Unable to allocate 9 TiB for an array"),
            MemoryError(),
            OverflowError("too large"),
            FloatingPointError("overflow encountered"),
            ZeroDivisionError("division by zero"),
            np.linalg.LinAlgError("SVD did not converge"),
            OSError(errno.EIO, "Input/output error", "rows.npy"),
            OSError("of no number"),
            ImportError("No module named 'torch'"),
            UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
        ],
        ids=lambda error: type(error).__name__,
    )
    def test_errors_in_the_middle_of_it(self, error, capsys, monkeypatch):
        from subspaces import KASP

        monkeypatch.setattr(KASP, "fit", failing(error, None))
        attempt(["fit", "rows.npy", *QUICK, "--out", "run"], capsys, code=2)

    @pytest.mark.parametrize("where", ["fit", "save"])
    def test_an_interrupt(self, where, capsys, monkeypatch):
        from subspaces import KASP

        before = snapshot(Path.cwd())
        monkeypatch.setattr(KASP, where, failing(KeyboardInterrupt(), None))
        assert cli.main(["fit", "rows.npy", *QUICK, "--out", "run"]) == 130
        assert capsys.readouterr().err == "interrupted\n"
        assert snapshot(Path.cwd()) == before


class TestOtherCommands:
    @pytest.mark.parametrize("cut", [0, 1, 10, 200, -4])
    @pytest.mark.parametrize("file", ["model.subspaces", "labels.npy", "run.json"])
    def test_a_damaged_run(self, file, cut, capsys):
        np.save("rows.npy", ROWS)
        attempt(["fit", "rows.npy", *QUICK, "--out", "run", "--no-report"], capsys, out="run", code=0)
        path = Path("run") / file
        path.write_bytes(path.read_bytes()[:cut])
        attempt(["predict", "run", "rows.npy"], capsys)
        attempt(["report", "run", "--out", "page.html"], capsys, code=2)

    @pytest.mark.parametrize("name", ["one NaN", "all zero", "all the same", "as large as can be", "all denormal"])
    @pytest.mark.parametrize("command", [["choose", "--repeats", "1"], ["compare", "-k", "2", "--methods", "kasp,lbf"]])
    def test_values(self, command, name, capsys):
        np.save("rows.npy", VALUES[name])
        attempt([command[0], "rows.npy", *command[1:]], capsys)

    @pytest.mark.parametrize(
        "arguments",
        words(
            "compare rows.npy -k 0",
            "compare rows.npy -k 2 --methods nothing",
            "compare rows.npy -k 2 --methods ,",
            "compare rows.npy -k 2 --repeats 0",
            "compare rows.npy -k 2 --time-limit 0",
            "compare rows.npy -k 99 --methods kasp,landmark",
            "compare rows.npy -k 2 --methods kasp --out rows.npy",
            "compare",
            "choose",
            "choose rows.npy --max-clusters 0",
            "choose rows.npy --repeats x",
            "choose missing.csv",
            "report",
            "report rows.npy",
            "report missing",
            "predict",
            "predict rows.npy",
            "predict rows.npy rows.npy",
            "data",
            "data get",
            "data get mnst",
            "data get subspaces --set dims=99",
            "data get subspaces --set noise=x",
            "data get subspaces --seed -1",
            "info extra",
            "fit",
            "nothing",
            "",
        ),
        ids=" ".join,
    )
    def test_mistakes(self, arguments, capsys):
        np.save("rows.npy", ROWS)
        attempt(arguments, capsys, code=2)


class TestAsAProgram:
    """Some of the above in a process of its own, where nothing is in the way of a traceback."""

    @pytest.mark.parametrize(
        "arguments",
        [
            ["fit", "missing.csv"],
            ["fit", "rows.npy", "-k", "999"],
            ["fit", "rows.npy", "-k", "2", "--out", "missing/run"],
            ["predict", "rows.npy", "rows.npy"],
        ],
        ids=" ".join,
    )
    def test_mistakes(self, arguments):
        np.save("rows.npy", ROWS)
        before = snapshot(Path.cwd())
        source = str(Path(cli.__file__).parents[2])
        done = subprocess.run(
            [sys.executable, "-m", "subspaces", *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": source},
            timeout=60,
        )
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.startswith("subspaces")
        assert done.stderr.count("\n") == 1
        assert snapshot(Path.cwd()) == before
