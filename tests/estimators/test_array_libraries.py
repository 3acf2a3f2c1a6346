"""Rows of other array libraries than NumPy: the same labels, in the library of the rows."""

import feeds
import numpy as np
import pytest
from sklearn.base import clone

from subspaces import FLS, LandmarkSpectralClustering
from subspaces._core.arrays import to_host

SHARE = 0.999

pytestmark = pytest.mark.usefixtures("few_fit_rows")


def is_of(xp, values):
    return type(values) is type(xp.asarray([0.0]))


@pytest.mark.parametrize("name", feeds.MODELS)
def test_labels_are_the_same_and_in_the_library_of_the_rows(xp, name):
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
def test_methods(xp, name):
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


def test_few_rows(xp):
    x = feeds.FLAT_ROWS[:500]
    expected = clone(feeds.FLATS["flats"]).fit(x).labels_
    found = clone(feeds.FLATS["flats"]).fit(xp.asarray(x)).labels_
    assert is_of(xp, found)
    assert feeds.agreement(to_host(found), expected) == 1


def test_blocks_of_a_function(xp):
    rows = xp.asarray(feeds.FLAT_ROWS)

    def pieces():
        yield rows[:700, :]
        yield rows[700:, :]

    model = clone(feeds.FLATS["flats"]).fit(pieces)
    assert is_of(xp, model.labels_)
    assert feeds.agreement(to_host(model.labels_), feeds.expected_labels("flats")) >= SHARE


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float64"])
def test_any_numbers(xp, dtype):
    x = (5 * (feeds.BLOBS - feeds.BLOBS.min())).astype(dtype)
    model = LandmarkSpectralClustering(3, n_landmarks=60, n_components=2, random_state=0)
    expected = clone(model).fit(x.astype(np.float64)).labels_
    found = clone(model).fit(xp.asarray(x)).labels_
    assert feeds.agreement(to_host(found), expected) >= SHARE


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bad_rows_are_refused(xp, value):
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


def test_short_floats_and_gradients():
    torch = pytest.importorskip("torch")
    model = LandmarkSpectralClustering(3, n_landmarks=60, n_components=2, random_state=0)
    for dtype in (torch.float16, torch.bfloat16):
        rows = torch.asarray(feeds.BLOBS).to(dtype)
        expected = clone(model).fit(rows.to(torch.float32).numpy()).labels_
        assert feeds.agreement(to_host(clone(model).fit(rows).labels_), expected) >= SHARE
    rows = torch.asarray(feeds.BLOBS).requires_grad_()
    assert not clone(model).fit(rows).transform(rows).requires_grad
