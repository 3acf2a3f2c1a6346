"""Any options and any configuration."""

import json
from pathlib import Path

import hostile
import numpy as np
import pytest
from hostile import QUICK, ROWS, VALUES, done, refused, words
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from subspaces import cli
from subspaces.cli.commands.fit import fit

here = pytest.fixture(autouse=True)(hostile.empty_folder)


class TestOptions:
    @pytest.mark.parametrize(
        "arguments",
        words(
            "-k 0",
            "-k -1",
            "-k x",
            "-k 1.5",
            "-k 31",
            "-k 999999999999999999999999",
            "-k ",
            "-k ١",
            "-k nan",
            "-k 2 --whiten 2",
            "-k 2 --whiten -0.1",
            "-k 2 --whiten nan",
            "-k 2 --whiten half",
            "-k 2 --whiten 0.5 --set whiten=0.5",
            "-k 2 --whiten 0.5 --method lbf",
            "-k 2 --dim 4",
            "-k 2 --dim 99",
            "-k 2 --dim x",
            "-k 2 --dim -1",
            "-k 2 --seed -1",
            "-k 2 --seed 4294967296",
            "-k 2 --seed x",
            "-k 2 --seed 1.5",
            "-k 2 --seed ",
            "-k 2 --method nothing",
            "-k 2 --method ",
            "-k 2 --method FLS",
            "--method ssc",
            "--method kasp",
            "-k 2 --method fls-paper",
            "-k 2 --method kasp --dim 2",
            "-k 2 --method lsr --set solver=omp",
            "-k 2 --method lbf --outliers",
            "-k 2 --set n_landmarks",
            "-k 2 --set n_landmarks=",
            "-k 2 --set =5",
            "-k 2 --set n_landmarks=-1",
            "-k 2 --set n_landmarks=x",
            "-k 2 --set n_landmarks=1.5",
            "-k 2 --set n_landmarks=1,2",
            "-k 2 --set n_landmark=50",
            "-k 2 --set n_clusters=2",
            "-k 2 --set random_state=2",
            "-k 2 --set verbose=1",
            "-k 2 --set sigma=0",
            "-k 2 --set sigma=nan",
            "-k 2 --set sigma=1e999",
            "-k 2 --set sigma=-1",
            "-k 2 --set power=0",
            "-k 2 --set affine=maybe",
            "-k 2 --set affine=3",
            "-k 2 --set landmarks=1,2,3",
            "-k 2 --set landmarks=nowhere",
            "-k 2 --set neighborhood=0",
            "-k 2 --set neighborhood=x",
            "-k 2 --set n_draws=0",
            "-k 2 --set detect_outliers=2",
            "-k 2 --set detect_outliers=x",
            "-k 2 --outliers --set detect_outliers=false",
            "-k 2 --set assign=none",
            "-k 2 --set n_components=0",
            "-k 2 --set max_columns=0",
            "--set max_clusters=0",
            "-k 2 --method ssc --set solver=none",
            "-k 2 --method ssc --set mass=7",
            "-k 2 --method sssc --set n_in_sample=0",
            "-k 2 --method kflats --set loss=cubic",
            "-k 2 --method nystrom --set kernel=none",
            "-k 2 --method fourier --set n_features=0",
            "-k 2 --method kasp --set n_centroids=0",
            "-k 2 --memory-limit 0",
            "-k 2 --memory-limit 1KB",
            "-k 2 --memory-limit much",
            "-k 2 --memory-limit -1GB",
            "-k 2 --memory-limit 9999999999TB",
            "-k 2 --memory-limit ",
            "-k 2 --device nowhere",
            "-k 2 --checkpoint rows.npy",
            "-k 2 --checkpoint rows.npy/kept",
            "-k 2 --checkpoint ",
            "-k 2 --columns 9",
            "-k 2 --columns 0",
            "-k 2 --columns nothing",
            "-k 2 --columns 3-1",
            "-k 2 --columns ,",
            "-k 2 --drop 1-4",
            "-k 2 --drop 9",
            "-k 2 --truth 9",
            "-k 2 --truth nothing",
            "-k 2 --truth missing.npy",
            "-k 2 --truth 1 --columns 1,2",
            "-k 2 --names nothing",
            "-k 2 --key X",
            "-k 2 --missing guess",
            "-k 2 --image-shape 3x3",
            "-k 2 --image-shape 0x4",
            "-k 2 --image-shape x",
            "-k 2 --image-shape 2",
            "-k 2 --image-shape 2x2x2x2",
            "-k 2 --image-size 2x2",
            "-k 2 --pca 0",
            "-k 2 --pca -1",
            "-k 2 --pca 5",
            "-k 2 --pca 1000000000",
            "-k 2 --pca x",
            "-k 2 --whiten-drop -1",
            "-k 2 --whiten-drop 4",
            "-k 2 --pca 2 --whiten-drop 2",
            "-k 2 --config missing.toml",
            "-k 2 --config rows.npy",
            "-k 2 --config .",
            "-k 2 --again missing",
            "-k 2 --again .",
            "-k 2 --nonsense",
            "-k",
            "-k 2 more.npy",
            "-k 2 rows.npy --seed",
        ),
        ids=" ".join,
    )
    def test_mistakes(self, arguments, capsys):
        np.save("rows.npy", ROWS)
        line = refused(["fit", "rows.npy", *arguments, "--out", "run", "--no-report"], capsys)
        # It names an option, or the parameter or file at fault.
        named = [word for word in arguments if word.startswith("-")]
        assert any(word in line for word in (*named, arguments[-1].partition("=")[0]))

    @pytest.mark.parametrize(
        "arguments",
        words(
            "-k 30",
            "-k 1",
            "-k +2",
            "-k 2 --dim 3",
            "-k 2 --seed 4294967295",
            "-k 2 --set n_landmarks=1",
            "-k 2 --set n_landmarks=100000",
            "-k 2 --set n-landmarks=10",
            "-k 2 --set sigma=1e-3",
            "-k 2 --columns 2,1",
            "-k 2 --columns 2-4 --drop 3",
            "-k 2 --pca 4",
            "-k 2 --whiten-drop 2",
            "-k 2 --image-shape 2x2",
            "-k 2 --memory-limit 32MB",
            "-k 2 --checkpoint run/../kept",
            "-k 2 -q -v --json",
        ),
        ids=" ".join,
    )
    def test_what_is_allowed(self, arguments, capsys):
        np.save("rows.npy", ROWS)
        if "--checkpoint" in arguments:
            arguments = ["-k", "2", "--checkpoint", "../kept"]
        done(["fit", "rows.npy", *arguments, "--out", "run", "--no-report"], capsys, out="run")
        found = json.loads(Path("run/run.json").read_text())
        assert found["fit"]["n_clusters"] == int(arguments[1])
        assert sum(found["fit"]["sizes"]) == 30

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(
        st.lists(
            st.one_of(
                st.sampled_from([option.opts[-1] for option in fit.params if option.name not in ("verbose", "data")]),
                st.text(max_size=6),
            ),
            max_size=6,
        )
    )
    def test_any_words_give_labels_or_are_refused(self, capsys, arguments):
        if any(word in ("-h", "--help") for word in arguments):
            return
        for name in ("labels.npy", "rows.npy"):
            Path(name).unlink(missing_ok=True)
        np.save("rows.npy", ROWS)
        capsys.readouterr()
        code = cli.main(["fit", *arguments, "rows.npy", *QUICK, "--out=labels.npy"])
        captured = capsys.readouterr()
        assert code in (0, 2), captured.err
        assert code == 0 or (captured.out == "" and captured.err.count("\n") == 1)
        assert Path("labels.npy").exists() == (code == 0 and "--dry-run" not in arguments)
        if Path("labels.npy").exists():
            assert set(np.load("labels.npy")) == {0, 1}


