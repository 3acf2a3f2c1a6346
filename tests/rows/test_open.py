"""`open_rows`: the same rows from every format, array and function."""

import pickle
import shutil
from itertools import pairwise
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from subspaces.rows import FeedOptions, RowSource, is_source, open_rows

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def draw(n_rows, n_columns, seed=0, dtype=np.float64):
    return (100 * np.random.default_rng(seed).normal(size=(n_rows, n_columns))).astype(dtype)


def names_of(x):
    return [f"c{column}" for column in range(x.shape[1])]


def write_npy(path, x):
    np.save(path, x)
    return path


def write_fortran(path, x):
    np.save(path, np.asfortranarray(x))
    return path


def write_parquet(path, x, group=7):
    table = pa.table(dict(zip(names_of(x), np.ascontiguousarray(x.T), strict=True)))
    pq.write_table(table, path, row_group_size=group)
    return path


def write_hdf5(path, x, key="rows", **options):
    with h5py.File(path, "w") as file:
        file.create_dataset(key, data=x, **options)
    return path


def write_chunked_hdf5(path, x):
    chunks = (min(5, len(x)), min(2, x.shape[1])) if len(x) else None
    return write_hdf5(path, x, chunks=chunks, maxshape=(None, x.shape[1]), compression="gzip")


def write_zarr(path, x, chunks=(5, 2)):
    zarr.create_array(path, shape=x.shape, chunks=chunks, dtype=x.dtype)[:] = x
    return path


FORMATS = {
    "npy": (write_npy, ".npy"),
    "fortran": (write_fortran, ".npy"),
    "parquet": (write_parquet, ".parquet"),
    "hdf5": (write_hdf5, ".h5"),
    "hdf5 in chunks": (write_chunked_hdf5, ".hdf5"),
    "zarr": (write_zarr, ".zarr"),
}


def write(name, folder, x, stem="rows"):
    writer, suffix = FORMATS[name]
    path = Path(folder) / f"{stem}{suffix}"
    if path.is_dir():
        shutil.rmtree(path)
    return writer(path, x)


def joined(source, start=0):
    blocks = list(source.blocks(start))
    assert all(len(block) == source.block_rows for block in blocks[:-1])
    assert all(block.dtype == source.dtype and block.flags.c_contiguous for block in blocks)
    return np.concatenate(blocks) if blocks else np.empty((0, source.n_columns), source.dtype)


