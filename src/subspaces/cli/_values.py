"""Values of options, from words of the command line or from a configuration file: both mean the same.

A reader gets the name that the user knows the option by, and the value: text, or whatever TOML and JSON know. It
returns plain values that JSON can hold, and tells a mistake by the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from subspaces.cli._errors import Mistake

Reader = Callable[[str, Any], Any]

LARGEST_SEED = 2**32 - 1
# More digits than any number here has; Python itself refuses thousands of them in words of its own.
MOST_DIGITS = 18
WORDS = {"true": True, "yes": True, "false": False, "no": False, "none": None}


def text(name: str, value: Any) -> str:
    """Words that are not empty."""
    if not isinstance(value, str):
        raise Mistake(f"{name} {_shown(value)} must be text")
    if not value or "\0" in value:
        raise Mistake(f"{name} is empty" if not value else f"{name} holds a zero byte")
    return value


def flag(name: str, value: Any) -> bool:
    """Yes or no."""
    if not isinstance(value, bool):
        raise Mistake(f"{name} {_shown(value)} must be true or false")
    return value


def whole(low: int, high: int | None = None, *, word: str | None = None) -> Reader:
    """A whole number between `low` and `high`, or the `word`."""
    kind = f'a whole number or "{word}"' if word else "a whole number"

    def read(name: str, value: Any) -> int | str:
        if word is not None and value == word:
            return word
        number = _whole(value)
        if number is None:
            raise Mistake(f"{name} {_shown(value)} must be {kind}")
        if number < low or (high is not None and number > high):
            bounds = f"at least {low}" if high is None else f"between {low} and {high}"
            raise Mistake(f"{name} {_shown(value)} must be {bounds}")
        return number

    return read


def amount(name: str, value: Any) -> str | int:
    """An amount of memory, checked where it is used."""
    return value if isinstance(value, int) and not isinstance(value, bool) else text(name, value)


def seconds(name: str, value: Any) -> float:
    """A time in seconds, above zero."""
    try:
        number = float(value) if not isinstance(value, bool) else -1.0
    except (TypeError, ValueError):
        number = -1.0
    if not 0 < number < float("inf"):
        raise Mistake(f"{name} {_shown(value)} must be a number of seconds above 0")
    return number


def names(name: str, value: Any) -> list[str]:
    """Names in a list, or with commas between them."""
    parts = value if isinstance(value, list) else [value]
    # In a file a name may hold a comma: there lists are lists.
    found = [each for part in parts for each in (_split(part) if isinstance(part, Words) else [part])]
    found = [str(each) if isinstance(each, int) and not isinstance(each, bool) else each for each in found]
    if not found or any(not isinstance(each, str) or not each.strip() for each in found):
        raise Mistake(f"{name} {_shown(value)} must be names with commas between them")
    return [each.strip() for each in found]


def paths(name: str, value: Any) -> list[str]:
    """One or several paths."""
    found = value if isinstance(value, list) else [value]
    return [text(name, each) for each in found]


def shape(name: str, value: Any) -> list[int]:
    """Height and width of images, and perhaps 3 for colours: 28x28 or 32x32x3."""
    parts = value if isinstance(value, list) else re.split(r"[x×,]", str(value))
    numbers = [_whole(part) for part in parts]
    if len(numbers) not in (2, 3) or any(not number or number < 1 for number in numbers):
        raise Mistake(f"{name} {_shown(value)} must be height x width, like 28x28, or 32x32x3 for colours")
    return [number for number in numbers if number is not None]


def size(name: str, value: Any) -> list[int]:
    """Height and width, or one number for both."""
    number = _whole(value)
    return shape(name, [number, number] if number is not None else value)


def settings(name: str, value: Any) -> dict[str, Any]:
    """Parameters and their values: name=value several times, or a table of a file."""
    if isinstance(value, Mapping):
        found = dict(value)
    else:
        found = {}
        for part in value if isinstance(value, list) else [value]:
            key, sign, word = text(name, part).partition("=")
            if not sign or not key.strip() or not word.strip():
                raise Mistake(f"{name} {_shown(part)} must be name=value, like n_landmarks=500")
            found[key.strip().replace("-", "_")] = plain_value(word.strip())
    for key, each in found.items():
        if each is not None and not isinstance(each, bool | int | float | str | list):
            raise Mistake(f"{name} {key}={_shown(each)} must be a number, a word, true, false or none")
    return found


def plain_value(word: str) -> Any:
    """A word as the value that it names: number, yes or no, none, a list with commas, or itself."""
    if "," in word:
        return [plain_value(part.strip()) for part in word.split(",") if part.strip()]
    if word.lower() in WORDS:
        return WORDS[word.lower()]
    number = _whole(word)
    if number is not None:
        return number
    try:
        return float(word)
    except ValueError:
        return word


class Words(str):
    """Text of the command line, where commas part names."""


def _split(part: str) -> list[str]:
    return str(part).split(",")


def _whole(value: Any) -> int | None:
    """A whole number; None for what is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and re.fullmatch(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}", value.strip()):
        return int(value)
    return None


def _shown(value: Any) -> str:
    shown = value if isinstance(value, str) and value else repr(value)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."
