"""Runs that are killed go on where they were, to the same labels; what does not belong together is refused."""

import errno
import io
import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import feeds
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from subspaces import FLS, KernelSpectralClustering, LandmarkSpectralClustering, open_rows
from subspaces._core import files as _files
from subspaces.kernels import CustomFeatures
from subspaces.rows import LabelWriter
from subspaces.rows import checkpoint as _checkpoint
from subspaces.rows import feed as _engine
from subspaces.rows.select_columns import TableRows

BLOCK_ROWS = 200
N_BLOCKS = 8  # of the rows of `feeds`
DENSE = FLS.paper(3, subspace_dim=2, n_landmarks=60, random_state=0)
MODEL = LandmarkSpectralClustering(3, n_landmarks=60, n_components=2, random_state=0)


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    monkeypatch.setattr(_engine, "FIT_ROWS", feeds.FEW_ROWS)
    # Every block is kept.
    monkeypatch.setattr(_checkpoint, "SECONDS", -1.0)


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "rows.npy", feeds.BLOBS)
    return tmp_path / "rows.npy"


@pytest.fixture
def walks(monkeypatch):
    """The number of the first block of every walk over the rows of a file, and how many were read."""
    found = []
    blocks = TableRows.blocks

    def walked(self, start=0):
        # A list of its own: the reader of an interrupted fit may count on after `clear`.
        walk = [start, 0]
        found.append(walk)
        for block in blocks(self, start):
            walk[1] += 1
            yield block

    monkeypatch.setattr(TableRows, "blocks", walked)
    return found


def opened(x, folder, **options):
    return open_rows(x, block_rows=BLOCK_ROWS, checkpoint=folder, **options)


class Stopped(BaseException):
    """As an interrupt is, but none that the test runner knows."""


def stop_at(monkeypatch, name, done, error=Stopped):
    """Stop right after `done` blocks of the pass `name` have been kept."""
    save = _checkpoint.Checkpoint.save

    def saved(self, which, number, *args, **options):
        save(self, which, number, *args, **options)
        if (which, number) == (name, done):
            monkeypatch.setattr(_checkpoint.Checkpoint, "save", save)
            raise error

    monkeypatch.setattr(_checkpoint.Checkpoint, "save", saved)


CHILD = """
import os, signal, sys
import numpy as np
import feeds
from subspaces.rows import checkpoint as _checkpoint
from subspaces.rows import feed as _engine
from subspaces._core import files as _files
from test_checkpoint import DENSE, opened
from sklearn.base import clone

_engine.FIT_ROWS, _checkpoint.SECONDS = feeds.FEW_ROWS, -1.0
path, folder, labels, name, done, moment = sys.argv[1:]
save, replace = _checkpoint.Checkpoint.save, os.replace


def die(*args):
    os.kill(os.getpid(), signal.SIGKILL)


def saved(self, which, number, *args, **options):
    if (which, number) == (name, int(done)) and moment == "while":
        # The new file is written and not in its place yet.
        _files.os.replace = die
    save(self, which, number, *args, **options)
    if (which, number) == (name, int(done)):
        die()


_checkpoint.Checkpoint.save = saved
clone(DENSE).fit(opened(path, folder, labels=labels))
"""


def run_until_killed(*args):
    here = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here), *sys.path])}
    command = [sys.executable, "-c", CHILD, *map(str, args)]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=100, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def test_a_process_that_is_killed_again_and_again(path, tmp_path, walks):
    expected = clone(DENSE).fit(open_rows(path, block_rows=BLOCK_ROWS))
    folder, labels = tmp_path / "state", tmp_path / "labels.npy"
    for name, done, moment in [
        ("moments-1", 3, "after"),
        ("products-1", 5, "while"),
        ("labels", 4, "after"),
    ]:
        run_until_killed(path, folder, labels, name, done, moment)
        assert not labels.exists()
    walks.clear()
    model = clone(DENSE).fit(opened(path, folder, labels=labels))
    assert_array_equal(model.labels_, expected.labels_)
    assert_array_equal(model.eigenvalues_, expected.eigenvalues_)
    # The first block, and again for the origin; all blocks, to compare them; what is left of the labels.
    assert [start for start, _ in walks] == [0, 0, 0, 4]
    assert [count for _, count in walks] == [1, 1, N_BLOCKS, N_BLOCKS - 4]
    # Once more: nothing is left to do but to compare.
    walks.clear()
    assert_array_equal(clone(DENSE).fit(opened(path, folder, labels=labels)).labels_, expected.labels_)
    assert walks == [[0, 1], [0, 1], [0, N_BLOCKS]]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["labels.npy", "rows.npy", "state"]


