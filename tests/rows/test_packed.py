"""Packed data that unpacks to far more than it should is refused, and takes no memory."""

import bz2
import gzip
import json
import lzma
import struct
import zipfile
import zlib
from functools import cache

import h5py
import memory
import numcodecs
import numpy as np
import pytest
import zarr

from subspaces.inputs import read_table
from subspaces.rows.formats.packed import SIZES, open_xz, unpacks_within

# What hostile data unpacks to.
BYTES = 160_000_000
ROWS = np.random.default_rng(0).normal(size=(6, 3))


def packed_zeros(opened, count=BYTES):
    with opened as file:
        for _ in range(count // 10**7):
            file.write(bytes(10**7))


@cache
def deflated():
    """Many zeros as a zlib stream."""
    packer = zlib.compressobj(1)
    return b"".join(packer.compress(bytes(10**7)) for _ in range(BYTES // 10**7)) + packer.flush()


CODECS = {
    "zlib": {"id": "zlib", "level": 1},
    "gzip": {"id": "gzip", "level": 1},
    "bz2": {"id": "bz2", "level": 1},
    "lzma": {"id": "lzma", "format": 1, "check": -1, "preset": 0, "filters": None},
    "zstd": {"id": "zstd", "level": 1},
    "lz4": {"id": "lz4", "acceleration": 1},
    "blosc": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0},
}


def zarr_array(path, chunk, **changes):
    """An array of one chunk with the given content."""
    path.mkdir()
    document = {"zarr_format": 2, "shape": [6, 3], "chunks": [6, 3], "dtype": "<f8", "compressor": None}
    document |= {"fill_value": 0, "order": "C", "filters": None, **changes}
    (path / ".zarray").write_text(json.dumps(document))
    (path / "0.0").write_bytes(chunk)
    return path


class TestZarr:
    @pytest.mark.parametrize("name", CODECS)
    def test_chunks_that_unpack_to_much(self, name, tmp_path):
        chunk = numcodecs.get_codec(dict(CODECS[name])).encode(np.zeros(BYTES // 8))
        path = zarr_array(tmp_path / "x.zarr", bytes(chunk), compressor=CODECS[name])
        message, grown = memory.reading(path, memory_limit="32MB")
        assert grown < 100
        assert "x.zarr/0.0 is damaged or unpacks to more than the 144 bytes of its chunk" in message

    @pytest.mark.parametrize("name", CODECS)
    def test_honest_chunks(self, name, tmp_path):
        chunk = numcodecs.get_codec(dict(CODECS[name])).encode(ROWS)
        path = zarr_array(tmp_path / "x.zarr", bytes(chunk), compressor=CODECS[name])
        np.testing.assert_array_equal(read_table(path).rows, ROWS)

    def test_every_way_to_pack_has_a_count(self):
        assert set(CODECS) == set(SIZES)

    def test_a_chunk_that_is_long_itself(self, tmp_path):
        path = zarr_array(tmp_path / "x.zarr", b"")
        with (path / "0.0").open("wb") as file:
            file.truncate(BYTES)
        message, grown = memory.reading(path, memory_limit="32MB")
        assert grown < 100
        assert "longer than its chunk" in message

    @pytest.mark.parametrize("location", ["start", "end"])
    def test_shards(self, location, tmp_path):
        plain = {"name": "bytes", "configuration": {"endian": "little"}}
        inner, index = [plain, {"name": "gzip", "configuration": {"level": 1}}], [plain, {"name": "crc32c"}]
        options = {"chunk_shape": [3, 3], "codecs": inner, "index_codecs": index, "index_location": location}
        (tmp_path / "x.zarr").mkdir()
        (tmp_path / "x.zarr" / "zarr.json").write_text(
            json.dumps(
                {
                    "zarr_format": 3,
                    "node_type": "array",
                    "shape": [6, 3],
                    "data_type": "float64",
                    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [6, 3]}},
                    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                    "fill_value": 0.0,
                    "codecs": [{"name": "sharding_indexed", "configuration": options}],
                    "attributes": {},
                }
            )
        )
        stored = zarr.open(tmp_path / "x.zarr", mode="r+")
        stored[:] = ROWS
        np.testing.assert_array_equal(read_table(tmp_path / "x.zarr").rows, ROWS)
        with gzip.open(tmp_path / "zeros", "wb", 1) as file:
            packed_zeros(file)
        chunk = (tmp_path / "zeros").read_bytes()
        start = 36 if location == "start" else 0
        places = struct.pack("<QQQQ", start, len(chunk), start, len(chunk))
        places = bytes(numcodecs.CRC32C(location="end").encode(np.frombuffer(places, np.uint8)))
        shard = tmp_path / "x.zarr" / "c" / "0" / "0"
        shard.write_bytes(places + chunk if location == "start" else chunk + places)
        message, grown = memory.reading(tmp_path / "x.zarr", memory_limit="32MB")
        assert grown < 100
        assert "unpacks to more than the 72 bytes" in message

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"filters": [CODECS["zlib"]], "compressor": CODECS["zlib"]}, "is packed more than once"),
            ({"compressor": {**CODECS["lzma"], "format": 3}}, "is packed by LZMA without a header"),
            (
                {"filters": [{"id": "astype", "encode_dtype": "|u1", "decode_dtype": "<U100000"}]},
                "is packed by way of <U100000 values",
            ),
        ],
        ids=["twice", "raw", "types"],
    )
    def test_codecs_that_hide_the_size(self, changes, message, tmp_path):
        with pytest.raises(ValueError, match=message):
            read_table(zarr_array(tmp_path / "x.zarr", b"", **changes))


