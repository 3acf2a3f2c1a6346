"""Models that were saved by earlier versions load, and label rows as they did then."""

import json
from pathlib import Path

import numpy as np
import pytest
import safetensors

import subspaces
from subspaces import load
from subspaces.saving import ESTIMATORS

FILES = sorted((Path(__file__).parents[1] / "fixtures" / "models").glob("format-*/*.subspaces"))


def document_of(path):
    with safetensors.safe_open(path, "numpy") as file:
        return json.loads(file.metadata()["subspaces model"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_they_give_what_they_gave(path):
    model = load(path)
    with np.load(path.parent / "expected.npz") as kept:
        rows = kept["rows"]
        expected = {
            method: kept[f"{path.stem}.{method}"] for method in ("predict", "transform") if hasattr(model, method)
        }
    for method, values in expected.items():
        found = getattr(model, method)(rows)
        assert found.dtype == values.dtype
        if method == "predict":
            np.testing.assert_array_equal(found, values)
        else:
            np.testing.assert_allclose(found, values, atol=1e-4)


def test_there_is_one_of_each_kind():
    documents = [document_of(path) for path in FILES]
    assert {document["estimator"] for document in documents} == set(ESTIMATORS)
    models = [document["state"].get("model", {}) for document in documents]
    assert {model.get("kind") for model in models} == {
        None,  # a preparation
        "spectral",
        "subspaces",
        "nearest flat",
        "votes of flats",
        "nearest flat of prepared rows",
        "least residual",
        "nearest centroid",
    }
    maps = {model.get("spectral", model).get("features", {}).get("kind") for model in models}
    assert maps == {None, "landmark flats", "landmark points", "Fourier features", "Nystrom features"}
    assert any(document["state"].get("table_preparation") for document in documents)
    assert any(model.get("voters") for model in models)
    assert any(model.get("spectral", {}).get("partition", {}).get("flats") for model in models)
    assert all(document["library"] <= subspaces.__version__ for document in documents)


def test_they_are_small():
    assert sum(path.stat().st_size for path in FILES) < 150_000
