"""When are K flats better than the graph, and in which columns and how finely are rows described?

    SUBSPACES_DATA=folder python benchmarks/study_structure.py benchmarks/results/study_structure.json --jobs 16
    python benchmarks/study_structure.py benchmarks/results/study_structure.json --table

For each draw: the accuracy of the graph that FLS chooses, and that of the shortest description by K flats, its share of
the shortening (`coding.shortening`), the share of the columns that its flats use (`coding.spread`) and the kind that is
found, for all combinations of several values of RESOLUTION (flats/thresholds.py) and MANY_COLUMNS, and for several
values of LEAST_ROWS (selection/thresholds.py), the rows that a column needs. Motions are in two parts, by scene:
numbers are chosen on part A and reported on part B. True labels are used only for accuracy.

The table has the figures of each kind of data with the present numbers, accuracies over the grid, and for each number
the gap that it lies in: the nearest draws for which flats are better than the graph by `CLEAR`, or worse.
"""

from __future__ import annotations

from contextlib import ExitStack
from unittest import mock

import numpy as np
from draws import PARTS, Draw, draws, kind_of, part_of, run_study

from subspaces.flats import cells
from subspaces.flats.thresholds import MAX_DIM_SHARE, RESOLUTION
from subspaces.selection import coding
from subspaces.selection.coding import code_directions, mean_dim, spread
from subspaces.selection.structure import find_structure
from subspaces.selection.thresholds import FEW_COLUMNS, FLAT_SHARE, LEAST_ROWS, MANY_COLUMNS

RESOLUTIONS = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
COLUMNS = ("2K", "4K", "20", "40")
LEAST = (2, 5, 10, 20, 40)
# A difference of accuracies that counts.
CLEAR = 0.05


def study(task):
    """The graph and all descriptions of one draw."""
    name, seed = task
    draw = Draw.of(name, seed)
    setting = draw.setting()
    found = draw.clustering(setting)
    sample = setting.flat_sample
    starts = [found.labels[sample], found.choice.other_labels(found.psi[sample], found.spectrum)]
    known, described = {}, []
    for resolution, columns, least in grid():
        with numbers(resolution, columns, least, draw.n_clusters):
            # Rows may have fewer columns than asked for.
            key = resolution, code_directions(draw.prepared.rows[sample]).shape[1]
            if key not in known:
                known[key] = description(draw, sample, starts, seed)
        described.append({"resolution": f"{resolution:g}", "columns": columns, "least": least, **known[key]})
    n, p = draw.prepared.rows.shape
    return {
        "n": n,
        "p": p,
        "k": draw.n_clusters,
        "graph": draw.accuracy(found.labels),
        "dim": setting.landmarks.flats.dim,
        "described": described,
    }


def grid():
    """(resolution, columns, rows of a column) of all descriptions; the present ones come first."""
    present = (RESOLUTION, str(MANY_COLUMNS), LEAST_ROWS)
    both = [(resolution, columns, LEAST_ROWS) for resolution in RESOLUTIONS for columns in COLUMNS]
    return list(dict.fromkeys([present, *both, *((*present[:2], least) for least in LEAST)]))


def numbers(resolution, columns, least, n_clusters):
    """A context with other numbers."""
    count = int(columns[:-1]) * n_clusters if columns.endswith("K") else int(columns)
    stack = ExitStack()
    stack.enter_context(mock.patch.object(cells, "RESOLUTION", resolution))
    stack.enter_context(mock.patch.object(coding, "MANY_COLUMNS", count))
    stack.enter_context(mock.patch.object(coding, "LEAST_ROWS", least))
    return stack


def description(draw, sample, starts, seed):
    """Figures of the best description by K flats, as in a fit."""
    rows = draw.prepared.rows
    found = find_structure(rows[sample], starts, draw.n_clusters, np.random.RandomState(seed))
    return {
        "used": found.directions.shape[1],
        "kind": found.kind,
        "share": found.share,
        "spread": spread(found.code),
        "mean_dim": mean_dim(found.code),
        "one": found.one.length / len(found.one.chosen),
        "nats": found.nats,
        "accuracy": draw.accuracy(found.clusters.labels(rows)),
    }


def print_table(results):
    """Figures of each kind of data, the grid, and the gaps."""
    results.sort(key=lambda entry: PARTS.index(part_of(entry["name"])))
    print_figures(results)
    print_motions([entry for entry in results if entry["name"].startswith("motion")])
    print_other_numbers(results)
    print_gaps(results)


def at(entry, **numbers):
    """The description with the present numbers or with others."""
    first = entry["described"][0]
    wanted = {key: numbers.get(key, first[key]) for key in ("resolution", "columns", "least")}
    return next((each for each in entry["described"] if wanted.items() <= each.items()), None)


def chosen_accuracy(entry, described):
    """Accuracy of flats if clusters are flat or blobs, else that of the graph."""
    return entry["graph"] if described["kind"] == "bent" else described["accuracy"]


def print_figures(results):
    groups = {}
    for entry in results:
        groups.setdefault(kind_of(entry["name"]), []).append((entry, at(entry)))
    print("with the present numbers; share and spread: least to most")
    print(f"{'data':26}{'draws':>6}{'graph':>7}{'flats':>7}{'chosen':>8}  {'share':15}{'spread':15}kinds")
    for name, pairs in groups.items():
        graph = np.mean([entry["graph"] for entry, _ in pairs])
        flats = np.mean([each["accuracy"] for _, each in pairs])
        taken = np.mean([chosen_accuracy(*pair) for pair in pairs])
        kinds = [each["kind"] for _, each in pairs]
        shares, spreads = (span([each[key] for _, each in pairs]) for key in ("share", "spread"))
        counted = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        print(f"{name:26}{len(pairs):6}{graph:7.3f}{flats:7.3f}{taken:8.3f}  {shares:15}{spreads:15}{counted}")


