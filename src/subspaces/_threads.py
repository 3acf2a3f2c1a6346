"""One BLAS thread for work that does not gain from more."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS and LAPACK use one thread.

    Small or tridiagonal eigenproblems gain nothing from threads, and on a busy machine the threads wait for each
    other: the same work then takes ten times as long.
    """
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes milliseconds, setting them next to nothing.
    return ThreadpoolController()


def n_threads() -> int:
    """How many threads BLAS uses here: those of the machine, or what the user has set."""
    return max((library["num_threads"] for library in _controller().info() if library["user_api"] == "blas"), default=1)
