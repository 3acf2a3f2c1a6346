"""Progress as structured events: the work emits them, terminals, notebooks, logs and tests consume them."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from subspaces._core.terminal import is_terminal, new_bar

logger = logging.getLogger("subspaces")
# Advances of a stage are logged at most this often; a bar shows all of them.
SECONDS_BETWEEN_ADVANCES = 10.0


@dataclass(frozen=True, slots=True)
class Event:
    """One report of progress.

    Kind "stage" begins a piece of work, "advance" reports how much of a stage is done, "note" reports a result.
    """

    kind: Literal["stage", "advance", "note"]
    stage: str  # short name of the work, such as "partition"; empty for notes
    detail: str = ""  # one line for people
    done: int = 0
    total: int | None = None


Listener = Callable[[Event], None]
# Per context, so that two fits in two threads do not receive each other's events.
_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())


def stage(name: str, detail: str = "") -> None:
    """Report that a stage begins."""
    _emit(Event("stage", name, detail or name))


def advance(name: str, done: int, total: int | None = None, *, detail: str = "") -> None:
    """Report that `done` of `total` parts of a stage are done."""
    of = "" if total is None else f" of {total:,}"
    _emit(Event("advance", name, detail or f"{name}: {done:,}{of}", done, total))


def note(detail: str) -> None:
    """Report a result that is worth a line, such as the chosen number of clusters."""
    _emit(Event("note", "", detail))


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Pass the events of this thread, or asynchronous task, to `listener` until the context ends.

    Use it for a progress bar or log of your own; `verbose=1` shows the bar of the library. An exception that the
    listener raises ends the fit, which leaves the estimator as it was.

    Examples
    --------
    >>> from subspaces import KFlats
    >>> from subspaces.progress import listening
    >>> stages = []
    >>> with listening(lambda event: stages.append(event.stage)):
    ...     model = KFlats(1, subspace_dim=1, random_state=0).fit([[0.0, 1], [1, 2], [2, 3]])
    >>> "flats" in stages
    True
    """
    before = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(before)


@contextlib.contextmanager
def shown(verbose: int) -> Iterator[None]:
    """Show progress if `verbose`: a bar in a terminal or notebook, lines of the logger "subspaces" elsewhere."""
    if not verbose:
        yield
        return
    with _bar() if _has_screen() and not logger.hasHandlers() else _log_lines() as show, listening(show):
        yield


def _emit(event: Event) -> None:
    listeners = _listeners.get()
    if not listeners:
        logger.debug("%s", event.detail)
    for listener in listeners:
        listener(event)


@contextlib.contextmanager
def _log_lines() -> Iterator[Listener]:
    """A listener that logs at level INFO, on stderr if logging is not set up; advances are logged now and then."""
    level, handler, logged = logger.level, None, time.monotonic()
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("[%(name)s] %(message)s"))
        logger.addHandler(handler)
    if level == logging.NOTSET:
        logger.setLevel(logging.INFO)

    def show(event: Event) -> None:
        nonlocal logged
        if event.kind == "advance":
            if time.monotonic() - logged < SECONDS_BETWEEN_ADVANCES:
                return
            logged = time.monotonic()
        logger.info("%s", event.detail)

    try:
        yield show
    finally:
        logger.setLevel(level)
        if handler is not None:
            logger.removeHandler(handler)


@contextlib.contextmanager
def _bar() -> Iterator[Listener]:
    """A bar with the running stage, which disappears at the end."""
    with new_bar() as bar:
        task = bar.add_task("", total=None)

        def show(event: Event) -> None:
            if event.kind == "stage":
                bar.reset(task, total=None, description=event.detail)
            elif event.kind == "advance":
                bar.update(task, completed=event.done, total=event.total, description=event.stage)
            else:
                bar.console.print(event.detail, markup=False, highlight=False)

        yield show


def _has_screen() -> bool:
    """Whether stderr is a terminal, or this is a notebook."""
    shell: Any = sys.modules.get("IPython")
    if shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell":
        return True
    return is_terminal(sys.stderr)
