"""Options that several commands share. Their long names are also the names in configuration files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from subspaces.cli import values
from subspaces.cli.values import LARGEST_SEED
from subspaces.rows.formats import KEYED

Decorator = Callable[[Any], Any]

EXIT_CODES = (
    "Exit codes: 0 done; 2 a mistake in the options or the data, or too little memory or disk; 70 an internal error "
    "(a bug, with a traceback file); 130 interrupted; 143 terminated."
)


def together(*decorators: Decorator) -> Decorator:
    """Several options as one decorator, in the order of the help."""

    def decorate(command: Any) -> Any:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def memory_limit(default: str | None = "1GB") -> Decorator:
    """The option --memory-limit."""
    return click.option(
        "--memory-limit",
        type=values.Amount(),
        default=default,
        metavar="SIZE",
        help="Keep rows, blocks and sample below this size.",
    )


def missing(default: str | None = "error") -> Decorator:
    """The option --missing."""
    return click.option(
        "--missing",
        type=values.OneOf(["error", "drop", "mean"]),
        default=default,
        help="Missing values: stop with an error, drop the row, or fill in the mean of the column.",
    )


def data(*, required: bool = False) -> Decorator:
    """The argument DATA."""
    return click.argument(
        "data", type=values.Paths(), nargs=-1, required=required, callback=values.collected, metavar="DATA..."
    )


def json(command: Any) -> Any:
    """The option --json."""
    return click.option("--json", is_flag=True, help="Print one JSON document instead of text.")(command)


seed = click.option(
    "--seed", type=values.Whole(0, LARGEST_SEED), default=0, metavar="N", help="Seed of every random draw."
)
force = click.option(
    "--force", is_flag=True, help="Replace existing results; the old ones stay until the new ones are complete."
)
talk = together(
    json,
    click.option("-q", "--quiet", is_flag=True, help="Print neither progress nor warnings to stderr."),
    click.option("-v", "--verbose", is_flag=True, help="Print every step to stderr as a line."),
)
config = click.option(
    "--config",
    type=values.Place(),
    metavar="FILE",
    help="Read options from a TOML file or from the run.json of a run; the command line takes precedence.",
)
key = click.option(
    "--key",
    type=values.Text(),
    metavar="NAME",
    help=f"Name of the array or sheet that holds the rows, in files of several: {KEYED}.",
)
columns = click.option(
    "--columns",
    type=values.Names(),
    multiple=True,
    callback=values.collected,
    metavar="A,B,..",
    help="Columns to cluster by: names, or numbers from 1 on, with commas; a name with a comma in double quotes. By "
    "default all numeric columns.",
)
drop = click.option(
    "--drop",
    type=values.Names(),
    multiple=True,
    callback=values.collected,
    metavar="A,B,..",
    help="Columns to leave out, with commas.",
)
truth = click.option(
    "--truth",
    type=values.Text(),
    metavar="COLUMN",
    help="Column of the true classes. It is not clustered by; the labels are compared with it.",
)
names = click.option("--names", type=values.Text(), metavar="COLUMN", help="Column of the names of rows.")
image_shape = click.option(
    "--image-shape",
    type=values.Shape(),
    metavar="HxW",
    help="Rows are images of this shape, such as 28x28; the report shows them.",
)
image_size = click.option(
    "--image-size", type=values.Shape(square=True), metavar="HxW", help="Scale image files to this size, such as 32x32."
)
preparing = together(
    click.option(
        "--standardise/--no-standardise",
        "--standardize/--no-standardize",
        default=None,
        help="Scale every column to mean 0 and variance 1. By default, fls does so if one column hides the others.",
    ),
    click.option(
        "--pca", type=values.Whole(1), metavar="N", help="Project rows on this number of principal components."
    ),
    click.option(
        "--whiten-drop",
        type=values.Whole(0),
        default=0,
        metavar="N",
        help="Leave out this number of leading principal components, such as those of the light in faces.",
    ),
)
clusters = click.option(
    "-k",
    "--clusters",
    type=values.Whole(1, word="auto"),
    default="auto",
    metavar="K",
    help='Number of clusters, or "auto".',
)
dim = click.option(
    "--dim",
    type=values.Whole(0, word="auto"),
    default="auto",
    metavar="D",
    help='Dimension of the subspaces, 0 for points, or "auto".',
)


def settings(example: str = "n_landmarks=500") -> Decorator:
    """Parameters that have no option of their own."""
    return click.option(
        "--set",
        type=values.Settings(example),
        multiple=True,
        callback=values.collected,
        metavar="NAME=VALUE",
        help=f"Any other parameter, such as {example}; can be given several times.",
    )


def reading(*, of_run: bool = False) -> Decorator:
    """How rows are read; with `of_run`, options that are not given follow a run, whose truth is not needed."""
    return together(
        key,
        columns,
        drop,
        *([] if of_run else [truth]),
        names,
        missing(None if of_run else "error"),
        image_shape,
        image_size,
        memory_limit(None if of_run else "1GB"),
    )
