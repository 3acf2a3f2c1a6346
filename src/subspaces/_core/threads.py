"""One BLAS thread for work that does not gain from more, and Python threads for work that is half elementwise."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")


class _OneThread:
    """The context of `one_thread`: the first to enter notes the number of threads, the last to leave restores it.

    Each by itself would restore what it found, and of two that overlap the later would find, and restore, the limit. A
    thread that is inside already enters for nothing: to set the libraries takes longer than many a small step.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._before: list[int] = []
        self._own = threading.local()

    @property
    def depth(self) -> int:
        """How often the thread that asks is inside."""
        return getattr(self._own, "depth", 0)

    def __enter__(self) -> None:
        if not self.depth:
            with self._lock:
                if not self._n_inside:
                    self._before = [library.num_threads for library in _libraries()]
                try:
                    # Every thread: some libraries count for each by itself.
                    _set_threads([1] * len(self._before))
                    self._n_inside += 1
                except BaseException:
                    self._restore()
                    raise
        self._own.depth = self.depth + 1

    def __exit__(self, *_: object) -> None:
        self._own.depth = self.depth - 1
        if not self.depth:
            with self._lock:
                self._n_inside -= 1
                self._restore()

    def _restore(self) -> None:
        if not self._n_inside:
            _set_threads(self._before)


_ONE_THREAD = _OneThread()


def one_thread() -> AbstractContextManager[None]:
    """A context in which BLAS and LAPACK use one thread.

    Small or tridiagonal eigenproblems gain nothing from threads, and on a busy machine the threads wait for each
    other: the same work then takes ten times as long.
    """
    return _ONE_THREAD


def in_threads(make: Callable[[], Callable[[T], None]], items: Iterable[T]) -> None:
    """Call a function on each of `items`, in as many Python threads as BLAS has, with one BLAS thread each.

    Every thread calls `make()` for a function of its own, which may keep arrays that it writes to. What an item gives
    does not depend on the number of threads, and inside `one_thread` there is one.
    """
    queue: SimpleQueue[T] = SimpleQueue()
    for item in items:
        queue.put(item)

    def work(_: int = 0) -> None:
        with one_thread(), _left_if_it_fails(queue):
            function = make()
            while True:
                try:
                    item = queue.get_nowait()
                except Empty:
                    return
                function(item)

    n_workers = min(n_threads(), queue.qsize())
    if n_workers < 2:
        work()
        return
    with one_thread(), ThreadPoolExecutor(n_workers) as pool, _left_if_it_fails(queue):
        # As a list, for errors to be raised here.
        list(pool.map(work, range(n_workers)))


@contextmanager
def _left_if_it_fails(queue: SimpleQueue[Any]) -> Iterator[None]:
    """A context in which an error, or Ctrl-C, leaves nothing in the queue: nobody waits for what nobody will see."""
    try:
        yield
    except BaseException:
        with suppress(Empty):
            while True:
                queue.get_nowait()
        raise


def mapped(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """What `function` gives for each of `items`, in their order, found `in_threads`."""
    todo = list(items)
    if len(todo) == 1:
        # It has all threads to itself.
        return [function(todo[0])]
    results: list[Any] = [None] * len(todo)

    def work(number: int) -> None:
        results[number] = function(todo[number])

    in_threads(lambda: work, range(len(todo)))
    return results


def generators(rng: np.random.RandomState, count: int) -> list[np.random.RandomState]:
    """Generators for work that is done side by side: what each draws does not depend on which is first."""
    return [np.random.RandomState(int(seed)) for seed in rng.randint(2**31 - 1, size=count)]


@cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes milliseconds, setting them next to nothing.
    return ThreadpoolController()


def n_threads() -> int:
    """How many threads BLAS uses here: those of the machine, or what the user has set."""
    if _ONE_THREAD.depth:
        # Small steps ask often, and libraries take their time.
        return 1
    return max((library.num_threads for library in _libraries()), default=1)


def _libraries() -> list[Any]:
    return [library for library in _controller().lib_controllers if library.user_api == "blas"]


def _set_threads(counts: list[int]) -> None:
    for library, count in zip(_libraries(), counts, strict=True):
        # From version 3.8 on threadpoolctl lets only the thread that set a limit first change it, and ignores others:
        # neither may we be ignored, nor those who set a limit after us.
        clear = getattr(library, "clear_controlling_thread", lambda force: None)
        clear(force=True)
        library.set_num_threads(count)
        clear(force=True)
