"""The command line: results to stdout, progress to stderr, exit code 2 for a user's mistake."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from subspaces import __version__

LARGEST_SEED = 2**32 - 1


class Parser(argparse.ArgumentParser):
    """A parser that tells a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {' '.join(message.split())}; try {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "reproduce":
            return _reproduce(options)
        if options.command == "fit":
            return _fit(options)
        return _demo(options.picture, options.seed)
    except KeyboardInterrupt:
        _progress("interrupted")
        return 130
    except (OSError, ValueError, TypeError, ImportError) as error:
        _progress(f"subspaces: {' '.join(str(error).split())}")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="subspaces", description="Subspace clustering that scales.")
    parser.add_argument("--version", action="version", version=f"subspaces {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="compare FLS with k-means and spectral clustering, draw a picture")
    demo.add_argument("--picture", type=Path, default=Path("subspaces-demo.png"), help="where the picture goes")
    demo.add_argument("--seed", type=int, default=0, help="seed of the data and of every method")
    _add_fit(commands.add_parser("fit", help="cluster the rows of files and write their labels"))
    _add_reproduce(commands.add_parser("reproduce", help="print the tables of the paper beside ours"))
    return parser


def _add_fit(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Cluster the rows of files by FLS and write the label of each row. Files may be larger than memory; with "
        "--checkpoint a run that was killed goes on where it was."
    )
    parser.add_argument(
        "data", nargs="+", metavar="DATA", help=".npy, Parquet, Zarr or HDF5, one or several, or a pattern"
    )
    parser.add_argument("-k", "--clusters", default="auto", help='number of clusters, or "auto" (default)')
    parser.add_argument("--dim", default="auto", help='dimension of the landmark flats, or "auto" (default)')
    parser.add_argument("--out", type=Path, default=Path("labels.npy"), help="file of the labels (default: labels.npy)")
    parser.add_argument("--key", help="name of the array in a Zarr group or HDF5 file")
    parser.add_argument("--memory-limit", default="1GB", help="keep blocks and sample below it (default: 1GB)")
    parser.add_argument("--checkpoint", type=_folder, help="folder that keeps how far a long run is")
    parser.add_argument("--device", help='where rows are worked on, such as "cuda"')
    parser.add_argument("--seed", type=int, default=0, help="seed of every random draw")
    parser.add_argument("--dry-run", action="store_true", help="tell passes, blocks, memory and time, and do nothing")
    parser.add_argument("-v", "--verbose", action="store_true", help="progress on stderr")


def _number(name: str, text: str) -> int | str:
    """A whole number, or "auto"."""
    if text == "auto" or text.isdecimal():
        return text if text == "auto" else int(text)
    raise ValueError(f'{name} {text} must be a whole number or "auto"')


def _fit(options: argparse.Namespace) -> int:
    from subspaces.fit_command import fit_files

    fit_files(
        options.data,
        n_clusters=_number("-k", options.clusters),
        subspace_dim=_number("--dim", options.dim),
        out=options.out,
        key=options.key,
        memory_limit=options.memory_limit,
        checkpoint=options.checkpoint,
        device=options.device,
        seed=options.seed,
        dry_run=options.dry_run,
        verbose=options.verbose,
        say=print,
    )
    return 0


def _add_reproduce(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Run the experiments of the paper and print its tables beside ours. Every finished draw is kept: interrupt it "
        "as you like, the same command goes on where it was; with --again it begins anew."
    )
    parser.add_argument(
        "which",
        nargs="*",
        metavar="TABLE",
        help="synthetic, mnist, faces, pendigits, beyond, tradeoff, robustness, theory, or all (default)",
    )
    parser.add_argument("--methods", help="some methods only, with commas: fls,lbf,ssc,sssc,fls-paper,...")
    parser.add_argument("--draws", type=int, help="number of draws of each data set (default: those of the paper)")
    parser.add_argument("--jobs", type=int, help="draws at a time, a process of one core each (default: all cores)")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="where SSC runs on large data sets")
    parser.add_argument("--out", type=_folder, default=Path("benchmarks/paper/results"), help="folder of the results")
    parser.add_argument("--again", action="store_true", help="measure anew what is kept, which stays until then")


def _folder(text: str) -> Path:
    # An empty name would be the current folder.
    if not text:
        raise argparse.ArgumentTypeError("the name is empty, name a folder")
    return Path(text)


def _reproduce(options: argparse.Namespace) -> int:
    from subspaces.reproduce.command import reproduce

    reproduce(
        options.which,
        out=options.out,
        methods=options.methods,
        draws=options.draws,
        jobs=options.jobs,
        device=options.device,
        again=options.again,
        say=print,
        progress=_progress,
    )
    return 0


def _demo(picture: Path, seed: int) -> int:
    from subspaces import demo

    if not 0 <= seed <= LARGEST_SEED:
        raise ValueError(f"--seed {seed} must be between 0 and {LARGEST_SEED}")
    demo.check_picture(picture)
    outcomes = demo.run(seed, progress=_progress)
    print(demo.table(outcomes))
    demo.draw(outcomes, picture)
    print(f"\npicture: {picture.resolve()}")
    return 0


def _progress(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
