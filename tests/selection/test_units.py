"""Columns of different units: standardised if one of them hides the others."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from subspaces import FLS, load
from subspaces.datasets import make_subspaces
from subspaces.metrics import clustering_accuracy
from subspaces.rows.moments import Moments
from subspaces.rows.preparation import RowOptions, prepare
from subspaces.selection.units import has_own_units


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


class TestDecision:
    def test_one_column_hides_the_others(self, wine):
        assert has_own_units(wine[0])

    def test_columns_of_one_unit(self):
        assert not has_own_units(load_iris().data)
        assert not has_own_units(make_subspaces((4, 5, 6), 10, random_state=0)[0])

    def test_units_do_not_matter_once_they_differ_enough(self, wine):
        X = wine[0]
        assert has_own_units(X * np.geomspace(1, 1e6, X.shape[1]))
        assert not has_own_units(X / X.std(axis=0))

    def test_a_column_without_relation_to_the_others(self):
        # All variance in one column, and nothing to describe in the others: a flat is as short either way.
        rng = np.random.default_rng(0)
        X = np.column_stack([100 * rng.normal(size=300), np.zeros(300)])
        assert not has_own_units(X)

    def test_constant_columns_have_no_variance(self, wine):
        X = wine[0]
        assert has_own_units(np.column_stack([X, np.full(len(X), 1e9)]))

    def test_too_few_rows_or_too_many_columns(self, wine):
        X = wine[0]
        assert not has_own_units(X[:10])
        assert not has_own_units(np.tile(X, (1, 8)))

    def test_moments_of_all_rows(self, wine):
        X = wine[0]
        moved = X - X.mean(axis=0)
        every = Moments(len(X), X.mean(axis=0), np.square(moved).sum(axis=0), moved.T @ moved)
        assert has_own_units(X[::2], every)


class TestPreparation:
    @pytest.mark.parametrize("columns", [None, 5])
    def test_columns_are_divided_and_restored(self, wine, columns):
        X = wine[0]
        found = prepare(X, RowOptions(True, columns, standardise=True))
        scaled = (X - X.mean(axis=0)) / X.std(axis=0)
        np.testing.assert_allclose(found.rows @ found.rows.T, self.projected(scaled, columns), atol=1e-8)
        assert found.preparation.plain.scale is not None

    def projected(self, rows, columns):
        if columns is None:
            return rows @ rows.T
        u, s, _ = np.linalg.svd(rows, full_matrices=False)
        return (u[:, :columns] * s[:columns] ** 2) @ u[:, :columns].T

    def test_flats_are_restored(self, wine):
        X, y = wine
        fls = FLS(3, standardise=True, random_state=0).fit(X)
        flats = fls.cluster_bases_
        products = np.einsum("kpi,kpj->kij", flats.bases, flats.bases)
        np.testing.assert_allclose(products, np.broadcast_to(np.eye(flats.dim), products.shape), atol=1e-8)
        found = clustering_accuracy(y, fls.labels_)
        centers = np.array([X[fls.labels_ == k].mean(axis=0) for k in range(3)])
        assert found > 0.9
        assert np.abs(flats.centers - centers).max() < np.ptp(X, axis=0).max()


class TestFLS:
    def test_wine_as_measured(self, wine, tmp_path):
        X, y = wine
        fls = FLS(3, random_state=0).fit(X)
        assert fls.standardise_
        assert clustering_accuracy(y, fls.labels_) > 0.9
        np.testing.assert_array_equal(fls.predict(X), fls.labels_)
        again = load(fls.save(tmp_path / "wine.subspaces"))
        np.testing.assert_array_equal(again.predict(X), fls.labels_)
        assert again.standardise_

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_it_can_be_overruled(self, wine):
        X, y = wine
        plain = FLS(3, standardise=False, random_state=0).fit(X)
        assert not plain.standardise_
        assert clustering_accuracy(y, plain.labels_) < clustering_accuracy(y, FLS(3, random_state=0).fit_predict(X))

    def test_units_do_not_change_labels(self, wine):
        X = wine[0]
        units = np.geomspace(1e-3, 1e3, X.shape[1])
        first, second = (FLS(3, standardise=True, random_state=0).fit(rows).labels_ for rows in (X, X * units))
        assert clustering_accuracy(first, second) > 0.99

    @pytest.mark.parametrize("value", ["yes", 2, None])
    def test_wrong_value(self, value):
        with pytest.raises(ValueError, match="standardise"):
            FLS(2, standardise=value).fit(np.random.default_rng(0).normal(size=(50, 3)))