class TestSameRows:
    @QUICK
    @given(data=st.data(), name=st.sampled_from(sorted(FORMATS)))
    def test_whatever_they_are_in(self, tmp_path, data, name):
        n_rows, n_columns = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 4))
        x = draw(n_rows, n_columns, dtype=data.draw(st.sampled_from([np.float64, np.float32])))
        cuts = sorted(data.draw(st.lists(st.integers(0, n_rows), max_size=3)))
        bounds = [0, *cuts, n_rows]
        paths = [write(name, tmp_path, x[a:b], f"part-{i}") for i, (a, b) in enumerate(pairwise(bounds))]
        source = open_rows(paths, block_rows=data.draw(st.integers(1, 50)))
        assert (source.n_rows, source.n_columns, source.dtype) == (n_rows, n_columns, x.dtype)
        start = data.draw(st.integers(0, 3))
        assert_array_equal(joined(source), x)
        assert_array_equal(joined(source, start), x[start * source.block_rows :])
        index = np.asarray(sorted(data.draw(st.lists(st.integers(0, n_rows - 1), max_size=10))), int)
        assert_array_equal(source.take(index), x[index])
        assert source.take(index).dtype == source.dtype
        assert_array_equal(pickle.loads(pickle.dumps(source)).take(index), x[index])

    @QUICK
    @given(lengths=st.lists(st.integers(0, 9), min_size=1, max_size=12), block_rows=st.integers(1, 30), data=st.data())
    def test_of_a_function(self, lengths, block_rows, data):
        x = draw(sum(lengths) + 1, 3)
        bounds = np.cumsum([0, *lengths, 1])

        def blocks():
            return (x[a:b] for a, b in pairwise(bounds))

        source = open_rows(blocks, block_rows=block_rows)
        assert source.n_rows is None
        assert source.n_blocks is None
        start = data.draw(st.integers(0, 4))
        assert_array_equal(joined(source, start), x[start * block_rows :])
        assert_array_equal(joined(source), x)
        assert source.n_rows == len(x)
        assert source.n_blocks == len(list(source.blocks()))
        index = np.asarray(sorted(data.draw(st.lists(st.integers(0, len(x) - 1), max_size=10))), int)
        assert_array_equal(source.take(index), x[index])

    @pytest.mark.parametrize("name", sorted(FORMATS))
    @pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u2", "i8", "?"])
    def test_of_every_kind_of_number(self, tmp_path, name, dtype):
        x = draw(11, 3).astype(dtype)
        source = open_rows(write(name, tmp_path, x), block_rows=4)
        assert source.dtype == (np.float32 if dtype in ("f2", "f4") else np.float64)
        assert_array_equal(joined(source), x.astype(source.dtype))
        assert_array_equal(source.take([1, 10]), x[[1, 10]].astype(source.dtype))

    @pytest.mark.parametrize("name", ["npy", "fortran", "hdf5", "zarr"])
    def test_of_the_other_byte_order(self, tmp_path, name):
        x = draw(11, 3).astype(">f4")
        source = open_rows(write(name, tmp_path, x), block_rows=4)
        assert source.dtype == np.dtype("=f4")
        assert_array_equal(joined(source), x)

    def test_of_files_of_several_formats_and_widths(self, tmp_path):
        x = draw(40, 3, dtype=np.float32)
        paths = [write(name, tmp_path, x, name.replace(" ", "-")) for name in sorted(FORMATS)]
        source = open_rows([*paths, write_npy(tmp_path / "wide.npy", x.astype(np.float64))], block_rows=33)
        assert source.dtype == np.float64
        assert_array_equal(joined(source), np.tile(x, (len(FORMATS) + 1, 1)))

    @pytest.mark.parametrize("name", sorted(FORMATS))
    def test_of_some_columns(self, tmp_path, name):
        x = draw(13, 4)
        source = open_rows(write(name, tmp_path, x), columns=[2, 0], block_rows=5)
        assert_array_equal(joined(source), x[:, [2, 0]])
        assert_array_equal(source.take([3, 9]), x[[3, 9]][:, [2, 0]])
        assert_array_equal(joined(open_rows(x, columns=(-1,))), x[:, 3:])
        assert_array_equal(joined(open_rows(lambda: [x], columns=(3, 1))), x[:, [3, 1]])

    def test_while_another_pass_is_on(self, tmp_path):
        x = draw(30, 2)
        source = open_rows(write("parquet", tmp_path, x), block_rows=4)
        for left, right in zip(source.blocks(), source.blocks(), strict=True):
            assert_array_equal(left, right)


