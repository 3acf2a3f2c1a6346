"""`subspaces demo`: FLS, k-means and spectral clustering on subspaces and digits."""

from __future__ import annotations

import argparse

from subspaces.cli._values import LARGEST_SEED
from subspaces.cli._words import note, say
from subspaces.show import demo


def run(options: argparse.Namespace) -> None:
    """Print a table and draw a picture."""
    if not 0 <= options.seed <= LARGEST_SEED:
        raise ValueError(f"--seed {options.seed} must be between 0 and {LARGEST_SEED}")
    missing = None
    try:
        demo.check_picture(options.picture)
    except ImportError as error:
        missing = error
    outcomes = demo.run(options.seed, progress=note)
    say(demo.table(outcomes))
    if missing is not None:
        note(f"subspaces: no picture: {missing}")
        return
    demo.draw(outcomes, options.picture)
    say(f"\npicture: {options.picture.resolve()}")
