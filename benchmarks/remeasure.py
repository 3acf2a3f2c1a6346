"""Measure again every stored result that comes from earlier code; then write the pages.

    python benchmarks/remeasure.py            # all of it, in one process for each core; can be interrupted and resumed
    python benchmarks/remeasure.py --jobs 16
    python benchmarks/remeasure.py --list     # only print what is older
    python benchmarks/remeasure.py methods    # some files only; `reproduce` is a file, too

A script that is finished is not older any more, and all keep finished tasks, so that the same command goes on where it
was interrupted. Results on a device are named, but not measured.
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
TIMED = ("ssc_iteration", "products", "ssc_large_cpu", "speed")
# Those that are run by `processes` first; times are measured last, one after another.
ORDER = (
    "study_bounds",
    "study_flats",
    "study_graph",
    "study_landmarks",
    "study_partition",
    "study_score",
    "study_units",
    "study_grain",
    "study_parts",
    "study_offsets",
    "study_sigma",
    "cluster_count_flats",
    "study_methods",
    REPRODUCE,
    "study_kinds",
    "study_structure",
    "study_search",
    "study_rules",
    "study_verdict",
    "defaults",
    "choosing",
    "defaults_relatives",
    "methods",
    *TIMED,
)
# Files of tables from package registries (benchmarks/fetch_tables.py), for the studies that use them.
TABLES = BENCHMARKS / "tables.npz"
WITH_TABLES = ("study_units", "study_grain", "study_rules", "study_verdict")
ARGUMENTS = {
    "defaults": ["fls", f"{RESULTS}/defaults.json"],
    "defaults_relatives": ["relatives", f"{RESULTS}/defaults_relatives.json"],
    "study_parts": [f"{RESULTS}/study_parts.json"],
    "study_kinds": [f"{RESULTS}/study_kinds.json"],
    "study_structure": [f"{RESULTS}/study_structure.json"],
    "study_search": [f"{RESULTS}/study_search.json"],
    "study_verdict": [f"{RESULTS}/study_verdict.json"],
    "products": ["--again"],
    "ssc_large_cpu": ["--device", "cpu", "--cells", "17"],
}
# Parts that are arguments of their script.
IN_PARTS = {"speed": ("mnist", "spectral", "rows", "small", "landmarks", "plans")}


def command(name: str, jobs: int | None = None) -> list[str]:
    """The command that measures a result file again, in `jobs` processes."""
    parallel = [] if jobs is None or name in (*TIMED, "study_bounds", "study_offsets") else ["--jobs", str(jobs)]
    script = "paper_tables.py" if name == REPRODUCE else SCRIPTS[name]
    tables = ["--tables", str(TABLES)] if name in WITH_TABLES else []
    given = [*ARGUMENTS.get(name, []), *tables, *stale_parts(name)]
    return [sys.executable, str(BENCHMARKS / script), *given, *parallel]


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
    parser.add_argument("names", nargs="*", metavar="NAME", help="some files only")
    parser.add_argument("--list", action="store_true", help="print what is older and stop")
    parser.add_argument("--jobs", type=int, help="number of processes; default is one for each core")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in ORDER]
    if unknown:
        parser.error(f"no such file: {', '.join(unknown)}; choose from {', '.join(ORDER)}")
    todo = what_is_older(arguments.names or list(ORDER))
    for name, words in todo.items():
        print(f"older: {words}")
        shown = command(name, arguments.jobs)
        print(f"  {' '.join([Path(shown[0]).name, *shown[1:]])}".replace(f"{ROOT}/", ""))
    for name in ON_DEVICE:
        if older(name):
            print(f"older, needs a device: {name}\n  python benchmarks/{SCRIPTS[name]}")
    if arguments.list:
        return
    for number, name in enumerate(todo, start=1):
        print(f"\n{number} of {len(todo)}: {name}", flush=True)
        if name in WITH_TABLES and not TABLES.exists():
            print("skipped: benchmarks/fetch_tables.py benchmarks/tables.npz has to be run first")
            continue
        subprocess.run(command(name, arguments.jobs), check=True, cwd=ROOT)
    subprocess.run([sys.executable, str(BENCHMARKS / "tables.py")], check=True, cwd=ROOT)


if __name__ == "__main__":
    main()