class TestOpening:
    def test_patterns_sort_numbers_as_numbers(self, tmp_path, monkeypatch):
        for i in (1, 2, 10):
            write_npy(tmp_path / f"part-{i}.npy", np.full((2, 1), float(i)))
        monkeypatch.chdir(tmp_path)
        assert joined(open_rows("part-*.npy"))[:, 0].tolist() == [1, 1, 2, 2, 10, 10]
        with pytest.raises(FileNotFoundError, match=r"other-\*.npy matches no file"):
            open_rows("other-*.npy")

    def test_a_path_that_looks_like_a_pattern(self, tmp_path):
        assert open_rows(str(write_npy(tmp_path / "x[1].npy", draw(3, 2)))).n_rows == 3

    def test_relative_paths_open_elsewhere(self, tmp_path, monkeypatch):
        monkeypatch.chdir(write_npy(tmp_path / "x.npy", draw(3, 2)).parent)
        content = pickle.dumps(open_rows("x.npy", labels="labels.npy"))
        monkeypatch.chdir("/")
        source = pickle.loads(content)
        assert len(joined(source)) == 3
        assert source.options.labels == tmp_path / "labels.npy"

    def test_a_folder_of_parquet(self, tmp_path):
        x = draw(12, 2)
        for i in range(11):
            write_parquet(tmp_path / f"part-{i}.parquet", x[i : i + 1])
        write_parquet(tmp_path / "part-12.pq", x[11:11])
        (tmp_path / "_SUCCESS").touch()
        source = open_rows(tmp_path)
        assert source.column_names == ("c0", "c1")
        assert_array_equal(joined(source), x[:11])

    def test_parquet_columns_by_name_in_any_order(self, tmp_path):
        x = draw(5, 2)
        first = write_parquet(tmp_path / "a.parquet", x)
        pq.write_table(pa.table({"c1": x[:, 1], "c0": x[:, 0]}), tmp_path / "b.parquet")
        assert_array_equal(joined(open_rows([first, tmp_path / "b.parquet"])), np.vstack([x, x]))
        assert open_rows(first, columns=["c1"]).column_names == ("c1",)
        assert_array_equal(joined(open_rows(first, columns=["c1", "c0"])), x[:, ::-1])
        assert_array_equal(joined(open_rows(first, columns=[1])), x[:, 1:])
        pq.write_table(pa.table({"c1": x[:, 1], "z": x[:, 0]}), tmp_path / "c.parquet")
        with pytest.raises(ValueError, match=r"c\.parquet and .*a\.parquet differ in column 'c0'"):
            open_rows([first, tmp_path / "c.parquet"])

    def test_parquet_of_every_kind_of_column(self, tmp_path):
        table = pa.table(
            {
                "whole": pa.array([1, None, 3]),
                "half": pa.array([None, np.float16(1), np.float16(2)], pa.float16()),
                "yes": pa.array([True, None, False]),
                "exact": pa.array([1, 2, None], pa.decimal128(5, 2)),
                "few": pa.array([2.5, None, 2.5]).dictionary_encode(),
            }
        )
        pq.write_table(table, tmp_path / "x.parquet")
        nan = np.nan
        expected = [[1, nan, 1, 1, 2.5], [nan, 1, nan, 2, nan], [3, 2, 0, nan, 2.5]]
        source = open_rows(tmp_path / "x.parquet", block_rows=2)
        assert_array_equal(joined(source), expected)
        assert_array_equal(source.take([2]), expected[2:])
        assert open_rows(tmp_path / "x.parquet", columns=["half"]).dtype == np.float32

    def test_one_array_of_several(self, tmp_path):
        x = draw(6, 2)
        with h5py.File(tmp_path / "x.h5", "w") as file:
            file["group/rows"], file["labels"] = x, np.arange(6)
        group = zarr.open_group(tmp_path / "x.zarr", mode="w")
        group.create_array("group/rows", data=x)
        group.create_array("labels", data=np.arange(6))
        for path in (tmp_path / "x.h5", tmp_path / "x.zarr"):
            assert_array_equal(joined(open_rows(path)), x)
            assert_array_equal(joined(open_rows(path, key="/group/rows")), x)
            with pytest.raises(ValueError, match="has no array key='rows': it has 'group/rows' 6x2, 'labels' 6"):
                open_rows(path, key="rows")
            with pytest.raises(ValueError, match=r"'labels', has shape \(6,\)"):
                open_rows(path, key="labels")
        with h5py.File(tmp_path / "x.h5", "a") as file:
            file["more"] = x
        group.create_array("more", data=x)
        for path in (tmp_path / "x.h5", tmp_path / "x.zarr"):
            with pytest.raises(ValueError, match=r"several arrays: name the one .* key=...; it has .*'more'"):
                open_rows(path)

    def test_zarr_of_the_second_version_and_of_shards(self, tmp_path):
        x = draw(20, 4)
        old = zarr.create_array(tmp_path / "old", shape=x.shape, chunks=(6, 4), dtype=x.dtype, zarr_format=2)
        old[:] = x
        new = zarr.create_array(tmp_path / "new", shape=x.shape, chunks=(3, 2), shards=(6, 4), dtype=x.dtype)
        new[:] = x
        for folder in ("old", "new"):
            assert_array_equal(joined(open_rows(tmp_path / folder, block_rows=7)), x)

    @pytest.mark.parametrize("suffix", [".h5", ".zarr"])
    def test_chunks_must_fit_into_memory(self, tmp_path, suffix):
        path = tmp_path / f"x{suffix}"
        if suffix == ".h5":
            with h5py.File(path, "w") as file:
                file.create_dataset("x", shape=(3000, 1000), chunks=(3000, 1000), dtype="f4")
        else:
            zarr.create_array(path, shape=(3000, 1000), chunks=(3000, 1000), dtype="f4")
        with pytest.raises(ValueError, match=r'chunks of 12 MB, too large .* pass memory_limit="48MB"'):
            next(open_rows(path, memory_limit="32MB").blocks())
        with pytest.raises(ValueError, match=r"chunks of 12 MB, too large"):
            open_rows(path, memory_limit="32MB").take([3])
        assert not next(open_rows(path, memory_limit="48MB").blocks()).any()

    @pytest.mark.parametrize("order", ["C", "F"])
    def test_a_memmap_is_its_file(self, tmp_path, order):
        x = draw(3000, 3)
        mapped = np.memmap(tmp_path / "x.raw", "f8", "w+", offset=5000, shape=x.shape, order=order)
        mapped[:] = x
        source = open_rows(mapped, block_rows=7)
        assert len(pickle.dumps(source)) < 2000
        assert_array_equal(joined(pickle.loads(pickle.dumps(source))), x)
        part = mapped[1000:] if order == "C" else mapped[:, 1:]
        source = open_rows(part)
        assert len(pickle.dumps(source)) < 2000
        assert_array_equal(joined(source), part)
        # What is no stretch of the file is read by way of the map.
        assert_array_equal(joined(open_rows(mapped[::2, ::2], block_rows=7)), x[::2, ::2])
        assert_array_equal(joined(open_rows(mapped + 1)), x + 1)
        del mapped, part, source

    def test_a_memmap_of_a_file_that_has_gone(self, tmp_path):
        mapped = np.load(write_npy(tmp_path / "x.npy", draw(9, 2)), mmap_mode="c")
        mapped[0] = 0
        assert joined(open_rows(mapped))[0].tolist() == [0, 0]
        mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
        (tmp_path / "x.npy").unlink()
        assert_array_equal(joined(open_rows(mapped)), mapped)

    def test_arrays_are_not_copied(self):
        x = draw(10, 2)
        assert all(np.shares_memory(block, x) for block in open_rows(x, block_rows=4).blocks())
        assert_array_equal(joined(open_rows(x.astype(int)[:, ::-1], block_rows=4)), x.astype(int)[:, ::-1])

    def test_a_dataframe(self):
        frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "name": ["x", "y"]})
        source = open_rows(frame, columns=["b", "a"])
        assert source.column_names == ("b", "a")
        assert_array_equal(joined(source), [[0.5, 1], [1.5, 2]])
        assert_array_equal(joined(open_rows(frame[["a", "b"]], columns=[1])), [[0.5], [1.5]])

    def test_blocks_are_as_large_as_memory_allows(self):
        x = np.zeros((10, 10), np.float32)
        assert open_rows(x).block_rows == 10**9 // 16 // 40
        assert open_rows(x, memory_limit="32MB").block_rows == 2 * 10**6 // 40
        assert open_rows(x, memory_limit="1TB").block_rows == 64 * 2**20 // 40
        assert open_rows(x, block_rows=3).n_blocks == 4
        assert open_rows(np.zeros((1, 10**6)), memory_limit="32MB").block_rows == 1

    def test_options_change_and_the_rest_stays(self, tmp_path):
        source = open_rows(draw(4, 2), memory_limit="64MB", checkpoint=tmp_path, device="cuda")
        assert source.options == FeedOptions(64 * 10**6, None, tmp_path, None, "cuda")
        other = open_rows(source, block_rows=3)
        assert other.options == FeedOptions(64 * 10**6, 3, tmp_path, None, "cuda")
        assert source.options.block_rows is None
        with pytest.raises(ValueError, match="chosen when a file is opened"):
            open_rows(source, columns=[0])

    def test_is_source(self, tmp_path):
        x = draw(3, 2)
        mapped = np.load(write_npy(tmp_path / "x.npy", x), mmap_mode="r")
        for X in ("x.npy", tmp_path, ["a.npy", tmp_path], lambda: [x], iter([x]), open_rows(x), mapped):
            assert is_source(X)
        for X in (x, x.tolist(), [], None, pd.DataFrame(x)):
            assert not is_source(X)

    def test_repr(self):
        assert repr(open_rows(draw(4, 2), block_rows=3)) == "ArrayRows(4 rows, 2 columns, float64, 3 a block)"
        assert isinstance(open_rows(draw(4, 2)), RowSource)


