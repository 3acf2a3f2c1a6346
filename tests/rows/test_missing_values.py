"""Missing values are refused with a remedy that fits: for Python, or for the command line."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from subspaces import FLS, cli, open_rows
from subspaces.inputs import read_table

ROWS = np.random.RandomState(0).normal(size=(30, 3))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("make", [np.asarray, lambda x: open_rows(lambda: iter([x]))])
def test_python_names_the_imputer(value, make):
    rows = ROWS.copy()
    rows[3, 1] = value
    with pytest.raises(ValueError, match=r"NaN or infinity.*sklearn\.impute\.SimpleImputer"):
        FLS(2).fit(make(rows))


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (np.asarray, "(3 values, in columns 1, 2):"),
        (np.ndarray.tolist, "(3 values, in columns 1, 2):"),
        (lambda x: pd.DataFrame(x, columns=["a", "b", "c"]), "(3 values, in columns 'b', 'c'):"),
        (lambda x: pd.DataFrame(x, columns=["a", "b", "c"]).assign(d="text"), "(3 values, in columns 'b', 'c'):"),
        (lambda x: np.hstack([x[:, 1:]] * 4), "(12 values, in columns 0, 1, 2, 3, 4 and 3 more):"),
        (sparse.csr_matrix, "infinity:"),
    ],
)
@pytest.mark.filterwarnings("ignore:1 column does not hold numbers")
def test_python_names_the_columns(make, where):
    rows = ROWS.copy()
    rows[3:5, 1] = rows[7, 2] = np.nan
    with pytest.raises(ValueError, match=re.escape(where)):
        FLS(2).fit(make(rows))


def test_the_command_line_names_its_option(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n,3\n4,5\n")
    assert cli.main(["fit", "rows.csv", "-k", "2"]) == 2
    error = capsys.readouterr().err
    assert "line 3, column 'a': drop such rows with --missing drop" in error
    assert 'missing="' not in error
    assert cli.main(["fit", "rows.csv", "-k", "2", "--missing", "mean", "--no-report", "--out", "run", "-q"]) == 0


class TestGivenMeans:
    """New rows are filled with the means of other rows."""

    def test_they_fill_what_is_missing(self):
        old = read_table(np.array([[1.0, 2], [3, 6]]))
        np.testing.assert_array_equal(old.means, [2, 4])
        new = read_table(np.array([[np.nan, 9], [7, np.nan], [5, 5]]), missing=old.means)
        np.testing.assert_array_equal(new.rows, [[2, 9], [7, 4], [5, 5]])
        assert new.notes == ("2 missing values filled with the given means of their columns",)

    @pytest.mark.parametrize("means", [[1.0], [1.0, np.nan], [1.0, "a"], [[1.0, 2.0]]])
    def test_they_are_one_for_each_column(self, means):
        with pytest.raises(ValueError, match="give one number for each column"):
            read_table(np.array([[np.nan, 9.0]]), missing=means)
