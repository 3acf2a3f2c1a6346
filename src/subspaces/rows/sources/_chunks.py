"""What formats of several arrays in chunks share: which array, and chunks that are too large."""

from __future__ import annotations

from pathlib import Path

from subspaces.rows.sources._reading import UnreadableError
from subspaces.rows.sources._tables import CHUNK_SHARE


def choose_key(path: Path, key: str | None, found: dict[str, int]) -> str:
    """The name of the array to read among those `found`, with their numbers of dimensions."""
    tables = [name for name, n_dimensions in found.items() if n_dimensions == 2]
    if key is None and len(tables) == 1:
        return tables[0]
    if key is not None and key.strip("/") in found:
        return key.strip("/")
    shown = ", ".join(map(repr, sorted(found)[:20])) + (", ..." if len(found) > 20 else "")
    has = f"it has {shown}" if found else "it has no arrays at all"
    if key is not None:
        raise UnreadableError(f"{path} has no array key={key!r}: {has}.")
    if not tables:
        raise UnreadableError(f"{path} has no array of two dimensions: {has}.")
    raise UnreadableError(f"{path} has several arrays: name one by key=...; {has}.")


def check_chunk(path: Path, chunk_bytes: int, memory_limit: int) -> None:
    """Refuse an array of chunks that do not fit into memory, since each is unpacked as a whole."""
    if chunk_bytes > memory_limit // CHUNK_SHARE:
        raise UnreadableError(
            f"{path} is stored in chunks of {chunk_bytes / 1e6:.0f} MB, too large for memory_limit={memory_limit}: "
            f'pass memory_limit="{-(-CHUNK_SHARE * chunk_bytes // 10**6)}MB", or store it in smaller chunks.'
        )
