"""Array files that run code, reach for other files, or claim more than they hold: refused before anything is read."""

import io
import json
import os
import pickle
import struct
import zipfile
import zlib
from pathlib import Path

import h5py
import memory
import numcodecs.pickles
import numcodecs.registry
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
from numcodecs.abc import Codec
from PIL import Image
from scipy.io import savemat

from subspaces.rows import open_rows, read_table
from subspaces.rows.formats import zarr as zarr_format

ROWS = np.random.default_rng(0).normal(size=(6, 3))
RAN = []
GIGABYTES = 6 * 10**9


def run(word):
    """Pickled by its name; a method of the list would come with a copy of the list."""
    RAN.append(word)
    return np.arange(6)


class Payload:
    """An object that reports that it was unpickled."""

    def __reduce__(self):
        return (run, ("ran",))


class Spy(Codec):
    """A codec that reports that it was called."""

    codec_id = "spy"

    def encode(self, buf):
        return buf

    def decode(self, buf, out=None):
        return run("ran")


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch):
    """Pickles would be decoded if a reader came that far."""
    monkeypatch.setattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE", True)
    RAN.clear()
    assert (pickle.loads(pickle.dumps(Payload())) == np.arange(6)).all()
    assert RAN == ["ran"]
    RAN.clear()
    yield
    assert RAN == []


def zarr_group(folder, **changes):
    """A Zarr group with rows "x" and an array "y" of six entries, in which `changes` replace metadata."""
    path = folder / "rows.zarr"
    group = zarr.open_group(path, mode="w", zarr_format=2)
    group.create_array("x", data=ROWS)
    group.create_array("y", data=np.arange(6))
    metadata = json.loads((path / "y" / ".zarray").read_text())
    (path / "y" / ".zarray").write_text(json.dumps({**metadata, **changes}))
    (path / "y" / "0").write_bytes(pickle.dumps(Payload()))
    return path


class TestCode:
    @pytest.mark.parametrize(
        "changes",
        [
            {"compressor": {"id": "pickle"}},
            {"compressor": None, "filters": [{"id": "pickle"}]},
            {"dtype": "|O", "compressor": None, "filters": [{"id": "pickle"}], "fill_value": None},
            {"dtype": "|O", "compressor": {"id": "pickle"}, "filters": None, "fill_value": None},
            {"compressor": None, "filters": [{"id": "base64"}]},
            {"compressor": {"id": "unheard of"}},
        ],
    )
    @pytest.mark.parametrize("option", ["truth", "names"])
    def test_zarr(self, tmp_path, changes, option):
        path = zarr_group(tmp_path, **changes)
        with pytest.raises(ValueError, match=r"rows\.zarr.*(which is never read|codec not available|is damaged)"):
            read_table(path, key="x", **{option: "y"})
        with pytest.raises(ValueError, match=r"rows\.zarr"):
            open_rows(path, key="y")

    @pytest.mark.parametrize(
        "changes", [{"compressor": {"id": "spy"}}, {"compressor": None, "filters": [{"id": "spy"}]}]
    )
    def test_zarr_codecs_that_are_not_listed(self, tmp_path, changes, monkeypatch):
        """Any codec that is installed could be named: none is called."""
        monkeypatch.setitem(numcodecs.registry.codec_registry, "spy", Spy)
        path = zarr_group(tmp_path, **changes)
        with pytest.raises(ValueError, match="'y', is packed by 'spy', which is never read"):
            read_table(path, key="x", truth="y")
        monkeypatch.setattr("subspaces.rows.formats.zarr.CODECS", {*zarr_format.CODECS, "spy"})
        assert read_table(path, key="x", truth="y").truth.tolist() == list(range(6))
        assert set(RAN) == {"ran"}
        RAN.clear()

    @pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in")
    def test_zarr_codecs_are_listed_at_every_level(self, tmp_path):
        x = zarr.create_array(tmp_path / "x.zarr", shape=ROWS.shape, dtype="f8", chunks=(2, 3), shards=(6, 3))
        x[...] = ROWS
        assert np.array_equal(read_table(tmp_path / "x.zarr").rows, ROWS)
        path = tmp_path / "x.zarr" / "zarr.json"
        metadata = json.loads(path.read_text())
        inner = metadata["codecs"][0]["configuration"]["codecs"]
        assert [codec["name"] for codec in inner] == ["bytes", "zstd"]
        inner[1] = {"name": "numcodecs.zfpy", "configuration": {"mode": 4}}
        path.write_text(json.dumps(metadata))
        with pytest.raises((ValueError, ImportError), match=r"x\.zarr"):
            read_table(tmp_path / "x.zarr")

    def test_zarr_text_is_read(self, tmp_path):
        group = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=2)
        group.create_array("x", data=ROWS)
        group.create_array("y", shape=(6,), dtype=str)[:] = list("aabbcc")
        assert read_table(tmp_path / "x.zarr", truth="y").truth.tolist() == list("aabbcc")

    def test_npz_and_npy(self, tmp_path):
        objects = np.array([Payload()] * 6, object)
        np.savez(tmp_path / "rows.npz", x=ROWS, y=objects)
        np.save(tmp_path / "y.npy", objects, allow_pickle=True)
        np.save(tmp_path / "rows.npy", ROWS)
        with pytest.raises(ValueError, match="'y', holds Python objects"):
            read_table(tmp_path / "rows.npz", truth="y")
        with pytest.raises(ValueError, match=r"'y.npy', holds Python objects"):
            read_table(tmp_path / "rows.npy", names=str(tmp_path / "y.npy"))

    def test_mat(self, tmp_path):
        savemat(tmp_path / "rows.mat", {"x": ROWS, "y": {"field": np.arange(6)}})
        with pytest.raises(ValueError, match="'y', is a MATLAB struct"):
            read_table(tmp_path / "rows.mat", truth="y")


