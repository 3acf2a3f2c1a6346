"""What every command takes: one table for the parser, configuration files and what a run remembers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from subspaces.cli import _values as values
from subspaces.cli._values import LARGEST_SEED, Reader


@dataclass(frozen=True, slots=True)
class Option:
    """One option, by its long name without dashes; configuration files call it the same."""

    name: str
    help: str
    read: Reader = values.text
    default: Any = None
    short: str | None = None
    metavar: str | None = None
    many: bool = False  # may be given several times
    negatable: bool = False  # a flag that --no-... takes back

    @property
    def dest(self) -> str:
        """The name as Python writes it."""
        return self.name.replace("-", "_")


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its words, its options, and the module that runs it."""

    name: str
    home: str  # module of this package with a function `run`
    help: str
    description: str
    words: tuple[Option, ...] = ()  # without dashes, in order; those with `many` take all that is left
    options: tuple[Option, ...] = ()
    epilog: str = ""

    def all_options(self) -> tuple[Option, ...]:
        """Everything that a configuration file may name."""
        return (*self.words, *self.options)


DATA = Option(
    "data",
    "CSV, TSV, text, .npy, .npz, Parquet, Zarr, HDF5 or images: one or several, a folder, a pattern; - is CSV on stdin",
    values.paths,
    many=True,
    metavar="DATA",
)
SEED = Option("seed", "seed of every random draw (default: 0)", values.whole(0, LARGEST_SEED), 0, metavar="N")
QUIET = Option("quiet", "no progress and no warnings on stderr", values.flag, False, short="-q")
VERBOSE = Option("verbose", "every step on stderr, as a line", values.flag, False, short="-v")
JSON = Option("json", "one JSON document on stdout instead of text", values.flag, False)
FORCE = Option(
    "force", "replace results that are there; the old ones stay until the new ones are whole", values.flag, False
)
CONFIG = Option(
    "config", "options from a TOML file, or from the run.json of a run; the command line wins", metavar="FILE"
)
KEY = Option("key", "name of the array in a Zarr group, HDF5 or .npz file", metavar="NAME")
COLUMNS = Option(
    "columns",
    "columns to cluster by, by name or by number from 1, with commas (default: all that are numbers)",
    values.names,
    many=True,
    metavar="A,B,..",
)
DROP = Option("drop", "columns to leave out, with commas", values.names, many=True, metavar="A,B,..")
TRUTH = Option(
    "truth", "column of the true classes: never clustered by, used to tell how well it went", metavar="COLUMN"
)
NAMES = Option("names", "column of the names of rows", metavar="COLUMN")
MISSING = Option(
    "missing",
    "what to do with values that are missing: error (default), drop the row, or fill with the mean",
    default="error",
)
IMAGE_SHAPE = Option(
    "image-shape", "rows are images of this shape, like 28x28: the report shows them", values.shape, metavar="HxW"
)
IMAGE_SIZE = Option("image-size", "scale image files to this size, like 32x32", values.size, metavar="HxW")
MEMORY = Option(
    "memory-limit", "keep rows, blocks and sample below it (default: 1GB)", values.amount, "1GB", metavar="SIZE"
)
READING = (KEY, COLUMNS, DROP, TRUTH, NAMES, MISSING, IMAGE_SHAPE, IMAGE_SIZE, MEMORY)
PREPARING = (
    Option("standardise", "scale every column to mean 0 and variance 1", values.flag, False, negatable=True),
    Option("pca", "project rows on so many principal components", values.whole(1), metavar="N"),
    Option(
        "whiten-drop",
        "leave out so many leading principal components, as those of the light on faces",
        values.whole(0),
        0,
        metavar="N",
    ),
)
CLUSTERS = Option(
    "clusters", 'number of clusters, or "auto" (default)', values.whole(1, word="auto"), "auto", short="-k", metavar="K"
)
DIM = Option(
    "dim", 'dimension of the subspaces, or "auto" (default)', values.whole(1, word="auto"), "auto", metavar="D"
)
SET = Option(
    "set",
    "any other parameter of the estimator, like n_landmarks=500; several times",
    values.settings,
    {},
    many=True,
    metavar="NAME=VALUE",
)
EXIT_CODES = (
    "exit codes: 0 done; 1 an internal error (a bug; SUBSPACES_DEBUG=1 shows where); 2 a mistake in what was asked or "
    "given, or too little memory or disk; 130 interrupted"
)

