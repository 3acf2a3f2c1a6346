"""Earlier runs: their model, their preparation, and the options by which their rows were read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subspaces._core.errors import InputError, MissingFileError
from subspaces.cli.columns import ExactNames
from subspaces.cli.commands.fit import fit
from subspaces.cli.configuration import POINTERS, by_parameter, checked_options, long_name, read_run
from subspaces.estimators.access import unwrap
from subspaces.rows import Preparation
from subspaces.rows.formats import FORMATS
from subspaces.saving import RUN_MODEL, load

READING = ("key", "columns", "drop", "names", "missing", "image_shape", "image_size", "memory_limit")
# Entries of run.json that commands need, with their types.
KINDS = {"seed": int, "line": str, "environment": dict, "data": list, "rows": dict, "options": dict}
# Options of the run that a later version may know or not.
OPTIONS = {long_name(parameter) for parameter in fit.params} - POINTERS
# Files whose columns never have names.
ARRAYS = tuple(suffix for each in FORMATS if not each.has_names for suffix in each.suffixes)


@dataclass(frozen=True, slots=True)
class PastRun:
    """A model for prepared rows, and what was saved with it."""

    model: Any
    preparation: Preparation | None
    document: dict[str, Any] | None  # the content of run.json; None for a model file without a run
    column_names: ExactNames | None

    def reading(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Options to read new rows by: those `given`, which include the data, otherwise those of the run."""
        found = {}
        if self.document is not None:
            options = by_parameter(self.document["options"])
            found = {name: given[name] if given.get(name) is not None else options.get(name) for name in READING}
        named = self.column_names is not None and not str(given["data"][0]).lower().endswith(ARRAYS)
        if named and given.get("columns") is None and given.get("drop") is None:
            # By name, columns are found among others and in any order, with or without the truth.
            found |= {"columns": self.column_names, "drop": None}
        return {**given, **found}

    def means(self) -> list[float]:
        """The means of the columns that the model was fitted to."""
        means = None if self.document is None else self.document["rows"].get("means")
        if means is None:
            raise InputError(
                "--missing mean: the means of the rows that the model was fitted to are not known; name the folder of "
                "a run with --missing mean, or give --missing drop"
            )
        return list(means)


def open_run(path: Path) -> PastRun:
    """The run in the folder `path`, or the model in the file `path`."""
    if not path.exists():
        raise MissingFileError(f"{path} does not exist: name the folder of a run, or a .subspaces file")
    document = None
    if path.is_dir():
        document = read_run(path / "run.json")
        _check_document(document, path / "run.json")
        if not (path / RUN_MODEL).exists():
            raise MissingFileError(f"{path} has no {RUN_MODEL}: fit again")
    model = load(path)
    if isinstance(model, Preparation):
        raise InputError(f"{path} is a preparation, not a model: name the model that was fitted to its rows")
    found = unwrap(model)
    names = None if found.column_names is None else ExactNames(found.column_names)
    return PastRun(found.model, found.preparation, document, names)


def _check_document(document: dict[str, Any], path: Path) -> None:
    """Refuse a document in which entries that commands need are missing or have another type."""
    for key, kinds in KINDS.items():
        if not isinstance(document.get(key), kinds) or isinstance(document[key], bool):
            raise InputError(f"{path} is damaged: {key} is missing or has another type; fit again")
    entries = {
        "stages": lambda each: (
            isinstance(each, dict)
            and isinstance(each.get("name"), str)
            and isinstance(each.get("seconds"), int | float)
        ),
        "warnings": lambda each: isinstance(each, str),
        "notes": lambda each: isinstance(each, str),
    }
    for key, is_good in entries.items():
        # Entries that only describe how the run went may be missing.
        if not isinstance(document.get(key, []), list) or not all(map(is_good, document.get(key, []))):
            raise InputError(f"{path} is damaged: {key} has another type; fit again")
    if not isinstance(document.get("peak_memory"), int | None):
        raise InputError(f"{path} is damaged: peak_memory has another type; fit again")
    columns = document["rows"].get("columns")
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise InputError(f"{path} is damaged: it does not contain the columns that were read; fit again")
    means = document["rows"].get("means")
    if not (means is None or (isinstance(means, list) and all(isinstance(value, int | float) for value in means))):
        raise InputError(f"{path} is damaged: the means of the columns have another type; fit again")
    known = {name: value for name, value in document["options"].items() if value is not None and name in OPTIONS}
    checked_options(known, path, fit)
