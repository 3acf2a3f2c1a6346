"""Run tasks in parallel processes with one BLAS thread each; all processes end with the generator."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Generator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import cast

from subspaces._core.errors import InputError, MissingPackageError, OutOfMemoryError, UserError, UserFileError
from subspaces.paper.reproduce.task import Outcome, Task

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def outcomes(tasks: Sequence[Task], jobs: int) -> Generator[tuple[Task, Outcome], None, None]:
    """Yield each task and its outcome as they finish. Errors are raised here; closing stops the processes."""
    waiting = list(reversed(tasks))
    context = multiprocessing.get_context("spawn")
    running: dict[Connection, tuple[BaseProcess, Task]] = {}
    everyone: list[BaseProcess] = []
    try:
        for _ in range(min(jobs, len(tasks))):
            here, there = context.Pipe()
            process: BaseProcess = context.Process(target=_serve, args=(there,), daemon=True)
            process.start()
            there.close()
            everyone.append(process)
            running[here] = (process, waiting.pop())
            here.send(running[here][1])
        while running:
            for ready in wait(list(running)):
                connection = cast(Connection, ready)
                process, task = running.pop(connection)
                answer = _received(connection, task)
                if waiting:
                    running[connection] = (process, waiting.pop())
                    connection.send(running[connection][1])
                yield task, answer
    finally:
        for process in everyone:
            process.terminate()
        for process in everyone:
            process.join()


def _received(connection: Connection, task: Task) -> Outcome:
    try:
        answer = connection.recv()
    except (EOFError, ConnectionError):
        raise OutOfMemoryError(
            f"a process stopped in {task.cell}, {task.method}, draw {task.seed} (out of memory?): run again with fewer "
            "jobs; finished draws are stored."
        ) from None
    if isinstance(answer, Exception):
        raise answer
    assert isinstance(answer, Outcome)
    return answer


def _serve(connection: Connection) -> None:
    """Measure tasks from the connection until it is closed."""
    # An interrupt reaches all processes of the group; the parent terminates its children.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # These must be set before NumPy is imported.
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    from subspaces.paper.reproduce.measure import measure

    while True:
        try:
            task = connection.recv()
        except (EOFError, ConnectionError):
            return
        answer: Outcome | Exception
        try:
            answer = measure(task)
        except Exception as error:
            answer = located(error, task)
        try:
            connection.send(answer)
        except ConnectionError:
            return


def located(error: Exception, task: Task) -> Exception:
    """The error with the task that caused it; missing files and packages are reported without the task."""
    # Exceptions of other packages may fail to be pickled.
    for kind in (UserFileError, MissingPackageError, OSError, ImportError):
        if isinstance(error, kind):
            return kind(str(error))
    place = f"{task.cell}, {task.method}, draw {task.seed}"
    if isinstance(error, UserError):
        return InputError(f"{place}: {error}")
    return RuntimeError(f"{place}: {type(error).__name__}: {error}")
