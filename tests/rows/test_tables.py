"""`read_table`: every format gives the same table, and text tables are read as people write them."""

import bz2
import csv
import gzip
import io
import lzma
import tempfile
import warnings
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from subspaces import FLS
from subspaces.inputs import read_table
from subspaces.rows import RowSource

ROWS = np.array([[1.5, -2.0, 3e-5], [4.0, 5.25, 6.0], [7.0, 8.0, -9.125], [0.1, 0.2, 0.3]])
CLASSES = np.array([1, 0, 1, 2])
WORDS = ["a", "b", "a", "c"]


def write_csv(path, rows=ROWS, header="x,y,z", delimiter=","):
    lines = [header] if header else []
    lines += [delimiter.join(map(repr, row)) for row in np.asarray(rows).tolist()]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_text(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def write_gz(path):
    path.write_bytes(gzip.compress(write_csv(path.with_suffix("")).read_bytes()))
    return path


def write_h5(path, **arrays):
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file[name] = values
    return path


def write_mat73(path, **arrays):
    # MATLAB puts 512 bytes of its own before the HDF5 file, and stores columns one after another.
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in arrays.items():
            file[name] = np.asarray(values).T
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file")
    return path


def write_zarr(path, **arrays):
    group = zarr.open_group(path, mode="w")
    for name, values in arrays.items():
        group.create_array(name, data=values)
    return path


def saved(path, save, *args, **options):
    save(path, *args, **options)
    return path


FORMATS = {
    "csv": lambda folder: write_csv(folder / "rows.csv"),
    "csv without header": lambda folder: write_csv(folder / "rows.csv", header=None),
    "tsv": lambda folder: write_csv(folder / "rows.tsv", header="x\ty\tz", delimiter="\t"),
    "semicolons": lambda folder: write_csv(folder / "rows.csv", header="x;y;z", delimiter=";"),
    "blanks": lambda folder: write_csv(folder / "rows.txt", header=None, delimiter="   "),
    "csv.gz": lambda folder: write_gz(folder / "rows.csv.gz"),
    "npy": lambda folder: saved(folder / "rows.npy", np.save, ROWS),
    "npz": lambda folder: saved(folder / "rows.npz", np.savez, X=ROWS, y=CLASSES),
    "mat": lambda folder: saved(folder / "rows.mat", scipy.io.savemat, {"X": ROWS, "y": CLASSES}),
    "mat 7.3": lambda folder: write_mat73(folder / "rows.mat", X=ROWS, y=CLASSES[:, None]),
    "parquet": lambda folder: saved(
        folder / "rows.parquet", lambda path: pd.DataFrame(ROWS, columns=[*"xyz"]).to_parquet(path)
    ),
    "hdf5": lambda folder: write_h5(folder / "rows.h5", X=ROWS, y=CLASSES),
    "zarr": lambda folder: write_zarr(folder / "rows.zarr", X=ROWS, y=CLASSES),
}


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_gives_the_same_rows(kind, tmp_path):
    path = FORMATS[kind](tmp_path)
    table = read_table(path)
    np.testing.assert_array_equal(table.rows, ROWS)
    assert table.rows.dtype == np.float64
    assert table.rows.flags.c_contiguous
    named = kind in ("csv", "tsv", "semicolons", "csv.gz", "parquet")
    assert table.columns == (("x", "y", "z") if named else ("column 0", "column 1", "column 2"))
    assert (table.row_names, table.truth, table.image_shape, table.notes, table.kept) == (None, None, None, (), None)


@pytest.mark.parametrize("kind", FORMATS)
def test_files_are_stacked_and_columns_picked_in_every_format(kind, tmp_path):
    (tmp_path / "2").mkdir()
    first, second = FORMATS[kind](tmp_path), FORMATS[kind](tmp_path / "2")
    table = read_table([first, second], columns=[2, 0])
    np.testing.assert_array_equal(table.rows, np.vstack([ROWS, ROWS])[:, [2, 0]])
    table = read_table([first, second], drop=range(1, 3))
    np.testing.assert_array_equal(table.rows, np.vstack([ROWS, ROWS])[:, [0]])
    table = read_table([first, second], truth=-1, names=1)
    np.testing.assert_array_equal(table.rows, np.vstack([ROWS, ROWS])[:, [0]])
    assert [float(value) for value in table.truth] == np.tile(ROWS[:, 2], 2).tolist()
    assert [float(value) for value in table.row_names] == np.tile(ROWS[:, 1], 2).tolist()


@pytest.mark.parametrize("kind", ["npz", "mat", "mat 7.3", "hdf5", "zarr"])
def test_truth_is_another_array_of_the_file(kind, tmp_path):
    path = FORMATS[kind](tmp_path)
    table = read_table(path, truth="y", names="y")
    np.testing.assert_array_equal(table.truth, CLASSES)
    assert table.truth.dtype == np.int64
    assert table.row_names == ("1", "0", "1", "2")
    np.testing.assert_array_equal(read_table(path, key="X", truth="y").rows, ROWS)


def test_truth_beside_npy(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    np.save(tmp_path / "y.npy", np.array(WORDS))
    assert read_table(tmp_path / "rows.npy", truth=str(tmp_path / "y.npy")).truth.tolist() == WORDS


def test_truth_as_words_in_every_format_that_has_them(tmp_path):
    frame = pd.DataFrame(ROWS, columns=[*"xyz"]).assign(kind=WORDS, day=pd.Timestamp("2020-01-01"))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet")
    for path in (tmp_path / "rows.csv", tmp_path / "rows.parquet"):
        table = read_table(path, truth="kind")
        assert table.truth.tolist() == WORDS
        np.testing.assert_array_equal(table.rows, ROWS)
        assert len(table.notes) == 1
        assert "'day'" in table.notes[0]
    scipy.io.savemat(tmp_path / "rows.mat", {"X": ROWS, "y": np.array(WORDS, object)})
    assert read_table(tmp_path / "rows.mat", truth="y").truth.tolist() == WORDS
    write_h5(tmp_path / "rows.h5", X=ROWS, y=WORDS)
    assert read_table(tmp_path / "rows.h5", truth="y").truth.tolist() == WORDS
    np.savez(tmp_path / "rows.npz", X=ROWS, y=WORDS)
    assert read_table(tmp_path / "rows.npz", truth="y").truth.tolist() == WORDS


def test_precision_and_kinds_of_numbers(tmp_path):
    for dtype, expected in ((np.float32, np.float32), (np.int32, np.float64), (np.uint8, np.float64), (bool, float)):
        values = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
        np.save(tmp_path / "rows.npy", values)
        np.savez(tmp_path / "rows.npz", values)
        pd.DataFrame(values, columns=["a", "b"]).to_parquet(tmp_path / "rows.parquet")
        for name in ("rows.npy", "rows.npz", "rows.parquet"):
            table = read_table(tmp_path / name)
            assert table.rows.dtype == expected
            np.testing.assert_array_equal(table.rows, values.astype(expected))


def test_stacks_of_images_in_arrays_are_flattened(tmp_path):
    stack = np.arange(48.0).reshape(4, 3, 4)
    np.save(tmp_path / "rows.npy", stack)
    np.savez(tmp_path / "rows.npz", X=stack, y=CLASSES)
    for name in ("rows.npy", "rows.npz"):
        table = read_table(tmp_path / name)
        assert table.image_shape == (3, 4)
        np.testing.assert_array_equal(table.rows, stack.reshape(4, 12))
    np.save(tmp_path / "rows.npy", stack.reshape(4, 12))
    assert read_table(tmp_path / "rows.npy", image_shape=(3, 4)).image_shape == (3, 4)


class TestText:
    def read(self, folder, text, encoding="utf-8", name="rows.csv", **options):
        return read_table(write_text(folder / name, text, encoding), **options)

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"])
    def test_encodings(self, tmp_path, encoding):
        table = self.read(tmp_path, "größe,é\n1,2\n3,4\n", encoding)
        assert table.columns == ("größe", "é")
        assert bool(table.notes) == (encoding == "latin-1")
        np.testing.assert_array_equal(table.rows, [[1, 2], [3, 4]])

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_ends_of_lines_and_blank_lines(self, tmp_path, end):
        table = self.read(tmp_path, end.join(["a,b", "", "1,2", "", "3,4", "", ""]))
        np.testing.assert_array_equal(table.rows, [[1, 2], [3, 4]])

    @pytest.mark.parametrize(
        "text",
        [
            "a;b\n1,5;2\n-3,25;1e3\n",
            "a\tb\n1,5\t2\n-3,25\t1e3\n",
            'a,b\n"1.5","2"\n"-3.25",1e3\n',
            "a, b\n1.5, 2\n-3.25, 1e3\n",
            "a b\n 1.5   2\n-3.25 1e3 \n",
            "# a,b\n1.5,2\n-3.25,1e3\n",
            "# made on Monday, by me, in Rome\na,b\n1.5,2\n-3.25,1e3\n",
            "sep=;\na;b\n1.5;2\n-3.25;1e3\n",
            "a|b\n1.5|2\n-3.25|1e3\n",
            "a,b\n1.5,2,\n-3.25,1e3,\n",
            "a,b\nr1,1.5,2\nr2,-3.25,1e3\n",
            ",a,b\n0,1.5,2\n1,-3.25,1e3\n",
            '"a","b"\n"r1",1.5,2\n"r2",-3.25,1e3\n',
        ],
    )
    def test_dialects(self, tmp_path, text):
        table = self.read(tmp_path, text)
        assert table.columns == ("a", "b")
        np.testing.assert_array_equal(table.rows, [[1.5, 2], [-3.25, 1000]])

    def test_quoted_cells(self, tmp_path):
        text = 'name,"a, b",c\n"x, ""y""\nz",1,2\nw,3,4\n'
        table = self.read(tmp_path, text, names="name")
        assert table.columns == ("a, b", "c")
        assert table.row_names == ('x, "y"\nz', "w")
        np.testing.assert_array_equal(table.rows, [[1, 2], [3, 4]])
        assert self.read(tmp_path, text, columns="a, b").columns == ("a, b",)

    def test_headers(self, tmp_path):
        assert self.read(tmp_path, "id,1990,1991\n7,1,2\n8,3,4\n", drop="id").columns == ("1990", "1991")
        assert self.read(tmp_path, "1990,1991\n1,2\n").rows.shape == (2, 2)
        assert self.read(tmp_path, "x,1,2\ny,3,4\n").columns == ("column 1", "column 2")
        assert self.read(tmp_path, "a,a,a (2),\n1,2,3,4\n").columns == ("a", "a (3)", "a (2)", "column 3")
        assert self.read(tmp_path, '"a\nb",c\n1,2\n').columns == ("a\nb", "c")
        assert self.read(tmp_path, "NA,1\n2,3\n", missing="drop").kept.tolist() == [1]
        assert self.read(tmp_path, "5").rows.tolist() == [[5.0]]
        assert self.read(tmp_path, "a\n5\n6").columns == ("a",)

    def test_columns_of_text(self, tmp_path):
        table = self.read(
            tmp_path, "id,x,date,flag,empty\nA1,1,2020-01-01,true,\n7,2,2020-01-02,FALSE,NA\nB,3,,True,\n"
        )
        assert table.columns == ("x", "flag")
        np.testing.assert_array_equal(table.rows, [[1, 1], [2, 0], [3, 1]])
        assert table.notes == (
            "3 columns do not hold numbers and are left out: 'id' (mostly text), 'date' (text), 'empty' (empty)",
            "'flag' holds true and false, which are used as 1 and 0",
        )

    def test_numbers_with_underscores_are_text(self, tmp_path):
        table = self.read(tmp_path, "id,x\n1_000,1\n2_000,2\n")
        assert table.columns == ("x",)

    def test_constant_columns_are_reported(self, tmp_path):
        assert "constant column: 'b'" in self.read(tmp_path, "a,b\n1,2\n3,2\n").notes[0]

    def test_truth_is_whole_numbers_or_words(self, tmp_path):
        table = self.read(tmp_path, "a,b\n1,2.0\n3,4\n", truth="b")
        assert table.truth.dtype == np.int64
        assert table.truth.tolist() == [2, 4]
        # Other forms of a number may be names of other classes.
        assert self.read(tmp_path, "a,b\n1,007\n3,7\n", truth="b").truth.tolist() == ["007", "7"]
        assert self.read(tmp_path, "a,b\n1,x\n3,4\n", truth="b").truth.tolist() == ["x", "4"]

    def test_columns_of_later_files_may_be_in_another_order(self, tmp_path):
        write_text(tmp_path / "2.csv", "b,a\n20,10\n")
        write_text(tmp_path / "10.csv", "b,a\n40,30\n")
        write_text(tmp_path / "1.csv", "a,b\n1,2\n")
        table = read_table(str(tmp_path / "*.csv"))
        np.testing.assert_array_equal(table.rows, [[1, 2], [10, 20], [30, 40]])
        np.testing.assert_array_equal(read_table(tmp_path).rows, table.rows)

    def test_text_may_follow_numbers_in_later_blocks(self, tmp_path):
        # The reader takes a megabyte at a time.
        lines = ["a,b", *(f"{i},{i}" for i in range(200_000))]
        lines[170_000] = "70,?"
        lines[180_000] = '80,"8\n"'
        table = self.read(tmp_path, "\n".join(lines), missing="drop")
        assert table.kept.tolist() == [row for row in range(200_000) if row != 169_999]
        np.testing.assert_array_equal(table.rows[179_998], [80, 8])
        with pytest.raises(ValueError, match=r"line 200003: 3 cells instead of 2"):
            self.read(tmp_path, "\n".join([*lines, "1,2,3"]))
        lines[190_000] = "90,x"
        with pytest.raises(ValueError, match=r"line 190002, column 'b': 'x' is not a number \(1 of 199999\)"):
            self.read(tmp_path, "\n".join(lines))

    def test_text_and_gaps_beside_numbers(self, tmp_path):
        lines = [f"r{i}, k{i % 3},{i},{i / 7},{'' if i % 5 else i}\r\n" for i in range(200)]
        lines.insert(90, "\r\n")
        table = self.read(tmp_path, "".join(["id,kind,a,b,c\r\n", *lines]), names="id", truth="kind", missing="mean")
        i = np.arange(200)
        expected = np.column_stack([i, i / 7, np.where(i % 5, i[::5].mean(), i)])
        np.testing.assert_allclose(table.rows, expected, rtol=1e-15)
        assert table.truth.tolist() == [f"k{number % 3}" for number in i]
        assert table.row_names == tuple(f"r{number}" for number in i)

    @pytest.mark.parametrize("pack", ["gz", "bz2", "xz", "zip"])
    def test_compressed(self, tmp_path, pack):
        content, path = b"a,b\n1,2\n3,4\n", tmp_path / f"rows.csv.{pack}"
        if pack == "zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("rows.csv", content)
        else:
            path.write_bytes({"gz": gzip, "bz2": bz2, "xz": lzma}[pack].compress(content))
        assert read_table(path).rows.tolist() == [[1, 2], [3, 4]]

    def test_quotes_after_blanks(self, tmp_path):
        assert self.read(tmp_path, '"a", "b"\n"1", "2.5"\n3, "4"\n').rows.tolist() == [[1, 2.5], [3, 4]]

    def test_text_that_is_not_utf8_after_the_first_megabyte(self, tmp_path):
        content = b"word,x\n" + b"a,1\n" * 300_000 + "größe,2\n".encode("latin-1")
        (tmp_path / "rows.csv").write_bytes(content)
        table = read_table(tmp_path / "rows.csv", names="word")
        assert table.row_names[-1] == "größe"
        assert "Latin-1" in table.notes[0]

    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def test_what_is_written_is_read(self, data):
        columns = data.draw(st.integers(1, 5))
        rows = data.draw(st.integers(1, 30))
        limits = st.floats(-1e100, 1e100)
        values = data.draw(st.lists(st.lists(limits, min_size=columns, max_size=columns), min_size=rows, max_size=rows))
        # Every row has a text that is no number and no mark of a missing value.
        letters = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=12)
        words = data.draw(st.lists(letters, min_size=rows, max_size=rows))
        delimiter = data.draw(st.sampled_from([",", ";", "\t"]))
        encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
        quoting = data.draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC, csv.QUOTE_ALL]))
        stream = io.StringIO()
        writer = csv.writer(stream, delimiter=delimiter, quoting=quoting)
        writer.writerow(["word", *(f"x{i}" for i in range(columns))])
        for word, row in zip(words, values, strict=True):
            writer.writerow([f"w{word}w", *map(repr, row)])
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("error")
            path = Path(folder) / "rows.csv"
            path.write_bytes(stream.getvalue().encode(encoding))
            table = read_table(path, names="word", memory_limit="32MB")
        np.testing.assert_array_equal(table.rows, values)
        assert table.columns == tuple(f"x{i}" for i in range(columns))
        assert table.row_names == tuple(f"w{word}w" for word in words)

    @settings(max_examples=60, deadline=None)
    @given(st.binary(max_size=300))
    def test_any_bytes_are_read_or_refused_in_one_line(self, content):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("error")
            path = Path(folder) / "rows.csv"
            path.write_bytes(content)
            message = ""
            try:
                assert np.isfinite(read_table(path, missing="drop").rows).all()
            except (ValueError, OSError) as error:
                message = str(error)
            assert "\n" not in message


