"""`subspaces reproduce`: the tables of the paper beside ours."""

from __future__ import annotations

import argparse

from subspaces.cli._words import note, say
from subspaces.paper.reproduce.command import reproduce


def run(options: argparse.Namespace) -> None:
    """Run what is missing and print the tables."""
    reproduce(
        options.which,
        out=options.out,
        methods=options.methods,
        draws=options.draws,
        jobs=options.jobs,
        device=options.device,
        again=options.again,
        say=say,
        progress=note,
    )
