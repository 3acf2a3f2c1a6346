"""predict, compare, choose, report and data."""

import csv
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from subspaces import cli
from subspaces.datasets import make_subspaces
from subspaces.metrics import clustering_accuracy


def write_csv(path, rows, columns, truth=None):
    """Rows as CSV, by the names of their columns."""
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([*columns, *([] if truth is None else ["kind"])])
        for i, row in enumerate(rows.tolist()):
            writer.writerow([*row, *([] if truth is None else [truth[i]])])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run with a preparation, and its rows; tests do not write into it."""
    folder = tmp_path_factory.mktemp("made")
    X, y = make_subspaces((2, 3), 8, points_per_subspace=60, outliers=0, random_state=0)
    write_csv(folder / "rows.csv", X, "abcdefgh", [f"class {label}" for label in y])
    words = ["fit", str(folder / "rows.csv"), "-k", "2", "--truth", "kind", "--standardise", "--no-report", "-q"]
    assert cli.main([*words, "--out", str(folder / "run")]) == 0
    return folder, X, y


class TestPredict:
    def test_the_rows_of_the_run_get_their_labels(self, made, tmp_path, capsys):
        folder, _, _ = made
        out = tmp_path / "found.npy"
        assert cli.main(["predict", str(folder / "run"), str(folder / "rows.csv"), "--out", str(out)]) == 0
        assert np.array_equal(np.load(out), np.load(folder / "run" / "labels.npy"))
        assert str(out) in capsys.readouterr().out

    def test_columns_are_found_by_name_in_any_order_and_others_are_left_out(self, made, tmp_path, capsys):
        folder, X, _ = made
        capsys.readouterr()
        write_csv(tmp_path / "new.csv", np.hstack([np.arange(120)[:, None], X[:, ::-1]]), "xhgfedcba")
        assert cli.main(["predict", str(folder / "run"), str(tmp_path / "new.csv")]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == "row,label"
        found = [int(line.split(",")[1]) for line in lines[1:]]
        assert found == np.load(folder / "run" / "labels.npy").tolist()

    def test_names_that_look_like_numbers_are_no_positions(self, tmp_path, monkeypatch, capsys):
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
        assert "new.csv has no column '3' (columns): it has '4', '5', 'zz'" in captured.err

    def test_more_rows_than_a_table_should_have(self, made, tmp_path, monkeypatch, capsys):
        from subspaces import FLS
        from subspaces.cli import _results

        folder, _, _ = made
        monkeypatch.setattr(_results, "MOST_CSV_ROWS", 100)
        monkeypatch.setattr(FLS, "predict", lambda self, X: pytest.fail("work was done"))
        words = ["predict", str(folder / "run"), str(folder / "rows.csv")]
        assert cli.main([*words, "--out", str(tmp_path / "found.csv")]) == 2
        assert "more than 100 rows, too many for CSV: name labels.npy" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []

    def test_json(self, made, capsys):
        folder, _, _ = made
        capsys.readouterr()
        assert cli.main(["predict", str(folder / "run"), str(folder / "rows.csv"), "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["labels"] == np.load(folder / "run" / "labels.npy").tolist()
        assert sum(document["sizes"]) == document["n_rows"] == 120

    def test_a_model_alone(self, made, tmp_path):
        from subspaces import load

        folder, X, _ = made
        prepared = load(folder / "run" / "preparation.subspaces").transform(X)
        np.save(tmp_path / "prepared.npy", prepared)
        model, out = folder / "run" / "model.subspaces", tmp_path / "found.csv"
        assert cli.main(["predict", str(model), str(tmp_path / "prepared.npy"), "--out", str(out)]) == 0
        found = [int(line.split(",")[1]) for line in out.read_text().splitlines()[1:]]
        assert found == np.load(folder / "run" / "labels.npy").tolist()

    @pytest.mark.parametrize(
        ("model", "data", "more", "message"),
        [
            ("nowhere", "rows.csv", [], "nowhere is not there"),
            ("rows.csv", "rows.csv", [], "no saved model"),
            ("run/preparation.subspaces", "rows.csv", [], "a preparation and no model"),
            ("run", "narrow.npy", [], "the rows have 5 columns, and the model is of 8"),
            ("run", "rows.csv", ["--out", "labels.txt"], "must end in .csv or .npy"),
            ("run", "rows.csv", ["--out", "rows.csv", "--force"], "is the data itself"),
            (".", "rows.csv", [], "run.json is not there"),
        ],
    )
    def test_mistakes(self, model, data, more, message, made, monkeypatch, capsys):
        folder, X, _ = made
        monkeypatch.chdir(folder)
        if not (folder / "narrow.npy").exists():
            np.save(folder / "narrow.npy", X[:, :5])
        capsys.readouterr()
        assert cli.main(["predict", model, data, *more]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert message in captured.err
        assert captured.err.count("\n") == 1


class TestReport:
    def test_it_is_made_of_what_the_run_kept(self, made, tmp_path, capsys):
        folder, _, _ = made
        out = tmp_path / "page.html"
        assert cli.main(["report", str(folder / "run"), "--out", str(out)]) == 0
        page = out.read_text()
        assert page.lstrip().lower().startswith("<!doctype html>")
        assert "rows.csv" in page
        assert capsys.readouterr().out == f"report: {out}\n"
        assert cli.main(["report", str(folder / "run"), "--out", str(out)]) == 2
        assert "--force" in capsys.readouterr().err

    def test_another_truth_leaves_the_columns_as_they_were(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        X, y = make_subspaces((2, 2), 6, points_per_subspace=30, outliers=0, random_state=0)
        lines = [",".join([*map(str, row), str(k), "xy"[k]]) for row, k in zip(X, y, strict=True)]
        Path("rows.csv").write_text("\n".join(["a,b,c,d,e,f,class,kind", *lines]) + "\n")
        assert cli.main(["fit", "rows.csv", "-k", "2", "--truth", "class", "--no-report", "--out", "run", "-q"]) == 0
        capsys.readouterr()
        assert cli.main(["report", "run", "--truth", "kind"]) == 0
        assert "known classes" in Path("run/report.html").read_text()
        assert cli.main(["report", "run", "--truth", "a", "--force"]) == 2
        assert "--truth a is a column that the run clustered by" in capsys.readouterr().err

    def test_rows_that_are_others_now_are_refused(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        X, _ = make_subspaces((2, 2), 6, points_per_subspace=30, outliers=0, random_state=0)
        np.save("rows.npy", X)
        assert cli.main(["fit", "rows.npy", "-k", "2", "--no-report", "--out", "run", "-q"]) == 0
        for other in (X[:-1], X[::-1]):
            np.save("rows.npy", other)
            capsys.readouterr()
            assert cli.main(["report", "run"]) == 2
            told = capsys.readouterr().err
            assert told.startswith(f"subspaces: {tmp_path / 'rows.npy'} is not what it was when the run was made")
            assert told.endswith("fit again\n")
            assert told.count("\n") == 1
        Path("rows.npy").unlink()
        assert cli.main(["report", "run"]) == 2
        assert "rows.npy is not there any more" in capsys.readouterr().err
        assert not (tmp_path / "run" / "report.html").exists()

    @pytest.mark.parametrize("hashed", [True, False])
    def test_files_are_known_by_their_content_or_else_by_their_time(self, hashed, tmp_path, monkeypatch, capsys):
        from subspaces.cli import _record

        monkeypatch.chdir(tmp_path)
        X, _ = make_subspaces((2, 2), 6, points_per_subspace=30, outliers=0, random_state=0)
        np.save("rows.npy", X)
        if not hashed:
            monkeypatch.setattr(_record, "MOST_HASHED", 0)
        assert cli.main(["fit", "rows.npy", "-k", "2", "--no-report", "--out", "run", "-q"]) == 0
        assert cli.main(["report", "run", "--out", "first.html", "-q"]) == 0
        os.utime("rows.npy", (0, 0))
        assert cli.main(["report", "run", "--out", "second.html", "-q"]) == (0 if hashed else 2)

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            *((key, None) for key in ("seed", "line", "environment", "data", "rows")),
            ("seed", "x"),
            ("seed", True),
            ("line", 3),
            ("environment", []),
            ("data", {}),
            ("data", [3]),
            ("stages", [{}]),
            ("warnings", 3),
            ("notes", [3]),
            ("peak_memory", "much"),
            ("rows", {"columns": [1]}),
            ("options", {"data": 3}),
            ("options", {"data": ["rows.csv"], "missing": 3}),
        ],
    )
    def test_a_run_that_does_not_remember_what_it_should(self, key, value, made, tmp_path, capsys):
        folder, _, _ = made
        shutil.copytree(folder / "run", tmp_path / "run")
        document = json.loads((tmp_path / "run" / "run.json").read_text())
        document[key] = value
        if value is None:
            del document[key]
        (tmp_path / "run" / "run.json").write_text(json.dumps(document))
        capsys.readouterr()
        for words in (["report", str(tmp_path / "run")], ["predict", str(tmp_path / "run"), str(folder / "rows.csv")]):
            assert cli.main(words) == 2
            captured = capsys.readouterr()
            assert captured.out == ""
            assert "run.json" in captured.err
            assert captured.err.count("\n") == 1


class TestCompare:
    def test_methods_side_by_side(self, made, tmp_path, capsys):
        folder, _, y = made
        capsys.readouterr()
        words = ["compare", str(folder / "rows.csv"), "-k", "2", "--truth", "kind", "--methods", "fls,lbf,kasp"]
        assert cli.main([*words, "--repeats", "2", "--out", str(tmp_path / "side")]) == 0
        told = capsys.readouterr().out
        for word in ("method", "seconds", "accuracy", "ARI", "NMI", "residual", "stability", "every two"):
            assert word in told
        assert {path.name for path in (tmp_path / "side").iterdir()} == {
            "comparison.json",
            "comparison.csv",
            "labels.csv",
        }
        document = json.loads((tmp_path / "side" / "comparison.json").read_text())
        found = {entry["method"]: entry for entry in document["methods"]}
        assert list(found) == ["fls", "lbf", "kasp"]
        with (tmp_path / "side" / "labels.csv").open() as stream:
            labels = [int(row["fls"]) for row in csv.DictReader(stream)]
        assert found["fls"]["accuracy"] == clustering_accuracy(y, labels) > 0.95
        assert found["fls"]["residual"] < found["kasp"]["residual"]
        assert document["agreement"]["fls"]["fls"] == 1
        assert document["agreement"]["fls"]["lbf"] == document["agreement"]["lbf"]["fls"]

    def test_methods_that_cannot_are_told_and_others_run(self, made, capsys):
        folder, _, _ = made
        capsys.readouterr()
        words = ["compare", str(folder / "rows.csv"), "--drop", "kind", "--methods", "fls,ssc", "--json"]
        assert cli.main(words) == 0
        document = json.loads(capsys.readouterr().out)
        told = {entry["method"]: entry["not_run"] for entry in document["methods"]}
        assert told["fls"] is None
        assert "needs the number of clusters" in told["ssc"]

    def test_of_all_methods_the_slow_ones_are_left_out(self, made, capsys, monkeypatch):
        from subspaces.cli import _compare

        folder, _, _ = made
        chosen = {name: _compare.METHODS[name] for name in ("fls", "ssc", "kasp")}
        monkeypatch.setattr(_compare, "METHODS", chosen)
        capsys.readouterr()
        assert cli.main(["compare", str(folder / "rows.csv"), "-k", "2", "--drop", "kind", "--time-limit", "2"]) == 0
        told = capsys.readouterr().out
        assert "fls: would take about" in told
        assert "--methods fls runs it" in told

    def test_where_none_runs_it_is_a_mistake(self, made, capsys):
        folder, _, _ = made
        assert cli.main(["compare", str(folder / "rows.csv"), "--drop", "kind", "--methods", "ssc,kasp"]) == 2
        assert "no method ran: ssc: needs the number of clusters" in capsys.readouterr().err


class TestChoose:
    def test_it_suggests_and_gives_the_evidence(self, made, capsys):
        folder, _, _ = made
        capsys.readouterr()
        assert cli.main(["choose", str(folder / "rows.csv"), "--drop", "kind", "--repeats", "2"]) == 0
        told = capsys.readouterr().out
        assert told.startswith("suggestion: -k 2, in clusters of dimension ")
        for word in ("2 seeds: all say K=2", "n_clusters:", "eigenvalue", "gap"):
            assert word in told

    def test_json(self, made, capsys):
        folder, _, _ = made
        capsys.readouterr()
        words = [
            "choose",
            str(folder / "rows.csv"),
            "--drop",
            "kind",
            "--repeats",
            "1",
            "--max-clusters",
            "4",
            "--json",
        ]
        assert cli.main(words) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["n_clusters"] == 2
        assert sorted(document["dimensions"]) == [2, 3]
        tried = document["choice"]["decisions"][0]["candidates"]
        assert {entry["n_clusters"] for entry in tried} >= {1, 2, 3, 4}

    def test_seeds_that_do_not_agree_are_told(self):
        from subspaces.cli._choose import _sureness

        document = {"n_clusters": 2, "votes": {"2": 2, "3": 1}, "same_labels_by_other_seeds": 0.5, "agreement": None}
        told = "\n".join(_sureness(document))
        assert "3 seeds do not agree: K=2 by 2, K=3 by 1" in told
        assert "0.50" in told


class TestData:
    def test_list(self, capsys):
        assert cli.main(["data", "list"]) == 0
        told = capsys.readouterr().out
        for name in ("mnist", "pendigits", "yaleb", "digits", "subspaces", "motions"):
            assert f"\n{name} " in f"\n{told}"
        assert cli.main(["data", "list", "--json"]) == 0
        assert len(json.loads(capsys.readouterr().out)) == 6

    def test_what_is_got_can_be_fitted(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        words = ["--set", "dims=1,2", "--set", "ambient_dim=5", "--set", "points_per_subspace=30", "--seed", "4"]
        assert cli.main(["data", "get", "subspaces", *words]) == 0
        line = capsys.readouterr().out.splitlines()[-1]
        assert line == "subspaces fit subspaces.csv -k 3 --truth truth"
        with (tmp_path / "subspaces.csv").open() as stream:
            lines = list(csv.reader(stream))
        X, y = make_subspaces((1, 2), 5, points_per_subspace=30, random_state=4)
        assert lines[0] == ["x1", "x2", "x3", "x4", "x5", "truth"]
        assert np.array_equal(np.array([line[:-1] for line in lines[1:]], float), X)
        assert [int(line[-1]) for line in lines[1:]] == y.tolist()
        assert cli.main(["fit", "subspaces.csv", "-k", "2", "--truth", "truth", "--out", "labels.npy"]) == 0

    def test_arrays_and_fewer_rows(self, tmp_path):
        words = ["data", "get", "digits", "--format", "npy", "--rows", "50", "--out", str(tmp_path)]
        assert cli.main(words) == 0
        assert np.load(tmp_path / "digits.npy").shape == (50, 64)
        assert np.load(tmp_path / "digits-truth.npy").shape == (50,)
        assert len(list(tmp_path.iterdir())) == 2
        assert cli.main(words) == 2

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["get"], "needs a NAME"),
            (["list", "digits"], "takes no NAME"),
            (["fetch"], "use list or get"),
            (["get", "digts"], "did you mean digits?"),
            (["get", "digits", "--format", "xls"], "use csv or npy"),
            (["get", "digits", "--set", "dims=3"], "no such parameter"),
            (["get", "subspaces", "--set", "dims=0"], "dims"),
            (["get", "subspaces", "--set", "dims=x"], "dims"),
            (["get", "digits", "--out", "nowhere"], "is no folder"),
        ],
    )
    def test_mistakes(self, words, message, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        assert cli.main(["data", *words]) == 2
        assert message in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []
