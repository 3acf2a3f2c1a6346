"""Rows that are read in blocks: the same labels as rows in memory, in bounded memory, and the same errors."""

import gc
import pickle
import threading
import tracemalloc
from itertools import pairwise

import feeds
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs

from subspaces import FLS, KASP, LBF, KFlats, LandmarkSpectralClustering, open_rows
from subspaces.rows import feed as _engine

models = pytest.mark.parametrize("name", feeds.MODELS)
NAMES = [f"column {i}" for i in range(8)]


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    monkeypatch.setattr(_engine, "FIT_ROWS", feeds.FEW_ROWS)


def saved(x, folder, name="rows.npy"):
    np.save(folder / name, x)
    return folder / name


def in_files(x, folder):
    """Three files, of which the second has no rows."""
    cuts = [0, 700, 700, len(x)]
    return [saved(x[a:b], folder, f"{i}.npy") for i, (a, b) in enumerate(pairwise(cuts))]


def in_pieces(x, sizes=(1, 400, 0, 333)):
    """A function that makes an iterator of blocks of odd lengths."""

    def pieces():
        start, i = 0, 0
        while start < len(x):
            stop = start + sizes[i % len(sizes)]
            yield x[start:stop]
            start, i = stop, i + 1

    return pieces


def mapped(x, folder):
    return np.load(saved(x, folder), mmap_mode="r")


KINDS = {
    "file": saved,
    "files": in_files,
    "function": lambda x, folder: in_pieces(x),
    "memmap": mapped,
    "array in blocks": lambda x, folder: open_rows(x, block_rows=251),
    "Parquet": lambda x, folder: in_parquet(x, folder),
}
kinds = pytest.mark.parametrize("kind", KINDS)


def in_parquet(x, folder, names=NAMES):
    pd.DataFrame(x, columns=names[: x.shape[1]]).to_parquet(folder / "rows.parquet", row_group_size=401)
    return folder / "rows.parquet"