class TestResume:
    @pytest.mark.parametrize(
        ("name", "done"), [("moments-1", 1), ("moments-1", N_BLOCKS), ("products-1", 3), ("labels", 1), ("labels", 7)]
    )
    @pytest.mark.parametrize("error", [KeyboardInterrupt, Stopped])
    def test_goes_on_with_the_next_block(self, name, done, error, path, tmp_path, walks, monkeypatch):
        expected = clone(MODEL).fit(open_rows(path, block_rows=BLOCK_ROWS)).labels_
        rows = opened(path, tmp_path / "state")
        stop_at(monkeypatch, name, done, error)
        with pytest.raises(error):
            clone(MODEL).fit(rows)
        walks.clear()
        assert_array_equal(clone(MODEL).fit(rows).labels_, expected)
        # The first block twice; blocks that were read before, to compare them; then passes that are not over, the first
        # of them from where it was.
        names = ["moments-1", "products-1", "labels"]
        left = names[names.index(name) :]
        # Blocks are read ahead, so the first pass may have read more than it has summed.
        start, compared = walks[2]
        assert start == 0
        assert done <= compared <= min(done + 2, N_BLOCKS) if name == "moments-1" else compared == N_BLOCKS
        assert walks[3] == [done, N_BLOCKS - done]
        assert walks[4:] == [[0, N_BLOCKS]] * (len(left) - 1)

    @pytest.mark.parametrize("random_state", [None, np.random.RandomState(3), 3])
    def test_draws_the_same(self, random_state, path, tmp_path, monkeypatch):
        model = clone(MODEL).set_params(random_state=random_state)
        rows = opened(path, tmp_path / "state")
        stop_at(monkeypatch, "products-1", 3)
        with pytest.raises(Stopped):
            model.fit(rows)
        first = clone(model).fit(rows)
        again = clone(model).fit(rows)
        assert_array_equal(first.landmarks_, again.landmarks_)
        assert_array_equal(first.labels_, again.labels_)

    def test_a_generator_of_the_same_seed_gives_the_same(self, path, tmp_path):
        first, second = (
            clone(MODEL).set_params(random_state=np.random.RandomState(3)).fit(opened(path, tmp_path / name))
            for name in "ab"
        )
        assert_array_equal(first.landmarks_, second.landmarks_)

    @pytest.mark.parametrize("name", ["products-1", "products-3", "labels"])
    def test_several_draws(self, name, tmp_path, monkeypatch):
        model = feeds.FLATS["votes"]
        expected = clone(model).fit(open_rows(feeds.FLAT_ROWS, block_rows=BLOCK_ROWS)).labels_
        rows = opened(feeds.FLAT_ROWS, tmp_path / "state")
        stop_at(monkeypatch, name, 3)
        with pytest.raises(Stopped):
            clone(model).fit(rows)
        assert_array_equal(clone(model).fit(rows).labels_, expected)

    def test_blocks_of_a_function(self, tmp_path, monkeypatch):
        made = []

        def pieces():
            for start in range(0, len(feeds.BLOBS), 300):
                made.append(start)
                yield feeds.BLOBS[start : start + 300]

        expected = clone(MODEL).fit(open_rows(pieces, block_rows=BLOCK_ROWS)).labels_
        stop_at(monkeypatch, "labels", 3)
        with pytest.raises(Stopped):
            clone(MODEL).fit(opened(pieces, tmp_path / "state"))
        made.clear()
        assert_array_equal(clone(MODEL).fit(opened(pieces, tmp_path / "state")).labels_, expected)
        # The beginning, and all to compare, for the sample and for the labels: an iterator cannot begin in between.
        assert sum(start == 1500 for start in made) == 3

    @pytest.mark.parametrize("name", ["moments-1", "degrees-1", "products-1", "labels"])
    def test_blocks_of_another_library(self, name, tmp_path, monkeypatch):
        strict = pytest.importorskip("array_api_strict")
        x = strict.asarray(feeds.FLAT_ROWS)
        expected = clone(DENSE).fit(open_rows(x, block_rows=BLOCK_ROWS)).labels_
        stop_at(monkeypatch, name, 3)
        with pytest.raises(Stopped):
            clone(DENSE).fit(opened(x, tmp_path / "state"))
        found = clone(DENSE).fit(opened(x, tmp_path / "state")).labels_
        assert_array_equal(found, np.asarray(expected))

    def test_few_rows(self, tmp_path):
        rows = opened(feeds.BLOBS[:500], tmp_path / "state", labels=tmp_path / "labels.npy")
        expected = clone(MODEL).fit(feeds.BLOBS[:500]).labels_
        for _ in range(2):
            assert_array_equal(clone(MODEL).fit(rows).labels_, expected)

    @pytest.mark.parametrize("moment", ["before", "after"])
    def test_stopped_around_the_end_of_the_labels(self, moment, path, tmp_path, monkeypatch):
        rows = opened(path, tmp_path / "state", labels=tmp_path / "labels.npy")
        expected = clone(MODEL).fit(open_rows(path, block_rows=BLOCK_ROWS)).labels_
        close = LabelWriter.close

        def closed(self):
            if moment == "after":
                close(self)
            self.abort()
            raise Stopped

        with monkeypatch.context() as patch:
            patch.setattr(LabelWriter, "close", closed)
            with pytest.raises(Stopped):
                clone(MODEL).fit(rows)
        assert (tmp_path / "labels.npy").exists() == (moment == "after")
        assert_array_equal(clone(MODEL).fit(rows).labels_, expected)

    def test_labels_that_were_removed_are_written_again(self, path, tmp_path, walks):
        rows = opened(path, tmp_path / "state", labels=tmp_path / "labels.npy")
        expected = np.array(clone(MODEL).fit(rows).labels_)
        (tmp_path / "labels.npy").unlink()
        walks.clear()
        assert_array_equal(clone(MODEL).fit(rows).labels_, expected)
        # To compare them, and for the labels.
        assert walks[2:] == [[0, N_BLOCKS]] * 2

    def test_a_partial_file_of_labels_that_was_removed_is_written_again(self, path, tmp_path, monkeypatch):
        rows = opened(path, tmp_path / "state")
        expected = clone(MODEL).fit(open_rows(path, block_rows=BLOCK_ROWS)).labels_
        stop_at(monkeypatch, "labels", 5)
        with pytest.raises(Stopped):
            clone(MODEL).fit(rows)
        (tmp_path / "state" / ".labels.npy.partial").unlink()
        assert_array_equal(clone(MODEL).fit(rows).labels_, expected)

    def test_functions_and_arrays_among_the_parameters(self, path, tmp_path):
        function = CustomFeatures(bumps, some_rows, 20)
        for number, make in enumerate(
            [
                lambda: KernelSpectralClustering(3, feature_map=clone(function), random_state=0),
                lambda: clone(MODEL).set_params(landmarks=feeds.BLOBS[::25].copy()),
            ]
        ):
            rows = opened(path, tmp_path / str(number))
            assert_array_equal(make().fit(rows).labels_, make().fit(rows).labels_)

    def test_predict_leaves_it_alone(self, path, tmp_path):
        rows = opened(path, tmp_path / "state")
        model = clone(MODEL).fit(path)
        assert_array_equal(model.predict(rows), model.labels_)
        assert not (tmp_path / "state").exists()

    def test_is_written_after_some_seconds(self, path, tmp_path, monkeypatch):
        monkeypatch.setattr(_checkpoint, "SECONDS", 1000.0)
        written = []
        monkeypatch.setattr(_checkpoint, "write_whole", lambda path, content: written.append(path.name))
        clone(MODEL).fit(opened(path, tmp_path / "state"))
        assert written == ["run.json", "moments-1.npz", "products-1.npz", "labels.npz"]


