"""Downloads from a server on this machine: mirrors, damaged files, saving; parsers of the formats."""

import gc
import gzip
import hashlib
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from subspaces._core.errors import MissingPackageError, UserError
from subspaces.datasets import digits, load_mnist, load_pendigits
from subspaces.datasets.archives import Archive, ArraySpec
from subspaces.datasets.downloads import fetch, parse_idx, parse_pen_digits

LINE = b" 47,100, 27, 81, 57, 37, 26,  0,  0, 23, 56, 53,100, 90, 40, 98, 8\r\n"
CLOSED_PORT = "http://127.0.0.1:1/"
# pooch leaves the socket of an error response to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")


@pytest.fixture
def served(monkeypatch):
    """Files by path that a server offers, and its address."""
    files = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            contents = files.get(self.path)
            self.send_response(404 if contents is None else 200)
            self.end_headers()
            self.wfile.write(contents or b"")

        def log_message(self, *_):
            pass

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield files, f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()
    gc.collect()


def small_pen_digits(n_train, n_test):
    """The archive of pen digits, as if the set were `LINE` a few times."""
    X, y = parse_pen_digits(LINE, source="line")
    arrays = {"X_train": X.repeat(n_train, 0), "y_train": y.repeat(n_train)}
    arrays |= {"X_test": X.repeat(n_test, 0), "y_test": y.repeat(n_test)}
    specs = {name: ArraySpec(a.shape, hashlib.sha256(a.tobytes()).hexdigest()) for name, a in arrays.items()}
    return Archive("pendigits.npz", "pen digits", specs, digits.PEN_DIGITS.download)


class TestFetch:
    def test_the_next_mirror_is_tried(self, served):
        files, address = served
        files["/second/a"] = b"contents"
        assert fetch([CLOSED_PORT + "a", address + "first/a", address + "second/a"]) == b"contents"
        with pytest.raises(ConnectionError, match="first/a: 404"):
            fetch([address + "first/a"])

    def test_a_damaged_file_is_refused(self, served):
        files, address = served
        files["/first/a"], files["/second/a"] = b"damaged", b"contents"
        known = "md5:" + hashlib.md5(b"contents").hexdigest()
        assert fetch([address + "first/a", address + "second/a"], known_hash=known) == b"contents"
        with pytest.raises(ConnectionError, match="hash"):
            fetch([address + "first/a"], known_hash=known)

    def test_without_pooch_the_error_says_how_to_install_it(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pooch", None)
        with pytest.raises(MissingPackageError, match=r"subspaces\[data\].*SUBSPACES_DATA"):
            fetch([CLOSED_PORT])


class TestDownload:
    @pytest.fixture(autouse=True)
    def addresses(self, served, monkeypatch):
        monkeypatch.setattr(digits, "PEN_DIGITS_ADDRESS", served[1])
        monkeypatch.setattr(digits, "MNIST_MIRRORS", (served[1],))
        monkeypatch.setattr(digits, "PEN_DIGITS", small_pen_digits(3, 2))

    def test_a_download_is_saved_and_read_again(self, served, tmp_path, capsys):
        served[0].update({"/pendigits.tra": 3 * LINE, "/pendigits.tes": 2 * LINE})
        folder = tmp_path / "new" / "folder"
        X, y = load_pendigits(data_home=folder)
        assert X.shape == (3, 16)
        assert y.tolist() == [8, 8, 8]
        assert [path.name for path in folder.iterdir()] == ["pendigits.npz"]
        served[0].clear()
        np.testing.assert_array_equal(load_pendigits(data_home=folder, subset="all")[1], [8] * 5)
        assert capsys.readouterr() == ("", "")

    def test_contents_are_checked_before_they_are_saved(self, served, tmp_path):
        served[0].update({"/pendigits.tra": LINE, "/pendigits.tes": 2 * LINE})
        message = r"downloaded for pendigits\.npz has X_train of uint8 \(1, 16\).*try again later"
        with pytest.raises(ValueError, match=message):
            load_pendigits(data_home=tmp_path)
        assert not list(tmp_path.iterdir())

    def test_an_error_of_the_network_says_what_to_do(self, tmp_path):
        for load in (load_mnist, load_pendigits):
            with pytest.raises(ConnectionError, match=r"404.*SUBSPACES_DATA") as caught:
                load(data_home=tmp_path)
            assert isinstance(caught.value, UserError)
            assert str(tmp_path) in str(caught.value)
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("interruption", [KeyboardInterrupt, OSError])
    def test_an_interrupted_write_leaves_nothing(self, interruption, served, tmp_path, monkeypatch):
        served[0].update({"/pendigits.tra": 3 * LINE, "/pendigits.tes": 2 * LINE})

        def write_half(stream, **_arrays):
            stream.write(b"PK half a file")
            raise interruption

        monkeypatch.setattr(np, "savez_compressed", write_half)
        with pytest.raises(interruption):
            load_pendigits(data_home=tmp_path)
        assert not list(tmp_path.iterdir())

    def test_a_folder_that_cannot_be_made(self, served, tmp_path):
        served[0].update({"/pendigits.tra": 3 * LINE, "/pendigits.tes": 2 * LINE})
        (tmp_path / "file").write_text("a file where the folder should be")
        with pytest.raises(UserError, match=r"cannot be written.*SUBSPACES_DATA"):
            load_pendigits(data_home=tmp_path / "file" / "folder")


class TestParsing:
    @pytest.mark.parametrize("shape", [(5,), (2, 3, 4)])
    def test_idx(self, shape):
        array = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
        lengths = b"".join(length.to_bytes(4, "big") for length in shape)
        raw = bytes([0, 0, 8, len(shape)]) + lengths + array.tobytes()
        np.testing.assert_array_equal(parse_idx(gzip.compress(raw), source="file"), array)
        for bad in (raw[:-1], raw + b"\0", b"\0\0\x0d" + raw[3:], raw[:3], b""):
            with pytest.raises(ValueError, match="images is not a complete IDX file"):
                parse_idx(gzip.compress(bad), source="images")

    @pytest.mark.parametrize(
        "contents",
        # Without the time of day, which would give the test another name in each process.
        [b"<html>sign in</html>", gzip.compress(b"\0" * 5000, mtime=0)[:-9], b""],
        ids=["a page", "truncated", "empty"],
    )
    def test_idx_not_gzipped(self, contents):
        with pytest.raises(ValueError, match="images is not a complete"):
            parse_idx(contents, source="images")

    def test_pen_digits(self):
        text = b" 47,100, 27, 81, 57, 37, 26,  0,  0, 23, 56, 53,100, 90, 40, 98, 8\r\n" * 2
        X, y = parse_pen_digits(text, source="file")
        assert X.shape == (2, 16)
        assert X[1, 1] == 100
        assert y.tolist() == [8, 8]

    @pytest.mark.parametrize(
        "contents", [b"", b"1,2,3\n", b"a,b\n", b"1,2\n3\n", "\u00e9".encode(), b",".join([b"300"] * 17)]
    )
    def test_pen_digits_of_another_kind(self, contents):
        with pytest.raises(ValueError, match=r"pendigits\.tra is not a table"):
            parse_pen_digits(contents, source="pendigits.tra")