class TestLabels:
    @models
    def test_of_a_file_are_those_of_an_array(self, name, tmp_path):
        rows = open_rows(saved(feeds.rows_of(name), tmp_path), block_rows=251)
        model = clone(feeds.MODELS[name]).fit(rows)
        assert feeds.agreement(model.labels_, feeds.expected_labels(name)) >= 0.999
        assert feeds.agreement(model.predict(rows), model.labels_) == 1
        assert feeds.agreement(model.predict(feeds.rows_of(name)), model.labels_) >= 0.999

    @kinds
    @pytest.mark.parametrize("name", ["flats", "landmarks", "waves"])
    def test_are_the_same_wherever_rows_are(self, kind, name, tmp_path):
        rows = KINDS[kind](feeds.rows_of(name), tmp_path)
        model = clone(feeds.MODELS[name]).fit(rows)
        assert feeds.agreement(model.labels_, feeds.expected_labels(name)) >= 0.999
        assert isinstance(model.labels_, np.ndarray)
        assert model.labels_.dtype == np.int32
        assert feeds.agreement(model.fit_predict(rows), model.labels_) == 1

    @settings(max_examples=8, deadline=None)
    @given(block_rows=st.integers(13, 2000), name=st.sampled_from(["flats", "the paper", "landmarks"]))
    def test_do_not_depend_on_the_blocks(self, block_rows, name):
        rows = open_rows(feeds.rows_of(name), block_rows=block_rows)
        assert feeds.agreement(clone(feeds.MODELS[name]).fit(rows).labels_, feeds.expected_labels(name)) >= 0.999

    @settings(max_examples=8, deadline=None)
    @given(block_rows=st.integers(13, 900), seed=st.integers(0, 1000), spread=st.sampled_from([1.0, 3.0]))
    def test_have_the_same_names(self, block_rows, seed, spread):
        x = make_blobs(900, centers=3, n_features=5, cluster_std=spread, random_state=seed)[0]
        model = LandmarkSpectralClustering(3, n_landmarks=60, random_state=0)
        found = clone(model).fit(open_rows(x, block_rows=block_rows)).labels_
        assert feeds.agreement(found, clone(model).fit(x).labels_) >= 0.999

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32, ">f8"])
    def test_of_any_numbers(self, dtype, tmp_path):
        x = (10 * feeds.BLOBS).astype(dtype)
        model = LandmarkSpectralClustering(3, n_landmarks=60, n_components=2, random_state=0)
        expected = clone(model).fit(x.astype(np.float32 if x.dtype.kind == "f" and x.itemsize <= 4 else np.float64))
        assert feeds.agreement(clone(model).fit(saved(x, tmp_path)).labels_, expected.labels_) >= 0.999

    def test_one_row_in_a_block(self):
        x = feeds.BLOBS[:610]
        model = LandmarkSpectralClustering(3, n_landmarks=60, random_state=0)
        assert_array_equal(clone(model).fit(open_rows(x, block_rows=1)).labels_, clone(model).fit(x).labels_)

    def test_few_rows_are_not_sampled(self, tmp_path):
        x = feeds.BLOBS[:500]
        model = LandmarkSpectralClustering(3, n_landmarks=60, random_state=0)
        whole, read = clone(model).fit(x), clone(model).fit(saved(x, tmp_path))
        assert_array_equal(whole.labels_, read.labels_)
        assert_array_equal(whole.outlier_scores_, read.outlier_scores_)

    def test_are_the_only_result_for_single_rows(self, tmp_path):
        model = clone(feeds.FLATS["flats"]).fit(feeds.FLAT_ROWS[:500])
        assert len(model.confidence_) == len(model.outlier_scores_) == 500
        model.fit(saved(feeds.FLAT_ROWS, tmp_path))
        assert not hasattr(model, "confidence_")
        assert not hasattr(model, "outlier_scores_")
        assert len(model.labels_) == len(feeds.FLAT_ROWS)

    def test_of_other_estimators(self, tmp_path):
        path = saved(feeds.FLAT_ROWS, tmp_path)
        for model in (KFlats(3, subspace_dim=2, random_state=0), KASP(3, random_state=0)):
            expected = clone(model).fit(feeds.FLAT_ROWS)
            found = clone(model).fit(open_rows(path, block_rows=251))
            assert feeds.agreement(found.labels_, expected.labels_) >= 0.999

    def test_the_memory_limit_bounds_the_sample_of_files_only(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_engine, "FIT_ROWS", 5000)
        monkeypatch.setattr(_engine, "SAMPLE_SHARE", 32 * 10**6 / (1000 * 5 * 8))
        x = np.tile(feeds.BLOBS, (2, 1))
        seen = []
        model = LandmarkSpectralClustering(3, n_landmarks=60, random_state=0)
        monkeypatch.setattr(
            model, "_check_parameters", lambda x: seen.append(len(x)) or setattr(model, "n_clusters_", 3)
        )
        for rows in (open_rows(saved(x, tmp_path), memory_limit="32MB"), x, np.tile(x, (2, 1))):
            model.fit(rows)
            assert len(model.labels_) == (len(rows) if isinstance(rows, np.ndarray) else len(x))
        # First the shape of all rows, where they are not at hand, then the sample.
        assert seen == [len(x), 1000, len(x), 2 * len(x), 5000]


class TestOtherResults:
    @pytest.mark.parametrize("name", ["flats", "the paper", "landmarks", "waves"])
    def test_embeddings_and_scores(self, name, tmp_path):
        x = feeds.rows_of(name)
        model = clone(feeds.MODELS[name]).fit(x)
        rows = open_rows(saved(x, tmp_path), block_rows=251)
        np.testing.assert_allclose(model.transform(rows), model.transform(x), atol=1e-4)
        assert model.score(rows) == pytest.approx(model.score(x), rel=1e-4)

    def test_outlier_scores(self, tmp_path):
        x = feeds.FLAT_ROWS
        model = clone(feeds.FLATS["outliers"]).fit(x)
        found = model.outlier_scores(open_rows(saved(x, tmp_path), block_rows=251))
        np.testing.assert_allclose(found, model.outlier_scores(x), rtol=1e-3)
        assert (model.labels_ == -1).any()

    def test_do_not_go_to_the_file_of_labels(self, tmp_path):
        x = feeds.FLAT_ROWS
        model = clone(feeds.FLATS["flats"]).fit(x)
        rows = open_rows(x, block_rows=400, labels=tmp_path / "labels.npy")
        assert model.transform(rows).shape == (len(x), model.n_components_)
        assert model.outlier_scores(rows).shape == (len(x),)
        assert np.isfinite(model.score(rows))
        assert not list(tmp_path.iterdir())


