"""Types of options. Each reads text of the command line and the values of a configuration file alike.

Values are plain numbers, text, lists and dictionaries, so that run.json can keep them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import click
from click.shell_completion import CompletionItem

LARGEST_SEED = 2**32 - 1
# More digits than any number here has; Python refuses to convert thousands of them with a message of its own.
MOST_DIGITS = 18
WORDS = {"true": True, "yes": True, "false": False, "no": False, "none": None}


def near(word: str, known: Iterable[str]) -> str:
    """A suggestion to append to a message, if one of the `known` names is similar to `word`."""
    found = get_close_matches(word, list(known), 1, 0.6)
    return f" (did you mean {found[0]}?)" if found else ""


class Value(click.ParamType):  # type: ignore[type-arg]
    """Base of the types: subclasses read a value, or raise ValueError with the reason."""

    name = "value"

    def read(self, value: Any) -> Any:
        """The value that `value` stands for."""
        raise NotImplementedError

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a value for click, which adds the name of the option to the reason."""
        try:
            return self.read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Text(Value):
    """Text that is not empty."""

    name = "text"

    def read(self, value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError(f"{_shown(value)} is not text")
        if not value or "\0" in value:
            raise ValueError("it is empty" if not value else "it contains a zero byte")
        return value


class Place(Text):
    """Path of a file, or with `folder` of a folder; shells complete it."""

    name = "path"

    def __init__(self, *, folder: bool = False) -> None:
        self._completion = "dir" if folder else "file"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Leave the completion of paths to the shell."""
        return [CompletionItem(incomplete, type=self._completion)]


class OneOf(click.Choice[str]):
    """One of a few words; a wrong one gets a suggestion."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check the word."""
        if value not in self.choices:
            self.fail(
                f"{_shown(value)} is not one of {', '.join(self.choices)}{near(str(value), self.choices)}", param, ctx
            )
        return str(value)


class Whole(Value):
    """A whole number between `low` and `high`, or the `word`."""

    name = "number"

    def __init__(self, low: int, high: int | None = None, *, word: str | None = None) -> None:
        self.low, self.high, self.word = low, high, word

    def read(self, value: Any) -> int | str:
        if self.word is not None and value == self.word:
            return self.word
        number = _whole(value)
        if number is None:
            word = f' or "{self.word}"' if self.word else ""
            raise ValueError(f"{_shown(value)} is not a whole number{word}")
        if number < self.low or (self.high is not None and number > self.high):
            bounds = f"at least {self.low}" if self.high is None else f"between {self.low} and {self.high}"
            raise ValueError(f"{number} must be {bounds}")
        return number


class Share(Value):
    """A number from 0 to 1, or the `word`."""

    name = "share"

    def __init__(self, *, word: str) -> None:
        self.word = word

    def read(self, value: Any) -> float | str:
        if value == self.word:
            return self.word
        try:
            number = float(value) if not isinstance(value, bool) else -1.0
        except (TypeError, ValueError):
            number = -1.0
        if not 0 <= number <= 1:
            raise ValueError(f'{_shown(value)} is not a number from 0 to 1 or "{self.word}"')
        return number


class Amount(Value):
    """An amount of memory, such as "1GB" or a number of bytes; the library checks it."""

    name = "size"

    def read(self, value: Any) -> str | int:
        return value if isinstance(value, int) and not isinstance(value, bool) else Text().read(value)


class Seconds(Value):
    """A time in seconds, above zero."""

    name = "seconds"

    def read(self, value: Any) -> float:
        try:
            number = float(value) if not isinstance(value, bool) else -1.0
        except (TypeError, ValueError):
            number = -1.0
        if not 0 < number < float("inf"):
            raise ValueError(f"{_shown(value)} is not a number of seconds above 0")
        return number


class Shape(Value):
    """Height and width of images, and 3 for colours: 28x28 or 32x32x3. With `square`, one number is enough."""

    name = "shape"

    def __init__(self, *, square: bool = False) -> None:
        self._square = square

    def read(self, value: Any) -> list[int]:
        parts = value if isinstance(value, list | tuple) else re.split(r"[x×,]", str(value))
        if self._square and len(parts) == 1:
            parts = [*parts, *parts]
        numbers = [_whole(part) for part in parts]
        if len(numbers) not in (2, 3) or any(not number or number < 1 for number in numbers):
            raise ValueError(f"{_shown(value)} is not height x width, such as 28x28, or 32x32x3 for colours")
        return [number for number in numbers if number is not None]


class Many(Value):
    """A type of options that can be given several times: reads each part, then collects them."""

    def collect(self, parts: Sequence[Any]) -> Any:
        """The value of the option, from all its parts."""
        raise NotImplementedError

    def from_file(self, value: Any) -> Any:
        """The value of the option, from a configuration file."""
        raise NotImplementedError


class Names(Many):
    """Names, with commas between them on the command line; in a file a list.

    On the command line, a name that contains a comma is put in double quotes, as in a CSV file.
    """

    name = "names"

    def read(self, value: Any) -> list[str]:
        return self._checked(next(csv.reader([str(value)], skipinitialspace=True), []), value)

    def collect(self, parts: Sequence[list[str]]) -> list[str] | None:
        return [name for part in parts for name in part] or None

    def from_file(self, value: Any) -> list[str]:
        return self._checked(value if isinstance(value, list) else [value], value)

    def _checked(self, names: list[Any], given: Any) -> list[str]:
        found = [str(name) if isinstance(name, int) and not isinstance(name, bool) else name for name in names]
        if not found or any(not isinstance(name, str) or not name.strip() for name in found):
            raise ValueError(f"{_shown(given)} is not a list of names with commas between them")
        return [name.strip() for name in found]


class Settings(Many):
    """Parameters and their values: NAME=VALUE on the command line, a table in a file."""

    name = "setting"

    def __init__(self, example: str = "n_landmarks=500") -> None:
        self.example = example

    def read(self, value: Any) -> dict[str, Any]:
        key, sign, word = Text().read(value).partition("=")
        if not sign or not key.strip() or not word.strip():
            raise ValueError(f"{_shown(value)} is not NAME=VALUE, such as {self.example}")
        return {key.strip().replace("-", "_"): plain_value(word.strip())}

    def collect(self, parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
        return {name: value for part in parts for name, value in part.items()}

    def from_file(self, value: Any) -> dict[str, Any]:
        if isinstance(value, str | list):
            return self.collect([self.read(part) for part in ([value] if isinstance(value, str) else value)])
        if not isinstance(value, Mapping):
            raise ValueError(f"{_shown(value)} is not a table of parameters, such as n_landmarks = 500")
        for name, each in value.items():
            if each is not None and not isinstance(each, bool | int | float | str | list):
                raise ValueError(f"{name} = {_shown(each)} is not a number, text, true or false")
        return dict(value)


class Paths(Many):
    """One or several paths."""

    name = "paths"

    def read(self, value: Any) -> str:
        return Text().read(value)

    def collect(self, parts: Sequence[str]) -> list[str]:
        return list(parts)

    def from_file(self, value: Any) -> list[str]:
        return [self.read(each) for each in (value if isinstance(value, list) else [value])]

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Leave the completion of paths to the shell."""
        return [CompletionItem(incomplete, type="file")]


def collected(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Callback of options and arguments whose type is a `Many`."""
    assert isinstance(param.type, Many)
    return param.type.collect(value or ())


def from_file(param: click.Parameter, value: Any) -> Any:
    """The value of an option in a configuration file; raises ValueError or BadParameter with the reason."""
    if isinstance(param.type, Many):
        return param.type.from_file(value)
    if isinstance(param, click.Option) and param.is_flag:
        if not isinstance(value, bool):
            raise ValueError(f"{_shown(value)} is not true or false")
        return value
    return param.type.convert(value, param, None)


def plain_value(word: str) -> Any:
    """The value that a word names: a number, true or false, None, a list with commas, or the word itself."""
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


def _whole(value: Any) -> int | None:
    """A whole number; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and re.fullmatch(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}", value.strip()):
        return int(value)
    return None


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."
