"""Read the next block in a thread while the caller works on the current one."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
_END = object()


@contextmanager
def prefetched(blocks: Iterable[T]) -> Iterator[Iterator[T]]:
    """Iterate over `blocks` with one block read ahead; errors of the reader are raised where the block is expected.

    At the end of the context the reader has stopped and a generator is closed, in the thread that ran it.

    >>> with prefetched(range(3)) as numbers:
    ...     list(numbers)
    [0, 1, 2]
    """
    iterator = iter(blocks)
    with ThreadPoolExecutor(1, thread_name_prefix="subspaces-read") as reader:
        ahead = _ahead(reader, iterator)
        try:
            yield ahead
        finally:
            ahead.close()
            if hasattr(iterator, "close"):
                reader.submit(iterator.close).result()


def _ahead(reader: ThreadPoolExecutor, iterator: Iterator[T]) -> Generator[T]:
    pending = reader.submit(next, iterator, _END)
    while (block := pending.result()) is not _END:
        pending = reader.submit(next, iterator, _END)
        yield block  # type: ignore[misc]
        # Do not hold this block while the next one is read.
        del block