class TestHdf5:
    def test_chunks_that_unpack_to_much(self, tmp_path):
        for name in ("x", "y"):
            with h5py.File(tmp_path / f"{name}.h5", "w") as file:
                file["x"] = ROWS
                shape = (6, 3) if name == "x" else (6,)
                data = file.create_dataset(f"{name}{name}", shape, "f8", chunks=shape, compression="gzip")
                data.id.write_direct_chunk((0,) * len(shape), deflated())
        for name, options in (("x", {"key": "xx"}), ("y", {"key": "x", "truth": "yy"})):
            message, grown = memory.reading(tmp_path / f"{name}.h5", memory_limit="32MB", **options)
            assert grown < 100
            assert "has a chunk that is damaged or unpacks to more than its" in message

    def test_honest_chunks(self, tmp_path):
        x = np.random.default_rng(0).normal(size=(700, 500))
        options = {"compression": "gzip", "compression_opts": 1, "shuffle": True, "fletcher32": True}
        with h5py.File(tmp_path / "x.h5", "w") as file:
            file.create_dataset("x", data=x, chunks=(300, 400), **options)
        np.testing.assert_array_equal(read_table(tmp_path / "x.h5").rows, x)

    def test_filters_that_hide_the_size(self, tmp_path):
        with h5py.File(tmp_path / "x.h5", "w") as file:
            properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            properties.set_chunk((6, 3))
            for _ in range(2):
                properties.set_filter(h5py.h5z.FILTER_DEFLATE, 0, (1,))
            space = h5py.h5s.create_simple((6, 3))
            h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_DOUBLE, space, properties)
        with pytest.raises(ValueError, match="is packed more than once"):
            read_table(tmp_path / "x.h5")


class TestText:
    def test_a_long_line_between_blanks(self, tmp_path):
        with gzip.open(tmp_path / "x.txt.gz", "wb", 1) as file:
            file.write(b"1 2\n" * 300_000 + b"1")
            for _ in range(BYTES // 10**7):
                file.write(b" " * 10**7)
            file.write(b"2\n")
        message, grown = memory.reading(tmp_path / "x.txt.gz", memory_limit="32MB")
        assert grown < 100
        assert "has a line of more than" in message

    def test_many_names(self, tmp_path):
        with gzip.open(tmp_path / "x.csv.gz", "wb", 1) as file:
            file.write(b"x,y\n")
            for _ in range(30):
                file.write(b"1,name\n" * 100_000)
        message, grown = memory.reading(tmp_path / "x.csv.gz", memory_limit="32MB", names="y")
        assert grown < 100
        assert "names or true classes do not fit" in message

    def test_xz_that_claims_memory(self, tmp_path):
        content = lzma.compress(b"1,2\n" * (BYTES // 4), preset=0)
        header = bytearray(content[12 : 12 + (content[12] + 1) * 4])
        # The size of the dictionary: 40 stands for 4 GB.
        header[header.index(b"\x21\x01") + 2] = 40
        header[-4:] = struct.pack("<I", zlib.crc32(header[:-4]))
        (tmp_path / "x.csv.xz").write_bytes(content[:12] + header + content[12 + len(header) :])
        message, grown = memory.reading(tmp_path / "x.csv.xz", memory_limit="32MB")
        assert grown < 100
        assert "Memory usage limit exceeded" in message

    @pytest.mark.parametrize("preset", [0, 9])
    def test_honest_xz(self, preset, tmp_path):
        words = b"1,2\n" * 100_000
        (tmp_path / "x.csv.xz").write_bytes(lzma.compress(words, preset=preset) + bytes(8) + lzma.compress(b"3,4\n"))
        with open_xz(tmp_path / "x.csv.xz") as file:
            assert file.read() == words + b"3,4\n"
        assert read_table(tmp_path / "x.csv.xz").n_rows == 100_001

    def test_xz_that_is_cut_short(self, tmp_path):
        (tmp_path / "x.csv.xz").write_bytes(lzma.compress(b"1,2\n" * 100_000)[:-40])
        with pytest.raises(OSError, match=r"x\.csv\.xz cannot be read as text, it may be damaged: it is cut short"):
            read_table(tmp_path / "x.csv.xz")

    @pytest.mark.parametrize("suffix", ["csv.zip", "npz"])
    def test_zip_archives_with_lzma(self, suffix, tmp_path):
        with zipfile.ZipFile(tmp_path / f"x.{suffix}", "w", zipfile.ZIP_LZMA) as archive:
            archive.writestr("x.npy", b"1,2\n3,4\n")
        with pytest.raises(ValueError, match="is packed with method 14 of zip, which is not read"):
            read_table(tmp_path / f"x.{suffix}")


class TestCounts:
    PACKED = (
        ("zlib", zlib.compress(bytes(10**6))),
        ("gzip", gzip.compress(bytes(10**6))),
        ("gzip", gzip.compress(bytes(5 * 10**5)) + bytes(10) + gzip.compress(bytes(5 * 10**5))),
        ("gzip", gzip.compress(bytes(5 * 10**5)) + bytes(10**6) + gzip.compress(bytes(5 * 10**5))),
        ("bz2", bz2.compress(bytes(5 * 10**5)) * 2),
        ("lzma", lzma.compress(bytes(5 * 10**5)) * 2),
    )

    @pytest.mark.parametrize(("packer", "content"), PACKED, ids=range(len(PACKED)))
    def test_exact(self, packer, content):
        assert unpacks_within(packer, content, 10**6)
        assert not unpacks_within(packer, content, 10**6 - 1)

    @pytest.mark.parametrize("packer", ["bz2", "lzma", "zstd"])
    def test_damaged(self, packer):
        assert not unpacks_within(packer, b"something else" * 1000, 10**6)
