"""Rows on Dask: the same labels as in memory, lazy, on threads and on processes, also when a process dies."""

import os
import pickle
import signal
import time
from pathlib import Path

import feeds
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from subspaces import FLS, KFlats, LandmarkSpectralClustering
from subspaces.rows import feed as _engine

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("dask")

NAMES = [f"column {i}" for i in range(8)]
SHARE = 0.999


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    monkeypatch.setattr(_engine, "FIT_ROWS", feeds.FEW_ROWS)


def as_dask(x, rows=401):
    return da.from_array(x, chunks=(rows, -1))


def with_unknown_sizes(x):
    """Blocks of which Dask does not know how many rows they have, one of them none."""
    blocks = da.from_array(np.concatenate([x, x[:300]]), chunks=(300, -1))
    return blocks[da.from_array(np.arange(len(x) + 300) < len(x), chunks=300)]


def with_empty_chunks(x):
    nothing = da.from_array(x[:0], chunks=(0, x.shape[1]))
    half = len(x) // 2
    return da.concatenate([nothing, as_dask(x[:half]), nothing, as_dask(x[half:]), nothing])


def as_frame(x):
    return dd.from_pandas(pd.DataFrame(x, columns=NAMES[: x.shape[1]]), npartitions=4)


KINDS = {
    "chunks of rows": as_dask,
    "chunks of odd sizes": lambda x: da.from_array(x, chunks=((1, 300, 3, len(x) - 304), (2, x.shape[1] - 2))),
    "one chunk": lambda x: da.from_array(x, chunks=-1),
    "unknown sizes": with_unknown_sizes,
    "empty chunks": with_empty_chunks,
    "a dataframe": as_frame,
}


class TestLabels:
    @pytest.mark.parametrize("name", feeds.MODELS)
    def test_are_those_of_an_array(self, name):
        x = feeds.rows_of(name)
        model = clone(feeds.MODELS[name]).fit(as_dask(x))
        assert isinstance(model.labels_, da.Array)
        assert model.labels_.dtype == np.int32
        assert feeds.agreement(model.labels_, feeds.expected_labels(name)) >= SHARE

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("name", ["flats", "waves"])
    @pytest.mark.parametrize("n_rows", [500, 1500])
    def test_are_the_same_however_rows_are_cut(self, kind, name, n_rows):
        x = feeds.rows_of(name)[:n_rows]
        rows = KINDS[kind](x)
        model = clone(feeds.MODELS[name])
        expected = clone(model).fit(x)
        model.fit(rows)
        assert feeds.agreement(model.labels_, expected.labels_) >= SHARE
        assert model.labels_.shape == (len(x),)
        assert feeds.agreement(model.predict(rows), model.labels_) >= SHARE

    @pytest.mark.parametrize("dtype", [np.float16, np.int64, np.uint8])
    def test_of_any_numbers(self, dtype):
        x = (5 * (feeds.BLOBS - feeds.BLOBS.min())).astype(dtype)
        model = clone(feeds.POINTS["landmarks"]).set_params(n_components=2)
        expected = clone(model).fit(x.astype(np.float32 if dtype is np.float16 else np.float64)).labels_
        assert feeds.agreement(clone(model).fit(as_dask(x)).labels_, expected) >= SHARE

    def test_of_other_estimators(self):
        model = KFlats(3, subspace_dim=2, random_state=0)
        expected = clone(model).fit(feeds.FLAT_ROWS)
        found = clone(model).fit(as_dask(feeds.FLAT_ROWS))
        assert feeds.agreement(found.labels_, expected.labels_) >= SHARE
        assert found.score(as_dask(feeds.FLAT_ROWS)) == pytest.approx(expected.score(feeds.FLAT_ROWS), rel=1e-3)

    def test_names_of_columns_are_kept_and_compared(self):
        model = clone(feeds.FLATS["flats"]).fit(as_frame(feeds.FLAT_ROWS))
        assert model.feature_names_in_.tolist() == NAMES
        with pytest.raises(ValueError, match="other names"):
            model.predict(as_frame(feeds.FLAT_ROWS).rename(columns={NAMES[0]: "other"}))


