"""Weights of rows are multiplicities, in every estimator that takes them and wherever the rows are."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.utils.validation import has_fit_parameter

import subspaces
from subspaces import (
    FLS,
    KASP,
    LBF,
    FourierSpectralClustering,
    KernelSpectralClustering,
    KFlats,
    LandmarkSpectralClustering,
    NystromSpectralClustering,
    open_rows,
)
from subspaces.datasets import make_subspaces
from subspaces.metrics import clustering_accuracy
from subspaces.rows import feed as _engine

WEIGHTED = {
    "FLS": FLS(2, random_state=0),
    "FLS, number of clusters": FLS("auto", max_clusters=3, random_state=0),
    "FLS, votes": FLS(2, n_landmarks=40, n_draws=3, detect_outliers=True, random_state=0),
    "FLS.paper": FLS.paper(2, subspace_dim=1, random_state=0),
    "KASP": KASP(2, random_state=0),
    "LBF": LBF(2, n_init=2, random_state=0),
    "LBF, number of clusters": LBF("auto", max_clusters=3, n_init=2, random_state=0),
    "KFlats": KFlats(2, n_init=2, random_state=0),
    "KFlats, random": KFlats(2, subspace_dim=1, init="random", random_state=0),
    "Landmark": LandmarkSpectralClustering(2, random_state=0),
    "Landmark, some": LandmarkSpectralClustering(2, n_landmarks=40, random_state=0),
    "Landmark, random": LandmarkSpectralClustering(2, n_landmarks=40, landmarks="random", random_state=0),
    "Landmark, dense": LandmarkSpectralClustering(2, n_landmarks=40, n_nearest=None, random_state=0),
    "Fourier": FourierSpectralClustering(2, n_features=100, random_state=0),
    "Nystrom": NystromSpectralClustering(2, n_landmarks=40, random_state=0),
    "Kernel": KernelSpectralClustering(2, random_state=0),
}
# Their solvers and graphs treat every row alike.
WITHOUT = {"SSC", "SSSC", "SLBF"}
LINES, TRUTH = make_subspaces((1, 1), 4, points_per_subspace=60, noise=0.02, outliers=0, random_state=1)
COUNTS = np.random.default_rng(0).integers(0, 4, len(LINES))

every = pytest.mark.parametrize("model", [pytest.param(model, id=name) for name, model in WEIGHTED.items()])
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def assert_same_model(one, other, X=LINES):
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.transform(X), other.transform(X))
    assert one.score(X) == other.score(X)


def test_every_estimator_takes_weights_or_is_listed():
    models = [getattr(subspaces, name) for name in subspaces.__all__]
    models = [each for each in models if isinstance(each, type) and hasattr(each, "fit")]
    without = {each.__name__ for each in models if not has_fit_parameter(each, "sample_weight")}
    assert without == WITHOUT
    assert {each.__name__ for each in models} - without == {type(model).__name__ for model in WEIGHTED.values()}


@every
class TestMultiplicities:
    def test_whole_numbers_are_repeated_rows(self, model):
        weighted = clone(model).fit(LINES, sample_weight=COUNTS)
        repeated = clone(model).fit(np.repeat(LINES, COUNTS, axis=0))
        assert_same_model(weighted, repeated)
        np.testing.assert_array_equal(np.repeat(weighted.labels_, COUNTS), repeated.labels_)
        np.testing.assert_array_equal(weighted.labels_, weighted.predict(LINES))

    def test_only_ratios_of_whole_numbers_matter(self, model):
        assert_same_model(*(clone(model).fit(LINES, sample_weight=factor * COUNTS) for factor in (1, 6)))

    def test_rows_of_weight_zero_have_no_influence(self, model):
        moved = np.where(COUNTS[:, None] == 0, 100 * LINES[::-1], LINES)
        for weights in (COUNTS, COUNTS * 0.7):
            fitted = clone(model).fit(moved, sample_weight=weights)
            assert_same_model(fitted, clone(model).fit(LINES, sample_weight=weights))
            assert fitted.labels_.shape == (len(LINES),)

    @pytest.mark.parametrize("value", [1, 7, 0.3, True])
    def test_equal_weights_are_no_weights(self, model, value):
        plain, weighted = clone(model).fit(LINES), clone(model).fit(LINES, sample_weight=np.full(len(LINES), value))
        np.testing.assert_array_equal(plain.labels_, weighted.labels_)
        assert_same_model(plain, weighted)

    def test_any_positive_numbers(self, model):
        weights = np.random.default_rng(1).uniform(0.2, 3, len(LINES))
        fitted = clone(model).fit(LINES, sample_weight=weights)
        np.testing.assert_array_equal(fitted.labels_, fitted.predict(LINES))
        assert_same_model(fitted, clone(model).fit(LINES, sample_weight=weights))
        if clustering_accuracy(TRUTH, clone(model).fit(LINES).labels_) > 0.95:
            assert clustering_accuracy(TRUTH, fitted.labels_) > 0.95

    def test_rows_and_weights_stay_as_they_are(self, model):
        X, weights = LINES.copy(), COUNTS.astype(float)
        clone(model).fit(X, sample_weight=weights)
        np.testing.assert_array_equal(X, LINES)
        np.testing.assert_array_equal(weights, COUNTS)

    @pytest.mark.parametrize(
        ("weights", "error", "message"),
        [
            (np.ones(3), ValueError, r"sample_weight has shape \(3,\): give an array of shape \(120,\)"),
            (np.ones((120, 1)), ValueError, r"shape \(120, 1\)"),
            (np.full(120, np.nan), ValueError, "NaN or infinity"),
            (np.full(120, np.inf), ValueError, "NaN or infinity"),
            (np.arange(120) - 1.0, ValueError, "-1.0: .* must not be negative"),
            (np.zeros(120), ValueError, "zero for all rows"),
            (0, ValueError, "zero for all rows"),
            (["a"] * 120, TypeError, "holds <U1 values"),
            (np.full(120, 1j), TypeError, "complex"),
            ([[1], [1, 2]], TypeError, "array of numbers"),
            (np.eye(1, 120)[0], ValueError, "n_clusters=2 must be at most 1, the number of rows with a positive"),
        ],
    )
    def test_mistakes(self, model, weights, error, message):
        with pytest.raises(error, match=message):
            clone(model).set_params(n_clusters=2).fit(LINES, sample_weight=weights)


def largest_first(model):
    return model.eigenvalues_[:4]


class TestSums:
    """Sums over all rows are exact if decisions are made on a sample."""

    LANDMARKS = make_blobs(30, centers=3, random_state=1)[0]
    ROWS = make_blobs(400, centers=3, random_state=1)[0]
    COUNTS = np.random.default_rng(0).integers(0, 5, 400)

    @pytest.mark.parametrize(
        "model",
        [
            LandmarkSpectralClustering(3, landmarks=LANDMARKS, random_state=0),
            LandmarkSpectralClustering(3, landmarks=LANDMARKS, n_nearest=None, sigma=2.0, random_state=0),
            NystromSpectralClustering(3, landmarks=LANDMARKS, sigma=2.0, random_state=0),
        ],
        ids=["sparse", "dense", "signed"],
    )
    @pytest.mark.parametrize("block_rows", [None, 64])
    def test_sums_are_those_of_repeated_rows(self, model, block_rows, monkeypatch):
        expected = clone(model).fit(np.repeat(self.ROWS, self.COUNTS, axis=0))
        monkeypatch.setattr(_engine, "FIT_ROWS", 300)
        sampled = clone(model).fit(open_rows(self.ROWS, block_rows=block_rows), sample_weight=self.COUNTS)
        np.testing.assert_allclose(largest_first(sampled), largest_first(expected), rtol=1e-6)
        assert clustering_accuracy(expected.predict(self.ROWS), sampled.labels_) > 0.99

    def test_fractions_scale(self):
        model = LandmarkSpectralClustering(3, landmarks=self.LANDMARKS, random_state=0)
        whole = clone(model).fit(self.ROWS, sample_weight=self.COUNTS)
        fractions = clone(model).fit(self.ROWS, sample_weight=self.COUNTS * 0.37)
        np.testing.assert_allclose(largest_first(fractions), largest_first(whole), rtol=1e-6)

    def test_rows_of_another_array_library(self):
        xp = pytest.importorskip("array_api_strict")
        model = LandmarkSpectralClustering(3, landmarks=self.LANDMARKS, random_state=0)
        whole = clone(model).fit(self.ROWS, sample_weight=self.COUNTS)
        fractions = clone(model).fit(xp.asarray(self.ROWS), sample_weight=xp.asarray(self.COUNTS * 0.37))
        np.testing.assert_allclose(largest_first(fractions), largest_first(whole), rtol=1e-6)

    def test_moments_are_weighted(self):
        """The mean that is subtracted is that of all rows, not of the sample."""
        weights = np.random.default_rng(0).uniform(0.1, 2, 400)
        model = LandmarkSpectralClustering(3, n_landmarks=40, random_state=0).fit(self.ROWS, sample_weight=weights)
        expected = np.average(self.ROWS, axis=0, weights=weights)
        np.testing.assert_allclose(model._model.preparation.mean, expected, rtol=1e-12)


class TestWhereRowsAre:
    MODEL = LandmarkSpectralClustering(2, n_landmarks=40, random_state=0)

    @pytest.mark.parametrize("weights", [COUNTS, COUNTS * 0.37], ids=["whole", "fractions"])
    def test_files_functions_and_frames(self, tmp_path, weights):
        expected = clone(self.MODEL).fit(LINES, sample_weight=weights)
        np.save(tmp_path / "rows.npy", LINES)
        frame = pd.DataFrame(LINES)
        for rows in (tmp_path / "rows.npy", lambda: iter([LINES[:50], LINES[50:]]), open_rows(LINES, block_rows=7)):
            fitted = clone(self.MODEL).fit(rows, sample_weight=weights)
            np.testing.assert_array_equal(fitted.labels_, expected.labels_)
        fitted = clone(self.MODEL).fit(frame, sample_weight=pd.Series(weights, index=np.arange(len(LINES)) + 5))
        np.testing.assert_array_equal(fitted.labels_, expected.labels_)

    def test_the_number_of_rows_of_a_function_is_compared(self):
        with pytest.raises(ValueError, match=r"shape \(100,\): give an array of shape \(120,\)"):
            clone(self.MODEL).fit(lambda: iter([LINES]), sample_weight=np.arange(100))

    def test_dask_is_refused(self):
        da = pytest.importorskip("dask.array")
        with pytest.raises(ValueError, match="not supported for Dask"):
            clone(self.MODEL).fit(da.from_array(LINES), sample_weight=COUNTS)

    def test_checkpoints_are_refused(self, tmp_path):
        with pytest.raises(ValueError, match="cannot be used with a checkpoint"):
            clone(self.MODEL).fit(open_rows(LINES, checkpoint=tmp_path / "run"), sample_weight=COUNTS)

    def test_labels_are_written(self, tmp_path):
        fitted = clone(self.MODEL).fit(open_rows(LINES, labels=tmp_path / "labels.npy"), sample_weight=COUNTS)
        np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), fitted.labels_)


def test_numbers_per_row_are_those_of_the_rows():
    fitted = FLS(2, random_state=0).fit(LINES, sample_weight=COUNTS)
    repeated = FLS(2, random_state=0).fit(np.repeat(LINES, COUNTS, axis=0))
    for name in ("outlier_scores_", "confidence_"):
        values = getattr(fitted, name)
        np.testing.assert_array_equal(np.isnan(values), COUNTS == 0)
        np.testing.assert_array_equal(np.repeat(values, COUNTS), getattr(repeated, name))


def test_labels_to_start_from_are_those_of_the_rows():
    model = KFlats(2, subspace_dim=1, init=TRUTH, random_state=0)
    repeated = clone(model).set_params(init=np.repeat(TRUTH, COUNTS)).fit(np.repeat(LINES, COUNTS, axis=0))
    assert_same_model(clone(model).fit(LINES, sample_weight=COUNTS), repeated)


@pytest.mark.parametrize("landmarks", ["kmeans", "random"])
@pytest.mark.parametrize("n_landmarks", [2000, 100])
def test_copies_do_not_cut_clusters_into_pieces(landmarks, n_landmarks):
    X, y = make_moons(300, noise=0.07, random_state=0)
    counts = np.random.default_rng(0).integers(1, 30, len(X))
    model = LandmarkSpectralClustering(2, n_landmarks=n_landmarks, landmarks=landmarks, random_state=0)
    assert clustering_accuracy(y, model.fit(X, sample_weight=counts).labels_) > 0.95
    assert len(model.landmarks_) <= len(X)


def test_heavy_rows_decide():
    """Of three blobs and two clusters, the two blobs with the weight are separated."""
    X, y = make_blobs([60, 60, 60], centers=[[0, 0], [3, 3], [10, 0]], cluster_std=0.4, random_state=0)
    heavy = KASP(2, n_centroids=60, random_state=0).fit(X, sample_weight=np.where(y == 2, 0, 1))
    assert len(np.unique(heavy.labels_[y == 0])) == len(np.unique(heavy.labels_[y == 1])) == 1
    assert heavy.labels_[y == 0][0] != heavy.labels_[y == 1][0]
