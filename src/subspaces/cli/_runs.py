"""Runs that were made before: their model, their preparation, and the options their rows were read by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subspaces.cli._commands import FIT
from subspaces.cli._config import read_run
from subspaces.cli._errors import Mistake
from subspaces.cli.columns import ExactNames
from subspaces.rows import Preparation
from subspaces.saving import load

READING = ("key", "columns", "drop", "names", "missing", "image-shape", "image-size", "memory-limit")
# What a run remembers and a command needs.
KINDS = {"seed": int, "line": str, "environment": dict, "data": list, "rows": dict, "options": dict}
# What columns are called in files that do not name them.
UNNAMED = re.compile(r"(column|pixel) [0-9]+")
# Files whose columns never have names.
ARRAYS = (".npy", ".npz", ".mat", ".h5", ".hdf5", ".hdf", ".zarr")


@dataclass(frozen=True, slots=True)
class PastRun:
    """A model, what rows go through before it, and what the run remembers; a model alone remembers nothing."""

    model: Any
    preparation: Preparation | None
    document: dict[str, Any] | None

    def reading(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Options to read new rows by: those `given`, which name the data too, and else those of the run."""
        if self.document is None:
            return dict(given)
        options = self.document["options"]
        found = {name: given[name] if given.get(name) is not None else options.get(name) for name in READING}
        columns = self.document["rows"]["columns"]
        named = not all(map(UNNAMED.fullmatch, columns)) and not str(given["data"][0]).lower().endswith(ARRAYS)
        if named and given.get("columns") is None and given.get("drop") is None:
            # By their names they are found among others and in any order; the truth may be there or not.
            found |= {"columns": ExactNames(columns), "drop": None}
        return {**given, **found}


def open_run(path: Path) -> PastRun:
    """The run in the folder `path`, or the model in the file `path`."""
    if not path.exists():
        raise Mistake(f"{path} is not there: name the folder of a run, or a .subspaces file")
    if not path.is_dir():
        model = load(path)
        if isinstance(model, Preparation):
            raise Mistake(f"{path} is a preparation and no model: name the folder of its run")
        return PastRun(model, None, None)
    document = read_run(path / "run.json")
    _check_document(document, path / "run.json")
    if not (path / "model.subspaces").exists():
        raise Mistake(f"{path} has no model.subspaces: fit again")
    prepared = path / "preparation.subspaces"
    preparation = load(prepared) if prepared.exists() else None
    if preparation is not None and not isinstance(preparation, Preparation):
        raise Mistake(f"{prepared} is no preparation: fit again")
    return PastRun(load(path / "model.subspaces"), preparation, document)


def _check_document(document: dict[str, Any], path: Path) -> None:
    """Refuse a document that lacks what is looked up in one, or that holds something else there."""
    for key, kinds in KINDS.items():
        if not isinstance(document.get(key), kinds) or isinstance(document[key], bool):
            raise Mistake(f"{path} is damaged: {key} is missing or of another kind; fit again")
    entries = {
        "data": lambda each: isinstance(each, dict) and isinstance(each.get("path"), str),
        "stages": lambda each: (
            isinstance(each, dict)
            and isinstance(each.get("name"), str)
            and isinstance(each.get("seconds"), int | float)
        ),
        "warnings": lambda each: isinstance(each, str),
        "notes": lambda each: isinstance(each, str),
    }
    for key, is_good in entries.items():
        # Those that only tell how the run went may be missing.
        if not isinstance(document.get(key, []), list) or not all(map(is_good, document.get(key, []))):
            raise Mistake(f"{path} is damaged: {key} is of another kind; fit again")
    if not isinstance(document.get("peak_memory"), int | None):
        raise Mistake(f"{path} is damaged: peak_memory is of another kind; fit again")
    columns = document["rows"].get("columns")
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise Mistake(f"{path} is damaged: it does not say what was read; fit again")
    known = {option.name: option for option in FIT.all_options()}
    for name, value in document["options"].items():
        if value is not None and name in known:
            known[name].read(f"{path}: {name}", value)
