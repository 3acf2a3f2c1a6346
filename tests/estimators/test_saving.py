"""Saved models: a loaded model is equal to the saved one, and a file can do no harm."""

import errno
import json
import pickle
import re
import subprocess
import sys
import tempfile
import warnings
import zipfile
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.kernel_approximation import RBFSampler

import subspaces
from subspaces import (
    FLS,
    KASP,
    LBF,
    SLBF,
    SSC,
    SSSC,
    FourierSpectralClustering,
    KernelSpectralClustering,
    KFlats,
    LandmarkSpectralClustering,
    NystromSpectralClustering,
    kernels,
    load,
    self_expression,
)
from subspaces.datasets import make_subspaces
from subspaces.inputs import Preparation
from subspaces.saving import ESTIMATORS, file, save

X = make_subspaces((1, 2, 2), 6, points_per_subspace=40, noise=0.02, random_state=0)[0]
NEW = make_subspaces((2, 2), 6, points_per_subspace=30, random_state=1)[0]
METHODS = ("predict", "transform", "score", "outlier_scores")

MODELS = {
    "FLS": FLS(3, n_landmarks=40, random_state=0),
    "FLS draws": FLS(3, n_landmarks=40, n_draws=3, random_state=0),
    "FLS outliers": FLS(3, n_landmarks=40, detect_outliers=True, random_state=0),
    "FLS share": FLS(3, n_landmarks=40, detect_outliers=0.1, random_state=0),
    "FLS auto": FLS("auto", max_clusters=4, n_landmarks=40, random_state=0),
    "FLS points": FLS(3, subspace_dim=0, n_landmarks=40, assign="balanced", random_state=0),
    "FLS standardised": FLS(3, subspace_dim=2, standardise=True, n_landmarks=40, random_state=0),
    "FLS whitened": FLS(3, whiten=0.5, n_landmarks=40, max_columns=5, assign="balanced", random_state=0),
    "FLS.paper": FLS.paper(3, subspace_dim=2, n_landmarks=40, random_state=0),
    "FLS projected": FLS(3, subspace_dim=2, max_columns=4, landmarks=X[::4], center=True, random_state=0),
    "LBF": LBF(3, random_state=0),
    "LBF auto": LBF("auto", max_clusters=3, random_state=0),
    "KFlats": KFlats(3, subspace_dim=2, random_state=0),
    "SLBF": SLBF(3, subspace_dim=2, random_state=0),
    "SSC": SSC(3, random_state=0),
    "SSC outliers": SSC(3, solver=self_expression.ADMM(outliers=True), random_state=0),
    "SSC thresholding": SSC(3, solver=self_expression.Thresholding(5), random_state=0),
    "SSC least squares": SSC(3, solver=self_expression.LeastSquares(50), random_state=0),
    "SSC low rank": SSC(3, solver=self_expression.LowRank(50, n_nonzero=5), random_state=0),
    "SSC omp": SSC(3, solver=self_expression.OMP(3), affine=True, random_state=0),
    "SSC net": SSC(3, solver=self_expression.ElasticNet(), random_state=0),
    "SSSC": SSSC(3, n_in_sample=60, random_state=0),
    "KASP": KASP(3, random_state=np.random.RandomState(0)),
    "Landmark": LandmarkSpectralClustering(3, n_landmarks=40, random_state=0),
    "Nystrom": NystromSpectralClustering(3, n_landmarks=40, random_state=0),
    "Fourier": FourierSpectralClustering(3, n_features=60, random_state=0),
    "Kernel": KernelSpectralClustering(3, random_state=0),
    "Kernel Nystrom": KernelSpectralClustering(3, feature_map=kernels.NystromFeatures(40), random_state=0),
    "Kernel Fourier": KernelSpectralClustering(3, feature_map=kernels.FourierFeatures(40), random_state=0),
    "Kernel subspaces": KernelSpectralClustering(3, feature_map=kernels.SubspaceFeatures(40), random_state=0),
}


