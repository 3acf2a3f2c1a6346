"""Progress as events, and how `verbose` shows them."""

import contextlib
import logging
import sys
import threading

import pytest

from subspaces._core import progress
from subspaces._core import threads as threads_module
from subspaces._core.progress import Event


def emit_all():
    progress.stage("partition", "choosing a partition of 100 rows")
    progress.advance("partition", 5, 10)
    progress.note("3 clusters")


def test_listeners_get_events():
    events = []
    with progress.listening(events.append):
        emit_all()
    emit_all()
    assert events == [
        Event("stage", "partition", "choosing a partition of 100 rows"),
        Event("advance", "partition", "partition: 5 of 10", 5, 10),
        Event("note", "", "3 clusters"),
    ]


def test_events_of_worker_threads(monkeypatch):
    monkeypatch.setattr(threads_module, "n_threads", lambda: 2)
    events = []
    with progress.listening(events.append):
        threads_module.mapped(lambda i: progress.note(str(i)), range(8))
    assert {event.detail for event in events} == {str(i) for i in range(8)}


def test_without_listeners_events_are_logged_for_debugging(caplog):
    caplog.set_level(logging.DEBUG, "subspaces")
    emit_all()
    assert caplog.messages == ["choosing a partition of 100 rows", "partition: 5 of 10", "3 clusters"]


@pytest.mark.parametrize("verbose", [0, False])
def test_nothing_is_shown_by_default(verbose, capsys):
    with progress.shown(verbose):
        emit_all()
    assert capsys.readouterr() == ("", "")


def test_verbose_logs_lines_and_few_advances(caplog):
    caplog.set_level(logging.INFO, "subspaces")
    with progress.shown(1):
        emit_all()
        for done in range(1000):
            progress.advance("partition", done, 1000)
    assert caplog.messages == ["choosing a partition of 100 rows", "3 clusters"]


def test_advances_are_logged_now_and_then(caplog, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_ADVANCES", 0.0)
    caplog.set_level(logging.INFO, "subspaces")
    with progress.shown(1):
        progress.advance("partition", 5, 10)
    assert caplog.messages == ["partition: 5 of 10"]


@contextlib.contextmanager
def no_handlers():
    """The logger in a program that does not set up logging; pytest itself adds handlers to the root logger."""
    logger = logging.getLogger("subspaces")
    logger.propagate = False
    try:
        yield logger
    finally:
        logger.propagate = True


def test_without_logging_lines_go_to_stderr_and_the_logger_is_left_as_it_was(capsys):
    with no_handlers() as logger:
        with progress.shown(1):
            emit_all()
        assert logger.level == logging.NOTSET
        assert logger.handlers == []
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "[subspaces] choosing a partition of 100 rows\n[subspaces] 3 clusters\n"


def test_a_terminal_gets_a_bar_that_is_removed(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    with no_handlers(), progress.shown(1):
        emit_all()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "3 clusters" in captured.err
    assert captured.err.endswith("\x1b[2K")


def test_threads_do_not_receive_events_of_each_other():
    ready = threading.Barrier(2)
    seen = {}

    def work(name):
        events = []
        with progress.listening(events.append):
            ready.wait()
            progress.stage(name)
            ready.wait()
        seen[name] = [event.stage for event in events]

    threads = [threading.Thread(target=work, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {"one": ["one"], "two": ["two"]}
