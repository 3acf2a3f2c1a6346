"""Progress of a command on stderr, and a record of it: seconds of each stage, warnings and notes."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TextIO

from subspaces._core.progress import Event, listening
from subspaces._core.terminal import is_terminal, new_bar
from subspaces._core.words import duration
from subspaces.cli.output import one_line, print_line, print_progress
from subspaces.cli.own_words import in_own_words

# Without a terminal, progress is printed as a line at most this often.
SECONDS_BETWEEN_LINES = 10.0
# Warnings about code, which users cannot mend.
NOT_FOR_USERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning, ImportWarning)


@contextlib.contextmanager
def stage_lines(*stages: str) -> Iterator[None]:
    """Print a line to stderr for each event of these stages; events of the fits inside them are not shown."""

    def show(event: Event) -> None:
        if event.stage in stages:
            print_progress(event.detail)

    with listening(show):
        yield


def scale_line(sentence: str) -> str:
    """A warning about columns that dominate distances, with what to do on the command line."""
    return f"{sentence}: add --standardise, unless all columns have the same unit (then --no-standardise)"


class Console:
    """A bar with the time left if stderr is a terminal, otherwise a line now and then.

    As a context manager it receives the progress events of the library and all warnings. Warnings and notes are printed
    at the end of a command that succeeds: an error is one line alone.
    """

    def __init__(self, *, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet, self.verbose = quiet, verbose
        self.stages: dict[str, float] = {}
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self.prefix = ""  # of the names of stages, if there are several fits
        # Columns of the rows that are fitted; None if their scales need no warning.
        self.column_names: Sequence[str] | None = None
        self.current: str | None = None  # name of the running stage
        self._whole = False
        self._stage_began = self._counted_from = self._printed = time.monotonic()
        self._passes = 0
        # Events can come from several threads.
        self._lock = threading.RLock()
        self._stack = contextlib.ExitStack()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        self._stack.enter_context(listening(self.handle))
        self._stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("always")
        for category in NOT_FOR_USERS:
            warnings.simplefilter("ignore", category)
        warnings.showwarning = self._show_warning
        if not self.quiet and not self.verbose and is_terminal(sys.stderr):
            self._start_bar()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()
        self._stack.close()
        if error is None and not self.quiet:
            for message in self.notes:
                print_line(f"subspaces: {message}")
            for message in self.warnings:
                print_line(f"subspaces: warning: {message}")

    def handle(self, event: Event) -> None:
        """Show one event of the library."""
        with self._lock:
            if event.kind == "advance":
                if self._named(event.stage) != self.current and not self._whole:
                    self.stage(event.stage)
                self.advance(event.done, event.total)
            elif event.kind == "stage" and not self._whole:
                self.stage(event.stage, detail=event.detail)
            elif self.verbose:
                print_progress(f"subspaces: {one_line(event.detail)}")

    def stage(self, name: str, *, detail: str = "", whole: bool = False) -> None:
        """End the running stage and begin another; events of the library do not divide one that is `whole`."""
        with self._lock:
            self._whole = whole
            self._end_stage()
            self.current = self._named(name)
            self._counted_from = time.monotonic()
            if self._bar is not None:
                self._bar.reset(self._task, total=None, description=self.current, left="")
            self._print_sometimes(f"{self.prefix}{detail}" if detail else self.current, always=self.verbose)

    def begin_pass(self) -> str | None:
        """Begin a pass over all rows; returns the stage that it interrupts."""
        with self._lock:
            before, self._passes = self.current, self._passes + 1
            self.stage(f"pass {self._passes} over the rows")
            return before

    def advance(self, done: int, total: int | None) -> None:
        """Show that `done` of `total` parts of the running stage are done."""
        with self._lock:
            left = ""
            if total and done:
                left = f"about {duration((time.monotonic() - self._counted_from) * (total - done) / done)} left"
            if self._bar is not None:
                self._bar.update(self._task, completed=done, total=total, left=left)
            elif left:
                self._print_sometimes(f"{self.current}: {done:,} of {total:,}, {left}")

    def finish(self) -> None:
        """End the last stage and remove the bar."""
        with self._lock:
            self._end_stage()
            self.current = None
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def warn(self, message: object) -> None:
        """Keep a warning, once."""
        line = in_own_words(one_line(message))
        with self._lock:
            if line not in self.warnings:
                self.warnings.append(line)

    def remark(self, message: object) -> None:
        """Keep a note: something that the user should know and that is not a warning."""
        line = in_own_words(one_line(message))
        if line not in self.notes:
            self.notes.append(line)

    def _named(self, name: str) -> str:
        return name if name.startswith(self.prefix) else f"{self.prefix}{name}"

    def _end_stage(self) -> None:
        now = time.monotonic()
        if self.current is not None:
            self.stages[self.current] = self.stages.get(self.current, 0.0) + now - self._stage_began
        self._stage_began = now

    def _show_warning(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        from subspaces.rows.unusual import ScaleWarning

        if not isinstance(message, ScaleWarning):
            self.warn(message)
        elif self.column_names is not None:
            self.warn(scale_line(message.found.sentence(self.column_names)))

    def _print_sometimes(self, message: str, *, always: bool = False) -> None:
        now = time.monotonic()
        if self.quiet or self._bar is not None or not (always or now - self._printed >= SECONDS_BETWEEN_LINES):
            return
        self._printed = now
        print_progress(f"subspaces: {one_line(message)}")

    def _start_bar(self) -> None:
        from rich.progress import TextColumn

        # Results are printed after the bar is removed, so stdout need not be redirected.
        self._bar = new_bar(TextColumn("{task.fields[left]}"), redirect_stdout=False, redirect_stderr=False)
        self._task = self._bar.add_task("", total=None, left="")
        self._bar.start()
