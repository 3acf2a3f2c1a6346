"""Rows that are images: PNG files, reduced images, size of the page."""

import base64
import struct
import warnings
import zlib

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from subspaces import KASP, KFlats
from subspaces.datasets import make_subspaces
from subspaces.report import describe
from subspaces.show.report.pictures import pictures_of, png, shrunk

X, Y = make_subspaces((2, 2), 6, points_per_subspace=120, outliers=0.1, random_state=0)


def fitted(model, rows=X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows)


@pytest.fixture(scope="module")
def flats():
    return fitted(KFlats(2, n_init=2, random_state=0))


def decoded(file):
    """Pixels of a PNG file with filter type 0."""
    assert file[:8] == b"\x89PNG\r\n\x1a\n"
    place, body, header = 8, b"", None
    while place < len(file):
        (size,) = struct.unpack(">I", file[place : place + 4])
        kind, content = file[place + 4 : place + 8], file[place + 8 : place + 8 + size]
        (check,) = struct.unpack(">I", file[place + 8 + size : place + 12 + size])
        assert check == zlib.crc32(kind + content)
        header = struct.unpack(">IIBBBBB", content) if kind == b"IHDR" else header
        body += content if kind == b"IDAT" else b""
        place += 12 + size
    width, height, bits, color = header[:4]
    lines = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, -1)
    assert (lines[:, 0] == 0).all()
    if bits == 4:
        return np.stack([lines[:, 1:] >> 4, lines[:, 1:] & 15], axis=2).reshape(height, width)
    return lines[:, 1:].reshape((height, width, 3) if color == 2 else (height, width))


def test_png_roundtrip():
    rng = np.random.RandomState(0)
    for shape in ((5, 7), (4, 3, 3)):
        pixels = rng.randint(256, size=shape).astype(np.uint8)
        np.testing.assert_array_equal(decoded(png(pixels)), pixels)
    grey = np.arange(0, 256, 17, dtype=np.uint8).reshape(2, 8)
    np.testing.assert_array_equal(decoded(png(grey, bits=4)), np.arange(16).reshape(2, 8))


def test_images_are_reduced_and_scaled():
    image = np.arange(64.0).reshape(8, 8)
    np.testing.assert_allclose(shrunk(image, 2), [[13.5, 17.5], [45.5, 49.5]])
    np.testing.assert_allclose(shrunk(image, 3).shape, (3, 3))
    assert shrunk(np.ones((1, 500)), 10).shape == (1, 10)
    pictures = pictures_of(np.random.RandomState(0).rand(20, 100 * 90) * 4 - 2, None, (100, 90))
    tile = pictures.thumbnail(0, 64)
    assert tile.shape == (64, 58)
    assert 100 < tile.mean() < 155


@pytest.mark.parametrize("shape", [(9, 7), (9, 7, 3), (9, 7, 1), (9, 7, 4)])
def test_rows_that_are_images(flats, shape):
    images = np.random.RandomState(0).randint(256, size=(len(X), *shape)).astype(np.uint8)
    data = describe(flats, X, images=images, n_stability=0).data
    sheet = data["scatter"]["images"]
    assert (sheet["width"], sheet["height"], sheet["count"]) == (7, 9, len(X))
    first = data["examples"][0]["typical"][0]
    pixels = decoded(base64.b64decode(first["image"].removeprefix("data:image/png;base64,")))
    expected = images[first["row"]]
    if len(shape) == 3:
        expected = expected[..., 0] if shape[2] == 1 else expected[..., :3]
    np.testing.assert_array_equal(pixels, expected)
    flat = describe(flats, X, images=images.reshape(len(X), -1), image_shape=shape, n_stability=0).data
    assert flat["examples"] == data["examples"]


def test_size_of_pages_with_images():
    rng = np.random.RandomState(0)
    rows, labels = make_blobs(4500, centers=50, n_features=5, random_state=0)
    model = fitted(KASP(50, random_state=0), rows)
    images = rng.randint(256, size=(len(rows), 40, 40, 3)).astype(np.uint8)
    html = describe(model, rows, truth=labels, images=images, n_stability=0).to_html()
    assert len(html.encode()) < 5_000_000
    values = describe(model, rows, truth=labels, row_names=["n" * 40] * len(rows), n_stability=0).to_html()
    assert len(values.encode()) < 2_000_000