def span(values):
    return f"{min(values):.2f} to {max(values):.2f}"


def print_motions(results):
    """Errors of the shortest descriptions of motions, and what part A would choose."""
    if not results:
        return
    parts = {part: [entry for entry in results if part_of(entry["name"]) == part] for part in PARTS[:2]}
    cells = [(f"{resolution:g}", columns) for resolution in RESOLUTIONS for columns in COLUMNS]

    def error(part, cell):
        described = [at(entry, resolution=cell[0], columns=cell[1]) for entry in parts[part]]
        return 100 * (1 - np.mean([each["accuracy"] for each in described])) if described else np.nan

    print("\nmotions: percent wrong of the shortest description, part A / part B, by RESOLUTION and columns")
    print(f"{'':8}" + "".join(f"{columns:>16}" for columns in COLUMNS))
    for resolution in RESOLUTIONS:
        errors = ((error(part, (f"{resolution:g}", columns)) for part in PARTS[:2]) for columns in COLUMNS)
        print(f"{resolution:<8g}" + "".join(f"{a:8.2f} /{b:6.2f}" for a, b in errors))
    present = tuple(at(results[0])[key] for key in ("resolution", "columns"))
    for words, cell in (("least wrong on A", min(cells, key=lambda cell: error(PARTS[0], cell))), ("present", present)):
        a, b = (error(part, cell) for part in PARTS[:2])
        print(f"{words}: RESOLUTION {cell[0]}, {cell[1]} columns: A {a:.2f}, B {b:.2f}")


def print_other_numbers(results):
    """Accuracy of what is chosen with other values of a single number."""
    tried = {"resolution": [f"{each:g}" for each in RESOLUTIONS], "columns": COLUMNS, "least": LEAST}
    names = {"resolution": "RESOLUTION", "columns": "MANY_COLUMNS", "least": "LEAST_ROWS"}
    for key, values in tried.items():
        print(f"\naccuracy of what is chosen, by {names[key]} (present: {at(results[0])[key]})")
        print(f"{'':12}{'draws':>6}" + "".join(f"{value!s:>8}" for value in values))
        for part in (*PARTS, "all"):
            some = [entry for entry in results if part in (part_of(entry["name"]), "all")]
            if some:
                means = [np.mean([chosen_accuracy(e, at(e, **{key: value})) for e in some]) for value in values]
                print(f"{part:12}{len(some):6}" + "".join(f"{mean:8.3f}" for mean in means))


def print_gaps(results):
    """For each number of a rule, the draws next to it on both sides."""
    flats, graph, longer = [], [], []
    for entry in results:
        described = at(entry)
        gain = described["accuracy"] - entry["graph"]
        if abs(gain) > CLEAR:
            better = flats if gain > 0 else graph
            (longer if described["share"] == 0 else better).append({**entry, **described})
    print(f"\ngaps: draws for which flats are better or worse than the graph by {CLEAR}; others do not count")
    print("K flats not shorter than one flat, so that no share decides:")
    for each in longer:
        print(f"    taken for {each['kind']}: {described_draw(each)}")

    def is_low(each):
        return each["used"] <= FEW_COLUMNS or each["spread"] <= MAX_DIM_SHARE

    def is_short(each):
        return each["share"] >= FLAT_SHARE

    print_gap(
        "FLAT_SHARE: share, if flats use few directions",
        FLAT_SHARE,
        [(each["share"], each) for each in graph if is_low(each)],
        [(each["share"], each) for each in flats if is_low(each)],
        "graph better",
        "flats better",
    )
    print_gap(
        "MAX_DIM_SHARE: spread, if the share is reached and there are more columns than FEW_COLUMNS",
        MAX_DIM_SHARE,
        [(each["spread"], each) for each in flats if is_short(each) and each["used"] > FEW_COLUMNS],
        [(each["spread"], each) for each in graph if is_short(each) and each["used"] > FEW_COLUMNS],
        "flats better",
        "graph better",
    )
    print_gap(
        "FEW_COLUMNS: columns, if the share is reached and flats use more directions than MAX_DIM_SHARE allows",
        FEW_COLUMNS,
        [(each["used"], each) for each in flats if is_short(each) and each["spread"] > MAX_DIM_SHARE],
        [(each["used"], each) for each in graph if is_short(each) and each["spread"] > MAX_DIM_SHARE],
        "flats better",
        "graph better",
    )


def print_gap(title, value, low, high, low_name, high_name):
    """The largest figure below `value` and the smallest above, of draws (figure, draw) that should be there."""
    below = [pair for pair in low if pair[0] <= value]
    above = [pair for pair in high if pair[0] >= value]
    wrong = [pair for pair in low if pair[0] > value] + [pair for pair in high if pair[0] < value]
    print(f"\n{title}; present value {value:.3g}")
    for name, pairs, side, pick in (
        (low_name, below, "below, largest", max),
        (high_name, above, "above, smallest", min),
    ):
        nearest = pick(pairs, key=lambda pair: pair[0], default=None)
        words = f"{nearest[0]:.3f} ({described_draw(nearest[1])})" if nearest else "none"
        print(f"  {name}: {len(pairs)} {side} {words}")
    print(f"  on the other side: {len(wrong)}")
    for figure, each in sorted(wrong, key=lambda pair: pair[0]):
        print(f"    {figure:.3f} {described_draw(each)}")


def described_draw(each):
    return f"{each['name']}, seed {each['seed']}: flats {each['accuracy']:.2f}, graph {each['graph']:.2f}"


if __name__ == "__main__":
    run_study(__doc__, draws(), study, print_table)
