"""Options from three places: their defaults, a configuration file, the command line, which wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from subspaces.cli._errors import Mistake
from subspaces.cli._record import path_of

# What a run does not hand on when it is repeated: where results go, and how it talks.
NOT_REPEATED = {"out", "force", "config", "again", "dry-run", "json", "quiet", "verbose", "checkpoint"}
# What points to a configuration is not in one.
POINTERS = {"config", "again"}
# No configuration is longer; anything else is another file.
MOST_BYTES = 64 * 2**20


def near(word: str, known: Iterable[str]) -> str:
    """A question after the name that was meant, where one is like `word`."""
    from difflib import get_close_matches

    found = get_close_matches(word, list(known), 1, 0.7)
    return f"; did you mean {found[0]}?" if found else ""


def resolve(command: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every option of a `command`, by long name: `given` on the command line, in its configuration, or by default."""
    known = {option.name: option for option in command.all_options()}
    found = {name: option.default for name, option in known.items()}
    for name, value, shown in _configured(command, given):
        found[name] = known[name].read(shown, value)
    words = {option.name for option in command.words}
    for name, value in given.items():
        option = known[name]
        shown = name.upper() if name in words else f"-{option.short[1]}" if option.name == "clusters" else f"--{name}"
        found[name] = option.read(shown, value)
    return found


def _configured(command: Any, given: Mapping[str, Any]) -> list[tuple[str, Any, str]]:
    """Option, value and the name to tell mistakes by, from what the command line points to."""
    if given.get("config") is not None and given.get("again") is not None:
        raise Mistake("--config and --again both name options: give one of them")
    if given.get("again") is not None:
        return _of_run(path_of(given["again"]) / "run.json", command)
    if given.get("config") is None:
        return []
    path = path_of(given["config"])
    return _of_run(path, command) if path.suffix.lower() == ".json" else _of_toml(path, command)


def _of_toml(path: Path, command: Any) -> list[tuple[str, Any, str]]:
    import tomllib

    try:
        content = tomllib.loads(_content(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Mistake(f"{path} is no TOML: {error or 'it is nested too deeply'}") from None
    return _checked(content, path, command)


def _of_run(path: Path, command: Any) -> list[tuple[str, Any, str]]:
    document = read_run(path)
    if document["command"] != command.name:
        raise Mistake(f"{path} is of subspaces {document['command']}, not of {command.name}")
    options = {name: value for name, value in document["options"].items() if name not in NOT_REPEATED}
    if options.get("data") == ["-"]:
        raise Mistake(f"{path} is of rows from standard input, which are gone: keep them in a file, and fit that")
    return _checked({name: value for name, value in options.items() if value is not None}, path, command)


def read_run(path: Path) -> dict[str, Any]:
    """What a run remembers, from its run.json."""
    import json

    if not path.exists():
        raise Mistake(f"{path} is not there: name the folder of a run, as subspaces fit --out makes it")
    try:
        document = json.loads(_content(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise Mistake(f"{path} is damaged: {error}") from None
    if not isinstance(document, dict) or document.get("format") != "subspaces run":
        raise Mistake(f"{path} is not the run.json of a run")
    if document.get("version") != 1:
        raise Mistake(
            f"{path} is of version {document.get('version')!r:.40}, and version 1 is known: upgrade subspaces"
        )
    if not isinstance(document.get("options"), dict) or not isinstance(document.get("command"), str):
        raise Mistake(f"{path} is damaged: it does not say what was asked for")
    return document


def _checked(content: Mapping[str, Any], path: Path, command: Any) -> list[tuple[str, Any, str]]:
    """Keys that are options of the command, each once."""
    options = {option.name: option for option in command.all_options()}
    found: dict[str, Any] = {}
    for key, value in content.items():
        name = key.replace("_", "-")
        if name not in options and name.startswith("no-") and getattr(options.get(name[3:]), "negatable", False):
            if not isinstance(value, bool):
                raise Mistake(f"{path}: {key} {value!r:.80} must be true or false")
            name, value = name[3:], not value
        if name not in options or name in POINTERS:
            raise Mistake(
                f"{path}: {key} is no option of subspaces {command.name}{near(name, options.keys() - POINTERS)}"
            )
        if name in found:
            raise Mistake(f"{path}: {key} is given twice")
        found[name] = value
    return [(name, value, f"{path}: {name}") for name, value in found.items()]


def _content(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            raw = stream.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise Mistake(f"{path} is too long for a configuration: name a TOML file, or the run.json of a run")
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Mistake(f"{path} is not UTF-8 text: name a TOML file, or the run.json of a run") from None
