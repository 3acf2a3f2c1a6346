"""`subspaces fit`: the folder of a run, and that it can be repeated."""

import io
import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from conftest import write_csv
from sklearn.datasets import load_digits

from subspaces import cli, load
from subspaces.datasets import make_subspaces
from subspaces.metrics import clustering_accuracy
from subspaces.plots import AnglesDisplay
from subspaces.report import describe

RUN = {"labels.csv", "labels.npy", "model.subspaces", "report.html", "run.json"}


def names(path):
    return {entry.name for entry in path.iterdir()}


class TestRunFolder:
    def test_threads(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        np.save("rows.npy", make_subspaces((1, 2), 4, points_per_subspace=30, random_state=0)[0])
        Path("jobs.toml").write_text("jobs = 1\n")
        for how in (["--jobs", "1"], ["--config", "jobs.toml"]):
            assert cli.main(["fit", "rows.npy", "-k", "2", "--out", how[0][2:], "--no-report", *how]) == 0
            assert load(how[0][2:]).n_jobs == 1

    @pytest.mark.parametrize("method", ["fls", "kflats", "ssc"])
    def test_dimensions_are_the_same_everywhere(self, tmp_path, monkeypatch, capsys, method):
        monkeypatch.chdir(tmp_path)
        images = load_digits(n_class=3)
        np.save("digits.npy", images.data[:240])
        assert cli.main(["fit", "digits.npy", "-k", "3", "--method", method, "--out", "run"]) == 0
        printed = capsys.readouterr().out.splitlines()
        dims = json.loads(Path("run/run.json").read_text())["fit"]["dimensions"]
        start = 1 + next(i for i, line in enumerate(printed) if line.split()[:1] == ["cluster"])
        shown = [line.split() for line in printed[start:] if line.strip()[:1] in ("0", "1", "2")][:3]
        assert [int(words[3]) for words in shown] == dims
        model = load("run")
        assert getattr(model, "cluster_dims_", np.full(3, model.subspace_dim_)).tolist() == dims
        assert [each["dim"] for each in describe(model, images.data[:240], n_stability=0).data["clusters"]] == dims
        assert AnglesDisplay.from_estimator(model).dims.tolist() == [dim for dim in dims if dim]

    def test_everything_is_there(self, rows, tmp_path, capsys):
        X, y = rows
        assert cli.main(["fit", "rows.csv", "-k", "2", "--truth", "kind", "--out", "run"]) == 0
        captured = capsys.readouterr()
        folder = tmp_path / "run"
        assert names(folder) == RUN
        assert names(tmp_path) == {"rows.csv", "rows.npy", "run"}
        labels = np.load(folder / "labels.npy")
        assert clustering_accuracy(y, labels) > 0.95
        lines = (folder / "labels.csv").read_text().splitlines()
        assert lines[0] == "row,label,confidence,outlier_score"
        scores = np.array([float(line.split(",")[3]) for line in lines[1:]])
        np.testing.assert_allclose(scores, load(folder).outlier_scores_, atol=1e-4)
        summary = json.loads((folder / "run.json").read_text())["fit"]["outlier_scores"]
        np.testing.assert_allclose(summary, np.percentile(scores, (25, 50, 75, 100)), atol=1e-4)
        assert [int(line.split(",")[1]) for line in lines[1:]] == labels.tolist()
        assert [int(line.split(",")[0]) for line in lines[1:]] == list(range(len(X)))
        assert np.array_equal(load(folder).predict("rows.csv"), labels)
        assert (folder / "report.html").read_text().lstrip().lower().startswith("<!doctype html>")
        assert "against the truth: accuracy" in captured.out
        # The terminal and run.json say what makes clusters different, as the page does.
        words = json.loads((folder / "run.json").read_text())["fit"]["profiles"]
        assert len(words) == 2
        assert "what makes it different" in captured.out
        assert all(each in captured.out and each in (folder / "report.html").read_text() for each in words)
        assert str(folder / "report.html") in captured.out

    @pytest.mark.parametrize("method", ["fls", "kflats"])
    def test_the_verdict_is_the_same_everywhere(self, rows, tmp_path, capsys, method):
        assert cli.main(["fit", "rows.npy", "-k", "2", "--method", method, "--out", "run"]) == 0
        printed = capsys.readouterr().out
        run = json.loads((tmp_path / "run" / "run.json").read_text())["fit"]["verdict"]
        assert "Reliable. The clusters are flat subspaces.\n- " in printed
        assert all(f"- {reason}" in printed for reason in run["reasons"])
        page = (tmp_path / "run" / "report.html").read_text()
        assert all(f"<li>{reason}</li>" in page for reason in run["reasons"])
        if method == "fls":
            assert load("run").verdict_.to_dict() == run

    def test_verdict_without_a_report(self, rows, capsys):
        for method, known in (("fls", True), ("lbf", False)):
            words = ["-k", "2", "--method", method, "--no-report", "--out", f"run-{method}", "--json"]
            assert cli.main(["fit", "rows.npy", *words]) == 0
            assert (json.loads(capsys.readouterr().out)["fit"]["verdict"] is not None) is known

    def test_what_run_json_records(self, rows, tmp_path):
        assert cli.main(["fit", "rows.csv", "-k", "2", "--truth", "kind", "--seed", "5", "--out", "run", "-q"]) == 0
        import hashlib

        run = json.loads((tmp_path / "run" / "run.json").read_text())
        content = (tmp_path / "rows.csv").read_bytes()
        assert run["data"][0]["sha256"] == hashlib.sha256(content).hexdigest()
        assert run["data"][0]["bytes"] == len(content)
        assert run["line"].startswith("subspaces fit rows.csv -k 2")
        assert run["seed"] == run["options"]["seed"] == 5
        assert run["fit"]["n_clusters"] == 2
        assert sum(run["fit"]["sizes"]) == run["rows"]["n_rows"] == 120
        assert sorted(run["fit"]["dimensions"]) == [2, 3]
        assert run["scores"]["accuracy"] > 0.95
        assert run["environment"]["numpy"] == np.__version__
        assert {"reading rows", "fit", "flats at landmarks", "partition", "report"} <= {
            stage["name"] for stage in run["stages"]
        }
        assert sum(stage["seconds"] for stage in run["stages"]) <= run["seconds"] + 0.01
        assert run["peak_memory"] is None or run["peak_memory"] > 10**7
        assert run["warnings"] == []
        assert set(run["files"]) == RUN

    def test_preparation_is_kept_and_applied(self, rows, tmp_path):
        X, _ = rows
        words = ["fit", "rows.npy", "-k", "2", "--standardise", "--pca", "6", "--out", "run", "--no-report"]
        assert cli.main(words) == 0
        assert names(tmp_path / "run") == RUN - {"report.html"}
        labels = np.load(tmp_path / "run" / "labels.npy")
        for path in (tmp_path / "run", tmp_path / "run" / "model.subspaces"):
            assert load(path).n_features_in_ == X.shape[1]
            assert load(path).n_columns_ <= 6
            assert np.array_equal(load(path).predict(X), labels)

    def test_whitening_and_points(self, rows, tmp_path):
        X, _ = rows
        words = ["fit", "rows.npy", "-k", "2", "--whiten", "0.5", "--dim", "0", "--out", "run", "--no-report"]
        assert cli.main(words) == 0
        model = load(tmp_path / "run")
        assert (model.whiten, model.whiten_) == (0.5, 0.5)
        assert (model.subspace_dim, model.subspace_dim_) == (0, 0)
        labels = np.load(tmp_path / "run" / "labels.npy")
        assert np.array_equal(model.predict(X), labels)
        assert cli.main(["fit", "--again", "run"]) == 0
        assert np.array_equal(np.load(tmp_path / "run-again" / "labels.npy"), labels)

    def test_names_of_rows_and_rows_left_out(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        X, _ = make_subspaces((1, 1), 4, points_per_subspace=20, outliers=0, random_state=0)
        lines = [f"row {i}," + ",".join(map(repr, row)) for i, row in enumerate(X.tolist())]
        lines[3] = "row 3,,1,2,3"
        (tmp_path / "named.csv").write_text("\n".join(["id,a,b,c,d", *lines]))
        words = ["-k", "2", "--missing", "drop", "--no-report"]
        assert cli.main(["fit", "named.csv", *words, "--names", "id", "--out", "named"]) == 0
        assert cli.main(["fit", "named.csv", *words, "--out", "numbered"]) == 0
        by_name = (tmp_path / "named" / "labels.csv").read_text().splitlines()
        assert by_name[0].startswith("name,label")
        assert [line.split(",")[0] for line in by_name[3:6]] == ["row 2", "row 4", "row 5"]
        by_number = (tmp_path / "numbered" / "labels.csv").read_text().splitlines()
        assert [line.split(",")[0] for line in by_number[3:6]] == ["2", "4", "5"]

    def test_outliers(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        X, y = make_subspaces((1, 1), 6, points_per_subspace=60, outliers=0.2, random_state=0)
        np.save("rows.npy", X)
        assert cli.main(["fit", "rows.npy", "-k", "2", "--outliers", "--out", "labels.npy"]) == 0
        labels = np.load("labels.npy")
        assert ((labels == -1) == (y == -1)).mean() > 0.9

    @pytest.mark.parametrize(
        "method", ["lbf", "kflats", "slbf", "ssc", "sssc", "landmark", "nystrom", "fourier", "kasp"]
    )
    def test_every_method_fits_and_can_be_loaded(self, method, rows, tmp_path):
        assert cli.main(["fit", "rows.npy", "-k", "2", "--method", method, "--no-report", "--out", "run", "-q"]) == 0
        labels = np.load(tmp_path / "run" / "labels.npy")
        assert np.array_equal(load(tmp_path / "run" / "model.subspaces").labels_, labels)

    def test_the_algorithm_of_the_paper(self, rows, tmp_path):
        words = ["--method", "fls-paper", "--dim", "3", "--set", "n_landmarks=40", "--no-report", "--out", "run"]
        assert cli.main(["fit", "rows.npy", "-k", "2", *words]) == 0
        assert json.loads((tmp_path / "run" / "run.json").read_text())["method"]["parameters"]["n_landmarks"] == 40

    def test_k_is_chosen_if_it_is_not_given(self, rows, capsys):
        assert cli.main(["fit", "rows.npy", "--no-report", "--json", "--out", "run"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["fit"]["n_clusters"] == 2
        assert document["fit"]["choice"]["decisions"][0]["name"] == "n_clusters"
        assert document["out"].endswith("run")

    def test_one_cluster_reads_no_clusters_and_what_to_try(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        np.save("noise.npy", np.random.RandomState(0).standard_normal((200, 5)))
        assert cli.main(["fit", "noise.npy", "--no-report", "--out", "run"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith("No clusters in 200 rows and 5 columns by FLS")
        assert lines[2].startswith("No clusters found")
        assert any(line.startswith("Try: ") for line in lines)


class TestRepeating:
    def test_a_run_gives_the_same_labels_again(self, rows, tmp_path, capsys):
        first = [
            "fit",
            "rows.csv",
            "-k",
            "2",
            "--truth",
            "kind",
            "--seed",
            "3",
            "--standardise",
            "--set",
            "n_landmarks=50",
        ]
        assert cli.main([*first, "--no-report", "--out", "run"]) == 0
        assert cli.main(["fit", "--again", "run"]) == 0
        assert cli.main(["fit", "--config", "run/run.json", "--out", "third.npy"]) == 0
        labels = np.load(tmp_path / "run" / "labels.npy")
        assert np.array_equal(np.load(tmp_path / "run-again" / "labels.npy"), labels)
        assert np.array_equal(np.load(tmp_path / "third.npy"), labels)
        assert "warning" not in capsys.readouterr().err
        again = json.loads((tmp_path / "run-again" / "run.json").read_text())
        before = json.loads((tmp_path / "run" / "run.json").read_text())
        assert again["method"] == before["method"]

    def test_from_another_folder(self, rows, tmp_path, monkeypatch):
        assert cli.main(["fit", "rows.csv", "-k", "2", "--truth", "kind", "--no-report", "--out", "run"]) == 0
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert cli.main(["fit", "--again", "../run", "--out", "run"]) == 0
        assert np.array_equal(np.load("run/labels.npy"), np.load("../run/labels.npy"))

    def test_of_a_run_at_home(self, rows, tmp_path, monkeypatch, capsys):
        monkeypatch.setenv("HOME", str(tmp_path))
        assert cli.main(["fit", "rows.npy", "-k", "2", "--no-report", "--out", "~/run"]) == 0
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert cli.main(["fit", "--again", "~/run"]) == 0
        assert cli.main(["fit", "--config", "~/run/run.json", "--out", "third.npy"]) == 0
        assert np.array_equal(np.load(tmp_path / "run-again" / "labels.npy"), np.load("third.npy"))
        assert "warning" not in capsys.readouterr().err

    def test_changed_data_is_a_warning(self, rows, tmp_path, capsys):
        X, _ = rows
        assert cli.main(["fit", "rows.npy", "-k", "2", "--no-report", "--out", "run"]) == 0
        np.save("rows.npy", X[:-5])
        capsys.readouterr()
        assert cli.main(["fit", "--again", "run"]) == 0
        printed = capsys.readouterr().err
        assert "rows.npy has changed" in printed
        run = json.loads((tmp_path / "run-again" / "run.json").read_text())
        assert any("has changed" in warning for warning in run["warnings"])

    def test_a_configuration_means_the_same_as_the_command_line(self, rows, tmp_path):
        (tmp_path / "options.toml").write_text(
            'data = "rows.csv"\nclusters = 3\nmethod = "lbf"\ntruth = "kind"\nno-report = true\nout = "by-file"\n'
            "[set]\nn_candidates = 30\n"
        )
        assert cli.main(["fit", "--config", "options.toml", "-k", "2"]) == 0
        words = ["--method", "lbf", "--truth", "kind", "--set", "n_candidates=30", "--out", "by-words", "--no-report"]
        assert cli.main(["fit", "rows.csv", "-k", "2", *words]) == 0
        assert np.array_equal(np.load("by-file/labels.npy"), np.load("by-words/labels.npy"))


class TestOutput:
    @pytest.mark.parametrize("name", ["labels.csv", "labels.npy", "Labels.CSV"])
    def test_labels_alone(self, name, rows, tmp_path, capsys):
        assert cli.main(["fit", "rows.npy", "-k", "2", "--out", name]) == 0
        assert names(tmp_path) == {"rows.csv", "rows.npy", name}
        assert str(tmp_path / name) in capsys.readouterr().out

    @pytest.mark.parametrize("name", ["labels.csv", "labels.npy", "run"])
    def test_nothing_is_replaced_without_force(self, name, rows, tmp_path, capsys):
        words = ["fit", "rows.npy", "-k", "2", "--no-report", "--out", name]
        assert cli.main(words) == 0
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        assert cli.main([*words, "--seed", "1"]) == 2
        assert "--force" in capsys.readouterr().err
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
        assert cli.main([*words, "--seed", "1", "--force"]) == 0
        assert names(tmp_path) == {"rows.csv", "rows.npy", name}

    def test_force_keeps_the_old_results_if_the_new_fit_fails(self, rows, tmp_path, monkeypatch):
        words = ["fit", "rows.npy", "-k", "2", "--no-report", "--out", "run"]
        assert cli.main(words) == 0
        before = (tmp_path / "run" / "run.json").read_bytes()
        from subspaces import FLS

        monkeypatch.setattr(FLS, "fit", lambda self, X: (_ for _ in ()).throw(KeyboardInterrupt))
        assert cli.main([*words, "--force"]) == 130
        assert (tmp_path / "run" / "run.json").read_bytes() == before
        assert names(tmp_path) == {"rows.csv", "rows.npy", "run"}

    def test_a_report_that_fails_keeps_the_labels(self, rows, tmp_path, monkeypatch, capsys):
        from subspaces.cli import page

        monkeypatch.setattr(page, "describe", lambda *given, **options: 1 / 0)
        assert cli.main(["fit", "rows.npy", "-k", "2", "--out", "run"]) == 0
        assert names(tmp_path / "run") == RUN - {"report.html"}
        (warning,) = json.loads((tmp_path / "run" / "run.json").read_text())["warnings"]
        assert capsys.readouterr().err == f"subspaces: warning: {warning}\n"
        assert "because of a bug in subspaces: ZeroDivisionError: division by zero" in warning
        trace = Path(warning.rpartition(" ")[2])
        assert "ZeroDivisionError" in trace.read_text()
        trace.unlink()

    def test_warnings_of_the_library_are_printed_and_recorded(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        np.save("noise.npy", np.repeat(np.random.RandomState(0).standard_normal((3, 5)), 20, axis=0))
        assert cli.main(["fit", "noise.npy", "-k", "8", "--no-report", "--out", "run"]) == 0
        printed = capsys.readouterr().err.splitlines()
        run = json.loads((tmp_path / "run" / "run.json").read_text())
        assert run["warnings"]
        assert [f"subspaces: warning: {warning}" for warning in run["warnings"]] == [
            line for line in printed if "warning" in line
        ]

    @pytest.mark.parametrize("more", [[], ["--dry-run"]])
    def test_more_rows_than_a_csv_file_should_have_are_refused_before_the_fit(
        self, more, rows, tmp_path, monkeypatch, capsys
    ):
        from subspaces import FLS
        from subspaces.cli import results

        monkeypatch.setattr(results, "MOST_CSV_ROWS", 100)
        monkeypatch.setattr(FLS, "fit", lambda self, X: pytest.fail("work was done"))
        assert cli.main(["fit", "rows.npy", "-k", "2", "--out", "labels.csv", *more]) == 2
        assert "more than 100 rows, too many for CSV: name labels.npy" in capsys.readouterr().err
        assert names(tmp_path) == {"rows.csv", "rows.npy"}

    @pytest.mark.parametrize("more", [[], ["--dry-run"]])
    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (
                "--whiten-drop 100",
                "--whiten-drop 100 must be between 0 and 7: X has n_samples=120 and n_features=8.",
            ),
            ("--pca 9", "--pca 9 must be between 1 and 8: X has n_samples=120 and n_features=8."),
            ("--pca 3 --whiten-drop 5", "--pca 3 must be at least 6: --whiten-drop 5 of them are left out."),
        ],
    )
    def test_a_plan_refuses_what_a_fit_would(self, words, message, more, rows, capsys):
        assert cli.main(["fit", "rows.npy", "-k", "2", *words.split(), *more]) == 2
        assert capsys.readouterr().err == f"subspaces: {message}\n"

    @pytest.mark.parametrize("command", ["fit", "choose", "compare"])
    def test_components_that_are_all_left_out_are_refused_before_rows_are_read(self, command, tmp_path, capsys):
        assert cli.main([command, str(tmp_path / "missing.npy"), "--pca", "3", "--whiten-drop", "3"]) == 2
        assert "--pca 3 must be at least 4" in capsys.readouterr().err

    def test_a_plan_counts_the_columns_that_stay(self, rows, capsys):
        assert cli.main(["fit", "rows.npy", "-k", "2", "--whiten-drop", "2", "--dry-run", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["columns"] == 6

    def test_stdin(self, rows, tmp_path, monkeypatch, capsys):
        content = (tmp_path / "rows.csv").read_bytes()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert cli.main(["fit", "-", "-k", "2", "--truth", "kind", "--no-report", "--out", "piped"]) == 0
        assert cli.main(["fit", "rows.csv", "-k", "2", "--truth", "kind", "--no-report", "--out", "read"]) == 0
        assert np.array_equal(np.load("piped/labels.npy"), np.load("read/labels.npy"))
        assert cli.main(["fit", "--again", "piped"]) == 2
        assert "standard input, which were not kept" in capsys.readouterr().err

    def test_a_dry_run_of_another_method(self, rows, tmp_path, capsys):
        assert cli.main(["fit", "rows.npy", "-k", "2", "--method", "kasp", "--dry-run"]) == 0
        assert "120 rows of 8 columns; KASP" in capsys.readouterr().out
        assert cli.main(["fit", "rows.npy", "-k", "2", "--dry-run", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["plan"]["n_rows"] == 120
        assert document["report_seconds"] > document["seconds"]
        assert "the report takes up to" in document["text"]
        assert cli.main(["fit", "rows.npy", "-k", "2", "--dry-run", "--no-report"]) == 0
        assert "the report takes" not in capsys.readouterr().out
        assert names(tmp_path) == {"rows.csv", "rows.npy"}


class TestLargerThanMemory:
    @pytest.fixture
    def large(self, tmp_path, monkeypatch):
        """Rows of 17 MB, more than half of the least memory limit."""
        monkeypatch.chdir(tmp_path)
        X, y = make_subspaces((2, 3), 50, points_per_subspace=21_500, outliers=0, random_state=0)
        np.save("rows.npy", X)
        return y

    def test_labels_go_straight_to_disk(self, large, tmp_path, monkeypatch):
        from subspaces.cli import page

        seen = []
        monkeypatch.setattr(page, "describe", lambda model, rows, **given: seen.append((rows.shape, given)) or Page())
        words = ["-k", "2", "--memory-limit", "32MB", "--set", "n_landmarks=100", "--set", "n_draws=1", "--dim", "3"]
        assert cli.main(["fit", "rows.npy", *words, "--out", "run"]) == 0
        labels = np.load(tmp_path / "run" / "labels.npy", mmap_mode="r")
        assert clustering_accuracy(large, labels) > 0.95
        model = load(tmp_path / "run" / "model.subspaces")
        assert not hasattr(model, "labels_")
        # The page is of a sample, with the labels of that sample.
        (shape, given), run = seen[0], json.loads((tmp_path / "run" / "run.json").read_text())
        assert shape == (20_000, 50)
        assert len(given["labels"]) == 20_000
        assert {"pass 1 over the rows", "pass 2 over the rows"} <= {stage["name"] for stage in run["stages"]}
        # New rows are labelled in blocks, too.
        assert cli.main(["predict", "run", "rows.npy", "--out", "found.npy"]) == 0
        assert (np.load("found.npy") == labels).mean() > 0.999

    def test_a_checkpoint_gives_the_same_labels(self, large):
        words = ["-k", "2", "--memory-limit", "32MB", "--set", "n_landmarks=100", "--set", "n_draws=1", "--dim", "3"]
        words += ["--no-report"]
        assert cli.main(["fit", "rows.npy", *words, "--out", "one.npy"]) == 0
        assert cli.main(["fit", "rows.npy", *words, "--checkpoint", "kept", "--out", "two.npy"]) == 0
        assert cli.main(["fit", "rows.npy", *words, "--checkpoint", "kept", "--out", "three"]) == 0
        assert np.array_equal(np.load("one.npy"), np.load("two.npy"))
        assert np.array_equal(np.load("one.npy"), np.load("three/labels.npy"))


class Page:
    """A report without content."""

    def __init__(self):
        self.data = {"verdict": {}, "warnings": [], "profiles": []}

    def to_html(self):
        return "<!doctype html>"


@pytest.mark.parametrize(
    "arguments",
    [
        ["missing.npy", "-k", "2"],
        ["rows.npy", "-k", "two"],
        ["rows.npy", "-k", "0"],
        ["rows.npy", "-k", "999"],
        ["rows.npy", "-k", "2", "--dim", "80"],
        ["rows.npy", "-k", "2", "--memory-limit", "much"],
        ["rows.npy", "-k", "2", "--out", "rows.npy"],
        ["rows.npy", "-k", "2", "--out", "rows.npy/labels.npy"],
        ["rows.npy", "-k", "2", "--device", "nowhere"],
        ["text.npy", "-k", "2"],
        ["text.csv", "-k", "2"],
        [".", "-k", "2"],
    ],
    ids=" ".join,
)
def test_mistakes_are_one_line(rows, tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    for name in ("text.npy", "text.csv"):
        (tmp_path / name).write_text("no numbers")
    before = sorted(tmp_path.iterdir())
    assert cli.main(["fit", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "Traceback" not in captured.err
    assert sorted(tmp_path.iterdir()) == before


class TestLabelsOnStdout:
    def test_csv_on_stdout_and_the_summary_on_stderr(self, rows, tmp_path, capsys):
        assert cli.main(["fit", "rows.npy", "-k", "2", "--out", "-"]) == 0
        printed = capsys.readouterr()
        assert cli.main(["fit", "rows.npy", "-k", "2", "--out", "labels.csv", "-q"]) == 0
        assert printed.out == (tmp_path / "labels.csv").read_text()
        assert "2 clusters of 120 rows" in printed.err
        assert not (tmp_path / "-").exists()
        assert cli.main(["fit", "rows.npy", "-k", "2", "--out", "-", "-q"]) == 0
        assert capsys.readouterr().err == ""

    def test_json_has_the_labels(self, rows, capsys):
        assert cli.main(["fit", "rows.npy", "-k", "2", "--out", "-", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert len(document["labels"]) == 120
        assert set(document["labels"]) == {0, 1}
        assert document["out"] == "-"


def test_outliers_may_have_a_name_in_the_truth(rows, capsys):
    X, y = rows
    write_csv(Path("named.csv"), X, "abcdefgh", ["Outlier" if i < 12 else f"class {c}" for i, c in enumerate(y)])
    assert cli.main(["fit", "named.csv", "-k", "2", "--truth", "kind", "--out", "run", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["scores"]["accuracy"] > 0.95
    assert "12 of 120 rows have the true class 'Outlier': scores leave them out" in printed.err


def test_a_comma_in_the_name_of_a_column(rows):
    write_csv(Path("commas.csv"), rows[0], ["a", "b, in mm", *"cdefgh"])
    assert (
        cli.main(["fit", "commas.csv", "-k", "2", "--columns", 'c, "b, in mm",d', "--out", "run", "--no-report"]) == 0
    )
    assert json.loads(Path("run/run.json").read_text())["rows"]["columns"] == ["c", "b, in mm", "d"]
    assert cli.main(["fit", "--again", "run", "--out", "again", "--no-report"]) == 0


def test_a_comma_in_the_name_of_a_column_without_quotes(rows, capsys):
    write_csv(Path("commas.csv"), rows[0], ["a", "b, in mm", *"cdefgh"])
    assert cli.main(["fit", "commas.csv", "-k", "2", "--drop", "b, in mm", "--out", "run"]) == 2
    assert """needs double quotes: --drop '"b, in mm"'""" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["--standardize", "--standardise"])
def test_both_spellings(rows, word):
    assert cli.main(["fit", "rows.csv", "-k", "2", word, "--out", "run", "--no-report"]) == 0
    assert json.loads(Path("run/run.json").read_text())["options"]["standardise"] is True
    Path("options.toml").write_text("no-standardize = true\nclusters = 2\n")
    assert cli.main(["fit", "rows.csv", "--config", "options.toml", "--out", "other", "--no-report"]) == 0
    assert json.loads(Path("other/run.json").read_text())["options"]["standardise"] is False


def test_a_suggestion_ends_with_its_question_mark(rows, capsys):
    assert cli.main(["fit", "rows.csv", "--columns", "xx1", "--out", "run"]) == 2
    assert capsys.readouterr().err.rstrip().endswith("?")


class TestScales:
    @pytest.fixture
    def table(self, rows):
        X = rows[0] * np.r_[1000.0, np.ones(7)]
        write_csv(Path("scales.csv"), X, ["weight, in g", *"bcdefgh"])

    @pytest.mark.parametrize("options", [["--method", "kflats"], ["--pca", "3", "--method", "kflats"]])
    def test_columns_that_decide_alone_are_named(self, table, capsys, options):
        assert cli.main(["fit", "scales.csv", "-k", "2", "--out", "labels.csv", *options]) == 0
        (line,) = [line for line in capsys.readouterr().err.splitlines() if "variance" in line]
        assert "column 'weight, in g' of 8 has 99.9% of the variance" in line
        assert "--standardise" in line

    @pytest.mark.parametrize("options", [["--standardise"], ["--no-standardise"], ["--standardise", "--pca", "3"]])
    def test_there_is_no_warning_if_the_user_has_decided(self, table, capsys, options):
        words = ["fit", "scales.csv", "-k", "2", "--out", "labels.csv", "--method", "kflats", *options]
        assert cli.main(words) == 0
        assert "variance" not in capsys.readouterr().err

    @pytest.mark.parametrize(("options", "said"), [([], True), (["--no-standardise"], False)])
    def test_columns_that_the_fit_standardises_are_a_note(self, table, capsys, options, said):
        assert cli.main(["fit", "scales.csv", "-k", "2", "--out", "run", *options]) == 0
        notes = json.loads(Path("run/run.json").read_text())["notes"]
        assert any("--no-standardise" in note for note in notes) == said
        assert ("divided by their standard deviations" in capsys.readouterr().err) == said
        assert ("--no-standardise keeps them" in Path("run/report.html").read_text()) == said


def test_a_column_that_numbers_the_rows_can_be_dropped_as_the_warning_says(rows, capsys):
    write_csv(Path("numbered.csv"), np.column_stack([np.arange(120), rows[0]]), ["no, of row", *"abcdefgh"])
    assert cli.main(["fit", "numbered.csv", "-k", "2", "--out", "labels.npy"]) == 0
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "numbers the rows" in line]
    words = shlex.split(line.partition(" by ")[2])
    assert cli.main(["fit", "numbered.csv", "-k", "2", "--out", "other.npy", *words]) == 0
    assert "numbers the rows" not in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--truth", "--drop"])
def test_a_column_of_classes_can_be_left_out_as_the_warning_says(rows, capsys, option):
    write_csv(Path("classes.csv"), np.column_stack([rows[0], np.arange(120) % 3]), [*"abcdefgh", "the, kind"])
    assert cli.main(["fit", "classes.csv", "-k", "2", "--out", "labels.npy"]) == 0
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "has only 3 different values" in line]
    words = shlex.split(line)
    assert cli.main(["fit", "classes.csv", "-k", "2", "--out", "other.npy", *words[words.index(option) :][:2]]) == 0
    assert "different values" not in capsys.readouterr().err
