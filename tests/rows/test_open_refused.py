"""Files, functions and parameters that `open_rows` refuses, each with a remedy."""

import os
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
from numpy.testing import assert_array_equal
from scipy.sparse import coo_array, csr_array
from test_open import FORMATS, draw, joined, write, write_hdf5, write_npy

from subspaces.rows import open_rows, parse_bytes


class TestFunctions:
    def test_a_buffer_may_be_filled_again(self):
        def blocks():
            buffer = np.empty((4, 2))
            for i in range(5):
                buffer[:] = i
                yield buffer

        found = [block.copy() for block in list(open_rows(blocks, block_rows=4).blocks())]
        assert [block[0, 0] for block in found] == [0, 1, 2, 3, 4]

    def test_generators_are_closed(self):
        closed = []

        def blocks():
            try:
                for _ in range(9):
                    yield np.ones((2, 2))
            finally:
                closed.append(True)

        source = open_rows(blocks, block_rows=2)
        assert closed == [True]
        walk = source.blocks()
        next(walk)
        walk.close()
        assert closed == [True, True]

    @pytest.mark.parametrize(
        ("blocks", "reason"),
        [
            ([np.ones((2, 2)), np.ones((2, 3))], "Block 1 of X has 3 columns, but the first has 2"),
            ([np.ones((2, 2)), np.ones(2)], r"Block 1 of X has shape \(2,\)"),
            (
                [np.ones((2, 2), "f4"), np.ones((2, 2))],
                "Block 1 of X holds float64 values, but the first holds float32",
            ),
            ([np.ones((2, 2)), np.ones((2, 2), complex)], "Block 1 of X holds complex numbers"),
            ([np.ones((2, 2)), np.array([["a", "b"]])], "Block 1 of X holds <U1 values"),
        ],
    )
    def test_odd_blocks_are_named(self, blocks, reason):
        source = open_rows(lambda: blocks)
        with pytest.raises(ValueError, match=reason):
            list(source.blocks())

    @pytest.mark.parametrize(
        ("X", "error", "reason"),
        [
            (list, ValueError, "X gave no rows"),
            (lambda: [np.ones((0, 2))], ValueError, "X gave no rows"),
            (lambda: [np.ones((2, 0))], ValueError, "Block 0 of X has no columns"),
            (lambda: [np.ones(2)], ValueError, r"Block 0 of X has shape \(2,\)"),
            (lambda: [[[1.0]]], TypeError, "Block 0 of X is list"),
            (lambda: [None], TypeError, "Block 0 of X is NoneType"),
            (lambda: [np.ma.ones((2, 2))], TypeError, "Block 0 of X is MaskedArray"),
            (lambda: np.ones((2, 2)), TypeError, r"X\(\) returned ndarray"),
            (lambda: 3, TypeError, r"X\(\) returned int"),
            (lambda path: [], TypeError, "needs arguments"),
            (partial(lambda it: it, iter([np.ones((1, 1))])), ValueError, "returns the same iterator each time"),
            ((np.ones((1, 1)) for _ in range(3)), TypeError, "X is a generator, which can be read only once"),
            (iter([np.ones((1, 1))]), TypeError, "pass the function that makes it"),
        ],
    )
    def test_functions_that_do_not_return_blocks(self, X, error, reason):
        with pytest.raises(error, match=reason):
            open_rows(X)

    def test_passes_must_agree(self):
        lengths = iter([5, 5, 5, 3, 6])
        source = open_rows(lambda: [np.ones((next(lengths), 2))], block_rows=2)
        assert len(joined(source)) == 5
        with pytest.raises(ValueError, match="gave 3 rows in this pass and 5 in an earlier one"):
            list(source.blocks())
        with pytest.raises(ValueError, match="gave at least 6 rows in this pass and 5"):
            list(source.blocks())
        rng = np.random.default_rng(0)
        source = open_rows(lambda: [rng.normal(size=(5, 8))])
        with pytest.raises(ValueError, match="from a fixed seed"):
            list(source.blocks())

    def test_missing_numbers_are_the_same_at_each_pass(self):
        x = np.array([[np.nan, np.inf, 1.0], [2, 3, 4]])
        assert_array_equal(joined(open_rows(lambda: [x])), x)
        x[0] = np.nan
        assert_array_equal(joined(open_rows(lambda: [x])), x)


