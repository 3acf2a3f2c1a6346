"""Stored results: one JSON file per experiment, rewritten atomically after every draw."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from subspaces._core.errors import InputError
from subspaces._core.files import write_whole
from subspaces.paper.reproduce.task import Outcome, Task, fingerprint

FORMAT = 1
# Larger numbers in a file are treated as damage.
LARGEST = 1e12
REMEDY = "delete or move it to run the experiment again, or choose another folder."


class Kept:
    """The results of one experiment: `cells`, by data set and method, with all draws.

    Stored draws are used for a task only if its description has the same fingerprint: if parameters or data change,
    the task is measured again.
    """

    def __init__(self, folder: Path, experiment: str) -> None:
        self.path = folder / f"{experiment}.json"
        self.experiment = experiment

    def read(self) -> dict[str, Any]:
        """Read and check the stored results; a record without cells if the file does not exist."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {"experiment": self.experiment, "format": FORMAT, "environments": [], "cells": {}}
        except UnicodeDecodeError:
            raise InputError(f"{self.path} is damaged (not text): {REMEDY}") from None
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{self.path} is damaged ({error}): {REMEDY}") from None
        if not isinstance(record, dict) or record.get("experiment") != self.experiment:
            raise InputError(f"{self.path} does not hold results of `reproduce {self.experiment}`: {REMEDY}")
        if not _is_whole(record.get("format")) or record["format"] != FORMAT:
            raise InputError(f"{self.path} has format {record.get('format')!r}, not {FORMAT}: {REMEDY}")
        # Theory has curves instead of cells; drawing checks them.
        if not _well_formed(record, with_cells=self.experiment != "theory"):
            raise InputError(f"{self.path} is damaged (unexpected content): {REMEDY}")
        return record

    def missing(self, tasks: list[Task], *, stale: bool = False) -> list[Task]:
        """The tasks without a stored result; with `stale` also those whose result comes from other code."""
        cells = self.read()["cells"]
        prints: dict[tuple[str, str], str] = {}
        left = []
        for task in tasks:
            key = (task.cell, task.method)
            if key not in prints:
                prints[key] = fingerprint(task.describe())
            entry = cells.get(task.cell, {}).get(task.method)
            same = entry is not None and entry["fingerprint"] == prints[key]
            stored = [draw for draw in entry["draws"] if draw["seed"] == task.seed] if same else []
            if not stored or (stale and stored[0].get("source") != task.source()):
                left.append(task)
        return left

    def add(self, task: Task, outcome: Outcome, environment: dict[str, Any]) -> None:
        """Store one result. The file is read again first, so that several runs can fill it in turn."""
        record = self.read()
        if environment not in record["environments"]:
            record["environments"].append(environment)
        description = task.describe()
        fresh = {
            "fingerprint": fingerprint(description),
            **description,
            "shape": list(outcome.shape),
            "tags": dict(task.tags),
            "draws": [],
        }
        methods = record["cells"].setdefault(task.cell, {})
        old = methods.get(task.method)
        same = old is not None and old["fingerprint"] == fresh["fingerprint"]
        draw: dict[str, Any] = {
            "seed": task.seed,
            "accuracy": outcome.accuracy,
            "seconds": outcome.seconds,
            "environment": record["environments"].index(environment),
            "source": task.source(),
        }
        if outcome.device is not None:
            draw["device"] = outcome.device
        others = [each for each in old["draws"] if each["seed"] != task.seed] if same else []
        fresh["draws"] = sorted([*others, draw], key=lambda each: each["seed"])
        methods[task.method] = fresh
        self.write(record)

    def write(self, record: dict[str, Any]) -> None:
        record["command"] = f"subspaces reproduce {self.experiment}"
        write_whole(self.path, json.dumps(record, indent=1) + "\n")


def _well_formed(record: dict[str, Any], *, with_cells: bool) -> bool:
    environments, cells = record.get("environments"), record.get("cells", None if with_cells else {})
    if not isinstance(environments, list) or not all(map(_is_environment, environments)):
        return False
    return _is_table(
        cells,
        lambda methods: _is_table(methods, lambda entry: _is_entry(entry, len(environments))),
    )


def _is_table(value: Any, is_each: Callable[[Any], bool]) -> bool:
    """Whether `value` is a dict whose values all satisfy `is_each`."""
    return isinstance(value, dict) and all(map(is_each, value.values()))


def _is_environment(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("machine"), dict):
        return False
    machine: dict[str, Any] = value["machine"]
    versions: Any = value.get("versions")
    counts = ("cores", "processes", "blas_threads_each")
    return (
        _is_table(versions, _is_text)
        and all(map(_is_text, versions))
        and _is_text(machine.get("processor"))
        and all(_is_whole(machine.get(name)) for name in counts)
    )


def _is_entry(entry: Any, n_environments: int) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("fingerprint"), str)
        and _are_tags(entry.get("tags"))
        and isinstance(entry.get("draws"), list)
        and all(_is_draw(draw, n_environments) for draw in entry["draws"])
    )


def _are_tags(tags: Any) -> bool:
    return (
        isinstance(tags, dict)
        and all(_is_text(tags.get(name, "")) for name in ("curve", "series"))
        and _is_number(tags.get("value", 0))
    )


def _is_draw(draw: Any, n_environments: int) -> bool:
    return (
        isinstance(draw, dict)
        and all(_is_number(draw.get(name)) for name in ("accuracy", "seconds"))
        and all(_is_whole(draw.get(name)) for name in ("seed", "environment"))
        and 0 <= draw["accuracy"] <= 1
        and draw["seconds"] >= 0
        and 0 <= draw["environment"] < n_environments
        and _is_text(draw.get("device", ""))
        and _is_text(draw.get("source", ""))
    )


def _is_number(value: Any) -> bool:
    """Whether `value` is a finite number in the expected range."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -LARGEST <= value <= LARGEST


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and _is_number(value)


def _is_text(value: Any) -> bool:
    """Whether `value` is a string without lone surrogates, which JSON can contain but UTF-8 cannot."""
    return isinstance(value, str) and not any("\ud800" <= each <= "\udfff" for each in value)
