"""Measure again every stored result that comes from earlier code; then write the pages.

    python benchmarks/remeasure.py            # all of it, shortest scripts first; can be interrupted and resumed
    python benchmarks/remeasure.py --list     # only print what is older
    python benchmarks/remeasure.py accuracy   # some files only; `reproduce` is a file, too

A script that is finished is not older any more, and the long ones keep every cell, so that the same command goes on
where it was interrupted. Results on a device are named, but not measured.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from kept import BENCHMARKS, ON_DEVICE, SCRIPTS, is_fresh, older

from subspaces.paper.reproduce.page import older_results, read_records

ROOT = BENCHMARKS.parent
RESULTS = BENCHMARKS / "results"
REPRODUCE = "reproduce"
# The shortest first. They measure only what is older themselves.
ORDER = (
    "study_bounds",
    "ssc_iteration",
    "study_flats",
    "study_sigma",
    "study_graph",
    "products",
    "study_partition",
    "study_regime",
    "study_kernel",
    "cluster_count_flats",
    "ssc_large_cpu",
    "accuracy",
    REPRODUCE,
    "study_methods",
    "study_verdict",
    "defaults",
    "choosing",
    "methods",
    "defaults_relatives",
    "speed",
)
ARGUMENTS = {
    "accuracy": ["--stale"],
    "defaults": ["fls", f"{RESULTS}/defaults.json"],
    "defaults_relatives": ["relatives", f"{RESULTS}/defaults_relatives.json"],
    "study_methods": ["--again"],
    "study_verdict": [f"{RESULTS}/study_verdict.json"],
    "methods": ["--stale"],
    "products": ["--again"],
    "study_sigma": ["--again"],
    "ssc_large_cpu": ["--device", "cpu", "--cells", "17"],
}
# Parts that are arguments of their script.
IN_PARTS = {
    "choosing": ("unequal", "motions", "count", "outliers", "confidence", "search"),
    "speed": ("mnist", "spectral", "rows"),
}


def command(name: str) -> list[str]:
    """The command that measures a result file again."""
    if name == REPRODUCE:
        return [sys.executable, "-m", "subspaces", "reproduce", "--stale"]
    return [sys.executable, str(BENCHMARKS / SCRIPTS[name]), *ARGUMENTS.get(name, []), *stale_parts(name)]


def stale_parts(name: str) -> list[str]:
    """Arguments for scripts that measure parts by name: those of earlier code."""
    path = BENCHMARKS / "results" / f"{name}.json"
    if name not in IN_PARTS or not path.exists():
        return []
    record = json.loads(path.read_text())
    return [part for part in IN_PARTS[name] if not is_fresh(record, SCRIPTS[name], part)]


def what_is_older(names: list[str]) -> dict[str, str]:
    """Older results by file, in the order in which they are measured."""
    found = {}
    for name in names:
        if name == REPRODUCE:
            lines = older_results(read_records(BENCHMARKS / "paper" / "results"))
            words = lines[0] if lines else None
        else:
            words = older(name)
        if words is not None:
            found[name] = words
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *ORDER], metavar="NAME", help="some files only")
    parser.add_argument("--list", action="store_true", help="print what is older and stop")
    arguments = parser.parse_args()
    todo = what_is_older(arguments.names or list(ORDER))
    for name, words in todo.items():
        print(f"older: {words}")
        print(f"  {' '.join([Path(command(name)[0]).name, *command(name)[1:]])}".replace(f"{ROOT}/", ""))
    for name in ON_DEVICE:
        if older(name):
            print(f"older, needs a device: {name}\n  python benchmarks/{SCRIPTS[name]}")
    if arguments.list:
        return
    for number, name in enumerate(todo, start=1):
        print(f"\n{number} of {len(todo)}: {name}", flush=True)
        subprocess.run(command(name), check=True, cwd=ROOT)
    subprocess.run([sys.executable, str(BENCHMARKS / "tables.py")], check=True, cwd=ROOT)


if __name__ == "__main__":
    main()
