"""Rows of pixels from image files of one size: each file is a row."""

from __future__ import annotations

import math
import struct
import warnings
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Indices
from subspaces.rows.formats.base import OpenOptions, StoredTable
from subspaces.rows.reading import UnreadableError, check_file, reading
from subspaces.rows.recut import columns_at

# Formats of Pillow for the suffixes that are read. Others may start other programs, as EPS starts Ghostscript.
PILLOW_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF")
# An image is unpacked whole, converted and scaled: about this many bytes of memory for each pixel.
PIXEL_BYTES = 16
GREY = ("1", "L", "LA", "I", "F")
ORIENTATION = 0x0112  # EXIF tag: how the camera was held
LARGEST_SHORT = 65535.0


@dataclass(frozen=True, slots=True)
class _Header:
    """What an image says about itself."""

    size: tuple[int, int]  # (height, width)
    grey: bool
    frames: int


class ImageTable(StoredTable):
    """Rows of pixels between 0 and 1, float32, of images that are read when they are needed."""

    word = "pixel"

    def __init__(self, paths: Sequence[Path], roots: Sequence[Path | None], options: OpenOptions, ignored: int) -> None:
        headers = [_header(path, options.memory_limit) for path in paths]
        self.row_shape = _shape(paths, headers, options.image_size)
        self.path, self._paths, self._roots = paths[0], tuple(paths), tuple(roots)
        self._resize = options.image_size is not None
        self.n_rows, self.n_columns = len(paths), math.prod(self.row_shape)
        notes = []
        if ignored:
            notes.append(f"{ignored} file{'s' * (ignored > 1)} left out because they are not images")
        animated = sum(header.frames > 1 for header in headers)
        if animated:
            notes.append(f"only the first frame is read of {animated} image{'s' * (animated > 1)} of several frames")
        self.notes = tuple(notes)

    def dtype_of(self, columns: Indices | None) -> np.dtype[Any]:
        return np.dtype(np.float32)

    def pieces(self, columns: Indices | None, start: int, rows: int, memory_limit: int) -> Iterator[NDArray[Any]]:
        for row in range(start, self.n_rows, rows):
            yield columns_at(self._rows(self._paths[row : row + rows]), columns)

    def take_into(self, out: Array, columns: Indices | None, index: Indices, memory_limit: int) -> None:
        for place, row in enumerate(index):
            out[place] = columns_at(self._rows(self._paths[row : row + 1]), columns)[0]

    def place(self, row: int) -> str:
        return str(self._paths[row])

    def file_names(self) -> list[str]:
        """Names of the files, with their folders below the folder that was opened."""
        return [
            path.name if root is None else path.relative_to(root).as_posix()
            for path, root in zip(self._paths, self._roots, strict=True)
        ]

    def folders(self) -> list[str]:
        """The folder of each image below the folder that was opened, often its class."""
        found = []
        for path, root in zip(self._paths, self._roots, strict=True):
            inside = (path.parent.name, path.name) if root is None else path.relative_to(root).parts
            if len(inside) < 2:
                raise UnreadableError(f'{path} is not in a folder below {root}: truth="folder" needs one per class.')
            found.append(inside[0])
        return found

    def _rows(self, paths: Sequence[Path]) -> Array:
        rows = np.empty((len(paths), self.n_columns), np.float32)
        for place, path in enumerate(paths):
            pixels = _pixels(path, self.row_shape, resize=self._resize)
            if pixels.shape != self.row_shape:
                raise UnreadableError(f"{path} has changed since it was opened: open the images again.")
            rows[place] = pixels.ravel()
        return rows


open_table = ImageTable


def _header(path: Path, memory_limit: int) -> _Header:
    from PIL import Image

    check_file(path)
    with reading(path, "image", *_errors()), warnings.catch_warnings():
        # Refuse images that claim to be enormous; other defects show when the pixels are read.
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        with Image.open(path, formats=PILLOW_FORMATS) as image:
            width, height = image.size
            if width * height * PIXEL_BYTES > memory_limit:
                raise UnreadableError(
                    f"{path} is {height}x{width} pixels (height x width), too large for "
                    f"memory_limit={memory_limit / 1e9:.3g}GB: scale it down, or raise the limit."
                )
            turned = image.getexif().get(ORIENTATION, 1) in (5, 6, 7, 8)
            size = (width, height) if turned else (height, width)
            return _Header(size, _is_grey(image), int(getattr(image, "n_frames", 1)))


def _errors() -> tuple[type[Exception], ...]:
    """Exceptions of Pillow for damaged images, besides OSError; its plugins raise many kinds."""
    from PIL import Image

    bombs = (Image.DecompressionBombError, Image.DecompressionBombWarning)
    return (
        *bombs,
        IndexError,
        KeyError,
        OverflowError,
        MemoryError,
        SyntaxError,
        TypeError,
        ValueError,
        struct.error,
        zlib.error,
    )


def _is_grey(image: Any) -> bool:
    if image.mode == "P":
        palette = np.asarray(image.getpalette() or [], np.uint8)
        return bool(
            len(palette)
            and np.array_equal(palette[0::3], palette[1::3])
            and np.array_equal(palette[0::3], palette[2::3])
        )
    return image.mode in GREY or image.mode.startswith("I;")


def _shape(paths: Sequence[Path], headers: Sequence[_Header], image_size: tuple[int, int] | None) -> tuple[int, ...]:
    """The shape of all images: (height, width), or (height, width, 3) if some have colours."""
    first = headers[0].size
    if image_size is None:
        for path, header in zip(paths, headers, strict=True):
            if header.size != first:
                raise UnreadableError(
                    f"{path} is {'x'.join(map(str, header.size))} pixels, but {paths[0]} is "
                    f"{'x'.join(map(str, first))} (height x width): scale all to one size, image_size={first}."
                )
    size = first if image_size is None else image_size
    return size if all(header.grey for header in headers) else (*size, 3)


def _pixels(path: Path, shape: tuple[int, ...], *, resize: bool) -> NDArray[np.float32]:
    """Pixels of an image as numbers between 0 and 1, scaled to `shape` with `resize`."""
    from PIL import Image, ImageOps

    with reading(path, "image", *_errors()), Image.open(path, formats=PILLOW_FORMATS) as opened:
        image: Any = ImageOps.exif_transpose(opened)
        if image.mode in ("I", "F") or image.mode.startswith("I;"):
            values = np.asarray(image, np.float32)
            # Sixteen bits a pixel; floating-point images are not scaled.
            image = Image.fromarray(values if image.mode == "F" else values / np.float32(LARGEST_SHORT))
        else:
            image = image.convert("L" if len(shape) == 2 else "RGB")
        if resize:
            image = image.resize((shape[1], shape[0]), Image.Resampling.BILINEAR)
        values = np.asarray(image)
    if values.dtype == np.uint8:
        values = values.astype(np.float32) / np.float32(255)
    return np.repeat(values[..., None], 3, axis=2) if values.ndim < len(shape) else values
