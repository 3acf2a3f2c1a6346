"""Images as rows: files of one size, a row the pixels of one of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.arrays import Array
from subspaces._core.errors import InputError
from subspaces.rows.inputs._columns import numbered_names
from subspaces.rows.inputs._found import Found, Places, Request, as_truth
from subspaces.rows.sources import FeedOptions, RowSource
from subspaces.rows.sources._reading import UnreadableError, check_file, reading

IMAGES = (".png", ".jpg", ".jpeg", ".pgm", ".ppm", ".bmp", ".tif", ".tiff", ".gif")
FOLDER = "folder"
GREY = ("1", "L", "LA", "I", "F")
ORIENTATION = 0x0112  # the EXIF tag that tells how the camera was held
LARGEST_SHORT = 65535.0


@dataclass(frozen=True, slots=True)
class _Header:
    """What the beginning of an image tells."""

    size: tuple[int, int]  # (height, width)
    grey: bool
    frames: int


class ImageRows(RowSource):
    """Rows of pixels between 0 and 1, float32, of images that are read when they are wanted."""

    def __init__(self, paths: Sequence[Path], shape: tuple[int, ...], resize: bool, options: FeedOptions) -> None:
        self._paths, self._shape, self._resize, self.options = tuple(paths), shape, resize, options
        self.n_columns, self.dtype, self.column_names = int(np.prod(shape)), np.dtype(np.float32), None

    @property
    def n_rows(self) -> int:
        return len(self._paths)

    def blocks(self, start: int = 0) -> Iterator[Array]:
        size = self.block_rows
        for row in range(self._first_row(start), self.n_rows, size):
            yield self._rows(self._paths[row : row + size])

    def take(self, index: ArrayLike) -> Array:
        return self._rows([self._paths[row] for row in self._check_index(index)])

    def _rows(self, paths: Sequence[Path]) -> Array:
        rows = np.empty((len(paths), self.n_columns), np.float32)
        for place, path in enumerate(paths):
            pixels = _pixels(path, self._shape, resize=self._resize)
            if pixels.shape != self._shape:
                raise UnreadableError(f"{path} has changed since it was looked at: read the images again.")
            rows[place] = pixels.ravel()
        return rows


def read_images(request: Request, roots: Sequence[Path | None], ignored: int) -> Found:
    """The images `request.paths`, found under `roots`, as rows; in memory where they fit."""
    for what in ("columns", "drop", "names"):
        if getattr(request, what) is not None:
            raise InputError(f"{what} is for tables, and rows of images have pixels and file names: leave it out.")
    if request.truth not in (None, FOLDER):
        raise InputError(f'truth={request.truth!r} is no column of images: use "{FOLDER}", the names of their folders.')
    paths = request.paths
    headers = [_header(path) for path in paths]
    shape = _shape(paths, headers, request.image_size)
    options = FeedOptions(memory_limit=request.memory_limit)
    source = ImageRows(paths, shape, request.image_size is not None, options)
    rows = source._rows(paths) if request.fits(len(paths), source.n_columns, 4) else source
    notes = []
    if ignored:
        notes.append(f"{ignored} file{'s' * (ignored > 1)} that are no images left alone")
    animated = sum(header.frames > 1 for header in headers)
    if animated:
        notes.append(f"the first frame was taken of {animated} image{'s' * (animated > 1)} of several frames")
    truth = as_truth([_folder(*each) for each in zip(paths, roots, strict=True)]) if request.truth else None
    names = [_name(*each) for each in zip(paths, roots, strict=True)]
    columns = numbered_names(source.n_columns, "pixel")
    return Found(rows, columns, Places(paths, (1,) * len(paths)), names, truth, shape, notes)


def _header(path: Path) -> _Header:
    from PIL import Image

    check_file(path)
    with reading(path, "image"), warnings.catch_warnings():
        # Of what claims to be enormous nothing is unpacked; what else a file does wrong is seen when it is.
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        with Image.open(path) as image:
            width, height = image.size
            turned = image.getexif().get(ORIENTATION, 1) in (5, 6, 7, 8)
            size = (width, height) if turned else (height, width)
            return _Header(size, _is_grey(image), int(getattr(image, "n_frames", 1)))


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
    """The shape of all images: (height, width), and 3 where some have colours."""
    first = headers[0].size
    if image_size is None:
        for path, header in zip(paths, headers, strict=True):
            if header.size != first:
                raise UnreadableError(
                    f"{path} is {_times(header.size)} pixels, but {paths[0]} is {_times(first)} (height x width): give "
                    f"all one size, by --image-size {first[0]}x{first[1]} (image_size={first})."
                )
    size = first if image_size is None else image_size
    return size if all(header.grey for header in headers) else (*size, 3)


def _pixels(path: Path, shape: tuple[int, ...], *, resize: bool) -> NDArray[np.float32]:
    """Pixels of an image as numbers between 0 and 1, in this shape with `resize`."""
    from PIL import Image, ImageOps

    with reading(path, "image"), Image.open(path) as opened:
        image: Any = ImageOps.exif_transpose(opened)
        if image.mode in ("I", "F") or image.mode.startswith("I;"):
            values = np.asarray(image, np.float32)
            # Sixteen bits a pixel; floating-point images are what they are.
            image = Image.fromarray(values if image.mode == "F" else values / np.float32(LARGEST_SHORT))
        else:
            image = image.convert("L" if len(shape) == 2 else "RGB")
        if resize:
            image = image.resize((shape[1], shape[0]), Image.Resampling.BILINEAR)
        values = np.asarray(image)
    if values.dtype == np.uint8:
        values = values.astype(np.float32) / np.float32(255)
    return np.repeat(values[..., None], 3, axis=2) if values.ndim < len(shape) else values


def _folder(path: Path, root: Path | None) -> str:
    """The folder below `root` that an image lies in, its class."""
    if root is None:
        return path.parent.name
    inside = path.relative_to(root).parts
    if len(inside) < 2:
        raise UnreadableError(f'{path} lies in no folder below {root}: truth="{FOLDER}" needs one folder a class.')
    return inside[0]


def _name(path: Path, root: Path | None) -> str:
    return path.name if root is None else path.relative_to(root).as_posix()


def _times(size: Sequence[int]) -> str:
    return "x".join(map(str, size))
