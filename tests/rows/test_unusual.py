"""Columns that are unlikely to be meant for clustering, or that dominate distances, are reported."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from subspaces import FLS, LBF, KFlats
from subspaces.rows import ScaleWarning
from subspaces.rows.unusual import class_numbers, dominant_columns, row_numbers

ROWS = np.random.RandomState(0).normal(size=(60, 4))
NAMES = ("a", "b", "c", "d")


def with_column(values):
    return np.column_stack([ROWS[:, :3], values])


def test_usual_columns_are_not_reported():
    assert row_numbers(ROWS, NAMES) == []
    assert row_numbers(with_column(np.repeat([0, 1], 30)), NAMES) == []
    assert row_numbers(with_column(np.sort(ROWS[:, 3])), NAMES) == []
    assert row_numbers(with_column(np.full(60, 1e9)), NAMES) == []
    assert row_numbers(with_column(np.arange(60))[:9], NAMES) == []


@pytest.mark.parametrize(
    "values", [np.arange(60), 1000 + 3 * np.arange(60), 500 + np.random.RandomState(0).permutation(60)]
)
def test_row_numbers_are_reported(values):
    assert row_numbers(with_column(values), NAMES) == ["d"]


@pytest.mark.parametrize(
    ("name", "is_id"),
    [("id", True), ("customer_id", True), ("Patient ID", True), ("passengerId", True), ("humid", False), ("d", False)],
)
def test_whole_numbers_called_id_number_the_rows_if_each_occurs_once(name, is_id):
    values = np.random.RandomState(0).permutation(900)[:60]
    names = (*NAMES[:3], name)
    assert row_numbers(with_column(values), names) == [name] * is_id
    assert row_numbers(with_column(np.append(values[1:], values[1])), names) == []


@pytest.mark.parametrize(("load", "columns"), [(load_wine, (12,)), (load_breast_cancer, (23, 3)), (load_iris, None)])
def test_columns_dominate_by_their_share_of_the_variance(load, columns):
    found = dominant_columns(load().data.var(axis=0))
    assert (None if found is None else found.columns) == columns


@pytest.mark.parametrize(
    "variances", [[0, 0, 0], [1, 0, 0], [1, 1], [9, 1, 1], [9, 9, 0.1, 0.1, 0.1, 0.1], np.ones(100)]
)
def test_columns_of_one_scale_do_not_dominate(variances):
    assert dominant_columns(np.asarray(variances, float)) is None


def numbers(*columns):
    """Rows of two columns of many values and of the given ones, repeated."""
    rng = np.random.RandomState(0)
    return np.column_stack([rng.standard_normal((120, 2)), *(np.resize(column, 120) for column in columns)])


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ([[0, 1, 2]], ("c2", 3)),
        ([[0, 1]], ("c2", 2)),
        ([[1.0]], None),  # a constant
        ([[0.5, 1.5]], None),
        ([range(60)], None),  # counts
        ([[0, 1], [0, 1, 2]], None),  # several: such as answers from 1 to 5
        ([range(12), range(50)], None),  # other columns have few values, too
    ],
)
def test_a_column_of_classes(columns, found):
    rows = numbers(*columns)
    assert class_numbers(rows, [f"c{j}" for j in range(rows.shape[1])]) == found


class TestFits:
    X = load_wine(as_frame=True).data

    @pytest.mark.parametrize(
        "model", [KFlats(3, subspace_dim=1, random_state=0), LBF(3, subspace_dim=1, random_state=0)]
    )
    def test_a_fit_warns_and_names_the_column(self, model):
        with pytest.warns(ScaleWarning, match="column 'proline' of 13 has 99.8% of the variance"):
            model.fit(self.X)
        with pytest.warns(ScaleWarning, match="column 12 of 13"):
            model.fit(self.X.to_numpy())

    def test_the_remedy_is_the_parameter_of_fls(self):
        rows = load_breast_cancer().data
        with pytest.warns(ScaleWarning, match="pass standardise=True, unless .* same unit .then standardise=False"):
            FLS(2, random_state=0).fit(rows)
        with pytest.warns(ScaleWarning, match="StandardScaler"):
            KFlats(2, subspace_dim=1, random_state=0).fit(rows)

    def test_not_if_columns_are_standardised_or_the_user_has_decided(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", ScaleWarning)
            assert FLS(3, random_state=0).fit(self.X).standardise_
            FLS(3, subspace_dim=1, standardise=False, random_state=0).fit(self.X)
            KFlats(3, subspace_dim=1, random_state=0).fit((self.X - self.X.mean()) / self.X.std())
