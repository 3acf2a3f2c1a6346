"""Rows of other array libraries than NumPy: the same labels, in the library of the rows."""

import feeds
import numpy as np
import pytest
from sklearn.base import clone

from subspaces import FLS, LandmarkSpectralClustering, open_rows
from subspaces._core.arrays import to_host
from subspaces.flats.device import DeviceFlats
from subspaces.flats.distances import distances_to
from subspaces.flats.flats import Flats
from subspaces.rows import feed as _engine
from subspaces.spectral.sparse import SparseRows
from subspaces.spectral.spectrum import balanced_sums, product

SHARE = 0.999


@pytest.fixture(params=["array_api_strict", "torch"])
def xp(request):
    return pytest.importorskip(request.param)


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    monkeypatch.setattr(_engine, "FIT_ROWS", feeds.FEW_ROWS)


def is_of(xp, values):
    return type(values) is type(xp.asarray([0.0]))


class TestEstimators:
    @pytest.mark.parametrize("name", feeds.MODELS)
    def test_give_the_same_in_the_library_of_the_rows(self, xp, name):
        x = feeds.rows_of(name)
        rows = xp.asarray(x)
        model = clone(feeds.MODELS[name]).fit(rows)
        assert is_of(xp, model.labels_)
        assert model.labels_.dtype == xp.int32
        assert feeds.agreement(to_host(model.labels_), feeds.expected_labels(name)) >= SHARE
        found = model.predict(rows)
        assert is_of(xp, found)
        assert feeds.agreement(to_host(found), to_host(model.labels_)) == 1

    @pytest.mark.parametrize("name", ["flats", "the paper", "votes", "landmarks", "columns"])
    def test_methods(self, xp, name):
        x = feeds.rows_of(name)
        rows = xp.asarray(x)
        model = clone(feeds.MODELS[name]).fit(x)
        embedding = model.transform(rows)
        assert is_of(xp, embedding)
        np.testing.assert_allclose(to_host(embedding), model.transform(x), atol=2e-3)
        assert model.score(rows) == pytest.approx(model.score(x), rel=1e-3)
        if isinstance(model, FLS):
            scores = model.outlier_scores(rows)
            assert is_of(xp, scores)
            np.testing.assert_allclose(to_host(scores), model.outlier_scores(x), rtol=1e-2)

    def test_few_rows(self, xp):
        x = feeds.FLAT_ROWS[:500]
        expected = clone(feeds.FLATS["flats"]).fit(x).labels_
        found = clone(feeds.FLATS["flats"]).fit(xp.asarray(x)).labels_
        assert is_of(xp, found)
        assert feeds.agreement(to_host(found), expected) == 1

    def test_blocks_of_a_function(self, xp):
        rows = xp.asarray(feeds.FLAT_ROWS)

        def pieces():
            yield rows[:700, :]
            yield rows[700:, :]

        model = clone(feeds.FLATS["flats"]).fit(pieces)
        assert is_of(xp, model.labels_)
        assert feeds.agreement(to_host(model.labels_), feeds.expected_labels("flats")) >= SHARE

    @pytest.mark.parametrize("dtype", ["int32", "uint8", "float64"])
    def test_any_numbers(self, xp, dtype):
        x = (5 * (feeds.BLOBS - feeds.BLOBS.min())).astype(dtype)
        model = LandmarkSpectralClustering(3, n_landmarks=60, n_components=2, random_state=0)
        expected = clone(model).fit(x.astype(np.float64)).labels_
        found = clone(model).fit(xp.asarray(x)).labels_
        assert feeds.agreement(to_host(found), expected) >= SHARE

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_bad_rows_are_refused(self, xp, value):
        x = feeds.FLAT_ROWS.copy()
        x[-1, -1] = value
        with pytest.raises(ValueError, match="NaN or infinity"):
            clone(feeds.FLATS["flats"]).fit(xp.asarray(x))
        model = clone(feeds.FLATS["flats"]).fit(feeds.FLAT_ROWS)
        for method in (model.predict, model.transform, model.score, model.outlier_scores):
            with pytest.raises(ValueError, match="NaN or infinity"):
                method(xp.asarray(x))
            with pytest.raises(ValueError, match="7 features, but FLS is expecting 8"):
                method(xp.asarray(feeds.FLAT_ROWS[:, :7]))
        with pytest.raises(ValueError, match="minimum of 2 is required"):
            model.fit(xp.asarray(feeds.FLAT_ROWS[:, :1]))
        with pytest.raises(ValueError, match="minimum of 1 is required"):
            model.fit(xp.asarray(feeds.FLAT_ROWS[:0]))


