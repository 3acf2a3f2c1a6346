"""Pages of Parquet files that take more memory than allowed are refused from their headers."""

import memory
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from subspaces import open_rows
from subspaces.inputs import read_table
from subspaces.rows.formats import parquet_footer
from subspaces.rows.formats.parquet_pages import PageSizes, ThriftReader


def varint(number):
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def integer(number):
    return varint(number << 1 ^ number >> 63)


def header(unpacked, packed, count, *, length):
    """The header of a page, of an exact length."""
    part = b"\x15" + integer(count) + b"\x15\x00" + b"\x15\x06" + b"\x15\x06" + b"\0"
    start = b"\x15\x00" + b"\x15" + integer(unpacked) + b"\x15" + integer(packed) + b"\x2c" + part
    # Filled up with text in a field that does not exist.
    filling = length - len(start) - 3
    assert 0 <= filling < 128
    return start + b"\xa8" + varint(filling) + bytes(filling) + b"\0"


def rewritten(path, column, **changes):
    """A file of two columns, in which the only page of the first has another header."""
    pq.write_table(pa.table({"a": column, "b": np.arange(float(len(column)))}), path, use_dictionary=False)
    content = path.read_bytes()
    reader = ThriftReader(content[4:])
    numbers = reader.struct().numbers
    values = {"unpacked": numbers[2], "packed": numbers[3], "count": len(column)} | changes
    path.write_bytes(content[:4] + header(**values, length=reader.at) + content[4 + reader.at :])
    return path


# Columns of 300 MB of text, or 160 MB of numbers, that pack to little, and how they are written.
BOMBS = {
    "prefixes": (lambda: [f"{'x' * 50_000}{i}" for i in range(6000)], {"column_encoding": {"a": "DELTA_BYTE_ARRAY"}}),
    "long cells": (lambda: [f"{i}{'x' * 50_000}" for i in range(6000)], {}),
    "lengths": (lambda: ["x" * 50_000] * 6000, {"column_encoding": {"a": "DELTA_LENGTH_BYTE_ARRAY"}}),
    "entries": (lambda: ["x" * 50_000] * 6000, {"use_dictionary": True}),
    "lists": (lambda: pa.array([np.zeros(20_000_000), *np.zeros((5, 1))]), {"use_dictionary": True}),
}


class TestMemory:
    @pytest.mark.parametrize(
        ("field", "message"), [("unpacked", "pages that take 800 MB"), ("packed", "a page is longer than the file")]
    )
    def test_a_page_that_claims_much(self, field, message, tmp_path):
        path = rewritten(tmp_path / "x.parquet", np.arange(50.0), **{field: 800_000_000})
        found, grown = memory.reading(path, memory_limit="32MB")
        assert grown < 100
        assert message in found

    def test_a_page_of_text_that_claims_much(self, tmp_path):
        path = rewritten(tmp_path / "x.parquet", [str(i) for i in range(50)], unpacked=800_000_000)
        message, grown = memory.reading(path, memory_limit="32MB")
        assert "pages that take 800 MB" in message
        assert grown < 100

    def test_names_of_rows(self, tmp_path):
        path = rewritten(tmp_path / "x.parquet", [str(i) for i in range(50)], unpacked=800_000_000)
        message, grown = memory.reading(path, memory_limit="32MB", names="a")
        assert "pages that take 800 MB" in message
        assert grown < 100

    def test_text_that_packs_to_little(self, tmp_path):
        rows = pa.table({"a": ["x" * 300_000_000, "1"], "b": np.arange(2.0)})
        pq.write_table(rows, tmp_path / "x.parquet", use_dictionary=False, compression="zstd", write_statistics=False)
        assert (tmp_path / "x.parquet").stat().st_size < 100_000
        message, grown = memory.reading(tmp_path / "x.parquet", memory_limit="32MB")
        assert (
            "pages that take 300 MB together, one for each column, too many for memory_limit=32000000: pass " in message
        )
        assert grown < 100

    @pytest.mark.parametrize("options", [{}, {"names": "a"}], ids=str)
    @pytest.mark.parametrize("kind", BOMBS)
    def test_cells_that_pack_to_little(self, kind, options, tmp_path):
        make, written = BOMBS[kind]
        column = make()
        rows = pa.table({"a": column, "b": np.arange(float(len(column)))})
        written = {"use_dictionary": False, "write_batch_size": 10, **written}
        pq.write_table(rows, tmp_path / "x.parquet", compression="zstd", write_statistics=False, **written)
        assert (tmp_path / "x.parquet").stat().st_size < 300_000
        message, grown = memory.reading(tmp_path / "x.parquet", memory_limit="32MB", **options)
        assert grown < 100
        assert message.count("names or true classes do not fit") == (1 if options else 0)
        assert options or not message


