"""Preparation of rows: the same on arrays and in blocks, in fit and on new rows, before and after saving."""

import pickle

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import subspaces
from subspaces._core.pca import principal_directions, principal_scores
from subspaces.inputs import Preparation
from subspaces.rows import open_rows

KINDS = {
    "nothing": Preparation(),
    "standardised": Preparation(standardise=True),
    "projected": Preparation(pca=4),
    "both": Preparation(standardise=True, pca=4),
    "without light": Preparation(pca=5, whiten_drop=2),
    "all but two": Preparation(whiten_drop=2),
}
every = pytest.mark.parametrize("model", [pytest.param(model, id=name) for name, model in KINDS.items()])


def rows(n=200, p=8, dtype=np.float64):
    rng = np.random.default_rng(0)
    return (rng.normal(size=(n, p)) @ np.diag(np.arange(1.0, p + 1)) + 10 * np.arange(p)).astype(dtype)


@parametrize_with_checks(
    [Preparation(), Preparation(standardise=True), Preparation(standardise=True, pca=1), Preparation(whiten_drop=1)]
)
def test_estimator_checks(estimator, check):
    check(estimator)


class TestTransform:
    def test_standardised(self):
        x = rows()
        np.testing.assert_allclose(
            Preparation(standardise=True).fit_transform(x), StandardScaler().fit_transform(x), atol=1e-12
        )

    @pytest.mark.parametrize("shape", [(200, 8), (6, 40)])
    @pytest.mark.parametrize("standardise", [False, True])
    def test_principal_components(self, shape, standardise):
        x = rows(*shape)
        found = Preparation(standardise=standardise, pca=4).fit(x)
        plain = StandardScaler().fit_transform(x) if standardise else x
        expected = PCA(4, svd_solver="full").fit(plain)
        np.testing.assert_allclose(np.abs(found.components_ @ expected.components_.T), np.eye(4), atol=1e-9)
        np.testing.assert_allclose(found.explained_variance_ratio_, expected.explained_variance_ratio_, atol=1e-12)
        assert (found.components_[np.arange(4), np.abs(found.components_).argmax(axis=1)] > 0).all()

    def test_leading_components_left_out(self):
        x = rows()
        expected = principal_scores(x, 5, drop=2)
        found = Preparation(pca=5, whiten_drop=2).fit(x)
        np.testing.assert_allclose(found.transform(x), expected, rtol=1e-4, atol=1e-4)
        assert list(found.get_feature_names_out()) == ["component 3", "component 4", "component 5"]
        assert Preparation(whiten_drop=2).fit_transform(x).shape == (200, 6)

    def test_constant_columns_become_zero(self):
        x = rows(dtype=np.float32)
        x[:, 2] = 7
        # Different by rounding only.
        x[:, 3] = np.float32(0.1) + np.float32(1e-9) * np.arange(200, dtype=np.float32)
        found = Preparation(standardise=True).fit_transform(x)
        assert found.dtype == np.float32
        assert not found[:, 2:4].any()
        np.testing.assert_allclose(found[:, [0, 1, 4, 5, 6, 7]].std(axis=0), 1, rtol=1e-5)

    def test_columns_far_from_zero(self):
        x = rows(2000) + 1e7
        scaled = Preparation(standardise=True).fit_transform(open_rows(x, block_rows=100))
        found = np.concatenate(list(scaled.blocks()))
        np.testing.assert_allclose(found.std(axis=0), 1, rtol=1e-9)
        np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-7)

    @every
    def test_inverse(self, model):
        x = rows()
        found = model.fit(x)
        prepared = found.transform(x)
        np.testing.assert_allclose(found.transform(found.inverse_transform(prepared)), prepared, atol=1e-9)
        if found.components_ is None:
            np.testing.assert_allclose(found.inverse_transform(prepared), x, atol=1e-9)


@every
class TestRowsInBlocks:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_the_same_as_arrays(self, model, dtype, tmp_path):
        x = rows(dtype=dtype)
        np.save(tmp_path / "rows.npy", x)
        expected = model.fit_transform(x)
        assert expected.dtype == dtype
        tolerance = 1e-4 if dtype == np.float32 else 1e-9
        for source in (open_rows(tmp_path / "rows.npy", block_rows=33), open_rows(lambda: iter([x[:90], x[90:]]))):
            prepared = model.fit(source).transform(source)
            assert prepared.dtype == dtype
            assert prepared.n_columns == expected.shape[1]
            np.testing.assert_allclose(np.concatenate(list(prepared.blocks())), expected, atol=tolerance)
            np.testing.assert_allclose(prepared.take([3, 150]), expected[[3, 150]], atol=tolerance)
            assert prepared.n_rows == 200

    def test_options_are_carried_over(self, model, tmp_path):
        np.save(tmp_path / "rows.npy", rows())
        prepared = model.fit(rows()).transform(open_rows(tmp_path / "rows.npy", block_rows=33))
        assert [len(block) for block in prepared.blocks(5)] == [33, 2]
        again = open_rows(prepared, block_rows=150, memory_limit="64MB")
        assert [len(block) for block in again.blocks()] == [150, 50]
        assert again.options.memory_limit == 64_000_000

    def test_saved_and_pickled(self, model, tmp_path):
        x = rows()
        found = model.fit(x)
        found.save(tmp_path / "preparation.subspaces")
        for again in (subspaces.load(tmp_path / "preparation.subspaces"), pickle.loads(pickle.dumps(found))):
            assert again.get_params() == found.get_params()
            np.testing.assert_array_equal(again.transform(x), found.transform(x))
        with pytest.raises(FileExistsError):
            found.save(tmp_path / "preparation.subspaces")

    def test_new_rows_of_other_columns(self, model, tmp_path):
        found = model.fit(rows())
        np.save(tmp_path / "rows.npy", rows(p=5))
        for new in (rows(p=5), tmp_path / "rows.npy"):
            with pytest.raises(ValueError, match="X has 5 features, but Preparation is expecting 8"):
                found.transform(new)


