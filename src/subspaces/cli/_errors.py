"""Which errors are no bugs, and how they are told in one line."""

from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Iterator, Mapping
from typing import Any

from subspaces.cli._words import one_line

# What checks of values raise, what numbers that are too large for any method raise, and what a small machine raises.
MISTAKES = (ValueError, OSError, ImportError, MemoryError, ArithmeticError)
FULL = (errno.ENOSPC, errno.EDQUOT)


# What the library calls a parameter, the command line calls an option.
NAMES = {"n_clusters": "-k", "subspace_dim": "--dim", "random_state": "--seed"}
NAMES |= {
    name: f"--{name.replace('_', '-')}"
    for name in (
        "checkpoint",
        "columns",
        "device",
        "drop",
        "image_shape",
        "image_size",
        "key",
        "max_clusters",
        "memory_limit",
        "missing",
        "names",
        "pca",
        "truth",
        "whiten_drop",
    )
}
NAMED = re.compile(rf"^({'|'.join(NAMES)})=('[^']*'|\([^)]*\)|[^\s'(]+)")


class Mistake(ValueError):
    """A mistake of the user, told in words that need nothing more."""


@contextlib.contextmanager
def settings_of_user(given: Mapping[str, Any]) -> Iterator[None]:
    """Where values of --set are used: a TypeError is a mistake in one of them, and a bug where none was `given`."""
    try:
        yield
    except TypeError as error:
        if not given:
            raise
        text = one_line(error)
        words = " ".join(f"--set {name}={value}" for name, value in given.items())
        raise Mistake(text if any(name in text for name in given) else f"{words} is of no use: {text}") from error


@contextlib.contextmanager
def files_of_user() -> Iterator[None]:
    """Where files are read: a TypeError comes of what is in them, for the libraries that read them raise it, too."""
    try:
        yield
    except TypeError as error:
        raise Mistake(f"the data cannot be read: {one_line(error)}") from error


def is_mistake(error: BaseException) -> bool:
    """Whether the user, or the machine, can do something about an error."""
    return isinstance(error, MISTAKES)


def explain(error: BaseException) -> str:
    """One line: what is wrong, and where it helps, what to do."""
    text = one_line(error)
    if isinstance(error, MemoryError):
        told = f" ({text})" if text else ""
        return f"there is not enough memory{told}: give fewer rows or columns, or a lower --memory-limit"
    if isinstance(error, OSError):
        return _explain_system(error, text)
    if isinstance(error, ArithmeticError):
        return f"the numbers are too large or too small to work with ({text}): scale the columns, as by --standardise"
    if not text:
        return f"{type(error).__name__} without a word"
    return NAMED.sub(lambda found: f"{NAMES[found[1]]} {found[2].strip(chr(39))}", text)


def _explain_system(error: OSError, text: str) -> str:
    if error.errno in FULL:
        place = f", {error.filename}" if error.filename else ""
        return f"the disk is full{place}: free some space, or name a folder elsewhere by --out"
    if error.filename is None or error.strerror is None:
        return text or type(error).__name__
    return f"{error.filename}: {error.strerror[:1].lower()}{error.strerror[1:]}"
