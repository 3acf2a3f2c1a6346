"""Every estimator: the same errors for the same mistakes, labels for rows of any kind, results that can be repeated."""

import inspect
import logging
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.random import sample_without_replacement

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
    open_rows,
)
from subspaces._core.numbering import numbered
from subspaces.datasets import make_subspaces
from subspaces.metrics import clustering_accuracy
from subspaces.rows import feed

ESTIMATORS = {
    "FLS": FLS(2, random_state=0),
    "FLS.paper": FLS.paper(2, subspace_dim=1, random_state=0),
    "KASP": KASP(2, random_state=0),
    "LBF": LBF(2, subspace_dim=1, n_init=2, random_state=0),
    "SLBF": SLBF(2, subspace_dim=1, random_state=0),
    "KFlats": KFlats(2, subspace_dim=1, n_init=2, random_state=0),
    "SSC": SSC(2, random_state=0),
    "SSSC": SSSC(2, random_state=0),
    "Landmark": LandmarkSpectralClustering(2, random_state=0),
    "Fourier": FourierSpectralClustering(2, n_features=100, random_state=0),
    "Nystrom": NystromSpectralClustering(2, random_state=0),
    "Kernel": KernelSpectralClustering(2, random_state=0),
}
# Options with code of their own.
VARIANTS = {
    "LBF, without K-flats": LBF(2, subspace_dim=1, polish=False, random_state=0),
    "LBF, number of clusters": LBF("auto", max_clusters=3, n_init=2, random_state=0),
    "KFlats, number of clusters": KFlats("auto", max_clusters=3, n_init=2, random_state=0),
    "KFlats, linear and squared": KFlats(2, affine=False, loss="squared", init="random", random_state=0),
    "SLBF, dimension": SLBF(2, random_state=0),
    "SLBF, published scale": SLBF(2, subspace_dim=1, scale="published", random_state=0),
    "SSC, affine": SSC(2, affine=True, random_state=0),
    "SSC, omp": SSC(2, solver="omp", random_state=0),
    "SSC, elastic net": SSC(2, solver="elastic_net", random_state=0),
    "SSC, outliers": SSC(2, solver=subspaces.self_expression.ADMM(outliers=True), random_state=0),
    "SSSC, affine": SSSC(2, n_in_sample=40, affine=True, random_state=0),
    "Landmark, all": LandmarkSpectralClustering(2, n_nearest=None, random_state=0),
    "KASP, narrow": KASP(2, sigma=1e-3, random_state=0),
    "KASP, wide": KASP(2, sigma=1e6, random_state=0),
}
# Estimators of flats need two columns.
NEED_TWO_COLUMNS = (FLS, LBF, SLBF, KFlats, SSC, SSSC)
RANDOM_ROWS = np.random.default_rng(0).normal(size=(30, 4))
LINES = make_subspaces((1, 1), 4, points_per_subspace=40, random_state=1)[0]


def of(models):
    return pytest.mark.parametrize("model", [pytest.param(model, id=name) for name, model in models.items()])


every, every_variant = of(ESTIMATORS), of(ESTIMATORS | VARIANTS)
# Rows with too few clusters, or codes that did not converge: the fit succeeds and warns.
may_warn = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def fitted_to_lines():
    """Each estimator, fitted once to two lines."""
    return {name: clone(model).fit(LINES) for name, model in ESTIMATORS.items()}