class TestOtherFiles:
    """Files that make a reader open other files of the machine."""

    def secret(self, folder):
        (folder / "secret").write_bytes(np.arange(6.0).tobytes())
        return folder / "secret"

    @pytest.mark.parametrize("kind", ["external", "virtual", "link"])
    def test_hdf5(self, tmp_path, kind):
        secret = self.secret(tmp_path)
        with h5py.File(tmp_path / "other.h5", "w") as file:
            file["y"] = np.arange(6.0)
        with h5py.File(tmp_path / "rows.h5", "w") as file:
            file["x"] = ROWS
            if kind == "external":
                file.create_dataset("y", (6,), "f8", external=[(str(secret), 0, 48)])
            elif kind == "virtual":
                layout = h5py.VirtualLayout((6,), "f8")
                layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "y", (6,))
                file.create_virtual_dataset("y", layout)
            else:
                file["y"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "y")
        with pytest.raises(ValueError, match="'y'"):
            read_table(tmp_path / "rows.h5", truth="y")
        with pytest.raises(ValueError, match="'y'"):
            open_rows(tmp_path / "rows.h5", key="y")

    def test_hdf5_references(self, tmp_path):
        with h5py.File(tmp_path / "rows.h5", "w") as file:
            file["x"] = ROWS
            file.create_dataset("y", data=[file["x"].ref] * 6, dtype=h5py.ref_dtype)
            file.create_dataset("z", data=["a", "b"] * 3, dtype=h5py.string_dtype())
        with pytest.raises(ValueError, match="'y', holds references"):
            read_table(tmp_path / "rows.h5", truth="y")
        assert read_table(tmp_path / "rows.h5", truth="z").truth.tolist() == ["a", "b"] * 3

    @pytest.mark.parametrize("kind", ["link", "pipe"])
    def test_zarr(self, tmp_path, kind):
        zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=2).create_array("x", data=ROWS, compressors=None)
        chunk = tmp_path / "x.zarr" / "x" / "0.0"
        chunk.rename(tmp_path / "other")
        if kind == "link":
            chunk.symlink_to(tmp_path / "other")
        else:
            os.mkfifo(chunk)
        with pytest.raises(ValueError, match="not a regular file"):
            read_table(tmp_path / "x.zarr")


