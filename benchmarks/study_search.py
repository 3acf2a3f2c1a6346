"""May labels be those of K flats if two searches lead to them, without a graph?

    SUBSPACES_DATA=folder python benchmarks/study_search.py benchmarks/results/study_search.json --jobs 16
    python benchmarks/study_search.py benchmarks/results/study_search.json --table

For each draw: whether the search from K clusters and that from more flats, joined to K, lead to the same flats, what
the clusters are taken for, and their accuracy; the same after the search went on, as if they did not, from the labels
of the graph and by splitting flats. True labels are used only for accuracy.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from draws import Draw, draws, kind_of, run_study

from subspaces.selection.flat_search import length_of, search_flats
from subspaces.selection.structure import structure_of


def study(task):
    """Both searches on one draw."""
    name, seed = task
    draw = Draw.of(name, seed)
    setting = draw.setting()
    found = draw.clustering(setting)
    sample, rng = setting.flat_sample, np.random.RandomState(seed)
    search = search_flats(draw.prepared.rows[sample], draw.n_clusters, rng, grain=draw.prepared.grain)
    starts = [found.labels[sample], found.choice.other_labels(found.psi[sample], found.spectrum)]
    more = search.from_labels(starts, rng)
    more = replace(more, codes=(*more.codes, *more.split(rng))) if more.others else more
    return {
        "settled": search.is_settled,
        "graph": draw.accuracy(found.labels),
        "first": figures(draw, search, rng),
        "full": figures(draw, more, rng),
    }


def figures(draw, search, rng):
    """What a search leads to."""
    found = structure_of(search, rng)
    shortest = min(found.codes, key=length_of)
    return {
        "kind": found.kind,
        "nats": shortest.length / len(shortest.chosen),
        "accuracy": draw.accuracy(found.clusters.labels(draw.prepared.rows)),
    }


def print_table(results):
    """Draws of each kind of data, how many are settled, and accuracies of these by both searches."""
    kinds = {}
    for entry in results:
        kinds.setdefault(kind_of(entry["name"]), []).append(entry)
    print(f"{'':24}draws  settled, flat  accuracy  full search  nats longer, at most")
    for kind, entries in kinds.items():
        some = [entry for entry in entries if entry["settled"] and entry["first"]["kind"] != "bent"]
        line = f"{kind:24}{len(entries):5}  {len(some):13}"
        if some:
            first, full = (np.mean([entry[which]["accuracy"] for entry in some]) for which in ("first", "full"))
            longer = max(entry["first"]["nats"] - entry["full"]["nats"] for entry in some)
            line += f"  {first:8.4f}  {full:11.4f}  {longer:8.4f}"
        print(line)
    some = [entry for entry in results if entry["settled"] and entry["first"]["kind"] != "bent"]
    worse = [entry for entry in some if entry["first"]["accuracy"] < entry["full"]["accuracy"] - 0.005]
    print(f"{len(some)} of {len(results)} draws are settled, of which {len(worse)} lose more than 0.005:")
    for entry in worse:
        print(f"  {entry['name']} {entry['seed']}: {entry['first']['accuracy']} {entry['full']['accuracy']}")


if __name__ == "__main__":
    run_study(__doc__, draws(), study, print_table)
