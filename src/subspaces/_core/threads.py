"""Limits on BLAS threads for small problems, and Python threads for work that is partly elementwise."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import copy_context
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from subspaces._core.errors import InputError, UserTypeError

# Entries of rows up to which threads do not pay. Speed only.
FEW_ENTRIES = 2**18
# Threads that are kept, for all fits of the process. Speed only.
MOST_THREADS = max(8, 2 * (os.cpu_count() or 1))

# Threads of `mapped`, whose work is partly Python: more wait for the interpreter. Speed only; no kept study.
MOST_MAPPED = 4

T = TypeVar("T")
R = TypeVar("R")


class _OneThread:
    """The context of `one_thread`: the first thread to enter stores the number of BLAS threads, the last restores it.

    If each thread restored the number that it found, then of two that overlap the later one would restore the limit of
    the earlier. Nested contexts do nothing, because setting the limits takes longer than many a small computation.

    Others may set limits meanwhile, in other threads. A number that they have set is left to them. Not solved: if their
    limit begins inside of this context and ends after it, it restores the one thread that it found, because BLAS has
    one number for the whole process.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._before: list[int] = []
        self._own = threading.local()

    @property
    def depth(self) -> int:
        """How many nested contexts the current thread is in."""
        return getattr(self._own, "depth", 0)

    def __enter__(self) -> None:
        if not self.depth:
            with self._lock:
                now = [library.num_threads for library in _libraries()]
                # Others have set what differs from one thread: a limit of theirs has begun, or has ended and uncovered
                # a larger number than we found.
                self._before = list(map(max, self._before, now)) if self._n_inside else now
                try:
                    # In every thread, because some libraries have a limit per thread.
                    self._set([1] * len(self._before))
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

    @contextmanager
    def joined(self) -> Iterator[None]:
        """The same context in a thread that works for another one, which is inside meanwhile."""
        self._own.depth = self.depth + 1
        try:
            yield
        finally:
            self._own.depth = self.depth - 1

    def replace_outside(self, change: Callable[[list[int]], list[int]]) -> None:
        """Change the numbers of threads that BLAS uses outside of these contexts."""
        with self._lock:
            if self._n_inside:
                # Set when the last thread leaves.
                self._before = change(self._before)
            else:
                _set_threads(change([library.num_threads for library in _libraries()]))

    def _restore(self) -> None:
        if not self._n_inside:
            now = [library.num_threads for library in _libraries()]
            self._set([before if count == 1 else count for before, count in zip(self._before, now, strict=True)])

    def _set(self, counts: list[int]) -> None:
        # Where the user has set one thread there is nothing to limit.
        if max(self._before, default=1) > 1:
            _set_threads(counts)


_ONE_THREAD = _OneThread()


def one_thread() -> AbstractContextManager[None]:
    """A context in which BLAS and LAPACK use one thread.

    Small or tridiagonal eigenproblems gain nothing from threads. On a busy machine threads wait for each other, and the
    same work can take ten times as long.
    """
    return _ONE_THREAD


