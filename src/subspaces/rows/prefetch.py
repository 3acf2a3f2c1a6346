"""Read the next block in a thread while the caller works on the current one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
_END = object()


@contextmanager
def prefetched(blocks: Iterable[T]) -> Iterator[Iterator[T]]:
    """Iterate over `blocks` with one block read ahead; errors of the reader are raised where the block is expected.

    At the end of the context the reader has stopped and a generator is closed, in the thread that ran it. An interrupt
    does not wait for that: a disk that does not answer must not keep the program from ending.

    >>> with prefetched(range(3)) as numbers:
    ...     list(numbers)
    [0, 1, 2]
    """
    iterator = iter(blocks)
    reader = _Reader()
    ahead = _ahead(reader, iterator)
    waits = True
    try:
        yield ahead
    except (KeyboardInterrupt, SystemExit):
        waits = False
        raise
    finally:
        ahead.close()
        closed = reader.submit(getattr(iterator, "close", lambda: None))
        reader.stop(wait=waits)
        if waits:
            closed.result()


def _ahead(reader: _Reader, iterator: Iterator[T]) -> Generator[T]:
    pending = reader.submit(next, iterator, _END)
    while (block := pending.result()) is not _END:
        pending = reader.submit(next, iterator, _END)
        yield block
        # Do not hold this block while the next one is read.
        del block


class _Reader:
    """A thread that calls functions one after another. It is a daemon: those of executors are joined at exit."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="subspaces-read", daemon=True)
        self._thread.start()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Call `function` after all that were submitted before."""
        result: Future[Any] = Future()
        self._tasks.put((result, lambda: function(*arguments)))
        return result

    def stop(self, *, wait: bool) -> None:
        """End the thread after all calls."""
        self._tasks.put(None)
        if wait:
            self._thread.join()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            result, function = task
            try:
                result.set_result(function())
            except BaseException as error:
                result.set_exception(error)
            # Do not hold a block while the next one is waited for.
            del task, result, function