def name_of(model):
    return next(name for name, known in ESTIMATORS.items() if known is model)


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
            (np.array([[1j, 1], [0, 1], [1, 1]]), "Complex"),
            (np.full((4, 3), 1e300), "overflow"),
            (np.full((4, 3), 1e25, np.float32), "float64"),
            (np.full((4, 3), 1e-300), "underflow"),
        ],
        ids=[
            "nan", "inf", "no rows", "no columns", "vector", "cube", "strings", "complex", "huge", "huge float32",
            "tiny",
        ],
    )  # fmt: skip
    def test_rows(self, model, X, message):
        with pytest.raises(ValueError, match=message):
            clone(model).fit(X)

    def test_one_column(self, model):
        X = np.arange(12.0)[:, None]
        if isinstance(model, NEED_TWO_COLUMNS):
            with pytest.raises(ValueError, match="minimum of 2"):
                clone(model).fit(X)
        else:
            assert set(clone(model).fit(X).labels_) <= {0, 1}

    @pytest.mark.parametrize(
        ("n_clusters", "error", "message"),
        [
            (0, ValueError, "n_clusters=0 must be between 1 and 30: X has n_samples=30 rows"),
            (31, ValueError, "n_clusters=31 must be between 1 and 30: X has n_samples=30 rows"),
            (2.5, TypeError, "n_clusters=2.5 must be a whole number"),
            (True, TypeError, "n_clusters=True must be a whole number"),
            (None, TypeError, "n_clusters=None must be a whole number"),
            ("many", TypeError, "n_clusters='many' must be a whole number; FLS, LBF and KFlats also take"),
        ],
    )
    def test_number_of_clusters(self, model, n_clusters, error, message):
        with pytest.raises(error, match=message):
            clone(model).set_params(n_clusters=n_clusters).fit(RANDOM_ROWS)

    @pytest.mark.parametrize(
        ("n_jobs", "error", "message"),
        [
            (0, ValueError, "n_jobs=0 leaves no thread"),
            (1.5, TypeError, "n_jobs=1.5 must be a whole number"),
            (True, TypeError, "n_jobs=True must be a whole number"),
            ("all", TypeError, "n_jobs='all' must be a whole number"),
        ],
    )
    def test_number_of_threads(self, model, n_jobs, error, message):
        with pytest.raises(error, match=message):
            clone(model).set_params(n_jobs=n_jobs).fit(RANDOM_ROWS)

    @pytest.mark.parametrize("option", ["affine", "normalize", "polish", "center"])
    def test_switches(self, model, option):
        if option not in model.get_params():
            pytest.skip("no such parameter")
        with pytest.raises(ValueError, match=f"{option}='perhaps' is not known"):
            clone(model).set_params(**{option: "perhaps"}).fit(RANDOM_ROWS)

    def test_new_rows(self, model, fitted_to_lines):
        fitted = fitted_to_lines[name_of(model)]
        for method in ("predict", "transform", "score", "outlier_scores"):
            if hasattr(fitted, method):
                with pytest.raises(ValueError, match="3 features"):
                    getattr(fitted, method)(np.ones((2, 3)))
                with pytest.raises(ValueError, match="NaN"):
                    getattr(fitted, method)([[np.nan, 0, 0, 0]])

    def test_not_fitted(self, model):
        for method in ("predict", "transform", "score", "outlier_scores"):
            if hasattr(model, method):
                with pytest.raises(NotFittedError):
                    getattr(clone(model), method)(LINES)


def degenerate_rows():
    """Rows that most often find an error: hardly any distinct rows, columns or directions."""
    rng = np.random.default_rng(0)
    line = np.outer(np.linspace(-1, 1, 12), [1.0, 2, 3])
    return {
        "zeros": np.zeros((8, 3)),
        "two values": np.repeat([[1.0, 0, 0], [0, 1, 0]], 6, axis=0),
        "a line": line,
        "constant columns": np.column_stack([rng.normal(size=20), np.ones(20), np.zeros(20)]),
        "two rows": rng.normal(size=(2, 3)),
        "more columns than rows": rng.normal(size=(6, 40)),
        "one far row": np.vstack([rng.normal(size=(30, 3)), [[1e8, 0, 0]]]),
        "tiny": 1e-140 * rng.normal(size=(30, 4)),
    }


def odd_rows():
    """Rows of other unusual kinds."""
    rng = np.random.default_rng(0)
    line = np.outer(np.linspace(-1, 1, 12), [1.0, 2, 3])
    return {
        "equal": np.ones((8, 3)),
        "two lines": np.vstack([line, line[:, ::-1]]),
        "copies": np.repeat(rng.normal(size=(6, 3)), 5, axis=0),
        "three rows": rng.normal(size=(3, 3)),
        "integers": rng.integers(0, 5, (30, 4)),
        "booleans": rng.random((30, 5)) > 0.5,
        "far from the origin": 1e8 + rng.normal(size=(30, 3)),
        "large": 1e100 * rng.normal(size=(30, 3)),
        "rows of zeros": np.vstack([rng.normal(size=(30, 3)), np.zeros((3, 3))]),
        "half precision": rng.normal(size=(30, 3)).astype(np.float16),
        "columns first": np.asfortranarray(rng.normal(size=(30, 3))),
        "every other row": rng.normal(size=(60, 3))[::2],
        "list": rng.normal(size=(12, 3)).tolist(),
        "frame": pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "c"]),
    }


