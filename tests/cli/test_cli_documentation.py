"""docs/command-line.md describes every command, option and method."""

from pathlib import Path

import click
import pytest

from subspaces.cli.app import COMMANDS, app
from subspaces.cli.methods import METHODS

PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()


def options_of(command):
    if isinstance(command, click.Group):
        return [option for each in command.commands.values() for option in options_of(each)]
    return [each for each in command.params if isinstance(each, click.Option)]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option(name):
    assert f"`{name} " in PAGE or f"`{name}`" in PAGE
    for option in options_of(app.get_command(click.Context(app), name)):
        assert any(word in PAGE for word in (*option.opts, *option.secondary_opts)), option.opts


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
def test_every_method_in_its_own_words(method):
    assert f"| `{method.name}` | {method.what} | `{method.title}` |" in PAGE