def run_json(options):
    """The content of a run.json with these options."""
    return json.dumps({"format": "subspaces run", "version": 1, "command": "fit", "options": options})


RUNS = {
    "empty": "",
    "a list": "[]",
    "another format": '{"format": "another"}',
    "no version": '{"format": "subspaces run"}',
    "a newer version": '{"format": "subspaces run", "version": 99}',
    "no options": '{"format": "subspaces run", "version": 1, "command": "fit"}',
    "of another command": '{"format": "subspaces run", "version": 1, "command": "compare", "options": {}}',
    "no data": run_json({}),
    "an option of no kind": run_json({"nothing": 1}),
    "an option of another kind": run_json({"seed": "x"}),
    "data of another kind": run_json({"data": [3]}),
    "data that is gone": run_json({"data": ["a.csv"]}),
    "nested": '{"a":' * 50000,
    "not text": b"\xff\xfe\xfd",
}
TOMLS = {
    "no TOML": "clusters 2",
    "an unknown key": "clustres = 2",
    "a wrong type": "clusters = []",
    "a date": "clusters = 2020-01-01",
    "a table": "[clusters]\nx = 1",
    "an array of numbers": "data = [1, 2]",
    "no data": "clusters = 2",
    "nan": "clusters = nan",
    "too large": "seed = 99999999999",
    "nested": "x = " + "[" * 3000 + "]" * 3000,
    "itself": 'config = "options.toml"',
    "set of sets": "[set.a]\nb = 1",
    "set to a list of tables": "[[set]]\nn_landmarks = 3",
    "zero bytes": "clusters = 2\0",
}