class TestLabelFile:
    @pytest.mark.parametrize("n_rows", [500, 1530])
    def test_holds_all_labels(self, n_rows, tmp_path):
        x = feeds.FLAT_ROWS[:n_rows]
        model = clone(feeds.FLATS["flats"])
        expected = clone(model).fit(x).labels_
        model.fit(open_rows(saved(x, tmp_path), block_rows=251, labels=tmp_path / "labels.npy"))
        assert isinstance(model.labels_, np.memmap)
        assert not model.labels_.flags.writeable
        found = np.load(tmp_path / "labels.npy")
        assert found.dtype == np.int32
        assert_array_equal(found, expected)
        assert_array_equal(model.labels_, found)
        rows = open_rows(saved(x, tmp_path), block_rows=100, labels=tmp_path / "again.npy")
        assert isinstance(model.predict(rows), np.memmap)
        assert_array_equal(np.load(tmp_path / "again.npy"), found)

    def test_of_a_stream(self, tmp_path):
        model = clone(feeds.FLATS["flats"]).fit(feeds.FLAT_ROWS)
        found = model.predict(open_rows(in_pieces(feeds.FLAT_ROWS), labels=tmp_path / "labels.npy"))
        assert_array_equal(found, model.labels_)

    def test_takes_device_blocks(self, tmp_path):
        strict = pytest.importorskip("array_api_strict")
        rows = open_rows(strict.asarray(feeds.FLAT_ROWS), block_rows=251, labels=tmp_path / "labels.npy")
        model = clone(feeds.FLATS["flats"]).fit(rows)
        assert feeds.agreement(model.labels_, feeds.expected_labels("flats")) >= 0.999

    @pytest.mark.parametrize("place", ["there", "missing/labels.npy", "."])
    def test_is_refused_before_any_work(self, place, tmp_path):
        (tmp_path / "there").write_bytes(b"mine")
        read = []

        def pieces():
            for block in in_pieces(feeds.FLAT_ROWS)():
                read.append(len(block))
                yield block

        model = clone(feeds.FLATS["flats"]).fit(feeds.FLAT_ROWS)
        rows = open_rows(pieces, labels=tmp_path / place, checkpoint=tmp_path / "state")
        read.clear()
        for call in (model.fit, model.predict):
            with pytest.raises(OSError, match=r"labels=.*(exists|does not exist|is a folder)"):
                call(rows)
            assert not read
        assert (tmp_path / "there").read_bytes() == b"mine"
        assert sorted(tmp_path.iterdir()) == [tmp_path / "there"]

    def test_is_not_there_after_an_error(self, tmp_path):
        model = clone(feeds.FLATS["flats"]).fit(feeds.FLAT_ROWS)
        rows = open_rows(with_value(feeds.FLAT_ROWS, np.nan), block_rows=251, labels=tmp_path / "labels.npy")
        with pytest.raises(ValueError, match="NaN"):
            model.predict(rows)
        assert not list(tmp_path.iterdir())


def peak_memory(work):
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_rows(tmp_path):
    x = np.tile(feeds.FLAT_ROWS, (1, 3))[:, :20]
    sizes = {100_000: "half.npy", 200_000: "all.npy"}
    peaks = []
    for n, name in sizes.items():
        out = np.lib.format.open_memmap(tmp_path / name, mode="w+", dtype=np.float32, shape=(n, 20))
        for start in range(0, n, len(x)):
            out[start : start + len(x)] = x[: n - start]
        out.flush()
        del out
        rows = open_rows(tmp_path / name, memory_limit="64MB", labels=tmp_path / f"labels of {name}")
        model = LandmarkSpectralClustering(3, n_landmarks=60, n_components=2, random_state=0)
        peaks.append(peak_memory(lambda model=model, rows=rows: model.fit(rows)))
        assert len(model.labels_) == n
    # One block more may be read ahead.
    assert peaks[1] < 1.1 * peaks[0]
    assert peaks[1] < 64 * 10**6


