"""`subspaces choose`."""

import json

from subspaces import cli


def test_it_suggests_and_gives_the_evidence(made, capsys):
    folder, _, _ = made
    capsys.readouterr()
    assert cli.main(["choose", str(folder / "rows.csv"), "--drop", "kind", "--repeats", "2"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("suggestion: -k 2, with clusters of dimension ")
    for word in ("2 seeds: all give K=2", "n_clusters:", "eigenvalue", "gap"):
        assert word in printed


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


def test_disagreeing_seeds_are_reported():
    from subspaces.cli.commands.choose import _reliability

    document = {"n_clusters": 2, "votes": {"2": 2, "3": 1}, "same_labels_by_other_seeds": 0.5, "agreement": None}
    printed = "\n".join(_reliability(document))
    assert "3 seeds disagree: K=2 by 2, K=3 by 1" in printed
    assert "0.50" in printed