class TestHostileFiles:
    @pytest.mark.parametrize("name", sorted(FORMATS))
    def test_cut_short(self, tmp_path, name):
        path = write(name, tmp_path, draw(2000, 4))
        if path.is_dir():
            pytest.skip("a folder")
        content = path.read_bytes()
        for size in (0, 3, 100, len(content) // 2, len(content) - 1):
            path.write_bytes(content[:size])
            with pytest.raises((ValueError, OSError), match=path.name) as raised:
                list(open_rows(path).blocks())
            assert "\n" not in str(raised.value)

    @pytest.mark.parametrize("suffix", [".npy", ".parquet", ".h5"])
    @pytest.mark.parametrize("content", [b"x", bytes(1000), b"\x80\x04K\x01.", b"\x93NUMPY\x09\x00", b"PAR1" * 9])
    def test_of_other_content(self, tmp_path, suffix, content):
        path = tmp_path / f"x{suffix}"
        path.write_bytes(content)
        with pytest.raises((ValueError, OSError), match=rf"x\{suffix}.* NPY|Parquet|HDF5") as raised:
            open_rows(path)
        assert "\n" not in str(raised.value)

    @pytest.mark.parametrize("name", ["npy", "parquet", "hdf5 in chunks", "zarr"])
    def test_damaged_inside(self, tmp_path, name):
        path = write(name, tmp_path, draw(4000, 2))
        for file in [path] if path.is_file() else [file for file in (path / "c").rglob("*") if file.is_file()]:
            content = bytearray(file.read_bytes())
            # Chunks of Zarr have no sums to check, but a length.
            middle = slice(len(content) // 4, len(content) // 2 if path.is_file() else None)
            content[middle] = b"" if path.is_dir() else os.urandom(len(content[middle]))
            file.write_bytes(content)
        if name == "npy":
            assert len(joined(open_rows(path))) == 4000
            return
        with pytest.raises((ValueError, OSError), match=path.name) as raised:
            list(open_rows(path).blocks())
        assert "\n" not in str(raised.value)

    def test_cut_short_after_opening(self, tmp_path):
        path = write_npy(tmp_path / "x.npy", draw(1000, 4))
        source = open_rows(path, block_rows=100)
        walk = source.blocks()
        next(walk)
        path.write_bytes(path.read_bytes()[:20_000])
        with pytest.raises(ValueError, match=r"x\.npy became shorter"):
            list(walk)
        with pytest.raises(ValueError, match=r"x\.npy is cut short: 20000 bytes instead of 32128"):
            source.take([3])

    @pytest.mark.parametrize("name", ["parquet", "hdf5", "zarr"])
    def test_changed_after_opening(self, tmp_path, name):
        source = open_rows(write(name, tmp_path, draw(30, 4)))
        write(name, tmp_path, draw(20, 4))
        with pytest.raises(ValueError, match="has changed since it was opened"):
            list(source.blocks())
        with pytest.raises(ValueError, match="has changed since it was opened"):
            source.take([1])

    @pytest.mark.parametrize("suffix", [".npy", ".parquet", ".pq", ".h5", ".hdf5", ".zarr", ".csv"])
    def test_missing(self, tmp_path, suffix):
        with pytest.raises(FileNotFoundError, match=rf"gone\{suffix}"):
            open_rows(tmp_path / f"gone{suffix}")

    @pytest.mark.parametrize("name", ["npy", "parquet", "hdf5"])
    def test_not_allowed(self, tmp_path, name, monkeypatch):
        path = write(name, tmp_path, draw(3, 2))
        path.chmod(0)
        if os.access(path, os.R_OK):
            # Who may read everything is refused in another way.
            monkeypatch.setattr(Path, "open", partial(_refuse, path))
        with pytest.raises(PermissionError, match=path.name):
            open_rows(path)

    @pytest.mark.parametrize("suffix", [".pkl", "", ".gz", ".xyz"])
    def test_other_formats(self, tmp_path, suffix):
        path = tmp_path / f"x{suffix}"
        path.write_bytes(b"content")
        with pytest.raises(ValueError, match=r"suffix.* convert it to one of CSV"):
            open_rows(path)

    @pytest.mark.parametrize("suffix", [".npz", ".mat", ".csv", ".xlsx", ".txt"])
    def test_files_of_something_else(self, tmp_path, suffix):
        path = tmp_path / f"x{suffix}"
        path.write_bytes(b"content")
        with pytest.raises(ValueError, match=rf"x\{suffix} (is damaged, or not a|holds a header and no rows)"):
            open_rows(path)

    @pytest.mark.parametrize("name", sorted(FORMATS))
    def test_no_rows(self, tmp_path, name):
        with pytest.raises(ValueError, match=r"has no rows: a minimum of 1"):
            open_rows(write(name, tmp_path, draw(0, 2)))

    @pytest.mark.parametrize("writer", [write_npy, write_hdf5])
    @pytest.mark.parametrize(
        ("x", "reason"),
        [
            (np.ones(3), r"has shape \(3,\), but rows and columns are needed: reshape it to \(n, 1\)"),
            (np.ones((3, 0)), "has no columns"),
            (np.ones((3, 2), complex), r"holds complex numbers \(complex128\)"),
            (np.array([[b"a"]]), r"holds \|S1 values"),
            (np.zeros((2, 2), [("a", "f8")]), "not real numbers"),
        ],
    )
    def test_no_rows_of_numbers(self, tmp_path, writer, x, reason):
        path = tmp_path / ("x.npy" if writer is write_npy else "x.h5")
        writer(path, x)
        with pytest.raises(ValueError, match=reason):
            open_rows(path, key=None if writer is write_npy else "rows")
        if writer is write_npy:
            with pytest.raises(ValueError, match=reason):
                open_rows(x)

    def test_zarr_of_no_rows_of_numbers(self, tmp_path):
        zarr.create_array(tmp_path / "x.zarr", shape=(3,), dtype="f8")
        with pytest.raises(ValueError, match=r"x\.zarr has shape \(3,\)"):
            open_rows(tmp_path / "x.zarr")
        zarr.create_array(tmp_path / "y.zarr", shape=(3, 2), dtype="c16")
        with pytest.raises(ValueError, match=r"y\.zarr holds complex"):
            open_rows(tmp_path / "y.zarr")
        with pytest.raises(ValueError, match=r"y\.zarr is one array, not a group"):
            open_rows(tmp_path / "y.zarr", key="a")
        (tmp_path / "z.zarr").mkdir()
        with pytest.raises((ValueError, OSError), match=r"z\.zarr"):
            open_rows(tmp_path / "z.zarr")
        (tmp_path / "f.zarr").touch()
        with pytest.raises(ValueError, match=r"f\.zarr is not a folder"):
            open_rows(tmp_path / "f.zarr")

    def test_objects_are_never_unpickled(self, tmp_path):
        np.save(tmp_path / "x.npy", np.array([[1, "a"]], object), allow_pickle=True)
        with pytest.raises(ValueError, match=r"x\.npy holds object values"):
            open_rows(tmp_path / "x.npy")

    def test_columns_of_text_are_named(self, tmp_path):
        table = pa.table({"a": [1.0], "name": ["x"], "when": pa.array([0], pa.timestamp("ms")), "b": [1]})
        pq.write_table(table, tmp_path / "x.parquet")
        with pytest.warns(UserWarning, match=r"2 columns do not .*: 'name' \(text\), 'when' \(date\)"):
            source = open_rows(tmp_path / "x.parquet")
        assert source.column_names == ("a", "b")
        with pytest.raises(ValueError, match=r"column 'name' does not hold numbers \(text\)"):
            open_rows(tmp_path / "x.parquet", columns=["a", "name"])
        assert_array_equal(joined(open_rows(tmp_path / "x.parquet", columns=["a", "b"])), [[1, 1]])
        with pytest.raises(ValueError, match=r"x\.parquet has no column 'c' .*: it has 'a', 'name', 'when', 'b'"):
            open_rows(tmp_path / "x.parquet", columns=["c"])

    def test_files_of_other_columns(self, tmp_path):
        paths = [write_npy(tmp_path / f"{p}.npy", draw(3, p)) for p in (2, 3)]
        with pytest.raises(ValueError, match=r"3\.npy has 3 columns, but .*2\.npy has 2"):
            open_rows(paths)
        assert open_rows(paths, columns=[1, 0]).n_rows == 6

    def test_a_folder_of_something_else(self, tmp_path):
        with pytest.raises(ValueError, match="a folder without images or tables"):
            open_rows(tmp_path)
        with pytest.raises(ValueError, match="only local files"):
            open_rows("s3://bucket/x.npy")

    def test_a_package_that_is_missing(self, tmp_path, monkeypatch):
        path = write("hdf5", tmp_path, draw(3, 2))
        monkeypatch.setitem(sys.modules, "h5py", None)
        with pytest.raises(ImportError, match=r"rows\.h5 needs the package h5py: pip install 'subspaces\[io\]'"):
            open_rows(path)


class TestParameters:
    @pytest.mark.parametrize(
        ("given_", "error", "reason"),
        [
            ({"columns": ["a"]}, ValueError, "X has no column 'a' .columns.: it has 'column 0', 'column 1'"),
            ({"columns": [2]}, ValueError, "columns=2 is outside of X: its 2 columns are numbered from 0 to 1"),
            ({"columns": [-3]}, ValueError, "columns=-3 is outside of X"),
            ({"columns": []}, ValueError, "at least one"),
            ({"columns": [0, 0]}, ValueError, "each once"),
            ({"columns": [0, -2]}, ValueError, "each once"),
            ({"columns": [True]}, TypeError, "names, or numbers counted from 0"),
            ({"columns": [0.5]}, TypeError, "names, or numbers counted from 0"),
            ({"columns": 1.5}, TypeError, "a list of names"),
            ({"columns": {"a": 1}}, TypeError, "a list of names"),
            ({"key": "a"}, ValueError, "X is not a path"),
            ({"block_rows": 0}, ValueError, "block_rows=0"),
            ({"block_rows": 1.5}, TypeError, "block_rows=1.5"),
            ({"memory_limit": "1 parsec"}, ValueError, "not an amount of memory"),
        ],
    )
    def test_are_checked(self, given_, error, reason):
        with pytest.raises(error, match=reason):
            open_rows(draw(3, 2), **given_)

    def test_a_key_is_for_files_of_arrays(self, tmp_path):
        with pytest.raises(ValueError, match="leave it out"):
            open_rows(write_npy(tmp_path / "x.npy", draw(3, 2)), key="a")

    @pytest.mark.parametrize(
        ("X", "error", "reason"),
        [
            (None, TypeError, "NoneType, which cannot be opened"),
            ([], TypeError, "list, which cannot be opened"),
            (np.ma.ones((2, 2)), ValueError, "masked"),
            (np.ones((0, 2)), ValueError, "no rows"),
            (csr_array(1j * np.eye(2)), ValueError, "complex numbers"),
            (coo_array(np.ones(3)), ValueError, "reshape it"),
            (csr_array((0, 2)), ValueError, "no rows"),
            (csr_array((2, 0)), ValueError, "no columns"),
            (SimpleNamespace(tocsr=None), TypeError, "sparse matrix or array of SciPy"),
            (sys.stdin, TypeError, "open file"),
        ],
        ids=["none", "list", "masked", "empty", "complex", "vector", "no rows", "no columns", "not SciPy", "file"],
    )
    def test_objects_without_rows(self, X, error, reason):
        with pytest.raises(error, match=reason):
            open_rows(X)

    @pytest.mark.parametrize(
        ("amount", "expected"),
        [
            ("1GB", 10**9),
            ("1.5 GiB", 3 * 2**29),
            (" 500 mb ", 5 * 10**8),
            ("64000000", 64_000_000),
            ("32000kB", 32 * 10**6),
            ("2T", 2 * 10**12),
            (2e9, 2 * 10**9),
            (np.int64(10**8), 10**8),
        ],
    )
    def test_amounts_of_memory(self, amount, expected):
        assert parse_bytes(amount) == expected

    @pytest.mark.parametrize(
        "amount", ["", "GB", "-1GB", "1XB", "1e9GB", "1 2GB", "nanGB", "31MB", 0, -1, np.nan, np.inf]
    )
    def test_invalid_amounts_of_memory(self, amount):
        with pytest.raises(ValueError, match="memory_limit="):
            parse_bytes(amount)

    @pytest.mark.parametrize("amount", [None, True, [1], b"1GB"])
    def test_amounts_of_the_wrong_type(self, amount):
        with pytest.raises(TypeError, match="memory_limit="):
            parse_bytes(amount)


def _refuse(path, *given, **options):
    raise PermissionError(13, "Permission denied", str(path))
