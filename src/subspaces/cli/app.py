"""The program `subspaces`: its commands, found by name when they are needed."""

from __future__ import annotations

from importlib import import_module

import click

from subspaces import __version__
from subspaces.cli.command import Group
from subspaces.cli.options import EXIT_CODES
from subspaces.cli.output import print_text

# Each is a module of subspaces.cli.commands with a function of the same name; help lists them in this order.
COMMANDS = (
    "fit",
    "predict",
    "choose",
    "compare",
    "report",
    "data",
    "info",
    "demo",
    "reproduce",
    "completion",
)


class LazyGroup(Group):
    """Commands that are imported when they are named, so that each starts quickly."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command by its name."""
        if cmd_name not in COMMANDS:
            return None
        found = getattr(import_module(f"subspaces.cli.commands.{cmd_name}"), cmd_name)
        assert isinstance(found, click.Command)
        return found


@click.group(cls=LazyGroup, epilog=f"subspaces COMMAND --help describes a command. {EXIT_CODES}")
@click.version_option(__version__, prog_name="subspaces", message="%(prog)s %(version)s")
@click.pass_context
def app(ctx: click.Context) -> None:
    """Subspace clustering that scales to millions of rows."""
    if ctx.invoked_subcommand is None:
        print_text(ctx.get_help())