class TestDamaged:
    @pytest.mark.parametrize(
        "changes", [{"packed": 2**31 - 1}, {"packed": -5}, {"unpacked": -5}, {"unpacked": 2**40}], ids=str
    )
    def test_lengths(self, changes, tmp_path):
        with pytest.raises(ValueError, match=r"x\.parquet (is damaged: a page is longer|has pages that take)"):
            read_table(rewritten(tmp_path / "x.parquet", np.arange(50.0), **changes))

    @pytest.mark.parametrize(
        "start",
        [
            b"\x1c" * 40,  # structures inside structures
            b"\x19\xf3" + b"\xff" * 5 + b"\x0f",  # a list of 2^35 bytes
            b"\x19\xf0" + b"\xff" * 5 + b"\x0f",  # a list of a type that does not exist
            b"\x11" * 5000,  # true, again and again
            b"\x05\xff\xff\x7f",  # a field of a number that overflows
            b"\x15" + b"\xff" * 12,  # a number that does not end
            b"\x18" + b"\xff" * 4 + b"\x07",  # text beyond the file
            b"\x1f",  # a type that does not exist
        ],
        ids=range(8),
    )
    def test_headers(self, start, tmp_path):
        pq.write_table(pa.table({"a": np.random.default_rng(0).normal(size=9000)}), tmp_path / "x.parquet")
        content = (tmp_path / "x.parquet").read_bytes()
        (tmp_path / "x.parquet").write_bytes(content[:4] + start + content[4 + len(start) :])
        with pytest.raises(ValueError, match=r"x\.parquet is damaged: a page header"):
            read_table(tmp_path / "x.parquet")