def with_value(x, value):
    """`x` with one bad number in the last row."""
    return np.concatenate([x[:-1], np.concatenate([x[-1:, :-1], [[value]]], axis=1).astype(x.dtype)])


BAD = {
    "NaN": (lambda x: with_value(x, np.nan), "NaN or infinity|contains NaN"),
    "infinity": (lambda x: with_value(x, -np.inf), "NaN or infinity|contains infinity"),
    "huge": (lambda x: with_value(x, 1e30), "overflow"),
    "one column": (lambda x: x[:, :1], "minimum of 2 is required"),
    "no rows": (lambda x: x[:0], "minimum of 1 is required"),
    "no columns": (lambda x: x[:, :0], "minimum of"),
}
bad = pytest.mark.parametrize("case", BAD)


class TestRefused:
    @kinds
    @bad
    def test_in_fit(self, case, kind, tmp_path):
        change, message = BAD[case]
        with pytest.raises(ValueError, match=message):
            clone(feeds.FLATS["flats"]).fit(KINDS[kind](change(feeds.FLAT_ROWS), tmp_path))

    @bad
    def test_in_memory(self, case):
        change, message = BAD[case]
        with pytest.raises(ValueError, match=message):
            clone(feeds.FLATS["flats"]).fit(change(feeds.FLAT_ROWS))

    @pytest.mark.parametrize("kind", ["file", "function", "memmap"])
    def test_in_predict(self, kind, tmp_path):
        model = clone(feeds.FLATS["flats"]).fit(feeds.FLAT_ROWS)
        for method in (model.predict, model.transform, model.score, model.outlier_scores):
            with pytest.raises(ValueError, match="7 features, but FLS is expecting 8"):
                method(KINDS[kind](feeds.FLAT_ROWS[:, :7], tmp_path))
            with pytest.raises(ValueError, match="NaN"):
                method(KINDS[kind](with_value(feeds.FLAT_ROWS, np.nan), tmp_path))

    @pytest.mark.parametrize(("n_clusters", "message"), [(0, "n_clusters=0"), (10**6, "n_samples=")])
    @pytest.mark.parametrize("model", [FLS(), LBF(), LandmarkSpectralClustering(), KASP()], ids=lambda each: repr(each))
    def test_parameters_before_anything_is_read(self, model, n_clusters, message, tmp_path):
        source = open_rows(
            saved(feeds.FLAT_ROWS, tmp_path), checkpoint=tmp_path / "run", labels=tmp_path / "labels.npy"
        )
        source.blocks = source.take = lambda *arguments: pytest.fail("rows were read")
        with pytest.raises(ValueError, match=message) as said:
            clone(model).set_params(n_clusters=n_clusters).fit(source)
        assert n_clusters == 0 or f"n_samples={len(feeds.FLAT_ROWS)}" in str(said.value)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.npy"]

    def test_no_blocks(self):
        with pytest.raises(ValueError, match="minimum of 1 is required"):
            FLS(3).fit(lambda: iter(()))

    def test_blocks_that_run_out(self):
        calls = []

        def pieces():
            calls.append(1)
            return iter([feeds.FLAT_ROWS] if len(calls) < 3 else [])

        with pytest.raises(ValueError, match=r"no rows|earlier"):
            FLS(3).fit(pieces)

    def test_no_thread_stays_behind(self, tmp_path):
        with pytest.raises(ValueError, match="NaN") as caught:
            FLS(3).fit(open_rows(with_value(feeds.FLAT_ROWS, np.nan), block_rows=100))
        assert caught.value is not None
        assert not [thread for thread in threading.enumerate() if thread.name == "subspaces-read"]