class TestConfigurations:
    @pytest.mark.parametrize("name", RUNS)
    def test_runs(self, name, capsys):
        Path("old").mkdir()
        content = RUNS[name]
        Path("old/run.json").write_bytes(content if isinstance(content, bytes) else content.encode())
        np.save("rows.npy", ROWS)
        refused(["fit", "--again", "old", "--out", "run"], capsys)
        refused(["report", "old"], capsys, "run.json")
        refused(["predict", "old", "rows.npy"], capsys, "run.json")

    @pytest.mark.parametrize("entry", [{"data": 5}, {"data": [5]}, {"data": "x"}, {"data": [{}]}, {"environment": [1]}])
    def test_entries_of_a_run_that_have_another_type(self, entry, capsys):
        np.save("rows.npy", ROWS)
        done(["fit", "rows.npy", *QUICK, "--out", "old", "--no-report"], capsys, out="old")
        path = Path("old/run.json")
        path.write_text(json.dumps({**json.loads(path.read_text()), **entry}))
        message = f"{next(iter(entry))} has another type; fit again"
        refused(["fit", "--again", "old", "--out", "run"], capsys, message)
        refused(["report", "old"], capsys, message)

    @pytest.mark.parametrize("name", TOMLS)
    def test_tomls(self, name, capsys):
        Path("options.toml").write_text(TOMLS[name])
        refused(["fit", "--config", "options.toml", "--out", "run"], capsys)

    def test_line_ends_of_windows_and_a_byte_order_mark(self, capsys):
        np.save("rows.npy", ROWS)
        Path("options.toml").write_bytes(b'\xef\xbb\xbfdata = "rows.npy"\r\nclusters = 2\r\nmethod = "kasp"\r\n')
        done(["fit", "--config", "options.toml", "--out", "labels.npy"], capsys, out="labels.npy")
        assert set(np.load("labels.npy")) == {0, 1}


class TestOtherCommands:
    @pytest.mark.parametrize("cut", [0, 1, 10, 200, -4])
    @pytest.mark.parametrize("file", ["model.subspaces", "labels.npy", "run.json"])
    def test_a_damaged_run(self, file, cut, capsys):
        np.save("rows.npy", ROWS)
        done(["fit", "rows.npy", *QUICK, "--out", "run", "--no-report"], capsys, out="run")
        labels = np.load("run/labels.npy").tolist()
        path = Path("run") / file
        path.write_bytes(path.read_bytes()[:cut])
        refused(["report", "run", "--out", "page.html"], capsys, file)
        if file == "labels.npy":  # which prediction does not need
            printed = done(["predict", "run", "rows.npy", "--json"], capsys)
            assert json.loads(printed)["labels"] == labels
        else:
            refused(["predict", "run", "rows.npy"], capsys, file)

    @pytest.mark.parametrize("name", ["one NaN", "all zero", "all the same", "as large as can be", "all denormal"])
    @pytest.mark.parametrize("command", [["choose", "--repeats", "1"], ["compare", "-k", "2", "--methods", "kasp,lbf"]])
    def test_values(self, command, name, capsys):
        rows, labels = VALUES[name]
        np.save("rows.npy", rows)
        arguments = [command[0], "rows.npy", *command[1:], "--json"]
        if labels is None:
            refused(arguments, capsys)
            return
        found = json.loads(done(arguments, capsys))
        if command[0] == "choose":
            assert found["n_clusters"] == 1
        else:
            failed = {each["method"]: each["not_run"] for each in found["methods"]}
            assert failed.pop("hdbscan") in (None, "found no clusters: all rows are noise")
            assert failed == dict.fromkeys(("kasp", "lbf", "k-means", "spectral", "mixture"))

    @pytest.mark.parametrize(
        "arguments",
        words(
            "compare rows.npy -k 0",
            "compare rows.npy -k 2 --methods nothing",
            "compare rows.npy -k 2 --methods ,",
            "compare rows.npy -k 2 --repeats 0",
            "compare rows.npy -k 2 --time-limit 0",
            "compare rows.npy -k 99 --methods kasp,landmark",
            "compare rows.npy -k 2 --methods kasp --out rows.npy",
            "compare",
            "choose",
            "choose rows.npy --max-clusters 0",
            "choose rows.npy --repeats x",
            "choose missing.csv",
            "report",
            "report rows.npy",
            "report missing",
            "predict",
            "predict rows.npy",
            "predict rows.npy rows.npy",
            "data fetch",
            "data list digits",
            "data get",
            "data get mnst",
            "data get subspaces --set dims=99",
            "data get subspaces --set noise=x",
            "data get subspaces --seed -1",
            "info extra",
            "fit",
            "nothing",
            "",
            "completion",
            "completion tcsh",
            "demo --seed -1",
            "demo --seed 4294967296",
            "demo --picture missing/picture.png",
            "demo --picture picture.xyz",
            "reproduce nothing",
            "reproduce --draws 0",
            "reproduce --draws x",
            "reproduce --jobs 0",
            "reproduce --methods nothing",
            "reproduce --methods ,",
            "reproduce synthetic --draws 1001",
            "reproduce synthetic --out rows.npy",
            "reproduce --device tpu",
        ),
        ids=" ".join,
    )
    def test_mistakes(self, arguments, capsys):
        np.save("rows.npy", ROWS)
        refused(arguments, capsys)