def fitted(model, rows=X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        return clone(model).fit(rows)


@cache
def fitted_once(name, dtype=np.float64):
    """A fitted model that no test changes."""
    return fitted(MODELS[name], X.astype(dtype))


def contents(value):
    """The names and values that an object holds."""
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    # The generator of a fitted feature map is left out, because it is not used after the fit.
    hidden = {"_on_device"} | ({"random_state"} if isinstance(value, kernels.FeatureMap) else set())
    return {name: each for name, each in sorted(vars(value).items()) if name not in hidden}


def order_of(array):
    """Axes in the order of memory; those of one entry have no order."""
    return sorted(np.flatnonzero(np.array(array.shape) > 1), key=lambda axis: -abs(array.strides[axis]))


def assert_same(one, other):
    """Equal to the last bit; numbers of NumPy are equal to those of Python, and lists to tuples."""
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tolist() == other.tolist() if one.dtype == object else one.tobytes() == other.tobytes()
        # Products are the same to the last bit only if axes lie in the same order in memory.
        assert order_of(one) == order_of(other)
    elif isinstance(one, csr_matrix):
        assert one.shape == other.shape
        for name in ("data", "indices", "indptr"):
            assert_same(getattr(one, name), getattr(other, name))
    elif isinstance(one, np.random.RandomState):
        assert pickle.dumps(one.get_state()) == pickle.dumps(other.get_state())
    elif isinstance(one, dict):
        assert list(one) == list(other)
        assert_same(list(one.values()), list(other.values()))
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif is_dataclass(one) or isinstance(one, BaseEstimator):
        assert type(one) is type(other)
        assert_same(contents(one), contents(other))
    else:
        assert one == other or (one != one and other != other)


def saved(model, folder, name="model.subspaces", **options):
    return load(model.save(folder / name, overwrite=True, **options))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_equal_to_the_saved_one(name, dtype, tmp_path):
    model, new = fitted_once(name, dtype), NEW.astype(dtype)
    again = saved(model, tmp_path)
    assert_same(model, again)
    for method in METHODS:
        if hasattr(model, method):
            assert_same(getattr(model, method)(new), getattr(again, method)(new))
    if hasattr(model, "choice_"):
        assert repr(model.choice_) == repr(again.choice_)
        assert model.choice_ == again.choice_


@pytest.mark.parametrize("name", MODELS)
def test_pickle_and_joblib_keep_models_too(name, tmp_path):
    model = fitted_once(name)
    joblib.dump(model, tmp_path / "model.joblib")
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        assert_same(model.predict(NEW), again.predict(NEW))


def test_every_estimator_can_be_saved_and_is_tested():
    clusterers = set(ESTIMATORS) - {"Preparation"}
    assert {type(model).__name__ for model in MODELS.values()} == clusterers
    assert {name for name in subspaces.__all__ if hasattr(getattr(subspaces, name), "fit_predict")} == clusterers


def test_a_loaded_model_can_be_fitted_again_and_saved_again(tmp_path):
    model = fitted_once("KASP")
    again = saved(model, tmp_path)
    assert_same(fitted(again).labels_, fitted(model).labels_)
    (first,) = tmp_path.iterdir()
    assert again.save(tmp_path / "second").read_bytes() == first.read_bytes()


def test_parts_that_were_shared_are_shared_again(tmp_path):
    again = saved(fitted_once("Kernel"), tmp_path)
    rows = again.feature_map_.transform(NEW)
    again.feature_map_.landmarks_ += 1
    assert (again.transform(NEW) != fitted_once("Kernel").transform(NEW)).any()
    assert rows.shape == (len(NEW), len(again.feature_map_.landmarks_))


def test_names_of_columns_and_output_settings_are_kept(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = fitted(MODELS["KASP"], frame).set_output(transform="pandas")
    again = saved(model, tmp_path)
    pd.testing.assert_frame_equal(again.transform(frame), model.transform(frame))
    assert again.feature_names_in_.tolist() == list("abcdef")
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame[list("fedcba")])


def test_arrays_of_other_libraries_come_to_the_host(tmp_path):
    strict = pytest.importorskip("array_api_strict")
    model = fitted(MODELS["FLS"], strict.asarray(X))
    again = saved(model, tmp_path)
    assert isinstance(again.labels_, np.ndarray)
    assert_same(again.labels_, np.from_dlpack(model.labels_))
    assert_same(again.predict(NEW), model.predict(NEW))


def test_lazy_labels_are_left_out(tmp_path):
    da = pytest.importorskip("dask.array")
    model = fitted(MODELS["KASP"], da.from_array(X, chunks=(50, 6)))
    again = saved(model, tmp_path)
    assert not hasattr(again, "labels_")
    assert_same(again.predict(NEW), model.predict(NEW))


def test_labels_in_a_file_are_read_from_it(tmp_path):
    model = fitted(MODELS["KASP"])
    np.save(tmp_path / "labels.npy", model.labels_)
    expected = model.labels_
    model.labels_ = np.load(tmp_path / "labels.npy", mmap_mode="r")
    assert_same(saved(model, tmp_path).labels_, expected)


@pytest.mark.parametrize(
    ("given", "loaded"),
    [
        (X[::4], X[::4]),
        (X[::4].tolist(), X[::4].tolist()),
        (list(X[::4]), X[::4]),
        (X[::4].astype(">f4"), X[::4].astype("<f4")),
        (np.asfortranarray(X[::4]), np.asfortranarray(X[::4])),
        (X[::4, ::-1], X[::4, ::-1]),
        (pd.DataFrame(X[::4]), X[::4]),
        (np.array([[1, 2], [3, 5]])[:, [0, 1, 0, 1, 0, 1]], np.array([[1, 2], [3, 5]])[:, [0, 1, 0, 1, 0, 1]]),
    ],
    ids=["array", "lists", "rows", "big-endian", "columns first", "reversed", "frame", "integers"],
)
def test_parameters_that_are_arrays(given, loaded, tmp_path):
    model = fitted(LandmarkSpectralClustering(2, landmarks=given, n_nearest=2, random_state=0))
    again = saved(model, tmp_path)
    assert_same(np.ascontiguousarray(again.landmarks), np.ascontiguousarray(loaded))
    assert isinstance(again.landmarks, type(loaded))
    assert_same(again.transform(NEW), model.transform(NEW))


def test_numbers_of_numpy_among_parameters(tmp_path):
    model = KASP(np.int64(3), sigma=np.float32(0.5), n_centroids=np.int16(30), random_state=np.random.RandomState(3))
    again = saved(model.fit(X), tmp_path)
    assert (again.n_clusters, again.sigma, again.n_centroids) == (3, 0.5, 30)
    assert_same(again.random_state, model.random_state)


class TestPreparation:
    """A model saved with the preparation of its rows takes rows as they were before."""

    @pytest.fixture(scope="class", params=["FLS outliers", "KFlats", "SSSC", "KASP"])
    @classmethod
    def pair(cls, request):
        preparation = Preparation(standardise=True, pca=5, whiten_drop=1).fit(X)
        return preparation, fitted(MODELS[request.param], preparation.transform(X))

    def test_it_is_applied(self, pair, tmp_path):
        preparation, model = pair
        again = saved(model, tmp_path, preparation=preparation)
        assert type(again) is type(model)
        assert again.n_features_in_ == 6
        assert_same(again.labels_, model.labels_)
        for method in METHODS:
            if hasattr(model, method):
                assert_same(getattr(again, method)(NEW), getattr(model, method)(preparation.transform(NEW)))
        assert model.n_features_in_ == 4

    def test_rows_in_files_and_on_a_cluster(self, pair, tmp_path):
        da = pytest.importorskip("dask.array")
        preparation, model = pair
        again = saved(model, tmp_path, preparation=preparation)
        expected = again.predict(NEW)
        np.save(tmp_path / "new.npy", NEW)
        assert_same(again.predict(tmp_path / "new.npy"), expected)
        assert_same(again.predict(da.from_array(NEW, chunks=(25, 6))).compute(), expected)
        with pytest.raises(ValueError, match="6 features"):
            again.predict(NEW[:, :4])

    def test_it_is_saved_again_and_dropped_by_fit(self, pair, tmp_path):
        preparation, model = pair
        again = saved(model, tmp_path, preparation=preparation)
        twice = saved(again, tmp_path, "second")
        assert (tmp_path / "second").read_bytes() == (tmp_path / "model.subspaces").read_bytes()
        assert_same(twice.predict(NEW), again.predict(NEW))
        assert_same(pickle.loads(pickle.dumps(again)).predict(NEW), again.predict(NEW))
        assert_same(fitted(again).labels_, fitted(model).labels_)
        with pytest.raises(ValueError, match="one already"):
            again.save(tmp_path / "third", preparation=preparation)

    def test_names_of_columns(self, tmp_path):
        frame = pd.DataFrame(X, columns=list("abcdef"))
        preparation = Preparation(standardise=True).fit(frame)
        model = fitted(MODELS["KASP"], preparation.transform(frame))
        again = saved(model, tmp_path, preparation=preparation)
        assert again.feature_names_in_.tolist() == list("abcdef")
        assert_same(again.predict(frame), model.labels_)
        with pytest.raises(ValueError, match="feature names"):
            again.predict(frame[list("fedcba")])

    def test_another_preparation_is_refused(self, tmp_path):
        model = fitted_once("KASP")
        with pytest.raises(ValueError, match="makes rows of 2 columns, and the model was fitted to 6"):
            model.save(tmp_path / "model", preparation=Preparation(pca=2).fit(X))
        with pytest.raises(NotFittedError):
            model.save(tmp_path / "model", preparation=Preparation())
        with pytest.raises(TypeError, match="must be a Preparation"):
            model.save(tmp_path / "model", preparation="pca")
        assert not list(tmp_path.iterdir())


class TestRefusedModels:
    def test_not_fitted(self, tmp_path):
        with pytest.raises(NotFittedError):
            FLS(2).save(tmp_path / "model")

    @pytest.mark.parametrize(
        ("model", "named"),
        [
            (
                KernelSpectralClustering(
                    2,
                    feature_map=kernels.CustomFeatures(lambda x, y: x @ y.T, lambda x, n, rng: rng.normal(size=(n, 6))),
                ),
                "feature_map",
            ),
            (
                KernelSpectralClustering(
                    2, feature_map=kernels.NystromFeatures(20, kernel=lambda x, y: np.exp(x @ y.T / 10))
                ),
                r"feature_map\.kernel",
            ),
            (KernelSpectralClustering(2, feature_map=RBFSampler(n_components=30)), "feature_map"),
            (FourierSpectralClustering(2, kernel=lambda shape, rng: rng.normal(size=shape)), "kernel"),
            (NystromSpectralClustering(2, n_landmarks=20, kernel=lambda x, y: np.exp(x @ y.T / 10)), "kernel"),
        ],
    )
    def test_functions_and_foreign_objects(self, model, named, tmp_path):
        model = fitted(model.set_params(random_state=0))
        with pytest.raises(TypeError, match=rf"{named} cannot be saved.*pickle or joblib"):
            model.save(tmp_path / "model")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("value", [object(), {1}, b"x", 1j, np.longdouble(1), np.array(["a"]), len, KASP, {"a": 1}])
    def test_other_parameters_are_refused_by_name(self, value, tmp_path):
        model = fitted(MODELS["KASP"]).set_params(verbose=[[value]])
        with pytest.raises(TypeError, match=r"KASP\.verbose\[0\].* cannot be saved"):
            model.save(tmp_path / "model")

    def test_parameters_that_contain_themselves(self, tmp_path):
        endless = []
        endless.append(endless)
        with pytest.raises(TypeError, match="cannot be saved"):
            fitted(MODELS["KASP"]).set_params(verbose=endless).save(tmp_path / "model")

    @pytest.mark.parametrize("bound", ["MAX_DOCUMENT_BYTES", "MOST_GROUPS", "MOST_VALUES"])
    def test_too_many_plain_values(self, bound, tmp_path, monkeypatch):
        monkeypatch.setattr(file, bound, 5)
        with pytest.raises(ValueError, match="give parameters as NumPy arrays"):
            fitted_once("KASP").save(tmp_path / "model")
        assert not list(tmp_path.iterdir())

    def test_subclasses_and_other_estimators(self, tmp_path):
        class Mine(KASP):
            pass

        for model in (Mine(2, random_state=0).fit(X), RBFSampler().fit(X), 3, kernels.FourierFeatures().fit(X)):
            with pytest.raises(TypeError, match="only the estimators of subspaces"):
                save(model, tmp_path / "model")


class TestFiles:
    model = property(lambda self: fitted_once("KASP"))

    def test_a_file_is_replaced_only_on_request(self, tmp_path):
        path = tmp_path / "model.subspaces"
        path.write_text("mine")
        with pytest.raises(FileExistsError, match="overwrite=True"):
            self.model.save(path)
        assert path.read_text() == "mine"
        assert self.model.save(str(path), overwrite=True) == path
        load(str(path))
        assert list(tmp_path.iterdir()) == [path]

    def test_places_that_cannot_hold_a_file(self, tmp_path, monkeypatch):
        with pytest.raises(FileNotFoundError, match="create it first"):
            self.model.save(tmp_path / "nowhere" / "model")
        with pytest.raises(IsADirectoryError, match="name a file in it"):
            self.model.save(tmp_path, overwrite=True)

        def refuse(**_):
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(tempfile, "mkstemp", refuse)
        with pytest.raises(OSError, match="the model cannot be saved, Permission denied"):
            self.model.save(tmp_path / "model")

    def test_files_that_do_not_exist(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="does not exist"):
            load(tmp_path / "model")
        with pytest.raises(IsADirectoryError, match=r"has no model\.subspaces"):
            load(tmp_path)

    def test_the_folder_of_a_run(self, tmp_path):
        self.model.save(tmp_path / "model.subspaces")
        assert_same(load(tmp_path).predict(NEW), self.model.predict(NEW))

    def test_a_full_disk_leaves_the_old_file(self, tmp_path, monkeypatch):
        path = self.model.save(tmp_path / "model")
        before = path.read_bytes()

        def full(*_):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="the disk is full: free some space"):
            self.model.save(path, overwrite=True)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]

    def test_other_programs_read_the_arrays_by_documented_names(self, tmp_path):
        path = fitted_once("FLS").save(tmp_path / "model")
        arrays = safetensors.numpy.load_file(path)
        model = fitted_once("FLS")
        np.testing.assert_array_equal(arrays["fitted.labels_"], model.labels_)
        assert arrays["model.spectral.features.flats.bases"].shape == model.flats_.bases.shape
        document = parts_of(path.read_bytes())[1]
        assert {name: document[name] for name in ("format", "version", "library", "estimator")} == {
            "format": "subspaces model",
            "version": 2,
            "library": subspaces.__version__,
            "estimator": "FLS",
        }

    @pytest.mark.parametrize("name", MODELS)
    def test_files_name_no_internal_class_or_attribute(self, name, tmp_path):
        arrays, document = parts_of(fitted_once(name).save(tmp_path / "model").read_bytes())
        names = [*arrays, *names_in(document["state"])]
        assert [each for each in names if any(part.startswith("_") for part in each.split("."))] == []
        state = json.dumps(document["state"])
        for internal in ("subspaces.", "Model", "Features", "Flats", "Partition", "Spectrum", "Voter", "Cell"):
            assert internal not in state

    def test_every_name_is_documented(self):
        text = (Path(__file__).parents[2] / "docs" / "saved-models.md").read_text()
        words = re.findall(r"`([^`]+)`", re.sub(r"(?s)```.*?```", "", text))
        documented = {word.strip('"') for word in words}
        for name in MODELS:
            arrays, document = parts_of(content_of(name))
            state = {key: each for key, each in document["state"].items() if key not in ("parameters", "fitted")}
            places = [place for place in arrays if not place.startswith(("parameters.", "fitted."))]
            parts = {part for place in places for part in place.split(".") if not part.isdecimal()}
            assert (parts | {*names_in(state), *document}) - {"not finite"} <= documented


