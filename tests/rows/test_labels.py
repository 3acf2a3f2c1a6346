"""Labels are written to disk while they are computed; the file appears when it is complete."""

import errno
import io
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from subspaces._core.errors import UserFileError
from subspaces.rows import LabelWriter
from subspaces.rows import labels as labels_module


def write_and_fail(writer, values, error):
    writer.write(0, values)
    writer.flush()
    raise error


def disk_is_full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


class TestLabelWriter:
    def path(self, tmp_path):
        return tmp_path / "labels.npy"

    def test_writes_what_numpy_reads(self, tmp_path):
        labels = np.arange(-1, 9)
        writer = LabelWriter(self.path(tmp_path), 10)
        writer.write(0, labels[:4])
        writer.write(4, labels[4:])
        writer.write(0, [])
        assert not self.path(tmp_path).exists()
        assert writer.close() == self.path(tmp_path)
        writer.close()
        found = np.load(self.path(tmp_path), allow_pickle=False)
        assert found.dtype == np.int32
        assert_array_equal(found, labels)
        assert os.listdir(tmp_path) == ["labels.npy"]

    def test_labels_are_written_in_order(self, tmp_path):
        for row in (2, 0):
            writer = LabelWriter(self.path(tmp_path), 4)
            writer.write(0, [1])
            with pytest.raises(ValueError, match=rf"labels from row {row} on do not continue those before row 1"):
                writer.write(row, [1])
            writer.abort()
            assert os.listdir(tmp_path) == []

    def test_a_row_without_a_label_is_an_error(self, tmp_path):
        writer = LabelWriter(self.path(tmp_path), 4)
        writer.write(0, [1, 2, 3])
        with pytest.raises(ValueError, match=r"row 3 of 4 has no label"):
            writer.close()
        assert os.listdir(tmp_path) == []

    def test_an_error_leaves_nothing_behind(self, tmp_path):
        with pytest.raises(KeyboardInterrupt), LabelWriter(self.path(tmp_path), 4) as writer:
            write_and_fail(writer, [1, 2], KeyboardInterrupt)
        assert os.listdir(tmp_path) == []

    def test_resumes(self, tmp_path):
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

    def test_nothing_to_resume(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="nothing to resume"):
            LabelWriter(self.path(tmp_path), 6, resume=True)

    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
    def test_a_killed_program_leaves_no_result(self, tmp_path):
        code = (
            "import os, signal, sys; from subspaces.rows import LabelWriter\n"
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

    def test_a_result_written_meanwhile_is_kept(self, tmp_path):
        writer = LabelWriter(self.path(tmp_path), 2)
        writer.write(0, [1, 2])
        np.save(self.path(tmp_path), np.zeros(2))
        with pytest.raises(FileExistsError, match=r"the labels are kept in .*labels\.kept-") as raised:
            writer.close()
        assert np.load(self.path(tmp_path)).tolist() == [0, 0]
        (kept,) = set(os.listdir(tmp_path)) - {"labels.npy"}
        assert kept in str(raised.value)
        assert np.load(tmp_path / kept).tolist() == [1, 2]

    @pytest.mark.parametrize("resumable", [False, True])
    def test_two_writers_do_not_mix(self, tmp_path, resumable):
        with LabelWriter(self.path(tmp_path), 4, resumable=resumable) as first:
            first.write(0, [1, 2])
            for options in ({}, {"overwrite": True}, {"resume": True}):
                with pytest.raises(FileExistsError, match="being written here by another fit"):
                    LabelWriter(self.path(tmp_path), 4, **options)
            first.write(2, [3, 4])
        assert np.load(self.path(tmp_path)).tolist() == [1, 2, 3, 4]
        assert os.listdir(tmp_path) == ["labels.npy"]

    @pytest.mark.parametrize("kind", ["link", "pipe"])
    def test_a_file_of_others_in_place_of_ours(self, tmp_path, kind):
        (tmp_path / "precious").write_text("thesis")
        partial = labels_module.partial_path(self.path(tmp_path))
        if kind == "link":
            partial.symlink_to(tmp_path / "precious")
        else:
            os.mkfifo(partial)
        with pytest.raises(UserFileError, match="not a file of ours"):
            LabelWriter(self.path(tmp_path), 4)
        assert (tmp_path / "precious").read_text() == "thesis"

    def test_one_writer_after_another(self, tmp_path):
        """The lock of a writer that failed, or was killed, does not outlive it."""
        first = LabelWriter(self.path(tmp_path), 2)
        first.write(0, [9])
        first.abort()
        with LabelWriter(self.path(tmp_path), 2) as second:
            first.abort()
            second.write(0, [1, 2])
        assert np.load(self.path(tmp_path)).tolist() == [1, 2]

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
            (0, [1] * 5, "rows 0 to 5 are outside of the 4 rows"),
            (-1, [1], "do not continue"),
            (0, [1.5], "pass integers"),
            (0, [[1]], "pass integers"),
            (0, [2**40], "do not fit into int32"),
        ],
    )
    def test_invalid_labels_are_refused(self, tmp_path, start, values, reason):
        with pytest.raises(ValueError, match=reason), LabelWriter(self.path(tmp_path), 4) as writer:
            writer.write(start, np.asarray(values))
        assert os.listdir(tmp_path) == []