class TestTake:
    @pytest.mark.parametrize("X", [draw(9, 2), lambda: [draw(9, 2)]], ids=["array", "function"])
    def test_refuses_rows_that_do_not_exist(self, X):
        source = open_rows(X, block_rows=4)
        with pytest.raises(IndexError, match="holds 9, but there are 9 rows"):
            source.take([1, 9])
        with pytest.raises(ValueError, match="ascending"):
            source.take([3, 1])
        with pytest.raises(ValueError, match="ascending"):
            source.take([-1, 1])
        with pytest.raises(ValueError, match="flatnonzero"):
            source.take(np.ones(9, bool))
        assert source.take([]).shape == (0, 2)
        with pytest.raises(ValueError, match="start=-1"):
            source.blocks(-1)

    def test_reads_only_what_is_needed(self, tmp_path, monkeypatch):
        from subspaces.rows.formats.npy import RawTable

        path = write_npy(tmp_path / "x.npy", draw(100_000, 4))
        read = []
        fill = RawTable._fill
        monkeypatch.setattr(RawTable, "_fill", lambda *given: (read.append(given[-1].nbytes), fill(*given)))
        source = open_rows(path)
        assert_array_equal(source.take([0, 50_000, 99_999]), np.load(path)[[0, 50_000, 99_999]])
        assert read == [32, 32, 32]


