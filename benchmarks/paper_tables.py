"""The experiments of the paper, as `subspaces reproduce` runs them, without the packages of the command line.

    SUBSPACES_DATA=folder python benchmarks/paper_tables.py --jobs 16

Measures draws that are missing or come from earlier code, and writes benchmarks/paper/results. Figures are drawn if
matplotlib is installed.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path

from processes import add_jobs

from subspaces._core import progress
from subspaces.paper.reproduce.command import reproduce

RESULTS = Path(__file__).parent / "paper" / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiments", nargs="*", help="some of them")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--draws", type=int, help="at most this many draws")
    parser.add_argument("--methods", help="some methods, separated by commas")
    parser.add_argument("--device", default="cpu", help="where SSC runs on many rows")
    add_jobs(parser)
    options = parser.parse_args()
    with progress.shown(1):
        reproduce(
            options.experiments,
            out=options.out,
            methods=options.methods,
            draws=options.draws,
            jobs=options.jobs,
            device=options.device,
            again=False,
            stale=True,
            pictures=find_spec("matplotlib") is not None,
            say=print,
        )


if __name__ == "__main__":
    main()
