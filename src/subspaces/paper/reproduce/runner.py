"""Run missing tasks, store each result immediately, and estimate the remaining time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing

from subspaces._core import progress
from subspaces._core.words import duration
from subspaces.paper.reproduce.kept import Kept
from subspaces.paper.reproduce.machine import environment
from subspaces.paper.reproduce.processes import located, outcomes
from subspaces.paper.reproduce.task import Outcome, Task

# Seconds of imagined work at the expected speed, so that the first few tasks do not dominate the estimate.
EXPECTED = 10.0


def run(tasks: Sequence[Task], kept: Kept, *, jobs: int, again: bool = False, stale: bool = False) -> None:
    """Measure the tasks without a stored result: `jobs` at a time, tasks on a device one by one.

    With `again`, all tasks are measured, with `stale` also those that other code measured. An old result is kept until
    it is replaced by the new one. Progress events have the name of the experiment as stage.
    """
    missing = list(tasks) if again else kept.missing(list(tasks), stale=stale)
    if len(missing) < len(tasks):
        stored = f"{len(tasks) - len(missing)} of {len(tasks)} draws are already stored"
        older = 0 if stale else len(kept.missing(list(tasks), stale=True)) - len(missing)
        stored += f", {older} of them by an earlier version of the code" if older else ""
        progress.stage(kept.experiment, f"{kept.experiment}: {stored}")
    if not missing:
        return
    here = environment(jobs)
    clock = TimeLeft(missing, jobs)
    draws = "1 draw" if len(missing) == 1 else f"{len(missing)} draws"
    progress.stage(kept.experiment, f"{kept.experiment}: {draws} to measure, about {duration(clock.seconds())}")
    for done, (task, outcome) in enumerate(_measured(missing, jobs), start=1):
        kept.add(task, outcome, here)
        clock.finished(task)
        progress.advance(
            kept.experiment,
            done,
            len(missing),
            detail=f"{kept.experiment} {done}/{len(missing)}, {duration(clock.seconds())} left: {task.cell}, "
            f"{task.method}, draw {task.seed}: {outcome.accuracy:.3f} ({outcome.seconds:.2f} s)",
        )


def _measured(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[Task, Outcome]]:
    # Longest tasks first, so that all processes finish at about the same time.
    ordered = sorted(tasks, key=lambda task: -task.weight)
    shared = [task for task in ordered if task.device == "cpu"]
    if jobs > 1:
        with closing(outcomes(shared, jobs)) as results:
            yield from results
    else:
        yield from _one_by_one(shared)
    yield from _one_by_one([task for task in ordered if task.device != "cpu"])


def _one_by_one(tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome]]:
    from subspaces.paper.reproduce.measure import measure

    for task in tasks:
        try:
            outcome = measure(task)
        except Exception as error:
            raise located(error, task) from error
        yield task, outcome


class TimeLeft:
    """Estimate of the remaining time, from rough weights and the time of finished tasks."""

    def __init__(self, tasks: Sequence[Task], jobs: int) -> None:
        self._jobs = jobs
        self._left = {id(task): task for task in tasks}
        self._started = time.perf_counter()
        self._weight = EXPECTED

    def finished(self, task: Task) -> None:
        del self._left[id(task)]
        self._weight += task.weight

    def seconds(self) -> float:
        """Estimated seconds left."""
        rate = (EXPECTED + self._jobs * (time.perf_counter() - self._started)) / self._weight
        weights = [task.weight for task in self._left.values()]
        return rate * max(sum(weights) / self._jobs, max(weights, default=0.0) / 2)
