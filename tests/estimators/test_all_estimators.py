"""What every estimator promises: the same errors for the same mistakes, and an answer for rows of any kind."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

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
)
from subspaces.datasets import make_subspaces
from subspaces.metrics import clustering_accuracy

ESTIMATORS = {
    "FLS": FLS(2, random_state=0),
    "FLS.paper": FLS.paper(2, subspace_dim=1, random_state=0),
    "KASP": KASP(2, random_state=0),
    "LBF": LBF(2, random_state=0),
    "LBF published": LBF(2, subspace_dim=1, polish=False, random_state=0),
    "LBF auto": LBF("auto", max_clusters=3, random_state=0),
    "SLBF": SLBF(2, random_state=0),
    "KFlats": KFlats(2, random_state=0),
    "KFlats linear squared": KFlats(2, affine=False, loss="squared", init="random", random_state=0),
    "SSC": SSC(2, random_state=0),
    "SSC affine": SSC(2, affine=True, random_state=0),
    "SSC omp": SSC(2, solver="omp", random_state=0),
    "SSC elastic net": SSC(2, solver="elastic_net", random_state=0),
    "SSC outliers": SSC(2, solver=subspaces.self_expression.ADMM(outliers=True), random_state=0),
    "SSSC": SSSC(2, random_state=0),
    "SSSC affine": SSSC(2, n_in_sample=40, affine=True, random_state=0),
    "Landmark": LandmarkSpectralClustering(2, random_state=0),
    "Fourier": FourierSpectralClustering(2, random_state=0),
    "Nystrom": NystromSpectralClustering(2, random_state=0),
    "Kernel": KernelSpectralClustering(2, random_state=0),
}

every = pytest.mark.parametrize("model", [pytest.param(model, id=name) for name, model in ESTIMATORS.items()])


def plain(model, **options):
    """A fresh copy; options it does not have are left out."""
    known = {name: value for name, value in options.items() if name in model.get_params()}
    return clone(model).set_params(**known)


def fit(model, X):
    """Fitted, with warnings of too few clusters or unfinished codes allowed, and no other."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(model).fit(X)


def test_every_public_estimator_is_here():
    public = {
        name
        for name in subspaces.__all__
        if inspect.isclass(getattr(subspaces, name)) and hasattr(getattr(subspaces, name), "fit")
    }
    assert public == {type(model).__name__ for model in ESTIMATORS.values()}


@every
class TestMistakes:
    @pytest.mark.parametrize(
        ("X", "message"),
        [
            ([[1.0, np.nan], [0, 1], [1, 1]], "NaN"),
            ([[1.0, np.inf], [0, 1], [1, 1]], "infinity"),
            (np.empty((0, 3)), "0 sample"),
            (np.empty((3, 0)), "0 feature"),
            (np.ones(5), "2D array"),
            (np.ones((2, 2, 2)), "3"),
            ([["a", "b"], ["c", "d"]], "could not convert string"),
            (np.full((4, 3), 1e300), "overflow"),
            (np.full((4, 3), 1e-300), "underflow"),
            (np.ones((5, 1)), "minimum of 2"),
        ],
        ids=["nan", "inf", "no rows", "no columns", "vector", "cube", "strings", "huge", "tiny", "one column"],
    )
    def test_rows(self, model, X, message):
        if message == "minimum of 2" and not isinstance(model, FLS | LBF | SLBF | KFlats | SSC | SSSC):
            pytest.skip("points may lie on a line")
        with pytest.raises(ValueError, match=message):
            fit(model, X)

    @pytest.mark.parametrize(
        ("n_clusters", "error", "message"),
        [
            (0, ValueError, "n_clusters=0 must be between 1 and 30: X has n_samples=30 rows"),
            (31, ValueError, "n_clusters=31 must be between 1 and 30: X has n_samples=30 rows"),
            (2.5, TypeError, "n_clusters=2.5 must be a whole number"),
            (True, TypeError, "n_clusters=True must be a whole number"),
            (None, TypeError, "n_clusters=None must be a whole number"),
            ("many", TypeError, "n_clusters='many' must be a whole number"),
        ],
    )
    def test_numbers_of_clusters(self, model, n_clusters, error, message):
        X = np.random.default_rng(0).normal(size=(30, 4))
        with pytest.raises(error, match=message):
            fit(plain(model, n_clusters=n_clusters), X)

    @pytest.mark.parametrize("option", ["affine", "normalize", "polish", "center"])
    def test_switches(self, model, option):
        if option not in model.get_params():
            pytest.skip("no such parameter")
        with pytest.raises(ValueError, match=f"{option}='perhaps' is not known"):
            fit(plain(model, **{option: "perhaps"}), np.random.default_rng(0).normal(size=(30, 4)))

    def test_columns_of_new_rows(self, model):
        fitted = fit(model, np.random.default_rng(0).normal(size=(30, 4)))
        with pytest.raises(ValueError, match="3 features"):
            fitted.predict(np.ones((2, 3)))
        with pytest.raises(ValueError, match="NaN"):
            fitted.predict([[np.nan, 0, 0, 0]])

    def test_not_fitted(self, model):
        with pytest.raises(NotFittedError):
            clone(model).predict(np.ones((2, 3)))

    def test_a_failed_fit_leaves_parameters_as_they_were(self, model):
        broken = clone(model)
        before = str(broken.get_params())
        with pytest.raises(ValueError, match="NaN"):
            broken.fit([[np.nan, 1.0]])
        assert str(broken.get_params()) == before