class TestMissing:
    TEXT = "name,a,b\np,1,2\nq,NA,4\nr,5,\ns,?,nan\nt,9,10\n"

    def formats(self, folder):
        frame = pd.read_csv(write_text(folder / "rows.csv", self.TEXT), na_values=["?", "NA"])
        frame.to_parquet(folder / "rows.parquet")
        np.save(folder / "rows.npy", frame[["a", "b"]].to_numpy(np.float64))
        return [folder / "rows.csv", folder / "rows.parquet", folder / "rows.npy"]

    def test_error(self, tmp_path):
        for path, place in zip(self.formats(tmp_path), ("line 3", "row 2", "row 2"), strict=True):
            with pytest.raises(
                ValueError, match=f"4 values are missing, the first in .*{place}, column .*missing=.drop"
            ):
                read_table(path)

    def test_drop(self, tmp_path):
        for path in self.formats(tmp_path):
            named = path.suffix != ".npy"
            table = read_table(path, missing="drop", names="name" if named else None)
            np.testing.assert_array_equal(table.rows, [[1, 2], [9, 10]])
            np.testing.assert_array_equal(table.kept, [0, 4])
            assert table.notes[-1] == "3 of 5 rows with missing values dropped"
            assert table.row_names == (("p", "t") if named else None)

    def test_mean(self, tmp_path):
        for path in self.formats(tmp_path):
            table = read_table(path, missing="mean")
            filled = [[1, 2], [5, 4], [5, 16 / 3], [5, 16 / 3], [9, 10]]
            np.testing.assert_allclose(table.rows, filled, rtol=1e-15)
            assert table.kept is None
            assert table.notes[-1].startswith("4 missing values filled")


