"""Limits on BLAS threads hold inside `one_thread` and are removed afterwards."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from threadpoolctl import threadpool_limits

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
    assert len(makers) == n_threads
    assert limits() == before


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