def kinds_of_rows():
    rng = np.random.default_rng(0)
    line = np.outer(np.linspace(-1, 1, 12), [1.0, 2, 3])
    return {
        "zeros": np.zeros((8, 3)),
        "equal": np.ones((8, 3)),
        "two values": np.repeat([[1.0, 0, 0], [0, 1, 0]], 6, axis=0),
        "a line": line,
        "two lines": np.vstack([line, line[:, ::-1]]),
        "constant columns": np.column_stack([rng.normal(size=20), np.ones(20), np.zeros(20)]),
        "copies": np.repeat(rng.normal(size=(6, 3)), 5, axis=0),
        "two rows": rng.normal(size=(2, 3)),
        "three rows": rng.normal(size=(3, 3)),
        "more columns than rows": rng.normal(size=(6, 40)),
        "whole numbers": rng.integers(0, 5, (30, 4)),
        "far from the origin": 1e6 + rng.normal(size=(30, 3)),
        "large": 1e100 * rng.normal(size=(30, 3)),
        "small": 1e-100 * rng.normal(size=(30, 3)),
        "one far row": np.vstack([rng.normal(size=(30, 3)), [[1e8, 0, 0]]]),
        "a row of zeros": np.vstack([rng.normal(size=(30, 3)), [[0.0, 0, 0]]]),
        "half precision": rng.normal(size=(30, 3)).astype(np.float16),
        "single precision": rng.normal(size=(30, 3)).astype(np.float32),
        "columns first": np.asfortranarray(rng.normal(size=(30, 3))),
        "every other row": rng.normal(size=(60, 3))[::2],
        "frame": pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "c"]),
    }


@every
class TestRowsOfEveryKind:
    @pytest.mark.parametrize("kind", list(kinds_of_rows()))
    def test_labels_are_labels(self, model, kind):
        X = kinds_of_rows()[kind]
        fitted = fit(model, X)
        for labels in (fitted.labels_, fitted.predict(X)):
            assert labels.shape == (len(X),)
            assert labels.dtype == np.int32
            assert labels.min() >= 0
            assert labels.max() < 3

    @pytest.mark.parametrize("n", [1, 2, 40])
    def test_one_cluster(self, model, n):
        X = np.random.default_rng(0).normal(size=(n, 4))
        fitted = fit(plain(model, n_clusters=1), X)
        assert not fitted.labels_.any()
        assert not fitted.predict(X).any()

    def test_as_many_clusters_as_rows(self, model):
        X = np.random.default_rng(0).normal(size=(6, 4))
        assert fit(plain(model, n_clusters=6), X).labels_.shape == (6,)

    def test_the_rows_are_left_as_they_are(self, model):
        X, _ = make_subspaces((1, 1), 4, points_per_subspace=15, random_state=0)
        before = X.copy()
        X.flags.writeable = False
        fit(model, X).predict(X)
        np.testing.assert_array_equal(X, before)

    def test_the_same_seed_gives_the_same(self, model):
        X, _ = make_subspaces((1, 1), 4, points_per_subspace=20, random_state=0)
        first, second = fit(model, X), fit(model, X)
        np.testing.assert_array_equal(first.labels_, second.labels_)
        np.testing.assert_array_equal(first.predict(X), second.predict(X))

    def test_the_global_generator_is_left_alone(self, model):
        X, _ = make_subspaces((1, 1), 4, points_per_subspace=20, random_state=0)
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        fit(model, X)
        np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002

    def test_pickle_and_clone(self, model):
        X, _ = make_subspaces((1, 1), 4, points_per_subspace=20, random_state=0)
        fitted = fit(model, X)
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))

    def test_tensors_on_the_host_are_rows_too(self, model):
        torch = pytest.importorskip("torch")
        X, _ = make_subspaces((1, 1), 4, points_per_subspace=20, random_state=0)
        plain_labels = fit(model, X).labels_
        fitted = fit(model, torch.as_tensor(X))
        np.testing.assert_array_equal(np.asarray(fitted.labels_), plain_labels)
        np.testing.assert_array_equal(np.asarray(fitted.predict(torch.as_tensor(X))), fitted.predict(X))

    def test_two_far_segments_are_found_in_either_precision(self, model):
        if model.get_params().get("solver") == "omp":
            pytest.skip("on a line one pick says all, and the others join nothing: the graph falls apart")
        rng = np.random.default_rng(0)
        along = np.repeat(np.eye(2, 6), 40, axis=0) * rng.uniform(1, 2, (80, 1))
        X = along + 0.01 * rng.normal(size=(80, 6))
        double, single = fit(model, X).labels_, fit(model, X.astype(np.float32)).labels_
        assert clustering_accuracy(double, single) > 0.95
        assert clustering_accuracy(np.repeat([0, 1], 40), double) > 0.95