class TestHonest:
    """Files of all kinds are read, and what their pages take is known."""

    @pytest.mark.parametrize("version", ["1.0", "2.0"])
    @pytest.mark.parametrize("dictionary", [True, False])
    @pytest.mark.parametrize("packing", ["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
    def test_all_writers(self, version, dictionary, packing, tmp_path):
        rng = np.random.default_rng(0)
        x = rng.normal(size=(40_000, 2))
        words = rng.integers(9, size=len(x))
        rows = {"a": x[:, 0], "b": x[:, 1], "c": words.astype(str)}
        pq.write_table(
            pa.table(rows),
            tmp_path / "x.parquet",
            data_page_version=version,
            use_dictionary=dictionary,
            compression=packing,
            data_page_size=20_000,
            row_group_size=15_000,
            write_page_checksum=True,
        )
        found = np.concatenate(list(open_rows(tmp_path / "x.parquet").blocks()))
        np.testing.assert_array_equal(found, np.column_stack([x, words]))

    def test_sizes(self, tmp_path):
        rows = pa.table({"a": np.random.default_rng(0).normal(size=30_000), "b": np.zeros(30_000)})
        options = {"use_dictionary": ["b"], "data_page_size": 8000, "write_batch_size": 100}
        pq.write_table(rows, tmp_path / "x.parquet", compression="none", row_group_size=20_000, **options)
        sizes = PageSizes(tmp_path / "x.parquet")
        sizes.check(pq.ParquetFile(tmp_path / "x.parquet").metadata, [0, 1], [0], 10**9)
        # Pages end after the first batch that is beyond their size.
        assert np.all((sizes._found["held"][:, 0] >= 8000) & (sizes._found["held"][:, 0] < 8900))
        assert (sizes._found["held"][:, 1] == -1).all()

    def test_a_file_that_has_changed_is_looked_at_again(self, tmp_path):
        path = tmp_path / "x.parquet"
        pq.write_table(pa.table({"a": np.arange(50.0)}), path, use_dictionary=False)
        rows = open_rows(path)
        assert sum(map(len, rows.blocks())) == 50
        rewritten(path, np.arange(50.0), unpacked=2_000_000_000)
        with pytest.raises(ValueError, match="pages that take 2000 MB"):
            list(rows.blocks())

    def test_records_and_lists(self, tmp_path):
        columns = {"a.b": np.arange(6.0), "a": [{"b": i, "c": [i]} for i in range(6)], "y": [[i] for i in range(6)]}
        pq.write_table(pa.table(columns), tmp_path / "x.parquet")
        np.testing.assert_array_equal(read_table(tmp_path / "x.parquet", truth="y").rows[:, 0], np.arange(6))

    @pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
    def test_text_that_is_never_a_dictionary(self, encoding, tmp_path):
        """Other libraries write it by default."""
        words = np.random.default_rng(0).normal(size=3000).astype(str)
        rows = pa.table({"a": words, "b": words, "c": np.arange(3000.0)})
        options = {"column_encoding": {"a": encoding, "c": "PLAIN"}, "use_dictionary": ["b"], "row_group_size": 1000}
        pq.write_table(rows, tmp_path / "x.parquet", **options)
        found = read_table(tmp_path / "x.parquet")
        np.testing.assert_array_equal(found.rows[:, 0], words.astype(float))
        np.testing.assert_array_equal(found.rows[:, 1], words.astype(float))
        assert read_table(tmp_path / "x.parquet", names="a").row_names == tuple(words)

    def test_no_rows_in_a_group(self, tmp_path):
        schema = pa.schema({"a": pa.float64()})
        with pq.ParquetWriter(tmp_path / "x.parquet", schema) as writer:
            for count in (3, 0, 4):
                writer.write_table(pa.table({"a": np.arange(float(count))}, schema))
        assert read_table(tmp_path / "x.parquet").n_rows == 7


def test_sizes_that_do_not_suit_a_column_are_refused(tmp_path, monkeypatch):
    """Pyarrow would end the interpreter."""
    pq.write_table(pa.table({"x": [1.0, None, 3.0], "y": ["a", "b", "c"]}), tmp_path / "rows.parquet")
    file = pq.ParquetFile(tmp_path / "rows.parquet")
    parquet_footer.check_levels(tmp_path / "rows.parquet", file.schema)
    groups = parquet_footer._footer(tmp_path / "rows.parquet")[parquet_footer.GROUPS]
    chunks = [chunk[parquet_footer.METADATA] for chunk in groups[0][parquet_footer.COLUMNS]]
    for damage in ({parquet_footer.DEFINITIONS: [1]}, {parquet_footer.TEXT_BYTES: 3}):
        footer = {parquet_footer.GROUPS: [{parquet_footer.COLUMNS: [{parquet_footer.METADATA: {16: damage}}]}]}
        monkeypatch.setattr(parquet_footer, "_footer", lambda path, footer=footer: footer)
        with pytest.raises(ValueError, match="is damaged"):
            parquet_footer.check_levels(tmp_path / "rows.parquet", file.schema)
    # Offset of the first page, bytes and number of values, as pyarrow reads them.
    assert chunks[0][5] == 3
    assert chunks[0][7] == file.metadata.row_group(0).column(0).total_compressed_size