class _Limits:
    """Limits of fits that run at the same time: BLAS has one number for the whole process, so the smallest holds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._limits: list[int] = []
        self._before: list[int] = []

    @contextmanager
    def __call__(self, most: int) -> Iterator[None]:
        with self._lock:
            self._limits.append(most)
            _ONE_THREAD.replace_outside(self._limited)
        try:
            yield
        finally:
            with self._lock:
                self._limits.remove(most)
                _ONE_THREAD.replace_outside(self._limited)
                if not self._limits:
                    self._before = []

    def _limited(self, now: list[int]) -> list[int]:
        self._before = self._before or now
        return [min([count, *self._limits]) for count in self._before]


_LIMITS = _Limits()


def limited(n_jobs: Any) -> AbstractContextManager[None]:
    """A context in which at most `n_jobs` threads work, in Python or in BLAS; None sets no limit.

    As in joblib, -1 is one thread for each processor and -2 one less. The number is never raised: a limit that the user
    has set holds.
    """
    if n_jobs is None:
        return nullcontext()
    if isinstance(n_jobs, bool | np.bool_) or not isinstance(n_jobs, int | np.integer):
        raise UserTypeError(f"n_jobs={n_jobs!r} must be a whole number, or None for no limit.", parameter="n_jobs")
    if n_jobs == 0:
        raise InputError("n_jobs=0 leaves no thread: give a number from 1 on, or -1 for all.", parameter="n_jobs")
    # Imported here, because the command line prints its help without it.
    from joblib import cpu_count

    return _LIMITS(int(n_jobs) if n_jobs > 0 else max(1, cpu_count() + 1 + int(n_jobs)))


def threads_for(n_entries: int) -> AbstractContextManager[None]:
    """A context for work on rows of this many entries: `one_thread` if few, because threads would take longer."""
    return one_thread() if n_entries <= FEW_ENTRIES else nullcontext()


def in_threads(make: Callable[[], Callable[[T], None]], items: Iterable[T], *, most: int | None = None) -> None:
    """Call a function on each of `items`, in as many Python threads as BLAS uses, with one BLAS thread each.

    There are at most `most` threads, if given. Every thread calls `make()` to get its own function, which may reuse
    arrays. Results do not depend on the number of threads. Inside `one_thread`, one thread is used. The calling thread
    works too, so that progress does not depend on threads of the pool being free.
    """
    todo = list(items)
    n_helpers = min(n_threads(), len(todo), most or len(todo)) - 1
    if n_helpers < 1:
        with one_thread():
            function = make() if todo else None
            for item in todo:
                function(item)  # type: ignore[misc]
        return
    queue: SimpleQueue[T] = SimpleQueue()
    for item in todo:
        queue.put(item)

    def work() -> None:
        with _emptied_on_error(queue):
            function = None
            while True:
                try:
                    item = queue.get_nowait()
                except Empty:
                    return
                if function is None:
                    function = make()
                function(item)

    helpers: list[Future[None]] = []
    with one_thread(), _emptied_on_error(queue):
        try:
            _POOL.submit(work, n_helpers, helpers)
            work()
            for each in helpers:
                # One that has not begun would find no items left.
                if not each.cancel():
                    each.result()
        finally:
            # The others use arrays of the caller.
            wait([each for each in helpers if not each.cancel()])


class _Pool:
    """Threads that are started once and kept: starting them takes longer than many a small computation."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._limited = threading.local()

    def submit(self, work: Callable[[], None], count: int, futures: list[Future[None]]) -> None:
        """Call `work` in up to `count` threads; the caller must be inside `one_thread` until the `futures` are done."""
        if count < 1:
            return
        with self._lock:
            if self._executor is None:
                # Threads are started only if no other is idle.
                self._executor = ThreadPoolExecutor(MOST_THREADS, "subspaces")
            executor = self._executor
        # At the exit of the interpreter, or if no more threads can be started, the caller works alone.
        with suppress(RuntimeError):
            for _ in range(count):
                # A copy of the context, so that listeners of progress receive the events of workers.
                futures.append(executor.submit(copy_context().run, self._work, work))

    def _work(self, work: Callable[[], None]) -> None:
        if not hasattr(self._limited, "once"):
            # Some libraries have a limit per thread. It stays, because the threads of the pool need no other.
            with one_thread():
                self._limited.once = True
        with _ONE_THREAD.joined():
            work()

    def forget(self) -> None:
        """Start anew: the threads of a process do not exist in its forks."""
        self.__init__()  # type: ignore[misc]


_POOL = _Pool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOL.forget)


@contextmanager
def _emptied_on_error(queue: SimpleQueue[Any]) -> Iterator[None]:
    """Discard pending items after an error or an interrupt."""
    try:
        yield
    except BaseException:
        with suppress(Empty):
            while True:
                queue.get_nowait()
        raise


def mapped(function: Callable[[T], R], items: Iterable[T], *, most: int | None = MOST_MAPPED) -> list[R]:
    """Results of `function` for all `items`, in their order, computed `in_threads`: at most `most`, if given."""
    todo = list(items)
    if len(todo) == 1:
        # A single item may use all BLAS threads.
        return [function(todo[0])]
    results: list[Any] = [None] * len(todo)

    def work(number: int) -> None:
        results[number] = function(todo[number])

    in_threads(lambda: work, range(len(todo)), most=most)
    return results


def generators(rng: np.random.RandomState, count: int) -> list[np.random.RandomState]:
    """Independent generators for parallel work, so that draws do not depend on the order of execution."""
    return [np.random.RandomState(int(seed)) for seed in rng.randint(2**31 - 1, size=count)]


@cache
def _controller() -> ThreadpoolController:
    # Cached, because finding the libraries takes milliseconds.
    return ThreadpoolController()


def n_threads() -> int:
    """Number of threads that BLAS uses: that of the machine, or the limit that the user set."""
    if _ONE_THREAD.depth:
        # A shortcut, because querying the libraries takes longer than small computations.
        return 1
    return max((library.num_threads for library in _libraries()), default=1)


def _libraries() -> list[Any]:
    return [library for library in _controller().lib_controllers if library.user_api == "blas"]


def _set_threads(counts: list[int]) -> None:
    for library, count in zip(_libraries(), counts, strict=True):
        # From version 3.8 on, threadpoolctl lets only the thread that first set a limit change it, and ignores others.
        # Release that ownership before, so that this call is not ignored, and after, so that later ones are not.
        clear = getattr(library, "clear_controlling_thread", lambda force: None)
        clear(force=True)
        library.set_num_threads(count)
        clear(force=True)
