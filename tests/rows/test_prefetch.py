"""The next block is read in a thread while the current one is used."""

import signal
import subprocess
import sys
import threading
import time
import tracemalloc

import memory
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subspaces.rows import open_rows
from subspaces.rows.prefetch import prefetched


def readers():
    return [thread for thread in threading.enumerate() if thread.name.startswith("subspaces-read")]


def wait_until(condition):
    until = time.monotonic() + 5
    while not condition() and time.monotonic() < until:
        time.sleep(0.005)
    assert condition()


@pytest.fixture(autouse=True)
def no_thread_left():
    yield
    assert not readers()


class TestPrefetched:
    @settings(max_examples=20, deadline=None)
    @given(items=st.lists(st.integers()))
    def test_same_items_in_order(self, items):
        with prefetched(items) as walk:
            assert list(walk) == items

    def test_one_item_is_read_ahead(self):
        read = []
        with prefetched(read.append(i) or i for i in range(9)) as walk:
            assert read == []
            assert next(walk) == 0
            wait_until(lambda: len(read) == 2)
            time.sleep(0.02)
            assert read == [0, 1]

    def test_errors_of_the_reader_are_raised(self):
        def blocks():
            yield 1
            raise OSError("the disk has gone")

        with prefetched(blocks()) as walk:
            assert next(walk) == 1
            with pytest.raises(OSError, match="the disk has gone"):
                next(walk)
            assert list(walk) == []

    def test_errors_of_closing_are_raised(self):
        class Blocks:
            def __iter__(self):
                return self

            def __next__(self):
                raise StopIteration

            def close(self):
                raise OSError("cannot close")

        with pytest.raises(OSError, match="cannot close"), prefetched(Blocks()) as walk:
            list(walk)

    def test_a_generator_is_closed_in_its_thread(self):
        threads = []

        def blocks():
            try:
                while True:
                    threads.append(threading.current_thread())
                    yield 1
            finally:
                threads.append(threading.current_thread())

        with prefetched(blocks()) as walk:
            next(walk)
            assert readers()
        assert len(set(threads)) == 1
        assert threads[0] is not threading.current_thread()

    def test_an_error_of_the_caller_stops_the_reader(self):
        def work():
            with prefetched(iter(int, 1)) as walk:
                for _ in walk:
                    raise RuntimeError("no")

        with pytest.raises(RuntimeError, match="no"):
            work()

    @pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX signals")
    def test_an_interrupt_stops_the_reader(self):
        def blocks():
            yield 1
            time.sleep(0.2)
            yield 2

        def interrupt(*_):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            with prefetched(blocks()) as walk:
                next(walk)
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                with pytest.raises(KeyboardInterrupt):
                    next(walk)
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_one_block_is_held_ahead(self):
        size = 2**20
        tracemalloc.start()
        with prefetched(np.ones(size // 8) for _ in range(20)) as walk:
            for block in walk:
                assert block[0] == 1
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 3.5 * size


HANGING = """
import time
from subspaces.rows.prefetch import prefetched

def blocks():
    yield 1
    time.sleep(60)

with prefetched(blocks()) as walk:
    next(walk)
    {end}
"""


@pytest.mark.parametrize("end", ["raise SystemExit(0)", "raise KeyboardInterrupt"])
def test_a_read_that_hangs_does_not_delay_the_end_of_the_program(end):
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", HANGING.format(end=end)], timeout=50, capture_output=True, check=False)
    assert time.monotonic() - began < 40


class TestMemory:
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_a_file_is_not_loaded(self, tmp_path, order):
        x = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float32, (500_000, 30), fortran_order=order == "F")
        x[::10_000] = 1
        del x
        source = open_rows(tmp_path / "x.npy", memory_limit="32MB")
        before = memory.begin_peak()
        tracemalloc.start()
        with prefetched(source.blocks()) as walk:
            total = sum(float(block.sum()) for block in walk)
        sample = source.take(np.arange(0, 500_000, 500))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        grown = memory.peak() - before
        assert total == 50 * 30
        assert sample.sum() == 50 * 30
        # The file has 60 MB.
        assert peak < 16 * 2**20
        assert grown < 32
