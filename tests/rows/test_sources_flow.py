"""Rows on their way: read ahead by a thread, few in memory at a time, labels straight to disk."""

import errno
import gc
import io
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from subspaces.rows.sources import LabelWriter, open_rows, prefetched
from subspaces.rows.sources import _labels as labels_module


def readers():
    return [thread for thread in threading.enumerate() if thread.name == "subspaces-read"]


def wait_until(condition):
    until = time.monotonic() + 5
    while not condition() and time.monotonic() < until:
        time.sleep(0.005)
    assert condition()


@pytest.fixture(autouse=True)
def no_thread_left():
    yield
    gc.collect()
    wait_until(lambda: not readers())


def write_and_fail(writer, values, error):
    writer.write(0, values)
    writer.flush()
    raise error


def disk_is_full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


class TestPrefetched:
    @settings(max_examples=20, deadline=None)
    @given(items=st.lists(st.integers()), depth=st.integers(1, 4))
    def test_gives_the_same_in_order(self, items, depth):
        assert list(prefetched(items, depth)) == items

    def test_reads_one_ahead_and_no_more(self):
        read = []
        walk = prefetched(read.append(i) or i for i in range(9))
        assert not readers()
        assert next(walk) == 0
        wait_until(lambda: len(read) == 2)
        time.sleep(0.02)
        assert read == [0, 1]
        walk.close()
        assert not readers()
        assert list(walk) == []

    def test_raises_what_the_reader_raised(self):
        def blocks():
            yield 1
            raise OSError("the disk has gone")

        walk = prefetched(blocks())
        assert next(walk) == 1
        with pytest.raises(OSError, match="the disk has gone"):
            next(walk)
        assert not readers()
        assert list(walk) == []

    def test_raises_what_closing_raised(self):
        class Blocks:
            def __iter__(self):
                return self

            def __next__(self):
                raise StopIteration

            def close(self):
                raise OSError("cannot close")

        with pytest.raises(OSError, match="cannot close"):
            list(prefetched(Blocks()))

    def test_what_cannot_be_iterated(self):
        with pytest.raises(TypeError):
            next(prefetched(3))
        with pytest.raises(ValueError, match="depth=0"):
            prefetched([], 0)

    def test_stops_when_it_is_dropped(self):
        closed = threading.Event()

        def blocks():
            try:
                while True:
                    yield 1
            finally:
                closed.set()

        for _ in prefetched(blocks()):
            break
        gc.collect()
        assert closed.wait(5)
        with prefetched(blocks()) as walk:
            next(walk)
            assert readers()
        assert not readers()

    def test_stops_at_an_error_of_the_caller(self):
        def work():
            for _ in prefetched(iter(int, 1)):
                raise RuntimeError("no")

        with pytest.raises(RuntimeError, match="no"):
            work()

    @pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX signals")
    @pytest.mark.parametrize("where", ["waiting", "working"])
    def test_stops_when_it_is_interrupted(self, where):
        def blocks():
            yield 1
            time.sleep(0.2)
            yield 2

        def interrupt(*_):
            raise KeyboardInterrupt

        walk = prefetched(blocks())
        next(walk)
        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(KeyboardInterrupt):
                next(walk) if where == "waiting" else time.sleep(1)
        finally:
            signal.signal(signal.SIGALRM, before)
        if where == "waiting":
            assert not readers()
        del walk

    def test_a_program_ends_while_a_reader_hangs(self):
        code = (
            "import threading; from subspaces.rows.sources import prefetched\n"
            "def blocks():\n  yield 1\n  threading.Event().wait()\n"
            "walk = prefetched(blocks()); print(next(walk))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout == "1\n"

    def test_holds_one_block_ahead(self):
        size = 2**20
        tracemalloc.start()
        for block in prefetched(np.ones(size // 8) for _ in range(20)):
            assert block[0] == 1
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 3.5 * size


class TestMemory:
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_a_file_is_not_loaded(self, tmp_path, order):
        resource = pytest.importorskip("resource")
        x = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float32, (500_000, 30), fortran_order=order == "F")
        x[::10_000] = 1
        del x
        source = open_rows(tmp_path / "x.npy", memory_limit="32MB")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        tracemalloc.start()
        total = sum(float(block.sum()) for block in prefetched(source.blocks()))
        sample = source.take(np.arange(0, 500_000, 500))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * (
            1 if sys.platform == "darwin" else 1024
        )
        assert total == 50 * 30
        assert sample.sum() == 50 * 30
        # The file has 60 MB.
        assert peak < 16 * 2**20
        assert grown < 32 * 2**20


class TestLabelWriter:
    def path(self, tmp_path):
        return tmp_path / "labels.npy"

    def test_writes_what_numpy_reads(self, tmp_path):
        labels = np.arange(-1, 9)
        writer = LabelWriter(self.path(tmp_path), 10)
        writer.write(4, labels[4:])
        writer.write(0, labels[:4])
        writer.write(0, [])
        assert not self.path(tmp_path).exists()
        assert writer.close() == self.path(tmp_path)
        writer.close()
        found = np.load(self.path(tmp_path), allow_pickle=False)
        assert found.dtype == np.int32
        assert_array_equal(found, labels)
        assert os.listdir(tmp_path) == ["labels.npy"]

    @settings(max_examples=20, deadline=None)
    @given(order=st.permutations(range(7)), dtype=st.sampled_from(["i1", "i4", "i8"]))
    def test_in_any_order(self, tmp_path_factory, order, dtype):
        path = tmp_path_factory.mktemp("labels") / "labels.npy"
        with LabelWriter(path, 21, dtype=dtype) as writer:
            for i in order:
                writer.write(3 * i, np.arange(3 * i, 3 * i + 3))
        assert_array_equal(np.load(path), np.arange(21, dtype=dtype))

    def test_a_row_without_a_label_is_an_error(self, tmp_path):
        for rows in (range(3), range(1, 4), (0, 1, 3)):
            writer = LabelWriter(self.path(tmp_path), 4)
            for row in rows:
                writer.write(row, [1])
            with pytest.raises(ValueError, match=r"row \d of 4 has no label"):
                writer.close()
            assert os.listdir(tmp_path) == []

    def test_an_error_leaves_nothing_behind(self, tmp_path):
        with pytest.raises(KeyboardInterrupt), LabelWriter(self.path(tmp_path), 4) as writer:
            write_and_fail(writer, [1, 2], KeyboardInterrupt)
        assert os.listdir(tmp_path) == []

    def test_goes_on_where_it_was(self, tmp_path):
        with pytest.raises(RuntimeError), LabelWriter(self.path(tmp_path), 6, resumable=True) as writer:
            write_and_fail(writer, [1, 2, 3], RuntimeError)
        assert not self.path(tmp_path).exists()
        for rows, values in ((6, [4, 5]), (5, [4, 5, 6])):
            with (
                pytest.raises(ValueError, match=r"not of 5 labels|has no label"),
                LabelWriter(self.path(tmp_path), rows, resume=True) as writer,
            ):
                writer.write(3, values)
        with LabelWriter(self.path(tmp_path), 6, resume=True) as writer:
            writer.write(3, [4, 5, 6])
        assert np.load(self.path(tmp_path)).tolist() == [1, 2, 3, 4, 5, 6]
        with pytest.raises(FileExistsError):
            LabelWriter(self.path(tmp_path), 6, resume=True)

    def test_nothing_to_go_on_with(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="nothing to resume"):
            LabelWriter(self.path(tmp_path), 6, resume=True)

    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
    def test_a_killed_program_leaves_no_result(self, tmp_path):
        code = (
            "import os, signal, sys; from subspaces.rows.sources import LabelWriter\n"
            "writer = LabelWriter(sys.argv[1], 4, resumable=True); writer.write(0, [1, 2]); writer.flush()\n"
            "os.kill(os.getpid(), signal.SIGKILL)"
        )
        done = subprocess.run([sys.executable, "-c", code, str(self.path(tmp_path))], timeout=60)
        assert done.returncode == -signal.SIGKILL
        assert not self.path(tmp_path).exists()
        with LabelWriter(self.path(tmp_path), 4, resume=True) as writer:
            writer.write(2, [3, 4])
        assert np.load(self.path(tmp_path)).tolist() == [1, 2, 3, 4]

    def test_an_old_result_is_kept(self, tmp_path):
        np.save(self.path(tmp_path), np.zeros(2))
        with pytest.raises(FileExistsError, match="exists: name another file"):
            LabelWriter(self.path(tmp_path), 2)
        with LabelWriter(self.path(tmp_path), 2, overwrite=True) as writer:
            writer.write(0, [1, 2])
            assert np.load(self.path(tmp_path)).tolist() == [0, 0]
        assert np.load(self.path(tmp_path)).tolist() == [1, 2]

    def test_a_result_that_came_meanwhile_is_kept(self, tmp_path):
        writer = LabelWriter(self.path(tmp_path), 2)
        writer.write(0, [1, 2])
        np.save(self.path(tmp_path), np.zeros(2))
        with pytest.raises(FileExistsError):
            writer.close()
        assert np.load(self.path(tmp_path)).tolist() == [0, 0]
        assert os.listdir(tmp_path) == ["labels.npy"]

    def test_folders(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="folder that does not exist"):
            LabelWriter(tmp_path / "gone" / "labels.npy", 2)
        with pytest.raises(IsADirectoryError, match="is a folder"):
            LabelWriter(tmp_path, 2)

    @pytest.mark.parametrize("resumable", [False, True])
    def test_a_full_disk(self, tmp_path, monkeypatch, resumable):
        class Full(io.FileIO):
            write = disk_is_full

        writer = LabelWriter(self.path(tmp_path), 10**6, resumable=resumable)
        writer._file.close()
        writer._file = io.BufferedRandom(Full(writer.partial, "r+"))
        with pytest.raises(OSError, match=r"the disk is full; .*labels\.npy") as raised, writer:
            writer.write(0, np.zeros(10**6, int))
        assert raised.value.errno == errno.ENOSPC
        assert len(os.listdir(tmp_path)) == resumable

        monkeypatch.setattr(labels_module, "_reserve", disk_is_full)
        with pytest.raises(OSError, match="the disk is full"):
            LabelWriter(tmp_path / "more.npy", 10)

    def test_a_system_that_cannot_reserve(self, tmp_path, monkeypatch):
        def refuse(*_):
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")

        monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
        with LabelWriter(self.path(tmp_path), 2) as writer:
            writer.write(0, [1, 2])
        assert np.load(self.path(tmp_path)).tolist() == [1, 2]

    @pytest.mark.parametrize(
        ("start", "values", "reason"),
        [
            (3, [1, 2], "rows 3 to 5 are outside of the 4 rows"),
            (-1, [1], "outside"),
            (0, [1.5], "pass integers"),
            (0, [[1]], "pass integers"),
            (0, [2**40], "do not fit into int32"),
        ],
    )
    def test_what_are_no_labels(self, tmp_path, start, values, reason):
        with pytest.raises(ValueError, match=reason), LabelWriter(self.path(tmp_path), 4) as writer:
            writer.write(start, np.asarray(values))
        assert os.listdir(tmp_path) == []
