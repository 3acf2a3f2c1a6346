"""`open_rows(..., device=...)`: blocks are moved to the device, results come back to where the rows are."""

import feeds
import numpy as np
import pytest
from sklearn.base import clone

from subspaces import open_rows
from subspaces._core.arrays import to_host
from subspaces.rows import feed

SHARE = 0.999

pytestmark = pytest.mark.usefixtures("few_fit_rows")


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.mark.parametrize("name", ["flats", "the paper", "outliers", "waves"])
def test_numpy_rows_are_moved_to_the_chosen_device(torch, name, monkeypatch):
    x = feeds.rows_of(name)
    model = clone(feeds.MODELS[name])
    seen = []
    to_device = feed.to_device
    monkeypatch.setattr(feed, "to_device", lambda block, name: seen.append(name) or to_device(block, name))
    rows = open_rows(x, block_rows=251, device="cpu")
    model.fit(rows)
    assert set(seen) == {"cpu"}
    assert isinstance(model.labels_, np.ndarray)
    assert feeds.agreement(model.labels_, feeds.expected_labels(name)) >= SHARE
    assert isinstance(model.predict(rows), np.ndarray)
    assert isinstance(model.transform(rows), np.ndarray)
    assert model.score(rows) == pytest.approx(model.score(x), rel=1e-3)


def test_labels_of_moved_tensors_are_tensors(torch):
    model = clone(feeds.FLATS["flats"])
    expected = feeds.expected_labels("flats")
    rows = open_rows(torch.asarray(feeds.FLAT_ROWS), block_rows=251, device="cpu")
    found = model.fit(rows).labels_
    assert isinstance(found, torch.Tensor)
    assert feeds.agreement(to_host(found), expected) >= SHARE
    assert isinstance(model.predict(rows), torch.Tensor)


def test_a_file_with_labels_on_disk(torch, tmp_path):
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
