"""Limits on BLAS threads hold inside `one_thread` and are removed afterwards."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import ContextVar
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from subspaces import KASP
from subspaces._core import threads as _threads


@pytest.fixture(autouse=True)
def two_threads():
    """Let BLAS use two threads on any machine, so that a limit of one has an effect."""
    with threadpool_limits(2, user_api="blas"):
        yield


def limits():
    return {library["num_threads"] for library in _threads._controller().info() if library["user_api"] == "blas"}


def test_the_limit_holds_inside_and_is_removed_outside():
    before = limits()
    with _threads.one_thread():
        assert limits() <= {1}
        with _threads.one_thread():
            assert limits() <= {1}
        assert limits() <= {1}
    assert limits() == before


def test_few_entries_use_one_thread():
    before = limits()
    with _threads.threads_for(100):
        assert limits() <= {1}
    with _threads.threads_for(10**6):
        assert limits() == before


def test_overlapping_threads_restore_the_limit():
    before = limits()
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))

    def first():
        with _threads.one_thread():
            first_is_in.set()
            second_is_in.wait(10)
        first_is_out.set()

    def second():
        first_is_in.wait(10)
        with _threads.one_thread():
            second_is_in.set()
            first_is_out.wait(10)
            assert limits() <= {1}

    threads = [threading.Thread(target=target) for target in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert limits() == before


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_every_item_is_processed_once_with_one_blas_thread(n_threads, monkeypatch):
    before = limits()
    monkeypatch.setattr(_threads, "n_threads", lambda: n_threads)
    makers, done = [], []

    def make():
        makers.append(threading.get_ident())
        return lambda item: done.append((item, limits() <= {1}))

    _threads.in_threads(make, range(20))
    assert sorted(done) == [(item, True) for item in range(20)]
    # A thread that comes when all items are taken makes no function.
    assert len(makers) == len(set(makers)) <= n_threads
    assert limits() == before


class TestPool:
    """Threads are kept between calls."""

    @pytest.fixture(autouse=True)
    def three_workers(self, monkeypatch):
        monkeypatch.setattr(_threads, "n_threads", lambda: 1 if _threads._ONE_THREAD.depth else 3)

    @staticmethod
    def idents(count=3):
        """The threads that take part in work that needs `count` at the same time."""
        barrier, found = threading.Barrier(count), []

        def work(_):
            barrier.wait(30)
            found.append(threading.get_ident())

        _threads.in_threads(lambda: work, range(count))
        return found

    def test_threads_are_kept_and_the_caller_works_too(self):
        every = [self.idents() for _ in range(200)]
        assert all(len(set(each)) == 3 and threading.get_ident() in each for each in every)
        # A thread that is about to become idle may be replaced by a new one, up to the limit.
        assert len({ident for each in every for ident in each}) <= _threads.MOST_THREADS + 1

    def test_workers_of_other_threads_do_not_wait_for_each_other(self):
        """Two calls at the same time that need three threads each."""
        with ThreadPoolExecutor(2) as pool:
            found = [each.result(60) for each in [pool.submit(self.idents) for _ in range(2)]]
        assert [len(set(each)) for each in found] == [3, 3]

    def test_nested_calls_use_their_own_thread(self):
        inner = []

        def outer(_):
            own = threading.get_ident()
            _threads.in_threads(lambda: lambda _: inner.append(threading.get_ident() == own), range(4))

        _threads.in_threads(lambda: outer, range(6))
        assert inner == [True] * 24

    def test_workers_see_the_context_of_the_caller(self):
        variable = ContextVar("variable", default=0)
        variable.set(7)
        assert _threads.mapped(lambda _: variable.get(), range(50)) == [7] * 50

    def test_an_error_waits_for_running_work(self):
        """Arrays of the caller must not be written to after it has left."""
        begun, ended = threading.Event(), []

        def work(item):
            if item == 0:
                begun.wait(30)
                raise KeyboardInterrupt
            begun.set()
            time.sleep(0.2)
            ended.append(item)

        with pytest.raises(KeyboardInterrupt):
            _threads.in_threads(lambda: work, range(3))
        before = len(ended)
        assert before > 0
        time.sleep(0.5)
        assert len(ended) == before

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_a_fork_starts_its_own_threads(self):
        self.idents()
        child = os.fork()
        if not child:
            os._exit(0 if len(set(self.idents())) == 3 else 1)
        assert os.waitpid(child, 0)[1] == 0

    def test_the_caller_works_alone_if_threads_cannot_start(self, monkeypatch):
        def refuse(*_):
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
        assert _threads.mapped(lambda item: 2 * item, range(5)) == [0, 2, 4, 6, 8]


def test_errors_in_threads_are_raised(monkeypatch):
    monkeypatch.setattr(_threads, "n_threads", lambda: 2)

    def fail(item):
        raise ValueError(item)

    with pytest.raises(ValueError, match="1"):
        _threads.in_threads(lambda: fail, [1, 1])
    _threads.in_threads(lambda: fail, [])


def test_n_threads_is_one_inside():
    assert _threads.n_threads() == 2
    with _threads.one_thread():
        assert _threads.n_threads() == 1
        with _threads.one_thread():
            pass
        assert _threads.n_threads() == 1
    assert _threads.n_threads() == 2


def test_pending_items_are_discarded_after_an_error(monkeypatch):
    monkeypatch.setattr(_threads, "n_threads", lambda: 2)
    done = []

    def work(item):
        if item == 0:
            raise KeyboardInterrupt
        done.append(item)

    with pytest.raises(KeyboardInterrupt):
        _threads.in_threads(lambda: work, range(100_000))
    assert len(done) < 99_999


def test_an_error_while_entering_restores_the_limit(monkeypatch):
    before, set_threads = limits(), _threads._set_threads

    def interrupt(counts):
        set_threads(counts)
        if set(counts) == {1}:
            raise KeyboardInterrupt

    monkeypatch.setattr(_threads, "_set_threads", interrupt)
    with pytest.raises(KeyboardInterrupt), _threads.one_thread():
        pass
    monkeypatch.undo()
    assert limits() == before
    with _threads.one_thread():
        assert limits() == {1}
    assert limits() == before


class TestLimitsOfOthers:
    """A limit in another thread that begins and ends before, during or after ours: the right number holds at the end.

    Threads take turns, so that every order of events is forced.
    """

    @pytest.fixture(autouse=True)
    def four_threads(self):
        with threadpool_limits(4, user_api="blas"):
            # This releases the ownership of the limit, so that other threads can set theirs.
            with _threads.one_thread():
                pass
            if limits() != {4}:
                pytest.skip("BLAS does not take four threads")
            yield

    @staticmethod
    def run(events):
        """Begin and end contexts, each in a thread of its own, in this order; the numbers of threads after each."""
        contexts = {
            "user": lambda: threadpool_limits(3, user_api="blas"),
            "fit": _threads.one_thread,
            "other fit": _threads.one_thread,
        }
        opened, seen = {}, []
        with ExitStack() as stack:
            pools = {name: stack.enter_context(ThreadPoolExecutor(1)) for name in contexts}
            for event in events:
                name, _, what = event.rpartition(" ")
                if what == "begins":
                    opened[name] = pools[name].submit(contexts[name]).result()
                    pools[name].submit(opened[name].__enter__).result()
                else:
                    pools[name].submit(opened.pop(name).__exit__, None, None, None).result()
                seen += limits()
        return seen

    @pytest.mark.parametrize(
        ("events", "numbers"),
        [
            (["fit begins", "user begins", "user ends", "fit ends"], [1, 3, 1, 4]),
            (["user begins", "fit begins", "fit ends", "user ends"], [3, 1, 3, 4]),
            (["user begins", "fit begins", "user ends", "fit ends"], [3, 1, 4, 4]),
            (["fit begins", "other fit begins", "fit ends", "other fit ends"], [1, 1, 1, 4]),
            (["fit begins", "other fit begins", "other fit ends", "fit ends"], [1, 1, 1, 4]),
            (
                ["user begins", "fit begins", "user ends", "other fit begins", "fit ends", "other fit ends"],
                [3, 1, 4, 1, 1, 4],
            ),
            (
                ["fit begins", "user begins", "other fit begins", "user ends", "fit ends", "other fit ends"],
                [1, 3, 1, 1, 1, 4],
            ),
            (
                ["user begins", "fit begins", "other fit begins", "fit ends", "user ends", "other fit ends"],
                [3, 1, 1, 1, 4, 4],
            ),
        ],
        ids=lambda value: ", ".join(map(str, value)),
    )
    def test_the_right_number_holds_at_the_end(self, events, numbers):
        assert self.run(events) == numbers

    def test_a_limit_that_begins_during_a_fit_holds_after_it(self):
        """It ends with the one thread that it found: BLAS has one number for the whole process."""
        events = ["fit begins", "user begins", "fit ends", "user ends"]
        assert self.run(events) == [1, 3, 3, 1]

    def test_two_fits(self):
        """Two whole fits that overlap, each after the other has begun."""
        X = np.random.default_rng(0).normal(size=(200, 4))
        barrier = threading.Barrier(2)

        def fit(seed):
            barrier.wait(30)
            return KASP(3, random_state=seed).fit(X).labels_

        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(fit, [0, 0]))
        np.testing.assert_array_equal(*found)
        assert limits() == {4}


def test_limits_set_by_others_later_hold():
    """In another thread, around our own limits, and until the end of their context."""

    def limited():
        with threadpool_limits(1, user_api="blas"):
            seen = limits()
            with _threads.one_thread():
                pass
            return seen, limits()

    before = limits()
    with _threads.one_thread():
        pass
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(limited).result() == ({1}, {1})
        assert limits() == before


class TestLimited:
    """`n_jobs`: a limit for the whole process while a fit runs."""

    @pytest.fixture
    def blas(self, monkeypatch):
        """A BLAS of eight _threads."""
        library = SimpleNamespace(num_threads=8)
        library.set_num_threads = lambda count: setattr(library, "num_threads", count)
        monkeypatch.setattr(_threads, "_libraries", lambda: [library])
        return library

    def test_none_is_no_limit(self, blas):
        with _threads.limited(None):
            assert _threads.n_threads() == 8

    @pytest.mark.parametrize(("n_jobs", "count"), [(1, 1), (3, 3), (20, 8), (-1, 6), (-2, 5), (-100, 1)])
    def test_the_number_is_never_raised(self, blas, n_jobs, count, monkeypatch):
        monkeypatch.setattr("joblib.cpu_count", lambda: 6)
        with _threads.limited(n_jobs):
            assert _threads.n_threads() == blas.num_threads == count
            with _threads.one_thread():
                assert blas.num_threads == 1
            assert blas.num_threads == count
        assert blas.num_threads == 8

    def test_it_is_restored_after_an_error(self, blas):
        with pytest.raises(RuntimeError), _threads.limited(2):
            raise RuntimeError
        assert blas.num_threads == 8

    def test_the_smallest_of_overlapping_limits_holds(self, blas):
        first, second = _threads.limited(4), _threads.limited(2)
        first.__enter__()
        second.__enter__()
        assert blas.num_threads == 2
        first.__exit__(None, None, None)
        assert blas.num_threads == 2
        second.__exit__(None, None, None)
        assert blas.num_threads == 8

    def test_a_limit_that_begins_or_ends_inside_of_one_thread(self, blas):
        with _threads.one_thread():
            limit = _threads.limited(3)
            limit.__enter__()
            assert blas.num_threads == 1
        assert blas.num_threads == 3
        with _threads.one_thread():
            limit.__exit__(None, None, None)
            assert blas.num_threads == 1
        assert blas.num_threads == 8
