"""Options from three places: defaults, a configuration file, and the command line, which takes precedence."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from subspaces._core.errors import InputError, MissingFileError, UserError
from subspaces._core.files import open_regular
from subspaces.cli.command import Command
from subspaces.cli.record import path_of
from subspaces.cli.values import from_file, near

# Not taken over when a run is repeated: where results go, and what is printed.
NOT_REPEATED = {"out", "force", "config", "again", "dry-run", "json", "quiet", "verbose", "checkpoint"}
# Options that name a configuration, which a configuration itself cannot contain.
POINTERS = {"config", "again"}
# A larger file is not a configuration.
MOST_BYTES = 64 * 2**20


class ConfiguredCommand(Command):
    """A command whose options can also come from the file or the run that --config or --again names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, then fill in what only the configuration gives."""
        rest = super().parse_args(ctx, args)
        if ctx.resilient_parsing:
            return rest
        known = {long_name(parameter): parameter for parameter in self.params}
        with self.naming_options(ctx), _of_pointer(ctx.params):
            configured = _configured(self, ctx.params)
        for name, value in configured.items():
            if not _is_given(ctx, known[name]):
                ctx.params[str(known[name].name)] = value
        return rest


def long_name(parameter: click.Parameter) -> str:
    """Name of an option in configuration files and in run.json: its long name without dashes in front."""
    return str(parameter.name).replace("_", "-")


def by_long_name(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as run.json keeps them."""
    return {name.replace("_", "-"): value for name, value in options.items()}


def by_parameter(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a run.json as commands use them."""
    return {name.replace("-", "_"): value for name, value in options.items()}


def checked_options(content: Mapping[str, Any], path: Path, command: click.Command) -> dict[str, Any]:
    """Values of the options in a configuration, by long name; refuses names that are not options of the command."""
    known = {long_name(parameter): parameter for parameter in command.params}
    # An option may have several spellings, and one that negates it.
    spellings = {option.lstrip("-"): name for name, each in known.items() for option in each.opts}
    negations = {option.lstrip("-"): name for name, each in known.items() for option in each.secondary_opts}
    found: dict[str, Any] = {}
    for key, value in content.items():
        name = key.replace("_", "-")
        negated = name in negations
        name = negations[name] if negated else spellings.get(name, name)
        if name not in known or name in POINTERS:
            raise InputError(
                f"{path}: {key} is not an option of subspaces {command.name}{near(name, known.keys() - POINTERS)}"
            )
        if name in found:
            raise InputError(f"{path}: {key} is given twice")
        try:
            found[name] = from_file(known[name], value)
        except (ValueError, click.BadParameter) as error:
            reason = error.message if isinstance(error, click.BadParameter) else str(error)
            raise InputError(f"{path}: {key}: {reason}") from None
        if negated:
            found[name] = not found[name]
    return found


def read_run(path: Path) -> dict[str, Any]:
    """The content of a run.json."""
    import json

    if not path.exists():
        raise MissingFileError(f"{path} does not exist: name the folder of a run, made by subspaces fit --out")
    content = _content(path)
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        # A number of thousands of digits is a ValueError.
        raise InputError(f"{path} is damaged: {error}") from None
    if not isinstance(document, dict) or document.get("format") != "subspaces run":
        raise InputError(f"{path} is not the run.json of a run")
    if document.get("version") != 1:
        raise InputError(
            f"{path} has version {document.get('version')!r:.40}, and only version 1 is known: upgrade subspaces"
        )
    if not isinstance(document.get("options"), dict) or not isinstance(document.get("command"), str):
        raise InputError(f"{path} is damaged: it does not contain the options of the run")
    files = document.get("data") or []
    named = isinstance(files, list) and all(isinstance(e, dict) and isinstance(e.get("path"), str) for e in files)
    for key, good in {"data": named, "environment": isinstance(document.get("environment") or {}, dict)}.items():
        if not good:
            raise InputError(f"{path} is damaged: {key} has another type; fit again")
    return document


@contextlib.contextmanager
def _of_pointer(given: Mapping[str, Any]) -> Iterator[None]:
    """Attribute errors in a configuration to the option that names it."""
    try:
        yield
    except UserError as error:
        error.parameter = "again" if given.get("again") is not None else "config"
        raise


def _is_given(ctx: click.Context, parameter: click.Parameter) -> bool:
    if isinstance(parameter, click.Argument):
        return bool(ctx.params[str(parameter.name)])
    return ctx.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE


def _configured(command: click.Command, given: Mapping[str, Any]) -> dict[str, Any]:
    """Values of options in the configuration that the command line names, by long name."""
    if given.get("config") is not None and given.get("again") is not None:
        raise InputError("it cannot be combined with --config: both give options")
    if given.get("again") is not None:
        return _of_run(path_of(given["again"]) / "run.json", command)
    if given.get("config") is None:
        return {}
    path = path_of(given["config"])
    return _of_run(path, command) if path.suffix.lower() == ".json" else _of_toml(path, command)


def _of_toml(path: Path, command: click.Command) -> dict[str, Any]:
    import tomllib

    text = _content(path)
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not valid TOML: {error or 'it is nested too deeply'}") from None
    return checked_options(content, path, command)


def _of_run(path: Path, command: click.Command) -> dict[str, Any]:
    document = read_run(path)
    if document["command"] != command.name:
        raise InputError(f"{path} was made by subspaces {document['command']}, not by subspaces {command.name}")
    options = {name: value for name, value in document["options"].items() if name not in NOT_REPEATED}
    if options.get("data") == ["-"]:
        raise InputError(
            f"{path} is a run of rows from standard input, which were not kept: save them to a file, and fit that"
        )
    return checked_options({name: value for name, value in options.items() if value is not None}, path, command)


def _content(path: Path) -> str:
    with open_regular(path) as stream:
        raw = stream.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise InputError(f"{path} is too long for a configuration: name a TOML file, or the run.json of a run")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text: name a TOML file, or the run.json of a run") from None