def bumps(X, points):
    return np.exp(-np.square(X[:, None] - points).sum(axis=2) / 18)


def some_rows(X, size, rng):
    return X[rng.choice(len(X), size)]


def fitted(path, folder, **options):
    return clone(MODEL).fit(opened(path, folder, **options))


class TestRefused:
    @pytest.mark.parametrize(
        ("change", "named"),
        [
            ({"n_clusters": 4}, "n_clusters was '3' and is '4'"),
            ({"random_state": 1}, "random_state was '0' and is '1'"),
            ({"landmarks": feeds.BLOBS[:60]}, "landmarks was \"'kmeans'\" and is .*checksum"),
        ],
    )
    def test_other_parameters(self, change, named, path, tmp_path):
        fitted(path, tmp_path / "state")
        with pytest.raises(ValueError, match=f"belongs to another run: {named}"):
            clone(MODEL).set_params(**change).fit(opened(path, tmp_path / "state"))
        clone(MODEL).set_params(verbose=1).fit(opened(path, tmp_path / "state"))

    def test_other_landmarks_of_the_same_shape(self, path, tmp_path):
        # Longer than what NumPy prints of an array.
        points = feeds.BLOBS[:400].copy()
        model = clone(MODEL).set_params(landmarks=points)
        model.fit(opened(path, tmp_path / "state"))
        points[200] += 1
        with pytest.raises(ValueError, match="landmarks was"):
            model.fit(opened(path, tmp_path / "state"))

    def test_another_estimator(self, path, tmp_path):
        fitted(path, tmp_path / "state")
        with pytest.raises(ValueError, match="belongs to another run"):
            FLS(3, n_landmarks=60, random_state=0).fit(opened(path, tmp_path / "state"))

    @pytest.mark.parametrize("row", [0, 100, -1])
    def test_other_rows(self, row, path, tmp_path):
        fitted(path, tmp_path / "state")
        x = feeds.BLOBS.copy()
        x[row] += 1
        np.save(path, x)
        with pytest.raises(ValueError, match="the checksum of some rows was"):
            fitted(path, tmp_path / "state")

    @pytest.mark.parametrize(("name", "done"), [("moments-1", 6), ("products-1", 2), ("labels", 3), ("labels", 0)])
    def test_a_row_that_changes_before_a_run_is_resumed(self, name, done, path, tmp_path, monkeypatch):
        stop_at(monkeypatch, name, done)
        with pytest.raises(Stopped):
            fitted(path, tmp_path / "state")
        # None of the rows that are looked at first.
        x = feeds.BLOBS.copy()
        x[1050, 1] = np.nextafter(x[1050, 1], 0)
        np.save(path, x)
        with pytest.raises(ValueError, match=r"rows have changed .*: block 5 is not what it was"):
            fitted(path, tmp_path / "state")

    @pytest.mark.parametrize(
        "content",
        [
            b'{"asked": ' + b"[" * 100_000,
            b'{"asked": {}, "seed": "me"}',
            b'{"asked": {}, "seed": -1}',
            b'{"asked": {}, "seed": 1e9}',
            b" " * 2_000_000 + b"{}",
        ],
    )
    def test_a_forged_run(self, content, path, tmp_path):
        fitted(path, tmp_path / "state")
        (tmp_path / "state" / "run.json").write_bytes(content)
        with pytest.raises(ValueError, match=r"run\.json is damaged: remove the folder"):
            fitted(path, tmp_path / "state")

    @pytest.mark.parametrize("name", ["moments-1", "products-1", "labels"])
    @pytest.mark.parametrize(
        "change",
        [
            {"done": np.asarray(-3)},
            {"done": np.asarray(10**6)},
            {"digests": np.zeros(N_BLOCKS)},
            {"sum0": np.full(3, np.nan)},
            {"sum0": np.array(["a"])},
            {"sum0": np.zeros((0, 7)), "over": np.asarray(True)},
        ],
    )
    def test_forged_sums(self, name, change, path, tmp_path):
        fitted(path, tmp_path / "state")
        file = tmp_path / "state" / f"{name}.npz"
        with np.load(file) as kept:
            np.savez(file, **{**kept, **change})
        if name == "labels" and "over" in change:
            fitted(path, tmp_path / "state")
            return
        with pytest.raises(ValueError, match=rf"{name}\.npz is damaged .*remove it"):
            fitted(path, tmp_path / "state")

    def test_more_rows(self, path, tmp_path):
        fitted(path, tmp_path / "state")
        np.save(path, np.tile(feeds.BLOBS, (2, 1)))
        with pytest.raises(ValueError, match="n_rows was 1501 and is 3002"):
            fitted(path, tmp_path / "state")

    def test_other_blocks_samples_and_files_of_labels(self, path, tmp_path):
        fitted(path, tmp_path / "state")
        for name, options in {
            "block_rows": {"block_rows": 300},
            "memory_limit": {"memory_limit": "50MB"},
            "labels": {"labels": tmp_path / "labels.npy"},
        }.items():
            rows = open_rows(opened(path, tmp_path / "state"), **options)
            with pytest.raises(ValueError, match=f"{name} was"):
                clone(MODEL).fit(rows)

    @pytest.mark.parametrize("content", [b"", b"{", b"[1, 2]", b'"a"', b'{"asked": 1, "seed": 2}', b'{"asked": {}}'])
    def test_a_damaged_run(self, content, path, tmp_path):
        fitted(path, tmp_path / "state")
        (tmp_path / "state" / "run.json").write_bytes(content)
        with pytest.raises(ValueError, match=r"run\.json is damaged: remove the folder"):
            fitted(path, tmp_path / "state")

    @pytest.mark.parametrize("name", ["moments-1", "products-1", "labels"])
    def test_damaged_sums(self, name, path, tmp_path):
        fitted(path, tmp_path / "state")
        file = tmp_path / "state" / f"{name}.npz"
        content = file.read_bytes()
        # Some bytes between the arrays have no meaning.
        middle, inside = len(content) // 2, content.index(b"NUMPY") + 125
        for damaged in (
            b"",
            b"no sums",
            content[:middle],
            content[:inside] + b"\xff\xff\xff\xff" + content[inside + 4 :],
            array_file(np.arange(3)),
        ):
            file.write_bytes(damaged)
            with pytest.raises(ValueError, match=rf"{name}\.npz is damaged .*remove it"):
                fitted(path, tmp_path / "state")
        file.unlink()
        fitted(path, tmp_path / "state")

    def test_sums_of_another_run(self, path, tmp_path):
        fitted(path, tmp_path / "one")
        clone(MODEL).set_params(n_landmarks=50).fit(opened(path, tmp_path / "two"))
        (tmp_path / "two" / "products-1.npz").replace(tmp_path / "one" / "products-1.npz")
        with pytest.raises(ValueError, match=r"products-1\.npz belongs to another run: remove it"):
            fitted(path, tmp_path / "one")

    def test_a_folder_of_something_else(self, path, tmp_path):
        (tmp_path / "state").mkdir()
        (tmp_path / "state" / "thesis.tex").write_text("mine")
        with pytest.raises(ValueError, match="a folder with other files: name an empty one"):
            fitted(path, tmp_path / "state")
        assert [each.name for each in (tmp_path / "state").iterdir()] == ["thesis.tex"]

    def test_a_file(self, path, tmp_path):
        with pytest.raises(ValueError, match=r"checkpoint='.*rows\.npy' is a file: name a folder"):
            fitted(path, path)

    def test_labels_of_another_run(self, path, tmp_path):
        (tmp_path / "labels.npy").write_bytes(b"mine")
        with pytest.raises(FileExistsError, match="exists"):
            fitted(path, tmp_path / "state", labels=tmp_path / "labels.npy")
        assert (tmp_path / "labels.npy").read_bytes() == b"mine"
        assert not (tmp_path / "state").exists()