def npy(descr, shape, *, version=(1, 0), values=b"", header=None):
    """The bytes of an .npy file with any header."""
    text = (header or str({"descr": descr, "fortran_order": False, "shape": shape})).encode() + b"\n"
    length = struct.pack("<H" if version == (1, 0) else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + length + text + values


def npz(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


class TestClaims:
    """Files whose headers claim more than there is, or more than fits into memory."""

    HEADERS = (
        npy("<f8", (GIGABYTES, 1)),
        npy(f"<U{GIGABYTES // 8}", (6,)),
        npy("<f8", (2**62, 2**62)),
        npy("<f8", (-6, 3)),
        npy("<f8", (6,), version=(2, 0), header=" " * 20_000_000),
        npy("<f8", (6,), header="-" * 9000 + "1"),
        npy("<f8", (6,), header="(" * 9000),
        npy("|O", (6,)),
    )

    @pytest.mark.parametrize("content", HEADERS, ids=range(len(HEADERS)))
    def test_headers(self, tmp_path, content):
        np.save(tmp_path / "rows.npy", ROWS)
        (tmp_path / "y.npy").write_bytes(content)
        with pytest.raises((ValueError, OSError), match=r"y\.npy") as raised:
            read_table(tmp_path / "rows.npy", truth=str(tmp_path / "y.npy"))
        assert "\n" not in str(raised.value)
        stream = io.BytesIO()
        np.save(stream, ROWS)
        npz(tmp_path / "rows.npz", x=stream.getvalue(), y=content)
        with pytest.raises((ValueError, OSError), match=r"rows\.npz") as raised:
            read_table(tmp_path / "rows.npz", key="x", truth="y")
        assert "\n" not in str(raised.value)

    def test_shapes_whose_product_overflows(self, tmp_path):
        """2^64 is 0 in integers of 64 bits."""
        for shape in ((1, 2**32, 2**32), (2, 2**32, 2**32, 3), (3,) * 60):
            (tmp_path / "rows.npy").write_bytes(npy("<f8", shape, values=bytes(800)))
            with pytest.raises(ValueError, match=r"rows\.npy is cut short"):
                open_rows(tmp_path / "rows.npy")
        path = zarr_group(tmp_path, shape=[6, 3], chunks=[2**32, 2**32], compressor=None)
        with pytest.raises(ValueError, match="is stored in chunks of"):
            read_table(path, key="y")

    def test_too_many_arrays(self, tmp_path):
        with zipfile.ZipFile(tmp_path / "rows.npz", "w") as archive:
            for number in range(10_001):
                archive.writestr(f"{number}.npy", b"")
        with pytest.raises(ValueError, match="10001 arrays"):
            read_table(tmp_path / "rows.npz")

    def test_mat_that_unpacks_to_more(self, tmp_path):
        # A matrix of 6 x 3 whose values are followed by zeros that pack to nothing.
        savemat(tmp_path / "rows.mat", {"x": ROWS})
        content = (tmp_path / "rows.mat").read_bytes()
        body = content[136:] + bytes(60_000_000)
        element = zlib.compress(struct.pack("<II", 14, len(body)) + body)
        (tmp_path / "rows.mat").write_bytes(content[:128] + struct.pack("<II", 15, len(element)) + element)
        with pytest.raises(ValueError, match=r"rows\.mat.*memory_limit"):
            read_table(tmp_path / "rows.mat", memory_limit="100MB")

    def test_mat_cells_inside_cells(self, tmp_path):
        inner = np.empty((1, 2), object)
        inner[0, :] = ["a", "b"]
        outer = np.empty((6, 1), object)
        outer[:, 0] = [inner] * 6
        savemat(tmp_path / "rows.mat", {"x": ROWS, "y": outer})
        content = bytearray((tmp_path / "rows.mat").read_bytes())
        sizes = struct.pack("<IIII", 5, 8, 1, 2)
        assert content.count(sizes) == 6
        at = content.index(sizes)
        content[at : at + 16] = struct.pack("<IIII", 5, 8, 2, 2**30)
        (tmp_path / "rows.mat").write_bytes(content)
        with pytest.raises(ValueError, match=r"'y', claims the shape \(2, 1073741824\)"):
            read_table(tmp_path / "rows.mat", truth="y")

    def test_chunks_of_zarr(self, tmp_path):
        path = zarr_group(tmp_path, chunks=[GIGABYTES], compressor=None)
        with pytest.raises(ValueError, match="'y', takes 48 GB by its header"):
            read_table(path, key="x", truth="y")

    def test_a_dataset_that_was_never_written(self, tmp_path):
        with h5py.File(tmp_path / "rows.h5", "w") as file:
            file["x"] = ROWS
            file.create_dataset("y", (GIGABYTES,), "f8", chunks=(1000,))
        with pytest.raises(ValueError, match="'y', takes 48 GB by its header"):
            read_table(tmp_path / "rows.h5", key="x", truth="y")

    def test_text_whose_entries_share_their_content(self, tmp_path):
        with h5py.File(tmp_path / "rows.h5", "w") as file:
            file["x"] = ROWS
            file.create_dataset("y", data=["a" * 10_000_000] * 6, dtype=h5py.string_dtype())
        with pytest.raises(ValueError, match="'y', holds"):
            read_table(tmp_path / "rows.h5", truth="y", memory_limit="100MB")

    def test_one_long_cell(self, tmp_path):
        cells = [*("short" for _ in range(199)), "long " * 20_000]
        lines = "\n".join(f"{i},{cell}" for i, cell in enumerate(cells))
        (tmp_path / "rows.csv").write_text(f"x,y\n{lines}\n")
        pq.write_table(pa.table({"x": np.arange(200.0), "y": cells}), tmp_path / "rows.parquet")
        for name in ("rows.csv", "rows.parquet"):
            with pytest.raises(ValueError, match=r"'y', holds 200 entries of up to (99999|100000) characters"):
                read_table(tmp_path / name, truth="y", memory_limit="100MB")

    def test_few_bytes_of_parquet_for_many_cells(self, tmp_path):
        table = pa.table({"x": np.zeros(1_000_000, "f4"), "y": pa.array(["a"] * 1_000_000)})
        pq.write_table(table, tmp_path / "rows.parquet")
        assert (tmp_path / "rows.parquet").stat().st_size < 100_000
        with pytest.raises(ValueError, match="1000000 rows, whose names or true classes do not fit"):
            read_table(tmp_path / "rows.parquet", truth="y", memory_limit="32MB")


class TestImages:
    def test_only_the_listed_formats_are_tried(self, tmp_path):
        # As a .png, Pillow would hand it to Ghostscript.
        (tmp_path / "x.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\n%%EOF\n")
        with Image.open(tmp_path / "x.png") as image:
            assert image.format == "EPS"
        with pytest.raises((ValueError, OSError), match=r"x\.png cannot be read as image"):
            open_rows(tmp_path / "x.png")

    def test_pixels_are_limited_by_memory(self, tmp_path):
        Image.new("L", (2000, 1500)).save(tmp_path / "x.png")
        with pytest.raises(ValueError, match=r"x\.png is 1500x2000 pixels .* too large for memory_limit=0\.032GB"):
            open_rows(tmp_path / "x.png", memory_limit="32MB")
        Image.new("L", (20, 15)).save(tmp_path / "x.png")
        assert open_rows(tmp_path / "x.png", memory_limit="32MB").n_columns == 300


def test_claims_take_no_memory(tmp_path):
    """Compressed gigabytes of zeros are refused in a process that has half a gigabyte more than its imports."""
    path = tmp_path / "rows.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as member:
        member.write(npy("<f8", (40_000_000, 1), values=b""))
        for _ in range(320):
            member.write(bytes(10**6))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("y.npy", npy("<f8", (6,), version=(2, 0), header=" " * 300_000_000))
    message, grown = memory.reading(path, key="x")
    assert "rows.npz" in message
    assert grown < 100
    assert Path(path).stat().st_size < 2_000_000
