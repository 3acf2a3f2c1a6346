"""`subspaces compare`."""

import csv
import json

import numpy as np

from subspaces import cli
from subspaces.datasets import make_subspaces
from subspaces.metrics import clustering_accuracy
from subspaces.show.baselines import BASELINES


def test_methods_side_by_side(made, tmp_path, capsys):
    folder, _, y = made
    capsys.readouterr()
    words = ["compare", str(folder / "rows.csv"), "-k", "2", "--truth", "kind", "--methods", "fls,lbf,kasp"]
    assert cli.main([*words, "--repeats", "2", "--details", "--out", str(tmp_path / "side")]) == 0
    printed = capsys.readouterr().out
    for word in (
        "method",
        "seconds",
        "accuracy",
        "ARI",
        "NMI",
        "like fls",
        "residual",
        "stability",
        "index of every pair",
    ):
        assert word in printed
    assert {path.name for path in (tmp_path / "side").iterdir()} == {
        "comparison.json",
        "comparison.csv",
        "labels.csv",
    }
    document = json.loads((tmp_path / "side" / "comparison.json").read_text())
    found = {entry["method"]: entry for entry in document["methods"]}
    assert list(found) == ["fls", "lbf", "kasp", *BASELINES]
    assert all(found[name]["not_run"] is None for name in BASELINES)
    assert found["k-means"]["n_clusters"] == found["spectral"]["n_clusters"] == found["mixture"]["n_clusters"] == 2
    with (tmp_path / "side" / "labels.csv").open() as stream:
        labels = [int(row["fls"]) for row in csv.DictReader(stream)]
    assert found["fls"]["accuracy"] == clustering_accuracy(y, labels) > 0.95
    assert found["fls"]["residual"] < found["kasp"]["residual"]
    assert document["agreement"]["fls"]["fls"] == 1
    assert document["agreement"]["fls"]["lbf"] == document["agreement"]["lbf"]["fls"]


def test_residuals_are_those_at_the_dimension_of_the_clusters(tmp_path, capsys):
    rows, _ = make_subspaces((2, 2), 4, points_per_subspace=120, noise=0.01, outliers=0, random_state=0)
    np.save(tmp_path / "rows.npy", rows)
    words = ["compare", str(tmp_path / "rows.npy"), "-k", "2", "--methods", "fls,kasp", "--json"]
    assert cli.main(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["residual_dimension"] == 2
    found = {entry["method"]: entry["residual"] for entry in document["methods"]}
    assert found["fls"] < 0.01 < found["kasp"]


def test_pairs_of_methods_are_details(made, capsys):
    folder, _, _ = made
    capsys.readouterr()
    assert cli.main(["compare", str(folder / "rows.csv"), "-k", "2", "--drop", "kind", "--methods", "fls,kasp"]) == 0
    printed = capsys.readouterr().out
    assert "index of every pair" not in printed
    heads, first = (line.split() for line in printed.splitlines()[2:4])
    assert (heads[3:5], first[3]) == (["like", "fls"], "1.00")


def test_agreements_do_not_depend_on_the_order_of_methods(tmp_path, capsys):
    rng = np.random.default_rng(0)
    blobs = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 8, rng.uniform(-20, 20, (80, 2))])
    np.savetxt(tmp_path / "rows.csv", blobs, delimiter=",")
    words = ["compare", str(tmp_path / "rows.csv"), "-k", "2", "--methods", "fls,kasp", "--json"]
    assert cli.main(words) == 0
    found = json.loads(capsys.readouterr().out)["agreement"]
    pairs = [(a, b) for a in found for b in found]
    assert "hdbscan" in found
    assert all(found[a][b] == found[b][a] for a, b in pairs)
    # Rows that HDBSCAN leaves out are not ignored.
    assert found["fls"]["hdbscan"] < found["fls"]["k-means"]


