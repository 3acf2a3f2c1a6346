"""`subspaces completion`: the script that lets a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from subspaces.cli.command import Command
from subspaces.cli.output import print_text
from subspaces.cli.values import OneOf

# The shell sets this variable to request completions.
VARIABLE = "_SUBSPACES_COMPLETE"


@click.command(cls=Command)
@click.argument("shell", type=OneOf(["bash", "zsh", "fish"]), metavar="bash|zsh|fish")
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash: add to ~/.bashrc   eval "$(subspaces completion bash)"
    zsh:  add to ~/.zshrc    eval "$(subspaces completion zsh)"
    fish: add to ~/.config/fish/config.fish   subspaces completion fish | source
    """
    from subspaces.cli.app import app

    found = get_completion_class(shell)
    assert found is not None
    script = found(app, {}, "subspaces", VARIABLE)
    # `source` would run bash to check its version, which is not needed to print a script.
    print_text(script.source_template % script.source_vars())
