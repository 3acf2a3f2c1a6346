"""The command line: results to stdout, progress to stderr, and an exit code that says who is to blame.

0: done; 1: a bug of ours; 2: a mistake of the user, or a machine that lacks memory or disk; 130: interrupted. Nothing
that takes time to import is imported before a command is known.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import NoReturn

from subspaces.cli._errors import explain, is_mistake
from subspaces.cli._parser import parse
from subspaces.cli._words import ReaderGoneError, mute, tell, to_reader

__all__ = ["main"]

DONE, BUG, MISTAKE, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143
DEBUG_VARIABLE = "SUBSPACES_DEBUG"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code. Words that make no command end in SystemExit, as in argparse."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for name in ("stdout", "stderr"):
        # A stream that is closed, as by >&-, is none at all.
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - for as long as the program runs
    home, options = parse(given)
    try:
        with _terminable():
            import_module(f"subspaces.cli.{home}").run(options)
            with to_reader():
                sys.stdout.flush()
            return DONE
    except KeyboardInterrupt:
        tell("interrupted")
        return INTERRUPTED
    except ReaderGoneError:
        mute(sys.stdout)
        return DONE
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE, "0") not in ("", "0"):
            raise
        if is_mistake(error):
            tell(f"subspaces: {explain(error)}")
            return MISTAKE
        tell(
            f"subspaces: internal error, {type(error).__name__}: {error}; this is a bug, and {DEBUG_VARIABLE}=1 in the "
            "environment shows where it is"
        )
        return BUG


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Let whoever asks the program to end be answered by an orderly end: half a result is removed."""

    def end(number: int, frame: object) -> NoReturn:
        raise SystemExit(TERMINATED)

    try:
        before = signal.signal(signal.SIGTERM, end)
    except ValueError:  # signals belong to the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
