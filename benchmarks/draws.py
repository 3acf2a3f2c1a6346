"""Draws of many kinds of data with known classes, the graph of FLS for each, and the loop of a study over them."""

from __future__ import annotations

import json
import time
import warnings
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from known_data import load, motion_names
from measuring import measure, parser
from shapes import SHAPES

from subspaces import FLS
from subspaces.estimators.fls import cluster
from subspaces.metrics import clustering_accuracy
from subspaces.rows.feed import open_feed
from subspaces.rows.preparation import RowOptions, prepare
from subspaces.selection import Asked, choose
from subspaces.selection.units import has_own_units

warnings.filterwarnings("ignore")

SLOW = ("separation", "mnist 0", "mnist", "pendigits", "faces", "gauss15", "motion", "digits")
PARTS = ("motions A", "motions B", "synthetic", "tables", "blobs", "shapes", "digits", "faces", "few rows")


def draws():
    """(name, seed) of all draws."""
    names = dict.fromkeys(motion_names(), 1)
    names |= {f"angle {angle}": 2 for angle in (10, 20, 30, 60)}
    names |= {f"sub {dims} outliers {share}": 2 for dims in ("111", "222", "234", "456") for share in (0, 30, 60)}
    names |= dict.fromkeys(("sub affine", "sub uneven20", "sub noisy", "make_motions"), 2)
    names |= {f"{table} {kind}": 1 for table in ("iris", "wine", "cancer") for kind in ("raw", "std")}
    names |= dict.fromkeys(("blobs2", "blobs10", "aniso", "overlapping", "gauss15"), 2)
    names |= dict.fromkeys(("moons", "moons 0.15", "circles", "rings3", *(f"shape {name}" for name in SHAPES)), 2)
    pairs = ("17", "49", "01", "35", "79", "38", "27", "56")
    for digits in (*pairs, "248", "368", "358", "479", "25789", "12457", "0123456789"):
        names[f"mnist {digits} 2500"] = 2
    names |= {f"pendigits 2500 {digits}": 1 for digits in ("17", "49", "358", "0246", "12579")}
    names |= {"pendigits 2500": 2, "digits": 1}
    names |= {f"faces {count} {kind}": 3 for count in (4, 8) for kind in ("raw", "drop2")}
    small = ("60 sub 222", "60 sub 456", "60 make_motions", "60 iris raw", "100 wine std", "100 cancer std")
    small += ("60 mnist 49 2500", "100 mnist 368 2500", "100 pendigits 2500 358", "200 digits", "100 faces 4 drop2")
    names |= dict.fromkeys((f"few {name}" for name in small), 2)
    return [(name, seed) for name, seeds in names.items() for seed in range(seeds)]


def part_of(name):
    """The part of PARTS that a draw belongs to; sequences of one scene are in the same part."""
    word, *rest = name.split()
    if word == "motion":
        scene = rest[0].split("_g")[0]
        return PARTS[zlib.crc32(f"motion {scene}".encode()) % 2]
    words = {"few": "few rows", "faces": "faces"} | dict.fromkeys(("angle", "sub", "make_motions"), "synthetic")
    words |= dict.fromkeys(("iris", "wine", "cancer"), "tables")
    words |= dict.fromkeys(("mnist", "pendigits", "digits"), "digits")
    words |= dict.fromkeys(("moons", "circles", "rings3", "shape"), "shapes")
    return words.get(word, "blobs")


def kind_of(name):
    """The line of a table that a draw belongs to: its part if it is a motion, the number of digits if it is MNIST."""
    word, *rest = name.split()
    if word == "motion":
        return part_of(name)
    if word == "mnist":
        return f"mnist {len(rest[0])} digits"
    return name


@dataclass(frozen=True)
class Draw:
    """Rows as `FLS.fit` prepares them, with their classes."""

    prepared: Any  # PreparedRows
    feed: Any  # Feed
    classes: Any  # (n,), -1 for outliers
    n_clusters: int

    @classmethod
    def of(cls, name, seed):
        x, y = load(name, seed)
        feed = open_feed(FLS(random_state=seed), x, lambda rows: None, min_features=2)
        options = replace(RowOptions.for_dimension(None), standardise=has_own_units(feed.rows, feed.moments))
        prepared = prepare(feed.rows, options, feed.moments)
        return cls(prepared, feed, np.asarray(y), len(np.unique(y[y >= 0])))

    def accuracy(self, labels):
        return accuracy(self.classes, labels)

    def setting(self, **asked):
        """What `FLS.fit` chooses, but without whole flats; `asked` are parameters of FLS."""
        # The graph decides, by the evidence that is asked for.
        setting = choose(
            self.prepared, Asked(n_clusters=self.n_clusters, **asked | {"assign": "balanced"}), self.feed.rng
        )
        return replace(setting, cut=replace(setting.cut, kind=asked.get("assign", "auto")))

    def clustering(self, setting, landmarks=None):
        """The partition of the graph by the first landmarks of a setting, or by others."""
        return cluster(self.prepared, landmarks or setting.landmarks, setting, self.feed)


def accuracy(truth, found):
    return float(clustering_accuracy(truth, found))


def rounded(value):
    """Numbers with four digits after the point."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(float(value), 4) if isinstance(value, float) and np.isfinite(value) else value


def run_study(doc, todo, study, print_table):
    """Run `study` for each task, store what it returns, and print the table.

    A task is a tuple that begins with a name and a seed; `study` returns a dictionary.
    """
    arguments = parser(doc)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--table", action="store_true", help="print the table of OUT and stop")
    options = arguments.parse_args()
    if not options.table:
        # The slowest first.
        rank = {word: place for place, word in enumerate(SLOW)}
        ordered = sorted(todo, key=lambda task: next((rank[w] for w in SLOW if task[0].startswith(w)), len(SLOW)))
        measure(options.out, ordered, lambda task: _timed(study, task), lambda found: _in_order(todo, found), options)
    if not options.out.exists():
        return
    results = json.loads(options.out.read_text())["results"]
    print_table(results)
    longest = max(results, key=lambda entry: entry["seconds"])
    print(f"\n{sum(entry['seconds'] for entry in results):.0f} seconds of CPU in {len(results)} tasks;", end=" ")
    print(f"the longest {longest['seconds']:.0f}, {longest['name']}")


def _in_order(todo, found):
    return {"results": [found[task] for task in todo]}


def _timed(study, task):
    began = time.process_time()
    return rounded({"name": task[0], "seed": task[1], **study(task), "seconds": time.process_time() - began})