def test_a_model_fitted_to_prepared_blocks_is_that_of_prepared_rows(tmp_path):
    x, _ = subspaces.datasets.make_subspaces((1, 2), 12, points_per_subspace=100, noise=0.01, random_state=0)
    np.save(tmp_path / "rows.npy", x)
    source = open_rows(tmp_path / "rows.npy", block_rows=50)
    preparation = Preparation(standardise=True, pca=6).fit(source)
    lazy = subspaces.FLS(2, random_state=0).fit(preparation.transform(source))
    plain = subspaces.FLS(2, random_state=0).fit(preparation.transform(x))
    np.testing.assert_array_equal(lazy.labels_, plain.labels_)


def test_faces_are_prepared_as_the_loader_does():
    try:
        pixels, _ = subspaces.datasets.load_yaleb(2, random_state=0, n_components=None)
    except (FileNotFoundError, OSError):
        pytest.skip("no faces here")
    expected, _ = subspaces.datasets.load_yaleb(2, random_state=0)
    np.testing.assert_allclose(Preparation(pca=80, whiten_drop=2).fit_transform(pixels), expected, atol=1e-4)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"standardise": 1}, ValueError, "standardise=1 is not known"),
        ({"pca": 9}, ValueError, "pca=9 must be between 1 and 8: X has n_samples=20 and n_features=8"),
        ({"pca": 0}, ValueError, "pca=0 must be at least 1"),
        ({"pca": 2.0}, TypeError, "pca=2.0 must be a whole number"),
        ({"pca": 3, "whiten_drop": 3}, ValueError, "pca=3 must be at least 4: whiten_drop=3 of them are left out"),
        ({"whiten_drop": 8}, ValueError, "whiten_drop=8 must be between 0 and 7"),
        ({"whiten_drop": -1}, ValueError, "whiten_drop=-1 must be at least 0"),
    ],
)
def test_parameters(options, error, message):
    with pytest.raises(error, match=message):
        Preparation(**options).fit(rows(20))


@pytest.mark.parametrize("in_blocks", [False, True])
def test_a_fit_that_fails_leaves_the_one_before(in_blocks, tmp_path):
    rows = np.random.RandomState(0).standard_normal((30, 4))
    model = Preparation(standardise=True, pca=3).fit(rows)
    expected, names = model.transform(rows), model.get_feature_names_out()
    # There are too few rows for three components, which is known only after they were read.
    few = np.ones((2, 6))
    np.save(tmp_path / "few.npy", few)
    with pytest.raises(ValueError, match="pca=3"):
        model.fit(tmp_path / "few.npy" if in_blocks else few)
    assert model.n_features_in_ == 4
    np.testing.assert_array_equal(model.transform(rows), expected)
    assert list(model.get_feature_names_out()) == list(names)


def test_broken_rows_in_blocks(tmp_path):
    x = rows()
    x[170, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        Preparation(standardise=True).fit(open_rows(x, block_rows=50))
    with pytest.raises(ValueError, match=r"principal components of 3000 columns need 0\.2 GB"):
        Preparation(pca=3).fit(open_rows(np.ones((3001, 3000), np.float32), memory_limit="32MB"))


@pytest.mark.parametrize("in_blocks", [False, True])
def test_few_rows_of_many_columns(in_blocks, tmp_path, monkeypatch):
    """Products of columns would take 800 MB, and the limit is 100 MB."""
    x = np.random.default_rng(0).normal(size=(12, 10_000))
    np.save(tmp_path / "x.npy", x)
    model = Preparation(pca=3).fit(open_rows(tmp_path / "x.npy", memory_limit="100MB") if in_blocks else x)
    expected = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)[2][:3]
    np.testing.assert_allclose(np.abs(np.sum(model.components_ * expected, axis=1)), 1)
    # None of them is made of rows in memory, either.
    monkeypatch.setattr("subspaces.rows.column_sums.principal_directions", _refuse_products)
    Preparation(pca=3).fit(x)


def _refuse_products(rows, *arguments, known=None):
    assert known is None
    return principal_directions(rows, *arguments)