def names_in(state):
    """All names in nested values."""
    if isinstance(state, list):
        return [name for each in state for name in names_in(each)]
    return [name for key, each in state.items() for name in (key, *names_in(each))] if isinstance(state, dict) else []


def parts_of(content):
    """The arrays and the document of a file."""
    size = int.from_bytes(content[:8], "little")
    document = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["subspaces model"])
    return safetensors.numpy.load(content), document


def packed(arrays, document):
    text = document if isinstance(document, str) else json.dumps(document)
    return safetensors.numpy.save(arrays, {"subspaces model": text})


@cache
def content_of(name):
    """The bytes of a saved model."""
    with tempfile.TemporaryDirectory() as folder:
        return fitted_once(name).save(Path(folder) / "model").read_bytes()


def changed(name, change):
    """The bytes of a saved model after `change(arrays, state)`."""
    arrays, document = parts_of(content_of(name))
    change(arrays, document["state"])
    return packed(arrays, document)


def refused(content, folder, match=""):
    path = folder / "bad.subspaces"
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=rf"(?s)bad\.subspaces is not a saved model that can be loaded.*{match}"
    ) as caught:
        load(path)
    assert isinstance(caught.value, subspaces._core.errors.InputError)


class Trap:
    """Pickled, it would show that it was loaded."""

    sprung = False

    def __reduce__(self):
        return setattr, (Trap, "sprung", True)


