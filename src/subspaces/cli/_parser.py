"""From words to a command and its options."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from subspaces import __version__
from subspaces.cli import _values as values
from subspaces.cli._commands import COMMANDS, EXIT_CODES, Command, Option
from subspaces.cli._config import near, resolve
from subspaces.cli._words import one_line


@dataclass(frozen=True, slots=True)
class Asked:
    """A command and what the command line gave it."""

    command: Command
    given: dict[str, Any]  # by long name, text as it was written
    arguments: list[str]

    def options(self) -> dict[str, Any]:
        """Every option by long name, from the command line, its configuration, or by default."""
        return resolve(self.command, self.given)

    def line(self) -> str:
        """The command as it was typed."""
        return shlex.join(["subspaces", *self.arguments])


class Parser(argparse.ArgumentParser):
    """A parser that tells a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{one_line(f'{self.prog}: {message}; try {self.prog} --help')}\n")


def parse(arguments: Sequence[str]) -> tuple[str, Any]:
    """The module that runs the command, and what it was given."""
    parser = build()
    options, unknown = parser.parse_known_args(list(arguments))
    if options.command in COMMANDS and any(word.many for word in COMMANDS[options.command].words):
        # Argparse wants all data in one place; people write fit -k 3 a.csv --seed 1 b.csv.
        more = [word for word in unknown if not word.startswith("-") or word == "-"]
        unknown = [word for word in unknown if word not in more]
        options.data = [*getattr(options, "data", []), *more]
    if unknown:
        known = [flag.lstrip("-") for action in options.parser._actions for flag in action.option_strings]
        guess = near(unknown[0].partition("=")[0].lstrip("-"), known).replace("mean ", "mean --")
        options.parser.error(f"{unknown[0]} is not known{guess}")
    given = {name: value for name, value in vars(options).items() if name not in ("parser", "home", "command")}
    if options.command in COMMANDS:
        command = COMMANDS[options.command]
        return options.home, Asked(command, _by_long_name(command, given), list(arguments))
    return options.home, argparse.Namespace(command=options.command, **given)


def build() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = Parser(
        prog="subspaces",
        description="Subspace clustering that scales.",
        epilog=f"subspaces COMMAND --help tells what a command takes. {EXIT_CODES[0].upper()}{EXIT_CODES[1:]}.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"subspaces {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS.values():
        _add(commands, command)
    _add_demo(commands)
    _add_reproduce(commands)
    return parser


def _add(commands: Any, command: Command) -> None:
    parser = commands.add_parser(
        command.name, help=command.help, description=command.description, epilog=command.epilog, allow_abbrev=False
    )
    parser.set_defaults(home=command.home, parser=parser)
    for word in command.words:
        # Data may come from a configuration, too; whether it did is seen when all is known.
        count = "*" if word.many else "?" if word.name == "name" else None
        if word.many and command.name in ("predict",):
            count = "+"
        default: dict[str, Any] = {} if count in (None, "+") else {"default": argparse.SUPPRESS}
        parser.add_argument(word.dest, nargs=count, metavar=word.metavar, help=word.help, **default)
    for option in command.options:
        _add_option(parser, option)


def _add_option(parser: argparse.ArgumentParser, option: Option) -> None:
    flags = [*([option.short] if option.short else []), f"--{option.name}"]
    given: dict[str, Any] = {"dest": option.dest, "help": option.help.replace("%", "%%"), "default": argparse.SUPPRESS}
    if option.negatable:
        parser.add_argument(*flags, action=argparse.BooleanOptionalAction, **given)
    elif option.read is values.flag:
        parser.add_argument(*flags, action="store_true", **given)
    else:
        given["metavar"] = option.metavar or option.name.upper()
        parser.add_argument(*flags, action="append" if option.many else "store", **given)


def _by_long_name(command: Command, given: dict[str, Any]) -> dict[str, Any]:
    """What was given, by the names that configuration files know; lists with commas are told from those of files."""
    found = {}
    for option in command.all_options():
        value = given.get(option.dest)
        if value is None or value == []:
            continue
        found[option.name] = [values.Words(part) for part in value] if isinstance(value, list) else value
    return found


def _add_demo(commands: Any) -> None:
    demo = commands.add_parser(
        "demo", help="compare FLS with k-means and spectral clustering, draw a picture", allow_abbrev=False
    )
    demo.set_defaults(home="_demo", parser=demo)
    demo.add_argument("--picture", type=Path, default=Path("subspaces-demo.png"), help="where the picture goes")
    demo.add_argument("--seed", type=int, default=0, help="seed of the data and of every method")


def _add_reproduce(commands: Any) -> None:
    parser = commands.add_parser("reproduce", help="print the tables of the paper beside ours", allow_abbrev=False)
    parser.set_defaults(home="_reproduce", parser=parser)
    parser.description = (
        "Run the experiments of the paper and print its tables beside ours. Every finished draw is kept: interrupt it "
        "as you like, the same command goes on where it was; with --again it begins anew."
    )
    parser.add_argument(
        "which",
        nargs="*",
        metavar="TABLE",
        help="synthetic, mnist, faces, pendigits, beyond, tradeoff, robustness, theory, or all (default)",
    )
    parser.add_argument("--methods", help="some methods only, with commas: fls,lbf,ssc,sssc,fls-paper,...")
    parser.add_argument("--draws", type=int, help="number of draws of each data set (default: those of the paper)")
    parser.add_argument("--jobs", type=int, help="draws at a time, a process of one core each (default: all cores)")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="where SSC runs on large data sets")
    parser.add_argument("--out", type=_folder, default=Path("benchmarks/paper/results"), help="folder of the results")
    parser.add_argument("--again", action="store_true", help="measure anew what is kept, which stays until then")


def _folder(text: str) -> Path:
    # An empty name would be the current folder.
    if not text:
        raise argparse.ArgumentTypeError("the name is empty, name a folder")
    return Path(text)
