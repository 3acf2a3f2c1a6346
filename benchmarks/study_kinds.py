"""Which graph: points, linear or affine flats, whitened or not? And which partition, if clusters differ in size?

    SUBSPACES_DATA=folder python benchmarks/study_kinds.py benchmarks/results/study_kinds.json --jobs 16
    python benchmarks/study_kinds.py benchmarks/results/study_kinds.json --table

Kinds. For each draw every kind of graph is tried as in the pilot of a fit (`search.try_settings`), also those that
FEW_COLUMNS and MANY_COLUMNS (selection/thresholds.py) exclude for rows of few columns. Stored are the modularity of
each kind, its gain over the first kind and the standard error of that, the accuracy of a graph of this kind (of the
partition that a fit takes, and of that of the largest modularity), and the kind that "clearly better" by 1, 2 or 3
standard errors over 20, 50 or 100 groups of rows would choose: among the kinds that a fit tries ("tried"), among those
without whitening ("plain") and among all ("all").

Separation. For MNIST with equal and with unequal numbers of each digit, four sets of landmarks: the gain of separation
of the best separated partition over that of the largest modularity, its standard error over the landmark sets, the same
gain for each set alone, and the accuracy of both. True labels are used only for accuracy.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from unittest import mock

import numpy as np
from draws import PARTS, Draw, draws, kind_of, part_of, run_study

from subspaces._core.threads import generators
from subspaces.metrics import clustering_accuracy
from subspaces.selection import Asked, choosing, comparison, search
from subspaces.selection.choosing import flat_settings
from subspaces.selection.comparison import standard_error
from subspaces.selection.joint import join_sets
from subspaces.selection.limits import ERROR_GROUPS, PILOT_LANDMARKS, PILOT_ROWS, UNSURE_DRAWS
from subspaces.selection.search import (
    choose_setting,
    draw_sample,
    kind_name,
    pilot_settings,
    preferred_kind,
    try_settings,
)
from subspaces.selection.thresholds import FEW_COLUMNS, MANY_COLUMNS, N_ERRORS, SEPARATION_MARGIN
from subspaces.spectral.joins import separation
from subspaces.spectral.partition import assign

ERRORS = (1.0, 2.0, 3.0)
GROUPS = (20, 50, 100)
SHORT = {
    "points": "points",
    "linear flats": "linear",
    "affine flats": "affine",
    "linear flats of half-whitened rows": "half white",
    "linear flats of whitened rows": "white",
}
UNEQUAL = {
    "17": ("1:1", "1:0.05"),
    "49": ("1:1", "1:0.1"),
    "94": ("1:0.1",),
    "06": ("1:1", "1:0.03"),
    "368": ("1:1:1", "1:0.5:0.1"),
    "358": ("1:1:1", "1:0.3:0.1"),
    "25789": ("1:1:1:1:1", "1:0.5:0.3:0.2:0.1"),
}
SEPARATION_SEEDS = 4
# A difference of accuracies that counts.
CLEAR = 0.05


def tasks():
    names = [f"separation unequal {digits} {shares}" for digits, several in UNEQUAL.items() for shares in several]
    return [(name, seed) for name in names for seed in range(SEPARATION_SEEDS)] + draws()


def study(task):
    name, seed = task
    return separation_of(name.removeprefix("separation "), seed) if name.startswith("separation") else kinds(name, seed)


def kinds(name, seed):
    """All kinds of graphs of one draw."""
    draw = Draw.of(name, seed)
    k, asked = draw.n_clusters, Asked(n_clusters=draw.n_clusters)
    usual = {setting.kind for setting in flat_settings(draw.prepared, asked, k)}
    with mock.patch.multiple(choosing, FEW_COLUMNS=0, MANY_COLUMNS=0):
        settings = flat_settings(draw.prepared, asked, k)
    pilot = pilot_settings(settings)
    sample = pilot_sample(draw, pilot, seed, ERROR_GROUPS)
    trials = try_settings(pilot, sample, k, generators(np.random.RandomState(seed), len(pilot)))
    best = {}
    for trial in trials:
        known = best.setdefault(trial.setting.kind, trial)
        best[trial.setting.kind] = max(known, trial, key=lambda each: each.setting.modularity)
    first = next(iter(best.values()))
    figures = {}
    for kind, trial in best.items():
        gains = trial.terms - first.terms
        figures[SHORT[kind_name(trial.setting)]] = {
            "modularity": trial.setting.modularity,
            "gain": float(gains.mean()),
            "error": standard_error(gains, sample.groups),
            "tried": kind in usual,
            **kind_accuracy(draw, [each for each in settings if each.kind == kind], seed),
        }
    among = {
        "tried": [each for each in trials if each.setting.kind in usual],
        "plain": [each for each in trials if not each.setting.whiten],
        "all": trials,
    }
    rules = {}
    for groups in GROUPS:
        own = pilot_sample(draw, [each for each in pilot if not each.whiten], seed, groups).groups
        for errors in ERRORS:
            with mock.patch.object(comparison, "N_ERRORS", errors):
                chosen = {words: preferred_kind(some, own) for words, some in among.items()}
            rules[f"{errors:g} {groups}"] = {words: SHORT[kind_name(each)] for words, each in chosen.items()}
    n, p = draw.prepared.rows.shape
    return {"n": n, "p": p, "k": k, "kinds": figures, "rules": rules}


def pilot_sample(draw, settings, seed, groups):
    """The sample of the pilot, with about this many groups for standard errors."""
    with mock.patch.object(search, "ERROR_GROUPS", groups):
        rng = np.random.RandomState(seed)
        return draw_sample(draw.prepared, settings, rng, PILOT_ROWS, max_landmarks=PILOT_LANDMARKS)


def kind_accuracy(draw, settings, seed):
    """Accuracy of the graph if only settings of one kind are tried: as in a fit, and of the largest modularity."""
    best = choose_setting(draw.prepared, draw.n_clusters, settings, np.random.RandomState(seed)).setting
    setting = draw.setting(
        subspace_dim=best.dim,
        neighborhood=best.neighborhood,
        affine=best.affine,
        normalize=best.unit,
        whiten=best.whiten,
    )
    found = draw.clustering(setting)
    balanced = assign(found.psi, found.spectrum, found.choice.balanced)
    return {"accuracy": draw.accuracy(found.labels), "balanced": draw.accuracy(balanced)}


def separation_of(name, seed):
    """Modularity or separation, on each of several landmark sets and on the joint graph of all."""
    draw = Draw.of(name, seed)
    k, setting = draw.n_clusters, draw.setting()
    sets = [draw.clustering(setting, setting.further) for _ in range(UNSURE_DRAWS)]
    whole = join_sets(sets, setting.cut, draw.feed.rng).whole
    balanced, separated = compared(whole)
    index = whole.choice.sample
    both = np.array([balanced, separated])[:, index]
    gains = np.array([np.diff(separation([graph], both, k)) for graph in whole.choice.graphs]).ravel()
    return {
        "n": len(draw.classes),
        "k": k,
        "sets": [separation_figures(draw, each) for each in sets],
        "gain": float(gains.mean()),
        "error": standard_error(gains),
        "balanced": draw.accuracy(balanced),
        "separated": draw.accuracy(separated),
        "same": clustering_accuracy(balanced, separated),
    }


def compared(found):
    """Labels of the partition of the largest modularity, and of the best separated one."""
    choice = found.choice
    return [assign(found.psi, found.spectrum, each) for each in (choice.balanced, choice.density)]


def separation_figures(draw, found):
    """Gain of separation of one landmark set, and both accuracies."""
    balanced, separated = map(draw.accuracy, compared(found))
    gain = found.choice.density.separation - found.choice.balanced.separation
    return {"gain": float(gain), "balanced": balanced, "separated": separated}


def print_table(results):
    separations = [entry for entry in results if "gain" in entry]
    others = [entry for entry in results if "kinds" in entry]
    others.sort(key=lambda entry: PARTS.index(part_of(entry["name"])))
    if others:
        print_kinds(others)
        print_rules(others)
        print_columns(others)
    if separations:
        print_separations(separations)


def present(entry):
    """The kind that the present numbers choose."""
    return entry["rules"][f"{N_ERRORS:g} {ERROR_GROUPS}"]["tried"]


def print_kinds(results):
    """Modularity and accuracy of each kind."""
    groups = {}
    for entry in results:
        groups.setdefault(kind_of(entry["name"]), []).append(entry)
    print("modularity and accuracy of each kind, in brackets if a fit does not try it; accuracy and kind of the choice")
    print(f"{'data':26}{'draws':>6}" + "".join(f"{kind:>16}" for kind in SHORT.values()) + "  chosen")
    for name, entries in groups.items():
        words = []
        for kind in SHORT.values():
            figures = [entry["kinds"][kind] for entry in entries if kind in entry["kinds"]]
            if not figures:
                words.append("–")
                continue
            means = (np.mean([each[key] for each in figures]) for key in ("modularity", "accuracy"))
            text = " ".join(f"{mean:.3f}" for mean in means)
            words.append(text if figures[0]["tried"] else f"({text})")
        taken = np.mean([entry["kinds"][present(entry)]["accuracy"] for entry in entries])
        counts = Counter(map(present, entries))
        chosen = f"{taken:.3f} " + ", ".join(f"{count} {kind}" for kind, count in counts.items())
        print(f"{name:26}{len(entries):6}" + "".join(f"{word:>16}" for word in words) + f"  {chosen}")


def print_rules(results):
    """Accuracy of what each rule chooses, of the first kind, and of the best by accuracy."""
    rules = list(results[0]["rules"])
    cuts = {"accuracy": "as in a fit", "balanced": "of the largest modularity"}
    for among, (key, cut) in product(("tried", "all"), cuts.items()):
        print(f"\naccuracy of what is chosen among kinds: {among}, partition {cut}; columns: standard errors, groups")
        print(f"{'':12}{'draws':>6}" + "".join(f"{rule:>8}" for rule in rules) + f"{'first':>8}{'best':>8}")
        for part in (*PARTS, "all"):
            some = [entry for entry in results if part in (part_of(entry["name"]), "all")]
            if not some:
                continue
            means = [np.mean([e["kinds"][e["rules"][rule][among]][key] for e in some]) for rule in rules]
            open_kinds = [[each[key] for each in e["kinds"].values() if each["tried"] or among == "all"] for e in some]
            means += [np.mean([each[0] for each in open_kinds]), np.mean([max(each) for each in open_kinds])]
            print(f"{part:12}{len(some):6}" + "".join(f"{mean:8.3f}" for mean in means))


def print_columns(results):
    """What FEW_COLUMNS and MANY_COLUMNS exclude, by the number of columns."""
    rule = f"{N_ERRORS:g} {ERROR_GROUPS}"
    print(f"\nFEW_COLUMNS, present value {FEW_COLUMNS}: accuracy of points and of the better flats by modularity")
    print(f"MANY_COLUMNS, present value {MANY_COLUMNS}: accuracy of the choice without and with whitening")
    print(f"{'columns':>8}{'draws':>6}{'points':>8}{'flats':>8}{'without':>9}{'with':>8}{'whitened':>10}")
    for columns in sorted({entry["p"] for entry in results}):
        rows, n_whitened = [], 0
        for entry in (each for each in results if each["p"] == columns):
            found, chosen = entry["kinds"], entry["rules"][rule]
            flats = max(("linear", "affine"), key=lambda kind: found[kind]["modularity"])
            rows.append([found[kind]["accuracy"] for kind in ("points", flats, chosen["plain"], chosen["all"])])
            n_whitened += "white" in chosen["all"]
        points, flats, without, with_ = np.mean(rows, axis=0)
        print(f"{columns:8}{len(rows):6}{points:8.3f}{flats:8.3f}{without:9.3f}{with_:8.3f}{n_whitened:10}")


def print_separations(results):
    """Gains of separation, and whether they are right."""
    print("\nseparation on the joint graph of four landmark sets; gain over the partition of the largest modularity")
    print(f"{'data':40}{'seed':>5}{'gain':>8}{'error':>8}{'errors':>8}{'balanced':>10}{'separated':>10}  1 2 3 errors")
    right, decisive = Counter(), 0
    for entry in results:
        gain, error = entry["gain"], entry["error"]
        better = entry["separated"] - entry["balanced"]
        takes = [gain > errors * error for errors in ERRORS]
        verdicts = ["=" if abs(better) < CLEAR else "right" if taken == (better > 0) else "WRONG" for taken in takes]
        decisive += abs(better) >= CLEAR
        right.update(errors for errors, verdict in zip(ERRORS, verdicts, strict=True) if verdict == "right")
        ratio = gain / max(error, 1e-4)  # as figures are rounded
        name = entry["name"].removeprefix("separation unequal ")
        print(
            f"{name:40}{entry['seed']:5}{gain:8.3f}{error:8.3f}{ratio:8.1f}"
            f"{entry['balanced']:10.3f}{entry['separated']:10.3f}  {' '.join(verdicts)}"
        )
    counts = ", ".join(f"{errors:g} errors: {right[errors]}" for errors in ERRORS)
    print(f"right of {decisive} draws whose accuracies differ by {CLEAR} or more: {counts}")
    alone = [(each["gain"], each["separated"] - each["balanced"]) for entry in results for each in entry["sets"]]
    print(f"\nSEPARATION_MARGIN, present value {SEPARATION_MARGIN}: gains of each landmark set alone on its own graphs")
    for words, gains in (
        ("balanced partition better", [gain for gain, better in alone if better < -CLEAR]),
        ("neither", [gain for gain, better in alone if abs(better) <= CLEAR]),
        ("separated partition better", [gain for gain, better in alone if better > CLEAR]),
    ):
        above = sum(gain > SEPARATION_MARGIN for gain in gains)
        ends = f"from {min(gains):.3f} to {max(gains):.3f}" if gains else ""
        print(f"  {words}: {len(gains)} sets, {above} above; {ends}")


if __name__ == "__main__":
    run_study(__doc__, tasks(), study, print_table)
