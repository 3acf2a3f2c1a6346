"""Rows of many columns: no matrix of p x p, fits within the memory limit, and a refusal before anything is read."""

import tracemalloc
import warnings

import numpy as np
import pytest

import subspaces
from subspaces import FLS, KASP, SSC, SSSC, FourierSpectralClustering, KFlats, open_rows
from subspaces._core import pca
from subspaces.kernels import FourierFeatures
from subspaces.metrics import adjusted_rand
from subspaces.rows import plan
from subspaces.rows.moments import block_sums, moments_of_sums
from subspaces.rows.preparation import prepare_rows
from subspaces.self_expression import ADMM


def planes(n_rows, n_columns, seed=0):
    """Rows on two planes, one after another, with a little noise."""
    rng = np.random.default_rng(seed)
    halves = [rng.normal(size=(n_rows // 2, 2)) @ rng.normal(size=(2, n_columns)) for _ in range(2)]
    return np.vstack(halves) + 0.001 * rng.normal(size=(2 * (n_rows // 2), n_columns))


def peak_of(function):
    """Bytes that a call holds at most at a time."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class TestDirections:
    @pytest.mark.parametrize("width", [1, 10**9])
    def test_are_the_same_in_blocks_of_columns(self, width, monkeypatch):
        monkeypatch.setattr(pca, "WIDE_BYTES", width)
        x = np.random.default_rng(0).normal(size=(7, 90))
        mean = x.mean(axis=0)
        right = np.linalg.svd(x - mean, full_matrices=False)[2][:5]
        found = pca.principal_directions(x, mean, 5)
        np.testing.assert_allclose(np.abs(right @ found), np.eye(5), atol=1e-8)

    def test_rows_are_prepared_in_blocks(self, monkeypatch):
        x = planes(40, 200)
        preparation = prepare_rows(x, center=True, unit=True, max_columns=6)
        whole = preparation(x)
        monkeypatch.setattr("subspaces.rows.preparation.WIDE_BYTES", 1)
        np.testing.assert_allclose(preparation(x), whole, atol=1e-12)


class TestMoments:
    def test_without_products(self):
        x = planes(60, 9) + 3
        origin = x[0]
        parts = [block_sums(block, origin, products=False) for block in (x[:10], x[10:])]
        found = moments_of_sums(*(sum(each) for each in zip(*parts, strict=True)), origin)
        assert found.scatter is None
        np.testing.assert_allclose(found.spread, len(x) * x.var(axis=0))
        np.testing.assert_allclose(found.mean, x.mean(axis=0))

    def test_directions_are_those_of_the_sample(self):
        x = planes(400, 120)
        wide = moments_of_sums(*block_sums(x, x[0], products=False), x[0])
        sample = x[::8]
        found = prepare_rows(sample, center=False, unit=False, max_columns=4, moments=wide)
        alone = prepare_rows(sample, center=False, unit=False, max_columns=4)
        np.testing.assert_allclose(found.directions, alone.directions)


ESTIMATORS = {
    "FLS": FLS(2, random_state=0),
    "FLS.paper": FLS.paper(2, subspace_dim=2, random_state=0),
    "FLS(max_columns=None)": FLS(2, max_columns=None, random_state=0),
    "SSC": SSC(2, random_state=0),
    "SSC affine": SSC(2, affine=True, random_state=0),
    "SSC, dimension": SSC(2, subspace_dim=15, random_state=0),
    "SSSC": SSSC(2, random_state=0),
    "KFlats": KFlats(2, random_state=0),
    "LBF": subspaces.LBF(2, random_state=0),
    "SLBF": subspaces.SLBF(2, random_state=0),
    "KASP": KASP(2, random_state=0),
    "LandmarkSpectralClustering": subspaces.LandmarkSpectralClustering(2, random_state=0),
    "NystromSpectralClustering": subspaces.NystromSpectralClustering(2, random_state=0),
}


class TestFewRowsOfManyColumns:
    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_nothing_of_p_by_p(self, name):
        X = planes(12, 1500)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peak = peak_of(lambda: ESTIMATORS[name].fit(X))
        assert peak < 0.5 * 8 * 1500**2
        assert ESTIMATORS[name].predict(X).shape == (12,)

    @pytest.mark.parametrize("name", ["SSC", "SSC affine", "SSSC"])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_codes_are_those_of_all_columns(self, name, dtype, monkeypatch):
        X = planes(30, 100).astype(dtype)
        reduced = ESTIMATORS[name].fit(X).codes_.toarray()
        monkeypatch.setattr("subspaces.estimators._self_expressive.SelfExpressiveClusterer._span", lambda self, x: None)
        whole = ESTIMATORS[name].fit(X).codes_.toarray()
        np.testing.assert_allclose(reduced, whole, atol=1e-3 if dtype == np.float32 else 1e-8)

    def test_gross_errors_are_those_of_single_columns(self):
        X = planes(30, 100)
        model = SSC(2, solver=ADMM(outliers=True), random_state=0).fit(X)
        assert model._model.preparation.directions is None
        assert SSC(2, random_state=0).fit(X)._model.preparation.directions.shape == (100, 30)

    def test_new_rows_of_the_same_planes(self):
        X = planes(80, 300)
        model = FLS(2, max_columns=None, random_state=0).fit(X[::2])
        assert model.n_columns_ == 40
        assert adjusted_rand(model.predict(X[1::2]), model.labels_) == 1


class Unread:
    """A function that may not be called twice: the first call shows the columns."""

    def __init__(self, n_columns):
        self.n_columns, self.calls = n_columns, 0

    def __call__(self):
        self.calls += 1
        assert self.calls <= 2
        yield np.zeros((1, self.n_columns))


class TestMemoryLimit:
    @pytest.mark.parametrize(
        "model",
        [
            KASP(2, n_centroids=50, random_state=0),
            pytest.param(FLS(2, subspace_dim=2, random_state=0), marks=pytest.mark.slow),
        ],
    )
    def test_wide_rows_of_a_file_take_no_more(self, model, tmp_path):
        X = planes(1100, 3000).astype(np.float32)
        np.save(tmp_path / "rows.npy", X)
        rows = open_rows(tmp_path / "rows.npy", memory_limit="32MB")
        # Products of columns would take 216 MB.
        assert peak_of(lambda: model.fit(rows)) < 150e6
        assert len(model.labels_) == 1100

    @pytest.mark.parametrize(
        "model", [KASP(2, n_centroids=50, random_state=0), FLS(2, subspace_dim=2, max_columns=None, random_state=0)]
    )
    def test_copies_of_rows_of_all_columns_take_no_more(self, model, tmp_path):
        np.save(tmp_path / "rows.npy", planes(800, 6000).astype(np.float32))
        rows = open_rows(tmp_path / "rows.npy", memory_limit="40MB")
        assert peak_of(lambda: model.fit(rows)) < 80e6
        assert len(model.labels_) == 800

    def test_rows_that_do_not_fit_are_refused_before_they_are_read(self, tmp_path):
        X = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", np.float32, (200, 100_000))
        with pytest.raises(ValueError, match=r'100,000 columns .* memory_limit="0\.\dGB"'):
            FLS(2).fit(open_rows(X, memory_limit="32MB"))
        blocks = Unread(100_000)
        with pytest.raises(ValueError, match="does not fit into memory_limit"):
            FLS(2).fit(open_rows(blocks, memory_limit="32MB"))

    def test_features_that_do_not_fit_are_refused_before_rows_are_read(self):
        """Each feature of a shift-invariant kernel has a frequency for each column."""
        blocks = Unread(20_000)
        with pytest.raises(ValueError, match=r'features of the model take 160 MB.*memory_limit="0\.4GB"'):
            FourierSpectralClustering(2, n_features=1000).fit(open_rows(blocks, memory_limit="300MB"))
        # Rows in memory have no limit.
        assert len(FourierSpectralClustering(2, n_features=50).fit(planes(20, 4000)).labels_) == 20

    @pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "matern"])
    def test_frequencies_take_their_own_memory_only(self, kernel):
        x = np.ones((4, 4000), np.float32)
        features = FourierFeatures(1000, kernel=kernel, sigma=2.0, random_state=0)
        assert peak_of(lambda: features.fit(x)) < 1.5 * 4000 * 1000 * 4
        rng = np.random.RandomState(0)
        draws = rng.standard_cauchy((4000, 1000)) if kernel == "laplacian" else rng.standard_normal((4000, 1000))
        if kernel == "matern":
            draws /= np.sqrt(rng.chisquare(3.0, 1000) / 3.0)
        np.testing.assert_allclose(features.frequencies_, draws / 2, rtol=1e-6)

    def test_columns_whose_names_do_not_fit(self, tmp_path):
        np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", np.uint8, (1, 10**6))
        with pytest.raises(ValueError, match=r"has 1,000,000 columns, too many for memory_limit=0\.064GB"):
            open_rows(tmp_path / "rows.npy", memory_limit="64MB")

    def test_four_large_images(self):
        with pytest.raises(ValueError, match="decisions need at least 4 rows"):
            FLS.plan(4, 9400**2)

    def test_the_limit_of_the_message_is_enough(self):
        with pytest.raises(ValueError, match="memory_limit=") as caught:
            FLS.plan(3000, 200_000, memory_limit="100MB")
        enough = str(caught.value).split('memory_limit="')[1].split('"')[0]
        assert FLS.plan(3000, 200_000, memory_limit=enough).sample_rows >= 100

    def test_the_plan_is_honest_about_wide_rows(self, monkeypatch):
        monkeypatch.setattr(plan, "TRIAL_SECONDS", 0.001)
        monkeypatch.setattr(plan, "TRIAL_ROWS", 64)
        found = FLS.plan(3000, 100_000, memory_limit="1GB")
        assert found.memory["sample"] >= found.sample_rows * 100_000 * 4
        assert found.memory["principal directions"] >= 100_000 * 80 * 8
        assert found.peak_bytes < 1.3e9
        narrow = FLS.plan(10**6, 1000, memory_limit="1GB")
        assert narrow.memory["products of columns"] == 24 * 1000**2
