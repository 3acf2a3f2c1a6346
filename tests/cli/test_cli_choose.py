"""`subspaces choose`."""

import json

import numpy as np

from subspaces import cli


def test_it_suggests_and_gives_the_evidence(made, capsys):
    folder, _, _ = made
    capsys.readouterr()
    assert cli.main(["choose", str(folder / "rows.csv"), "--drop", "kind", "--repeats", "2"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("2 clusters: use -k 2. They are flat subspaces. Their dimensions are 2 to 3.\n")
    for word in ("Do other seeds give the same number?        yes, all 2", "reliable", "<- chosen", "--details"):
        assert word in printed
    # Words of the trade are among the details.
    for word in ("nats", "modularity", "eigenvalue", "n_clusters"):
        assert word not in printed


def test_details(made, capsys):
    folder, _, _ = made
    capsys.readouterr()
    command = ["choose", str(folder / "rows.csv"), "--drop", "kind", "--repeats", "1", "--max-clusters", "3"]
    assert cli.main([*command, "--details"]) == 0
    printed = capsys.readouterr().out
    for word in ("2 clusters: use -k 2.", "n_clusters:", "nats_per_row", "eigenvalue", "gap"):
        assert word in printed


def test_rows_without_clusters(tmp_path, capsys):
    np.save(tmp_path / "noise.npy", np.random.RandomState(0).standard_normal((120, 6)))
    assert cli.main(["choose", str(tmp_path / "noise.npy"), "--repeats", "1", "--max-clusters", "4"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("No clusters found: the rows form one group")
    assert "question" not in printed


def test_json(made, capsys):
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
    assert document["verdict"]["trust"] == "reliable"


def test_disagreeing_seeds_are_reported():
    from subspaces.cli.commands.choose import _questions

    document = {"n_clusters": 2, "votes": {"2": 2, "3": 1}, "same_labels_by_other_seeds": 0.5, "agreement": 0.1}
    found = dict(_questions(document | {"verdict": {"trust": "doubtful"}}))
    assert found["Do other seeds give the same number?"] == "no: 2 clusters by 2, 3 clusters by 1"
    assert found["Do other seeds give the same clusters?"].startswith("in part (agreement 0.50")
    assert found["Do other landmarks give the same clusters?"].startswith("no (agreement 0.10")
    assert found["How far to trust them?"] == "doubtful"