FIT = Command(
    "fit",
    "_fit",
    "cluster the rows of files; labels, model and report go to a folder",
    "Cluster the rows of files. The folder --out gets labels.csv, labels.npy, model.subspaces, run.json and "
    "report.html, all of them or nothing; a name that ends in .npy or .csv gets the labels alone. Rows may be larger "
    "than memory; with --checkpoint a run that was killed goes on where it was.",
    (DATA,),
    (
        CLUSTERS,
        Option(
            "method",
            "fls (default), fls-paper, lbf, kflats, slbf, ssc, sssc, landmark, nystrom, fourier, kasp",
            default="fls",
        ),
        DIM,
        SET,
        Option("outliers", "label rows that belong to no cluster -1 (fls only)", values.flag, False, negatable=True),
        Option(
            "out",
            "folder of the results, or file.npy or file.csv for labels alone (default: subspaces-run)",
            metavar="PATH",
        ),
        *READING,
        *PREPARING,
        Option("checkpoint", "folder that keeps how far a long run is", metavar="FOLDER"),
        Option("device", 'where rows are worked on, such as "cuda"'),
        SEED,
        Option("report", "write report.html (default); --no-report leaves it out", values.flag, True, negatable=True),
        CONFIG,
        Option("again", "repeat the run of this folder: same data, same options, same labels", metavar="RUN"),
        Option("dry-run", "tell what would be done, in what memory and time, and do nothing", values.flag, False),
        FORCE,
        JSON,
        QUIET,
        VERBOSE,
    ),
    epilog=EXIT_CODES,
)
PREDICT = Command(
    "predict",
    "_predict",
    "label new rows by the model of a run",
    "Label new rows by a model: the folder of a run, whose columns and preparation are applied, or a .subspaces file. "
    "Labels go to stdout as CSV, or to --out.",
    (
        Option("model", "folder of a run, or a .subspaces file", metavar="MODEL"),
        DATA,
    ),
    (
        Option("out", "file.csv or file.npy of the labels (default: -, CSV on stdout)", default="-", metavar="FILE"),
        *(option for option in READING if option is not TRUTH),
        FORCE,
        JSON,
        QUIET,
        VERBOSE,
    ),
    epilog=EXIT_CODES,
)
COMPARE = Command(
    "compare",
    "_compare",
    "several methods on the same rows, side by side",
    "Run several methods on the same rows and tell how long each took, how they agree with each other, and how well "
    "they did: against --truth, or else by what is left beside the subspaces of their clusters.",
    (DATA,),
    (
        CLUSTERS,
        Option(
            "methods",
            "all (default), or some with commas: fls,lbf,ssc",
            values.names,
            ["all"],
            many=True,
            metavar="A,B,..",
        ),
        DIM,
        Option(
            "repeats",
            "fits of each method with other seeds, to tell how stable it is (default: 1)",
            values.whole(1, 100),
            1,
            metavar="N",
        ),
        Option(
            "time-limit",
            "of all methods, leave out those that would take longer than so many seconds each (default: 600)",
            values.seconds,
            600.0,
            metavar="SECONDS",
        ),
        Option("out", "folder for comparison.json, comparison.csv and labels.csv (default: none)", metavar="FOLDER"),
        *READING,
        *PREPARING,
        SEED,
        CONFIG,
        FORCE,
        JSON,
        QUIET,
        VERBOSE,
    ),
    epilog=EXIT_CODES,
)
CHOOSE = Command(
    "choose",
    "_choose",
    "suggest the number of clusters and their dimension, with the evidence",
    "Suggest the number of clusters and their dimension, and tell what speaks for it: every number that was tried and "
    "its score, the gaps between eigenvalues, and whether other seeds say the same.",
    (DATA,),
    (
        Option(
            "max-clusters", "most clusters that are considered (default: 10)", values.whole(1, 10000), 10, metavar="K"
        ),
        DIM,
        Option("repeats", "seeds to ask (default: 3)", values.whole(1, 100), 3, metavar="N"),
        *READING,
        *PREPARING,
        SEED,
        CONFIG,
        JSON,
        QUIET,
        VERBOSE,
    ),
    epilog=EXIT_CODES,
)
REPORT = Command(
    "report",
    "_report",
    "make the report of a run, or make it again",
    "Make the report of a run from its folder and its data, which are read again.",
    (Option("run", "folder of a run", metavar="RUN"),),
    (
        Option("out", "file of the report (default: report.html in the folder)", metavar="FILE.html"),
        TRUTH,
        FORCE,
        JSON,
        QUIET,
        VERBOSE,
    ),
    epilog=EXIT_CODES,
)
GET = Command(
    "data",
    "_data",
    "list data to try things on, or write one of them to a file",
    "List the data that comes with the library, or write one of them to a file with the true classes in the column "
    "truth. The file NAME.csv or NAME.npy lands in the folder --out; NAME-truth.npy lies beside an .npy file.",
    (
        Option("action", "list or get", metavar="list|get"),
        Option("name", "what to get: see subspaces data list", default=None, metavar="NAME"),
    ),
    (
        Option("out", "folder of the file (default: here)", default=".", metavar="FOLDER"),
        Option("format", "csv (default) or npy", default="csv"),
        Option("rows", "so many rows, drawn at random", values.whole(1), metavar="N"),
        SET,
        SEED,
        FORCE,
        JSON,
    ),
    epilog=EXIT_CODES,
)
INFO = Command(
    "info",
    "_info",
    "versions, threads, optional packages, GPU",
    "Tell what is installed, and what this machine has.",
    options=(JSON,),
    epilog=EXIT_CODES,
)
COMMANDS = {command.name: command for command in (FIT, PREDICT, COMPARE, CHOOSE, REPORT, GET, INFO)}
