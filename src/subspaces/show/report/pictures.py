"""Rows that are images, as small PNG files embedded in the page."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.errors import InputError

Pixels = NDArray[np.uint8]

# Black and white are these percentiles of the pixels, estimated from this many images.
RANGE = (0.5, 99.5)
RANGE_IMAGES = 500
# Smallest and largest side in pixels of example images, and of the images shown for points.
EXAMPLE_SIDES = (20, 64)
TILE_SIDES = (16, 28)
# Approximate limits of the total size of each, in bytes before compression.
EXAMPLE_BYTES = 1_500_000
SHEET_BYTES = 1_800_000


@dataclass(frozen=True, slots=True, eq=False)
class Pictures:
    """The images of rows."""

    pixels: NDArray[Any]  # (n, height, width) or (n, height, width, 3)
    low: float  # value shown as black
    high: float  # value shown as white

    def thumbnail(self, row: int, side: int) -> Pixels:
        """The image of a row, reduced to at most `side` pixels: (height, width) or (height, width, 3)."""
        return self.scaled(shrunk(np.asarray(self.pixels[row], np.float64), side))

    def scaled(self, image: NDArray[np.float64]) -> Pixels:
        """Scale pixels to 0 to 255."""
        spread = self.high - self.low
        shares = (np.nan_to_num(image) - self.low) / (spread if spread > 0 else 1.0)
        return np.round(255 * np.clip(shares, 0, 1)).astype(np.uint8)

    def example_side(self, count: int) -> int:
        """Largest side of each of `count` examples within the size limit."""
        return int(np.clip(np.sqrt(EXAMPLE_BYTES / (3 if self.pixels.ndim == 4 else 1) / count), *EXAMPLE_SIDES))

    def uri(self, row: int, side: int) -> str:
        """The image of a row as a data URI."""
        return png_uri(self.thumbnail(row, side))

    def mean_uri(self, rows: NDArray[np.intp], side: int) -> str:
        """The mean image of some rows as a data URI."""
        total = np.zeros(self.pixels.shape[1:])
        for row in rows:
            total += self.pixels[row]
        return png_uri(self.scaled(shrunk(total / max(1, len(rows)), side)))

    def sheet(self, rows: Sequence[int]) -> dict[str, Any]:
        """The images of `rows` as tiles of one image; only the first ones if the size limit is reached."""
        color = self.pixels.ndim == 4
        pixel_bytes = 3.0 if color else 0.5
        smallest, largest = TILE_SIDES
        side = int(np.clip(np.sqrt(SHEET_BYTES / pixel_bytes / max(1, len(rows))), smallest, largest))
        height, width = self.thumbnail(int(rows[0]), side).shape[:2]
        count = min(len(rows), int(SHEET_BYTES / (pixel_bytes * height * width)))
        across = max(1, int(np.ceil(np.sqrt(count * height / width))))
        lines = -(-count // across)
        # The width must be even, because two grey pixels share a byte.
        sheet = np.zeros((lines * height, across * width + across * width % 2, *self.pixels.shape[3:]), np.uint8)
        for place, row in enumerate(rows[:count]):
            top, left = place // across * height, place % across * width
            sheet[top : top + height, left : left + width] = self.thumbnail(int(row), side)
        source = png_uri(sheet) if color else png_uri(sheet, bits=4)
        return {"source": source, "width": width, "height": height, "across": across, "count": count}


def pictures_of(values: NDArray[Any], images: ArrayLike | None, image_shape: tuple[int, ...] | None) -> Pictures | None:
    """`images` (n, ...), or the rows of `values` (n, q) reshaped to `image_shape`; None if neither is given."""
    if images is None and image_shape is None:
        return None
    pixels = values if images is None else np.asarray(images)
    if len(pixels) != len(values):
        raise InputError(f"{len(pixels)} images for {len(values)} rows: pass one image per row")
    if image_shape is not None and pixels.ndim == 2:
        if int(np.prod(image_shape)) != pixels.shape[1]:
            raise InputError(
                f"image_shape={tuple(image_shape)} has {int(np.prod(image_shape))} pixels, but rows have "
                f"{pixels.shape[1]} columns: pass their height and width, or the pixels as images="
            )
        pixels = pixels.reshape(len(pixels), *image_shape)
    if pixels.ndim == 4:
        # Fewer than three channels are shown as grey; an alpha channel is ignored.
        pixels = pixels[..., 0] if pixels.shape[3] < 3 else pixels[..., :3]
    if pixels.ndim != 3 and pixels.ndim != 4:
        raise InputError(f"images have shape {pixels.shape}: pass (n, height, width) or (n, height, width, 3)")
    if pixels.dtype == np.uint8:
        return Pictures(pixels, 0.0, 255.0)
    some = np.asarray(pixels[:: max(1, len(pixels) // RANGE_IMAGES)], np.float64)
    low, high = np.percentile(some[np.isfinite(some)], RANGE) if np.isfinite(some).any() else (0.0, 1.0)
    return Pictures(pixels, float(low), float(high))


def shrunk(image: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """Average neighbouring pixels of `image` (height, width, ...) until it is at most `side` wide and high."""
    factor = max(image.shape[:2]) / side
    if factor <= 1:
        return image
    for axis in (0, 1):
        count = max(1, round(image.shape[axis] / factor))
        starts = np.arange(count) * image.shape[axis] // count
        sizes = np.diff(np.append(starts, image.shape[axis]))
        shape = [1] * image.ndim
        shape[axis] = count
        image = np.add.reduceat(image, starts, axis=axis) / sizes.reshape(shape)
    return image


def png_uri(pixels: Pixels, bits: int = 8) -> str:
    """A PNG file as a data URI."""
    return "data:image/png;base64," + base64.b64encode(png(pixels, bits)).decode()


def png(pixels: Pixels, bits: int = 8) -> bytes:
    """A PNG file of grey (height, width) or coloured (height, width, 3) pixels.

    With 4 bits, there are 16 levels of grey, and the width must be even.
    """
    height, width = pixels.shape[:2]
    lines = pixels.reshape(height, -1)
    if bits == 4:
        levels = (lines.astype(np.uint16) * 15 + 127) // 255
        lines = (levels[:, ::2] << 4 | levels[:, 1::2]).astype(np.uint8)
    # The first byte of each line is the filter type: 0, no filter.
    raw = np.pad(lines, ((0, 0), (1, 0))).tobytes()
    header = struct.pack(">IIBBBBB", width, height, bits, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
