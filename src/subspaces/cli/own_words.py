"""Parameters of the library in the words of the command line.

Messages of the library write a parameter and its value as in Python, `missing="drop"`, and name attributes. Here is the
only place where they become options, `--missing drop`, and files.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

import click

from subspaces.cli.methods import OPTIONS

# A value in quotes, a shape, or nothing that needs another form.
VALUE = r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|\((?P<shape>\d+(?:, \d+)+)\))?"""


# What messages of the library say about attributes of an estimator.
PHRASES = {
    "X may have no such clusters": "the rows may have no such clusters",
    "SUBSPACES_DATA or data_home to": "the environment variable SUBSPACES_DATA to",
    "look at choice_ and confidence_": "see `subspaces choose`, and the confidences in labels.csv",
}


def option_of(parameter: str | None, command: click.Command, given: dict[str, Any]) -> str | None:
    """The option that sets a parameter of the library; None if the command has none."""
    if parameter is None:
        return None
    if parameter in (given.get("set") or {}):
        return f"--set {parameter}"
    name = OPTIONS[parameter][0] if parameter in OPTIONS else parameter
    found = next((each for each in command.params if each.name == name), None)
    return None if found is None else shown_name(found)


def shown_name(parameter: click.Parameter) -> str:
    """The name that people know a parameter by: -k, --seed or DATA."""
    if isinstance(parameter, click.Argument):
        return (parameter.metavar or str(parameter.name).upper()).removesuffix("...")
    return "-k" if "-k" in parameter.opts else max(parameter.opts, key=len)


def in_own_words(text: str) -> str:
    """A message with the options of the running command in place of parameters of the library."""
    context = click.get_current_context(silent=True)
    if context is None:
        return text
    command, given = context.command, context.params

    def replaced(found: re.Match[str]) -> str:
        name = found["name"]
        option = option_of(name, command, given)
        if option is None:
            return found[0]
        if option.startswith("--set "):
            return found[0].replace(name, option, 1)
        if found["shape"] is not None:
            return f"{option} {found['shape'].replace(', ', 'x')}"
        quoted = found["double"] if found["double"] is not None else found["single"]
        # Imported here, because the command line prints its help without NumPy.
        from subspaces.cli.columns import column_word

        quote = column_word if name in ("columns", "drop") else shlex.quote
        return f"{option} {'' if quoted is None else quote(quoted)}"

    for said, own in PHRASES.items():
        text = text.replace(said, own)
    return re.sub(rf"(?<![\w-])(?<!--set )(?P<name>[a-z]\w*)={VALUE}(?!=)", replaced, text)
