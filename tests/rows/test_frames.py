"""Dataframes of pandas, polars and pyarrow: columns of numbers are used, others are left out and reported."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from subspaces import FLS, open_rows
from subspaces._core.errors import InputError
from subspaces.datasets import make_subspaces
from subspaces.inputs import Preparation, read_table

NUMBERS = {"a": [1, 2, 3], "b": [0.5, None, 2.5], "c": [True, False, True]}
OTHERS = {
    "word": ["x", "y", "x"],
    "day": [datetime.date(2020, 1, day) for day in (1, 2, 3)],
    "time": [datetime.datetime(2020, 1, day) for day in (1, 2, 3)],
}
ROWS = [[1, 0.5, 1], [2, np.nan, 0], [3, 2.5, 1]]
LIBRARIES = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda data: pd.DataFrame(data).convert_dtypes(),
    "pandas arrow": lambda data: pd.DataFrame(data).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "polars lazy": lambda data: pl.DataFrame(data).lazy(),
    "pyarrow": pa.table,
}
every = pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in LIBRARIES.items()])


def joined(source):
    return np.concatenate(list(source.blocks()))


@every
def test_open_rows_takes_the_numbers(make):
    source = open_rows(make(NUMBERS), block_rows=2)
    assert source.column_names == ("a", "b", "c")
    assert source.n_rows == 3
    assert_array_equal(joined(source), ROWS)
    assert_array_equal(np.concatenate(list(source.blocks(1))), ROWS[2:])
    assert_array_equal(source.take([0, 2]), [ROWS[0], ROWS[2]])
    with pytest.warns(UserWarning, match=r"3 columns do not hold numbers and are left out: 'word' \(.*'day' .*'time'"):
        mixed = open_rows(make({**OTHERS, **NUMBERS}))
    assert_array_equal(joined(mixed), ROWS)


@every
def test_columns_are_chosen(make):
    frame = make({**OTHERS, **NUMBERS})
    for columns in (["b", "a"], [4, 3], ["b", -3], lambda names: [names.index("b"), "a"]):
        source = open_rows(frame, columns=columns)
        assert source.column_names == ("b", "a")
        assert_array_equal(joined(source), np.array(ROWS)[:, [1, 0]])
    assert open_rows(frame, columns=slice(3, None)).column_names == ("a", "b", "c")
    with pytest.raises(ValueError, match="column 'day' does not hold numbers"):
        open_rows(frame, columns=["a", "day"])
    with pytest.raises(ValueError, match=r"no column 'bb' .*did you mean 'b'"):
        open_rows(frame, columns=["bb"])


@every
def test_read_table(make):
    table = read_table(make({**NUMBERS, **OTHERS}), truth="word", names="day", missing="drop")
    assert table.columns == ("a", "b", "c")
    assert_array_equal(table.rows, [ROWS[0], ROWS[2]])
    assert table.truth.tolist() == ["x", "x"]
    assert [name[:10] for name in table.row_names] == ["2020-01-01", "2020-01-03"]
    assert "'time'" in table.notes[0]
    with pytest.raises(ValueError, match="the first in X, row 2, column 'b'"):
        read_table(make(NUMBERS))


@every
def test_only_text_is_refused(make):
    with pytest.raises(ValueError, match="X has no column that holds numbers: it has 'word'"):
        open_rows(make(OTHERS))


def test_categories_and_objects_of_pandas():
    frame = pd.DataFrame(
        {
            "kind": pd.Categorical(["x", "y", "x"]),
            "level": pd.Categorical([3, 1, 3]),
            "objects": np.array([1, 2.5, 3], object),
            "mixed": np.array(["a", "b", 2.5], object),
            "f": np.array([1, 2, 3], np.float32),
        }
    )
    with pytest.warns(UserWarning, match=r"'kind' \(category\), 'mixed' \(mostly text\)"):
        source = open_rows(frame)
    assert source.column_names == ("level", "objects", "f")
    assert_array_equal(joined(source), [[3, 1, 1], [1, 2.5, 2], [3, 3, 3]])
    assert open_rows(frame, columns=["f"]).dtype == np.float32


@every
def test_a_cell_that_is_not_a_number_is_an_error(make):
    """As in a text file: one wrong cell must not remove the column."""
    frame = make({"x": ["1", "2.5", "", "abc"], "y": [1.0, 2.0, 3.0, 4.0]})
    message = r"X, row 4, column 'x': 'abc' is not a number \(1 of 3\)"
    for use in (open_rows, FLS(2).fit, Preparation().fit):
        with pytest.raises(ValueError, match=message):
            use(frame)


def test_a_wrong_object_far_down_in_a_column_of_pandas():
    frame = pd.DataFrame({"x": np.array([*range(3000), "abc"], object), "y": np.arange(3001.0)})
    with pytest.raises(ValueError, match=r"X, row 3001, column 'x': 'abc' is not a number"):
        FLS(2).fit(frame)


@every
def test_numbers_stored_as_text_are_numbers(make, flat_rows):
    data = {f"x{column}": flat_rows[:, column] for column in range(6)}
    text = make({**data, "x2": [repr(float(value)) for value in flat_rows[:, 2]]})
    assert_array_equal(joined(open_rows(text)), flat_rows)
    model = FLS(2, random_state=0).fit(text)
    assert_array_equal(model.labels_, FLS(2, random_state=0).fit(flat_rows).labels_)
    assert list(model.feature_names_in_) == list(data)


@every
def test_fit_refuses_text_alone(make):
    for use in (FLS(2).fit, Preparation().fit):
        with pytest.raises(InputError, match=r"no column that holds numbers: .*'word' \(text\).*convert .*to_numeric"):
            use(make(OTHERS))


@every
def test_a_warning_points_to_the_caller_and_uses_plain_words(make, flat_rows):
    others = {name: values[:1] * len(flat_rows) for name, values in OTHERS.items()}
    frame = make({**others, **{f"x{column}": flat_rows[:, column] for column in range(6)}})
    for use in (open_rows, FLS(2, random_state=0).fit, Preparation().fit, Preparation().fit_transform):
        with pytest.warns(UserWarning, match=r"'word' \(text\), 'day' \(date\), 'time' \(date\)") as caught:
            use(frame)
        assert next(each.filename for each in caught if "left out" in str(each.message)) == __file__


def test_columns_of_one_name():
    frame = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])
    assert open_rows(frame).column_names == ("a", "a (2)")
    assert_array_equal(joined(open_rows(frame, columns=["a (2)"])), [[2.0]])


@pytest.fixture(scope="module")
def flat_rows():
    return make_subspaces((1, 2), 6, points_per_subspace=60, noise=0.01, random_state=0)[0]


@every
def test_fit_and_predict_give_the_labels_of_an_array(make, flat_rows):
    data = {f"x{column}": flat_rows[:, column] for column in range(6)}
    expected = FLS(2, random_state=0).fit(flat_rows)
    model = FLS(2, random_state=0).fit(make(data))
    assert_array_equal(model.labels_, expected.labels_)
    assert list(model.feature_names_in_) == list(data)
    text = make({"name": ["r"] * len(flat_rows), **data})
    with pytest.warns(UserWarning, match=r"1 column does not hold numbers and is left out: 'name'"):
        model = FLS(2, random_state=0).fit(text)
    assert_array_equal(model.labels_, expected.labels_)
    with pytest.warns(UserWarning, match="'name'"):
        assert_array_equal(model.predict(text), expected.labels_)


@every
def test_preparation(make, flat_rows):
    data = {f"x{column}": flat_rows[:, column] for column in range(6)}
    with pytest.warns(UserWarning, match="'name'"):
        found = Preparation(standardise=True).fit(make({"name": ["r"] * len(flat_rows), **data}))
    np.testing.assert_allclose(found.mean_, flat_rows.mean(axis=0), atol=1e-12)
