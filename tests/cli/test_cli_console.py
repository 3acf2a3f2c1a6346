"""Progress on stderr and its record."""

import sys
import threading
import warnings
from contextvars import copy_context

import numpy as np
import pytest

from subspaces._core import progress
from subspaces.cli import console as console_module
from subspaces.cli.console import Console
from subspaces.cli.watched import WatchedRows
from subspaces.rows import open_rows


def test_events_of_the_library_are_stages():
    with Console(quiet=True) as console:
        console.stage("reading rows")
        progress.stage("flats at landmarks", "fitting flats at 20 landmarks")
        progress.note("3 clusters")
        progress.stage("partition", "choosing a partition of 100 rows")
        progress.advance("partition", 5, 10)
        progress.stage("flats at landmarks")
        progress.advance("coding rows", 5, 10)
    progress.stage("after the command")
    assert list(console.stages) == ["reading rows", "flats at landmarks", "partition", "coding rows"]
    assert all(seconds >= 0 for seconds in console.stages.values())


def test_a_whole_stage_is_not_divided():
    with Console(quiet=True) as console:
        console.stage("report", whole=True)
        progress.stage("partition")
        progress.advance("affinities", 1, 2)
        console.stage("finishing")
    assert list(console.stages) == ["report", "finishing"]


def test_stages_of_several_fits_have_a_prefix():
    with Console(quiet=True) as console:
        for name in ("fls", "lbf"):
            console.prefix = f"{name}: "
            progress.stage("partition")
    assert list(console.stages) == ["fls: partition", "lbf: partition"]


def test_verbose_prints_stages_and_notes(capsys):
    with Console(verbose=True) as console:
        console.stage("reading rows")
        progress.stage("flats at landmarks", "fitting flats at 20 landmarks")
        progress.note("3 clusters")
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = ["reading rows", "fitting flats at 20 landmarks", "3 clusters"]
    assert captured.err == "".join(f"subspaces: {line}\n" for line in lines)


def test_events_of_worker_threads(capsys):
    with Console(verbose=True):
        threads = [threading.Thread(target=copy_context().run, args=(progress.note, f"result {i}")) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(capsys.readouterr().err.splitlines()) == [f"subspaces: result {i}" for i in range(8)]


def test_the_time_left_is_shown(capsys, monkeypatch):
    monkeypatch.setattr(console_module, "SECONDS_BETWEEN_LINES", 0.0)
    with Console():
        progress.stage("coding rows")
        progress.advance("coding rows", 250, 1000)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "subspaces: coding rows"
    assert lines[1].startswith("subspaces: coding rows: 250 of 1,000, about ")


def test_lines_are_rare_without_a_terminal(capsys):
    with Console():
        for done in range(1000):
            progress.advance("coding rows", done, 1000)
    assert capsys.readouterr().err == ""


def test_warnings_are_one_line_each_and_once(capsys):
    with Console() as console:
        for _ in range(2):
            warnings.warn("labels are\na coin toss", UserWarning, stacklevel=1)
        warnings.warn("of no use to users", DeprecationWarning, stacklevel=1)
    assert console.warnings == ["labels are a coin toss"]
    assert capsys.readouterr().err == "subspaces: warning: labels are a coin toss\n"


def test_an_error_is_not_preceded_by_warnings(capsys):
    def work():
        with Console() as console:
            console.stage("reading rows")
            console.remark("a column is left out")
            warnings.warn("careful", UserWarning, stacklevel=1)
            raise ValueError("mistake")

    with pytest.raises(ValueError, match="mistake"):
        work()
    assert capsys.readouterr().err == ""


def test_quiet_is_quiet(capsys):
    with Console(quiet=True) as console:
        console.remark("a column is left out")
        warnings.warn("careful", UserWarning, stacklevel=1)
    assert console.notes == ["a column is left out"]
    assert console.warnings == ["careful"]
    assert capsys.readouterr().err == ""


def test_passes_over_rows_are_shown(capsys, monkeypatch):
    monkeypatch.setattr(console_module, "SECONDS_BETWEEN_LINES", 0.0)
    with Console() as console:
        console.begin_pass()
        console.advance(250, 1000)
    printed = capsys.readouterr().err.splitlines()
    assert printed[0] == "subspaces: pass 1 over the rows"
    assert printed[1].startswith("subspaces: pass 1 over the rows: 250 of 1,000, about ")


def test_a_terminal_gets_a_bar_that_is_removed(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    with Console() as console:
        console.stage("reading rows")
        console.begin_pass()
        console.advance(500, 1000)
        assert console._bar is not None
        console._bar.refresh()
    captured = capsys.readouterr()
    assert "pass 1 over the rows" in captured.err
    assert captured.out == ""
    # At the end the line of the bar is cleared.
    assert captured.err.endswith("\x1b[2K")


def watched_rows(console):
    return WatchedRows(open_rows(np.arange(20.0).reshape(10, 2), block_rows=4), console)


def test_watched_rows_are_the_rows():
    with Console(quiet=True) as console:
        rows = watched_rows(console)
        assert np.array_equal(np.concatenate(list(rows.blocks())), np.arange(20.0).reshape(10, 2))
        assert np.array_equal(rows.take([1, 8]), [[2, 3], [16, 17]])
        assert (rows.n_rows, rows.n_columns, rows.block_rows, rows.n_blocks) == (10, 2, 4, 3)
        again = open_rows(rows, block_rows=5)
        assert isinstance(again, WatchedRows)
        assert [len(block) for block in again.blocks()] == [5, 5]


def test_passes_are_counted_and_the_interrupted_stage_continues():
    with Console(quiet=True) as console:
        console.stage("fit")
        rows = watched_rows(console)
        next(iter(rows.blocks()))  # reading only the first block is not a pass
        list(rows.blocks())
        assert console.current == "fit"
        list(rows.blocks(1))
    assert list(console.stages) == ["fit", "pass 1 over the rows", "pass 2 over the rows"]
