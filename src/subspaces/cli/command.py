"""What all commands have in common: help, and errors of the library in terms of options."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import click

from subspaces._core.errors import UserError
from subspaces.cli.errors import is_debugging, one_line_of
from subspaces.cli.options import EXIT_CODES
from subspaces.cli.output import one_line
from subspaces.cli.own_words import in_own_words, option_of, shown_name
from subspaces.cli.values import near

CONTEXT = {"help_option_names": ["-h", "--help"], "show_default": True, "max_content_width": 100}


class Command(click.Command):
    """A command that reports an error of the user by the option at fault."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("epilog", EXIT_CODES)
        options.setdefault("context_settings", CONTEXT)
        super().__init__(*args, **options)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; every mistake in it names the command."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; errors of users end in one line."""
        with self.naming_options(ctx):
            return super().invoke(ctx)

    @contextlib.contextmanager
    def naming_options(self, ctx: click.Context) -> Iterator[None]:
        """Report an error of the user by the option that sets the parameter at fault."""
        try:
            yield
        except UserError as error:
            if is_debugging():
                raise
            option, text = option_of(error.parameter, self, ctx.params), in_own_words(one_line_of(error))
            # The library names the parameter in brackets; the option says it already.
            text = text if option is None else text.replace(f" ({error.parameter})", "", 1)
            named = option is None or text.startswith(option)
            raise click.ClickException(text if named else f"{option}: {text}") from error


class Group(click.Group):
    """A group of commands that suggests the nearest command for one that does not exist."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("context_settings", CONTEXT)
        options.setdefault("invoke_without_command", True)
        super().__init__(*args, **options)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command by its name."""
        if self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing and not args[0].startswith("-"):
            known = self.list_commands(ctx)
            ctx.fail(f"unknown command {args[0]!r}{near(args[0], known)}")
        return super().resolve_command(ctx, args)


def usage_line(error: click.ClickException) -> str:
    """A mistake in the words of the command line, in one line."""
    if not isinstance(error, click.UsageError):
        return f"subspaces: {one_line(error.format_message())}"
    place = error.ctx.command_path if error.ctx is not None else "subspaces"
    return one_line(f"{place}: {_reason(error)}; try {place} --help")


def _reason(error: click.UsageError) -> str:
    if isinstance(error, click.NoSuchOption):
        known: Sequence[str] = []
        if error.ctx is not None:
            known = [
                name for each in error.ctx.command.get_params(error.ctx) for name in (*each.opts, *each.secondary_opts)
            ]
        return f"{error.option_name} is not an option{near(error.option_name, known)}"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f"{shown_name(error.param)} is missing"
    if isinstance(error, click.BadParameter) and error.param is not None:
        return f"{shown_name(error.param)}: {error.message}"
    text = error.format_message().rstrip(".")
    return f"{text[:1].lower()}{text[1:]}"
