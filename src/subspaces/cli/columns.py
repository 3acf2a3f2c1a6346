"""Columns as the command line names them: names, numbers counted from 1, and ranges such as 2-5.

The library counts from 0. Words become functions of the names of all columns, because a column may be called "3": names
come before numbers.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from subspaces._core.errors import InputError
from subspaces.rows.columns import first_places

# Number of the first column on the command line.
FIRST_COLUMN = 1


class ExactNames(tuple[str, ...]):
    """Columns by their whole names only, as a run has stored them: "3" is a name and not a number."""

    __slots__ = ()


def column_word(name: str) -> str:
    """The name of a column in a list on the command line."""
    return shlex.quote(f'"{name}"' if "," in name else name)


def columns_of(option: str, words: Sequence[str] | None) -> Any:
    """What `read_table` takes as columns for the words of an option, such as ["x", "3", "5-8"]."""
    if words is None:
        return None
    return list(words) if isinstance(words, ExactNames) else partial(_positions, option, tuple(words))


def column_of(option: str, word: str | None) -> str | Callable[[Sequence[str]], int] | None:
    """What `read_table` takes as one column for the word of an option."""
    return word if word is None or not word.strip().isdigit() else partial(_one, option, word)


def _one(option: str, word: str, names: Sequence[str]) -> int:
    return _positions(option, (word,), names)[0]


def _positions(option: str, words: Sequence[str], names: Sequence[str]) -> list[Any]:
    found: dict[Any, None] = {}
    places = first_places(names)
    for word in words:
        ends = re.fullmatch(r"\s*([0-9]{1,9})(?:\s*-\s*([0-9]{1,9}))?\s*", word)
        if word in places or ends is None:
            if word not in places:
                _refuse_part(option, word, names)
            # The library reports names that do not exist, with similar ones.
            found[places.get(word, word)] = None
            continue
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if not FIRST_COLUMN <= first <= last < FIRST_COLUMN + len(names):
            raise InputError(f"{option} {word.strip()}: the columns are numbered from 1 to {len(names)}")
        found.update(dict.fromkeys(range(first - FIRST_COLUMN, last - FIRST_COLUMN + 1)))
    return list(found)


def _refuse_part(option: str, word: str, names: Sequence[str]) -> None:
    """Refuse `word` if it is part of a name with a comma that was not quoted."""
    whole = next((name for name in names if "," in name and word in map(str.strip, name.split(","))), None)
    if whole is not None and '"' not in whole:
        raise InputError(f"a column name with a comma needs double quotes: {option} {column_word(whole)}")