def leaves(state, place=()):
    """Places of all values in nested groups and lists."""
    items = state.items() if isinstance(state, dict) else enumerate(state) if isinstance(state, list) else ()
    for key, each in items:
        yield (*place, key)
        yield from leaves(each, (*place, key))


def put(state, place, value):
    for key in place[:-1]:
        state = state[key]
    state[place[-1]] = value


FOREIGN = {
    "empty": b"",
    "zip": b"PK",
    "text": b"hello" * 100,
    "pickle": pickle.dumps(Trap()),
    "header of any size": b"\xff" * 100,
    "header of 1 TB": (2**40).to_bytes(8, "little") + b"{}",
    "header without end": (100).to_bytes(8, "little") + b"{" * 100,
    "deep header": (10**6).to_bytes(8, "little") + b"[" * 10**6,
}


class TestBadFiles:
    @pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
    def test_foreign(self, content, tmp_path):
        refused(content, tmp_path, "not a safetensors file")
        assert not Trap.sprung

    def test_archives_of_the_first_version(self, tmp_path):
        with zipfile.ZipFile(tmp_path / "old", "w") as archive:
            archive.writestr("model.json", "{}")
        refused((tmp_path / "old").read_bytes(), tmp_path, r"subspaces 0\.1\.0.*fit the model again")

    def test_other_safetensors_files(self, tmp_path):
        refused(safetensors.numpy.save({"a": np.eye(3)}), tmp_path, "not written by subspaces")
        refused(safetensors.numpy.save({"a": np.eye(3)}, {"format": "pt"}), tmp_path, "not written by subspaces")
        for text, match in (
            ("{}", "not written by subspaces"),
            ("[1]", "not written by subspaces"),
            ("{", "not JSON"),
            ("NaN", "NaN"),
            ("1" * 5000, "not JSON"),
            ('{"a": 1, "a": 2}', "twice"),
            ("[" * 100_000, "nested too deep|not JSON"),
        ):
            refused(packed({"a": np.eye(3)}, text), tmp_path, match)

    def test_versions(self, tmp_path):
        arrays, document = parts_of(content_of("KASP"))
        newer = {**document, "version": 3, "library": "9.0", "more": 1}
        refused(packed(arrays, newer), tmp_path, r"made by a newer version: subspaces 9\.0 writes format 3.*upgrade")
        for version in (0, 1, -1, "2", None, True, 2.0, [2]):
            refused(packed(arrays, {**document, "version": version}), tmp_path, "version")

    @pytest.mark.parametrize(
        ("entries", "match"),
        [
            ({"estimator": "os.system"}, "not an estimator"),
            ({"estimator": "Flats"}, "not an estimator"),
            ({"estimator": ["FLS"]}, "not an estimator"),
            ({"estimator": "SSC"}, "not a parameter"),
            ({"estimator": "Preparation"}, "not known"),
            ({"more": 1}, "entries"),
            ({"state": []}, "not a group"),
            ({"state": {}}, "belongs to nothing"),
            ({"orders": []}, "not a group"),
            ({"orders": {"nothing": [0]}}, "does not hold"),
            ({"orders": {"fitted.labels_": [1]}}, "not one of axes"),
            ({"orders": {"fitted.labels_": "0"}}, "not one of axes"),
        ],
    )
    def test_documents(self, entries, match, tmp_path):
        arrays, document = parts_of(content_of("FLS outliers"))
        refused(packed(arrays, {**document, **entries}), tmp_path, match)

    @pytest.mark.parametrize(
        ("place", "value", "match"),
        [
            (("n_columns",), 10**12, "columns"),
            (("n_columns",), 40, "columns"),
            (("n_columns",), 0, "whole number"),
            (("n_columns",), True, "whole number"),
            (("column_names",), ["a"], "columns"),
            (("column_names",), [1] * 6, "not names"),
            (("output",), "os", "not known"),
            (("parameters", "hook"), 1, "not a parameter"),
            (("parameters", "sigma"), {"kind": "subprocess.Popen"}, "kind"),
            (("parameters", "sigma"), {"kind": []}, "kind"),
            (("parameters", "sigma"), {}, "kind"),
            (("parameters", "sigma"), {"kind": "ADMM"}, "exactly"),
            (("parameters", "sigma"), {"kind": "ADMM", "parameters": {"x": 1}}, "not a parameter"),
            (("parameters", "sigma"), {"not finite": "1e5"}, "not a number"),
            (("parameters", "sigma"), json.loads("[" * 60 + "]" * 60), "nested too deep"),
            (("fitted", "predict"), 1, "not known"),
            (("fitted", "__class__"), "x", "not known"),
            (("fitted", "n_clusters_"), 10**12, "clusters"),
            (("fitted", "choice_"), [{"name": "x"}], "not a decision"),
            (("model", "kind"), "nearest flat", "kind"),
            (("model", "extra"), 1, "not known"),
            (("model", "voters"), 3, "not a list"),
            (("model", "voters"), [3], "not a group"),
            (("model", "shapes", "unit"), 0, "not a valid number"),
            (("model", "spectral", "partition", "n_clusters"), 10**12, "clusters"),
            (("model", "spectral", "features", "sigma"), "wide", "not a valid number"),
            (("model", "spectral", "features", "n_nearest"), 10**6, "landmarks"),
            (("model", "spectral", "features", "kind"), "landmark points", "kind"),
        ],
    )
    def test_values(self, place, value, match, tmp_path):
        refused(changed("FLS outliers", lambda _, state: put(state, place, value)), tmp_path, match)

    @pytest.mark.parametrize(
        ("name", "place", "change", "match"),
        [
            ("FLS", "directions", lambda array: array[:, :-1], "coded columns"),
            ("FLS", "directions", lambda array: array[:-1], "prepared"),
            ("FLS", "center", lambda array: array[:-1], "coded columns"),
            ("FLS", "cells.0.center", lambda array: array[:-1], "coded columns"),
            ("FLS", "cells.0.variances", lambda array: array[:-1], "dimension"),
            ("FLS", "cells.0.variances", lambda array: 0 * array, "below"),
            ("FLS", "cells.0.basis", lambda array: array * np.nan, "not finite"),
            ("FLS standardised", "scale", lambda array: 0 * array, "below"),
            ("FLS standardised", "scale", lambda array: array[:-1], "columns"),
            ("FLS whitened", "whitener", lambda array: 0 * array, "removes directions"),
            ("FLS whitened", "whitener", lambda array: array[:-1, :-1], "prepared"),
            ("FLS whitened", "whitener", lambda array: array[:, :-1], "prepared"),
            ("FLS whitened", "whitener", lambda array: array * np.inf, "not finite"),
        ],
    )
    def test_whole_flats_and_whitening(self, name, place, change, match, tmp_path):
        part = "preparation" if place in ("whitener", "scale") else "partition.flats"

        def put_array(arrays, _):
            place_of = f"model.spectral.{part}.{place}"
            with np.errstate(invalid="ignore"):
                arrays[place_of] = np.ascontiguousarray(change(arrays[place_of]))

        refused(changed(name, put_array), tmp_path, match)

    def test_whole_flats_of_an_earlier_version(self, tmp_path):
        def as_list(arrays, state):
            for place in [place for place in arrays if place.startswith("model.spectral.partition.flats.")]:
                del arrays[place]
            state["model"]["spectral"]["partition"]["flats"] = []

        refused(changed("FLS", as_list), tmp_path, "from an earlier version: fit the model again and save it")

    def test_files_without_whitening_are_not_whitened(self, tmp_path):
        path = tmp_path / "older"

        def forget(_, state):
            del state["fitted"]["whiten_"], state["model"]["spectral"]["preparation"]["whitener"]

        path.write_bytes(changed("FLS", forget))
        model = load(path)
        assert not hasattr(model, "whiten_")
        assert model._model.preparation.whitener is None
        assert_same(model.predict(NEW), fitted_once("FLS").predict(NEW))

    @pytest.mark.parametrize(
        "name", ["FLS", "FLS outliers", "FLS draws", "FLS whitened", "SSC", "SSSC", "SLBF", "KFlats", "Kernel Nystrom"]
    )
    @pytest.mark.slow
    def test_no_value_is_trusted(self, name, tmp_path):
        """A file with any one value replaced or removed is refused, or gives a model that works."""
        document = parts_of(content_of(name))[1]
        path = tmp_path / "bad.subspaces"
        for place in leaves(document["state"]):
            for wrong in ([[3]], -1, None, "x", 10**13, {"kind": "beta2"}):
                path.write_bytes(changed(name, lambda _, state, p=place, w=wrong: put(state, p, w)))
                check_harmless(path)

    @pytest.mark.parametrize("name", MODELS)
    @pytest.mark.slow
    def test_no_array_is_trusted(self, name, tmp_path):
        """Arrays that are missing, or of another shape or type, are refused."""
        path = tmp_path / "bad.subspaces"
        optional = (
            "fitted.labels_",
            "fitted.confidence_",
            "fitted.outlier_scores_",
            "features.points",
            "whitener",
            "preparation.scale",
            "partition.centers",
        )
        for place, array in parts_of(content_of(name))[0].items():
            wrong = [
                None,
                array[None],
                array[:0],
                np.zeros(array.shape, np.float16),
                np.zeros((0, 10**12)),
                np.zeros((77, 3)),
            ]
            if array.dtype.kind == "f" and place.startswith("model."):
                wrong.append(np.full_like(array, np.nan))
            for each in wrong if array.size else wrong[:2]:
                path.write_bytes(
                    changed(name, lambda a, _, p=place, w=each: a.pop(p) if w is None else a.update({p: w}))
                )
                if place.startswith("parameters.") or (each is None and place.endswith(optional)):
                    check_harmless(path)
                    continue
                with pytest.raises(ValueError, match="not a saved model"):
                    load(path)

    @pytest.mark.parametrize(
        ("value", "match"),
        [
            ([{}] * 300_000, "200000 groups"),
            ([[1]] * 300_000, "200000 groups"),
            (["ab"] * 1_200_000, "1000000 values"),
            ("x" * 2**24, "16 MiB"),
        ],
    )
    def test_documents_are_bounded_before_they_are_read(self, value, match, tmp_path, monkeypatch):
        content = changed("KASP", lambda _, state: put(state, ("parameters", "verbose"), value))
        monkeypatch.setattr(json, "loads", None)
        refused(content, tmp_path, match)

    def test_headers_and_arrays_are_bounded(self, tmp_path, monkeypatch):
        refused((2**30).to_bytes(8, "little") + b"{}", tmp_path, "header of 1073741824 bytes is too long")
        monkeypatch.setattr(file, "MOST_ARRAYS", 3)
        refused(content_of("FLS"), tmp_path, "more than 3 arrays")

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems have no limit of memory")
    @pytest.mark.parametrize("gigabytes", [5, 9])
    def test_arrays_that_do_not_fit_into_memory(self, gigabytes, tmp_path):
        """A file of gigabytes of nothing: its map, or an array, has no place."""
        content = content_of("KASP")
        start = 8 + int.from_bytes(content[:8], "little")
        header, size = json.loads(content[8:start]), len(content) - start
        count = gigabytes * 10**9
        header["more"] = {"dtype": "U8", "shape": [count], "data_offsets": [size, size + count]}
        text = json.dumps(header).encode()
        with (tmp_path / "model").open("wb") as stream:
            stream.write(len(text).to_bytes(8, "little") + text + content[start:])
            stream.truncate(8 + len(text) + size + count)
        code = (
            "import resource, sys; from subspaces import load; "
            "resource.setrlimit(resource.RLIMIT_AS, (8 * 10**9,) * 2); load(sys.argv[1])"
        )
        command = [sys.executable, "-c", code, str(tmp_path / "model")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert "its arrays do not fit into memory" in done.stderr

    @pytest.mark.parametrize("name", ["SSC", "SSSC", "SLBF", "KASP"])
    def test_the_number_of_clusters_is_that_of_the_model(self, name, tmp_path):
        for wrong in (2, "auto", None, 0, 3.0):
            refused(changed(name, lambda _, state, w=wrong: put(state, ("parameters", "n_clusters"), w)), tmp_path)

    @pytest.mark.parametrize("name", ["FLS", "LBF", "SSC", "KASP"])
    def test_labels_are_those_of_its_clusters(self, name, tmp_path):
        def beyond(arrays, _):
            arrays["fitted.labels_"] = arrays["fitted.labels_"] + 10**6

        refused(changed(name, beyond), tmp_path, "labels of more than its 3 clusters")

    def test_candidates_are_plain_values(self, tmp_path):
        nested = json.loads('{"a":' * 500 + "1" + "}" * 500)
        for value in (nested, [nested], [[1]], {"a": 1}):

            def change(_, state, value=value):
                state["fitted"]["choice_"][0]["candidates"][0]["score"] = value

            refused(changed("FLS", change), tmp_path, "not named values|nested too deep")

    def test_arrays_that_belong_to_nothing(self, tmp_path):
        for place in ("x", "fitted.x", "model.voters.0.x", "fitted.n_clusters_", "..", "", "parameters.n_clusters.x"):
            refused(changed("FLS", lambda arrays, _, p=place: arrays.update({p: np.zeros(3)})), tmp_path)

    def test_labels_and_sparse_matrices_that_point_elsewhere(self, tmp_path):
        for name, place, index, value in (
            ("SSC", "fitted.codes_.columns", 0, 10**6),
            ("SSC", "fitted.codes_.columns", 3, -5),
            ("SSC", "fitted.codes_.starts", 2, 10**6),
            ("SSC", "fitted.codes_.starts", -1, -1),
            ("SLBF", "model.flat_labels", 0, 10**9),
            ("SLBF", "model.flat_labels", 0, -1),
        ):

            def change(arrays, _, place=place, index=index, value=value):
                arrays[place] = arrays[place].copy()
                arrays[place][index] = value

            refused(changed(name, change), tmp_path, "sparse matrix|clusters than flats|below")

    def test_generators(self, tmp_path):
        place = ("parameters", "random_state")
        for key, value in {"position": 625, "has_gauss": 7, "gauss": "x"}.items():
            refused(changed("KASP", lambda _, s, k=key, v=value: put(s, (*place, k), v)), tmp_path)
        for words in (np.zeros(624, np.uint32), np.ones(623, np.uint32), np.ones(624)):
            refused(changed("KASP", lambda a, _, w=words: a.update({"parameters.random_state.key": w})), tmp_path)

    def test_values_that_later_versions_add_have_defaults(self, tmp_path):
        path = tmp_path / "older"
        path.write_bytes(changed("FLS", lambda _, state: state["parameters"].pop("max_clusters")))
        assert load(path).max_clusters == 10

    @settings(max_examples=150, deadline=None)
    @given(data=st.data())
    def test_flipped_and_lost_bytes(self, data):
        whole = content_of("FLS outliers")
        content = bytearray(whole)
        header = int.from_bytes(whole[:8], "little")
        for _ in range(data.draw(st.integers(0, 4))):
            place = st.one_of(st.integers(0, len(whole) - 1), st.integers(0, header), st.integers(0, 60))
            content[data.draw(place)] ^= data.draw(st.integers(1, 255))
        stop = data.draw(st.one_of(st.just(len(whole)), st.integers(0, len(whole))))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            path.write_bytes(content[:stop])
            check_harmless(path)


def check_harmless(path):
    """A file is refused, or its model labels rows."""
    try:
        model = load(path)
    except subspaces._core.errors.InputError:
        return
    # Values may overflow.
    with np.errstate(all="ignore"):
        assert model.predict(NEW).shape == (len(NEW),)
