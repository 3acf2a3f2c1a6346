"""Stored results of benchmarks know the code that made them."""

import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """The module of the scripts, with a folder of its own."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import kept

    (tmp_path / "results").mkdir()
    script = tmp_path / "choosing.py"
    script.write_text("x = 1\n")
    monkeypatch.setattr(kept, "BENCHMARKS", tmp_path)
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(script), raising=False)
    kept.script_source.cache_clear()
    yield kept
    kept.script_source.cache_clear()


def changed(kept):
    (kept.BENCHMARKS / "choosing.py").write_text("x = 2\n")
    kept.script_source.cache_clear()
    # Files are read once.
    from subspaces.paper.reproduce import provenance

    for cached in (provenance._hash, provenance._lazy, provenance._source):
        cached.cache_clear()


def test_whole_files(kept):
    path = kept.BENCHMARKS / "results" / "choosing.json"
    assert kept.older("choosing") == "choosing (not measured)"
    kept.store(path, {"results": {"a": {}}}, None)
    assert kept.older("choosing") == "choosing"
    kept.store(path, {"results": {"a": {}}})
    assert kept.older("choosing") is None
    changed(kept)
    assert kept.older("choosing") == "choosing"


def test_parts(kept):
    path = kept.BENCHMARKS / "results" / "choosing.json"
    record = {"results": {"a": {}, "b": {}}}
    kept.store(path, record, "a")
    assert kept.older("choosing") == "choosing (1 of 2)"
    changed(kept)
    assert kept.older("choosing") == "choosing"
    kept.store(path, record, "b")
    assert kept.older("choosing") == "choosing (1 of 2)"
    record = json.loads(path.read_text())
    assert kept.is_fresh(record, "choosing.py", "b")
    assert not kept.is_fresh(record, "choosing.py", "a")


@pytest.fixture
def measuring(kept, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import measuring

    return measuring


def squares(results):
    return {"results": {str(task): result for task, result in results.items()}}


def test_an_interrupted_script_goes_on(kept, measuring):
    path = kept.BENCHMARKS / "results" / "choosing.json"
    options = measuring.parser("").parse_args(["--jobs", "2"])
    begun = path.with_suffix(".begun.json")

    def fails_once(task):
        if task == 3:
            raise ValueError("broken")
        return task**2

    with pytest.raises(RuntimeError, match="3: ValueError"):
        measuring.measure(path, [1, 2, 3, 4], fails_once, squares, measuring.parser("").parse_args(["--jobs", "1"]))
    assert not path.exists()
    begun.write_text(
        json.dumps({"sources": {"all": kept.script_source(kept.BENCHMARKS / "choosing.py")}, "results": {"1": -1}})
    )
    # What is kept is not measured again.
    measuring.measure(path, [1, 2, 3, 4], lambda task: task**2, squares, options)
    assert json.loads(path.read_text())["results"] == {"1": -1, "2": 4, "3": 9, "4": 16}
    assert kept.older("choosing") is None
    assert not begun.exists()
    changed(kept)
    assert kept.older("choosing") == "choosing"
    begun.write_text(json.dumps({"sources": {"all": "of earlier code"}, "results": {"1": -1}}))
    measuring.measure(path, [1, 2, 3, 4], lambda task: task**2, squares, options)
    assert json.loads(path.read_text())["results"]["1"] == 1


def test_some_tasks_leave_the_file_as_it_is(kept, measuring):
    path = kept.BENCHMARKS / "results" / "choosing.json"
    options = measuring.parser("").parse_args(["--jobs", "1", "--only", "2"])
    measuring.measure(path, [1, 2], lambda task: task**2, squares, options)
    assert not path.exists()
    assert json.loads(path.with_suffix(".begun.json").read_text())["results"] == {"2": 4}


def test_parts_of_estimators(kept, measuring, monkeypatch):
    script = kept.BENCHMARKS / "methods.py"
    script.write_text("from subspaces import KFlats, SSC\n\nMETHODS = [KFlats, SSC]\n")
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(script), raising=False)
    path = kept.BENCHMARKS / "results" / "methods.json"
    options = measuring.parser("").parse_args(["--jobs", "1"])
    parts = measuring.Parts(lambda task: task, lambda record: record["results"])
    tasks = ["KFlats", "SSC"]
    measuring.measure(path, tasks, lambda task: 1, squares, options, parts=parts)
    assert kept.older("methods") is None
    record = json.loads(path.read_text())
    record["sources"]["SSC"] = "of earlier code"
    path.write_text(json.dumps(record))
    assert kept.older("methods") == "methods (1 of 2)"
    measuring.measure(path, tasks, lambda task: 2, squares, options, parts=parts)
    assert json.loads(path.read_text())["results"] == {"KFlats": 1, "SSC": 2}
    assert kept.older("methods") is None


def test_processes(measuring):
    import time

    import processes
    from threadpoolctl import threadpool_info

    def work(task):
        time.sleep(task)
        return max((each["num_threads"] for each in threadpool_info()), default=1)

    found = dict(processes.outcomes(work, [0, 60], 2, 1.0))
    assert found[0] == 1
    assert found[60] == {"error": "more than 1 s"}


def test_compact(measuring):
    record = {"a": 1, "b": {"c": [1, 2], "d": {"e": [{"f": None}]}}}
    text = measuring.compact(record)
    assert json.loads(text) == record
    assert '"c": [1, 2],' in text


def test_every_script_of_a_page_exists():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import remeasure
    finally:
        sys.path.pop(0)
    for name, script in remeasure.SCRIPTS.items():
        assert (BENCHMARKS / script).exists()
        assert name in (*remeasure.ORDER, *remeasure.ON_DEVICE)
    assert remeasure.command("methods", 4)[1:] == [str(BENCHMARKS / "methods.py"), "--jobs", "4"]
    # Times are measured alone.
    assert "--jobs" not in remeasure.command("products", 4)


def test_marks_are_taken_off(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import tables

    text = "| a |\n|---|\n| 1 |\n<!-- end -->\n- x\n"
    marked = text.replace("| 1 |", "| 1 |\n\n*Measured with earlier code: methods.*").replace(
        "- x", "- x\n- Measured with earlier code: b."
    )
    assert tables.without_marks(marked) == text
