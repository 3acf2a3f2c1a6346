"""The command line: results on stdout, progress on stderr, and an exit code that says who has to act.

0: done; 2: a mistake of the user, or a machine that lacks memory or disk; 70: a bug of ours; 130: interrupted; 143:
terminated. Nothing that is slow to import is imported before a command runs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import NoReturn

import click

from subspaces._core.errors import UserError
from subspaces.cli.output import ReaderGoneError, mute, print_line, to_stdout

__all__ = ["main"]

DONE, MISTAKE, BUG, INTERRUPTED, TERMINATED = 0, 2, 70, 130, 143


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for name in ("stdout", "stderr"):
        # Python sets a stream that is closed, as by >&-, to None.
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - for as long as the program runs
    try:
        with _terminable():
            code = _run(given)
            with to_stdout():
                sys.stdout.flush()
            return code
    except KeyboardInterrupt:
        print_line("interrupted")
        return INTERRUPTED
    except _Terminated:
        return TERMINATED
    except ReaderGoneError:
        mute(sys.stdout)
        return DONE
    except Exception as error:
        return _failed(error, given)


def _run(arguments: list[str]) -> int:
    from subspaces.cli.app import app
    from subspaces.cli.commands.completion import VARIABLE

    if VARIABLE in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(app, {}, "subspaces", VARIABLE, os.environ[VARIABLE])
    # click's own `main` would turn EOFError and broken pipes anywhere in the library into endings of its own.
    try:
        with app.make_context("subspaces", arguments, obj=tuple(arguments)) as context:
            app.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    return DONE


def _failed(error: Exception, arguments: list[str]) -> int:
    """Report an error in one line; return the exit code."""
    from subspaces.cli.command import usage_line
    from subspaces.cli.errors import bug_line, is_debugging, one_line_of

    if isinstance(error, click.ClickException):
        print_line(usage_line(error))
        return MISTAKE
    if is_debugging():
        raise error
    if isinstance(error, UserError):
        print_line(f"subspaces: {one_line_of(error)}")
        return MISTAKE
    print_line(bug_line(error, arguments))
    return BUG


class _Terminated(BaseException):
    """The program received SIGTERM."""


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Turn SIGTERM into an exception, so that incomplete results are removed."""

    def end(number: int, frame: object) -> NoReturn:
        raise _Terminated

    try:
        before = signal.signal(signal.SIGTERM, end)
    except ValueError:  # only the main thread may set signal handlers
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