class TestTorch:
    def test_short_floats_and_gradients(self, torch):
        model = LandmarkSpectralClustering(3, n_landmarks=60, n_components=2, random_state=0)
        for dtype in (torch.float16, torch.bfloat16):
            rows = torch.asarray(feeds.BLOBS).to(dtype)
            expected = clone(model).fit(rows.to(torch.float32).numpy()).labels_
            assert feeds.agreement(to_host(clone(model).fit(rows).labels_), expected) >= SHARE
        rows = torch.asarray(feeds.BLOBS).requires_grad_()
        assert not clone(model).fit(rows).transform(rows).requires_grad

    @pytest.mark.parametrize("name", ["flats", "the paper", "outliers", "waves"])
    def test_rows_of_numpy_are_worked_on_where_they_shall_be(self, torch, name, monkeypatch):
        x = feeds.rows_of(name)
        model = clone(feeds.MODELS[name])
        seen = []
        to_device = _engine.to_device
        monkeypatch.setattr(_engine, "to_device", lambda block, name: seen.append(name) or to_device(block, name))
        rows = open_rows(x, block_rows=251, device="cpu")
        model.fit(rows)
        assert set(seen) == {"cpu"}
        assert isinstance(model.labels_, np.ndarray)
        assert feeds.agreement(model.labels_, feeds.expected_labels(name)) >= SHARE
        assert isinstance(model.predict(rows), np.ndarray)
        assert isinstance(model.transform(rows), np.ndarray)
        assert model.score(rows) == pytest.approx(model.score(x), rel=1e-3)

    def test_tensors_that_are_moved_come_back(self, torch):
        model = clone(feeds.FLATS["flats"])
        expected = feeds.expected_labels("flats")
        rows = open_rows(torch.asarray(feeds.FLAT_ROWS), block_rows=251, device="cpu")
        found = model.fit(rows).labels_
        assert isinstance(found, torch.Tensor)
        assert feeds.agreement(to_host(found), expected) >= SHARE
        assert isinstance(model.predict(rows), torch.Tensor)

    def test_a_file_with_labels_on_disk(self, torch, tmp_path):
        np.save(tmp_path / "rows.npy", feeds.FLAT_ROWS)
        model = clone(feeds.FLATS["flats"])
        rows = open_rows(
            tmp_path / "rows.npy",
            block_rows=251,
            device="cpu",
            labels=tmp_path / "labels.npy",
            checkpoint=tmp_path / "state",
        )
        expected = feeds.expected_labels("flats")
        assert feeds.agreement(model.fit(rows).labels_, expected) >= SHARE


class TestDeviceFlats:
    @pytest.mark.parametrize("dim", [0, 1, 3])
    @pytest.mark.parametrize("linear", [True, False])
    def test_distances(self, xp, dim, linear):
        rng = np.random.default_rng(0)
        centers = np.zeros((7, 5)) if linear else rng.normal(10, 1, size=(7, 5))
        flats = Flats(centers, np.linalg.qr(rng.normal(size=(7, 5, dim)))[0])
        x = rng.normal(10, 1, size=(50, 5))
        expected = distances_to(flats)(x)
        device = DeviceFlats(flats)
        np.testing.assert_allclose(to_host(device.table(xp.asarray(x))), expected, atol=1e-9)
        values, index = device.nearest(xp.asarray(x), 3)
        np.testing.assert_allclose(to_host(values), np.sort(expected, axis=1)[:, :3], atol=1e-9)
        chosen = np.take_along_axis(expected, to_host(index), axis=1)
        np.testing.assert_allclose(chosen, to_host(values), atol=1e-9)

    def test_blocks_hold_all_rows_in_order(self, xp, monkeypatch):
        monkeypatch.setattr("subspaces.flats.device.DEVICE_BYTES", 5000)
        flats = Flats(np.zeros((7, 5)), np.linalg.qr(np.random.default_rng(0).normal(size=(7, 5, 2)))[0])
        x = xp.asarray(np.arange(200.0).reshape(40, 5))
        blocks = list(DeviceFlats(flats).blocks(x))
        assert len(blocks) > 1
        np.testing.assert_array_equal(np.concatenate([to_host(block) for block in blocks]), to_host(x))
        assert DeviceFlats(flats).nearest(x, 2)[1].shape == (40, 2)


class TestSparseRows:
    def test_do_what_a_matrix_does(self, xp):
        rng = np.random.default_rng(0)
        index = np.array([rng.choice(9, 3, replace=False) for _ in range(20)])
        weights = rng.dirichlet(np.ones(3), 20)
        dense = np.zeros((20, 9))
        np.put_along_axis(dense, index, weights, axis=1)
        psi = SparseRows(xp.asarray(index), xp.asarray(weights), 9)
        assert psi.shape == (20, 9)
        table = rng.normal(size=(9, 4))
        np.testing.assert_allclose(to_host(product(psi, table)), dense @ table)
        np.testing.assert_allclose(to_host(product(psi, table[:, 0])), dense @ table[:, 0])
        total, gram = map(to_host, balanced_sums(psi))
        np.testing.assert_allclose(total, dense.sum(axis=0))
        np.testing.assert_allclose(gram, dense.T @ dense)
        assert total.dtype == gram.dtype == np.float64
