"""The chunks of a Zarr array: whether they unpack to what they claim, before Zarr unpacks them whole."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from subspaces.rows.formats.packed import SIZES, unpacks_within
from subspaces.rows.reading import UnreadableError

SHARDS = "sharding_indexed"
# Codecs that change types to one that they name, and where.
TYPES = ("dtype", "astype", "encode_dtype", "decode_dtype")
# Places of chunks within a shard: two numbers for each, of which the largest stand for a chunk that is not stored.
PLACE = np.dtype([("start", "<u8"), ("length", "<u8")])
NOT_STORED = 2**64 - 1
CHECKSUM_BYTES = 4
# Several chunks are unpacked at a time: up to this size each of them is harmless.
UNCHECKED_BYTES = 10**7


@dataclass(frozen=True, slots=True)
class Codec:
    """A codec of an array."""

    name: str
    options: Mapping[str, Any]
    of_index: bool  # whether it packs the list of chunks of a shard


def codecs_in(metadata: Any, of_index: bool = False) -> list[Codec]:
    """All codecs in the metadata of an array; shards have codecs of their own inside."""
    if metadata is None:
        return []
    if isinstance(metadata, list | tuple):
        return [codec for each in metadata for codec in codecs_in(each, of_index)]
    options = {**metadata, **metadata.get("configuration", {})}
    name = metadata.get("name", metadata.get("id"))
    # Names of version 3 may begin with "numcodecs.".
    found = [] if name is None else [Codec(str(name).removeprefix("numcodecs."), options, of_index)]
    for key in ("codecs", "index_codecs", "compressor", "filters"):
        found += codecs_in(options.get(key), of_index or key == "index_codecs")
    return found


def refusal_of(codecs: Sequence[Codec]) -> str | None:
    """Why an array with these codecs must not be read, although each of them is harmless."""
    names = [codec.name for codec in codecs if not codec.of_index]
    if sum(name in SIZES for name in names) > 1 or names.count(SHARDS) > 1:
        return "is packed more than once"
    if {codec.name for codec in codecs if codec.of_index} - {"bytes", "crc32c"}:
        return "has packed lists of chunks"
    if any(codec.name == "lzma" and codec.options.get("format", 1) not in (1, 2) for codec in codecs):
        return "is packed by LZMA without a header"
    types = [str(codec.options[key]) for codec in codecs for key in TYPES if codec.options.get(key)]
    wrong = next((kind for kind in types if np.dtype(kind).kind not in "biuf"), None)
    return None if wrong is None else f"is packed by way of {wrong:.40} values"


def check_chunks(path: Path, data: Any, start: int, stop: int) -> None:
    """Refuse chunks of some rows of an array in the folder `path` that unpack to more than their values."""
    codecs = codecs_in(data.metadata.to_dict())
    packer = next((codec.name for codec in codecs if codec.name in SIZES), None)
    n_bytes = math.prod(data.chunks) * data.dtype.itemsize
    most = _most(n_bytes)
    for file in _files(path, data, start, stop):
        # A file that is not packed, or that packs many chunks, is read as a whole, too.
        if file.stat().st_size > _most(math.prod(data.shards or data.chunks) * data.dtype.itemsize):
            raise UnreadableError(f"{file} is longer than its chunk: write the array again.")
        if packer is None:
            continue
        content = file.read_bytes()
        shards = next((codec for codec in codecs if codec.name == SHARDS), None)
        for part in [content] if shards is None else _parts(content, data, shards):
            if not unpacks_within(packer, part, most):
                raise UnreadableError(f"{file} is damaged or unpacks to more than the {n_bytes} bytes of its chunk.")


def _most(n_bytes: int) -> int:
    """The most bytes that a chunk or shard of some values may take: lengths, checksums and wider types come on top."""
    return max(UNCHECKED_BYTES, 2 * n_bytes)


def _files(path: Path, data: Any, start: int, stop: int) -> Iterator[Path]:
    """The files of the chunks of some rows, as far as there are files."""
    sides = data.shards or data.chunks
    counts = [range(-(-size // side)) for size, side in zip(data.shape, sides, strict=True)]
    if counts:
        counts[0] = range(start // sides[0], -(-stop // sides[0]))
    for place in product(*counts):
        file = path / data.path / data.metadata.encode_chunk_key(place)
        if file.is_file():
            yield file


def _parts(content: bytes, data: Any, shards: Codec) -> Iterator[bytes]:
    """The packed chunks of a shard, whose places are listed at its start or end."""
    count = math.prod(shard // chunk for shard, chunk in zip(data.shards, data.chunks, strict=True))
    checked = any(codec.name == "crc32c" for codec in codecs_in(shards.options) if codec.of_index)
    length = count * PLACE.itemsize + (CHECKSUM_BYTES if checked else 0)
    if len(content) < length:
        return
    at_start = str(shards.options.get("index_location", "end")).endswith("start")
    index = content[:length] if at_start else content[-length:]
    for start, size in np.frombuffer(index, PLACE, count).tolist():
        if start != NOT_STORED:
            yield content[start : start + size]