def test_three_rows_are_too_few_for_some_ordinary_methods(tmp_path, capsys):
    np.savetxt(tmp_path / "rows.csv", [[4.0, 1.0], [2.0, 1.5], [9.0, 8.0]], delimiter=",")
    assert cli.main(["compare", str(tmp_path / "rows.csv"), "-k", "3", "--methods", "kasp", "--json"]) == 0
    found = {entry["method"]: entry["not_run"] for entry in json.loads(capsys.readouterr().out)["methods"]}
    assert found["spectral"] == "SpectralClustering of scikit-learn needs more than 3 rows."
    assert found["k-means"] is None


def test_a_method_that_cannot_run_is_reported_and_others_run(made, capsys):
    folder, _, _ = made
    capsys.readouterr()
    words = ["compare", str(folder / "rows.csv"), "--drop", "kind", "--methods", "fls,ssc", "--json"]
    assert cli.main(words) == 0
    document = json.loads(capsys.readouterr().out)
    printed = {entry["method"]: entry["not_run"] for entry in document["methods"]}
    assert printed["fls"] is None
    assert "needs the number of clusters" in printed["ssc"]
    assert "needs the number of clusters" in printed["k-means"]
    assert printed["hdbscan"] is None


def test_slow_ones_of_all_methods_are_skipped(made, capsys, monkeypatch):
    from subspaces.cli.commands import compare

    folder, _, _ = made
    chosen = {name: compare.METHODS[name] for name in ("fls", "ssc", "kasp")}
    monkeypatch.setattr(compare, "METHODS", chosen)
    capsys.readouterr()
    assert cli.main(["compare", str(folder / "rows.csv"), "-k", "2", "--drop", "kind", "--time-limit", "2"]) == 0
    printed = capsys.readouterr().out
    assert "fls: would take about" in printed
    assert "--methods fls runs it" in printed


def test_if_no_method_runs_it_is_an_error(made, capsys):
    folder, _, _ = made
    assert cli.main(["compare", str(folder / "rows.csv"), "--drop", "kind", "--methods", "ssc,kasp"]) == 2
    assert "no method ran: ssc: needs the number of clusters" in capsys.readouterr().err


def test_a_bug_in_one_method_is_reported_as_a_bug(made, capsys, monkeypatch):
    from subspaces import KASP

    def fit(self, X):
        raise ValueError("operands could not be broadcast")

    monkeypatch.setattr(KASP, "fit", fit)
    folder, _, _ = made
    assert cli.main(["compare", str(folder / "rows.csv"), "-k", "2", "--drop", "kind", "--methods", "fls,kasp"]) == 70
    assert "internal error, ValueError" in capsys.readouterr().err


def test_ordinary_methods_are_fitted_to_a_sample_of_many_rows(made, capsys, monkeypatch):
    from dataclasses import replace

    folder, _, _ = made
    monkeypatch.setitem(BASELINES, "spectral", replace(BASELINES["spectral"], most_rows=40))
    words = ["compare", str(folder / "rows.csv"), "-k", "2", "--truth", "kind", "--methods", "lbf", "--json"]
    assert cli.main(words) == 0
    found = {entry["method"]: entry for entry in json.loads(capsys.readouterr().out)["methods"]}
    assert found["spectral"]["n_fitted"] == 40
    assert found["hdbscan"]["n_fitted"] is None
    assert 0.4 < found["spectral"]["accuracy"] <= 1


def test_a_method_that_finds_no_clusters_is_reported(tmp_path, capsys):
    import numpy as np

    np.savetxt(tmp_path / "rows.csv", np.random.default_rng(0).normal(size=(60, 8)), delimiter=",")
    words = ["compare", str(tmp_path / "rows.csv"), "-k", "2", "--methods", "lbf", "--json"]
    assert cli.main(words) == 0
    found = {entry["method"]: entry for entry in json.loads(capsys.readouterr().out)["methods"]}
    assert found["hdbscan"]["not_run"] == "found no clusters: all rows are noise"
    assert found["mixture"]["not_run"] is None