class TestOddRows:
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    @pytest.mark.parametrize("kind", ["file", "function"])
    def test_constant_columns_copies_and_zeros(self, kind, tmp_path):
        x = feeds.FLAT_ROWS.copy()
        x[:, 3] = 5
        x[100:800] = x[100]
        x[900:1000] = 0
        model = FLS(3, n_landmarks=60, subspace_dim=2, assign="balanced", random_state=0)
        expected = clone(model).fit(x).labels_
        found = clone(model).fit(KINDS[kind](x, tmp_path)).labels_
        assert feeds.agreement(found, expected) >= 0.999
        assert len(set(found[100:800])) == 1

    def test_one_column(self, tmp_path):
        x = np.concatenate([feeds.BLOBS[:, :1], feeds.BLOBS[:, :1] + 100])
        model = LandmarkSpectralClustering(2, n_landmarks=60, random_state=0)
        assert_array_equal(clone(model).fit(saved(x, tmp_path)).labels_, clone(model).fit(x).labels_)

    def test_one_row(self, tmp_path):
        model = LandmarkSpectralClustering(1, random_state=0).fit(saved(feeds.BLOBS[:1], tmp_path))
        assert model.labels_.tolist() == [0]

    @pytest.mark.parametrize("rows", [slice(0, 250), slice(500, 750), slice(1250, None)])
    def test_tiny_rows_in_a_block_of_their_own(self, rows):
        x = feeds.BLOBS.copy()
        x[rows] *= 1e-200
        model = LandmarkSpectralClustering(3, n_landmarks=60, n_components=2, random_state=0)
        found = clone(model).fit(open_rows(x, block_rows=250)).labels_
        assert feeds.agreement(found, clone(model).fit(x).labels_) >= 0.999

    def test_nothing_but_tiny_rows(self):
        for x in (1e-200 * feeds.BLOBS, open_rows(1e-200 * feeds.BLOBS, block_rows=250)):
            with pytest.raises(ValueError, match="squares underflow"):
                LandmarkSpectralClustering(3, random_state=0).fit(x)

    def test_first_rows_far_from_the_others(self, tmp_path):
        x = feeds.BLOBS - feeds.BLOBS.mean(axis=0)
        x[:1] = 1e7
        model = LandmarkSpectralClustering(3, n_landmarks=60, n_components=2, random_state=0)
        expected = clone(model).fit(x).labels_
        assert feeds.agreement(clone(model).fit(open_rows(x, block_rows=200)).labels_, expected) >= 0.999


class TestColumnNames:
    def test_are_kept_and_compared(self, tmp_path):
        path = in_parquet(feeds.FLAT_ROWS, tmp_path)
        model = clone(feeds.FLATS["flats"]).fit(path)
        assert model.feature_names_in_.tolist() == NAMES
        assert_array_equal(model.predict(path), model.labels_)
        other = in_parquet(feeds.FLAT_ROWS, tmp_path, names=[f"other {i}" for i in range(8)])
        with pytest.raises(ValueError, match="other names"):
            model.predict(other)

    def test_of_large_dataframes_too(self):
        frame = pd.DataFrame(feeds.FLAT_ROWS, columns=NAMES)
        assert len(frame) > feeds.FEW_ROWS
        model = clone(feeds.FLATS["flats"]).fit(frame)
        assert model.feature_names_in_.tolist() == NAMES
        assert_array_equal(model.predict(frame), model.labels_)
        model.fit(feeds.FLAT_ROWS)
        assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("name", ["votes", "the paper", "landmarks", "waves"])
def test_a_fitted_model_holds_nothing_about_single_rows(name):
    x = np.tile(feeds.rows_of(name), (3, 1))[:4000]
    sizes = []
    for rows in (x[:2000], x):
        model = clone(feeds.MODELS[name]).fit(rows)
        sizes.append(len(pickle.dumps(model._model)))
        assert len(model.labels_) == len(rows)
    assert sizes[1] < sizes[0] + 4000


def test_rows_that_are_read_once_have_no_digest(monkeypatch):
    model = clone(feeds.FLATS["flats"]).fit(feeds.FLAT_ROWS)
    expected = model.predict(feeds.FLAT_ROWS)

    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr("subspaces.rows.digest.digest", refuse)
    assert_array_equal(model.predict(open_rows(feeds.FLAT_ROWS, block_rows=300)), expected)
    with pytest.raises(AssertionError):
        model.fit(open_rows(feeds.FLAT_ROWS, block_rows=300))
