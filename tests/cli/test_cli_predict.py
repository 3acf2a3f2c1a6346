"""`subspaces predict`."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import write_csv

from subspaces import cli, load
from subspaces.datasets import make_subspaces
from subspaces.inputs import Preparation


def test_the_rows_of_the_run_get_their_labels(made, tmp_path, capsys):
    folder, _, _ = made
    out = tmp_path / "found.npy"
    assert cli.main(["predict", str(folder / "run"), str(folder / "rows.csv"), "--out", str(out)]) == 0
    assert np.array_equal(np.load(out), np.load(folder / "run" / "labels.npy"))
    assert str(out) in capsys.readouterr().out


def test_columns_are_found_by_name_in_any_order_and_others_are_left_out(made, tmp_path, capsys):
    folder, X, _ = made
    capsys.readouterr()
    write_csv(tmp_path / "new.csv", np.hstack([np.arange(120)[:, None], X[:, ::-1]]), "xhgfedcba")
    assert cli.main(["predict", str(folder / "run"), str(tmp_path / "new.csv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "row,label,confidence,outlier_score"
    found = [int(line.split(",")[1]) for line in lines[1:]]
    assert found == np.load(folder / "run" / "labels.npy").tolist()


def test_names_that_look_like_numbers_are_not_positions(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = make_subspaces((2, 3), 8, points_per_subspace=60, outliers=0, random_state=0)
    names = [str(name) for name in range(3, 11)]
    write_csv(tmp_path / "rows.csv", X, names, y)
    assert cli.main(["fit", "rows.csv", "--drop", "kind", "-k", "2", "--no-report", "-q", "--out", "run"]) == 0
    write_csv(tmp_path / "other.csv", X[:, ::-1], names[::-1], y)
    write_csv(tmp_path / "new.csv", X, ["4", "5", "zz", "6", "7", "8", "9", "10"])
    assert cli.main(["predict", "run", "other.csv", "--out", "found.npy"]) == 0
    assert np.array_equal(np.load("found.npy"), np.load("run/labels.npy"))
    capsys.readouterr()
    assert cli.main(["predict", "run", "new.csv"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "new.csv has no column '3', which the run was fitted to: it has '4', '5', 'zz'" in captured.err


def test_more_rows_than_a_csv_file_should_have(made, tmp_path, monkeypatch, capsys):
    from subspaces import FLS
    from subspaces.cli import results

    folder, _, _ = made
    monkeypatch.setattr(results, "MOST_CSV_ROWS", 100)
    monkeypatch.setattr(FLS, "predict", lambda self, X: pytest.fail("work was done"))
    words = ["predict", str(folder / "run"), str(folder / "rows.csv")]
    assert cli.main([*words, "--out", str(tmp_path / "found.csv")]) == 2
    assert "more than 100 rows, too many for CSV: name labels.npy" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_json(made, capsys):
    folder, _, _ = made
    capsys.readouterr()
    assert cli.main(["predict", str(folder / "run"), str(folder / "rows.csv"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["labels"] == np.load(folder / "run" / "labels.npy").tolist()
    assert sum(document["sizes"]) == document["n_rows"] == 120


def test_folder_file_and_python_give_the_same_labels(made, tmp_path):
    """The model file contains the preparation and the names of columns."""
    folder, X, _ = made
    expected = np.load(folder / "run" / "labels.npy").tolist()
    np.save(tmp_path / "rows.npy", X)
    for model in (folder / "run", folder / "run" / "model.subspaces"):
        for data in (folder / "rows.csv", tmp_path / "rows.npy"):
            out = tmp_path / "found.csv"
            assert cli.main(["predict", str(model), str(data), "--out", str(out), "--force"]) == 0
            assert [int(line.split(",")[1]) for line in out.read_text().splitlines()[1:]] == expected
            assert load(model).predict(data).tolist() == expected
        frame = pd.DataFrame(X, columns=load(model).feature_names_in_)
        assert load(model).predict(frame).tolist() == expected


@pytest.mark.parametrize(
    ("model", "data", "more", "message"),
    [
        ("nowhere", "rows.csv", [], "nowhere does not exist"),
        ("rows.csv", "rows.csv", [], "not a saved model"),
        ("only.subspaces", "rows.csv", [], "a preparation, not a model"),
        ("run", "narrow.npy", [], "the rows have 5 columns, and the model needs 8"),
        ("run", "rows.csv", ["--out", "labels.txt"], "must end in .csv or .npy"),
        ("run", "rows.csv", ["--out", "rows.csv", "--force"], "is the data itself"),
        (".", "rows.csv", [], "run.json does not exist"),
    ],
)
def test_mistakes(model, data, more, message, made, monkeypatch, capsys):
    folder, X, _ = made
    monkeypatch.chdir(folder)
    if not (folder / "narrow.npy").exists():
        np.save(folder / "narrow.npy", X[:, :5])
        Preparation().fit(X).save(folder / "only.subspaces")
    capsys.readouterr()
    assert cli.main(["predict", model, data, *more]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_new_rows_get_confidence_and_outlier_score(made, tmp_path, capsys):
    folder, X, _ = made
    assert cli.main(["predict", str(folder / "run"), str(folder / "rows.csv"), "-q"]) == 0
    found = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(found[0]) == ["row", "label", "confidence", "outlier_score"]
    model, X = load(folder / "run"), pd.DataFrame(X, columns=list("abcdefgh"))
    np.testing.assert_allclose([float(row["confidence"]) for row in found], model.confidence(X), atol=1e-4)
    np.testing.assert_allclose([float(row["outlier_score"]) for row in found], model.outlier_scores(X), atol=1e-4)
    assert cli.main(["predict", str(folder / "run"), str(folder / "rows.csv"), "-q", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["confidence"]) == len(document["outlier_scores"]) == len(X)
    other = ["fit", str(folder / "rows.csv"), "--truth", "kind", "-k", "2", "--method", "kflats", "--no-report", "-q"]
    assert cli.main([*other, "--out", str(tmp_path / "kflats")]) == 0
    capsys.readouterr()
    assert cli.main(["predict", str(tmp_path / "kflats"), str(folder / "rows.csv"), "-q"]) == 0
    assert capsys.readouterr().out.startswith("row,label\n")


class TestMissingValues:
    """New rows are filled with the means of the rows of the fit, not with their own."""

    @pytest.fixture
    def run(self, rows, tmp_path):
        X, _ = rows
        X = X + np.arange(8.0)
        X[5, 3] = np.nan
        write_csv(tmp_path / "fit.csv", X, "abcdefgh")
        words = ["fit", "fit.csv", "-k", "2", "--method", "kflats", "--missing", "mean", "--no-report", "-q"]
        assert cli.main([*words, "--out", "run"]) == 0
        return X

    def test_with_the_means_of_the_fit(self, run, tmp_path, capsys):
        # Two rows far apart, whose own mean would be the value of the second.
        new = np.array([run[0], run[0] + 100])
        new[0, 2] = np.nan
        write_csv(tmp_path / "new.csv", new, "abcdefgh")
        assert cli.main(["predict", "run", "new.csv", "--out", "labels.npy"]) == 0
        new[0, 2] = np.nanmean(run[:, 2])
        np.testing.assert_array_equal(
            np.load("labels.npy"), load("run").predict(pd.DataFrame(new, columns=list("abcdefgh")))
        )
        assert "1 missing values filled with the given means" in capsys.readouterr().err

    def test_the_means_are_those_of_the_values(self, run):
        means = json.loads(Path("run/run.json").read_text())["rows"]["means"]
        np.testing.assert_allclose(means, np.nanmean(run, axis=0))

    def test_a_model_without_a_run(self, run, capsys):
        assert cli.main(["predict", "run/model.subspaces", "fit.csv", "--missing", "mean", "--out", "labels.npy"]) == 2
        assert "the means of the rows that the model was fitted to are not known" in capsys.readouterr().err

    @pytest.mark.parametrize("means", ["abc", [1, "a"], 3])
    def test_damaged_means(self, run, means, capsys):
        path = Path("run/run.json")
        document = json.loads(path.read_text())
        document["rows"]["means"] = means
        path.write_text(json.dumps(document))
        assert cli.main(["predict", "run", "fit.csv", "--out", "labels.npy"]) == 2
        assert "the means of the columns have another type" in capsys.readouterr().err
