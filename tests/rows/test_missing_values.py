"""Missing values are refused with a remedy that fits: for Python, or for the command line."""

import numpy as np
import pytest

from subspaces import FLS, cli, open_rows

ROWS = np.random.RandomState(0).normal(size=(30, 3))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("make", [np.asarray, lambda x: open_rows(lambda: iter([x]))])
def test_python_names_the_imputer(value, make):
    rows = ROWS.copy()
    rows[3, 1] = value
    with pytest.raises(ValueError, match=r"NaN or infinity.*sklearn\.impute\.SimpleImputer"):
        FLS(2).fit(make(rows))


def test_the_command_line_names_its_option(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n,3\n4,5\n")
    assert cli.main(["fit", "rows.csv", "-k", "2"]) == 2
    error = capsys.readouterr().err
    assert "line 3, column 'a': add --missing drop" in error
    assert 'missing="' not in error
    assert cli.main(["fit", "rows.csv", "-k", "2", "--missing", "mean", "--no-report", "--out", "run", "-q"]) == 0