class TestOtherLibraries:
    @pytest.fixture(params=["torch", "array_api_strict"])
    def xp(self, request, monkeypatch):
        if request.param == "array_api_strict":
            # Its devices have names of their own.
            monkeypatch.setattr("subspaces.rows.streams.to_host", np.asarray)
        return pytest.importorskip(request.param)

    def test_arrays_keep_their_library(self, xp):
        x = draw(10, 3, dtype=np.float32)
        source = open_rows(xp.asarray(x), block_rows=4, columns=[2, 0])
        blocks = list(source.blocks(1))
        assert all(type(block) is type(xp.asarray(x)) and block.dtype == xp.float32 for block in blocks)
        assert_array_equal(np.concatenate([np.asarray(block) for block in blocks]), x[4:, [2, 0]])
        assert_array_equal(np.asarray(source.take([1, 5])), x[[1, 5]][:, [2, 0]])
        assert type(source.follow(np.arange(3))) is type(xp.asarray(x))
        assert open_rows(xp.asarray(x.astype(int))).dtype == np.float64

    def test_blocks_of_functions_keep_their_library(self, xp):
        x = draw(20, 3, dtype=np.float32)
        source = open_rows(lambda: (xp.asarray(x[i : i + 3]) for i in range(0, 20, 3)), block_rows=8)
        blocks = list(source.blocks())
        assert [block.shape[0] for block in blocks] == [8, 8, 4]
        assert all(type(block) is type(xp.asarray(x)) and block.dtype == xp.float32 for block in blocks)
        assert_array_equal(np.concatenate([np.asarray(block) for block in blocks]), x)
        assert_array_equal(np.asarray(source.take([1, 15])), x[[1, 15]])
        assert source.take([]).shape == (0, 3)
        assert type(source.follow(np.arange(3))) is type(xp.asarray(x))

    def test_libraries_do_not_mix(self, xp):
        source = open_rows(lambda: iter([np.ones((2, 2)), xp.asarray(np.ones((2, 2)))]))
        with pytest.raises(ValueError, match="Block 1 of X is of another array library"):
            list(source.blocks())
