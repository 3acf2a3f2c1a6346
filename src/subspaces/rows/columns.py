"""Choose columns of rows: by name, or by number counted from 0.

This is the only selector; files, arrays, dataframes and functions use it. The command line translates its numbers,
which count from 1, before it calls the library (`subspaces.cli.columns`).
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from subspaces._core.errors import InputError, UserTypeError

# One column or several: names, numbers from 0 on (negative ones count from the end), a range, a slice, or a function
# that takes the names of all columns and returns any of these.
OneColumnChoice: TypeAlias = str | int | Callable[[Sequence[str]], Any]
ColumnChoice: TypeAlias = str | int | slice | range | Sequence[str | int] | Callable[[Sequence[str]], Any]

# Names and cells are cut to this length in messages.
SHOWN_CHARACTERS = 40
# Beyond this many names no similar ones are looked for.
MOST_COMPARED = 5000
MEANING = "names, or numbers counted from 0"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Positions of the columns of a table that are read."""

    rows: list[int]  # columns of the rows, in order
    explicit: bool  # whether the caller chose them
    truth: int | None
    names: int | None


def choose(
    names: Sequence[str],
    where: str,
    *,
    columns: ColumnChoice | None,
    drop: ColumnChoice | None = None,
    truth: OneColumnChoice | None = None,
    row_names: OneColumnChoice | None = None,
) -> Wanted:
    """Positions of what is wanted among the columns `names` of `where`."""
    truth_at = None if truth is None else _one(truth, names, where, "truth")
    names_at = None if row_names is None else _one(row_names, names, where, "names")
    chosen = list(range(len(names))) if columns is None else positions(columns, names, where)
    apart = {truth_at, names_at} - {None}
    if columns is not None and apart & set(chosen):
        both = names[min(position for position in chosen if position in apart)]
        raise InputError(
            f"column {shown(both)} is chosen both as a column of rows and as truth or names: choose one.",
            parameter="columns",
        )
    left_out = apart | set(() if drop is None else positions(drop, names, where, "drop"))
    rows = [position for position in chosen if position not in left_out]
    if not rows:
        raise InputError(
            f"{where} has no column left for the rows: it has {listed(names)}; drop fewer.",
            parameter="columns" if drop is None else "drop",
        )
    return Wanted(rows, columns is not None, truth_at, names_at)


def positions(columns: ColumnChoice, names: Sequence[str], where: str, what: str = "columns") -> list[int]:
    """Positions of the chosen `columns` among `names`, in their order; `what` is the parameter to blame."""
    if callable(columns):
        columns = columns(names)
    if isinstance(columns, slice):
        columns = range(len(names))[columns]
    entries = [columns] if isinstance(columns, str | int | np.integer) else columns
    if isinstance(entries, bytes | dict) or not hasattr(entries, "__iter__"):
        raise UserTypeError(f"{what}={columns!r} must be a list of {MEANING}.")
    entries = list(entries)
    if any(isinstance(entry, bool | np.bool_) or not isinstance(entry, str | int | np.integer) for entry in entries):
        raise UserTypeError(f"{what}={shown(columns)} must hold {MEANING}.")
    places = first_places(names)
    found = [_position(entry, names, places, where, what) for entry in entries]
    if not found or len(set(found)) != len(found):
        raise InputError(f"{what}={shown(columns)} must hold at least one column, and each once.")
    return found


def first_places(entries: Sequence[Hashable]) -> dict[Any, int]:
    """The first place of each of `entries`; a file may have a million columns, in which `index` takes long."""
    return {entry: place for place, entry in reversed(list(enumerate(entries)))}


def _position(entry: Any, names: Sequence[str], places: dict[Any, int], where: str, what: str) -> int:
    if isinstance(entry, str):
        if entry in places:
            return places[entry]
        raise InputError(f"{where} has no column {shown(entry)} ({what}): {_nearest(entry, names)}", parameter=what)
    if not -len(names) <= entry < len(names):
        raise InputError(
            f"{what}={entry} is outside of {where}: its {len(names)} columns are numbered from 0 to {len(names) - 1}.",
            parameter=what,
        )
    return int(entry) % len(names)


def _one(entry: Any, names: Sequence[str], where: str, what: str) -> int:
    entry = entry(names) if callable(entry) else entry
    if isinstance(entry, bool) or not isinstance(entry, str | int | np.integer):
        raise UserTypeError(f"{what}={shown(entry)} must be the name of one column, or its number counted from 0.")
    return _position(entry, names, first_places(names), where, what)


def _nearest(name: str, names: Sequence[str]) -> str:
    lower = {each.lower(): each for each in reversed(names)}
    close = difflib.get_close_matches(name.lower(), list(lower)[:MOST_COMPARED], n=3)
    return f"did you mean {listed([lower[each] for each in close])}?" if close else f"it has {listed(names, 10)}."


def shown(text: object) -> str:
    """A cell or name for a message of one line: cut short, with control characters escaped."""
    plain = str(text)
    return repr(plain if len(plain) <= SHOWN_CHARACTERS else plain[: SHOWN_CHARACTERS - 3] + "...")


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names in one line, only the first if there are many."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(shown, names[:most])) + rest


def left_out_note(columns: Sequence[str]) -> str:
    """A note about columns that do not hold numbers."""
    more = f" and {len(columns) - 5} more" if columns[5:] else ""
    count = "1 column does" if len(columns) == 1 else f"{len(columns)} columns do"
    return (
        f"{count} not hold numbers and {'is' if len(columns) == 1 else 'are'} left out: {', '.join(columns[:5])}{more}"
    )


def unique_names(names: Sequence[str], first: int = 0) -> tuple[str, ...]:
    """Names of columns without blanks around them; a second "x" becomes "x (2)".

    Empty names become "column 3" by their position; the first column has the number `first`.
    """
    found: list[str] = []
    taken = Counter(name.strip() for name in names)
    used: set[str] = set()
    # How many copies of each name were tried: beginning again would take the square of their number.
    copies: Counter[str] = Counter()
    for number, name in enumerate((name.strip() for name in names), first):
        name = name or f"column {number}"
        candidate, copy = name, max(1, copies[name])
        while candidate in used or (copy > 1 and candidate in taken):
            copy += 1
            candidate = f"{name} ({copy})"
        copies[name] = copy
        used.add(candidate)
        found.append(candidate)
    return tuple(found)


def repeated_note(names: Sequence[str]) -> tuple[str, ...]:
    """A note about names that several columns have, and what `unique_names` makes of them."""
    counts = Counter(name.strip() for name in names)
    repeated = {name for name, count in counts.items() if name and count > 1}
    if not repeated:
        return ()
    pairs = zip((name.strip() for name in names), unique_names(names), strict=True)
    new = [unique for name, unique in pairs if name in repeated and unique != name]
    return (f"several columns have the same name: the later ones are called {listed(new)}",)


def numbered_names(count: int, first: int = 0, word: str = "column") -> tuple[str, ...]:
    """Names for `count` columns that have none: "column 0", "column 1", ..."""
    return tuple(f"{word} {number}" for number in range(first, first + count))