def array_file(x):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive, archive.open("x.npy", "w") as file:
        np.save(file, x)
    return content.getvalue()


class TestFullDisk:
    def test_is_reported_and_leaves_no_partial_file(self, path, tmp_path, monkeypatch):
        expected = clone(MODEL).fit(open_rows(path, block_rows=BLOCK_ROWS)).labels_
        sync, calls = os.fsync, []

        def full(handle):
            calls.append(handle)
            if len(calls) == 5:
                raise OSError(errno.ENOSPC, "No space left on device")
            sync(handle)

        monkeypatch.setattr(_files.os, "fsync", full)
        with pytest.raises(OSError, match=r"checkpoint cannot be written, the disk is full; free some space") as caught:
            fitted(path, tmp_path / "state")
        assert caught.value.errno == errno.ENOSPC
        assert Path(caught.value.filename).name == "moments-1.npz"
        assert sorted(each.name for each in (tmp_path / "state").iterdir()) == ["moments-1.npz", "run.json"]
        with np.load(tmp_path / "state" / "moments-1.npz") as kept:
            assert int(kept["done"]) == 3
        assert_array_equal(fitted(path, tmp_path / "state").labels_, expected)

    def test_before_the_run_has_begun(self, path, tmp_path, monkeypatch):
        def full(handle):
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(_files.os, "fsync", full)
            with pytest.raises(OSError, match="checkpoint cannot be written, the disk is full"):
                fitted(path, tmp_path / "state")
        assert not list((tmp_path / "state").iterdir())
        fitted(path, tmp_path / "state")

    def test_killed_before_the_run_has_begun(self, path, tmp_path):
        (tmp_path / "state").mkdir()
        (tmp_path / "state" / ".run.json.abc").write_text("{")
        fitted(path, tmp_path / "state")
        assert json.loads((tmp_path / "state" / "run.json").read_text())["seed"] is None
