"""Run the tasks of a script that the code of today has not measured yet, and store their results.

Results of finished tasks are in a file of their own, NAME.begun.json, so that the same command goes on where it was
interrupted. After the last task, NAME.json is made from all of them: its results are of one version of the code, or of
the same code for each of its `Parts`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from kept import ALL, opened, part_source
from processes import Failure, add_jobs, finished, outcomes

SECONDS_BETWEEN_WRITES = 5.0

Record = dict[str, Any]
Task = TypeVar("Task")


def parser(doc: str | None) -> argparse.ArgumentParser:
    """Arguments of all scripts that use `measure`."""
    found = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--only", default="", help="measure tasks with this in their name, and print them")
    found.add_argument("--again", action="store_true", help="measure again what today's code has measured")
    add_jobs(found)
    return found


@dataclass(frozen=True)
class Parts(Generic[Task]):
    """The fits of each estimator, which are measured again only if code of this estimator has changed."""

    estimator: Callable[[Task], str]  # that a task measures
    known: Callable[[Record], dict[Task, Any]]  # the results of tasks in what `build` made


def measure(
    path: Path,
    tasks: Iterable[Task],
    work: Callable[[Task], Any],
    build: Callable[[dict[Task, Any]], Record],
    options: argparse.Namespace,
    *,
    limit: float | None = None,
    parts: Parts[Task] | None = None,
) -> None:
    """Measure the tasks that are left. After the last one, `build` makes the content of the file from all results.

    Tasks are distinct, and begin in their order. With `limit`, the result of a task that fails or takes more seconds is
    a `Failure`; otherwise it ends the script.
    """
    script, every = Path(str(sys.modules["__main__"].__file__)), {str(task): task for task in tasks}
    names = {name: parts.estimator(task) if parts else ALL for name, task in every.items()}
    sources = {part: part_source(script, part) for part in sorted({*names.values()})}
    record = opened(path, f"python benchmarks/{script.name}")
    before = {} if options.again else record.get("sources", {})
    if before == sources:
        print(f"{path.name} is of today's code: nothing to measure")
        return
    unfinished = path.with_suffix(".begun.json")
    begun = json.loads(unfinished.read_text()) if unfinished.exists() else {"sources": {}, "results": {}}
    stored = [(before, {str(task): result for task, result in parts.known(record).items()} if parts and before else {})]
    stored += [(begun["sources"], begun["results"])]
    results: Record = {
        name: result
        for old, found in stored
        for name, result in found.items()
        if name in names and old.get(names[name]) == sources[names[name]]
    }
    left = [task for name, task in every.items() if options.only in name and name not in results]
    run = finished(work, left, jobs=options.jobs) if limit is None else outcomes(work, left, options.jobs, limit)
    start = written = time.monotonic()
    for count, (task, result) in enumerate(run, 1):
        results[str(task)] = result
        if options.only or isinstance(result, Failure):
            print(task, result, flush=True)
        now = time.monotonic()
        if now - written > SECONDS_BETWEEN_WRITES or count == len(left):
            written = now
            unfinished.write_text(json.dumps({"sources": sources, "results": results}))
            print(f"{now - start:.0f} s: {count} of {len(left)} tasks", flush=True)
    if all(name in results for name in every):
        heading = {name: record[name] for name in ("command", "versions")}
        # As it was written to the file, so that an interrupted run makes the same record.
        known = json.loads(json.dumps(results))
        made = build({task: known[name] for name, task in every.items()})
        path.write_text(compact({**heading, **made, "sources": sources}) + "\n")
        unfinished.unlink(missing_ok=True)


def compact(value: Any, depth: int = 0) -> str:
    """JSON with one line for each list or object that has no further ones inside."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if not any(isinstance(each, dict | list) for each in inner):
        return json.dumps(value)
    space = " " * (depth + 1)
    if isinstance(value, dict):
        lines = [f"{space}{json.dumps(str(key))}: {compact(each, depth + 1)}" for key, each in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + " " * depth + "}"
    lines = [f"{space}{compact(each, depth + 1)}" for each in value]
    return "[\n" + ",\n".join(lines) + "\n" + " " * depth + "]"