class TestLazy:
    def test_results_are(self):
        x = feeds.FLAT_ROWS
        read = []
        rows = as_dask(x).map_blocks(lambda block: read.append(len(block)) or block, dtype=x.dtype, meta=x[:0])
        model = clone(feeds.FLATS["flats"]).fit(rows)
        read.clear()
        labels, embedding, scores = model.predict(rows), model.transform(rows), model.outlier_scores(rows)
        assert model.labels_.shape == labels.shape == scores.shape == (len(x),)
        assert embedding.shape == (len(x), model.n_components_)
        assert not read
        np.testing.assert_allclose(embedding.compute(), model.transform(x), atol=1e-4)
        np.testing.assert_allclose(scores.compute(), model.outlier_scores(x), rtol=1e-3)
        assert sum(read) == 2 * len(x)
        assert model.score(rows) == pytest.approx(model.score(x), rel=1e-4)

    def test_the_array_of_the_user_is_not_changed(self):
        rows = with_unknown_sizes(feeds.FLAT_ROWS)
        clone(feeds.FLATS["flats"]).fit(rows)
        assert np.isnan(rows.shape[0])

    def test_tasks_hold_nothing_of_single_rows(self):
        sizes = []
        for n in (1500, 24_000):
            x = np.tile(feeds.FLAT_ROWS, (16, 1))[:n]
            model = clone(feeds.FLATS["flats"]).fit(x)
            assert len(model.labels_) == n
            rows = da.zeros((4000, 8), chunks=(1000, 8), dtype=np.float32)
            sizes.append(len(pickle.dumps(dict(model.predict(rows).__dask_graph__()))))
        assert sizes[1] < sizes[0] + 4000

    def test_arrays_that_tasks_need_are_in_one_task(self):
        model = clone(feeds.FLATS["the paper"]).fit(feeds.FLAT_ROWS)
        one, many = (
            len(pickle.dumps(dict(model.predict(da.zeros((n * 100, 8), chunks=(100, 8))).__dask_graph__())))
            for n in (1, 50)
        )
        assert one > 10_000
        assert many < 2 * one + 50 * 1000


class TestScheduler:
    def test_is_the_one_that_dask_would_take(self):
        used = []

        def schedule(graph, keys, **options):
            used.append(1)
            return dask.get(graph, keys, **options)

        with dask.config.set(scheduler=schedule):
            model = clone(feeds.FLATS["flats"]).fit(as_dask(feeds.FLAT_ROWS))
        # The origin, the moments, the sample, the sums.
        assert len(used) == 4
        assert feeds.agreement(model.labels_, feeds.expected_labels("flats")) >= SHARE


class TestChangedChunks:
    """Chunks are computed in every pass: what changes between two of them is noticed."""

    @staticmethod
    def rows(change, after):
        """Chunks of which the third is changed from a number of computations on."""
        x, count = feeds.FLAT_ROWS, []

        def chunk(number):
            if number == 2:
                count.append(None)
                if len(count) > after:
                    return change(x[802:1203])
            return x[401 * number : 401 * (number + 1)]

        shapes = [min(401, len(x) - start) for start in range(0, len(x), 401)]
        chunks = [
            da.from_delayed(dask.delayed(chunk, pure=False)(number), (np.nan, 8) if number == 2 else (size, 8), x.dtype)
            for number, size in enumerate(shapes)
        ]
        return da.concatenate(chunks, allow_unknown_chunksizes=True)

    # The third chunk is computed for its size, the moments, the sample and the sums.
    @pytest.mark.parametrize("after", [2, 3])
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda x: x[::-1], "block 2 is not what it was"),
            (lambda x: x + 0.1, "block 2 is not what it was"),
            (lambda x: x[:-1], "chunk 2 of X has 400 rows and had 401"),
        ],
        ids=["order", "values", "number"],
    )
    def test_in_a_fit(self, after, change, message):
        with dask.config.set(scheduler="synchronous"), pytest.raises(ValueError, match=message):
            clone(feeds.FLATS["flats"]).fit(self.rows(change, after))

    def test_when_labels_are_computed(self):
        with dask.config.set(scheduler="synchronous"):
            model = clone(feeds.FLATS["flats"]).fit(self.rows(lambda x: x[::-1], 4))
            with pytest.raises(ValueError, match="block 2 is not what it was"):
                model.labels_.compute()

    def test_last_digits_may_differ(self):
        with dask.config.set(scheduler="synchronous"):
            model = clone(feeds.FLATS["flats"]).fit(self.rows(lambda x: np.nextafter(x, np.float32(np.inf)), 2))
            assert len(model.labels_.compute()) == len(feeds.FLAT_ROWS)


def with_value(x, value):
    x = x.copy()
    x[-1, -1] = value
    return x


