"""`subspaces demo`: FLS, k-means and spectral clustering on subspaces and digits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from subspaces._core.errors import MissingPackageError
from subspaces.cli import options as opt
from subspaces.cli import values
from subspaces.cli.command import Command
from subspaces.cli.console import stage_lines
from subspaces.cli.output import print_line, print_text


@click.command(cls=Command, short_help="Compare FLS with k-means and spectral clustering.")
@click.option(
    "--picture", type=values.Place(), default="subspaces-demo.png", metavar="FILE", help="File of the picture."
)
@opt.seed
def demo(**options: Any) -> None:
    """Compare FLS with k-means and spectral clustering: print a table and draw a picture."""
    from subspaces.show import demo as show

    picture, missing = Path(options["picture"]), None
    try:
        show.check_picture(picture)
    except MissingPackageError as error:
        missing = error
    with stage_lines(show.STAGE):
        outcomes = show.run(options["seed"])
    print_text(show.table(outcomes))
    if missing is not None:
        print_line(f"subspaces: no picture: {missing}")
        return
    show.draw(outcomes, picture)
    print_text(f"\npicture: {picture.resolve()}")
