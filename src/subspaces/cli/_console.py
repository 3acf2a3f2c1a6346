"""What a command tells while it works, and what it remembers of that: seconds of each stage, and warnings."""

from __future__ import annotations

import logging
import sys
import threading
import time
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TextIO

from subspaces._core.log import logger
from subspaces.cli._words import note, one_line, seconds_text, tell

# Messages of the library that begin a piece of work; all others tell what came of one.
STAGES = {
    "fitting flats at %d landmarks": "flats at landmarks",
    "eigenvectors of %d features of %d rows": "eigenvectors",
    "choosing a partition of %d rows": "partition",
    "choosing %d of %d flats of dimension %d": "choosing flats",
    "fitting %d flats of dimension %d": "fitting flats",
    "affinity of block %d of %d": "affinities",
    "moving %d centroids": "centroids",
    "eigenvectors of %d centroids": "eigenvectors",
    "drawing %d waves": "waves",
    "describing rows by %d landmarks": "landmarks",
    "columns of the kernel at %d landmarks": "columns of the kernel",
    "coded %d of %d rows, about %.0f s left": "coding rows",
    "cutting the graph of %d rows": "cutting the graph",
    "labelling %d rows by the sample": "labels",
}
# Where nobody watches, a line that often.
PLAIN_SECONDS = 10.0


class Console:
    """Progress on stderr: a bar with the time left where it is a terminal, else a line now and then.

    As a context manager it listens to the logger "subspaces" and to warnings. `stages` and `warnings` tell afterwards
    what it heard. Warnings are told at the end of a command that did its work: a mistake is one line.
    """

    def __init__(self, *, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet, self.verbose = quiet, verbose
        self.stages: dict[str, float] = {}
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self.prefix = ""  # of stages, where several fits follow each other
        self._stage: str | None = None
        self._whole = False
        self._began = self._told = time.monotonic()
        self._pass_began, self._passes = 0.0, 0
        # Messages may come from threads that work side by side.
        self._lock = threading.RLock()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        self._handler = _Handler(self._heard)
        self._before = (logger.level, logger.propagate)
        logger.addHandler(self._handler)
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
        self._catcher = warnings.catch_warnings()
        self._catcher.__enter__()
        warnings.simplefilter("always")
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning, ImportWarning):
            warnings.simplefilter("ignore", category)
        warnings.showwarning = self._warned
        if not self.quiet and not self.verbose and _is_terminal(sys.stderr):
            self._start_bar()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()
        self._catcher.__exit__(kind, error, trace)
        logger.removeHandler(self._handler)
        logger.setLevel(self._before[0])
        logger.propagate = self._before[1]
        if error is None and not self.quiet:
            for message in self.notes:
                tell(f"subspaces: {message}")
            for message in self.warnings:
                tell(f"subspaces: warning: {message}")

    def stage(self, name: str, *, whole: bool = False) -> None:
        """End the stage that runs, and begin another; one that is `whole` is not parted by what the library tells."""
        with self._lock:
            self._whole = whole
            name = name if name.startswith(self.prefix) else f"{self.prefix}{name}"
            self._end_stage()
            self._stage = name
            if self._bar is not None:
                self._bar.reset(self._task, total=None, description=name, left="")
            self._tell_now_and_then(name, always=self.verbose)

    def finish(self) -> None:
        """End the last stage and clear the bar."""
        with self._lock:
            self._end_stage()
            self._stage = None
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def warn(self, message: object) -> None:
        """Keep a warning, once."""
        line = one_line(message)
        with self._lock:
            if line not in self.warnings:
                self.warnings.append(line)

    def remark(self, message: object) -> None:
        """Keep what the user should know, which is no warning."""
        line = one_line(message)
        if line not in self.notes:
            self.notes.append(line)

    def begin_pass(self) -> str | None:
        """A pass over all rows begins; returns the stage that it interrupts."""
        with self._lock:
            before, self._passes = self._stage, self._passes + 1
            self.stage(f"pass {self._passes} over the rows")
            self._pass_began = time.monotonic()
            return before

    def advance(self, done: int, total: int | None) -> None:
        """So many of the rows of a pass, or of other parts of a stage, are done."""
        with self._lock:
            left = ""
            if total and done:
                left = f"about {seconds_text((time.monotonic() - self._pass_began) * (total - done) / done)} left"
            if self._bar is not None:
                self._bar.update(self._task, completed=done, total=total, left=left)
            elif left:
                self._tell_now_and_then(f"{self._stage}: {done:,} of {total:,}, {left}")

    def _end_stage(self) -> None:
        now = time.monotonic()
        if self._stage is not None:
            self.stages[self._stage] = self.stages.get(self._stage, 0.0) + now - self._began
        self._began = now

    def _heard(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        with self._lock:
            if self.verbose:
                note(f"subspaces: {one_line(message)}")
            name = STAGES.get(str(record.msg))
            if name is None or self._whole:
                return
            if f"{self.prefix}{name}" != self._stage:
                was, self.verbose = self.verbose, False  # the message itself has been told
                self.stage(name)
                self.verbose = was
                self._pass_began = time.monotonic()
            if (
                "%d of %d" in str(record.msg)
                and isinstance(record.args, tuple)
                and name in ("affinities", "coding rows")
            ):
                done, total = record.args[:2]
                self.advance(int(str(done)), int(str(total)))

    def _warned(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        self.warn(message)

    def _tell_now_and_then(self, message: str, *, always: bool = False) -> None:
        now = time.monotonic()
        if self.quiet or self._bar is not None or not (always or now - self._told >= PLAIN_SECONDS):
            return
        self._told = now
        note(f"subspaces: {one_line(message)}")

    def _start_bar(self) -> None:
        from rich.console import Console as Terminal
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
        )
        # Results are printed when the bar is gone: stdout stays what it is.
        self._bar = Progress(
            *columns, console=Terminal(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
        )
        self._task = self._bar.add_task("", total=None, left="")
        self._bar.start()


class _Handler(logging.Handler):
    def __init__(self, heard: Callable[[logging.LogRecord], None]) -> None:
        super().__init__(logging.DEBUG)
        self._heard = heard

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._heard(record)
        except Exception:
            self.handleError(record)


def _is_terminal(stream: TextIO) -> bool:
    import os

    try:
        return stream.isatty() and os.environ.get("TERM", "") != "dumb"
    except (AttributeError, ValueError):
        return False