class TestRefused:
    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            (lambda: as_dask(with_value(feeds.FLAT_ROWS, np.nan)), "NaN or infinity"),
            (lambda: as_dask(with_value(feeds.FLAT_ROWS, np.inf)), "NaN or infinity"),
            (lambda: as_dask(feeds.FLAT_ROWS[::-1] + with_value(0 * feeds.FLAT_ROWS, np.nan)[::-1]), "NaN or infinity"),
            (lambda: as_dask(feeds.FLAT_ROWS[:, :1]), "n_features=1, while a minimum of 2"),
            (lambda: as_dask(feeds.FLAT_ROWS[:0]), "minimum of 1 is required"),
            (lambda: as_dask(feeds.FLAT_ROWS)[as_dask(feeds.FLAT_ROWS)[:, 0] > 1e6], "minimum of 1 is required"),
            (lambda: as_dask(feeds.FLAT_ROWS)[:, 0], "rows and columns are needed"),
            (lambda: as_dask(feeds.FLAT_ROWS).astype(complex), "complex"),
            (lambda: as_frame(feeds.FLAT_ROWS).assign(name="a"), "not real numbers"),
            (lambda: as_frame(feeds.FLAT_ROWS)["column 1"], "rows and columns are needed"),
        ],
    )
    def test_in_fit(self, rows, message):
        with pytest.raises(ValueError, match=message):
            clone(feeds.FLATS["flats"]).fit(rows())

    def test_in_predict(self):
        model = clone(feeds.FLATS["flats"]).fit(feeds.FLAT_ROWS)
        with pytest.raises(ValueError, match="7 features, but FLS is expecting 8"):
            model.predict(as_dask(feeds.FLAT_ROWS[:, :7]))
        labels = model.predict(as_dask(with_value(feeds.FLAT_ROWS, np.nan)))
        with pytest.raises(ValueError, match="NaN"):
            labels.compute()
        with pytest.raises(ValueError, match="NaN"):
            model.score(as_dask(with_value(feeds.FLAT_ROWS, np.nan)))
        with pytest.raises(ValueError, match="minimum of 1 is required"):
            model.score(as_dask(feeds.FLAT_ROWS[:0]))

    def test_errors_of_dask_and_of_blocks_are_raised_as_they_are(self):
        killed = pytest.importorskip("distributed").KilledWorker("task", None, 3)

        def lost(block):
            raise killed

        rows = as_dask(feeds.FLAT_ROWS).map_blocks(lost, dtype=np.float32, meta=feeds.FLAT_ROWS[:0])
        with pytest.raises(type(killed)):
            clone(feeds.FLATS["flats"]).fit(rows)

    @pytest.mark.parametrize("n_rows", [500, 1500])
    @pytest.mark.parametrize(("rows", "columns"), [(50, 4), (250, 4), (100, 3)])
    def test_chunks_of_another_shape_than_they_claim(self, rows, columns, n_rows):
        x = feeds.BLOBS[:n_rows]
        wrong = da.from_delayed(dask.delayed(x[:rows, :columns]), shape=(100, x.shape[1]), dtype=x.dtype)
        lying = da.concatenate([as_dask(x), wrong])
        model = LandmarkSpectralClustering(2, n_landmarks=10, random_state=0)
        with pytest.raises(ValueError, match=r"a chunk of X has shape .* and claims \(100, "):
            model.fit(lying)
        with pytest.raises(ValueError, match="a chunk of X has shape"):
            model.fit(x).predict(lying).compute()

    def test_other_collections(self):
        bag = pytest.importorskip("dask.bag")
        for rows in (dask.delayed(feeds.FLAT_ROWS), bag.from_sequence([1, 2])):
            with pytest.raises(TypeError, match="pass a Dask array"):
                FLS(3).fit(rows)


@pytest.fixture(scope="module")
def client():
    """Four processes of one thread."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=4, threads_per_worker=1, dashboard_address=":0", memory_limit=None
        ) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


def processes(client):
    return set(client.run(os.getpid).values())


def passed_by(block, folder, fatal=None):
    """The block; every process leaves its number, and the one that is asked for the last block for the `fatal`-th time
    dies.
    """
    Path(folder, f"process {os.getpid()}").touch()
    if fatal is not None and len(block) % ROWS:
        visits = len(list(Path(folder).glob("visit *"))) + 1
        Path(folder, f"visit {visits}").touch()
        if visits == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
    return block


# In a block, but for the last.
ROWS = 100


def on_processes(x, folder, fatal=None):
    rows = as_dask(x, ROWS)
    return rows.map_blocks(passed_by, folder=str(folder), fatal=fatal, dtype=x.dtype, meta=x[:0])


class TestCluster:
    """All in one process: a cluster takes seconds to start."""

    def test_labels_are_those_of_an_array(self, client, tmp_path):
        for name in ("flats", "the paper"):
            x = feeds.rows_of(name)
            model = clone(feeds.MODELS[name]).fit(on_processes(x, tmp_path))
            assert isinstance(model.labels_, da.Array)
            assert feeds.agreement(model.labels_, feeds.expected_labels(name)) >= SHARE
        workers = {f"process {number}" for number in processes(client)}
        assert len(workers & {each.name for each in tmp_path.iterdir()}) > 1
        assert f"process {os.getpid()}" not in {each.name for each in tmp_path.iterdir()}

    def test_an_error_is_raised_here(self, client):
        with pytest.raises(ValueError, match="NaN or infinity"):
            clone(feeds.FLATS["flats"]).fit(as_dask(with_value(feeds.FLAT_ROWS, np.nan)))

    @pytest.mark.slow
    def test_the_work_of_a_process_that_dies_is_done_again(self, client, tmp_path):
        x = feeds.FLAT_ROWS
        before = processes(client)
        # It is asked for at the moments, the sample and the sums.
        model = clone(feeds.FLATS["flats"]).fit(on_processes(x, tmp_path, fatal=3))
        assert len(list(tmp_path.glob("visit *"))) >= 4
        assert feeds.agreement(model.labels_, feeds.expected_labels("flats")) >= SHARE
        wait_until(lambda: len(client.scheduler_info()["workers"]) == 4)
        assert before - processes(client)


def wait_until(condition):
    until = time.monotonic() + 30
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)
    assert condition()
