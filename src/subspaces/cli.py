"""The command line: results to stdout, progress to stderr, exit code 2 for a user's mistake."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from subspaces import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        return _demo(options.picture, options.seed)
    except KeyboardInterrupt:
        _progress("interrupted")
        return 130
    except (OSError, ValueError, ImportError) as error:
        _progress(f"subspaces: {error}")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="subspaces", description="Subspace clustering that scales.")
    parser.add_argument("--version", action="version", version=f"subspaces {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="compare FLS with k-means and spectral clustering, draw a picture")
    demo.add_argument("--picture", type=Path, default=Path("subspaces-demo.png"), help="where the picture goes")
    demo.add_argument("--seed", type=int, default=0, help="seed of the data and of every method")
    return parser


def _demo(picture: Path, seed: int) -> int:
    from subspaces import demo

    demo.check_picture(picture)
    outcomes = demo.run(seed, progress=_progress)
    print(demo.table(outcomes))
    demo.draw(outcomes, picture)
    print(f"\npicture: {picture.resolve()}")
    return 0


def _progress(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
