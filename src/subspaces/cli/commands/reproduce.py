"""`subspaces reproduce`: the tables of the paper beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from subspaces.cli import values
from subspaces.cli.command import Command
from subspaces.cli.console import stage_lines
from subspaces.cli.output import print_text


@click.command(cls=Command, short_help="Print the tables of the paper beside ours.")
@click.argument("which", type=values.Text(), nargs=-1, metavar="TABLE...")
@click.option(
    "--methods", type=values.Text(), metavar="A,B,..", help="Some methods only: fls,lbf,ssc,sssc,fls-paper,..."
)
@click.option("--draws", type=values.Whole(1), metavar="N", help="Draws of each data set.  [default: as in the paper]")
@click.option("--jobs", type=values.Whole(1), metavar="N", help="Processes of one core each.  [default: all cores]")
@click.option("--device", type=values.OneOf(["cpu", "cuda"]), default="cpu", help="Where SSC runs on large data sets.")
@click.option(
    "--out",
    type=values.Place(folder=True),
    default="benchmarks/paper/results",
    metavar="FOLDER",
    help="Folder of the results.",
)
@click.option("--again", is_flag=True, help="Measure again; existing results stay until then.")
@click.option("--stale", is_flag=True, help="Also measure again what an earlier version of the code measured.")
def reproduce(**options: Any) -> None:
    """Run the experiments of the paper and print its tables beside ours.

    TABLE is synthetic, mnist, faces, pendigits, motions, pixels, reading, beyond, tradeoff, robustness, theory, or all
    (the default). Every finished draw is kept: if the command is interrupted, the same command resumes it.
    """
    from subspaces.paper.reproduce.command import reproduce as run
    from subspaces.paper.reproduce.page import EXPERIMENTS

    with stage_lines(*EXPERIMENTS):
        run(
            options["which"],
            out=Path(options["out"]),
            methods=options["methods"],
            draws=options["draws"],
            jobs=options["jobs"],
            device=options["device"],
            again=options["again"],
            stale=options["stale"],
            say=print_text,
        )
