"""What each rule of the choice is worth: FLS with default parameters, and without one rule at a time.

    SUBSPACES_DATA=folder python benchmarks/study_rules.py --jobs 16
    python benchmarks/study_rules.py --table

Writes benchmarks/results/study_rules.json. K is given. For every rule, `--table` prints the difference of the mean
accuracy on each part of the data, the share of runs that lose or gain more than 0.01, and the largest losses and gains.
Each fit runs in a process of its own, in which the rule is replaced; seconds are of CPU time.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
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
# Parts of benchmarks/default_sets.py, and how many draws of each set.
PARTS = {"unequal": 1, "robustness": 1, "tables": 2, "faces": 2}
SLOW = ("unequal mnist", "faces 38", "unequal", "mnist", "gauss50")
Task = tuple[str, str, str, int]  # rule that is left out, source, data set, seed


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


def _low_dimensional_only() -> None:
    whole = coding.is_described
    structure.is_described = lambda code, one, least, agreed=False: whole(code, one, least)


def _better_than_one() -> None:
    whole = coding.is_described

    def described(code: Any, one: Any, least: float, *, agreed: bool = False) -> bool:
        return one.length > least and whole(code, one, least, agreed=agreed)

    structure.is_described = described


def _no_more_starts() -> None:
    structure.MORE_STARTS = 0


def _directions_alike() -> None:
    coding.has_directions = lambda code: coding.mean_directions(code) >= 1


def _always_joined() -> None:
    flat_search.is_promising = lambda codes, local: bool(local)


def _no_split_of_fewer() -> None:
    def split(self: Any, rng: Any) -> Any:
        known = [*self.codes, *([self.joined] if self.joined else [])]
        return flat_search.split_and_joined(flat_search.sound_first(known)[0], self.columns, self.split_dim, rng)

    flat_search.FlatSearch.split = split


def _blobs_by_share() -> None:
    coding.clearly_longer = lambda code, shortest, **options: True
    coding._has_cluster_outside = lambda code: False


def _blobs_beside_background() -> None:
    coding._has_cluster_outside = lambda code: False


def _shortest_blobs() -> None:
    structure.most_even = lambda codes: codes[0]


def _no_margin_cut() -> None:
    partition._is_separated = lambda density, balanced, psi, spectrum: False


def _no_low_agreement() -> None:
    whole = consensus.half_confidence

    def halves(*arguments: Any, **options: Any) -> Any:
        return replace(whole(*arguments, **options), overall=1.0)

    consensus.half_confidence = halves


def _no_grain() -> None:
    import subspaces.rows.preparation as preparation

    preparation.value_grain = lambda x, scale=None: 0.0


def _plain_means() -> None:
    whole = flat_search.kmeans_starts
    flat_search.kmeans_starts = structure.kmeans_starts = lambda *arguments: whole(*arguments)[:1]


def _no_nearest_start() -> None:
    flat_search.nearest_start = lambda columns, local, n_clusters, rng: np.zeros(len(columns), np.intp)


def _units_by_length() -> None:
    units.TOP_COLUMN = 0.0


RULES: dict[str, Callable[[], None]] = {
    DEFAULT: lambda: None,
    "2 units: without the share of one column": _units_by_length,
    "5 kind: no points beyond few columns": _points_in_few_columns,
    "5 kind: without standard errors": _kinds_without_errors,
    "6 dimension: three of five": _few_dimensions,
    "6 neighbourhood: tight ones": _tight_neighborhoods,
    "7 all flats count": _all_flats,
    "7 all rows count": _all_rows,
    "8 flat: few directions, even if searches agree": _low_dimensional_only,
    "8 flat: only if better than one": _better_than_one,
    "8 flat: no further starts": _no_more_starts,
    "8 flat: directions alike in few columns": _directions_alike,
    "8 search: other numbers always": _always_joined,
    "8 search: no splitting of K - 1": _no_split_of_fewer,
    "8 search: k-means of plain columns alone": _plain_means,
    "8 search: no rows nearest to flats": _no_nearest_start,
    "8 blobs: by their share alone": _blobs_by_share,
    "8 blobs: smaller than the background": _blobs_beside_background,
    "8 blobs: the shortest": _shortest_blobs,
    "8 no step of values": _no_grain,
    "10 separation: never with one set": _no_margin_cut,
    "11 further sets: not if halves disagree": _no_low_agreement,
}


def tasks() -> list[Task]:
    """All fits, the slowest first."""
    of_draws = [("draws", name, seed) for name, seed in draws() if not seed]
    of_sets = [
        ("sets", name, seed)
        for name, each in data_sets().items()
        for seed in range(PARTS.get(each.part, 0))
        if name != "faces 38 raw" or not seed
    ]
    found = [(rule, *each) for rule in RULES for each in (*of_sets, *of_draws)]
    return sorted(found, key=lambda task: next((i for i, word in enumerate(SLOW) if task[2].startswith(word)), 9))


def one_fit(task: Task) -> dict[str, float]:
    """Accuracy and seconds of a fit without a rule."""
    warnings.simplefilter("ignore")
    rule, source, name, seed = task
    X, y = load(name, seed) if source == "draws" else data_sets()[name].load(seed)
    RULES[rule]()
    began = time.process_time()
    model = FLS(len(np.unique(y[y >= 0])), random_state=seed).fit(X)
    spent = time.process_time() - began
    return {"accuracy": round(float(clustering_accuracy(y, model.labels_)), 4), "seconds": round(spent, 3)}


def build(found: dict[Task, dict[str, float]]) -> Record:
    results: Record = {}
    for (rule, source, name, seed), run in found.items():
        results.setdefault(rule, {})[f"{source} {name} {seed}"] = run
    return {"results": results}


def part(name: str) -> str:
    """The part of a run."""
    source, rest = name.split(" ", 1)
    return part_of(rest.rsplit(" ", 1)[0]) if source == "draws" else data_sets()[rest.rsplit(" ", 1)[0]].part


def print_table(results: Record) -> None:
    base = results[DEFAULT]
    names = [name for name in base if all(name in runs for runs in results.values())]
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
    arguments.add_argument("--table", action="store_true", help="print the table of what is stored and stop")
    options = arguments.parse_args()
    if not options.table:
        measure(RESULTS, tasks(), one_fit, build, options, limit=120)
    if RESULTS.exists():
        print_table(json.loads(RESULTS.read_text())["results"])


if __name__ == "__main__":
    main()
