"""`subspaces data`."""

import csv
import json
import shlex

import numpy as np
import pytest

from subspaces import cli
from subspaces.cli.data_sets import DATA_SETS
from subspaces.datasets import make_subspaces


def test_list(capsys):
    assert cli.main(["data", "list"]) == 0
    printed = capsys.readouterr().out
    for name in ("mnist", "pendigits", "yaleb", "digits", "subspaces", "motions"):
        assert f"\n{name} " in f"\n{printed}"
    assert cli.main(["data", "list", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 6


def test_options_may_precede_the_subcommand(tmp_path, capsys):
    assert cli.main(["data", "--json", "list"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 6
    folder = tmp_path / "list"
    folder.mkdir()
    assert cli.main(["data", "--out", str(folder), "--rows=5", "--json", "get", "digits"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 5
    assert (folder / "digits.csv").exists()


def test_the_value_of_an_option_is_not_a_subcommand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list").mkdir()
    assert cli.main(["data", "--out", "list", "get", "digits"]) == 0
    assert (tmp_path / "list" / "digits.csv").exists()


def test_the_file_can_be_fitted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["--set", "dims=1,2", "--set", "ambient_dim=5", "--set", "points_per_subspace=30", "--seed", "4"]
    assert cli.main(["data", "get", "subspaces", *words]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert line == "subspaces fit subspaces.csv -k 2 --truth truth"
    with (tmp_path / "subspaces.csv").open() as stream:
        lines = list(csv.reader(stream))
    X, y = make_subspaces((1, 2), 5, points_per_subspace=30, random_state=4)
    assert lines[0] == ["x1", "x2", "x3", "x4", "x5", "truth"]
    assert np.array_equal(np.array([line[:-1] for line in lines[1:]], float), X)
    assert [int(line[-1]) for line in lines[1:]] == y.tolist()
    assert cli.main(["fit", "subspaces.csv", "-k", "2", "--truth", "truth", "--out", "labels.npy"]) == 0


def test_arrays_and_fewer_rows(tmp_path):
    words = ["data", "get", "digits", "--format", "npy", "--rows", "50", "--out", str(tmp_path)]
    assert cli.main(words) == 0
    assert np.load(tmp_path / "digits.npy").shape == (50, 64)
    assert np.load(tmp_path / "digits-truth.npy").shape == (50,)
    assert len(list(tmp_path.iterdir())) == 2
    assert cli.main(words) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["get"], "NAME is missing"),
        (["list", "digits"], "extra argument"),
        (["fetch"], "unknown command 'fetch'"),
        (["gett"], "did you mean get?"),
        (["get", "digts"], "did you mean digits?"),
        (["get", "digits", "--format", "xls"], "'xls' is not one of csv, npy"),
        (["get", "digits", "--set", "dims=3"], "no such parameter"),
        (["get", "subspaces", "--set", "dims=0"], "dims"),
        (["get", "subspaces", "--set", "dims=x"], "dims"),
        (["get", "digits", "--out", "file"], "is a file"),
        (["get", "digits", "--out", "rows.csv"], "--out rows.csv: name a folder; the file in it is digits.csv"),
    ],
)
def test_mistakes(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    assert cli.main(["data", *words]) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_suggested_command_suits_few_rows_and_a_new_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["data", "get", "digits", "--rows", "6", "--out", "new folder"]) == 0
    words = shlex.split(capsys.readouterr().out.splitlines()[-1])
    assert words[:3] == ["subspaces", "fit", "new folder/digits.csv"]
    with (tmp_path / "new folder" / "digits.csv").open() as stream:
        classes = {line["truth"] for line in csv.DictReader(stream)}
    assert words[words.index("-k") + 1] == str(len(classes))
    assert cli.main([*words[1:], "--out", "labels.npy"]) == 0


def test_faces_are_projected_only_if_there_are_enough():
    rows = np.zeros((82, 2016))
    assert "--pca" not in DATA_SETS["yaleb"].options(rows, np.zeros(82))
    assert "--pca" in DATA_SETS["yaleb"].options(np.zeros((83, 2016)), np.zeros(83))


def test_without_a_command_it_prints_help(capsys):
    assert cli.main(["data"]) == 0
    assert "list" in capsys.readouterr().out


def test_help_and_messages_name_only_what_the_command_has(tmp_path, monkeypatch, capsys):
    """`data get` has no landmarks, and no option for the folder of data sets."""
    assert cli.main(["data", "get", "--help"]) == 0
    text = capsys.readouterr().out
    assert "dims=3,3" in text
    assert "n_landmarks" not in text
    monkeypatch.setenv("SUBSPACES_DATA", str(tmp_path))
    assert cli.main(["data", "get", "yaleb", "--out", str(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert "environment variable SUBSPACES_DATA" in message
    assert "data_home" not in message
