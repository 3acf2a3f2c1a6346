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
    script = tmp_path / "accuracy.py"
    script.write_text("x = 1\n")
    monkeypatch.setattr(kept, "BENCHMARKS", tmp_path)
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(script), raising=False)
    kept.script_source.cache_clear()
    yield kept
    kept.script_source.cache_clear()


def changed(kept):
    (kept.BENCHMARKS / "accuracy.py").write_text("x = 2\n")
    kept.script_source.cache_clear()
    # Files are read once.
    from subspaces.paper.reproduce import provenance

    for cached in (provenance._hash, provenance._tree, provenance._imported, provenance._code):
        cached.cache_clear()


def test_whole_files(kept):
    path = kept.BENCHMARKS / "results" / "accuracy.json"
    assert kept.older("accuracy") == "accuracy (not measured)"
    kept.store(path, {"results": {"a": {}}}, None)
    assert kept.older("accuracy") == "accuracy"
    kept.store(path, {"results": {"a": {}}})
    assert kept.older("accuracy") is None
    changed(kept)
    assert kept.older("accuracy") == "accuracy"


def test_parts(kept):
    path = kept.BENCHMARKS / "results" / "accuracy.json"
    record = {"results": {"a": {}, "b": {}}}
    kept.store(path, record, "a")
    assert kept.older("accuracy") == "accuracy (1 of 2)"
    changed(kept)
    assert kept.older("accuracy") == "accuracy"
    kept.store(path, record, "b")
    assert kept.older("accuracy") == "accuracy (1 of 2)"
    record = json.loads(path.read_text())
    assert kept.is_fresh(record, "accuracy.py", "b")
    assert not kept.is_fresh(record, "accuracy.py", "a")


def test_cells_of_rows(kept):
    path = kept.BENCHMARKS / "results" / "accuracy.json"
    kept.store(path, {"results": {"a": {"x": {}, "y": {}}, "b": {"x": {}}}}, "a, x")
    assert kept.older("accuracy") == "accuracy (2 of 3)"


def test_every_script_of_a_page_exists():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import remeasure
    finally:
        sys.path.pop(0)
    for name, script in remeasure.SCRIPTS.items():
        assert (BENCHMARKS / script).exists()
        assert name in (*remeasure.ORDER, *remeasure.ON_DEVICE)
    assert remeasure.command("accuracy")[1:] == [str(BENCHMARKS / "accuracy.py"), "--stale"]
    assert remeasure.command(remeasure.REPRODUCE)[-1] == "--stale"


def test_marks_are_taken_off(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import tables

    text = "| a |\n|---|\n| 1 |\n<!-- end -->\n- x\n"
    marked = text.replace("| 1 |", "| 1 |\n\n*Measured with earlier code: accuracy.*").replace(
        "- x", "- x\n- Measured with earlier code: b."
    )
    assert tables.without_marks(marked) == text
