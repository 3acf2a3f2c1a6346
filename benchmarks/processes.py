"""Run the tasks of a script in processes of their own, several at a time, with one BLAS thread each."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import connection
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

# Libraries that are not loaded yet read these.
os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")

Task = TypeVar("Task")


class Failure(dict[str, str]):
    """What is stored instead of a result if a task fails or takes too long."""


def add_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of processes")


def finished(work: Callable[[Task], Any], tasks: Iterable[Task], *, jobs: int) -> Iterator[tuple[Task, Any]]:
    """Each task and its result, as they finish. A task that fails ends the script."""
    for task, result in outcomes(work, tasks, jobs):
        if isinstance(result, Failure):
            raise RuntimeError(f"{task}: {result['error']}")
        yield task, result


def outcomes(
    work: Callable[[Task], Any], tasks: Iterable[Task], jobs: int, limit: float = float("inf")
) -> Iterator[tuple[Task, Any]]:
    """Each task and its result, as they finish; a `Failure` if it fails or takes more than `limit` seconds.

    Tasks begin in their order. Processes are forked, so that `work` may be any function.
    """
    context = multiprocessing.get_context("fork")
    waiting = deque(tasks)
    running: dict[Any, tuple[Task, Any, float]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=_send, args=(work, waiting[0], sender), daemon=True)
                process.start()
                sender.close()
                running[receiver] = (waiting.popleft(), process, time.monotonic())
            ready = connection.wait(list(running), timeout=1.0)
            for receiver, (task, process, start) in list(running.items()):
                if receiver in ready:
                    result = _received(receiver)
                elif time.monotonic() - start > limit:
                    process.kill()
                    result = Failure(error=f"more than {limit:.0f} s")
                else:
                    continue
                process.join()
                receiver.close()
                del running[receiver]
                yield task, result
    finally:
        for _, process, _ in running.values():
            process.kill()


def _send(work: Callable[[Task], Any], task: Task, sender: Any) -> None:
    warnings.simplefilter("ignore")
    try:
        with threadpool_limits(1):
            result = work(task)
    except Exception as error:
        result = Failure(error=repr(error)[:200])
    sender.send(result)


def _received(receiver: Any) -> Any:
    try:
        return receiver.recv()
    except EOFError:
        return Failure(error="the process ended")