class TestLargerThanMemory:
    """Rows that do not fit are read in blocks, and are the same rows."""

    @pytest.fixture
    def rows(self):
        # Forty megabytes, more than half of the limit of 64.
        return np.random.default_rng(0).integers(-99, 99, (50_000, 100)).astype(np.float64)

    def check(self, table, rows):
        assert isinstance(table.rows, RowSource)
        assert (table.rows.n_rows, table.rows.n_columns) == rows.shape
        np.testing.assert_array_equal(np.concatenate(list(table.rows.blocks())), rows)
        np.testing.assert_array_equal(np.concatenate(list(table.rows.blocks(3))), rows[3 * table.rows.block_rows :])
        index = np.array([0, 7, 31_000, len(rows) - 1])
        np.testing.assert_array_equal(table.rows.take(index), rows[index])

    def test_npy(self, tmp_path, rows):
        np.save(tmp_path / "rows.npy", rows)
        self.check(read_table(tmp_path / "rows.npy", memory_limit="64MB"), rows)
        table = read_table(tmp_path / "rows.npy", memory_limit="64MB", drop=[99], truth=0)
        self.check(table, rows[:, 1:-1])
        np.testing.assert_array_equal(table.truth, rows[:, 0])

    def test_missing_values(self, tmp_path, rows):
        holes = rows.copy()
        holes[[5, 40_000], [3, 4]] = np.nan
        np.save(tmp_path / "rows.npy", holes)
        table = read_table(tmp_path / "rows.npy", memory_limit="64MB")
        with pytest.raises(ValueError, match=r"row 6, column 'column 3' has a missing value: .*missing="):
            list(table.rows.blocks())
        with pytest.raises(ValueError, match=r"row 40001, column 'column 4' has a missing value"):
            table.rows.take([1, 2, 40_000])
        with pytest.raises(ValueError, match=r"row \d+, column 'column [34]' has a missing value: .*missing="):
            FLS(2, random_state=0).fit(table.rows)
        table = read_table(tmp_path / "rows.npy", memory_limit="64MB", missing="drop")
        self.check(table, np.delete(rows, [5, 40_000], axis=0))
        assert len(table.kept) == len(rows) - 2
        filled = holes.copy()
        filled[[5, 40_000], [3, 4]] = np.nanmean(holes, axis=0)[[3, 4]]
        table = read_table(tmp_path / "rows.npy", memory_limit="64MB", missing="mean")
        np.testing.assert_allclose(np.concatenate(list(table.rows.blocks())), filled, rtol=1e-12)

    def test_csv(self, tmp_path, rows):
        rows = rows[:45_000]
        path = tmp_path / "rows.csv"
        with path.open("w") as stream:
            stream.write(",".join(["name", *(f"x{i}" for i in range(100))]) + "\n")
            stream.writelines(f"r,{','.join(map(str, row))}\n" for row in rows.astype(int).tolist())
        table = read_table(path, memory_limit="64MB", drop="x0")
        self.check(table, rows[:, 1:])
        assert table.columns == tuple(f"x{i}" for i in range(1, 100))
        smaller = table.rows.with_options(type(table.rows.options)(block_rows=20_000))
        assert [len(block) for block in smaller.blocks()] == [20_000, 20_000, 5_000]
        path.write_text(path.read_text().replace("\nr", "\nr,", 1))
        with pytest.raises(ValueError, match="line 2: 102 cells instead of 101"):
            list(table.rows.blocks())

    def test_images(self, tmp_path, monkeypatch):
        monkeypatch.setattr("subspaces.rows.user_table.HELD_SHARE", 10**9)
        rng = np.random.default_rng(0)
        pixels = rng.integers(0, 256, (20, 8, 6)).astype(np.uint8)
        for number, image in enumerate(pixels):
            Image.fromarray(image).save(tmp_path / f"{number}.png")
        table = read_table(tmp_path)
        assert isinstance(table.rows, RowSource)
        (block,) = table.rows.blocks()
        np.testing.assert_array_equal(block, (pixels.astype(np.float32) / np.float32(255)).reshape(20, -1))
        np.testing.assert_array_equal(table.rows.take([3, 7]), block[[3, 7]])


