"""`subspaces report`."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from subspaces import cli
from subspaces.datasets import make_subspaces


def test_it_is_made_from_the_run_and_its_data(made, tmp_path, capsys):
    folder, _, _ = made
    out = tmp_path / "page.html"
    assert cli.main(["report", str(folder / "run"), "--out", str(out)]) == 0
    page = out.read_text()
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "rows.csv" in page
    assert capsys.readouterr().out == f"report: {out}\n"
    assert cli.main(["report", str(folder / "run"), "--out", str(out)]) == 2
    assert "--force" in capsys.readouterr().err


def test_no_folders_of_this_machine(rows, tmp_path):
    out = tmp_path / "run"
    command = ["fit", str(tmp_path / "rows.csv"), "-k", "2", "--drop", "kind", f"--out={out}", "-q"]
    assert cli.main(command) == 0
    page = (out / "report.html").read_text()
    assert "subspaces fit rows.csv -k 2 --drop kind --out=run -q" in page
    assert str(tmp_path) not in page
    # The record keeps the whole paths: a run can be repeated from any folder.
    assert str(tmp_path / "rows.csv") in (out / "run.json").read_text()


def test_folders_are_removed_from_texts():
    from subspaces.cli.page import _short_command, _without_folders

    hide = _without_folders({"data": [{"path": "/data/of a person/rows.csv"}, {"path": "/rows.csv"}]})
    assert hide("3 lines of /data/of a person/rows.csv, 1/2 of /rows.csv") == "3 lines of rows.csv, 1/2 of /rows.csv"
    assert (
        _short_command("subspaces fit '/data/of a person/rows.csv' --out ~/x -k 2")
        == "subspaces fit rows.csv --out x -k 2"
    )
    assert _short_command("subspaces fit 'x") == "subspaces fit ''\"'\"'x'"


def test_warnings_of_the_page_are_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.save("rows.npy", np.random.RandomState(0).standard_normal((60, 6)))
    assert cli.main(["fit", "rows.npy", "-k", "3", "--method", "kflats", "--out", "run"]) == 0
    expected = "Fits with other seeds give other clusters"
    assert expected in capsys.readouterr().err
    assert expected in " ".join(json.loads(Path("run/run.json").read_text())["warnings"])


def test_another_truth_leaves_the_columns_as_they_were(tmp_path, monkeypatch, capsys):
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


def test_changed_rows_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, _ = make_subspaces((2, 2), 6, points_per_subspace=30, outliers=0, random_state=0)
    np.save("rows.npy", X)
    assert cli.main(["fit", "rows.npy", "-k", "2", "--no-report", "--out", "run", "-q"]) == 0
    for other in (X[:-1], X[::-1]):
        np.save("rows.npy", other)
        capsys.readouterr()
        assert cli.main(["report", "run"]) == 2
        printed = capsys.readouterr().err
        assert printed.startswith(f"subspaces: {tmp_path / 'rows.npy'} has changed since the run was made")
        assert printed.endswith("fit again\n")
        assert printed.count("\n") == 1
    Path("rows.npy").unlink()
    assert cli.main(["report", "run"]) == 2
    assert "rows.npy does not exist any more" in capsys.readouterr().err
    assert not (tmp_path / "run" / "report.html").exists()


@pytest.mark.parametrize("hashed", [True, False])
def test_files_are_identified_by_content_or_by_time(hashed, tmp_path, monkeypatch, capsys):
    from subspaces.cli import record

    monkeypatch.chdir(tmp_path)
    X, _ = make_subspaces((2, 2), 6, points_per_subspace=30, outliers=0, random_state=0)
    np.save("rows.npy", X)
    if not hashed:
        monkeypatch.setattr(record, "MOST_HASHED", 0)
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
def test_a_run_json_with_missing_or_wrong_entries(key, value, made, tmp_path, capsys):
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
