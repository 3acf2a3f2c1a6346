"""Saved models: what comes back is what was saved, and a file can do no harm."""

import errno
import io
import json
import math
import pickle
import tempfile
import warnings
import zipfile
from functools import cache
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import clone
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
    self_expression,
)
from subspaces.datasets import make_subspaces
from subspaces.saving import _archive, load, save
from subspaces.saving._classes import ESTIMATORS, HOMES, class_of

X = make_subspaces((1, 2, 2), 6, points_per_subspace=40, noise=0.02, random_state=0)[0]
NEW = make_subspaces((2, 2), 6, points_per_subspace=30, random_state=1)[0]

MODELS = {
    "FLS": FLS(3, n_landmarks=40, random_state=0),
    "FLS draws": FLS(3, n_landmarks=40, n_draws=3, random_state=0),
    "FLS outliers": FLS(3, n_landmarks=40, detect_outliers=True, random_state=0),
    "FLS share": FLS(3, n_landmarks=40, detect_outliers=0.1, random_state=0),
    "FLS auto": FLS("auto", max_clusters=4, n_landmarks=40, random_state=0),
    "FLS.paper": FLS.paper(3, subspace_dim=2, n_landmarks=40, random_state=0),
    "FLS projected": FLS(3, subspace_dim=2, max_columns=4, landmarks=X[::4], center=True, random_state=0),
    "LBF": LBF(3, random_state=0),
    "LBF auto": LBF("auto", max_clusters=3, random_state=0),
    "KFlats": KFlats(3, subspace_dim=2, random_state=0),
    "SLBF": SLBF(3, subspace_dim=2, random_state=0),
    "SSC": SSC(3, random_state=0),
    "SSC outliers": SSC(3, solver=self_expression.ADMM(outliers=True), random_state=0),
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
def fitted_once(name, dtype):
    """A fitted model that no test changes."""
    return fitted(MODELS[name], X.astype(dtype))


def assert_same(one, other):
    """The same type, and the same to the last bit, whatever it is made of."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if one.dtype == object:
            assert one.tolist() == other.tolist()
        else:
            assert one.tobytes() == other.tobytes()
    elif isinstance(one, csr_matrix):
        assert one.shape == other.shape
        for name in ("data", "indices", "indptr"):
            assert_same(getattr(one, name), getattr(other, name))
    elif isinstance(one, np.random.RandomState):
        assert pickle.dumps(one.get_state()) == pickle.dumps(other.get_state())
    elif isinstance(one, dict):
        assert_same(list(one), list(other))
        assert_same(list(one.values()), list(other.values()))
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif type(one).__name__ in HOMES:
        slots = getattr(type(one), "__slots__", None)
        names = list(slots) if slots else sorted(set(vars(one)) | set(vars(other)))
        for name in names:
            assert_same(getattr(one, name), getattr(other, name))
    else:
        assert one == other or (one != one and other != other)


def saved(model, folder, name="model.subspaces"):
    return load(save(model, folder / name, overwrite=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_the_model(name, dtype, tmp_path):
    model = fitted_once(name, dtype)
    new = NEW.astype(dtype)
    again = saved(model, tmp_path)
    assert_same(model, again)
    for method in ("predict", "transform", "score", "outlier_scores"):
        if hasattr(model, method):
            assert_same(getattr(model, method)(new), getattr(again, method)(new))
    assert_same(model.get_params(deep=False), again.get_params(deep=False))
    if hasattr(model, "choice_"):
        assert repr(model.choice_) == repr(again.choice_)
        assert model.choice_ == again.choice_


@pytest.mark.parametrize("name", MODELS)
def test_pickle_and_joblib_keep_models_too(name, tmp_path):
    model = fitted_once(name, np.float64)
    joblib.dump(model, tmp_path / "model.joblib")
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        assert_same(model.predict(NEW), again.predict(NEW))


def test_every_estimator_is_tested_and_every_class_is_there():
    # What prepares rows does not cluster them, and is tested where it lives.
    clusterers = set(ESTIMATORS) - {"Preparation"}
    assert {type(model).__name__ for model in MODELS.values()} == clusterers
    public = {name for name in subspaces.__all__ if hasattr(getattr(subspaces, name), "fit_predict")}
    assert public == clusterers
    for name in HOMES:
        assert class_of(name).__name__ == name


def test_load_is_public():
    assert subspaces.load is load


def test_a_loaded_model_can_be_fitted_again_and_saved_again(tmp_path):
    model = fitted(MODELS["KASP"])
    again = saved(model, tmp_path)
    assert_same(fitted(again).labels_, fitted(model).labels_)
    (first,) = tmp_path.iterdir()
    assert save(again, tmp_path / "second").read_bytes() == first.read_bytes()


def test_what_is_shared_stays_shared(tmp_path):
    again = saved(fitted(MODELS["Kernel"]), tmp_path)
    assert again.feature_map_ is again._features


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
    assert not any(name.startswith("_on_device") for name in vars(again._features))
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


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.floats(width=32).map(np.float32),
    st.integers(-9, 9).map(np.int16),
    st.booleans().map(np.bool_),
    st.text("abc", max_size=3).map(np.str_),
)
KEYS = st.one_of(st.text(max_size=3), st.just("$"), st.integers(), st.tuples(st.integers(), st.text()))
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def model():
    """A small one, to which tests may add attributes."""
    return fitted(MODELS["KASP"])


class TestValues:
    @settings(max_examples=80, deadline=None)
    @given(value=VALUES)
    def test_plain_values(self, value, model):
        with tempfile.TemporaryDirectory() as folder:
            model.kept_ = value
            assert_same(saved(model, Path(folder)).kept_, value)

    @pytest.mark.parametrize(
        "array",
        [
            np.zeros(()), np.zeros((0, 3)), np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2), np.eye(4)[::-2, ::2],
            np.asfortranarray(np.arange(6).reshape(2, 3)), np.array([True]), np.array([1 + 2j]),
            np.arange(3, dtype=">i4"), np.array([np.nan, np.inf, -0.0]),
        ],
        ids=str,
    )  # fmt: skip
    def test_arrays(self, array, model, tmp_path):
        model.kept_ = array
        again = saved(model, tmp_path).kept_
        assert_same(array, again)
        assert again.flags.writeable
        # Products are the same to the last bit only where axes lie in the same order.
        assert not array.size or (np.argsort(np.abs(again.strides)) == np.argsort(np.abs(array.strides))).all()

    @pytest.mark.parametrize(
        "value",
        [object(), {1}, b"x", 1j, np.longdouble(1), np.array([object()]), np.array(["a"]), len, math.pi.__class__],
    )
    def test_what_is_not_plain_is_refused_by_name(self, value, model, tmp_path):
        model.kept_ = [value]
        with pytest.raises(TypeError, match=r"KASP\.kept_\[0\] cannot be saved"):
            save(model, tmp_path / "model")
        assert not list(tmp_path.iterdir())

    def test_what_holds_itself_is_refused(self, model, tmp_path):
        model.kept_ = []
        model.kept_.append(model.kept_)
        with pytest.raises(TypeError, match="nested more than"):
            save(model, tmp_path / "model")
        model.kept_ = model
        with pytest.raises(TypeError, match="holds itself"):
            save(model, tmp_path / "model")
        del model.kept_

    def test_too_many_plain_values_are_refused(self, model, tmp_path, monkeypatch):
        monkeypatch.setattr(_archive, "MAX_DOCUMENT_BYTES", 1000)
        with pytest.raises(ValueError, match="give parameters as NumPy arrays"):
            save(model, tmp_path / "model")
        assert not list(tmp_path.iterdir())


class TestRefusedModels:
    def test_not_fitted(self, tmp_path):
        with pytest.raises(NotFittedError):
            save(FLS(2), tmp_path / "model")

    @pytest.mark.parametrize(
        ("feature_map", "named"),
        [
            (
                kernels.CustomFeatures(lambda x, y: x @ y.T, lambda x, n, rng: rng.normal(size=(n, 6)), 30),
                "feature_map",
            ),
            (kernels.NystromFeatures(20, kernel=lambda x, y: np.exp(-((x[:, None] - y) ** 2).sum(2))), "kernel"),
            (RBFSampler(n_components=30, random_state=0), "feature_map"),
        ],
    )
    def test_functions_and_foreign_objects(self, feature_map, named, tmp_path):
        model = fitted(KernelSpectralClustering(2, feature_map=feature_map, random_state=0))
        with pytest.raises(TypeError, match=rf"{named} cannot be saved.*pickle or joblib"):
            save(model, tmp_path / "model")
        assert not list(tmp_path.iterdir())

    def test_subclasses_and_other_estimators(self, tmp_path):
        class Mine(KASP):
            pass

        for model in (Mine(2, random_state=0).fit(X), RBFSampler().fit(X), 3, kernels.FourierFeatures().fit(X)):
            with pytest.raises(TypeError, match="only the estimators of subspaces"):
                save(model, tmp_path / "model")


class TestFiles:
    def test_a_file_is_replaced_only_if_asked(self, model, tmp_path):
        path = tmp_path / "model.subspaces"
        path.write_text("mine")
        with pytest.raises(FileExistsError, match="overwrite=True"):
            model.save(path)
        assert path.read_text() == "mine"
        assert model.save(str(path), overwrite=True) == path
        load(str(path))
        assert list(tmp_path.iterdir()) == [path]

    def test_places_where_no_file_can_be(self, model, tmp_path, monkeypatch):
        with pytest.raises(FileNotFoundError, match="make it first"):
            save(model, tmp_path / "nowhere" / "model")
        with pytest.raises(IsADirectoryError, match="name a file in it"):
            save(model, tmp_path, overwrite=True)
        with pytest.raises(IsADirectoryError, match="folder"):
            load(tmp_path)
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "model")

        def refuse(**_):
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(tempfile, "mkstemp", refuse)
        with pytest.raises(PermissionError, match="the model cannot be saved, Permission denied"):
            save(model, tmp_path / "model")

    def test_a_full_disk_leaves_the_old_file(self, model, tmp_path, monkeypatch):
        path = save(model, tmp_path / "model")
        before = path.read_bytes()

        def full(*_, **__):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(np.lib.format, "write_array", full)
        with pytest.raises(OSError, match="the disk is full; free some space"):
            save(model, path, overwrite=True)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]

    def test_members_are_a_document_and_arrays(self, model, tmp_path):
        with zipfile.ZipFile(save(model, tmp_path / "model")) as archive:
            names = archive.namelist()
            document = json.loads(archive.read("model.json"))
            arrays = [np.load(io.BytesIO(archive.read(name)), allow_pickle=False) for name in names[1:]]
        assert names == ["model.json", *(f"arrays/{i}.npy" for i in range(len(arrays)))]
        assert {name: document[name] for name in ("format", "version", "library", "class")} == {
            "format": "subspaces model",
            "version": 1,
            "library": subspaces.__version__,
            "class": "KASP",
        }


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a saved FLS."""
    return save(fitted_once("FLS outliers", np.float64), tmp_path_factory.mktemp("whole") / "model").read_bytes()


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    """The bytes of a saved model with a sparse matrix."""
    return save(fitted_once("SSC", np.float64), tmp_path_factory.mktemp("sparse") / "model").read_bytes()


def members_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members, compression=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two members of one name
        with zipfile.ZipFile(stream, "w", compression) as archive:
            for name, data in members.items() if isinstance(members, dict) else members:
                archive.writestr(name, data)
    return stream.getvalue()


def with_document(content, change):
    members = members_of(content)
    document = json.loads(members["model.json"])
    change(document)
    return packed({**members, "model.json": json.dumps(document)})


def npy(array, **options):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, **options)
    return stream.getvalue()


def refused(content, folder, match=""):
    path = folder / "bad.subspaces"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"(?s)bad\.subspaces is no saved model.*{match}"):
        load(path)


class Trap:
    """Pickled, it would tell that it was loaded."""

    sprung = False

    def __reduce__(self):
        return setattr, (Trap, "sprung", True)


class TestBadFiles:
    @pytest.mark.parametrize("content", [b"", b"PK", b"hello" * 100, pickle.dumps(Trap()), npy(np.eye(3)), packed({})])
    def test_foreign(self, content, tmp_path):
        refused(content, tmp_path)
        assert not Trap.sprung

    def test_other_zip_files(self, whole, tmp_path):
        refused(packed({"word/document.xml": "<a/>"}), tmp_path, r"no model\.json")
        refused(packed({"model.json": "{}"}), tmp_path, "not written by subspaces")
        refused(packed({"model.json": "[1]"}), tmp_path, "not written by subspaces")
        refused(packed({"model.json": "{"}), tmp_path, "no JSON")
        refused(packed({"model.json": b"\xff\xfe"}), tmp_path, "no JSON")
        refused(packed({"model.json": "NaN"}), tmp_path, "NaN")
        refused(packed({"model.json": '{"a": 1, "a": 2}'}), tmp_path, "twice")
        refused(packed({"model.json": "[" * 100_000}), tmp_path, "nested too deep|no JSON")

    def test_members_that_are_missing_or_too_many(self, whole, tmp_path):
        members = members_of(whole)
        last = f"arrays/{len(members) - 2}.npy"
        for name in ("../../etc/passwd", "/arrays/0.npy", "arrays/00.npy", "code.py", "arrays/9999.npy"):
            refused(packed({**members, name: npy(np.zeros(3))}), tmp_path, "none of a saved model")
        refused(packed({**members, f"arrays/{len(members) - 1}.npy": npy(np.zeros(3))}), tmp_path, "belong to nothing")
        refused(packed({k: v for k, v in members.items() if k != "model.json"}), tmp_path, r"no model\.json")
        refused(packed({k: v for k, v in members.items() if k != "arrays/0.npy"}), tmp_path, "missing")
        refused(packed({k: v for k, v in members.items() if k != last}), tmp_path, "points to number")
        refused(packed([*members.items(), ("model.json", members["model.json"])]), tmp_path, "none of|same name")
        twice = [(name, data) for name, data in members.items() if name != last]
        refused(packed([*twice, ("arrays/0.npy", members["arrays/0.npy"])]), tmp_path, "same name")

    def test_bombs(self, whole, tmp_path):
        members = members_of(whole)
        refused(packed(members, zipfile.ZIP_DEFLATED), tmp_path, "compressed")
        bomb = {**members, "arrays/0.npy": bytes(10**7)}
        refused(packed(bomb, zipfile.ZIP_DEFLATED), tmp_path, "compressed")
        huge = npy(np.zeros(1)).replace(b"(1,), }", b"(9999999999,), }").replace(b"          \n", b" \n")
        refused(packed({**members, "arrays/0.npy": huge}), tmp_path, "arrays/0.npy")

    def test_arrays_that_are_none(self, whole, tmp_path):
        members = members_of(whole)
        for data, match in (
            (b"", "no array"),
            (b"\x93NUMPY\x01\x00", "no array"),
            (npy(np.array([Trap()], object)), "no array of numbers"),
            (npy(np.array(["a"])), "no array of numbers"),
            (npy(np.zeros(2, [("a", "f8")])), "no array of numbers"),
            (npy(np.zeros(2), version=(3, 0)), "format 1.0"),
            (npy(np.zeros(3))[:-1], "bytes for shape"),
            (npy(np.zeros(3)) + b"x", "bytes for shape"),
            (npy(np.zeros(3)).replace(b"<f8", b"<f7"), "unknown type"),
            (npy(np.zeros(3)).replace(b"(3,)", b"(-3)"), "no array of numbers"),
            (npy(np.zeros((77, 3))), ""),
        ):
            refused(packed({**members, "arrays/0.npy": data}), tmp_path, match)
        assert not Trap.sprung

    def test_versions(self, whole, tmp_path):
        newer = with_document(whole, lambda d: d.update(version=2, library="9.0", more=1))
        refused(newer, tmp_path, r"made by a newer version: subspaces 9\.0 writes format 2.*upgrade")
        for version in (0, "1", None, True, 1.0):
            refused(with_document(whole, lambda d, v=version: d.update(version=v)), tmp_path, "version")

    @pytest.mark.parametrize(
        ("change", "match"),
        [
            (lambda d: d.update({"class": "os.system"}), "no estimator"),
            (lambda d: d.update({"class": "Flats"}), "no estimator"),
            (lambda d: d.update({"class": ["FLS"]}), "no estimator"),
            (lambda d: d.update({"class": "SSC"}), "tells of SSC and holds FLS"),
            (lambda d: d.update(more=1), "entries"),
            (lambda d: d.update(objects={}), "not a list"),
            (lambda d: d.update(objects=[3]), "not a dict"),
            (lambda d: d.update(objects=[]), "no object"),
            (lambda d: d["objects"][0].update({"class": "subprocess.Popen"}), "class that no saved model holds"),
            (lambda d: d["objects"][0].update({"class": "CustomFeatures"}), "class that no saved model holds"),
            (lambda d: d["objects"][0].update({"class": {}}), "class that no saved model holds"),
            (lambda d: d["objects"][0].pop("fields"), "entries"),
            (lambda d: d["objects"][-1]["parameters"].update(hook=1), "parameters of FLS"),
            (lambda d: d["objects"][-1].update(state=[]), "not a dict"),
            (lambda d: d["objects"][-1]["state"].update(predict=1), "does not keep"),
            (lambda d: d["objects"][-1]["state"].update(flats_=1), "does not keep"),
            (lambda d: d["objects"][-1]["state"].update(__class__="x"), "does not keep"),
            (lambda d: d["objects"][-1]["state"].update({"a b": "x"}), "does not keep"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": "call"}), "not known"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": []}), "not known"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": "object", "at": 10**6}), "points to"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": "object", "at": -1}), "points to"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": "object", "at": len(d["objects"]) - 1}), "points to"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": "array", "at": True}), "points to"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": "array", "at": 0, "axes": [7]}), "axes"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": "array", "at": 0, "axes": "0"}), "axes"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": "array"}), "entries"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": "float", "value": "1e5"}), "no number"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": "scalar", "dtype": "O", "value": 1}), "number"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": "scalar", "dtype": "(9,9)f8", "value": 1}), "number"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": "scalar", "dtype": "<i1", "value": "z"}), "number"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": "dict", "items": [[[], 1]]}), "no dict"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": "dict", "items": [[1, 2, 3]]}), "no dict"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": "strings", "items": [1]}), "no list of names"),
            (lambda d: d["objects"][-1]["state"].update(a={"$": "tuple", "items": 3}), "not a list"),
            (lambda d: d["objects"][-1]["state"].update(a=json.loads("[" * 60 + "]" * 60)), "nested more than"),
            (lambda d: d["objects"][-1]["state"].update(n_features_in_=10**12), "number of columns"),
            (lambda d: d["objects"][-1]["state"].update(n_features_in_=40), "do not fit together"),
            (lambda d: d["objects"][-1]["state"].pop("_features"), "do not fit together"),
            (lambda d: d["objects"][-1]["state"].update(_preparation="x"), "do not fit together"),
        ],
    )
    def test_documents(self, change, match, whole, tmp_path):
        refused(with_document(whole, change), tmp_path, match)

    def test_fields_of_the_wrong_type_or_shape(self, whole, tmp_path):
        entries = json.loads(members_of(whole)["model.json"])["objects"]
        for number, entry in enumerate(entries):
            for field in entry.get("fields", ()):
                for wrong in ({"$": "tuple", "items": [[3]]}, {"$": "array", "at": 0, "axes": []}):
                    changed = with_document(
                        whole, lambda d, n=number, f=field, w=wrong: d["objects"][n]["fields"].update({f: w})
                    )
                    refused(changed, tmp_path)
        for change in (lambda fields: fields.update(extra=1), lambda fields: fields.pop(next(iter(fields)))):
            refused(with_document(whole, lambda d, c=change: c(d["objects"][0]["fields"])), tmp_path, "fields")

    def test_generators(self, whole, tmp_path):
        entries = json.loads(members_of(whole)["model.json"])["objects"]
        number = next(i for i, entry in enumerate(entries) if entry["class"] == "RandomState")
        for wrong in ({"pos": 625}, {"pos": -1}, {"pos": True}, {"gauss": "x"}, {"has_gauss": 7}, {"key": 3}):
            changed = with_document(whole, lambda d, w=wrong: d["objects"][number].update(w))
            refused(changed, tmp_path, "random generator|belong to nothing")
        key = entries[number]["key"]["at"]
        zeros = {**members_of(whole), f"arrays/{key}.npy": npy(np.zeros(624, np.uint32))}
        refused(packed(zeros), tmp_path, "random generator")

    def test_sparse_matrices_that_point_elsewhere(self, sparse, tmp_path):
        entry = json.loads(members_of(sparse)["model.json"])["objects"][-1]["state"]["codes_"]
        for part, index, value in (("indices", 0, 10**6), ("indices", 3, -5), ("indptr", 2, 10**6), ("indptr", -1, -1)):
            name = f"arrays/{entry[part]['at']}.npy"
            array = np.load(io.BytesIO(members_of(sparse)[name]))
            array[index] = value
            refused(packed({**members_of(sparse), name: npy(array)}), tmp_path, "no sparse matrix")
        for shape in ([3], [-1, 5], ["a", 2], 7, [10**30, 2]):
            changed = with_document(sparse, lambda d, s=shape: d["objects"][-1]["state"]["codes_"].update(shape=s))
            refused(changed, tmp_path, "matrix")

    def test_what_later_versions_add_has_its_default(self, whole, tmp_path):
        path = tmp_path / "older"
        path.write_bytes(with_document(whole, lambda d: d["objects"][-1]["parameters"].pop("max_clusters")))
        assert load(path).max_clusters == 10

    @settings(max_examples=150, deadline=None)
    @given(data=st.data())
    def test_flipped_and_lost_bytes(self, data, whole):
        """Half of the flips are in what the zip file says of its members, which no checksum covers."""
        changed = bytearray(whole)
        table = whole.index(b"PK\x01\x02")
        for _ in range(data.draw(st.integers(0, 4))):
            place = st.one_of(st.integers(0, len(whole) - 1), st.integers(table, len(whole) - 1), st.integers(0, 60))
            changed[data.draw(place)] ^= data.draw(st.integers(1, 255))
        stop = data.draw(st.one_of(st.just(len(whole)), st.integers(0, len(whole))))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            path.write_bytes(changed[:stop])
            try:
                model = load(path)
            except ValueError:
                return
            assert model.predict(NEW).shape == (len(NEW),)
