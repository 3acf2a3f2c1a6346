"""Stored and resumed runs, measurements, and the plan of the experiments."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from subspaces._core.errors import InputError
from subspaces._core.files import write_whole
from subspaces._core.progress import listening
from subspaces.paper.reproduce import data, measure, published, runner
from subspaces.paper.reproduce.data import load, tilted_subspaces
from subspaces.paper.reproduce.estimators import build, parameters
from subspaces.paper.reproduce.kept import Kept
from subspaces.paper.reproduce.machine import environment
from subspaces.paper.reproduce.methods import METHODS, PAPER_METHODS, rough_seconds
from subspaces.paper.reproduce.motions import MOTION_METHODS, motion_tasks
from subspaces.paper.reproduce.pixels import PIXEL_METHODS, pixel_tasks
from subspaces.paper.reproduce.processes import outcomes
from subspaces.paper.reproduce.reading import READING_METHODS, reading_tasks
from subspaces.paper.reproduce.robustness import robustness_tasks
from subspaces.paper.reproduce.tables import TABLES, table_tasks
from subspaces.paper.reproduce.task import Outcome, Task, fingerprint
from subspaces.paper.reproduce.tradeoff import TRADEOFF_METHODS, tradeoff_tasks

ROOT = Path(__file__).parents[2]
PAPER = ROOT.parent / "shared" / "paper" / "fast_landmark_subspace_clustering.tex"
SMALL = {"set": "subspaces", "dims": [2, 2], "ambient_dim": 6, "points_per_subspace": 30}


def a_task(seed=0, method="kmeans", data=SMALL, **changed):
    return Task("small", method, data, METHODS[method].spec(2), 2, seed, 1.0, **changed)


def refuse(kept, record):
    """Check that reading the record raises an error that names the file."""
    kept.path.write_text(json.dumps(record))
    with pytest.raises(ValueError, match=rf"{kept.experiment}\.json is damaged"):
        kept.read()


class TestResume:
    def test_resume_after_interrupt(self, tmp_path, monkeypatch):
        tasks, kept, measured = [a_task(seed) for seed in range(4)], Kept(tmp_path, "synthetic"), []

        def interrupted(task):
            if len(measured) == 2:
                raise KeyboardInterrupt
            measured.append(task.seed)
            return Outcome(0.5, 1.0, (60, 6), None)

        monkeypatch.setattr(measure, "measure", interrupted)
        with pytest.raises(KeyboardInterrupt):
            runner.run(tasks, kept, jobs=1)
        assert [task.seed for task in kept.missing(tasks)] == [2, 3]
        measured[:] = []
        events = []
        with listening(events.append):
            runner.run(tasks[:4], kept, jobs=1)
        messages = [event.detail for event in events]
        assert measured == [2, 3]
        assert "2 of 4 draws are already stored" in messages[0]
        assert messages[1] == "synthetic: 2 draws to measure, about 2 s"
        assert [(event.kind, event.done, event.total) for event in events[2:]] == [("advance", 1, 2), ("advance", 2, 2)]
        assert {event.stage for event in events} == {"synthetic"}
        assert re.search(r"1/2, .* left: small, kmeans, draw 2: 0.500 \(1.00 s\)", messages[2])
        assert [draw["seed"] for draw in kept.read()["cells"]["small"]["kmeans"]["draws"]] == [0, 1, 2, 3]

    def test_results_of_earlier_code_are_counted(self, tmp_path):
        tasks, kept = [a_task(seed) for seed in range(3)], Kept(tmp_path, "synthetic")
        for task in tasks:
            kept.add(task, Outcome(0.5, 1.0, (60, 6), None), environment(1))
        record = kept.read()
        record["cells"]["small"]["kmeans"]["draws"][0]["source"] = "earlier"
        kept.write(record)
        events = []
        with listening(events.append):
            runner.run(tasks, kept, jobs=1)
        assert [event.detail for event in events] == [
            "synthetic: 3 of 3 draws are already stored, 1 of them by an earlier version of the code"
        ]

    @pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
    def test_killed_run_leaves_valid_files(self, tmp_path):
        code = (
            "import sys, time\n"
            "from pathlib import Path\n"
            "from subspaces.paper.reproduce import measure, runner\n"
            "from subspaces.paper.reproduce.kept import Kept\n"
            "from subspaces.paper.reproduce.task import Outcome, Task\n"
            "measure.measure = lambda task: time.sleep(0.01) or Outcome(0.5, 1.0, (60, 6), None)\n"
            "tasks = [Task('small', 'kmeans', {'set': 'subspaces'}, {'name': 'KMeans', 'given': {}}, 2, seed, 1.0)\n"
            "         for seed in range(1000)]\n"
            "runner.run(tasks, Kept(Path(sys.argv[1]), 'synthetic'), jobs=1)\n"
        )
        process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
        kept = Kept(tmp_path, "synthetic")
        for _ in range(1000):
            time.sleep(0.02)
            if kept.path.exists() and len(kept.read()["cells"]["small"]["kmeans"]["draws"]) > 5:
                break
        process.send_signal(signal.SIGKILL)
        process.wait()
        draws = kept.read()["cells"]["small"]["kmeans"]["draws"]
        assert [draw["seed"] for draw in draws] == list(range(len(draws)))
        assert len(draws) > 5

    def test_again_measures_stored_draws(self, tmp_path, monkeypatch):
        kept, here = Kept(tmp_path, "synthetic"), environment(1)
        kept.add(a_task(0), Outcome(0.5, 1.0, (60, 6), None), here)
        kept.add(a_task(1), Outcome(0.5, 1.0, (60, 6), None), here)
        monkeypatch.setattr(measure, "measure", lambda task: Outcome(0.75, 1.0, (60, 6), None))
        runner.run([a_task(0)], kept, jobs=1, again=True)
        assert [draw["accuracy"] for draw in kept.read()["cells"]["small"]["kmeans"]["draws"]] == [0.75, 0.5]

    def test_stale_measures_draws_of_other_code(self, tmp_path):
        tasks, kept = [a_task(seed) for seed in range(3)], Kept(tmp_path, "synthetic")
        for task in tasks:
            kept.add(task, Outcome(0.5, 1.0, (60, 6), None), environment(1))
        record = kept.read()
        draws = record["cells"]["small"]["kmeans"]["draws"]
        draws[1]["source"] = "another"
        draws[2].pop("source")
        kept.write(record)
        assert kept.missing(tasks) == []
        assert [task.seed for task in kept.missing(tasks, stale=True)] == [1, 2]

    def test_again_keeps_old_results_until_replaced(self, tmp_path, monkeypatch):
        tasks, kept = [a_task(seed) for seed in range(3)], Kept(tmp_path, "synthetic")
        for task in tasks:
            kept.add(task, Outcome(0.5, 1.0, (60, 6), None), environment(1))

        def interrupted(task):
            if task.seed == 1:
                raise KeyboardInterrupt
            return Outcome(0.75, 1.0, (60, 6), None)

        monkeypatch.setattr(measure, "measure", interrupted)
        with pytest.raises(KeyboardInterrupt):
            runner.run(tasks, kept, jobs=1, again=True)
        assert [draw["accuracy"] for draw in kept.read()["cells"]["small"]["kmeans"]["draws"]] == [0.75, 0.5, 0.5]


class TestProcesses:
    def test_results_do_not_depend_on_processes(self):
        tasks = [a_task(seed) for seed in range(3)]
        apart = {task.seed: outcome.accuracy for task, outcome in outcomes(tasks, 2)}
        assert apart == {task.seed: measure.measure(task).accuracy for task in tasks}

    @pytest.mark.parametrize("jobs", [1, 2])
    @pytest.mark.parametrize(
        ("data", "kind", "message"),
        [
            ({"set": "none"}, InputError, "there is no data set 'none'"),
            ({"set": "tilted"}, RuntimeError, "TypeError: tilted_sub"),
        ],
    )
    def test_errors_stop_all_processes(self, tmp_path, jobs, data, kind, message):
        import multiprocessing

        with pytest.raises(kind, match=f"small, kmeans, draw 0: {message}"):
            runner.run([a_task(data=data)], Kept(tmp_path, "synthetic"), jobs=jobs)
        assert not multiprocessing.active_children()

    def test_dead_process(self):
        results = outcomes([a_task(0), a_task(1)], 1)
        next(results)
        import multiprocessing

        for child in multiprocessing.active_children():
            os.kill(child.pid, signal.SIGTERM)
            child.join()
        with pytest.raises((MemoryError, OSError), match=r"fewer jobs|Broken pipe"):
            list(results)


class TestKept:
    def test_changed_tasks_are_measured_again(self, tmp_path):
        kept = Kept(tmp_path, "synthetic")
        kept.add(a_task(), Outcome(0.5, 1.0, (60, 6), None), environment(1))
        assert kept.missing([a_task()]) == []
        # The device does not change the result.
        assert kept.missing([a_task(device="cuda")]) == []
        for other in (
            a_task(1),
            a_task(data={**SMALL, "noise": 0.1}),
            replace(a_task(), estimator={"name": "KMeans", "given": {"n_init": 3}}),
            replace(a_task(), n_clusters=3),
        ):
            assert kept.missing([other]) == [other]
        kept.add(a_task(1, data={**SMALL, "noise": 0.1}), Outcome(0.25, 1.0, (60, 6), None), environment(1))
        assert [draw["accuracy"] for draw in kept.read()["cells"]["small"]["kmeans"]["draws"]] == [0.25]

    def test_content_of_a_draw(self, tmp_path):
        kept = Kept(tmp_path, "mnist")
        kept.add(a_task(0), Outcome(0.5, 1.0, (60, 6), None), environment(1))
        kept.add(a_task(1), Outcome(0.5, 0.1, (60, 6), "a device"), environment(2))
        record = json.loads(kept.path.read_text())
        first, second = record["cells"]["small"]["kmeans"]["draws"]
        assert "device" not in first
        assert second["device"] == "a device"
        assert (first["environment"], second["environment"]) == (0, 1)
        assert [each["machine"]["processes"] for each in record["environments"]] == [1, 2]
        assert record["environments"][0]["versions"]["subspaces"]
        assert record["command"] == "subspaces reproduce mnist"
        assert str(tmp_path) not in kept.path.read_text()

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"{", "damaged"),
            (b"\xff\xfe", "not text"),
            (b"[]", "does not hold"),
            (b'{"experiment": "mnist"}', "does not hold"),
            (b'{"experiment": "synthetic", "format": 9}', "format 9"),
            (b'{"experiment": "synthetic", "format": 1, "cells": {}}', "damaged"),
            (b'{"experiment": "synthetic", "format": 1, "environments": []}', "damaged"),
            (b'{"experiment": "synthetic", "format": true, "environments": [], "cells": {}}', "format True"),
            (b'{"experiment": "synthetic", "format": 1, "size": 1' + 5000 * b"0" + b"}", "damaged"),
            (b'{"experiment": "synthetic", "format": 1, "environments": [], "cells": {"a": 3}}', "damaged"),
            (b'{"experiment": "synthetic", "format": 1, "environments": [], "cells": {"a": {"b": {}}}}', "damaged"),
        ],
    )
    def test_damaged_and_foreign_files_raise(self, tmp_path, content, message):
        kept = Kept(tmp_path, "synthetic")
        kept.path.write_bytes(content)
        with pytest.raises(ValueError, match=message) as caught:
            kept.read()
        assert "synthetic.json" in str(caught.value)
        assert "another folder" in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_draws_out_of_range_raise(self, tmp_path):
        kept = Kept(tmp_path, "synthetic")
        kept.add(a_task(), Outcome(0.5, 1.0, (60, 6), None), environment(1))
        good = json.loads(kept.path.read_text())
        for name, value in (
            ("accuracy", 2), ("accuracy", float("nan")), ("seconds", "1"), ("seconds", 10**400),
            ("seconds", float("inf")), ("environment", 1), ("environment", False), ("seed", None), ("device", 3),
        ):  # fmt: skip
            bad = json.loads(json.dumps(good))
            bad["cells"]["small"]["kmeans"]["draws"][0][name] = value
            refuse(kept, bad)

    @pytest.mark.parametrize(
        "tags", [[], {"series": ["fls"]}, {"curve": []}, {"value": None}, {"value": "1"}, {"value": 10**400}]
    )
    def test_invalid_tags_raise(self, tmp_path, tags):
        kept = Kept(tmp_path, "tradeoff")
        kept.add(a_task(), Outcome(0.5, 1.0, (60, 6), None), environment(1))
        bad = json.loads(kept.path.read_text())
        bad["cells"]["small"]["kmeans"]["tags"] = tags
        refuse(kept, bad)

    def test_invalid_environments_raise(self, tmp_path):
        kept, good = Kept(tmp_path, "synthetic"), environment(1)
        for bad in (
            "x",
            {"versions": good["versions"]},
            {**good, "versions": [1]},
            {**good, "versions": {"numpy": 2}},
            {**good, "machine": {**good["machine"], "processes": "two"}},
            {**good, "machine": {**good["machine"], "processor": "\ud800"}},
            {**good, "machine": {key: value for key, value in good["machine"].items() if key != "processor"}},
        ):
            refuse(kept, {"experiment": "synthetic", "format": 1, "environments": [bad], "cells": {}})

    def test_a_failed_write_leaves_the_old_file(self, tmp_path, monkeypatch):
        target = tmp_path / "file"
        write_whole(target, "old")
        monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(OSError, match="full"):
            write_whole(target, "new")
        assert target.read_text() == "old"
        assert list(tmp_path.iterdir()) == [target]


class TestMeasure:
    def test_seed_of_data_and_method(self):
        first, again, other = (load(SMALL, seed)[0] for seed in (0, 0, 1))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)

    @pytest.mark.parametrize("key", METHODS)
    def test_build_every_method(self, key):
        spec = METHODS[key].spec(2)
        assert build(spec, 2, 0) is not None
        found = parameters(spec, 2)
        json.dumps(found)
        assert not any("random_state" in name for name in found)
        assert METHODS[key].given_dim == ("given d" in METHODS[key].title)
        if METHODS[key].given_dim:
            assert found["subspace_dim"] == 2
        elif "subspace_dim" in found and not key.endswith("-motions"):
            assert found["subspace_dim"] == "auto"

    def test_time_with_one_thread(self, monkeypatch):
        from subspaces._core.threads import n_threads

        class Model:
            def fit_predict(self, rows):
                self.threads = n_threads()
                return np.zeros(len(rows))

        model = Model()
        monkeypatch.setattr(measure, "build", lambda *arguments: model)
        outcome = measure.measure(a_task())
        assert model.threads == 1
        assert outcome.shape == (64, 6)
        assert outcome.device is None
        assert outcome.accuracy == 0.5

    @pytest.mark.parametrize("angle", [10, 45, 90])
    def test_angle_of_tilted_subspaces(self, angle):
        from subspaces.metrics import principal_angles

        rows, classes = tilted_subspaces(angle, 2, 8, 3, noise=0.0, outliers=0.1, random_state=0)
        bases = [np.linalg.svd(rows[classes == label])[2][:2].T for label in range(3)]
        for one, other in ((0, 1), (0, 2), (1, 2)):
            np.testing.assert_allclose(np.degrees(principal_angles(bases[one], bases[other])), angle, atol=1e-4)
        assert (classes == -1).sum() == 84


class TestPlan:
    def test_number_of_cells(self):
        assert sum(len(table.cells) for table in TABLES) == 16
        assert len({cell.name for table in TABLES for cell in table.cells}) == 16

    def test_faces_drop_components_except_for_codes(self):
        drops = {task.method: task.data["drop_components"] for task in table_tasks("faces", PAPER_METHODS, 1, "cpu")}
        assert drops == {key: 0 if "ssc" in key else 2 for key in PAPER_METHODS}

    def test_images_are_not_centred_for_the_reading(self):
        for name in ("mnist", "faces"):
            tasks = table_tasks(name, PAPER_METHODS, 1, "cpu")
            uncentred = {task.method for task in tasks if not task.data.get("center", True)}
            assert uncentred == {"fls-paper", "fls-linear"}

    def test_changes_of_the_reading(self):
        tasks = {task.method: task for task in reading_tasks(READING_METHODS, 1) if task.cell == "MNIST 4,9"}
        assert build(tasks["K eigenvectors"].estimator, 2, 0).n_components == 2
        assert build(tasks["as it is"].estimator, 2, 0).get_params()["sigma"] == 0.15
        assert "center" not in tasks["images centred"].data
        assert tasks["as it is"].data["center"] is False
        assert reading_tasks([], None) == []

    def test_large_cells_of_ssc_use_the_device(self):
        tasks = [t for name in ("synthetic", "mnist", "pendigits") for t in table_tasks(name, PAPER_METHODS, 1, "cuda")]
        moved = [(task.cell, task.method) for task in tasks if task.device == "cuda"]
        assert len(moved) == 6
        assert {method for _, method in moved} == {"ssc"}

    def test_ssc_of_many_rows_is_run_once(self):
        draws = [task.cell for task in table_tasks("mnist", ["ssc"], None, "cpu")]
        assert len(draws) == len(set(draws)) == 6
        assert len(table_tasks("pendigits", ["ssc"], None, "cpu")) == 10

    def test_published_ssc_is_not_run_on_many_rows(self):
        tasks = [task for name in ("mnist", "pendigits") for task in table_tasks(name, ["ssc-paper"], None, "cpu")]
        few = {f"MNIST {digits}" for digits in ("1,7", "4,9", "2,4,8", "3,6,8")}
        assert {task.cell for task in tasks} == {"penDigits"} | few
        # Draws of many rows differ in the seed of k-means alone.
        assert [task.cell for task in tasks].count("MNIST 4,9") == 1

    def test_motions(self):
        tasks = motion_tasks(["fls", "ssc-motions"], None)
        assert len(tasks) == 2 * (36 + 10)
        assert len(motion_tasks(["fls"], 12)) == 12 + 10
        assert build(tasks[36].estimator, 2, 0).affine is True

    def test_pixels(self):
        assert len(set(data.CHOICES)) == data.N_CHOICES == 136
        drawn = [data.CHOICES[data.STRIDE * seed % data.N_CHOICES] for seed in range(data.N_CHOICES)]
        assert set(drawn) == set(data.CHOICES)
        assert {(choice[0] - 1) // 10 for choice in drawn[:10]} >= {0, 1, 2}
        tasks = pixel_tasks(["ssc-paper"], None)
        assert len(tasks) == 136
        assert build(tasks[0].estimator, 8, 0).solver.outliers is True

    def test_number_of_draws(self):
        assert len(table_tasks("synthetic", ["fls"], None, "cpu")) == 80
        assert len(table_tasks("synthetic", ["fls"], 2, "cpu")) == 16

    def test_task_names_are_unique(self):
        for tasks in (
            table_tasks("mnist", PAPER_METHODS, None, "cpu"),
            robustness_tasks(["fls", "kmeans"], None),
            tradeoff_tasks(TRADEOFF_METHODS, None),
            reading_tasks(READING_METHODS, None),
            motion_tasks(MOTION_METHODS, None),
            pixel_tasks(PIXEL_METHODS, None),
        ):
            assert len({(task.cell, task.method, task.seed) for task in tasks}) == len(tasks)
            assert all(task.weight > 0 for task in tasks)

    def test_ends_of_curves(self):
        data = {(task.tags["curve"], task.tags["value"]): task.data for task in robustness_tasks(["fls"], 1)}
        assert data["outliers", 0.6]["outliers"] == 0.6
        assert data["sizes", 20]["points_per_subspace"] == [400, 89, 20]
        assert data["dimensions", 8]["dims"] == [1, 5, 9]

    def test_rough_seconds_grow_with_the_cost_of_a_method(self):
        assert rough_seconds("ssc", 54_077, 80) > rough_seconds("fls", 54_077, 80)

    def test_fingerprints_do_not_depend_on_order(self):
        assert fingerprint({"a": 1, "b": [2]}) == fingerprint({"b": [2], "a": 1})
        assert fingerprint({"a": 1}) != fingerprint({"a": 2})


def printed_tables():
    """Rows of numbers of the tables in the source of the paper, by label."""
    tables = {}
    text = re.sub(r"(?m)^\s*%.*$", "", PAPER.read_text())
    for block in re.findall(r"\\begin\{table\}.*?\\end\{table\}", text, re.DOTALL):
        label = re.search(r"\\label\{table:(\w+)\}", block)[1]
        body = re.search(r"\\midrule(.*?)\\bottomrule", block, re.DOTALL)[1]
        rows = [line.split("&") for line in body.split(r"\\") if "&" in line]
        tables[label] = {name.strip(): [printed_cell(cell) for cell in cells] for name, *cells in rows}
    return tables


def printed_cell(text):
    if "N/A" in text:
        return None
    accuracy, seconds = re.fullmatch(r"([\d.]+)\(([\d.]+)\)", re.sub(r"\\bf|[{}\s]", "", text)).groups()
    return published.Printed(float(accuracy), float(seconds))


@pytest.mark.skipif(not PAPER.exists(), reason="the source of the paper is not here")
def test_published_numbers_match_the_source():
    tables = printed_tables()
    ours = {name: {method: list(row) for method, row in table.items()} for name, table in published.PUBLISHED.items()}
    assert ours["synthetic 5%"] == tables["synthetic5"]
    assert ours["synthetic 30%"] == tables["synthetic30"]
    assert ours["mnist"] == tables["mnist"]
    for name, row in (("faces", "ExtendYB"), ("pendigits", "penDigits")):
        methods = dict(zip(("FLS", "LBF", "SSC", "SSSC"), tables["3sets"][row], strict=True))
        assert {method: cells[0] for method, cells in ours[name].items()} == methods
