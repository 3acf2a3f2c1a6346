"""What each rule of the choice is worth: FLS with default parameters, and without one rule at a time.

    SUBSPACES_DATA=folder python benchmarks/study_rules.py --jobs 16 --tables tables.npz
    python benchmarks/study_rules.py --table

Writes benchmarks/results/study_rules.json: one draw of many kinds of data (benchmarks/draws.py) and, with `--tables`,
one of each table of benchmarks/fetch_tables.py. K is given. For every rule, `--table` prints the difference of the mean
accuracy on each part of the data, the share of runs that lose or gain more than 0.01, and the largest losses and gains.
Each fit runs in a process of its own, in which the rule is replaced; seconds are of CPU time.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from default_sets import data_sets
from draws import draws, part_of
from known_data import load
from measuring import Record, measure, parser

from subspaces import FLS
from subspaces.metrics import clustering_accuracy
from subspaces.selection import choosing, coding, consensus, flat_search, partition, search, structure, units

RESULTS = Path(__file__).parent / "results" / "study_rules.json"
DEFAULT = "all rules"
SLOW = ("mnist 0", "mnist", "pendigits", "held", "digits", "faces")
Task = tuple[str, str]  # rule that is left out, data set


def _points_in_few_columns() -> None:
    whole = choosing.flat_settings

    def settings(rows: Any, asked: Any, n_clusters: int) -> Any:
        found = whole(rows, asked, n_clusters)
        return [each for each in found if each.dim] or found

    choosing.flat_settings = settings


def _kinds_without_errors() -> None:
    search.preferred_kind = lambda trials, groups: max(trials, key=search._modularity).setting


def _few_dimensions() -> None:
    search.DIMS = (2, 4, 9)


def _tight_neighborhoods() -> None:
    search.NEIGHBORHOODS = ((2, 2),)


def _all_flats() -> None:
    import subspaces.features.flats as flats

    def every(residuals: Any, x: Any, **_: Any) -> Any:
        return np.arange(len(residuals))

    flats.usable_flats = search.usable_flats = every


def _all_rows() -> None:
    import subspaces.selection.clustering as clustering

    clustering.inlier_rows = search.inlier_rows = lambda distances, rows: np.arange(len(distances))


def _better_than_one() -> None:
    whole = coding.is_described
    structure.is_described = lambda code, one, least: one.length > least and whole(code, one, least)


def _any_directions() -> None:
    coding.is_low_dimensional = lambda code: True


def _one_more_start() -> None:
    structure.MORE_STARTS = 1


def _always_joined() -> None:
    flat_search.is_promising = lambda codes, local: bool(local)


def _no_splits() -> None:
    flat_search.FlatSearch.split = lambda self, rng: []


def _never_settled() -> None:
    flat_search.FlatSearch.is_settled = property(lambda self: False)


def _blobs_by_share() -> None:
    whole = coding.is_described

    def described(code: Any, one: Any, least: float) -> bool:
        by_share = coding.shortening(code, one.length, least) >= coding.FLAT_SHARE and one.length > least
        return whole(code, one, least) or (by_share and coding.is_sound(code) and coding.is_low_dimensional(code))

    structure.is_described = described


def _shortest_blobs() -> None:
    structure.most_even = lambda codes: codes[0]


def _no_flats() -> None:
    structure.is_described = lambda code, one, least: False


def _no_joined_parts() -> None:
    partition._as_good = lambda part, best, psi, spectrum: True


def _no_margin_cut() -> None:
    partition._is_separated = lambda density, balanced, psi, spectrum: False


def _no_further_sets() -> None:
    consensus.is_doubtful = lambda clustering: False
    whole = consensus.half_confidence

    def halves(*arguments: Any, **options: Any) -> Any:
        return replace(whole(*arguments, **options), overall=1.0)

    consensus.half_confidence = halves


def _no_grain() -> None:
    import subspaces.rows.preparation as preparation

    preparation.value_grain = lambda x, scale=None: 0.0


def _no_nearest_start() -> None:
    flat_search.nearest_start = lambda columns, local, n_clusters, rng: np.zeros(len(columns), np.intp)


def _never_standardised() -> None:
    units.TOP_COLUMN = 1.0


def _units_by_length() -> None:
    units.TOP_COLUMN = 0.0


RULES: dict[str, Callable[[], None]] = {
    DEFAULT: lambda: None,
    "1 units: never standardised": _never_standardised,
    "1 units: without the share of one column": _units_by_length,
    "4 kind: no points beyond few columns": _points_in_few_columns,
    "4 kind: without standard errors": _kinds_without_errors,
    "5 dimension: three of five": _few_dimensions,
    "5 neighbourhood: tight ones": _tight_neighborhoods,
    "6 all flats count": _all_flats,
    "6 all rows count": _all_rows,
    "7 never flat": _no_flats,
    "7 flat: any number of directions": _any_directions,
    "7 flat: only if better than one": _better_than_one,
    "7 flat: one further start": _one_more_start,
    "7 search: never settled": _never_settled,
    "7 search: other numbers always": _always_joined,
    "7 search: no flats are split": _no_splits,
    "7 search: no rows nearest to flats": _no_nearest_start,
    "7 blobs: by their share alone": _blobs_by_share,
    "7 blobs: the shortest": _shortest_blobs,
    "7 no step of values": _no_grain,
    "8 cut: without standard errors": _no_joined_parts,
    "9 separation: never with one set": _no_margin_cut,
    "10 no further sets": _no_further_sets,
}


def tasks(tables: Path | None) -> list[Task]:
    """All fits, the slowest first."""
    names = [f"draw {name}" for name, seed in draws() if not seed]
    names += [f"table {name}" for name, each in data_sets(tables).items() if each.part == "held"] if tables else []
    found = [(rule, name) for rule in RULES for name in names]
    return sorted(found, key=lambda task: next((i for i, word in enumerate(SLOW) if word in task[1]), 9))


def one_fit(task: Task, tables: Path | None) -> dict[str, float]:
    """Accuracy and seconds of a fit without a rule."""
    warnings.simplefilter("ignore")
    rule, (source, name) = task[0], task[1].split(" ", 1)
    X, y = load(name, 0) if source == "draw" else data_sets(tables)[name].load(0)
    RULES[rule]()
    began = time.process_time()
    model = FLS(len(np.unique(y[y >= 0])), random_state=0).fit(X)
    spent = time.process_time() - began
    return {"accuracy": round(float(clustering_accuracy(y, model.labels_)), 4), "seconds": round(spent, 3)}


def build(found: dict[Task, dict[str, float]]) -> Record:
    results: Record = {}
    for (rule, name), run in found.items():
        results.setdefault(rule, {})[name] = run
    return {"results": results}


def part(name: str) -> str:
    """The part of a run."""
    source, rest = name.split(" ", 1)
    return part_of(rest) if source == "draw" else "registries"


def print_table(results: Record) -> None:
    base = results[DEFAULT]
    # A fit that took too long has no accuracy.
    names = [name for name in base if all("accuracy" in runs.get(name, {}) for runs in results.values())]
    parts = {name: part(name) for name in names}
    every = list(dict.fromkeys(parts.values()))
    print(f"{len(names)} runs; mean accuracy with all rules:")
    print(", ".join(f"{each} {_mean(base, names, parts, each):.3f}" for each in every))
    for rule, runs in results.items():
        if rule == DEFAULT:
            continue
        change = {name: runs[name]["accuracy"] - base[name]["accuracy"] for name in names}
        values = np.array(list(change.values()))
        time_ratio = sum(runs[name]["seconds"] for name in names) / sum(base[name]["seconds"] for name in names)
        by_part = {each: float(np.mean([change[name] for name in names if parts[name] == each])) for each in every}
        shown = ", ".join(f"{each} {value:+.3f}" for each, value in by_part.items() if abs(value) >= 0.0005)
        order = sorted(names, key=change.__getitem__)
        print(f"\n{rule}: {values.mean():+.4f}; {(values < -0.01).sum()} lose, {(values > 0.01).sum()} gain; ", end="")
        print(f"time {time_ratio:.2f}\n   {shown}")
        print("   losses:", ", ".join(f"{name} {change[name]:+.2f}" for name in order[:6] if change[name] < -0.01))
        print("   gains:", ", ".join(f"{name} {change[name]:+.2f}" for name in order[:-7:-1] if change[name] > 0.01))


def _mean(runs: Record, names: list[str], parts: dict[str, str], wanted: str) -> float:
    return float(np.mean([runs[name]["accuracy"] for name in names if parts[name] == wanted]))


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--tables", type=Path, help="archive of benchmarks/fetch_tables.py")
    arguments.add_argument("--table", action="store_true", help="print the table of what is stored and stop")
    options = arguments.parse_args()
    if not options.table:
        measure(RESULTS, tasks(options.tables), partial(one_fit, tables=options.tables), build, options, limit=120)
    if RESULTS.exists():
        print_table(json.loads(RESULTS.read_text())["results"])


if __name__ == "__main__":
    main()
