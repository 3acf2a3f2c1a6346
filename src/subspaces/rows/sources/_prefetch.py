"""The next block read while this one is worked on."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator
from queue import SimpleQueue
from types import TracebackType
from typing import Generic, Self, TypeVar

from subspaces._core.errors import InputError

T = TypeVar("T")
# A reader that hangs is left behind after this, as a daemon: it ends with the program.
JOIN_SECONDS = 5.0


class _Pipe:
    """What the reading thread and the iterator share; the thread must not know the iterator, which ends it."""

    def __init__(self, depth: int) -> None:
        self.room = threading.Semaphore(depth)
        self.stopped = threading.Event()
        # Either an item, or at the end nothing, with the error if there was one.
        self.items: SimpleQueue[tuple[bool, object]] = SimpleQueue()

    def read(self, iterator: Iterator[object]) -> None:
        error: BaseException | None = None
        try:
            try:
                while self._may_read():
                    self.items.put((True, next(iterator)))
            finally:
                # A generator is closed in the thread that runs it.
                if hasattr(iterator, "close"):
                    iterator.close()
        except StopIteration:
            pass
        except BaseException as raised:
            error = raised
        self.items.put((False, error))

    def stop(self) -> None:
        self.stopped.set()
        self.room.release()

    def _may_read(self) -> bool:
        self.room.acquire()
        return not self.stopped.is_set()


class Prefetched(Generic[T]):
    """An iterator over `blocks` of which a thread reads `depth` ahead; it ends the thread when it is done or dropped.

    Errors of the reader are raised where the block would have come. It is a context manager that closes itself.
    """

    def __init__(self, blocks: Iterable[T], depth: int = 1) -> None:
        if depth < 1:
            raise InputError(f"depth={depth} must be at least 1: it is how many blocks are read ahead.")
        self._pipe = _Pipe(depth)
        self._thread: threading.Thread | None = None
        self._blocks: Iterable[T] | None = blocks
        self._stop = weakref.finalize(self, self._pipe.stop)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        if not self._stop.alive:
            raise StopIteration
        try:
            if self._thread is None:
                self._start()
            found, item = self._pipe.items.get()
        except BaseException:
            # An interrupt while waiting.
            self.close()
            raise
        self._pipe.room.release()
        if found:
            return item  # type: ignore[return-value]
        self.close()
        if isinstance(item, BaseException):
            try:
                raise item
            finally:
                # The error knows this frame, and must not be known by it.
                del item
        raise StopIteration

    def close(self) -> None:
        """End the thread; nothing more will come."""
        self._stop()
        self._blocks = None
        thread = self._thread
        if thread is not None and thread.is_alive() and thread is not threading.current_thread():
            thread.join(JOIN_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> None:
        assert self._blocks is not None
        thread = threading.Thread(
            target=self._pipe.read, args=(iter(self._blocks),), name="subspaces-read", daemon=True
        )
        # Not before: an iterable that fails to start has no thread to end.
        self._thread, self._blocks = thread, None
        thread.start()


def prefetched(blocks: Iterable[T], depth: int = 1) -> Prefetched[T]:
    """The `blocks`, `depth` of them read ahead by a thread while the caller works on the one before.

    >>> list(prefetched(range(3)))
    [0, 1, 2]
    """
    return Prefetched(blocks, depth)
