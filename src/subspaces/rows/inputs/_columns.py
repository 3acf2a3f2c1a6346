"""Columns as people name them: by their names, by numbers from 1 on, by ranges."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from subspaces._core.errors import InputError, UserTypeError

Selection = str | Sequence[str | int]

SHOWN = 40


class ExactNames(tuple[str, ...]):
    """Columns by their whole names alone: "3" is a column called so, and never the third."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which columns of a table are to be read, by position."""

    rows: list[int]  # those that make the rows, in order
    explicit: bool  # whether the user named them
    truth: int | None
    names: int | None


def shown(text: object) -> str:
    """A cell or name as it can be told in one line: cut short, with control characters escaped."""
    plain = str(text)
    return repr(plain if len(plain) <= SHOWN else plain[: SHOWN - 3] + "...")


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names in one line, the first few of many."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(shown, names[:most])) + rest


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names of columns without blanks around them: "column 3" where there is none, "x (2)" for a second "x"."""
    found: list[str] = []
    taken = Counter(name.strip() for name in names)
    used: set[str] = set()
    for number, name in enumerate((name.strip() for name in names), 1):
        name = name or f"column {number}"
        candidate, copy = name, 1
        while candidate in used or (copy > 1 and candidate in taken):
            copy += 1
            candidate = f"{name} ({copy})"
        used.add(candidate)
        found.append(candidate)
    return tuple(found)


def numbered_names(count: int, word: str = "column") -> tuple[str, ...]:
    """Names of `count` columns that have none."""
    return tuple(f"{word} {number}" for number in range(1, count + 1))


def choose(
    names: Sequence[str],
    where: str,
    *,
    columns: Selection | None,
    drop: Selection | None,
    truth: str | int | None,
    row_names: str | int | None,
) -> Wanted:
    """What of the columns `names` of the file `where` is to be read."""
    truth_at = None if truth is None else _one(truth, names, where, "truth")
    names_at = None if row_names is None else _one(row_names, names, where, "names")
    chosen = list(range(len(names))) if columns is None else _positions(columns, names, where, "columns")
    apart = {truth_at, names_at} - {None}
    if columns is not None and apart & set(chosen):
        both = names[min(position for position in chosen if position in apart)]
        raise InputError(f"column {shown(both)} is asked for both as a column of rows and as truth or names: choose.")
    left_out = apart | set(() if drop is None else _positions(drop, names, where, "drop"))
    rows = [position for position in chosen if position not in left_out]
    if not rows:
        raise InputError(f"{where} has no column left to make rows of: it has {listed(names)}; drop fewer.")
    return Wanted(rows, columns is not None, truth_at, names_at)


def entries_of(selection: Selection, what: str) -> list[str | int]:
    """The names, numbers and ranges of a selection; text is cut at commas."""
    if isinstance(selection, str):
        entries: list[str | int] = [entry.strip() for entry in selection.split(",")]
    elif isinstance(selection, Sequence):
        entries = list(selection)
    else:
        raise UserTypeError(
            f"{what}={shown(selection)} must be a list of names, numbers from 1 on, or ranges as '2-5'."
        )
    good = all(isinstance(entry, str | int | np.integer) and not isinstance(entry, bool) for entry in entries)
    if not good or not entries or "" in entries:
        raise InputError(f"{what}={shown(selection)} must hold names, numbers from 1 on, or ranges as '2-5'.")
    return entries


def _positions(selection: Selection, names: Sequence[str], where: str, what: str) -> list[int]:
    """Positions of a selection among `names`, each once, in its order."""
    if isinstance(selection, str) and selection in names:
        return [names.index(selection)]
    if isinstance(selection, ExactNames):
        return _exact(selection, names, where)
    found: dict[int, None] = {}
    for entry in entries_of(selection, what):
        found.update(dict.fromkeys(_entry(entry, names, where, what)))
    return list(found)


def _exact(selection: ExactNames, names: Sequence[str], where: str) -> list[int]:
    at = {name: position for position, name in reversed(list(enumerate(names)))}
    missing = [name for name in selection if name not in at]
    if missing:
        plural = "s" * (len(missing) > 1)
        raise InputError(f"{where} has no column{plural} {listed(missing)}: it has {listed(names, 10)}.")
    return [at[name] for name in selection]


def _one(entry: str | int, names: Sequence[str], where: str, what: str) -> int:
    if not isinstance(entry, str | int | np.integer) or isinstance(entry, bool):
        raise UserTypeError(f"{what}={shown(entry)} must be the name of a column or its number from 1 on.")
    found = _entry(entry, names, where, what)
    if len(found) != 1:
        raise InputError(f"{what}={shown(entry)} names {len(found)} columns: name one.")
    return found[0]


def _entry(entry: str | int, names: Sequence[str], where: str, what: str) -> list[int]:
    """Positions that a name, a number or a range stands for; names come first."""
    if isinstance(entry, str) and entry in names:
        return [names.index(entry)]
    text = str(entry).strip()
    ends = re.fullmatch(r"([0-9]{1,9})(?:\s*-\s*([0-9]{1,9}))?", text)
    if ends is None:
        if text in names:
            return [names.index(text)]
        raise InputError(f"{where} has no column {shown(entry)} ({what}): {_nearest(text, names)}.")
    first, last = int(ends[1]), int(ends[2] or ends[1])
    if not 1 <= first <= last <= len(names):
        raise InputError(
            f"{what}={shown(entry)} is no column of {where}: its columns are numbered from 1 to {len(names)}."
        )
    return list(range(first - 1, last))


def _nearest(name: str, names: Sequence[str]) -> str:
    lower: dict[str, str] = {}
    for each in names:
        lower.setdefault(each.lower(), each)
    close = difflib.get_close_matches(name.lower(), list(lower)[:5000], n=3)
    return f"did you mean {listed([lower[each] for each in close])}?" if close else f"it has {listed(names, 10)}"
