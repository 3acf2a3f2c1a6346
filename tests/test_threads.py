"""One BLAS thread where it is asked for, and all of them again afterwards."""

import threading

import pytest

from subspaces import _threads


def limits():
    return {library["num_threads"] for library in _threads._controller().info() if library["user_api"] == "blas"}


def test_the_limit_holds_inside_and_is_lifted_outside():
    before = limits()
    with _threads.one_thread():
        assert limits() <= {1}
        with _threads.one_thread():
            assert limits() <= {1}
        assert limits() <= {1}
    assert limits() == before


def test_threads_that_overlap_leave_no_limit_behind():
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
def test_every_item_is_done_once_with_one_blas_thread(n_threads, monkeypatch):
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