class TestImages:
    @pytest.fixture
    def folder(self, tmp_path):
        pixels = np.random.default_rng(0).integers(0, 256, (6, 5, 4)).astype(np.uint8)
        for number, image in enumerate(pixels):
            place = tmp_path / "faces" / ("anna", "bert")[number % 2]
            place.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(place / f"{number}.png")
        (tmp_path / "faces" / "readme.txt").write_text("not an image")
        (tmp_path / "faces" / ".hidden").mkdir()
        (tmp_path / "faces" / ".hidden" / "0.png").write_text("not an image")
        return tmp_path / "faces", pixels

    def test_a_folder(self, folder):
        root, pixels = folder
        table = read_table(root, truth="folder")
        expected = (pixels.astype(np.float32) / np.float32(255)).reshape(6, -1)[[0, 2, 4, 1, 3, 5]]
        np.testing.assert_array_equal(table.rows, expected)
        assert table.rows.dtype == np.float32
        assert table.image_shape == (5, 4)
        assert table.truth.tolist() == ["anna"] * 3 + ["bert"] * 3
        assert table.row_names[:2] == ("anna/0.png", "anna/2.png")
        assert table.columns[-1] == "pixel 19"
        assert table.notes == ("1 file left out because they are not images",)
        files = read_table([root / "bert" / "1.png", root / "anna" / "0.png"], truth="folder")
        np.testing.assert_array_equal(files.rows, expected[[3, 0]])
        assert files.truth.tolist() == ["bert", "anna"]

    @pytest.mark.parametrize("suffix", ["png", "pgm", "bmp", "tif", "gif"])
    def test_formats_without_loss(self, tmp_path, suffix):
        pixels = np.random.default_rng(0).integers(0, 256, (5, 4)).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"0.{suffix}")
        table = read_table(tmp_path)
        assert table.image_shape == (5, 4)
        np.testing.assert_array_equal(table.rows, pixels.reshape(1, -1).astype(np.float32) / np.float32(255))

    def test_colours_grey_and_deep_images_together(self, tmp_path):
        rng = np.random.default_rng(0)
        colour = rng.integers(0, 256, (5, 4, 3)).astype(np.uint8)
        grey = rng.integers(0, 256, (5, 4)).astype(np.uint8)
        deep = rng.integers(0, 65536, (5, 4)).astype(np.uint16)
        Image.fromarray(grey).save(tmp_path / "1.png")
        Image.fromarray(deep).save(tmp_path / "2.png")
        assert read_table(tmp_path).image_shape == (5, 4)
        Image.fromarray(colour).save(tmp_path / "0.png")
        Image.fromarray(colour).save(tmp_path / "3.jpg")
        Image.fromarray(colour).convert("RGBA").save(tmp_path / "4.png")
        table = read_table(tmp_path)
        assert table.image_shape == (5, 4, 3)
        rows = table.rows.reshape(5, 5, 4, 3)
        np.testing.assert_array_equal(rows[0], colour.astype(np.float32) / np.float32(255))
        np.testing.assert_array_equal(rows[4], rows[0])
        for channel in range(3):
            np.testing.assert_array_equal(rows[1, ..., channel], grey.astype(np.float32) / np.float32(255))
            np.testing.assert_allclose(rows[2, ..., channel], deep / 65535, rtol=1e-6)

    def test_other_sizes(self, folder):
        root, _ = folder
        Image.new("L", (8, 10), 51).save(root / "anna" / "9.png")
        with pytest.raises(ValueError, match=r"9.png is 10x8 pixels, but .* is 5x4 .*image_size=\(5, 4\)"):
            read_table(root)
        table = read_table(root, image_size=(3, 2))
        assert table.image_shape == (3, 2)
        np.testing.assert_allclose(table.rows[3], 0.2, rtol=1e-6)

    def test_a_camera_that_was_turned(self, tmp_path):
        image = Image.fromarray(np.arange(0, 200, 10, np.uint8).reshape(4, 5))
        exif = Image.Exif()
        exif[0x0112] = 6
        image.save(tmp_path / "0.png", exif=exif)
        table = read_table(tmp_path)
        assert table.image_shape == (5, 4)
        upright = np.rot90(np.asarray(image), -1)
        np.testing.assert_allclose(table.rows[0], upright.ravel() / 255, rtol=1e-6)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_true_classes_from_a_file_of_their_own(tmp_path, suffix):
    rows = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 7.0]})
    path = tmp_path / f"rows{suffix}"
    rows.to_parquet(path) if suffix == ".parquet" else rows.to_csv(
        path, index=False, sep="\t" if "tsv" in suffix else ","
    )
    np.save(tmp_path / "y.npy", [0, 1, 1])
    np.save(tmp_path / "short.npy", [0, 1])
    assert read_table(path, truth=str(tmp_path / "y.npy")).truth.tolist() == [0, 1, 1]
    with pytest.raises(ValueError, match=r"short\.npy has 2 entries for 3 rows"):
        read_table(path, truth=str(tmp_path / "short.npy"))
