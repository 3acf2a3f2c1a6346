"""Work on columns grows with their number and not with its square: a few bytes can claim a million columns."""

import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from subspaces import open_rows
from subspaces.cli.columns import columns_of
from subspaces.rows.columns import first_places, positions, unique_names

# Seconds of the processor. All cases below take less than 3 on a slow machine, and a minute or more if a list of names
# is searched once for each column.
MOST = 15.0


@pytest.fixture(autouse=True)
def clock():
    began = time.process_time()
    yield
    assert time.process_time() - began < MOST


def line(cells):
    return ",".join(cells) + "\n"


def names_of(count):
    return [f"x{i}" for i in range(count)]


def test_an_array(tmp_path):
    np.save(tmp_path / "rows.npy", np.zeros((1, 200_000)))
    assert open_rows(tmp_path / "rows.npy").n_columns == 200_000


def test_columns_by_name():
    names = names_of(80_000)
    assert positions(names[::-1], names, "X") == list(range(80_000))[::-1]
    assert columns_of("--columns", names[::-1])(names) == list(range(80_000))[::-1]


def test_the_first_of_equal_names_counts():
    assert first_places(["a", "b", "a"]) == {"a": 0, "b": 1}
    assert positions("a", ["a", "b", "a"], "X") == [0]


def test_names_that_are_equal():
    found = unique_names(["x"] * 60_000)
    assert found[:3] == ("x", "x (2)", "x (3)")
    assert len(set(found)) == 60_000


def test_names_that_are_taken():
    assert unique_names(["x", "x (2)", "x", "x", "x (2)"]) == ("x", "x (2)", "x (3)", "x (4)", "x (2) (2)")


def test_files_whose_columns_are_in_another_order(tmp_path):
    names = names_of(40_000)
    (tmp_path / "a.csv").write_text(line(names) + line(["1"] * len(names)))
    (tmp_path / "b.csv").write_text(line(names[::-1]) + line(map(str, range(len(names)))))
    rows = np.concatenate(list(open_rows([tmp_path / "a.csv", tmp_path / "b.csv"]).blocks()))
    assert rows[0].tolist() == [1.0] * len(names)
    assert rows[1].tolist() == list(range(len(names)))[::-1]


def test_a_header_longer_than_the_lines_that_are_looked_at(tmp_path):
    names = [f"a_rather_long_name_of_a_column_{i}" for i in range(40_000)]
    (tmp_path / "a.csv").write_text(line(names) + line(["1.5"] * len(names)))
    source = open_rows(tmp_path / "a.csv")
    assert (source.n_rows, source.column_names[:1]) == (1, tuple(names[:1]))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_that_do_not_fit_into_memory(suffix, tmp_path):
    """pyarrow takes some kilobytes for a column, whatever is in it."""
    names = names_of(20_000)
    if suffix == "csv":
        (tmp_path / "a.csv").write_text(line(names) + line(["1"] * len(names)) * 2)
    else:
        pq.write_table(pa.table([pa.array([1.0, 2.0])] * len(names), names=names), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"20,000 columns, too many for memory_limit=0\.1GB"):
        open_rows(tmp_path / f"a.{suffix}", memory_limit="100MB")
    assert open_rows(tmp_path / f"a.{suffix}", memory_limit="300MB").n_columns == 20_000


def test_repeated_names_of_a_parquet_file(tmp_path):
    names = [*names_of(20_000), "x19999"]
    pq.write_table(pa.table([pa.array([1.0])] * len(names), names=names), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="several columns 'x19999'"):
        open_rows(tmp_path / "a.parquet")