def check_results(model, X):
    """Labels, coordinates and scores of any rows are finite, and of the right shape."""
    fitted = clone(model).fit(X)
    for labels in (fitted.labels_, fitted.predict(X)):
        assert labels.shape == (len(X),)
        assert labels.dtype == np.int32
        assert set(labels) <= set(range(getattr(fitted, "n_clusters_", 2)))
    for name, value in vars(fitted).items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert np.isfinite(value).all(), name
    if hasattr(fitted, "transform"):
        assert np.isfinite(fitted.transform(X)).all()
    if hasattr(fitted, "score"):
        assert np.isfinite(fitted.score(X))


@every
@pytest.mark.parametrize("method", ["fit", "fit_predict"])
def test_warnings_name_the_line_that_calls_fit(model, method):
    """One column dominates; FLS standardises it instead of a warning."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        getattr(clone(model), method)(LINES * (1000, 1, 1, 1))
    assert {each.filename for each in warned} == (set() if isinstance(model, FLS) else {__file__})


@may_warn
@pytest.mark.filterwarnings("ignore::subspaces.rows.ScaleWarning")
class TestUnusualRows:
    @every_variant
    @pytest.mark.parametrize("kind", degenerate_rows())
    def test_degenerate_rows(self, model, kind):
        check_results(model, degenerate_rows()[kind])

    @every
    @pytest.mark.parametrize("kind", odd_rows())
    def test_odd_rows(self, model, kind):
        check_results(model, odd_rows()[kind])

    @every_variant
    @pytest.mark.parametrize("n", [1, 40])
    def test_one_cluster(self, model, n):
        X = np.random.default_rng(0).normal(size=(n, 4))
        fitted = clone(model).set_params(n_clusters=1).fit(X)
        assert not fitted.labels_.any()
        assert not fitted.predict(X).any()

    @every
    def test_as_many_clusters_as_rows(self, model):
        X = np.random.default_rng(0).normal(size=(6, 4))
        assert clone(model).set_params(n_clusters=6).fit(X).labels_.shape == (6,)

    @every
    def test_too_few_distinct_rows_warn(self, model):
        with pytest.warns(match="of n_clusters=3 clusters"):
            clone(model).set_params(n_clusters=3).fit(np.ones((20, 4)))


# Labels of the rows of the fit come from the graph, those of new rows from the clusters.
LABELLED_BY_A_GRAPH = (SLBF, SSC, SSSC)
SEGMENTS = np.repeat(np.eye(3, 6), 60, axis=0) * np.random.default_rng(0).uniform(1, 2, (180, 1))
SEGMENTS = np.random.default_rng(1).permutation(SEGMENTS + 0.01 * np.random.default_rng(2).normal(size=(180, 6)))


@every
class TestNumbersOfClusters:
    """Clusters are numbered in the order of their first rows, wherever the rows are."""

    def expected(self):
        """The numbers of three clear clusters."""
        return numbered(np.abs(SEGMENTS).argmax(axis=1).astype(np.int32))

    def fit(self, model, X=SEGMENTS, seed=0):
        return clone(model).set_params(n_clusters=3, random_state=seed).fit(X)

    @pytest.mark.parametrize("seed", range(3))
    def test_first_rows_decide(self, model, seed):
        fitted = self.fit(model, seed=seed)
        np.testing.assert_array_equal(fitted.labels_, numbered(fitted.labels_))
        if not isinstance(model, FourierSpectralClustering):
            # These find all three clusters, whatever the seed.
            assert np.mean(fitted.labels_ == self.expected()) > 0.95
        if not isinstance(model, LABELLED_BY_A_GRAPH):
            np.testing.assert_array_equal(fitted.predict(SEGMENTS), fitted.labels_)

    def test_neither_threads_nor_blocks_decide(self, model, use_threads, tiny_blocks):
        alone = self.fit(model).labels_
        use_threads(2)
        np.testing.assert_array_equal(self.fit(model).labels_, alone)
        tiny_blocks()
        np.testing.assert_array_equal(self.fit(model).labels_, alone)

    def test_places_of_rows_do_not_decide(self, model, tmp_path):
        in_memory = self.fit(model).labels_
        np.save(tmp_path / "rows.npy", SEGMENTS)
        da, strict = pytest.importorskip("dask.array"), pytest.importorskip("array_api_strict")
        places = [
            open_rows(tmp_path / "rows.npy", block_rows=7),
            open_rows(lambda: iter(np.array_split(SEGMENTS, 4))),
            da.from_array(SEGMENTS, chunks=(13, -1)),
        ]
        if not isinstance(model, SSC | SSSC):
            # Codes of self-expression are computed by NumPy or torch.
            places.append(strict.asarray(SEGMENTS))
        for rows in places:
            labels = self.fit(model, rows).labels_
            np.testing.assert_array_equal(np.asarray(labels), in_memory)

    def test_a_sample_decides_if_not_all_rows_are_in_memory(self, model, tmp_path, monkeypatch):
        monkeypatch.setattr(feed, "FIT_ROWS", 120)
        np.save(tmp_path / "rows.npy", SEGMENTS)
        labels = self.fit(model, tmp_path / "rows.npy").labels_
        sample = np.sort(sample_without_replacement(180, 120, random_state=np.random.RandomState(0)))
        assert np.mean(labels[sample] == numbered(np.asarray(labels[sample]))) == 1
        da = pytest.importorskip("dask.array")
        np.testing.assert_array_equal(self.fit(model, da.from_array(SEGMENTS, chunks=(13, -1))).labels_, labels)


@every
class TestResults:
    def test_rows_and_parameters_are_left_as_they_are(self, model):
        X = LINES.copy()
        X.flags.writeable = False
        copy = clone(model)
        before = repr(copy.get_params())
        copy.fit(X).predict(X)
        np.testing.assert_array_equal(X, LINES)
        assert repr(copy.get_params()) == before

    def test_the_same_seed_gives_the_same(self, model, fitted_to_lines):
        first, second = fitted_to_lines[name_of(model)], clone(model).fit(LINES)
        np.testing.assert_array_equal(first.labels_, second.labels_)
        np.testing.assert_array_equal(first.predict(LINES), second.predict(LINES))
        if hasattr(first, "transform"):
            np.testing.assert_array_equal(first.transform(LINES), second.transform(LINES))

    def test_the_size_of_blocks_does_not_matter(self, model, fitted_to_lines, tiny_blocks):
        large = fitted_to_lines[name_of(model)]
        expected = large.predict(LINES)
        tiny_blocks()
        small = clone(model).fit(LINES)
        np.testing.assert_array_equal(large.labels_, small.labels_)
        np.testing.assert_array_equal(small.predict(LINES), expected)
        if hasattr(large, "score"):
            assert large.score(LINES) == pytest.approx(small.score(LINES))

    def test_the_global_generator_is_not_used(self, model):
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        clone(model).fit(LINES)
        np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002

    def test_pickle(self, model, fitted_to_lines):
        fitted = fitted_to_lines[name_of(model)]
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict(LINES), fitted.predict(LINES))

    def test_tensors_on_the_host_are_rows_too(self, model, fitted_to_lines):
        torch = pytest.importorskip("torch")
        rows = torch.as_tensor(LINES)
        fitted = clone(model).fit(rows)
        np.testing.assert_array_equal(np.asarray(fitted.labels_), fitted_to_lines[name_of(model)].labels_)
        np.testing.assert_array_equal(np.asarray(fitted.predict(rows)), fitted.predict(LINES))

    def test_two_far_segments_are_found_in_either_precision(self, model):
        rng = np.random.default_rng(0)
        along = np.repeat(np.eye(2, 6), 40, axis=0) * rng.uniform(1, 2, (80, 1))
        X = along + 0.01 * rng.normal(size=(80, 6))
        double, single = clone(model).fit(X).labels_, clone(model).fit(X.astype(np.float32)).labels_
        assert clustering_accuracy(double, single) > 0.95
        assert clustering_accuracy(np.repeat([0, 1], 40), double) > 0.95

    def test_float32_stays_float32(self, model):
        fitted = clone(model).fit(LINES.astype(np.float32))
        if hasattr(fitted, "transform"):
            assert fitted.transform(LINES.astype(np.float32)).dtype == np.float32
        for name in ("flats_", "cluster_bases_"):
            if hasattr(fitted, name):
                assert getattr(fitted, name).bases.dtype == getattr(fitted, name).centers.dtype == np.float32
        for name in ("landmarks_", "centroids_", "outlier_scores_", "codes_"):
            if hasattr(fitted, name):
                assert getattr(fitted, name).dtype == np.float32, name

    @pytest.mark.parametrize("n_jobs", [1, 2, -1])
    def test_the_number_of_threads_does_not_matter(self, model, n_jobs, fitted_to_lines):
        fitted = clone(model).set_params(n_jobs=n_jobs).fit(LINES)
        np.testing.assert_array_equal(fitted.labels_, fitted_to_lines[name_of(model)].labels_)

    def test_verbose_writes_to_stderr_only(self, model, capsys, monkeypatch):
        monkeypatch.setattr(logging.root, "handlers", [])
        clone(model).set_params(verbose=1).fit(LINES)
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "[subspaces]" in captured.err
        clone(model).fit(LINES)
        assert capsys.readouterr().err == ""
